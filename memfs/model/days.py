"""Days and review triggers as people say them: "tomorrow", "6m", "in 2 weeks", "2027-01-01", "next release". Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from memfs.model.evidence import find_date

_SPAN = r"(?:in )?([1-9][0-9]{0,3}) ?(d|days?|w|weeks?|m|months?|y|years?)"
_RELEASE = r"(?:the )?next release"


def read_day(text: str, today: date) -> date | None:
    """Return the day that a person means by ``text``, None for any other text."""
    said = " ".join(text.casefold().split())
    if said in ("today", "tomorrow"):
        return today + timedelta(days=said == "tomorrow")
    try:
        if span := re.fullmatch(_SPAN, said):
            count, unit = int(span[1]), span[2][0]
            return (
                today + timedelta(days=count * (7 if unit == "w" else 1))
                if unit in "dw"
                else add_months(today, count * (12 if unit == "y" else 1))
            )
    except (ValueError, OverflowError):
        return None
    return find_date(said)


def add_months(day: date, count: int) -> date:
    """Return the same day ``count`` months later, or that month's last one. Raises :class:`ValueError` past 9999."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def read_trigger(text: str, today: date) -> str:
    """Return a review trigger as it is written: a day becomes ``on DAY``, what is none of these stays as it is."""
    day = read_day(text.removeprefix("on "), today)
    if day is not None:
        return f"on {day.isoformat()}"
    return "if the next release is out" if re.fullmatch(_RELEASE, text.strip().casefold()) else text
