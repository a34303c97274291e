"""Adding a block to a TOML file that belongs to somebody else, as text, and taking it out. Pure.

The block stands at the end between two marks, so that every comment and every line of the owner
stays. tomllib says before and after whether the file still means what it meant.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

BEGIN = "# memfs: begin (written by `memfs connect`, taken out by `memfs disconnect`)"
END = "# memfs: end"
_BLOCK = re.compile(r"(?:^\n)?^# memfs: begin[^\n]*\n.*?^# memfs: end(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def append_block(text: str, tables: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return ``text`` with ``tables`` in a marked block at its end.

    A table is its header (``[a.b]`` or ``[[a.b]]``) and flat values. Raises ValueError (tomllib's)
    when ``text`` is no TOML or the block does not fit into it.
    """
    before = tomllib.loads(text)
    lines = [BEGIN]
    for header, values in tables:
        lines.append(header)
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    block = "\n".join([*lines, END, ""])
    joint = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    after = text + joint + block
    if _without(tomllib.loads(after), tomllib.loads(block)) != before:
        raise ValueError("the block would change what the file means")
    return after


def drop_block(text: str) -> str:
    """Return ``text`` without the marked block and the empty line before it."""
    return _BLOCK.sub("", text)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of ``text``. Raises ValueError (tomllib's) where it is no TOML."""
    return tomllib.loads(text)


def _without(whole: Any, part: Any) -> Any:
    """Return ``whole`` less what ``part`` added: later items of arrays, members of tables."""
    if isinstance(whole, dict) and isinstance(part, dict):
        left = {key: _without(value, part[key]) if key in part else value for key, value in whole.items()}
        return {key: value for key, value in left.items() if key not in part or value not in ({}, [], None)}
    if isinstance(whole, list) and isinstance(part, list):
        return whole[: len(whole) - len(part)] if whole[len(whole) - len(part) :] == part else whole
    return None if whole == part else whole
