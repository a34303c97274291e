"""One file has one reading: the shortcut, libyaml and PyYAML's own parser agree, and nothing else gets out."""

from __future__ import annotations

import contextlib

import frontmatter
import pytest
import yaml
from frontmatter.default_handlers import YAMLHandler
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memfs.model.codepoints import escape_hidden
from memfs.model.flatyaml import scan, scan_simple
from memfs.model.frontmatter import UnreadableError, inspect_document, parse_document
from memfs.model.reader import read_memory

# Pieces that meant trouble for some reader of YAML or front matter, joined at random.
PIECES = [
    *["a", "b", "key", "kind", "scope", "no", "12:30", "0123", "~", "null", "2024-01-02", ".5", "1_0", "$", "^"],
    *["-", "?", ":", "::", "[", "]", "{", "}", ",", "#", "!", "<<", "|", ">", "'", '"', "%", "@", "`", "=", "--"],
    *["- ", "? ", ": ", ", ", " #", "# c", "&a ", "*a", "!t ", "!!str ", "<<: ", "|-\n", ">+2\n", "''", '\\"'],
    *["a:b", "https://x/y@abc", "[a, b]", "[a,]", "['a','b']", "{a: b}", "[[x]]", "-a", "?a", "a?", ":a", "a:"],
    *["#a", "a#b", "k: [", 'k: "', "\\n", "\\x41", "\\u0041", "\\ud83d", "\\U0001F600", "\\U00110000", "\\e", "\\0"],
    *["\\ ", "\\\n", "\\u202e", "\ufeff", "\x7f", "\x85", "\u2028", "\t", "\r", "\r\n", "\v", "\x00", " ", "  "],
    *["\n", "\n", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", "\nkey: ", "\nb: ", "\n'q': ", "\na : ", "\n...\n"],
    *["\u00e9", "e\u0301", "\U0001f600", "\u3000", "\u00a0", "\u200b", "\ufffd", "---", "...", "\n--- a\n"],
    *["\n---\n", "\n--- \n", "\n----\n", "---\u00a0\n", "---\x0c\n", "\n---x\n", "\n ---\n"],
    *["<<<<<<< a\n", "\n=======\n", "\n>>>>>>> b\n"],
]
pieces = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
fronts = st.builds(
    "{}{}\n".format, st.sampled_from(["a: ", "kind: x\nscope: ", "# c\nk: v\nb: [", 'k: "', "k:\n- "]), pieces
)
files = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["---\n", "---\n", "\n---\n", "\ufeff---\n", "--- \n", "---\r\n", "----\n", " ---\n", ""]),
    fronts,
    st.sampled_from(["---\n", "...\n", "--- \n", "---"]),
    pieces,
)
many = settings(deadline=None, max_examples=800)


def reading(raw: bytes, parser: str | None) -> object:
    try:
        document, problems = inspect_document(raw, parser=parser)
    except UnreadableError:
        return None
    return None if any(problem.fatal for problem in problems) else (document, problems)


@many
@given(front=fronts)
@example(front="a: [b?]\n")
@example(front='a: "\\U00110000"\n')
@example(front='a: "\\ud83d"\n')
@example(front="a: !]'b\n")
@example(front="a: |# c\n")
@example(front="a: [b\n  ,c]\n")
def test_every_parser_gives_the_same_document_or_refuses(front: str) -> None:
    raw = f"---\n{front}---\nBody\n".encode()
    libyaml, pure, usual = (reading(raw, parser) for parser in ("libyaml", "pure", None))
    assert libyaml == pure == usual


simple_blocks = st.lists(
    st.sampled_from(
        [
            *"aabcxyz019 -._:#[],'\"/@*?!&|>%`{}\\\u00e9\u3000\n\n",
            "\nk: ",
            "\nj:",
            "\n- ",
            "\n  - ",
            "\nl: [",
            "]\n",
            "\n# c\n",
        ]
    ),
    max_size=16,
).map(lambda parts: f"k0: {''.join(parts)}\n")


@many
@given(block=simple_blocks)
@example(block="a: b\n c\n")
@example(block="a:\n- b\n - c\n")
@example(block="a:\n- b\n  c\n")
@example(block="a:\n\n- b\n")
@example(block="a: 'b' c\n")
@example(block="a: [b c, 'd,e']\n")
@example(block="a: b\n\n  # c\n")
def test_the_shortcut_gives_the_entries_that_yaml_gives(block: str) -> None:
    try:
        entries = scan_simple(block)
    except UnreadableError:
        entries = None
    if entries is None:
        return
    for parser in ("libyaml", "pure"):
        problems: list[object] = []
        assert scan(block, 1, problems, parser=parser) == entries  # type: ignore[arg-type]
        assert problems == []


class _TextsOnly(YAMLHandler):
    def load(self, fm: str, **_kwargs: object) -> object:
        return yaml.load(fm, Loader=yaml.BaseLoader)


@many
@given(text=files)
@example(text="---\na: [x,\n----\n]\n---\n")
@example(text="---\na: 1\n...\nscope: team\n---\n")
@example(text="---\na: 1\n---x\nscope: team\n---\n")
def test_no_second_reader_sees_another_value(text: str) -> None:
    """python-frontmatter with plain PyYAML sees the same texts, nothing, or fails; never other ones."""
    try:
        document = parse_document(text.encode())
    except UnreadableError:
        return
    try:
        others, _ = frontmatter.parse(text.removeprefix("\ufeff"), handler=_TextsOnly())
    except (yaml.YAMLError, ValueError):
        return
    if document.has_front and others:
        assert {
            key: tuple(value) if isinstance(value, list) else value for key, value in others.items()
        } == document.front


@settings(deadline=None, max_examples=400)
@given(raw=st.one_of(st.binary(max_size=200), files.map(lambda text: text.encode("utf-8", "replace"))))
@pytest.mark.parametrize("parser", [None, "pure"])
def test_the_reader_raises_nothing_but_its_own_error(parser: str | None, raw: bytes) -> None:
    with contextlib.suppress(UnreadableError):
        inspect_document(raw, parser=parser)
    file = read_memory("memories/team/x.md", raw)
    assert (file.memory is None) == any(problem.fatal for problem in file.problems)
    for problem in file.problems:
        assert escape_hidden(str(problem), single_line=True) == str(problem)


@pytest.mark.parametrize(
    "front",
    [
        "x: " + "[" * 30000,
        "x: " + "{" * 30000,
        "x: " + "{a: " * 7000,
        "- " * 15000,
        "x:\n" + "- " * 15000,
        "? " * 15000,
        "x:\n" + "".join(" " * depth + "y:\n" for depth in range(200)),
        "x: " + "&a " * 10000,
        "x: " + "*a " * 10000,
        "x: " + '"' + "\\n" * 15000,
        "x: " + "'" * 30001,
        "x: " + "a: " * 10000,
        "x: [" + "a," * 15000,
        "x: " + "\\" * 30000,
        "".join(f"k{number}: &a{number} [x]\n" for number in range(1500)),
        "".join(f"k{number}:\n" for number in range(4000)),
        "k:\n" + "- a\n" * 8000,
        "#" * 30000,
        "a" * 30000 + ": 1",
        "x: |\n" + " a\n" * 10000,
        "x: " + "!" * 30000,
        "x: '" + "\n" * 30000,
    ],
    ids=lambda front: front[:12],
)
@pytest.mark.parametrize("parser", [None, "libyaml", "pure"])
def test_hostile_front_matter_is_answered_quickly(front: str, parser: str | None) -> None:
    import time

    started = time.process_time()
    reading(f"---\n{front}\n---\nBody\n".encode(), parser)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 250_000,
        " \n" * 120_000,
        "---\n" * 60_000,
        "---\n" + "\n" * 200_000,
        "---\na: 1\n---\n" + "```\n" * 60_000,
        "<<<<<<< a\n" * 25_000,
        "<<<<<<< a\n=======\n" * 13_000,
        "```\n<<<<<<< a\n" * 17_000,
        "+++\n" + "a = 1\n" * 40_000,
        "\r" * 250_000,
        "# " + "#" * 250_000,
        "---\na: 1\n---\n\n---\n" + "b: 1\n" * 6_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_hostile_body_is_answered_quickly(text: str) -> None:
    import time

    started = time.process_time()
    read_memory("memories/team/x.md", text.encode())
    assert time.process_time() - started < 1.0
