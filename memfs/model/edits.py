"""Writing front matter: one key of a new block, and the smallest edits that set or remove keys. Pure.

Indexes are into the block with LF line ends; :func:`apply_edits` finds them in the block as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden
from memfs.model.evidence import find_date
from memfs.model.flatyaml import FORBIDDEN, MAX_KEY_CHARACTERS, Entry, UnreadableError
from memfs.model.memory import FrontValue, Problem


class Edit(NamedTuple):
    """Replace what stands from ``start`` to ``end`` by ``text`` (LF line ends)."""

    start: int
    end: int
    text: str


def plan_edits(
    block: str, entries: Sequence[Entry], changes: Mapping[str, FrontValue | None], *, first_line: int
) -> list[Edit]:
    """Return the edits that carry out ``changes`` (None: remove the key).

    A key that is there already is changed in place, a new one is added at the end. Raises
    :class:`UnreadableError`, with the line, for a value outside the subset.
    """
    places = {normalize("NFC", entry.key): entry for entry in entries}
    edits: list[Edit] = []
    added: list[str] = []
    for key, value in changes.items():
        entry = places.get(normalize("NFC", key))
        if entry is None:
            added += format_entry(key, value) if value is not None else []
            continue
        if entry.form == "refused":
            raise _not_in_place(entry, first_line)
        if value is None:
            edits.append(Edit(entry.key_start, _line_stop(block, max(entry.key_end, entry.end)), ""))
        elif (value if isinstance(value, str) else tuple(value)) != entry.value:
            edits += _replace(block, entry, value)
    if added:
        edits.append(Edit(len(block), len(block), "".join(line + "\n" for line in added)))
    return edits


def apply_edits(source: str, edits: Sequence[Edit], *, eol: str) -> str:
    """Return ``source``, the block with its own line ends, with ``edits`` carried out; new lines end in ``eol``."""
    breaks = [found.start() - number for number, found in enumerate(re.finditer("\r\n", source))]
    for edit in sorted(edits, reverse=True):
        start, end = (index + bisect_left(breaks, index) for index in (edit.start, edit.end))
        source = source[:start] + edit.text.replace("\n", eol) + source[end:]
    return source


def _not_in_place(entry: Entry, first_line: int) -> UnreadableError:
    message = "this value is outside the format and is not changed in place; change it by hand"
    shown = escape_hidden(entry.key, single_line=True)
    line = first_line + entry.line
    return UnreadableError([Problem(rule="not-in-place", message=message, field=shown, line=line, column=1)])


def _line_start(block: str, index: int) -> int:
    return block.rfind("\n", 0, index) + 1


def _line_stop(block: str, index: int) -> int:
    """Return the index after the newline that ends the line of ``index``."""
    found = block.find("\n", index)
    return len(block) if found < 0 else found + 1


def _replace(block: str, entry: Entry, value: FrontValue) -> list[Edit]:
    if entry.form == "block" and value and not isinstance(value, str):
        return [_replace_items(block, entry, value)]
    if isinstance(value, str):
        inline = format_scalar(value, where=entry.key, quote=entry.form == "quoted")
    else:
        inline = format_flow(value, where=entry.key)
    after_colon = entry.key_end + 1
    if entry.form == "block":
        # What replaces the items stands beside the key, before its comment.
        below = _line_stop(block, entry.key_end)
        return [Edit(after_colon, after_colon, f" {inline}"), Edit(below, _line_stop(block, entry.end), "")]
    if entry.start == entry.end:  # no value yet; its place in the events may be lines below
        return [Edit(after_colon, after_colon, f" {inline}")]
    return [Edit(entry.start, entry.end, inline)]


def _replace_items(block: str, entry: Entry, values: Sequence[str]) -> Edit:
    """Return the edit of a list in block form; the lines of items that stay are not touched."""
    old, items = entry.value, entry.items
    shorter = min(len(old), len(values))
    first = 0
    while first < shorter and old[first] == values[first]:
        first += 1
    last = 0
    while last < shorter - first and old[-1 - last] == values[-1 - last]:
        last += 1
    dash = re.compile(r" *- *").match(block, _line_start(block, items[0][0]))
    if dash is None:
        raise InvalidMemoryError("this list cannot be changed in place; change it by hand", where=entry.key)
    start = dash[0] if dash[0].endswith(" ") else f"{dash[0]} "
    text = "".join(f"{start}{format_scalar(value, where=entry.key)}\n" for value in values[first : len(values) - last])
    gone = items[first : len(items) - last]
    if gone:
        return Edit(_line_start(block, gone[0][0]), _line_stop(block, gone[-1][1]), text)
    place = _line_stop(block, items[first - 1][1]) if first else _line_start(block, items[0][0])
    return Edit(place, place, text)


# --- writing ----------------------------------------------------------------------------------------

_WRITABLE_KEY = r"[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?"
_PLAIN = r"[^\W_](?:[\w ./@+=()<>~;*%$^&!?,:'-]*[\w./@+=()<>~;*%$^&!?,'-])?|[./][\w./@+-]+"
# YAML 1.1 or 1.2 takes these for something else than text.
_NO_TEXT = r"(?i:null|true|false|yes|no|on|off|y|n|[-+.]?[0-9.][0-9a-f_.:ox+-]*)"
_LINE_LENGTH = 100


def format_entry(key: str, value: FrontValue) -> list[str]:
    """Return the lines of one key in a new file; raise :class:`InvalidMemoryError` for what cannot be written."""
    if not re.fullmatch(_WRITABLE_KEY, key):
        where = escape_hidden(key, single_line=True)[:MAX_KEY_CHARACTERS]
        raise InvalidMemoryError("a new key has letters, digits, dashes and underscores", where=where)
    if isinstance(value, str):
        return [f"{key}: {format_scalar(value, where=key)}"]
    flow = f"{key}: {format_flow(value, where=key)}"
    if value and (key == "evidence" or len(flow) > _LINE_LENGTH):
        return [f"{key}:", *(f"  - {format_scalar(item, where=key)}" for item in value)]
    return [flow]


def format_flow(values: Sequence[str], *, where: str) -> str:
    """Return a list on one line."""
    return "[" + ", ".join(format_scalar(value, where=where, in_flow=True) for value in values) + "]"


def format_scalar(value: str, *, where: str, in_flow: bool = False, quote: bool = False) -> str:
    """Return ``value`` plain where every reader takes it for this text, else in double quotes.

    What is not NFC is written with escapes, so that the file is NFC and the value comes back as it was.
    """
    forbidden = re.search(FORBIDDEN, value.replace("\t", " "))
    if forbidden:
        raise InvalidMemoryError(f"the character U+{ord(forbidden[0]):04X} cannot be written", where=where)
    if not quote and _is_plain(value, in_flow=in_flow):
        return value
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    if not is_normalized("NFC", text):
        text = "".join(character if character.isascii() else _escape(ord(character)) for character in text)
    return f'"{text}"'


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_plain(value: str, *, in_flow: bool) -> bool:
    if not re.fullmatch(_PLAIN, value) or ": " in value or not is_normalized("NFC", value):
        return False
    if re.fullmatch(_NO_TEXT, value) and not find_date(value):  # 2024-02-30 makes some readers fail
        return False
    return not (in_flow and any(character in value for character in ",:?"))
