"""Front matter of other tools: YAML where it is YAML, else line by line, and never an exception of a library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.errors import InvalidMemoryError
from memfs.model.lenient import MAX_FOREIGN_BYTES, read_foreign


@pytest.mark.parametrize(
    ("text", "front", "how"),
    [
        ("---\ntitle: A\ntags: [x, y]\n---\nBody.\n", {"title": "A", "tags": ("x", "y")}, "yaml"),
        ("---\nok: yes\non: 2026-01-02\nn: 007\n---\nBody.\n", {"ok": "yes", "on": "2026-01-02", "n": "007"}, "yaml"),
        ("---\ndescription: use a: b\nglobs: *.ts,*.tsx\n---\nBody.\n",
         {"description": "use a: b", "globs": "*.ts,*.tsx"}, "lines"),
        ("---\nname: \"x\nglobs:\n  - *.ts\n  - '*.js'\n---\nBody.\n",
         {"name": '"x', "globs": ("*.ts", "*.js")}, "lines"),
        ("---\r\ntitle: A\r\n---\r\nBody.\r\n", {"title": "A"}, "yaml"),
        ("\ufeff---\ntitle: A\n---\nBody.\n", {"title": "A"}, "yaml"),
        ("Body.\n", {}, "none"),
        ("---\nnever closed\nBody.\n", {}, "none"),
    ],
)  # fmt: skip
def test_front_matter_is_read_as_far_as_it_can_be(text: str, front: dict[str, object], how: str) -> None:
    found = read_foreign(text.encode())
    assert (found.front, found.how) == (front, how)
    assert found.body.endswith("Body.")


def test_a_value_that_is_a_map_is_left_out_and_named() -> None:
    found = read_foreign(b"---\na: {b: c}\nd: [[e]]\nf: g\n---\nBody.\n")
    assert (found.front, found.left_out) == ({"f": "g"}, ("a", "d"))


def test_a_bomb_of_aliases_costs_nothing() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    assert read_foreign("\n".join(["---", *lines, "---", "Body."]).encode()).left_out


def test_deep_nesting_is_no_exception() -> None:
    assert read_foreign(b"---\na: " + b"[" * 5000 + b"\n---\nBody.\n").how == "lines"


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"a\0b", b"x" * (MAX_FOREIGN_BYTES + 1)])
def test_what_is_not_a_text_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidMemoryError):
        read_foreign(raw)


@given(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=200))
def test_no_text_between_the_fences_raises(block: str) -> None:
    found = read_foreign(f"---\n{block}\n---\nBody.\n".encode())
    assert all(isinstance(value, str | tuple) for value in found.front.values())
