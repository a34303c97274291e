"""A new file comes back as it was given; a changed file differs only where it was asked to."""

from __future__ import annotations

from datetime import date
from unicodedata import is_normalized

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model.strategies import bodies, format_document, fronts, keys, values

from memfs.errors import InvalidMemoryError
from memfs.model.frontmatter import (
    UnreadableError,
    change_document,
    inspect_document,
    normal_body,
    parse_document,
)
from memfs.model.memory import FrontValue

relaxed = settings(deadline=None, max_examples=200)


@relaxed
@given(front=fronts, body=bodies)
def test_what_is_written_comes_back(front: dict[str, FrontValue], body: str) -> None:
    raw = format_document(front, body)
    document = parse_document(raw)
    assert list(document.front.items()) == list(front.items())
    assert document.body == body


@relaxed
@given(front=st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.lists(st.text(max_size=8)).map(tuple)))
@example(front={"title": "new\nline"})
@example(front={"title": "nul\0here"})
@example(front={"title": "\ud800"})
@example(front={"a": ("",)})
def test_any_text_comes_back_or_is_refused(front: dict[str, FrontValue]) -> None:
    try:
        raw = format_document(front, "Body.")
    except InvalidMemoryError:
        return
    assert parse_document(raw).front == front


@relaxed
@given(front=fronts, body=st.text(max_size=40))
def test_a_new_file_is_nfc_with_lf_and_one_final_newline(front: dict[str, FrontValue], body: str) -> None:
    try:
        text = format_document(front, body).decode()
    except InvalidMemoryError:
        return
    assert is_normalized("NFC", text)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\r\n" not in text
    assert not any(line.endswith((" ", "\t")) for line in text.split("---\n", 2)[2].split("\n"))


@relaxed
@given(front=fronts)
def test_another_yaml_reader_sees_the_same_texts(front: dict[str, FrontValue]) -> None:
    text = format_document(front, "Body.\n").decode()
    others = yaml.safe_load(text.split("---\n", 2)[1]) or {}

    # A date is one to both sides, and a key such as `no` is another's business.
    def text_of(value: object) -> object:
        return (
            list(map(text_of, value)) if isinstance(value, list) else str(value) if isinstance(value, date) else value
        )

    seen = list(map(text_of, others.values()))
    assert seen == [value if isinstance(value, str) else list(value) for value in front.values()]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("decision", "a: decision"),
        ("2027-02-11", "a: 2027-02-11"),
        ("docs/adr/1.md@bf3c8fd", "a: docs/adr/1.md@bf3c8fd"),
        ("https://example.com/x?y=1#z", 'a: "https://example.com/x?y=1#z"'),
        ("when docs/support.md changes", "a: when docs/support.md changes"),
        ("when sqlalchemy >= 2.1", "a: when sqlalchemy >= 2.1"),
        ("2024-02-30", 'a: "2024-02-30"'),
        ("no", 'a: "no"'),
        ("0123", 'a: "0123"'),
        ("12:30", 'a: "12:30"'),
        ("1234567", 'a: "1234567"'),
        ("12e4567", 'a: "12e4567"'),
        ("", 'a: ""'),
        (" x ", 'a: " x "'),
        ("Re: plan", 'a: "Re: plan"'),
        ("a # b", 'a: "a # b"'),
        ("- x", 'a: "- x"'),
        ("it's", "a: it's"),
        ('say "x" \\ y', 'a: "say \\"x\\" \\\\ y"'),
        ("tab\there", 'a: "tab\\there"'),
        ("e\u0301", 'a: "e\\u0301"'),
        ("\u212b\U0001d15e", 'a: "\\u212b\\U0001d15e"'),
        ("🎉", 'a: "🎉"'),
        ("日本語", "a: 日本語"),
        (("x", "z"), "a: [x, z]"),
        (("y",), 'a: ["y"]'),
        (("x,y", "no", "a: b"), 'a: ["x,y", "no", "a: b"]'),
        ((), "a: []"),
        (("https://example.com",), 'a: ["https://example.com"]'),
    ],
)
def test_values_are_plain_only_where_every_reader_takes_them_for_this_text(value: FrontValue, line: str) -> None:
    assert format_document({"a": value}, "").decode() == f"---\n{line}\n---\n"


def test_evidence_and_long_lists_are_written_one_item_a_line() -> None:
    text = format_document({"evidence": ("a/b@1234567",), "tags": ("x" * 60, "y" * 60)}, "").decode()
    assert text == f"---\nevidence:\n  - a/b@1234567\ntags:\n  - {'x' * 60}\n  - {'y' * 60}\n---\n"


@pytest.mark.parametrize(
    "body", ["---\na: 1\n---\n", "<<<<<<< a\n=======\n>>>>>>> b\n", "lone \r return", "half \ud800", "nul \0"]
)
def test_a_body_that_would_be_read_otherwise_is_not_written(body: str) -> None:
    with pytest.raises(InvalidMemoryError):
        format_document({"a": "1"}, body)


def test_the_body_loses_trailing_blanks_and_outer_blank_lines() -> None:
    assert normal_body("\n\na  \r\n\t\n b\t\n\n") == "a\n\n b\n"
    assert normal_body(" \n\n") == ""


# --- changing ---------------------------------------------------------------------------------------

KEPT = """\
# a comment to keep
title: "Quoted: yes"   # trailing
zeta: 1

alpha:   2
list: [ a,b ]   # list
'quoted': old
items:   # why
    -   one   # first
    # between
    - 'two'
    - three
empty:
hash: # nothing
text: >-
  folded
  text
last: [x,
   y]
# end
"""


def changed(changes: dict[str, FrontValue | None], front: str = KEPT, body: str | None = None) -> str:
    text = change_document(f"---\n{front}---\n\nBody \n".encode(), changes, body).decode()
    assert text.startswith("---\n")
    return text.removeprefix("---\n").split("---\n\n")[0]


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"title": "New"}, '"Quoted: yes"', '"New"'),
        ({"zeta": "2"}, "zeta: 1\n", 'zeta: "2"\n'),
        ({"zeta": ("a", "b")}, "zeta: 1\n", "zeta: [a, b]\n"),
        ({"zeta": None}, "zeta: 1\n", ""),
        ({"alpha": "x"}, "alpha:   2\n", "alpha:   x\n"),
        ({"list": ("a",)}, "[ a,b ]", "[a]"),
        ({"list": "a"}, "[ a,b ]", "a"),
        ({"list": None}, "list: [ a,b ]   # list\n", ""),
        ({"items": ("one", "two", "three", "four")}, "    - three\n", "    - three\n    -   four\n"),
        ({"items": ("zero", "one", "two", "three")}, "    -   one", "    -   zero\n    -   one"),
        ({"items": ("one", "2 b", "three")}, "    - 'two'\n", "    -   2 b\n"),
        ({"items": ("one", "three")}, "    - 'two'\n", ""),
        ({"items": ("two", "three")}, "    -   one   # first\n", ""),
        ({"empty": "full"}, "empty:\n", "empty: full\n"),
        ({"empty": ("a",)}, "empty:\n", "empty: [a]\n"),
        ({"empty": None}, "empty:\n", ""),
        ({"hash": "full"}, "hash: # nothing", "hash: full # nothing"),
        ({"last": ("x",)}, "[x,\n   y]", "[x]"),
        ({"last": None}, "last: [x,\n   y]\n", ""),
        ({"new": "v"}, "# end\n", "# end\nnew: v\n"),
        ({"new": None}, "", ""),
        ({"title": "Quoted: yes", "items": ("one", "two", "three")}, "", ""),
    ],
)
def test_a_change_touches_only_its_key(changes: dict[str, FrontValue | None], old: str, new: str) -> None:
    assert changed(changes) == KEPT.replace(old, new, 1)


def test_a_list_in_block_form_becomes_what_replaces_it() -> None:
    before = KEPT[: KEPT.index("items:")]
    after = KEPT[KEPT.index("empty:") :]
    assert changed({"items": "one"}) == f"{before}items: one   # why\n{after}"
    assert changed({"items": ()}) == f"{before}items: []   # why\n{after}"
    assert changed({"items": None}) == before + after


def test_several_changes_at_once() -> None:
    front = "a: 1\nb: 2\nc: 3\n"
    assert changed({"c": "x", "a": None, "d": "u", "e": ("z",)}, front) == "b: 2\nc: x\nd: u\ne: [z]\n"


@pytest.mark.parametrize("key", ["text", "quoted"])
def test_a_refused_value_is_not_changed_in_place_and_the_line_is_named(key: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        changed({key: "x"})
    (problem,) = caught.value.problems
    assert (problem.rule, problem.line) == (
        "not-in-place",
        2 + KEPT[: KEPT.index(key + (":" * (key == "text")))].count("\n"),
    )


def test_line_ends_a_byte_order_mark_and_a_missing_final_newline_stay() -> None:
    raw = b"\xef\xbb\xbf---\r\na: 1\nb: 2\r\nc:\r\n- x\r\n---\t\r\n\nOne\r\nTwo \n\nlast"
    result = change_document(raw, {"a": "x", "b": None, "c": ("x", "u"), "d": "z"})
    assert result == b"\xef\xbb\xbf---\r\na: x\nc:\r\n- x\r\n- u\r\nd: z\r\n---\t\r\n\nOne\r\nTwo \n\nlast"


def test_a_new_body_keeps_the_front_matter_and_the_files_line_ends() -> None:
    raw = b"---\r\na: 1   # x\r\n---\r\n\r\nOld\r\n"
    assert change_document(raw, {}, "New \ntext\n\n") == b"---\r\na: 1   # x\r\n---\r\n\r\nNew\r\ntext\r\n"
    assert change_document(raw, {}, "") == b"---\r\na: 1   # x\r\n---\r\n"
    assert change_document(b"---\na: 1\n---", {}, "New") == b"---\na: 1\n---\nNew\n"


def test_an_empty_front_matter_takes_its_first_key() -> None:
    assert change_document(b"---\n---\nBody\n", {"a": "v"}) == b"---\na: v\n---\nBody\n"
    assert change_document(b"---\n# none\n---\nBody\n", {"a": "v"}) == b"---\n# none\na: v\n---\nBody\n"


def test_a_file_without_front_matter_gets_a_block_on_top() -> None:
    assert change_document(b"Body\n", {"a": "b"}) == b"---\na: b\n---\nBody\n"
    assert change_document(b"\xef\xbb\xbfBody\r\n", {"a": "b"}) == b"\xef\xbb\xbf---\r\na: b\r\n---\r\nBody\r\n"
    assert change_document(b"Body\n", {"a": None}) == b"Body\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"---\n\nA rule. Note: x\n\n---\n",
        b"---\njust words\n---\n",
        b"---js\n{}\n---\n",
        b"+++\na = 1\n+++\nBody\n",
        b'\n{"a": 1}\n',
        b"---\na: 1\n---\n\n---\nb: 2\n---\nBody\n",
        b"---\na: never closed\n",
        b"---\na: *b*\n---\n",
        b"---\na: 1\na: 2\n---\n",
        b"caf\xe9",
    ],
)
def test_a_block_is_never_stacked_on_another(raw: bytes) -> None:
    with pytest.raises(UnreadableError):
        change_document(raw, {"a": "x"})
    with pytest.raises(UnreadableError):
        change_document(raw, {"new": "x"}, "Body")


def test_a_key_in_another_normal_form_is_the_same_key() -> None:
    raw = "---\nx: y\n\u212b: a\n---\n".encode()
    assert change_document(raw, {"\u00c5": "b"}) == "---\nx: y\n\u212b: b\n---\n".encode()


@st.composite
def written_blocks(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Keys with one of the ways to write a value, as (key, its lines)."""
    names = draw(st.lists(keys, min_size=1, max_size=5, unique=True))
    ways = [
        "{}: plain\n",
        "{}:   plain text   # comment\n",
        "{}: 'single ''quoted'''\n",
        '{}: "double \\"quoted\\""  # c\n',
        "{}:\n",
        "{}: [a, 'b', \"c\"]\n",
        "{}: [ a,\n  # in it\n  b ]\n",
        "{}:\n- a\n- b # c\n",
        "{}: # c\n   - a\n\n   # d\n   - 'b'\n",
        "{}: >\n  folded\n\n  text\n",
        "{}: {{a: b}}\n",
        "# above\n{}: below\n\n",
    ]
    return [(name, draw(st.sampled_from(ways)).format(name)) for name in names]


@settings(deadline=None, max_examples=250)
@given(block=written_blocks(), data=st.data(), crlf=st.booleans(), mark=st.booleans())
def test_the_bytes_of_other_keys_never_change(
    block: list[tuple[str, str]], data: st.DataObject, crlf: bool, mark: bool
) -> None:
    at = data.draw(st.integers(0, len(block) - 1))
    value = data.draw(st.none() | values)
    eol = "\r\n" if crlf else "\n"

    def raw_of(parts: list[tuple[str, str]]) -> bytes:
        return "".join(text for _, text in parts).replace("\n", eol).encode()

    head = (b"\xef\xbb\xbf" if mark else b"") + f"---{eol}".encode()
    tail = f"---{eol}{eol}Body \t{eol}end".encode()
    raw = head + raw_of(block) + tail
    before, _ = inspect_document(raw)
    key = block[at][0]
    if block[at][1].endswith(("text\n", "b}\n")):
        with pytest.raises(InvalidMemoryError, match="by hand"):
            change_document(raw, {key: value})
        return
    result = change_document(raw, {key: value})
    assert result.startswith(head + raw_of(block[:at]))
    assert result.endswith(raw_of(block[at + 1 :]) + tail)
    after, _ = inspect_document(result)
    expected = dict(before.front)
    if value is None:
        del expected[key]
    else:
        expected[key] = value
    assert list(after.front.items()) == list(expected.items())
    assert after.body == before.body


@settings(deadline=None, max_examples=200)
@given(
    raw=st.binary(max_size=60) | st.text(max_size=60).map(str.encode), changes=st.dictionaries(keys, values | st.none())
)
def test_a_change_of_any_file_is_right_or_refused(raw: bytes, changes: dict[str, FrontValue | None]) -> None:
    try:
        result = change_document(raw, changes)
    except InvalidMemoryError:
        return
    front = inspect_document(result)[0].front
    assert all(front.get(key) == value for key, value in changes.items())
