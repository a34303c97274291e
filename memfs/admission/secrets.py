"""Rules against credentials (ADMISSION 2). Pure; standard library only."""

from __future__ import annotations

import re

from memfs.admission.rules import Family, Rule, Severity
from memfs.admission.vendors import ROWS

_EDGE = r"(?<![A-Za-z0-9_])"
_PLACEHOLDER = re.compile(r"EXAMPLE|example|x{5}|X{5}|\*{3}|0{8}|your|YOUR|redacted|REDACTED")


def _is_real(match: re.Match[str]) -> bool:
    """A vendor's form, filled with something that is no placeholder."""
    value = match.group()
    return len(set(value[4:])) >= 6 and not _PLACEHOLDER.search(value)


def vendor_rules() -> tuple[Rule, ...]:
    """Return the rules for credentials whose form their makers document."""
    return tuple(
        Rule(
            name=f"vendor-{name}",
            family=Family.SECRETS,
            severity=Severity.REJECT,
            sentence=f"looks like {whose}",
            keywords=keywords,
            pattern=f"{_EDGE}(?:{pattern})(?![A-Za-z0-9])",
            accepts=_is_real,
            fixed=True,
        )
        for name, whose, keywords, pattern in ROWS
    )
