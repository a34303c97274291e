"""Parts of files: found again, compared without blanks, line ends and comments, and never slow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfs.model.memory import Heading, Lines
from memfs.model.parts import PartedText

GUIDE = """\
# Guide

Intro.

## Deploy windows

We deploy on Tuesdays.

### Exceptions

None.

## Rollbacks

```sh
## not a heading
```
Ask first.
"""
RETRY = """\
import time

def charge(card):
    # how often we try
    for attempt in range(3):  # three times
        time.sleep(attempt)
    return "# not a comment"
"""


def digest_of(name: str, text: str, part: Heading | Lines) -> str:
    parted = PartedText(name, text.encode())
    place = parted.place(part)
    assert place is not None
    digest = parted.digest(place)
    assert digest is not None
    return digest


def is_same(name: str, part: Heading | Lines, digest: str, text: str) -> bool | None:
    found = PartedText(name, text.encode()).find(part, digest[:16])
    return None if found is None else found.same


def test_a_section_ends_where_the_next_of_its_level_begins() -> None:
    sections = {one.title: (one.first, one.last) for one in PartedText("g.md", GUIDE.encode()).sections}
    assert sections == {
        "Guide": (1, 19), "Deploy windows": (5, 12), "Exceptions": (9, 12), "Rollbacks": (13, 19),
    }  # fmt: skip


def test_underlined_headings_are_headings_and_fenced_ones_are_not() -> None:
    text = "Title\n=====\n\nText\n\nBelow\n-----\n\n~~~\n# no\n~~~\n\n- item\n---\n"
    assert [(one.title, one.level) for one in PartedText("x.md", text.encode()).sections] == [
        ("Title", 1),
        ("Below", 2),
    ]


@pytest.mark.parametrize(
    "changed",
    [
        GUIDE.replace("\n", "\r\n"),
        GUIDE.replace("We deploy on Tuesdays.", "We deploy\non   Tuesdays."),
        GUIDE.replace("Intro.", "Another intro."),
        GUIDE.replace("Ask first.", "Never."),
        GUIDE.replace("None.", "None. <!-- as of\nspring -->"),
        "# More\n\nText.\n\n" + GUIDE,
    ],
)
def test_work_elsewhere_and_blanks_and_comments_are_no_change_of_a_section(changed: str) -> None:
    part = Heading(title="Deploy windows")
    assert is_same("g.md", part, digest_of("g.md", GUIDE, part), changed) is True


def test_a_changed_section_is_told_from_one_that_is_gone() -> None:
    part = Heading(title="Deploy windows")
    digest = digest_of("g.md", GUIDE, part)
    assert is_same("g.md", part, digest, GUIDE.replace("Tuesdays", "Fridays")) is False
    assert is_same("g.md", part, digest, GUIDE.replace("None.", "Many.")) is False
    assert is_same("g.md", part, digest, GUIDE.replace("## Deploy windows", "## Windows")) is None


@pytest.mark.parametrize(
    "changed",
    [
        "import os\n\n\n" + RETRY,
        RETRY.replace("    # how often we try\n", ""),
        RETRY.replace("# three times", "# as the contract says"),
        RETRY.replace("    ", "\t"),
        RETRY.replace("\n", "\r\n"),
        RETRY.replace("range(3)", "range( 3 )"),
    ],
)
def test_lines_are_found_again_and_comments_do_not_count(changed: str) -> None:
    part = Lines(first=3, last=6)
    assert is_same("retry.py", part, digest_of("retry.py", RETRY, part), changed) is True


@pytest.mark.parametrize("changed", [RETRY.replace("range(3)", "range(5)"), "", RETRY.replace("def charge", "def pay")])
def test_changed_lines_are_a_change(changed: str) -> None:
    part = Lines(first=3, last=6)
    assert is_same("retry.py", part, digest_of("retry.py", RETRY, part), changed) is False


def test_what_only_looks_like_a_comment_counts() -> None:
    part = Lines(first=7, last=7)
    digest = digest_of("retry.py", RETRY, part)
    assert is_same("retry.py", part, digest, RETRY.replace("# not a comment", "# another")) is False
    url = 'const home = "https://example.com"; // here\n'
    part = Lines(first=1, last=1)
    digest = digest_of("a.ts", url, part)
    assert is_same("a.ts", part, digest, url.replace("here", "there")) is True
    assert is_same("a.ts", part, digest, url.replace("example.com", "example.org")) is False
    text = 'sql = """\n# keep\n"""\n'
    part = Lines(first=1, last=3)
    assert is_same("a.py", part, digest_of("a.py", text, part), text.replace("keep", "drop")) is False


def test_a_file_of_an_unknown_kind_has_no_comments() -> None:
    part = Lines(first=1, last=1)
    assert is_same("notes.txt", part, digest_of("notes.txt", "# one\n", part), "# two\n") is False


def test_lines_with_nothing_but_blanks_and_comments_have_no_digest() -> None:
    assert PartedText("a.py", b"# one\n\n# two\n").digest(Lines(first=1, last=3)) is None


@settings(deadline=None, max_examples=60)
@given(before=st.lists(st.text("ab =(#)\"'", max_size=12), max_size=8), shift=st.integers(0, 9))
def test_lines_are_found_wherever_they_went(before: list[str], shift: int) -> None:
    kept = ["first line of the part", "second line of the part"]
    text = "\n".join([*before, *kept]) + "\n"
    part = Lines(first=len(before) + 1, last=len(before) + 2)
    digest = digest_of("x.txt", text, part)
    moved = "\n".join(["new"] * shift + kept + before)
    assert is_same("x.txt", part, digest, moved) is True


@pytest.mark.parametrize(
    "text", ["/*" * 200_000, '"""' + "\\" * 300_000, "`" * 300_001, "<!--" * 100_000, "'" * 300_001]
)
@pytest.mark.parametrize("name", ["a.ts", "a.py", "a.md"])
def test_no_text_makes_it_slow(name: str, text: str) -> None:
    start = time.monotonic()
    PartedText(name, (text + "\n").encode()).find(Lines(first=1, last=400), "0" * 16)
    assert time.monotonic() - start < 5
