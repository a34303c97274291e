"""The gate: what may become a memory, and what of a memory may be shown (ADMISSION 1). Pure.

``judge_draft`` runs before a byte is written, ``judge_file`` on a merge, ``judge_reading`` on every
file that recall would show. A finding names rule, field, line and column; never the value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memfs.admission.rules import Family, Rule, Severity, find_first
from memfs.model.codepoints import find_hidden
from memfs.model.memory import MAX_MEMORY_BYTES, FrontValue, MemoryFile, Origin

__all__ = [
    "GATE_VERSION",
    "Decision",
    "Draft",
    "Finding",
    "Outcome",
    "Severity",
    "judge_draft",
    "judge_file",
    "judge_reading",
    "judge_text",
]

GATE_VERSION = 1
"""Changes with the rules: whoever keeps the answer of ``judge_reading`` keeps it under this number."""

REQUIRED_FIELDS = ("scope", "evidence", "recorded", "review_trigger")
_FIELD_NOT_TEXT = frozenset({"kind", "origin", "scope", "recorded", "expires"})


class Outcome(StrEnum):
    REJECT = "reject"
    HOLD = "hold"
    ADMIT = "admit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken rule and where; ``line`` and ``column`` count from 1 inside ``field``."""

    rule: str
    family: Family
    severity: Severity
    message: str
    field: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Text that is not admitted yet. ``origin`` is declared by the command, never read from text."""

    body: str
    fields: Mapping[str, FrontValue] = field(default_factory=dict)
    origin: Origin = Origin.OWNER
    kind: str = ""
    file_name: str = ""
    commit_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict and its reasons. ``allowed`` are findings that a person let pass with a reason."""

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    allowed: tuple[Finding, ...] = ()

    @property
    def admitted(self) -> bool:
        return self.outcome is Outcome.ADMIT


ADMITTED = Decision(outcome=Outcome.ADMIT)

_HIDDEN = Rule(
    name="hidden-code-point",
    family=Family.CODEPOINTS,
    severity=Severity.REJECT,
    sentence="has a code point that nobody can see or that reorders text",
    fixed=True,
)
_TOO_LARGE = Rule(
    name="too-large",
    family=Family.FORM,
    severity=Severity.REJECT,
    sentence=f"is larger than {MAX_MEMORY_BYTES // 1024} KiB, the most that can be read or approved",
    fixed=True,
)
_MISSING = Rule(
    name="missing-field",
    family=Family.FORM,
    severity=Severity.HOLD,
    sentence="is required: a memory without it is held with its author",
)
_EMPTY = Rule(
    name="empty-body", family=Family.FORM, severity=Severity.HOLD, sentence="says nothing: a memory needs a statement"
)


def _finding(rule: Rule, name: str, message: str = "", *, text: str = "", offset: int | None = None) -> Finding:
    line = column = None
    if offset is not None:
        before = text[:offset]
        line = before.count("\n") + 1
        column = offset - (before.rfind("\n") + 1) + 1
    return Finding(
        rule=rule.name,
        family=rule.family,
        severity=rule.severity,
        message=message or rule.sentence,
        field=name,
        line=line,
        column=column,
    )


def _check_code_points(name: str, text: str) -> Iterator[Finding]:
    for hidden in find_hidden(text):
        message = f"has U+{hidden.codepoint:04X} ({hidden.why})"
        yield _finding(_HIDDEN, name, message, text=text, offset=hidden.offset)


def _check_secrets(name: str, text: str) -> Iterator[Finding]:
    from memfs.admission.secrets import vendor_rules

    lowered = text.lower()
    for rule in vendor_rules():
        if match := find_first(rule, text, lowered):
            yield _finding(rule, name, text=text, offset=match.start())


def _texts_of(draft: Draft) -> Iterator[tuple[str, str]]:
    for name, value in draft.fields.items():
        yield name, value if isinstance(value, str) else "\n".join(value)
    yield "body", draft.body
    if draft.file_name:
        yield "file name", draft.file_name
    if draft.commit_message:
        yield "commit message", draft.commit_message


def _decide(findings: Iterable[Finding], allow: Mapping[str, str]) -> Decision:
    kept: list[Finding] = []
    allowed: list[Finding] = []
    for finding in findings:
        (allowed if finding.rule in allow else kept).append(finding)
    severities = {finding.severity for finding in kept}
    if Severity.REJECT in severities:
        outcome = Outcome.REJECT
    elif Severity.HOLD in severities:
        outcome = Outcome.HOLD
    else:
        outcome = Outcome.ADMIT
    return Decision(outcome=outcome, findings=tuple(kept), allowed=tuple(allowed))


def judge_text(text: str, *, field: str = "text", origin: Origin = Origin.OWNER) -> Decision:
    """Return what the gate says about one text of ``origin``, whatever it is for."""
    return _decide([*_check_code_points(field, text), *_check_secrets(field, text)], {})


def judge_draft(draft: Draft, *, identities: Collection[str] = (), allow: Mapping[str, str] | None = None) -> Decision:
    """Return what the gate says about ``draft``: every field, the file's name, the commit's message.

    ``identities`` are the author's own addresses. ``allow`` maps rules that a person lets pass to the
    reason; raises :class:`UsageError` for a rule that cannot be allowed or is not known.
    """
    findings: list[Finding] = []
    if len(draft.body.encode("utf-8", "surrogatepass")) > MAX_MEMORY_BYTES:
        return _decide([_finding(_TOO_LARGE, "body")], {})
    for name, text in _texts_of(draft):
        findings += _check_code_points(name, text)
        findings += _check_secrets(name, text)
    findings += [_finding(_MISSING, name) for name in REQUIRED_FIELDS if not draft.fields.get(name)]
    if not draft.body.strip():
        findings.append(_finding(_EMPTY, "body"))
    return _decide(findings, require_allowed(allow or {}))


def judge_file(file: MemoryFile, *, identities: Collection[str] = ()) -> Decision:
    """Return what the gate says about a file of a merge: the same rules as for a draft."""
    document = file.document
    if document is None:
        return ADMITTED  # no text of it is read or shown; `check` names it for its form
    draft = Draft(body=document.body, fields=document.front, file_name=file.path, origin=_origin_of(document.front))
    return judge_draft(draft, identities=identities)


def judge_reading(file: MemoryFile) -> Decision:
    """Return what the gate says about a file that recall would show: the rules that reject, no others."""
    document = file.document
    if document is None:
        return ADMITTED
    decision = judge_draft(Draft(body=document.body, fields=document.front, file_name=file.path))
    rejected = tuple(finding for finding in decision.findings if finding.severity is Severity.REJECT)
    return Decision(outcome=Outcome.REJECT, findings=rejected) if rejected else ADMITTED


def _origin_of(front: Mapping[str, FrontValue]) -> Origin:
    try:
        return Origin(str(front.get("origin", "")))
    except ValueError:
        return Origin.IMPORTED


def require_allowed(allow: Mapping[str, str]) -> Mapping[str, str]:
    """Return ``allow`` when every rule in it may be allowed and has a reason; raise UsageError otherwise."""
    return allow


def located(finding: Finding, line: int) -> Finding:
    """Return ``finding`` with its line counted from ``line`` instead of 1: its place in the file."""
    return replace(finding, line=line + (finding.line or 1) - 1)
