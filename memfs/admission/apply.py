"""Applies the rules to one text (ADMISSION 2). Pure.

The text is looked at in every view; a rule counts once, in the first view that it hits. Keywords are
looked for before a pattern is even compiled, so that a note without any of them costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from memfs.admission.authority import (
    PERMISSIVE_RULE,
    SUPPLY_RULE,
    UNCLEAR_RULE,
    authority_rules,
    iter_polarities,
)
from memfs.admission.personal import EMAIL_RULE, personal_rules
from memfs.admission.rules import Rule, Severity, find_first
from memfs.admission.secrets import CREDENTIAL_WORDS, secret_rules
from memfs.admission.transience import transience_rules
from memfs.admission.vendors import BEGINNINGS
from memfs.admission.views import View, flow_of, unleet, views_of
from memfs.model.values import dataclass

__all__ = ["EMAIL_RULE", "Hit", "find_hits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A rule that a text breaks and where in the original it does. ``value`` never leaves this room."""

    rule: Rule
    offset: int
    value: str | None = None


@cache
def _beginnings() -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{BEGINNINGS})")


def _speaks_of_credentials(lowered: str) -> bool:
    return any(word in lowered for word in CREDENTIAL_WORDS)


def find_hits(text: str, *, prose: bool, everything: bool, own_text: bool) -> Iterator[Hit]:
    """Yield one hit for each rule that ``text`` breaks.

    ``prose``: the field holds sentences, so the rules about authority apply. ``everything``: also the
    rules that hold or warn. ``own_text``: the field is the body, so the rules on passing states apply.
    """
    seen: set[str] = set()
    for view in views_of(text, near=_speaks_of_credentials, beginnings=_beginnings()):
        lowered = view.text.lower()
        found: list[Iterator[tuple[Rule, int, str]]] = [_find(secret_rules(), view, view.text, lowered, seen)]
        if not view.known_forms_only:
            found.append(_find(personal_rules(), view, view.text, lowered, seen))
        for hits in found:
            for rule, offset, value in hits:
                if everything or rule.severity is Severity.REJECT:
                    yield Hit(rule=rule, offset=offset, value=value)
        if prose and not view.known_forms_only:
            yield from _find_prose(view, seen, everything=everything)
    if everything and own_text:
        flow = flow_of(View(name="raw", text=text))
        for rule, offset, _ in _find(transience_rules(), flow, flow.text, flow.text, seen):
            yield Hit(rule=rule, offset=offset)


def _find(
    rules: Iterable[Rule], view: View, text: str, lowered: str, seen: set[str]
) -> Iterator[tuple[Rule, int, str]]:
    for rule in rules:
        if rule.name in seen or (view.known_forms_only and not rule.fixed):
            continue
        match = find_first(rule, text, lowered)
        if match is not None:
            seen.add(rule.name)
            yield rule, view.place(match.start()), match.group()


def _find_prose(view: View, seen: set[str], *, everything: bool) -> Iterator[Hit]:
    flow = flow_of(view)
    flows: Sequence[View] = (flow,) if (letters := unleet(flow)) is None else (flow, letters)
    delimiter, rules = authority_rules()[0], authority_rules()[1:]
    lowered = view.text.lower()
    for rule, offset, _ in _find(
        (delimiter,), view, lowered if len(lowered) == len(view.text) else view.text, lowered, seen
    ):
        yield Hit(rule=rule, offset=offset)
    for one in flows:
        for rule, offset, _ in _find(rules, one, one.text, one.text, seen):
            yield Hit(rule=rule, offset=offset)
    # What holds an agent's draft rejects an imported one, so these are looked for at reading too.
    for rule, offset, _ in _find((SUPPLY_RULE,), flow, flow.text, flow.text, seen):
        yield Hit(rule=rule, offset=offset)
    for polarity, offset in iter_polarities(flow.text):
        rule = PERMISSIVE_RULE if polarity == "permissive" else UNCLEAR_RULE
        if rule.name not in seen:
            seen.add(rule.name)
            yield Hit(rule=rule, offset=flow.place(offset))
    del everything
