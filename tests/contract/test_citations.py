"""Every rule that a comment cites can be looked up in ``docs/design``."""

from __future__ import annotations

import re

import pytest
from support import CHECKOUT

CITATION = re.compile(r"\b(DESIGN|TRUST|ADMISSION|RETRIEVAL|INTEGRATIONS|STYLE) (\d+)\b")
READ = ("memfs", "tests", "benchmarks", "docs", "integrations", "template-repo")
KINDS = {".py", ".md", ".yaml", ".yml", ".js", ".txt"}


def _rules() -> set[tuple[str, str]]:
    found = set()
    for page in (CHECKOUT / "docs/design").glob("*.md"):
        headings = re.findall(r"^## (\d+)\. ", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(headings) == len(set(headings)), f"{page.name} has a number twice"
        found |= {(page.stem.upper(), number) for number in headings}
    return found


def _citations() -> list[tuple[str, str, str]]:
    found = []
    for folder in READ:
        for path in sorted((CHECKOUT / folder).rglob("*")):
            if path.suffix in KINDS and path.is_file():
                for line, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                    found += [(f"{path.relative_to(CHECKOUT)}:{line}", *one) for one in CITATION.findall(text)]
    return found


@pytest.mark.skipif(not (CHECKOUT / "docs").is_dir(), reason="the documents are not beside the tests")
def test_every_cited_rule_has_a_section_in_the_design() -> None:
    rules, citations = _rules(), _citations()
    assert len(rules) > 30
    assert len(citations) > 100
    assert [where for where, page, number in citations if (page, number) not in rules] == []


def test_the_index_of_decisions_names_every_record() -> None:
    folder = CHECKOUT / "docs/adr"
    records = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert sorted(re.findall(r"\((\d{4}-[a-z0-9-]+\.md)\)", (folder / "README.md").read_text())) == records
