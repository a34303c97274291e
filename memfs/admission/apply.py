"""Applies the rules to one text (ADMISSION 2). Pure.

The text is looked at in every view; a rule counts once, in the first view that it hits. Keywords come before patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from memfs.admission.authority import MEANING_RULE, order_rules
from memfs.admission.meaning import find_order
from memfs.admission.personal import ADDRESS_RULES, personal_rules
from memfs.admission.rules import Gist, Rule, RuleSet, find_first
from memfs.admission.secrets import BEGINNINGS, CREDENTIAL_WORDS, secret_rules, vendor_rules
from memfs.admission.transience import transience_rules
from memfs.admission.views import View, flow_of, unleet, views_of
from memfs.model.values import dataclass

__all__ = ["ADDRESS_RULES", "Hit", "find_hits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A rule that a text breaks and where in the original it does. ``value`` never leaves this room."""

    rule: Rule
    offset: int
    value: str | None = None
    end: int | None = None


@cache
def _beginnings() -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{BEGINNINGS})")


def _speaks_of_credentials(lowered: str) -> bool:
    return any(word in lowered for word in CREDENTIAL_WORDS)


@cache
def _sets() -> Mapping[str, RuleSet]:
    delimiter, *shapes = order_rules()
    return {
        "known": RuleSet(vendor_rules()),
        "secrets": RuleSet(secret_rules()),
        "all": RuleSet((*secret_rules(), *personal_rules())),
        "delimiter": RuleSet((delimiter,)),
        "orders": RuleSet(shapes),
        "transience": RuleSet(transience_rules()),
    }


def find_hits(text: str, *, prose: bool, everything: bool, own_text: bool, statement: bool) -> Iterator[Hit]:
    """Yield one hit for each rule that ``text`` breaks.

    ``prose``: the field contains sentences, so the rules about authority apply. ``everything``: also the
    rules that do not withhold a memory. ``own_text``: the field is the body, so the rules on passing states apply.
    ``statement``: the field says something, so its sentences are read for their meaning.
    """
    seen: set[str] = set()
    first: tuple[View, Gist] | None = None
    for view in views_of(text, near=_speaks_of_credentials, beginnings=_beginnings()):
        gist = Gist(view.text.lower())
        which = "known" if view.known_forms_only else "all" if everything else "secrets"
        yield from _find(which, view, gist, seen)
        if prose and view.orders:
            flow, flowing = _running(view, gist)
            first = first or (flow, flowing)  # the text itself is the first view
            yield from _find_orders(view, gist, flow, flowing, seen)
    if everything and own_text:
        flow, flowing = first or _running(View(name="raw", text=text))
        yield from _find("transience", flow, flowing, seen)
    if everything and statement and (found := find_order(text)) is not None:
        yield Hit(rule=MEANING_RULE, offset=found[0], end=found[1])


def _running(view: View, gist: Gist | None = None) -> tuple[View, Gist]:
    """Return ``view`` as running text, with its gist: that of the view where nothing changes."""
    flow = flow_of(view)
    return flow, gist if gist is not None and flow.text == gist.lowered else Gist(flow.text)


def _find(which: str, view: View, gist: Gist, seen: set[str]) -> Iterator[Hit]:
    """Yield the hits of one set of rules in one view; ``gist`` is that of its text."""
    for rule in _sets()[which].likely(gist):
        if rule.name in seen:
            continue
        match = find_first(rule, view.text, gist)
        if match is not None:
            seen.add(rule.name)
            yield Hit(rule=rule, offset=view.place(match.start()), value=match.group())


def _find_orders(view: View, gist: Gist, flow: View, flowing: Gist, seen: set[str]) -> Iterator[Hit]:
    """The known forms of orders."""
    if len(gist.lowered) == len(view.text):
        yield from _find("delimiter", View(name=view.name, text=gist.lowered, places=view.places), gist, seen)
    yield from _find("orders", flow, flowing, seen)
    if (letters := unleet(flow)) is not None:
        yield from _find("orders", letters, Gist(letters.text), seen)
