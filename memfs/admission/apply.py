"""Applies the rules to one text (ADMISSION 2). Pure.

The text is looked at in every view; a rule counts once, in the first view that it hits. Keywords are
looked for before a pattern is even compiled, so that a note without any of them costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from memfs.admission.authority import (
    PERMISSIVE_RULE,
    SUPPLY_RULE,
    UNCLEAR_RULE,
    authority_rules,
    iter_polarities,
)
from memfs.admission.personal import EMAIL_RULE, personal_rules
from memfs.admission.rules import Grams, Rule, RuleSet, Severity, find_first, grams_of
from memfs.admission.secrets import CREDENTIAL_WORDS, secret_rules, vendor_rules
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


@cache
def _sets() -> Mapping[str, RuleSet]:
    secret, personal = secret_rules(), personal_rules()
    delimiter, *shapes = authority_rules()
    return {
        "known": RuleSet(vendor_rules()),
        "all": RuleSet((*secret, *personal)),
        "rejecting": RuleSet((*secret, *(rule for rule in personal if rule.severity is Severity.REJECT))),
        "delimiter": RuleSet((delimiter,)),
        "shapes": RuleSet(shapes),
        "controls": RuleSet((SUPPLY_RULE,)),
        "transience": RuleSet(transience_rules()),
    }


def find_hits(text: str, *, prose: bool, everything: bool, own_text: bool, controls: bool) -> Iterator[Hit]:
    """Yield one hit for each rule that ``text`` breaks.

    ``prose``: the field holds sentences, so the rules about authority apply. ``everything``: also the
    rules that only warn. ``own_text``: the field is the body, so the rules on passing states apply.
    ``controls``: also what speaks of a control beyond the known shapes, which matters for some origins only.
    """
    seen: set[str] = set()
    for view in views_of(text, near=_speaks_of_credentials, beginnings=_beginnings()):
        lowered = view.text.lower()
        grams = grams_of(lowered)
        which = "known" if view.known_forms_only else "all" if everything else "rejecting"
        yield from _find(which, view, lowered, grams, seen)
        if prose and not view.known_forms_only:
            yield from _find_prose(view, lowered, grams, seen, controls=controls)
    if everything and own_text:
        flow = flow_of(View(name="raw", text=text))
        yield from _find("transience", flow, flow.text, grams_of(flow.text), seen)


def _find(which: str, view: View, lowered: str, grams: Grams, seen: set[str]) -> Iterator[Hit]:
    """Yield the hits of one set of rules in one view; ``lowered`` and ``grams`` are those of its text."""
    for rule in _sets()[which].likely(lowered, grams):
        if rule.name in seen:
            continue
        match = find_first(rule, view.text, lowered, grams)
        if match is not None:
            seen.add(rule.name)
            yield Hit(rule=rule, offset=view.place(match.start()), value=match.group())


def _find_prose(view: View, lowered: str, grams: Grams, seen: set[str], *, controls: bool) -> Iterator[Hit]:
    """The rules about authority."""
    if len(lowered) == len(view.text):
        as_it_stands = View(name=view.name, text=lowered, places=view.places)
        yield from _find("delimiter", as_it_stands, lowered, grams, seen)
    flow = flow_of(view)
    yield from _find("shapes", flow, flow.text, grams if flow.text == lowered else grams_of(flow.text), seen)
    if (letters := unleet(flow)) is not None:
        yield from _find("shapes", letters, letters.text, grams_of(letters.text), seen)
    if not controls:
        return
    yield from _find("controls", flow, flow.text, grams if flow.text == lowered else grams_of(flow.text), seen)
    for polarity, offset in iter_polarities(flow.text):
        rule = PERMISSIVE_RULE if polarity == "permissive" else UNCLEAR_RULE
        if rule.name not in seen:
            seen.add(rule.name)
            yield Hit(rule=rule, offset=flow.place(offset))
