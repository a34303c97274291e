"""Messages, names of tests and pages are plain English (STYLE 11)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import CHECKOUT


def _phrases() -> list[tuple[re.Pattern[str], str]]:
    rows = (Path(__file__).parent / "phrases.txt").read_text(encoding="utf-8").splitlines()
    return [
        (re.compile(pattern, re.IGNORECASE), instead)
        for pattern, _, instead in (row.partition("\t") for row in rows if row and not row.startswith("#"))
    ]


def _literals(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _texts() -> Iterator[tuple[str, int, str]]:
    for path in sorted((CHECKOUT / "memfs").rglob("*.py")):
        for line, text in _literals(path):
            yield str(path.relative_to(CHECKOUT / "memfs")), line, text
    for path in sorted((CHECKOUT / "memfs/check/data").glob("*.txt")):
        for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield str(path.relative_to(CHECKOUT / "memfs")), line, text
    for name in ("docs", "README.md", "CONTRIBUTING.md", "integrations", "template-repo"):
        place = CHECKOUT / name
        pages = [place] if place.is_file() else sorted(place.rglob("*.md"))
        for page in pages:
            for line, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
                yield str(page.relative_to(CHECKOUT)), line, text


@pytest.mark.skipif(not (CHECKOUT / "docs").is_dir(), reason="the documents are not beside the tests")
def test_no_message_and_no_page_uses_a_phrase_that_nobody_says() -> None:
    phrases = _phrases()
    found = [
        f"{name}:{line}: {hit.group()!r}: write {instead}"
        for name, line, text in _texts()
        for pattern, instead in phrases
        if (hit := pattern.search(text))
    ]
    assert found == []
