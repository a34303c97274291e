"""The simplest YAML, read without PyYAML, which costs a hook 13 ms to import. Pure.

It is what memfs writes and most of what people do: keys, texts on one line, lists, and maps below keys. A line is
taken only where every reader agrees on it; of any other text nothing is taken, and PyYAML reads it. Property tests
hold both to the same values at the same places.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_KEY = re.compile(r"([A-Za-z0-9_](?:[A-Za-z0-9_./-]*[A-Za-z0-9_])?):(?: +|$)")
_ODD_ITEM = frozenset("[]{}:?#\"'&*!|>%@`")
_MAX_DEPTH = 6


class Simple(NamedTuple):
    """One value. Indexes are into the text; ``key`` is where its key starts."""

    value: str | list[Simple] | dict[str, Simple]
    form: str  # "plain", "quoted", "flow", "block", or "map"
    start: int
    end: int
    key: int = -1


class _Row(NamedTuple):
    """One line that says something."""

    dash: int  # its column, -1 where there is none
    column: int  # of the key, or of the text behind the dash
    at: int  # the same as an index
    key: str
    value: Simple | None  # None: it is below


def read_simple(text: str) -> Simple | None:
    """Return the map that ``text`` (LF line ends, no control characters) is, None where it has other lines."""
    rows: list[_Row] = []
    start = 0
    for line in text.split("\n"):
        said = line.lstrip(" ")
        if said and said[0] != "#":
            row = _read_row(line, said, start)
            if row is None:
                return None
            rows.append(row)
        start += len(line) + 1
    if not rows:
        return Simple({}, "map", 0, 0)
    if rows[0].dash >= 0 or rows[0].column:
        return None
    rows.reverse()  # taken from the end
    found = _read_map(rows, 0)
    return None if rows else found


def _read_row(line: str, said: str, start: int) -> _Row | None:
    dash = -1
    if said.startswith("- "):
        dash = len(line) - len(said)
        said = said[2:].lstrip(" ")
    column = len(line) - len(said)
    named = _KEY.match(said)
    rest = said[named.end() :] if named else said
    if named is None and (dash < 0 or not rest):
        return None
    value = _read_value(rest.rstrip(" "), start + len(line) - len(rest)) if rest else None
    return None if rest and value is None else _Row(dash, column, start + column, named[1] if named else "", value)


def _read_value(text: str, at: int) -> Simple | None:
    mark = text[0]
    if mark in "\"'[":
        end = text.find("]" if mark == "[" else mark, 1)
        behind = text[end + 1 :]
        if end < 0 or "\\" in text[:end] or (behind and not re.match(" +#", behind)):
            return None
        if mark == "[":
            return _read_flow(text[1:end], at)
        return Simple(text[1:end], "quoted", at, at + end + 1)
    plain = text.partition(" #")[0].rstrip(" ")
    is_plain = (mark.isalnum() or mark in "/.") and ": " not in plain and plain[-1] != ":" and plain[:3] != "..."
    return Simple(plain, "plain", at, at + len(plain)) if is_plain else None


def _read_flow(text: str, at: int) -> Simple | None:
    items: list[Simple] = []
    place = at + 1
    for part in text.split(",") if text.strip(" ") else ():
        said = part.strip(" ")
        item = _read_value(said, place + len(part) - len(part.lstrip(" "))) if said else None
        if item is None or item.end - item.start != len(said) or item.form == "flow":
            return None
        if item.form == "plain" and not _ODD_ITEM.isdisjoint(said):
            return None
        items.append(item)
        place += len(part) + 1
    return Simple(items, "flow", at, at + len(text) + 2)


def _read_map(rows: list[_Row], depth: int) -> Simple | None:
    """Take the map that begins with the last of ``rows``, whose first key may be behind a dash."""
    first = rows[-1]
    found: dict[str, Simple] = {}
    while rows and rows[-1].key and rows[-1].column == first.column and (rows[-1] is first or rows[-1].dash < 0):
        row = rows.pop()
        value = row.value or _read_below(rows, row, depth + 1)
        if value is None or row.key in found:
            return None
        found[row.key] = Simple(value.value, value.form, value.start, value.end, row.at)
    return Simple(found, "map", first.at, first.at)


def _read_below(rows: list[_Row], row: _Row, depth: int) -> Simple | None:
    if depth > _MAX_DEPTH:
        return None
    if rows and rows[-1].dash >= row.column:
        return _read_list(rows, depth)
    if rows and rows[-1].dash < 0 and rows[-1].column > row.column:
        return _read_map(rows, depth)
    end = row.at + len(row.key) + 1
    return Simple("", "plain", end, end)


def _read_list(rows: list[_Row], depth: int) -> Simple | None:
    first = rows[-1]
    items: list[Simple] = []
    while rows and rows[-1].dash == first.dash:
        item = _read_map(rows, depth + 1) if rows[-1].key else rows.pop().value
        if item is None:
            return None
        items.append(item)
    return Simple(items, "block", first.at - first.column + first.dash, items[-1].end)
