"""Whether a memory still holds today (DESIGN 3): facts in, state out. Pure.

Whoever assembles the facts reads git and the disk; nothing here does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from memfs.model.codepoints import escape_hidden
from memfs.model.evidence import format_evidence
from memfs.model.memory import (
    Evidence,
    EvidenceReport,
    EvidenceStatus,
    IfText,
    Memory,
    OnDate,
    PathEvidence,
    State,
    StateReport,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
)
from memfs.model.values import dataclass, field
from memfs.model.versions import is_at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFacts:
    """What was found out about the evidence and the trigger of one memory (or of many).

    A path of another repository (``REPO:PATH@COMMIT``) stands as ``REPO:PATH`` in the mappings. What
    was not looked up may be left out: it counts as unknown.
    """

    today: date
    recorded_blobs: Mapping[tuple[str, str], str | None] = field(default_factory=dict)
    """Blob id of (path, commit); None where the commit or the path in it is unknown here."""
    blobs_now: Mapping[str, str | None] = field(default_factory=dict)
    """Blob id of a path now; None where it is missing."""
    lines_now: Mapping[str, str | None] = field(default_factory=dict)
    """The line to show of a path whose content changed."""
    baseline_blobs: Mapping[str, str | None] = field(default_factory=dict)
    """For ``when PATH changes``: blob id of the path when the memory file got its present content."""
    versions: Mapping[str, str | None] = field(default_factory=dict)
    """Version of a name, as the trigger writes it, in the project's manifests."""
    superseded_by: Mapping[str, str] = field(default_factory=dict)
    """Superseded id → the id that supersedes it."""
    passed_over: int = 0
    """Memories that say they supersede this one and are not approved, while this one is."""


def fact_path(evidence: PathEvidence) -> str:
    """Return the key under which the facts hold the path of ``evidence``."""
    return f"{evidence.repo}:{evidence.path}" if evidence.repo else evidence.path


def judge_state(memory: Memory, facts: StateFacts) -> StateReport:
    """Return the state of ``memory`` on the day of ``facts``, every reason, and how each evidence stands.

    Superseded goes before expired, and expired before recheck; the reasons of the state come first.
    """
    evidence = tuple(_judge_evidence(piece, facts) for piece in memory.evidence)
    superseded = []
    if memory.id in facts.superseded_by:
        superseded.append(f"superseded by {_shown(facts.superseded_by[memory.id])}")
    expired = []
    if memory.expires is not None and facts.today >= memory.expires:
        expired.append(f"expired on {memory.expires.isoformat()}")
    fired, notes = _judge_trigger(memory, facts)
    if facts.passed_over:
        notes.append("a memory that nobody approved would supersede it")
    drifted = [
        reason
        for piece, report in zip(memory.evidence, evidence, strict=True)
        if (reason := _drift(piece, report.status))
    ]
    recheck = [*fired, *drifted]
    state = (
        State.SUPERSEDED if superseded else State.EXPIRED if expired else State.RECHECK if recheck else State.CURRENT
    )
    return StateReport(state=state, reasons=(*superseded, *expired, *recheck, *notes), evidence=evidence)


def _judge_evidence(evidence: Evidence, facts: StateFacts) -> EvidenceReport:
    text = format_evidence(evidence)
    if not isinstance(evidence, PathEvidence):
        # A URL, a person's word or a commit alone has no blob to compare.
        return EvidenceReport(text=text, status=EvidenceStatus.UNVERIFIABLE)
    path = fact_path(evidence)
    then = facts.recorded_blobs.get((path, evidence.commit))
    if then is None or path not in facts.blobs_now:
        return EvidenceReport(text=text, status=EvidenceStatus.UNVERIFIABLE)
    now = facts.blobs_now[path]
    if now is None:
        return EvidenceReport(text=text, status=EvidenceStatus.MISSING)
    if now != then:
        return EvidenceReport(text=text, status=EvidenceStatus.CHANGED, line_now=facts.lines_now.get(path))
    return EvidenceReport(text=text, status=EvidenceStatus.UNCHANGED)


def _drift(evidence: Evidence, status: EvidenceStatus) -> str | None:
    """Return why this evidence no longer keeps its memory current; None where it does."""
    if not isinstance(evidence, PathEvidence):
        return None
    path = _shown(fact_path(evidence))
    match status:
        case EvidenceStatus.UNCHANGED:
            return None
        case EvidenceStatus.CHANGED:
            return f"evidence {path} changed since {evidence.commit}"
        case EvidenceStatus.MISSING:
            return f"evidence {path} is missing"
        case EvidenceStatus.UNVERIFIABLE:
            return f"evidence {path} cannot be verified: it is not known here at {evidence.commit}"


def _judge_trigger(memory: Memory, facts: StateFacts) -> tuple[list[str], list[str]]:
    """Return why the trigger fired, and notes on why it cannot fire."""
    match memory.review_trigger:
        case OnDate(on=on):
            return ([f"due for review since {on.isoformat()}"] if facts.today >= on else []), []
        case WhenPathChanges(path=path):
            if path not in facts.baseline_blobs:
                return [f"whether {_shown(path)} changed cannot be told here"], []
            then, now = facts.baseline_blobs[path], facts.blobs_now.get(path)
            if then is None and now is None:
                return [], [f"{_shown(path)} is not here, so its change cannot be noticed"]
            return ([f"{_shown(path)} changed since {memory.recorded.isoformat()}"] if then != now else []), []
        case WhenVersion(name=name, version=wanted):
            version = facts.versions.get(name)
            if version is None:
                return [], [f"no manifest here names {_shown(name)}, so its version cannot be noticed"]
            return ([f"{_shown(name)} is {_shown(version)} now"] if is_at_least(version, wanted) else []), []
        case WhenSuperseded(id=other):
            by = facts.superseded_by.get(other)
            return ([f"{_shown(other)} is superseded by {_shown(by)}"] if by else []), []
        case IfText():
            return [], []


def _shown(text: str) -> str:
    return escape_hidden(text, single_line=True)
