"""Changing a JSON file that belongs to somebody else: as text, touching nothing but what is meant. Pure.

A settings file has its owner's order, indentation and line ends. Reading it into values and writing
it back would change all of that, and would lose comments where an agent allows them; a file with
comments is refused here, because removing ours again could not be proved to leave theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in all but its stub
from typing import Any

from memfs.model.values import dataclass, field

_BLANK = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_DEEPEST = 200


class NotPlainJsonError(ValueError):
    """The text is not JSON as RFC 8259 has it; ``line`` says where it stops being so."""

    def __init__(self, message: str, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line}: {message}")


@dataclass(slots=True, kw_only=True)
class Node:
    """A value and where it stands: ``text[start:end]``. ``begin`` is where its key starts, in an object."""

    start: int
    end: int = 0
    begin: int = 0
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

    def fail(self, at: int, message: str = "not JSON") -> NotPlainJsonError:
        if self.text.startswith(("//", "/*", "#"), at):
            message = "a comment"
        return NotPlainJsonError(message, self.text, at)

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
            if node.children:
                if self.text[here : here + 1] != ",":
                    raise self.fail(here)
                here = self.skip(here + 1)
            child, here = self.child(node, here)
            node.children.append(child)
            here = self.skip(here)
        node.end = here + 1
        return node

    def child(self, node: Node, at: int) -> tuple[Node, int]:
        if not node.is_object:
            child = self.value(at)
            child.begin = at
            return child, child.end
        if self.text[at : at + 1] != '"':
            raise self.fail(
                at, "a trailing comma or a name without quotes" if self.text[at : at + 1] == "}" else "not JSON"
            )
        key, here = self.string(at)
        here = self.skip(here)
        if self.text[here : here + 1] != ":":
            raise self.fail(here)
        child = self.value(self.skip(here + 1))
        child.begin, child.key = at, key
        if node.member(key) is not None:
            raise self.fail(at, f"the name {json.dumps(key)} stands here twice")
        return child, child.end


@lru_cache(maxsize=8)
def parse_text(text: str) -> Node:
    """Return the root value of ``text`` with its places. Raises :class:`NotPlainJsonError`."""
    reader = _Reader(text)
    root = reader.value(reader.skip(0))
    if reader.skip(root.end) != len(text):
        raise reader.fail(reader.skip(root.end))
    return root


def find_node(text: str, path: Sequence[str]) -> Node | None:
    """Return the value at ``path``, a list of member names from the root, or None."""
    node: Node | None = parse_text(text)
    for key in path:
        node = node.member(key) if node is not None else None
    return node


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return ``text`` with ``value`` at ``path``; objects on the way are made where they are missing."""
    node = find_node(text, path)
    if node is not None:
        return text[: node.start] + _dump(text, value, _line_indent(text, node.start)) + text[node.end :]
    parent = path[:-1]
    if parent and find_node(text, parent) is None:
        return set_member(text, parent, {path[-1]: value})
    return _insert(text, parent, value, key=path[-1])


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    """Return ``text`` with ``value`` as the last item of the array at ``path``, made where it is missing."""
    if find_node(text, path) is None:
        return set_member(text, path, [value])
    return _insert(text, path, value, key=None)


def drop_child(text: str, parent: Node, index: int) -> str:
    """Return ``text`` without the child ``index`` of ``parent`` and the comma that goes with it."""
    assert parent.children is not None
    child = parent.children[index]
    if index > 0:
        return text[: parent.children[index - 1].end] + text[child.end :]
    if len(parent.children) > 1:
        return text[: child.begin] + text[parent.children[1].begin :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def _insert(text: str, path: Sequence[str], value: Any, *, key: str | None) -> str:
    parent = find_node(text, path)
    if parent is None or parent.children is None or parent.is_object != (key is not None):
        raise NotPlainJsonError(f"{'.'.join(path) or 'the file'} is not what the agent reads there", text, 0)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + (":" if _is_compact(text) else ": ")
    newline = "\r\n" if "\r\n" in text else "\n"
    if parent.children:
        last = parent.children[-1]
        gap = text[parent.start + 1 : parent.children[0].begin]
        if "\n" in gap:
            indent = gap.rsplit("\n", 1)[1]
            added = "," + newline + indent + name + _dump(text, value, indent)
        else:
            added = ("," if _is_compact(text) else ", ") + name + _dump_inline(text, value)
        return text[: last.end] + added + text[last.end :]
    if _is_single_line(text):
        inside = name + _dump_inline(text, value)
    else:
        outer = _line_indent(text, parent.start)
        indent = outer + _unit(text)
        inside = newline + indent + name + _dump(text, value, indent) + newline + outer
    return text[: parent.start + 1] + inside + text[parent.end - 1 :]


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
            return gap.rsplit("\n", 1)[1] or "  "
    return "  "


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
