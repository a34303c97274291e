"""What a rule is: data with a name and a sentence, and a pattern that compiles when it is needed. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from memfs.model.values import dataclass


class Severity(StrEnum):
    REJECT = "reject"
    HOLD = "hold"
    WARN = "warn"


class Family(StrEnum):
    FORM = "form"
    CODEPOINTS = "codepoints"
    SECRETS = "secrets"
    PERSONAL = "personal"
    AUTHORITY = "authority"
    TRANSIENCE = "transience"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. ``sentence`` is what a person reads; ``fixed`` rules cannot be allowed by anybody.

    A rule with a ``pattern`` is tried only where one of its ``keywords`` (lower case) occurs; an
    empty tuple means everywhere. ``accepts`` looks at a match and the text round it and decides
    whether it counts. Group ``v`` of the pattern, where there is one, is the value that counts.
    """

    name: str
    family: Family
    severity: Severity
    sentence: str
    keywords: tuple[str, ...] = ()
    pattern: str | None = None
    accepts: Callable[[re.Match[str]], bool] | None = None
    fixed: bool = False


_compiled: dict[str, re.Pattern[str]] = {}


def pattern_of(rule: Rule) -> re.Pattern[str]:
    """Return the compiled pattern of ``rule``, compiled at its first use."""
    try:
        return _compiled[rule.name]
    except KeyError:
        return _compiled.setdefault(rule.name, re.compile(rule.pattern or r"(?!)"))


def find_first(rule: Rule, text: str, lowered: str) -> re.Match[str] | None:
    """Return the first match of ``rule`` in ``text`` that counts; ``lowered`` is ``text.lower()``."""
    if rule.keywords and not any(word in lowered for word in rule.keywords):
        return None
    for match in pattern_of(rule).finditer(text):
        if rule.accepts is None or rule.accepts(match):
            return match
    return None
