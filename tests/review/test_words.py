"""The word-level difference: what a reviewer sees of two texts."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from memfs.review.words import Mark, Row, compare_words, context_rows, split_lines

_TEXT = st.text(alphabet="ab c\n.\u202e\u200d", max_size=60)


def _side(rows: tuple[Row, ...], side: str) -> list[str]:
    found = []
    for row in rows:
        pieces = getattr(row, side)
        if pieces is not None:
            found.append("".join(piece.text for piece in pieces))
    return found


def _words(rows: tuple[Row, ...], mark: Mark) -> list[str]:
    return [
        piece.text for row in rows for pieces in (row.before, row.after) for piece in pieces or () if piece.mark is mark
    ]


def test_one_changed_word_in_a_long_line_is_the_only_thing_marked() -> None:
    before = "The exclusive table lock was rejected in review because older workers stay active.\n"
    rows = compare_words(before, before.replace("rejected", "accepted"))
    assert _words(rows, Mark.GONE) == ["rejected"]
    assert _words(rows, Mark.NEW) == ["accepted"]


def test_a_hidden_character_is_a_visible_change() -> None:
    rows = compare_words("pay alice\n", "pay a\u200blice\n")
    assert "a\\u{200B}lice" in "".join(_words(rows, Mark.NEW))


def test_a_hidden_character_never_equals_its_own_escape_written_out() -> None:
    rows = compare_words("x \\u{202E} y\n", "x \u202e y\n")
    assert _words(rows, Mark.NEW) == ["\\u{202E}"]


def test_a_joiner_that_is_spelling_is_not_called_hidden() -> None:
    rows = compare_words(
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 a\n", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 b\n"
    )
    assert not any("\\u{" in line for line in _side(rows, "after"))


def test_a_carriage_return_in_the_middle_of_a_line_is_shown() -> None:
    rows = compare_words("safe\n", "evil\rsafe\n")
    assert _side(rows, "after") == ["evil\\u{000D}safe"]


def test_a_new_line_stands_beside_nothing() -> None:
    rows = compare_words("a\nb\n", "a\nnew text here\nb\n")
    added = next(row for row in rows if not row.same)
    assert added.before is None
    assert (added.line_before, added.line_after) == (None, 2)


def test_only_the_neighbourhood_of_a_change_is_kept() -> None:
    before = "".join(f"line {number}\n" for number in range(40))
    kept = list(context_rows(compare_words(before, before.replace("line 20\n", "line twenty\n")), context=1))
    assert kept[0] is None
    assert kept[-1] is None
    assert sum(row is not None for row in kept) == 3


def _read_back(lines: list[str]) -> list[str]:
    """Return lines with every named character put back: blanks and look-alikes are named where they differ."""
    return [re.sub(r"\\u\{([0-9A-F]{4,6})\}", lambda found: chr(int(found[1], 16)), line) for line in lines]


@given(_TEXT, _TEXT)
def test_both_sides_can_be_read_back_from_the_rows(before: str, after: str) -> None:
    from memfs.model.codepoints import escape_hidden

    rows = compare_words(before, after)
    assert _read_back(_side(rows, "before")) == _read_back([escape_hidden(line) for line in split_lines(before)])
    assert _read_back(_side(rows, "after")) == _read_back([escape_hidden(line) for line in split_lines(after)])


@given(_TEXT)
def test_equal_texts_have_no_marks(text: str) -> None:
    assert all(row.same for row in compare_words(text, text))


def test_a_text_made_to_be_slow_is_not() -> None:
    left = "\n".join(" ".join("ab"[(a * b) % 7 % 2] for a in range(400)) for b in range(100))
    right = "\n".join(" ".join("ab"[(a * b) % 5 % 2] for a in range(400)) for b in range(100))
    started = time.process_time()
    compare_words(left, right)
    assert time.process_time() - started < 3
