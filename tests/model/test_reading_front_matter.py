"""What the strict reader takes, and what it refuses with line and column."""

from __future__ import annotations

import pytest

from memfs.errors import EXIT_INVALID_MEMORY
from memfs.model.frontmatter import UnreadableError, inspect_document, parse_document
from memfs.model.memory import MAX_MEMORY_BYTES


def block(front: str, body: str = "Body.\n") -> bytes:
    return f"---\n{front}\n---\n{body}".encode()


def refusal(raw: bytes) -> tuple[str, int | None, int | None]:
    """Return rule, line and column of the first problem."""
    with pytest.raises(UnreadableError) as caught:
        parse_document(raw)
    assert caught.value.exit_code == EXIT_INVALID_MEMORY
    problem = caught.value.problems[0]
    return problem.rule, problem.line, problem.column


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "yes",
        "on",
        "off",
        "~",
        "null",
        "true",
        "12:30",
        "0123",
        "1.10",
        "2024-02-30",
        "1_000",
        "0x1F",
        "1e10",
        ".nan",
    ],
)
def test_a_scalar_stays_the_text_that_was_written(text: str) -> None:
    document = parse_document(block(f"a: {text}\nb: [{text}]\nc:\n- {text}"))
    assert document.front == {"a": text, "b": (text,), "c": (text,)}


def test_quoted_scalars_give_their_content() -> None:
    front = r"""a: 'it''s # no comment'
b: "q\"\\\/\n\tA\xe9\u00e9\U0001F600"
c: ["[x]", '- y']"""
    assert parse_document(block(front)).front == {
        "a": "it's # no comment",
        "b": 'q"\\/\n\tAéé😀',
        "c": ("[x]", "- y"),
    }


def test_comments_blank_lines_and_empty_values_are_read_as_yaml_reads_them() -> None:
    document = parse_document(block("# first\n\na:   1   # one\nb:\nc: []\n\n  # indented comment\nd: x#y\n# last"))
    assert document.front == {"a": "1", "b": "", "c": (), "d": "x#y"}
    assert document.lines == {"a": 4, "b": 5, "c": 6, "d": 9}


def test_a_list_may_stand_in_flow_form_over_lines_or_in_block_form_at_any_indent() -> None:
    document = parse_document(block("a: [x,\n    y y,\n  z]\nb:\n- x\n# between\n- y\nc:\n    -   x"))
    assert document.front == {"a": ("x", "y y", "z"), "b": ("x", "y"), "c": ("x",)}


def test_the_body_is_everything_below_the_front_matter_with_lf_line_ends() -> None:
    assert parse_document(b"---\r\na: 1\r\n---\r\n\r\nOne\r\n---\r\nTwo").body == "\nOne\n---\nTwo"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b"Just text.\n", "text"),
        (b"---\n\nA rule. Note: with a colon\n\n---\n", "a rule of Markdown"),
        (b"---\njust words\n---\n", "words between rules"),
        (b"---js\n{ a: 1 }\n---\n", "another language"),
        (b"text\n---\na: 1\n---\n", "not at the top"),
        (b" ---\na: 1\n---\n", "an indented fence"),
        (b"----\na: 1\n----\n", "a longer fence"),
        (b"---\n\n...\na: 1\n---\n", "nothing above the dots"),
    ],
)
def test_what_opens_no_front_matter_is_all_body(raw: bytes, why: str) -> None:
    document = parse_document(raw)
    assert (document.has_front, document.front, document.body) == (False, {}, raw.decode()), why


def test_an_empty_block_is_front_matter_without_keys() -> None:
    document = parse_document(b"---\n# nothing yet\n---\nText\n")
    assert (document.has_front, document.front, document.body) == (True, {}, "Text\n")


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("a: 1\nb: 2\na: 3", ("duplicate-key", 4, 1)),
        ("caf\u00e9: 1\ncafe\u0301: 2", ("duplicate-key", 3, 1)),
        ("a: &x 1", ("anchor", 2, 4)),
        ("a: [1, &x 2]", ("anchor", 2, 8)),
        ("a: 1\nb: *a", ("alias", 3, 4)),
        ("a: &a 1\nb: *a", ("anchor", 2, 4)),
        ("a: !!str 1", ("tag", 2, 4)),
        ("a: !x [1]", ("tag", 2, 4)),
        ("&a k: 1\nj: 2", ("no-front-matter", 1, 1)),
        ("b: 1\n&a k: 1", ("anchor", 3, 1)),
        ("<<: 1", ("no-front-matter", 1, 1)),
        ("a: 1\n<<: 1", ("merge-key", 3, 1)),
        ("a: {b: c}", ("nested-map", 2, 4)),
        ("a:\n  b: c", ("nested-map", 3, 3)),
        ("a: [b: c]", ("nested-map", 2, 5)),
        ("a: [[b]]", ("nested-list", 2, 5)),
        ("a:\n- - b", ("nested-list", 3, 3)),
        ("a: |\n  b", ("block-scalar", 2, 4)),
        ("a: >-\n  b", ("block-scalar", 2, 4)),
        ("a: b\n  c", ("multi-line-value", 2, 4)),
        ('a: "b\n  c"', ("multi-line-value", 2, 4)),
        ('"a": 1', ("quoted-key", 2, 1)),
        ("'a': 1", ("quoted-key", 2, 1)),
        (" a: 1", ("indented-key", 2, 2)),
        ("a : 1", ("no-front-matter", 1, 1)),
        ("b: 1\na : 1", ("bad-key", 3, 1)),
        ("b: 1\n? a\n: 1", ("indented-key", 3, 3)),
        ("b: 1\n? [a]\n: 1", ("bad-key", 3, 3)),
        ("b: 1\na\u200b: 1", ("bad-key", 3, 1)),
        ("b: 1\n-a: 1", ("bad-key", 3, 1)),
        (f"b: 1\n{'a' * 65}: 1", ("bad-key", 3, 1)),
        ("a: b: c", ("bad-yaml", 2, 5)),
        ("a: *Italic*", ("bad-yaml", 2, 11)),
        ("a: `x`", ("bad-yaml", 2, 4)),
        ("a: @b", ("bad-yaml", 2, 4)),
        ("a: [b", ("bad-yaml", 3, 1)),
        ("a:\n\t- b", ("tab", 3, 1)),
        ("a:\tb", ("tab", 2, 3)),
        ("a: b\tc", ("tab", 2, 5)),
        ("a: b\rc: d", ("control-character", 2, 5)),
        ("a: b\u2028c: d", ("control-character", 2, 5)),
        ("a: b\x85c: d", ("control-character", 2, 5)),
        ("a: b\x1b[31m", ("control-character", 2, 5)),
        ("a: b\ufeff", ("control-character", 2, 5)),
        ("a: 1\n--- b\nc: 2", ("second-document", 3, 1)),
        ("a: [x,\n----\n]", ("second-document", 3, 1)),
        ("a: 1\n%YAML 1.1", ("second-document", 3, 1)),
        (r'a: "\ud83d broken"', ("bad-yaml", 2, 7)),
        (r'a: "\e[31m"', ("bad-escape", 2, 4)),
        (r'a: "\0"', ("bad-escape", 2, 4)),
        (r'a: "\x07"', ("bad-escape", 2, 4)),
        (r'a: "\x69gnore \u0061ll"', ("bad-escape", 2, 4)),
        (r'a: "\u202egnp.exe"', ("hidden-escape", 2, 4)),
        ("a: [b?]", ("bad-item", 2, 5)),
        ("a: [-, b]", ("bad-item", 2, 5)),
        ("a: 'b'# c", ("bad-comment", 2, 7)),
        ("a: [b]# c", ("bad-comment", 2, 7)),
        ("a: [b,\nc]", ("bad-item", 2, 4)),
        ("a: [b,\n# c\n  d]", ("bad-item", 2, 4)),
        ("a: [b\n]", ("bad-item", 2, 4)),
        ("a:\u00a0b", ("not-a-mapping", 2, 1)),
        ("x: " + "[" * 3000 + "]" * 3000, ("too-deep", 2, 20)),
        ("a:\n" + "\n".join(" " * depth + "b:" for depth in range(1, 40)), ("too-deep", 19, 18)),
    ],
)
def test_what_is_outside_the_subset_is_refused_where_it_stands(front: str, expected: tuple[str, int, int]) -> None:
    if expected[0] == "no-front-matter":
        assert not parse_document(block(front)).has_front
    else:
        assert refusal(block(front)) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"---\na: never closed\n\nBody\n", ("unclosed-front-matter", 1, 1)),
        (b"---\na: 1\n ---\n", ("unclosed-front-matter", 1, 1)),
        (b"\xff\xfe-\0-\0-\0", ("not-utf8", 1, 1)),
        ("---\na: caf\u00e9\n---\n".encode("latin-1"), ("not-utf8", 2, 7)),
        (b"---\na: 1\n---\nBody \0\n", ("nul", 4, 6)),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", ("lfs-pointer", 1, 1)),
        (b"x" * (MAX_MEMORY_BYTES + 1), ("too-large", None, None)),
        (b"---\n" + b"a: b\n" * 7000 + b"---\n", ("too-large", 2, None)),
        (b"---\na: 1\n---\nA lone\rreturn\n", ("lone-carriage-return", 4, 7)),
        (b"---\na: 1\n---\n\n---\nname: b\n---\nBody\n", ("second-front-matter", 5, 1)),
        (b"+++\na = 1\n+++\nBody\n", ("toml-front-matter", 1, 1)),
    ],
)
def test_a_file_that_is_no_text_with_one_block_is_refused(raw: bytes, expected: tuple[str, int, int]) -> None:
    assert refusal(raw) == expected


CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("---\na: 1\n" + CONFLICT + "---\nBody\n", 3),
        ("---\na: 1\n---\nBody\n\n" + CONFLICT, 6),
        ("---\na: 1\n---\n" + CONFLICT.replace("\n", "\r\n"), 4),
        ("---\na: 1\n---\n" + CONFLICT.replace("ours", "ours\n||||||| base\nwas"), 4),
        ("---\na: 1\n---\n" + CONFLICT.replace("ours", "```\nours"), 4),
        ("---\na: 1\n---\n```\ncode\n```\n" + CONFLICT, 7),
        ("---\na: 1\n---\n``` not a fence ```\n" + CONFLICT, 5),
    ],
)
def test_a_conflict_that_is_not_resolved_makes_the_file_unreadable(raw: str, line: int) -> None:
    assert refusal(raw.encode()) == ("conflict-markers", line, 1)


@pytest.mark.parametrize(
    "body",
    [
        f"```\n{CONFLICT}```\n",
        f"~~~~ text\n```\n{CONFLICT}~~~~\n",
        "A heading\n=======\n",
        "<<<<<<< only one mark\n",
        " " + CONFLICT.replace("\n", "\n "),
    ],
)
def test_a_body_may_show_conflict_markers_as_code(body: str) -> None:
    assert parse_document(block("a: 1", body)).body == body


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(UnreadableError) as caught:
        parse_document(block("a: !x 1\nb: {c: d}\na: 2\n'e': f"))
    found = {(problem.rule, problem.line, problem.field) for problem in caught.value.problems}
    assert found == {("duplicate-key", 4, "a"), ("tag", 2, "a"), ("nested-map", 3, "b"), ("quoted-key", 5, None)}


def test_refused_values_are_shown_as_their_source_and_the_others_are_read() -> None:
    raw = block("a: 1\nb: &x {c: d}   # why\ne: |\n  f\n\n  g\nh: 2")
    document, problems = inspect_document(raw)
    assert document.front == {"a": "1", "b": "&x {c: d}   # why", "e": "|\n  f\n\n  g", "h": "2"}
    assert [(problem.rule, problem.fatal) for problem in problems] == [("anchor", True), ("block-scalar", True)]


def test_a_value_that_a_hash_sign_swallowed_is_pointed_out() -> None:
    document, problems = inspect_document(block("tags: #foo\ncolor: '#fff'"))
    assert document.front == {"tags": "", "color": "#fff"}
    assert [(problem.rule, problem.field, problem.fatal) for problem in problems] == [
        ("comment-for-value", "tags", False)
    ]


def test_a_byte_order_mark_is_passed_over_and_reported() -> None:
    document, problems = inspect_document(b"\xef\xbb\xbf---\na: 1\n---\nBody\n")
    assert (document.front, document.body) == ({"a": "1"}, "Body\n")
    assert [(problem.rule, problem.fatal) for problem in problems] == [("byte-order-mark", False)]


def test_a_message_holds_no_raw_text_of_the_file() -> None:
    raw = block("a: 1\n\u202ekey: 1\nb: !\u202e x", "---\nname: \u202egnp\u001b\n---\n")
    try:
        _, problems = inspect_document(raw)
    except UnreadableError as error:
        problems = error.problems
    assert problems
    for problem in problems:
        assert (problem.message + (problem.field or "")).isprintable()
        assert "\u202e" not in problem.message


def test_toml_of_another_tool_is_read_for_showing_only() -> None:
    raw = b'+++\nname = "x"\ntags = ["a", "b"]\nn = 1\nt = {u = 1}\n+++\n\nBody\n'
    document, problems = inspect_document(raw)
    assert document.front == {"name": "x", "tags": ("a", "b"), "n": "1", "t": "{'u': 1}"}
    assert document.body == "\nBody\n"
    assert [problem.rule for problem in problems] == ["toml-front-matter"]
    for broken in (b"+++\nname = \n+++\n", b"+++\na = " + b"[" * 5000 + b"\n+++\n"):
        assert not parse_document(broken).has_front
