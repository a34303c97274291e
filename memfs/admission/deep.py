"""A second look for credentials with the Kingfisher scanner (pip extra ``scan``; ADMISSION 2).

It knows hundreds of vendors' forms that the own rules do not, and misses most passwords in prose,
which they find. Starting it costs a second and more, so ``memfs check`` uses it on many files at once
and the gate of a single draft never does. It runs in this process and contacts nobody.
"""

from __future__ import annotations

from typing import Any

from memfs.admission.findings import Finding
from memfs.admission.rules import Family, Rule, Severity

SCANNER_RULE = Rule(
    name="scanner-finding",
    family=Family.SECRETS,
    severity=Severity.REJECT,
    sentence="holds what the Kingfisher scanner takes for a credential (extra: scan)",
)


class DeepScanner:
    """Kingfisher's rules, compiled once."""

    def __init__(self, scanner: Any) -> None:
        self._scanner = scanner

    def check_text(self, name: str, text: str) -> list[Finding]:
        """Return what the scanner finds in one field; the value is in none of the findings."""
        found = []
        for hit in self._scanner.scan(text.encode("utf-8", "replace")):
            if not hit.visible:
                continue
            place = hit.location
            found.append(
                Finding(
                    rule=SCANNER_RULE.name,
                    family=SCANNER_RULE.family,
                    severity=SCANNER_RULE.severity,
                    message=f"looks like a credential to Kingfisher's rule {hit.rule_id}",
                    field=name,
                    line=place["line"],
                    column=place["column"] + 1,
                )
            )
        return found


def open_scanner(cache_folder: str) -> DeepScanner | None:
    """Return the scanner, or None where the extra ``scan`` is not installed.

    ``cache_folder`` keeps its compiled rules from one run to the next; no text ever goes there.
    """
    try:
        import kingfisher_sdk
    except ImportError:
        return None
    rules = kingfisher_sdk.Rules(confidence="medium", cache_dir=cache_folder)
    return DeepScanner(kingfisher_sdk.Scanner(rules))
