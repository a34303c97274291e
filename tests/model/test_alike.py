"""Lines that an eye cannot tell from older ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.model.unseen import find_alike, skeleton


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "A charge.",
            "A ch\u0430rge.",
            "line 1: it looks the same as before, and is not: "
            "U+0430 (Cyrillic small letter a), was U+0061 (Latin small letter a)",
        ),
        ("x\nA b", "x\nA\u2003b", "line 2: only blanks change: U+2003 (Em space), was U+0020 (Space)"),
        ("A b", "A b  c", None),
        ("A b", "A c", None),
        ("A b", "A b", None),
    ],
)
def test_each_difference_is_named_with_the_character_that_was_there(old: str, new: str, sentence: str | None) -> None:
    assert [one.sentence for one in find_alike(old, new)] == ([sentence] if sentence else [])


def test_line_ends_alone_are_no_difference() -> None:
    assert find_alike("a b\nc\n", "a b\r\nc\r\n") == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_is_told_looks_alike_and_differs(old: str, new: str) -> None:
    lines = new.replace("\r\n", "\n").split("\n")
    for one in find_alike(old, new):
        line = lines[one.line - 1]
        assert any(skeleton(line) == skeleton(was) and line != was for was in old.replace("\r\n", "\n").split("\n"))
        assert one.differences
        assert 1 <= one.column <= len(line) + 1
