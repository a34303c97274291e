"""Changing a TOML file that belongs to somebody else: tables by their names, as text. Pure.

The agent rewrites this file itself and moves comments about, so nothing is found by comments: a table is found by
its header, a value by its key. tomllib reads the values by another way than the places are found here, so that one
proves what the other did.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memfs.model.values import dataclass

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}\n]|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)
OLD_MARK = re.compile(r"^# memfs: (?:begin|end)\b", re.MULTILINE)
"""The comments round the tables of an older memfs."""

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One header, one ``key = value`` or one line without either: ``text[start:end]``, its line end included."""

    kind: str  # header, value, other
    start: int
    end: int
    path: Path = ()  # of the table, or of the value; an array of tables counts its tables
    value: int = 0  # where the value starts


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of ``text``. Raises ValueError (tomllib's) where it is not TOML."""
    return tomllib.loads(text)


def find_statements(text: str) -> list[Statement]:
    """Return all statements of ``text``, which is TOML, in their order; together they are the text."""
    found: list[Statement] = []
    table: Path = ()
    counts: dict[Path, int] = {}
    for start, end in _iter_lines(text):
        line = text[start:end]
        bare = line.strip()
        if bare.startswith("["):
            table = _table_path(bare, counts)
            found.append(Statement(kind="header", start=start, end=end, path=table))
        elif not bare or bare.startswith("#"):
            found.append(Statement(kind="other", start=start, end=end))
        else:
            equals = _find_equals(line)
            path = (*table, *_key_path(line[:equals]))
            blanks = len(line[equals + 1 :]) - len(line[equals + 1 :].lstrip(" \t"))
            found.append(Statement(kind="value", start=start, end=end, path=path, value=start + equals + 1 + blanks))
    return found


def drop_paths(text: str, paths: Sequence[Path]) -> str:
    """Return ``text`` without the tables and values at and below ``paths``; comments stay where they are."""
    cut: list[tuple[int, int]] = []
    inside = False
    blank: Statement | None = None
    for statement in find_statements(text):
        if statement.kind == "other":
            line = text[statement.start : statement.end]
            if OLD_MARK.match(line.strip()):
                cut.append((statement.start, statement.end))
            else:
                blank = statement if not line.strip() else None
            continue
        ours = any(statement.path[: len(path)] == path for path in paths)
        if statement.kind == "header":
            inside = ours
        if ours or (inside and statement.kind == "value"):
            if statement.kind == "header" and blank is not None:
                cut.append((blank.start, blank.end))  # the empty line with which the table was added
            cut.append((statement.start, statement.end))
        blank = None
    for start, end in sorted(cut, reverse=True):
        text = text[:start] + text[end:]
    return text


def append_tables(text: str, tables: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return ``text`` with ``tables`` at its end; a table is its header (``[a.b]``, ``[[a.b]]``) and flat values."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines: list[str] = []
    for header, values in tables:
        lines.append(header)
        lines += [f"{key} = {dump(value)}" for key, value in values.items()]
    joint = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + joint + "".join(line + newline for line in lines)


def set_value(text: str, table: Path, key: str, value: Any) -> str:
    """Return ``text`` with ``value`` for ``key`` of ``table``, which is there."""
    header = None
    for statement in find_statements(text):
        if statement.kind == "value" and statement.path == (*table, key):
            line = text[statement.value : statement.end]
            end = statement.value + _value_length(line)
            return text[: statement.value] + dump(value) + text[end:]
        if statement.kind == "header" and statement.path == table:
            header = statement
    if header is None:
        raise ValueError("the table is written in a form that memfs does not edit")
    newline = "\r\n" if "\r\n" in text else "\n"
    joint = "" if text[: header.end].endswith("\n") else newline
    return text[: header.end] + joint + f"{key} = {dump(value)}{newline}" + text[header.end :]


def dump(value: Any) -> str:
    """Return a text, a number or a list of texts as TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _iter_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of every statement: a line, or several where a value goes on."""
    start = here = depth = 0
    while here < len(text):
        token = _TOKEN.match(text, here)
        if token is None:
            raise ValueError(f"line {text.count(chr(10), 0, here) + 1} is not understood")
        mark, here = token[0], token.end()
        if mark in ("[", "{"):
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
        elif mark == "\n" and depth == 0:
            yield start, here
            start = here
    if start < len(text):
        yield start, len(text)


def _table_path(header: str, counts: dict[Path, int]) -> Path:
    """Return the path of a header's table, with the number of the table in each array of tables on the way."""
    names = _names_in(tomllib.loads(header))
    path: Path = ()
    for name in names[:-1]:
        path = (*path, name)
        if path in counts:
            path = (*path, counts[path])
    path = (*path, names[-1])
    if header.startswith("[["):
        counts[path] = counts.get(path, -1) + 1
        path = (*path, counts[path])
    return path


def _key_path(key: str) -> list[str]:
    return _names_in(tomllib.loads(f"{key} = 0"))


def _names_in(document: Any) -> list[str]:
    names: list[str] = []
    while document and not isinstance(document, int):
        if isinstance(document, list):
            document = document[0]
            continue
        name, document = next(iter(document.items()))
        names.append(name)
    return names


def _find_equals(line: str) -> int:
    here = 0
    for token in _TOKEN.finditer(line):
        if "=" in token[0] and token[0][0] not in "\"'#":
            return token.start() + token[0].index("=")
        here = token.end()
    return here


def _value_length(line: str) -> int:
    """Return how long the value is with which ``line`` begins: up to its comment or its line's end."""
    depth = length = 0
    for token in _TOKEN.finditer(line):
        mark = token[0]
        if mark.startswith("#") and depth == 0:
            break
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        if mark.strip():
            length = token.start() + len(mark.rstrip())
    return length
