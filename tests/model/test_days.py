"""Days and review triggers are taken as people say them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.errors import InvalidMemoryError
from memfs.model.days import add_months, read_day, read_trigger
from memfs.model.triggers import parse_trigger

TODAY = date(2026, 8, 31)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("today", "2026-08-31"), ("Tomorrow", "2026-09-01"), ("2027-01-01", "2027-01-01"), ("10d", "2026-09-10"),
        ("2w", "2026-09-14"), ("in 2 weeks", "2026-09-14"), ("6m", "2027-02-28"), ("1 month", "2026-09-30"),
        ("1y", "2027-08-31"), ("in 1 year", "2027-08-31"),
    ],
)  # fmt: skip
def test_a_day_may_be_said_in_words(said: str, day: str) -> None:
    assert read_day(said, TODAY) == date.fromisoformat(day)
    assert read_trigger(said, TODAY) == f"on {day}"
    assert read_trigger(f"on {said}", TODAY) == f"on {day}"


@pytest.mark.parametrize("said", ["", "soon", "0d", "-1d", "2027-02-30", "9999y", "1h", "6 moons", "when x changes"])
def test_what_is_no_day_stays_as_it_was_said(said: str) -> None:
    assert read_day(said, TODAY) is None
    assert read_trigger(said, TODAY) == said


def test_the_next_release_is_a_question_to_a_person() -> None:
    assert read_trigger("next release", TODAY) == "if the next release is out"


@given(st.dates(max_value=date(9000, 1, 1)), st.integers(1, 9_000))
def test_months_later_is_the_same_day_or_the_last_one(day: date, count: int) -> None:
    later = add_months(day, count)
    assert (later.year * 12 + later.month) - (day.year * 12 + day.month) == count
    assert later.day == day.day or (later.day < day.day and (later.replace(day=1), later.day) is not None)


@given(st.text(max_size=30), st.dates())
def test_reading_a_trigger_never_raises_and_a_trigger_means_itself(text: str, today: date) -> None:
    said = read_trigger(text, today)
    try:
        parse_trigger(text)
    except InvalidMemoryError:
        return
    assert parse_trigger(said) == parse_trigger(text)
