"""The pages about review say what the program does."""

from __future__ import annotations

import re
import runpy

import pytest
from support import CHECKOUT

from memfs.check.rules import FORM_RULES, GROUPS, RULES, SKIP_RULES

CHECKS = CHECKOUT / "docs" / "reference" / "checks.md"

pytestmark = pytest.mark.skipif(not CHECKS.is_file(), reason="the documentation is not beside the package")


def test_the_page_of_the_checks_is_the_table_of_the_rules() -> None:
    written = runpy.run_path(str(CHECKS.with_name("write_checks.py")))["page"]()
    assert CHECKS.read_text() == written, "run python docs/reference/write_checks.py"


def test_every_rule_is_on_the_page_once_and_in_a_known_group() -> None:
    named = re.findall(r"^\| <a id=\"[a-z-]+\"></a>`([a-z-]+)` \|", CHECKS.read_text(), re.MULTILINE)
    assert sorted(named) == sorted(RULES)
    assert {rule.group for rule in RULES.values()} == set(GROUPS)


def test_every_problem_of_the_model_has_a_rule() -> None:
    assert {*FORM_RULES.values(), *SKIP_RULES.values()} <= set(RULES)


def test_every_rule_that_the_code_names_is_in_the_table() -> None:
    source = "\n".join(path.read_text() for path in (CHECKOUT / "memfs" / "check").glob("*.py"))
    named = set(re.findall(r'make_result\(\s*"([a-z-]+)"', source)) | set(re.findall(r'say\(\s*"([a-z-]+)"', source))
    assert named
    assert named <= set(RULES)
