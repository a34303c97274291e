"""Applies the rules to one text (ADMISSION 2). Pure.

The text is looked at in every view; a rule counts once, in the first view that it hits. Keywords come before patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from memfs.admission.meaning import find_order
from memfs.admission.personal import ADDRESS_RULES, personal_rules
from memfs.admission.rules import Gist, Likely, Rule, RuleSet, find_first
from memfs.admission.secrets import CREDENTIAL_WORDS, secret_rules, vendor_rules
from memfs.admission.sentences import MEANING_RULE, order_rules, transience_rules
from memfs.admission.tables import pattern
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


def _speaks_of_credentials(lowered: str) -> bool:
    return any(word in lowered for word in CREDENTIAL_WORDS)


@cache
def _rules_for(what: str) -> RuleSet:
    """Return the rules for a view: ``all``, ``reading`` (only what withholds), ``known`` (credentials' own forms)
    or ``running`` (text as it flows)."""
    delimiter, *orders = order_rules()
    sentences = {"delimiter": (delimiter,), "orders": orders}
    if what == "running":
        return RuleSet({"orders": orders, "transience": transience_rules()})
    if what == "all":
        return RuleSet({"tokens": (*secret_rules(), *personal_rules()), **sentences, "transience": transience_rules()})
    return RuleSet({"tokens": secret_rules() if what == "reading" else vendor_rules(), **sentences})


def find_hits(text: str, *, prose: bool, everything: bool, own_text: bool, statement: bool) -> Iterator[Hit]:
    """Yield one hit for each rule that ``text`` breaks.

    ``prose``: the field contains sentences, so the rules about authority apply. ``everything``: also the
    rules that do not withhold a memory. ``own_text``: the field is the body, so the rules on passing states apply.
    ``statement``: the field says something, so its sentences are read for their meaning.
    """
    seen: set[str] = set()
    first: tuple[View, Gist, Likely] | None = None
    for view in views_of(text, near=_speaks_of_credentials, beginnings=pattern("beginnings")):
        gist = Gist(view.text.lower())
        which = "known" if view.known_forms_only else "all" if everything else "reading"
        likely = _rules_for(which).likely(gist)
        yield from _find(likely["tokens"], view, gist, seen)
        if prose and view.orders:
            if len(gist.lowered) == len(view.text):
                lowered = View(name=view.name, text=gist.lowered, places=view.places)
                yield from _find(likely["delimiter"], lowered, gist, seen)
            running = _running(view, gist, likely)
            first = first or running  # the text itself is the first view
            yield from _find_orders(*running, seen)
    if everything and own_text:
        flow, flowing, likely = first or _running(View(name="raw", text=text))
        yield from _find(likely["transience"], flow, flowing, seen)
    if everything and statement and (found := find_order(text)) is not None:
        yield Hit(rule=MEANING_RULE, offset=found[0], end=found[1])


def _running(view: View, gist: Gist | None = None, likely: Likely | None = None) -> tuple[View, Gist, Likely]:
    """Return ``view`` as running text with its gist and likely rules: those of the view where nothing changes."""
    flow = flow_of(view)
    if gist is not None and likely is not None and flow.text == gist.lowered:
        return flow, gist, likely
    flowing = Gist(flow.text)
    return flow, flowing, _rules_for("running").likely(flowing)


def _find(rules: Sequence[Rule], view: View, gist: Gist, seen: set[str]) -> Iterator[Hit]:
    """Yield the hits of ``rules`` in one view; ``gist`` is that of its text."""
    for rule in rules:
        if rule.name in seen:
            continue
        match = find_first(rule, view.text, gist)
        if match is not None:
            seen.add(rule.name)
            yield Hit(rule=rule, offset=view.place(match.start()), value=match.group())


def _find_orders(flow: View, flowing: Gist, likely: Likely, seen: set[str]) -> Iterator[Hit]:
    """The known forms of orders, also with digits for letters."""
    yield from _find(likely["orders"], flow, flowing, seen)
    if (letters := unleet(flow)) is not None:
        gist = Gist(letters.text)
        yield from _find(_rules_for("running").likely(gist)["orders"], letters, gist, seen)
