"""The reference page is the table of rules."""

from __future__ import annotations

import runpy

from support import CHECKOUT

from memfs.admission.catalogue import all_rules

PAGE = CHECKOUT / "docs" / "reference" / "admission.md"


def test_the_page_is_what_the_rules_say() -> None:
    page = runpy.run_path(str(CHECKOUT / "docs" / "reference" / "write_admission.py"))["page"]
    assert PAGE.read_text(encoding="utf-8") == page(), "run python docs/reference/write_admission.py"


def test_every_rule_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in all_rules() if f"| `{name}` |" not in text] == []
