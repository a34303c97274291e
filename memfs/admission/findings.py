"""The gate's answer, the text it is asked about, and the rules that code applies rather than a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from memfs.admission.rules import Family, Rule, Severity
from memfs.model.memory import MAX_MEMORY_BYTES, FrontValue, Origin
from memfs.model.values import dataclass, field


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

HIDDEN_RULE = Rule(
    name="hidden-code-point",
    family=Family.CODEPOINTS,
    severity=Severity.REJECT,
    sentence="has a code point that nobody can see or that reorders text",
    fixed=True,
)
MIXED_RULE = Rule(
    name="mixed-scripts",
    family=Family.CODEPOINTS,
    severity=Severity.WARN,
    sentence="has a word that mixes Latin letters with look-alikes of another script",
)
STACKED_RULE = Rule(
    name="stacked-marks",
    family=Family.CODEPOINTS,
    severity=Severity.WARN,
    sentence="has more than three combining marks in a row",
)
TOO_LARGE = Rule(
    name="too-large",
    family=Family.FORM,
    severity=Severity.REJECT,
    sentence=f"is larger than {MAX_MEMORY_BYTES // 1024} KiB, the most that can be read or approved",
    fixed=True,
)
MISSING = Rule(
    name="missing-field",
    family=Family.FORM,
    severity=Severity.HOLD,
    sentence="is required: a memory without it is held with its author",
)
EMPTY = Rule(
    name="empty-body", family=Family.FORM, severity=Severity.HOLD, sentence="says nothing: a memory needs a statement"
)
FORM_RULES = (MISSING, EMPTY, TOO_LARGE)
CODEPOINT_RULES = (HIDDEN_RULE, MIXED_RULE, STACKED_RULE)
