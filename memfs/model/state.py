"""Whether a memory still holds today (DESIGN 3): facts in, state out. Pure.

Only ``standing`` builds the facts, from git and the disk; nothing here reads either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from memfs.model.codepoints import escape_hidden
from memfs.model.evidence import format_evidence, place_of
from memfs.model.memory import (
    Cause,
    Evidence,
    EvidenceReport,
    EvidenceStatus,
    FileEvidence,
    IfText,
    Memory,
    OnDate,
    PathEvidence,
    State,
    StateReport,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
    Why,
)
from memfs.model.values import dataclass, field
from memfs.model.versions import is_at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """What was found out about one file, or a part of it, that a memory names."""

    status: EvidenceStatus
    why: Why | None = None  # of what cannot be verified
    moved_to: str | None = None
    line_now: str | None = None
    by_arrival: bool = False  # compared with what it was when the memory came, not with what it names


UNKNOWN_FILE = FileFact(status=EvidenceStatus.UNVERIFIABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFacts:
    """What was found out about the evidence and the trigger of one memory. What is left out is unknown."""

    today: date
    evidence: Sequence[FileFact] = ()
    """One for each piece of the memory's evidence, in its order."""
    watched: FileFact = UNKNOWN_FILE
    """The path of ``when PATH changes``; missing when it is neither here now nor was when the memory came."""
    version: str | None = None
    """The version that the project's manifests have for the name of ``when NAME >= VERSION``."""
    superseded_by: Mapping[str, str] = field(default_factory=dict)
    """Superseded id → the id that supersedes it."""
    passed_over: int = 0
    """Memories that say they supersede this one and are not approved, while this one is."""


_WORDS = {
    Why.NO_GIT: "there is no git here to look it up",
    Why.NO_COMMIT: "commit {commit} is not in this repository",
    Why.NO_PATH: "the path was not in commit {commit}",
    Why.SHALLOW: "this clone is shallow; run `git fetch --unshallow`",
    Why.ELSEWHERE: "it belongs to another repository",
    Why.SUBMODULE: "it belongs to a submodule",
    Why.TOO_LARGE: "the file is too large to compare",
    Why.UNREADABLE: "the file cannot be read",
    Why.HIDDEN: "it is not for this caller",
}


def judge_state(memory: Memory, facts: StateFacts) -> StateReport:
    """Return the state of ``memory`` on the day of ``facts``, every reason, and how each evidence compares.

    Superseded goes before expired, expired before recheck, and recheck before unknown; the reasons of
    the state come first.
    """
    superseded: list[tuple[Cause, str]] = []
    if memory.id in facts.superseded_by:
        superseded.append((Cause.SUPERSEDED, f"superseded by {_shown(facts.superseded_by[memory.id])}"))
    expired: list[tuple[Cause, str]] = []
    if memory.expires is not None and facts.today >= memory.expires:
        expired.append((Cause.EXPIRED, f"expired on {memory.expires.isoformat()}"))
    recheck, unknown, notes = _judge_trigger(memory, facts)
    if facts.passed_over:
        notes.append((Cause.NOTE, "a memory that nobody approved would supersede it"))
    evidence = []
    for number, piece in enumerate(memory.evidence):
        fact = facts.evidence[number] if number < len(facts.evidence) else UNKNOWN_FILE
        evidence.append(_report(piece, fact))
        if isinstance(piece, FileEvidence):
            _judge_file(piece, fact, recheck, unknown, notes)
    state = State.CURRENT
    for found, of in (
        (unknown, State.UNKNOWN),
        (recheck, State.RECHECK),
        (expired, State.EXPIRED),
        (superseded, State.SUPERSEDED),
    ):
        if found:
            state = of
    said = [*superseded, *expired, *recheck, *unknown, *notes]
    return StateReport(
        state=state,
        reasons=tuple(text for _, text in said),
        evidence=tuple(evidence),
        causes=tuple(cause for cause, _ in said),
        watched=facts.watched.status if isinstance(memory.review_trigger, WhenPathChanges) else None,
    )


Said = list[tuple[Cause, str]]


def _report(piece: Evidence, fact: FileFact) -> EvidenceReport:
    text = format_evidence(piece)
    if not isinstance(piece, FileEvidence):
        # A URL, a person's word or a commit alone has no content to compare.
        return EvidenceReport(text=text, status=EvidenceStatus.UNVERIFIABLE)
    return EvidenceReport(
        text=text,
        status=fact.status,
        line_now=fact.line_now if fact.status is EvidenceStatus.CHANGED else None,
        moved_to=fact.moved_to if fact.status is EvidenceStatus.MOVED else None,
        why=fact.why,
        by_arrival=fact.by_arrival,
    )


def _judge_file(piece: FileEvidence, fact: FileFact, recheck: Said, unknown: Said, notes: Said) -> None:
    place = _shown(place_of(piece))
    commit = piece.commit if isinstance(piece, PathEvidence) else ""
    match fact.status:
        case EvidenceStatus.UNCHANGED:
            pass
        case EvidenceStatus.CHANGED:
            since = f" since {commit}" if commit and not fact.by_arrival else ""
            recheck.append((Cause.EVIDENCE, f"evidence {place} changed{since}"))
        case EvidenceStatus.MISSING:
            recheck.append((Cause.EVIDENCE, f"evidence {place} is missing"))
        case EvidenceStatus.MOVED:
            notes.append((Cause.NOTE, f"evidence {place} moved to {_shown(fact.moved_to or '')}"))
        case EvidenceStatus.UNVERIFIABLE:
            unknown.append((Cause.EVIDENCE, _cannot_tell(f"evidence {place}", fact, commit)))


def _cannot_tell(what: str, fact: FileFact, commit: str = "") -> str:
    why = _WORDS[fact.why].format(commit=commit[:12] or "it names") if fact.why is not None else ""
    return f"whether {what} changed cannot be told here" + (f": {why}" if why else "")


def _judge_trigger(memory: Memory, facts: StateFacts) -> tuple[Said, Said, Said]:
    """Return why the trigger fired, why that cannot be told, and notes on why it cannot fire."""
    fired: list[str] = []
    unknown: list[str] = []
    notes: list[str] = []
    match memory.review_trigger:
        case OnDate(on=on):
            if facts.today >= on:
                fired.append(f"due for review since {on.isoformat()}")
        case WhenPathChanges(path=path):
            match facts.watched.status:
                case EvidenceStatus.CHANGED:
                    fired.append(f"{_shown(path)} changed since {memory.recorded.isoformat()}")
                case EvidenceStatus.UNVERIFIABLE:
                    unknown.append(_cannot_tell(_shown(path), facts.watched))
                case EvidenceStatus.MISSING:
                    notes.append(f"{_shown(path)} is not here, so its change cannot be noticed")
                case EvidenceStatus.MOVED:
                    notes.append(f"{_shown(path)} moved to {_shown(facts.watched.moved_to or '')}")
                case EvidenceStatus.UNCHANGED:
                    pass
        case WhenVersion(name=name, version=wanted):
            if facts.version is None:
                notes.append(f"no manifest here names {_shown(name)}, so its version cannot be noticed")
            elif is_at_least(facts.version, wanted):
                fired.append(f"{_shown(name)} is {_shown(facts.version)} now")
        case WhenSuperseded(id=other):
            if by := facts.superseded_by.get(other):
                fired.append(f"{_shown(other)} is superseded by {_shown(by)}")
        case IfText():
            pass
    return (
        [(Cause.TRIGGER, text) for text in fired],
        [(Cause.TRIGGER, text) for text in unknown],
        [(Cause.NOTE, text) for text in notes],
    )


def _shown(text: str) -> str:
    return escape_hidden(text, single_line=True)
