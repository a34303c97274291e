"""What a rule is, and how the ones that can match a text are found. Pure.

Rules are data (``data/*.rules``, read by :mod:`memfs.admission.tables`); this module matches them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    A rule with a ``pattern`` is tried only where one of its ``keywords`` (lower case) occurs, and one of
    ``also`` as well; an empty tuple means everywhere. With ``near``, a match begins at most so many
    characters before a keyword, so that only those places are tried. ``digits``
    is how many digits a text must contain at least. ``accepts`` looks at a match and the
    text round it and decides whether it counts. Group ``v`` of the pattern, where there is one, is the
    value that counts. ``table`` is the file of ``data/`` that it comes from; empty for what code finds.
    """

    name: str
    family: Family
    severity: Severity
    sentence: str
    keywords: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    near: int | None = None
    digits: int = 0
    pattern: str | None = None
    accepts: Callable[[re.Match[str]], bool] | None = None
    fixed: bool = False
    table: str = ""


_compiled: dict[str, re.Pattern[str]] = {}


def pattern_of(rule: Rule) -> re.Pattern[str]:
    """Return the compiled pattern of ``rule``, compiled at its first use."""
    try:
        return _compiled[rule.name]
    except KeyError:
        return _compiled.setdefault(rule.name, re.compile(rule.pattern or r"(?!)"))


_GRAM = 3


class Gist:
    """What a text is searched by: itself in lower case, every three characters in a row, how many digits."""

    __slots__ = ("digits", "grams", "lowered")

    def __init__(self, lowered: str) -> None:
        self.lowered = lowered
        self.grams = set(zip(lowered, lowered[1:], lowered[2:], strict=False))
        self.digits = sum(map(lowered.count, "0123456789"))


Likely = Mapping[str, Sequence[Rule]]
"""The rules that can match a text, by group."""


class RuleSet:
    """Groups of rules, and an index that tells in one look at a text which of them can match at all.

    A keyword can only occur where its first three characters do, so the text's own triples are
    compared with those of all keywords at once. Most texts end here for nearly every rule.
    """

    def __init__(self, groups: Mapping[str, Iterable[Rule]]) -> None:
        self._groups = tuple(groups)
        self._rules = tuple((group, rule) for group, rules in groups.items() for rule in rules)
        # A rule with ``near`` looks for its keywords itself; the index has its rarer ``also`` words.
        self._always = frozenset(place for place, (_, rule) in enumerate(self._rules) if not rule.keywords)
        self._short: list[tuple[str, int]] = []
        self._grams: dict[tuple[str, ...], list[tuple[str, tuple[str, ...], int]]] = {}
        for place, (_, rule) in enumerate(self._rules):
            for word in rule.also or rule.keywords:
                if len(word) < _GRAM:
                    self._short.append((word, place))
                else:
                    self._grams.setdefault(tuple(word[:_GRAM]), []).append((word, tuple(word[-_GRAM:]), place))

    def likely(self, gist: Gist) -> Likely:
        """Return the rules whose keywords occur in a text, by group and in order."""
        lowered = gist.lowered
        places = set(self._always)
        for word, place in self._short:
            if place not in places and word in lowered:
                places.add(place)
        grams = gist.grams
        for gram in self._grams.keys() & grams:
            for word, end, place in self._grams[gram]:
                if end in grams and place not in places and (len(word) == _GRAM or word in lowered):
                    places.add(place)
        found: dict[str, list[Rule]] = {group: [] for group in self._groups}
        for place in sorted(places):
            group, rule = self._rules[place]
            if gist.digits >= rule.digits and (
                not rule.also or rule.near is not None or any(word in lowered for word in rule.keywords)
            ):
                found[group].append(rule)
        return found


def find_first(rule: Rule, text: str, gist: Gist) -> re.Match[str] | None:
    """Return the first match of ``rule`` in ``text`` that counts; ``gist`` is that of ``text.lower()``."""
    pattern = pattern_of(rule)
    accepts = rule.accepts
    if rule.near is None or len(gist.lowered) != len(text):
        for match in pattern.finditer(text):
            if accepts is None or accepts(match):
                return match
        return None
    tried = 0
    for place in _places_of(rule, gist):
        for start in range(max(tried, place - rule.near), place + 1):
            found = pattern.match(text, start)
            if found is not None and (accepts is None or accepts(found)):
                return found
        tried = place + 1
    return None


_starts: dict[str, tuple[dict[tuple[str, ...], list[str]], list[str]]] = {}


def _places_of(rule: Rule, gist: Gist) -> list[int]:
    """Return every place where a keyword of ``rule`` begins, in order."""
    known = _starts.get(rule.name)
    if known is None:
        grams: dict[tuple[str, ...], list[str]] = {}
        for word in rule.keywords:
            grams.setdefault(tuple(word[:_GRAM]), []).append(word)
        known = _starts[rule.name] = (grams, [word for word in rule.keywords if len(word) < _GRAM])
    grams, words = known
    lowered = gist.lowered
    places: set[int] = set()
    for word in (*words, *(word for gram in grams.keys() & gist.grams for word in grams[gram])):
        place = lowered.find(word)
        while place >= 0:
            places.add(place)
            place = lowered.find(word, place + 1)
    return sorted(places)
