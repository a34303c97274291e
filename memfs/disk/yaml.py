"""YAML as settings files may use it: maps, lists and texts, nothing that surprises.

Anchors, aliases, tags, merge keys, duplicate keys, block scalars and second documents are refused
with line and column. Scalars stay text; who reads the settings says which of them is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from memfs.errors import SetupError
from memfs.model.flatyaml import position
from memfs.model.simpleyaml import Simple, read_simple

if TYPE_CHECKING:
    import yaml

MAX_YAML_BYTES = 64 * 1024
_MAX_DEPTH = 8

Value = str | list["Node"] | dict[str, "Node"]


class Node(NamedTuple):
    """One value and where it stands, both counted from 1."""

    value: Value
    line: int
    column: int


class YamlError(SetupError):
    """The text is not YAML of this subset; ``line`` and ``column`` say where."""

    def __init__(self, message: str, *, line: int, column: int) -> None:
        super().__init__(message, where=f"line {line}, column {column}")
        self.line = line
        self.column = column


def parse_yaml(raw: bytes) -> Node:
    """Return the one document in ``raw``; an empty one is an empty map. Raises :class:`YamlError`."""
    if len(raw) > MAX_YAML_BYTES:
        raise YamlError(f"is larger than {MAX_YAML_BYTES} bytes", line=1, column=1)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise YamlError("is not UTF-8", line=raw.count(b"\n", 0, error.start) + 1, column=1) from None
    simple = _parse_simple(text)
    if simple is not None:
        return simple
    import yaml

    events = _events(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    try:
        next(events)  # the stream starts
        event = next(events)
        if isinstance(event, yaml.StreamEndEvent):
            return Node({}, 1, 1)
        node = _parse_node(next(events), events, 0)
        next(events)  # the document ends
        following = next(events)
        if not isinstance(following, yaml.StreamEndEvent):
            raise _refuse(following, "a second document")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(
            f"is not YAML: {error.problem or 'it cannot be parsed'}",
            line=mark.line + 1 if mark else 1,
            column=mark.column + 1 if mark else 1,
        ) from None
    except yaml.YAMLError as error:
        raise YamlError("is not YAML: it contains characters that YAML does not allow", line=1, column=1) from error
    if node.value == "":
        return Node({}, node.line, node.column)  # nothing but comments
    return node


def as_written(node: Node) -> object:
    """Return the value of ``node`` as JSON knows it: maps, lists and texts, every scalar as it was written.

    A key without a value is left out.
    """
    if isinstance(node.value, dict):
        return {key: as_written(below) for key, below in node.value.items() if below.value != ""}
    return [as_written(below) for below in node.value] if isinstance(node.value, list) else node.value


def find_node(node: Node, path: str) -> Node:
    """Return the value at ``path`` (keys and numbers with / between them), or the deepest one on the way to it."""
    for part in path.split("/") if path else ():
        below = node.value
        if isinstance(below, dict) and part in below:
            node = below[part]
        elif isinstance(below, list) and part.isdecimal() and int(part) < len(below):
            node = below[int(part)]
        else:
            break
    return node


def _parse_simple(text: str) -> Node | None:
    """Return the document where it needs no library: importing PyYAML costs a recall 16 ms."""
    found = read_simple(text) if not re.search("[^\n -~]", text) else None
    return None if found is None else _node_of(text, found)


def _node_of(text: str, found: Simple) -> Node:
    value: Value
    if isinstance(found.value, dict):
        value = {key: _node_of(text, below) for key, below in found.value.items()}
    else:
        value = found.value if isinstance(found.value, str) else [_node_of(text, item) for item in found.value]
    return Node(value, *position(text, found.start))


def _events(events: Iterator[Any]) -> Iterator[yaml.Event]:
    import yaml

    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _refuse(event, "an anchor or alias")
        if getattr(event, "tag", None) is not None:
            raise _refuse(event, "a tag")
        yield event


def _parse_node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
    import yaml

    place = _place(event)
    if depth > _MAX_DEPTH:
        raise _refuse(event, f"more than {_MAX_DEPTH} levels")
    if isinstance(event, yaml.ScalarEvent):
        if event.style in ("|", ">"):
            raise _refuse(event, "a block scalar")
        return Node(event.value, *place)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_parse_node(item, events, depth + 1))
        return Node(items, *place)
    entries: dict[str, Node] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent):
            raise _refuse(key, "a key that is not text")
        if key.value in entries:
            raise _refuse(key, "the same key twice")
        if key.value == "<<":
            raise _refuse(key, "a merge key")
        entries[key.value] = _parse_node(next(events), events, depth + 1)
    return Node(entries, *place)


def _refuse(event: yaml.Event, what: str) -> YamlError:
    line, column = _place(event)
    return YamlError(f"holds {what}, which settings do not have", line=line, column=column)


def _place(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
