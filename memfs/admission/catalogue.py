"""All rules by name, for people who look one up or allow one. Pure; reads every rule module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from memfs.admission.deep import SCANNER_RULE
from memfs.admission.findings import CODEPOINT_RULES, FORM_RULES
from memfs.admission.personal import personal_rules
from memfs.admission.rules import Rule
from memfs.admission.secrets import secret_rules
from memfs.admission.sentences import MEANING_RULE, order_rules, transience_rules


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return every rule of the gate under its name, in the order in which they are documented."""
    rules = (
        *FORM_RULES,
        *CODEPOINT_RULES,
        *secret_rules(),
        *personal_rules(),
        *order_rules(),
        MEANING_RULE,
        *transience_rules(),
        SCANNER_RULE,
    )
    named = {rule.name: rule for rule in rules}
    assert len(named) == len(rules), "two rules share a name"
    return named


def rule_named(name: str) -> Rule | None:
    """Return the rule of that name, or None."""
    return all_rules().get(name)
