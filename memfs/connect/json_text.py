"""Changing a JSON file that belongs to somebody else: as text, touching nothing but what is meant. Pure.

A settings file has its owner's order, indentation, line ends and comments. Reading it into values and writing it
back would change all of that. What agents read is read here: JSON, with comments and trailing commas (JSONC), and
with a byte order mark. :func:`load` reads the values by another way than :func:`parse_text` finds their places, so
that one proves what the other did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in all but its stub
from typing import Any

from memfs.model.values import dataclass, field

MARK = "\ufeff"
"""The byte order mark, with which a file may begin."""

_BLANK = re.compile(r"(?:[ \t\n\r]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
_COMMENT_ON_LINE = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)")
_DEEPEST = 200


class NotJsonError(ValueError):
    """The text is not JSON, with or without comments; ``line`` says where it stops being so."""

    def __init__(self, message: str, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line}: {message}")


@dataclass(slots=True, kw_only=True)
class Node:
    """A value and its place: ``text[start:end]``. ``begin`` is where its key starts, ``comma`` the comma behind it."""

    start: int
    end: int = 0
    begin: int = 0
    comma: int | None = None
    key: str | None = None
    children: list[Node] | None = None  # of an object or an array
    is_object: bool = False

    def member(self, key: str) -> Node | None:
        """Return the member ``key`` of an object, or None."""
        if not self.is_object:
            return None
        return next((child for child in self.children or () if child.key == key), None)


@dataclass(slots=True)
class _Reader:
    text: str
    depth: int = field(default=0)

    def fail(self, at: int, message: str = "not JSON") -> NotJsonError:
        return NotJsonError(message, self.text, at)

    def skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail(at, "nested too deeply")
        try:
            mark = self.text[at : at + 1]
            if mark in ("{", "["):
                return self.container(at, mark)
            if mark == '"':
                return Node(start=at, end=self.string(at)[1])
            found = _SCALAR.match(self.text, at)
            if found is None:
                raise self.fail(at)
            return Node(start=at, end=found.end())
        finally:
            self.depth -= 1

    def string(self, at: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self.text, at + 1, True)
        except ValueError as error:
            raise self.fail(at, "a string that is not JSON") from error
        return str(text), int(end)

    def container(self, at: int, mark: str) -> Node:
        node = Node(start=at, children=[], is_object=mark == "{")
        assert node.children is not None
        close = "}" if node.is_object else "]"
        here = self.skip(at + 1)
        while self.text[here : here + 1] != close:
            child, here = self.child(node, here)
            node.children.append(child)
            here = self.skip(here)
            if self.text[here : here + 1] == ",":
                child.comma = here
                here = self.skip(here + 1)
            elif self.text[here : here + 1] != close:
                raise self.fail(here)
        node.end = here + 1
        return node

    def child(self, node: Node, at: int) -> tuple[Node, int]:
        if not node.is_object:
            child = self.value(at)
            child.begin = at
            return child, child.end
        if self.text[at : at + 1] != '"':
            raise self.fail(at)
        key, here = self.string(at)
        here = self.skip(here)
        if self.text[here : here + 1] != ":":
            raise self.fail(here)
        child = self.value(self.skip(here + 1))
        child.begin, child.key = at, key
        if node.member(key) is not None:
            raise self.fail(at, f"the name {json.dumps(key)} is here twice")
        return child, child.end


@lru_cache(maxsize=8)
def parse_text(text: str) -> Node:
    """Return the root value of ``text`` with its places. Raises :class:`NotJsonError`."""
    reader = _Reader(text)
    root = reader.value(reader.skip(len(MARK) if text.startswith(MARK) else 0))
    if reader.skip(root.end) != len(text):
        raise reader.fail(reader.skip(root.end))
    return root


def load(text: str) -> Any:
    """Return the values of ``text``. Raises :class:`NotJsonError`; a name that is there twice is an error too."""
    parse_text(text)
    bare = _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " ", text.removeprefix(MARK))
    return json.loads(_STRING_OR_LAST_COMMA.sub(lambda found: found[1] or "", bare))


def find_comments(text: str) -> list[str]:
    """Return the comments of ``text`` in their order."""
    return [found[0].rstrip("\r") for found in _STRING_OR_COMMENT.finditer(text) if found[0][0] != '"']


def is_blank(text: str) -> bool:
    """Return whether the file has nothing in it."""
    return text.removeprefix(MARK).strip() == ""


def find_node(text: str, path: Sequence[str | int]) -> Node | None:
    """Return the value at ``path``, names of members and places in arrays from the root, or None."""
    node: Node | None = parse_text(text)
    for step in path:
        if node is None:
            return None
        if isinstance(step, str):
            node = node.member(step)
        else:
            node = node.children[step] if node.children and step < len(node.children) else None
    return node


def set_member(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return ``text`` with ``value`` at ``path``; objects on the way are made where they are missing."""
    node = find_node(text, path)
    if node is not None:
        return text[: node.start] + _dump(text, value, _line_indent(text, node.start)) + text[node.end :]
    parent = path[:-1]
    if parent and find_node(text, parent) is None:
        return set_member(text, parent, {path[-1]: value})
    return _insert(text, parent, value, key=str(path[-1]))


def append_item(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return ``text`` with ``value`` as the last item of the array at ``path``, made where it is missing."""
    if find_node(text, path) is None:
        return set_member(text, path, [value])
    return _insert(text, path, value, key=None)


def drop_child(text: str, parent: Node, index: int) -> str:
    """Return ``text`` without the child ``index`` of ``parent`` and the comma that goes with it."""
    assert parent.children is not None
    child = parent.children[index]
    before = parent.children[index - 1] if index else None
    after = parent.children[index + 1] if index + 1 < len(parent.children) else None
    if before is not None and not find_comments(text[before.end : child.begin]):
        return text[: before.end] + text[child.end :]
    if before is None and after is not None and not find_comments(text[child.end : after.begin]):
        return text[: child.begin] + text[after.begin :]
    around = text[parent.start + 1 : child.begin] + "\n" + text[child.end : parent.end - 1]
    if before is None and after is None and not find_comments(around):
        return text[: parent.start + 1] + text[parent.end - 1 :]
    return _drop_between_comments(text, child, before)


def _drop_between_comments(text: str, child: Node, before: Node | None) -> str:
    """Return ``text`` without ``child``, one comma, and the line end before it; the owner's comments stay."""
    comma = child.comma if child.comma is not None else before.comma if before else None
    end = child.end
    if comma is not None and comma >= end and not text[end:comma].strip():
        end, comma = comma + 1, None
    start = child.begin
    if re.match(r"[ \t]*(?:\r?\n|\Z)", text[end:]):
        start -= len(re.search(r"(?:\r?\n)?[ \t]*\Z", text[:start])[0])  # type: ignore[index]  # matches nothing too
    left = text[:start] + text[end:]
    if comma is None:
        return left
    at = comma if comma < start else comma - (end - start)
    return left[:at] + left[at + 1 :]


def _insert(text: str, path: Sequence[str | int], value: Any, *, key: str | None) -> str:
    parent = find_node(text, path)
    if parent is None or parent.children is None or parent.is_object != (key is not None):
        where = ".".join(map(str, path)) or "the file"
        raise NotJsonError(f"{where} is not what the agent reads there", text, 0)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + (":" if _is_compact(text) else ": ")
    if parent.children:
        return _insert_behind(text, parent, parent.children[-1], name, value)
    newline = "\r\n" if "\r\n" in text else "\n"
    said = text[parent.start + 1 : parent.end - 1].rstrip() if find_comments(text[parent.start : parent.end]) else ""
    if _is_single_line(text) and not said:
        inside = name + _dump_inline(text, value)
    else:
        outer = _line_indent(text, parent.start)
        indent = outer + _unit(text)
        inside = said + newline + indent + name + _dump(text, value, indent) + newline + outer
    return text[: parent.start + 1] + inside + text[parent.end - 1 :]


def _insert_behind(text: str, parent: Node, last: Node, name: str, value: Any) -> str:
    """Return ``text`` with an entry behind ``last``, and behind the comment on its line."""
    assert parent.children is not None
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = text[parent.start + 1 : parent.children[0].begin]
    behind = last.end if last.comma is None else last.comma + 1
    remark = _COMMENT_ON_LINE.match(text, behind)
    if "\n" not in gap and remark is None:
        added = ("," if _is_compact(text) else ", ") + name + _dump_inline(text, value)
        return text[: last.end] + added + text[last.end :]
    indent = gap.rsplit("\n", 1)[1] if "\n" in gap else _line_indent(text, parent.start) + _unit(text)
    indent = indent[: len(indent) - len(indent.lstrip(" \t"))]
    added = newline + indent + name + _dump(text, value, indent)
    if remark is None:
        return text[: last.end] + "," + added + text[last.end :]
    at = remark.end() - (1 if remark[0].endswith("\r") else 0)
    if last.comma is None:
        return text[: last.end] + "," + text[last.end : at] + added + text[at:]
    return text[:at] + added + "," + text[at:]


def _dump(text: str, value: Any, indent: str) -> str:
    """Return ``value`` as JSON in the manner of ``text``, its later lines indented by ``indent``."""
    if _is_single_line(text):
        return _dump_inline(text, value)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)


def _dump_inline(text: str, value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":") if _is_compact(text) else (", ", ": "))


def _is_single_line(text: str) -> bool:
    root = parse_text(text)
    return bool(root.children) and "\n" not in text[root.start : root.end]


def _is_compact(text: str) -> bool:
    """Return whether ``text`` is written without a blank after its first colon."""
    root = parse_text(text)
    first = root.children[0] if root.children else None
    return first is not None and _is_single_line(text) and text[first.start - 1] == ":"


def _unit(text: str) -> str:
    """Return what one level is indented by: as the first member is, two blanks where nothing says."""
    root = parse_text(text)
    if root.children:
        gap = text[root.start + 1 : root.children[0].begin]
        if "\n" in gap:
            return re.sub(r"[^ \t].*", "", gap.rsplit("\n", 1)[1]) or "  "
    return "  "


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
