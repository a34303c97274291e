"""The gate: what may become a memory, and what of a memory may be shown (ADMISSION 1). Pure.

``judge_draft`` runs before a byte is written, ``judge_file`` on a merge, ``judge_reading`` on every
file that recall would show. A finding names rule, field, line and column; never the value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from memfs.admission.findings import (
    ADMITTED,
    EMPTY,
    HIDDEN_RULE,
    MISSING,
    MIXED_RULE,
    STACKED_RULE,
    TOO_LARGE,
    Decision,
    Draft,
    Finding,
    Outcome,
)
from memfs.admission.lazy import lazy
from memfs.admission.rules import Family, Rule, Severity
from memfs.errors import UsageError
from memfs.model.codepoints import HiddenCodePoint, find_hidden
from memfs.model.memory import MAX_MEMORY_BYTES, FrontValue, MemoryFile, Origin
from memfs.model.values import dataclass, replace

__all__ = [
    "GATE_VERSION",
    "Decision",
    "Draft",
    "Finding",
    "Outcome",
    "Severity",
    "judge_draft",
    "judge_fields",
    "judge_file",
    "judge_reading",
    "judge_text",
    "settle_reading",
]

GATE_VERSION = 6
"""Changes with the rules: whoever keeps the answer of ``judge_reading`` keeps it under this number."""

ALLOW_FIELD = "allow"
"""Front matter key with the names of the rules a person let pass when the memory was written."""

REQUIRED_FIELDS = ("scope", "evidence", "recorded", "review_trigger")

# Values of the memory format that can hold nothing else.
_SETTLED = lazy(
    r"\d{4}-\d{2}-\d{2}|owner|agent|imported|derived|preference|decision|procedure|observation|proposal|handoff|personal|"
    r"(?:team|restricted)(?:/[a-z]{1,16}(?:-[a-z]{1,16}){0,2})?"
)
_PLAIN_ADDRESS = lazy(r"[a-z]{1,20}(?:[._+-][a-z]{1,20}){0,3}\d{0,4}@[a-z0-9.-]{1,60}", re.IGNORECASE)
STRAYS = frozenset((0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF))
"""Code points that pasted text brings along. A new text with one is refused; a file with a few is shown and found."""

_MOST_STRAYS = 3  # more of them in a row carry something
_MOST_HIDDEN = 5  # named one by one in each field
_TOGETHER = "fields together"
_SOURCED = frozenset({"author", "evidence"})  # where the author's own address may stand (ADMISSION 3)
_STATEMENTS = frozenset({"body", "title", "text", "commit message"})
_NOT_PROSE = frozenset({"kind", "origin", "scope", "recorded", "expires", "supersedes", "applies_to", ALLOW_FIELD})


def _finding(
    rule: Rule,
    name: str,
    message: str = "",
    *,
    text: str = "",
    offset: int | None = None,
    severity: Severity | None = None,
) -> Finding:
    line = column = None
    if offset is not None:
        before = text[:offset]
        line = before.count("\n") + 1
        column = offset - (before.rfind("\n") + 1) + 1
    return Finding(
        rule=rule.name,
        family=rule.family,
        severity=severity or rule.severity,
        message=message or rule.sentence,
        field=name,
        line=line,
        column=column,
    )


def _without_strays(found: Sequence[HiddenCodePoint]) -> list[HiddenCodePoint]:
    """Return what withholds a file: all but strays, and strays of which many stand in a row."""
    kept, run = [], 0
    for at, hidden in enumerate(found):
        follows = at > 0 and found[at - 1].offset == hidden.offset - 1
        run = run + 1 if follows else 1
        if hidden.codepoint not in STRAYS or run > _MOST_STRAYS:
            kept.append(hidden)
    return kept


def _check_code_points(name: str, text: str, *, everything: bool) -> Iterator[Finding]:
    found = find_hidden(text)
    if found and not everything:
        found = _without_strays(found)
    for hidden in found[:_MOST_HIDDEN]:
        message = f"has U+{hidden.codepoint:04X} ({hidden.why})"
        yield _finding(HIDDEN_RULE, name, message, text=text, offset=hidden.offset)
    if len(found) > _MOST_HIDDEN:
        yield _finding(HIDDEN_RULE, name, f"has {len(found) - _MOST_HIDDEN:,} more code points of that kind")
    if not text.isascii():
        from memfs.admission.views import find_mixed_word, find_stacked_marks

        for rule, offset in ((MIXED_RULE, find_mixed_word(text)), (STACKED_RULE, find_stacked_marks(text))):
            if offset is not None:
                yield _finding(rule, name, text=text, offset=offset)


def _texts_of(draft: Draft) -> Iterator[tuple[str, str]]:
    for name, value in draft.fields.items():
        yield name, value if isinstance(value, str) else "\n".join(value)
        if not name.isidentifier():  # a key is text of the file too
            yield "front matter key", name
    yield "body", draft.body
    if draft.file_name:
        yield "file name", draft.file_name
    if draft.commit_message:
        yield "commit message", draft.commit_message


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    """What is looked for, and for whom."""

    origin: Origin
    identities: frozenset[str] = frozenset()
    everything: bool = True  # False: only what rejects
    sourced_observation: bool = False
    addresses_stated: bool = False  # author and evidence hold addresses by design and were judged on write

    @property
    def is_vouched_for(self) -> bool:
        """Whether text that reads like an order is a note: the owner's own, or an observation with its source."""
        return self.origin is Origin.OWNER or self.sourced_observation

    def knows_address(self, address: str | None) -> bool:
        return self.addresses_stated or (address or "").lower() in self.identities


def _looking_at(draft: Draft, **more: Any) -> _Looking:
    kind = draft.kind or draft.fields.get("kind")
    sourced = kind == "observation" and bool(draft.fields.get("evidence"))
    return _Looking(origin=draft.origin, sourced_observation=sourced, **more)


def _check_text(name: str, text: str, looking: _Looking) -> Iterator[Finding]:
    """Yield what every rule finds in one field, each rule once."""
    yield from _check_code_points(name, text, everything=looking.everything)
    if len(text) < 4:
        return
    from memfs.admission.apply import ADDRESS_RULES, find_hits

    hits = find_hits(
        text,
        prose=name not in _NOT_PROSE,
        everything=looking.everything,
        own_text=name == "body",
        statement=name in _STATEMENTS,
    )
    for hit in hits:
        rule = hit.rule
        if rule.name in ADDRESS_RULES and name in _SOURCED and looking.knows_address(hit.value):
            continue
        severity = rule.severity
        message = ""
        if hit.end is not None:
            message = f"{rule.sentence} ({hit.end - hit.offset} characters from here)"
            severity = Severity.WARN if looking.is_vouched_for else Severity.HOLD
        yield _finding(rule, name, message, text=text, offset=hit.offset, severity=severity)


def _decide(findings: Iterable[Finding], allow: Mapping[str, str]) -> Decision:
    kept: list[Finding] = []
    allowed: list[Finding] = []
    for finding in findings:
        (allowed if finding.rule in allow else kept).append(finding)
    severities = {finding.severity for finding in kept}
    outcome = Outcome.HOLD if Severity.HOLD in severities else Outcome.ADMIT
    if Severity.REJECT in severities:
        outcome = Outcome.REJECT
    return Decision(outcome=outcome, findings=tuple(kept), allowed=tuple(allowed))


def judge_text(text: str, *, field: str = "text", origin: Origin = Origin.OWNER) -> Decision:
    """Return what the gate says about one text of ``origin``, whatever it is for."""
    return _decide(_check_text(field, text, _Looking(origin=origin)), {})


def judge_fields(front: Mapping[str, FrontValue], body: str, *, origin: Origin = Origin.OWNER) -> Decision:
    """Return what the gate says about the text of a memory's fields and body, whatever its form lacks."""
    draft = Draft(body=body, fields=front, origin=origin)
    return _decide(_check_texts(draft, _looking_at(draft, addresses_stated=True)), {})


def judge_draft(draft: Draft, *, identities: Collection[str] = (), allow: Mapping[str, str] | None = None) -> Decision:
    """Return what the gate says about ``draft``: every field, the file's name, the commit's message.

    ``identities`` are the author's own addresses. ``allow`` maps rules that a person lets pass to the
    reason; raises :class:`UsageError` for a rule that cannot be allowed or is not known.
    """
    allowed = require_allowed(allow or {})
    if len(draft.body.encode("utf-8", "surrogatepass")) > MAX_MEMORY_BYTES:
        return _decide([_finding(TOO_LARGE, "body")], {})
    looking = _looking_at(draft, identities=frozenset(address.lower() for address in identities))
    return _decide((*_check_texts(draft, looking), *_check_form(draft)), allowed)


def _check_texts(draft: Draft, looking: _Looking) -> Iterator[Finding]:
    """Yield what is found in every field.

    The short fields are looked at together first: most have nothing in them, and a credential that was
    broken over several fields shows only there.
    """
    texts = [(name, text) for name, text in _texts_of(draft) if not _is_settled(name, text, looking)]
    short = [(name, text) for name, text in texts if name != "body"]
    for name, text in texts:
        if name == "body":
            yield from _check_text(name, text, looking)
    suspicions = list(_check_text(_TOGETHER, "\n\n".join(text for _, text in short), looking))
    if not suspicions:
        return
    found = [finding for name, text in short for finding in _check_text(name, text, looking)]
    yield from found
    rules = {finding.rule for finding in found}
    yield from (one for one in suspicions if one.rule.startswith("vendor-") and one.rule not in rules)


def _is_settled(name: str, text: str, looking: _Looking) -> bool:
    if name == "author" and looking.knows_address(text):
        return _PLAIN_ADDRESS.fullmatch(text) is not None
    return _SETTLED.fullmatch(text) is not None


def _check_form(draft: Draft) -> Iterator[Finding]:
    for name in REQUIRED_FIELDS:
        if not draft.fields.get(name):
            yield _finding(MISSING, name)
    if not draft.body.strip():
        yield _finding(EMPTY, "body")


def judge_file(file: MemoryFile, *, identities: Collection[str] = ()) -> Decision:
    """Return what the gate says about a file of a merge: the same rules as for a draft.

    Rules that the file itself says were allowed become warnings: whoever approves the file agrees to
    them, nobody else does.
    """
    document = file.document
    if document is None:
        return ADMITTED  # no text of it is read or shown; `check` names it for its form
    draft = Draft(body=document.body, fields=document.front, file_name=file.path, origin=_origin_of(document.front))
    decision = judge_draft(draft, identities=identities)
    passing = allowed_by(file)
    findings = [
        replace(finding, severity=Severity.WARN, message=f"{finding.message}; the file says that this was allowed")
        if finding.rule in passing
        else finding
        for finding in decision.findings
    ]
    return _decide(findings, {})


def judge_reading(file: MemoryFile) -> Decision:
    """Return what the gate says about a file that recall would show: the rules that reject, no others.

    The answer depends on the file's bytes and the rules alone; :func:`settle_reading` joins to it
    what a person allowed.
    """
    document = file.document
    if document is None:
        return ADMITTED
    draft = Draft(body=document.body, fields=document.front, file_name=file.path, origin=_origin_of(document.front))
    findings = _check_texts(draft, _looking_at(draft, everything=False, addresses_stated=True))
    withholding = tuple(
        one
        for one in findings
        if one.severity is Severity.REJECT or (one.family is Family.SECRETS and one.severity is Severity.HOLD)
    )
    return Decision(outcome=Outcome.REJECT, findings=withholding) if withholding else ADMITTED


def allowed_by(file: MemoryFile) -> frozenset[str]:
    """Return the rules that ``file`` says were allowed, without those that nobody can allow."""
    value = file.document.front.get(ALLOW_FIELD) if file.document is not None else None
    if not value:
        return frozenset()
    names = (value,) if isinstance(value, str) else value
    from memfs.admission.catalogue import rule_named

    return frozenset(name for name in names if (rule := rule_named(name)) is not None and not rule.fixed)


def settle_reading(decision: Decision, file: MemoryFile, *, trusted: bool) -> Decision:
    """Return ``decision`` without what the file's approvers let pass.

    The rules that a file names as allowed count only when its very bytes are trusted: text alone can
    never let itself through.
    """
    if not trusted or decision.outcome is Outcome.ADMIT:
        return decision
    passing = allowed_by(file)
    kept = tuple(finding for finding in decision.findings if finding.rule not in passing)
    allowed = tuple(finding for finding in decision.findings if finding.rule in passing)
    return replace(decision, findings=kept, allowed=allowed, outcome=decision.outcome if kept else Outcome.ADMIT)


def _origin_of(front: Mapping[str, FrontValue]) -> Origin:
    try:
        return Origin(str(front.get("origin", "")))
    except ValueError:
        return Origin.IMPORTED


def require_allowed(allow: Mapping[str, str]) -> Mapping[str, str]:
    """Return ``allow`` when every rule in it may be allowed and has a reason; raise UsageError otherwise."""
    if not allow:
        return allow
    from memfs.admission.catalogue import rule_named

    for name, reason in allow.items():
        rule = rule_named(name)
        if rule is None:
            raise UsageError("no admission rule has this name", where="--allow", hint="the findings name their rules")
        if rule.fixed:
            raise UsageError(f"{rule.name} cannot be allowed by anybody", where="--allow", hint="take the text out")
        if not reason.strip():
            raise UsageError("a rule is allowed with a reason only", where="--reason")
    return allow
