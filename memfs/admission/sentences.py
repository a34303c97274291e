"""Judges of sentences: those that tell their reader what to do, and those that will not be true for long
(ADMISSION 4). Pure.

The forms are in ``data/orders.rules`` and ``data/passing.rules``. The guards here keep negations of orders and reports
about them apart, and a passing state that something was decided about. What passes only warns.
"""

from __future__ import annotations

import re
from functools import cache

from memfs.admission.rules import Family, Rule, Severity
from memfs.admission.tables import has, pattern, read_rules


def sentence_before(match: re.Match[str]) -> str:
    """Return the text of the match's sentence before it."""
    before = match.string[max(0, match.start() - 260) : match.start()]
    cut = [piece.end() for piece in pattern("sentence").finditer(before)]
    return before[cut[-1] if cut else 0 :]


def _order(match: re.Match[str]) -> bool:
    """An order as it stands: neither negated nor told about."""
    before = sentence_before(match)
    return not has("negated", before) and not has("reported", before)


def _not_shown_as_code(match: re.Match[str]) -> bool:
    """Not a template token in prose about templates: in back-ticks, in a code block, or named as a token."""
    text = match.string
    before = text[max(0, match.start() - 60) : match.start() + 1]
    if text.count("```", 0, match.start()) % 2:
        return False
    if re.search(r"`[^`\n]{0,60}$", before) and re.search(r"^[^`\n]{0,60}`", text[match.end() - 1 :][:80]):
        return False
    return not re.search(
        r"\b(?:tokens?|tags?|elements?|templates?|special|markers?|delimiters?|strings?|escape[sd]?)\b[^.\n]{0,50}$",
        before,
    )


MEANING_RULE = Rule(
    name="reads-like-an-order",
    family=Family.AUTHORITY,
    severity=Severity.HOLD,
    sentence="reads like an order or a permission for whoever reads it",
)
"""What the classifier finds: held in the text of agents and others, a note in an owner's (:mod:`.meaning`)."""


@cache
def order_rules() -> tuple[Rule, ...]:
    """Return the rules for known forms. The first is matched in the text as it is, the others in running text."""
    return read_rules("orders.rules", globals())


def _no_decision(match: re.Match[str]) -> bool:
    """Whether the sentence decides nothing."""
    text = match.string
    start = max(text.rfind(". ", 0, match.start()), text.rfind("\n", 0, match.start())) + 1
    end = min((i for i in (text.find(". ", match.end()), text.find("\n", match.end())) if i >= 0), default=len(text))
    return not has("decides", text[start:end])


@cache
def transience_rules() -> tuple[Rule, ...]:
    """Return the rules that warn of text about a passing state. Matched in lower-cased running text."""
    return read_rules("passing.rules", globals())
