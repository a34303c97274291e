"""YAML as settings files may use it: maps, lists and texts, nothing that surprises.

Anchors, aliases, tags, merge keys, duplicate keys, block scalars and second documents are refused
with line and column. Scalars stay text; who reads the settings says which of them is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from memfs.errors import SetupError

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


# What nearly every settings file consists of, read without importing PyYAML, which costs a recall 16 ms.
# Anything else is PyYAML's; a property test holds the two together, positions included.
_WORD = r"[A-Za-z0-9_/~.@+*-]+"
_PLAIN = rf"(?!\.\.\.)[A-Za-z0-9_/~.][A-Za-z0-9_/~.@+*-]*(?: {_WORD})*"
_SCALAR = rf"{_PLAIN}|\"[ !#-\[\]-~]*\"|'[ -&(-~]*'"
_FLOW = rf"\[(?: ?(?:{_PLAIN}),)* ?(?:{_PLAIN}) ?\]"
_LINE = re.compile(
    r"(?P<indent> *)(?P<dashes>- )?"
    rf"(?:(?P<key>[A-Za-z0-9_][A-Za-z0-9_/.-]*):(?: (?P<value>{_SCALAR}|{_FLOW}))?|(?P<item>{_SCALAR}))"
    r"(?: +#.*)?"
)


class _Line(NamedTuple):
    number: int  # from 1
    indent: int  # of the dash, or of the key
    dash: bool
    key: str | None
    start: int  # of the key, or of the item
    text: str | None  # the value or the item, as written
    at: int  # where that starts


def _parse_simple(text: str) -> Node | None:
    if not text.isascii():
        return None
    lines: list[_Line] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.lstrip(" ").startswith("#"):
            continue
        match = _LINE.fullmatch(line) if len(line) < 500 else None
        if match is None:
            return None
        name = "key" if match["key"] is not None else "item"
        which = "value" if name == "key" else "item"
        lines.append(
            _Line(
                number,
                len(match["indent"]),
                match["dashes"] is not None,
                match["key"],
                match.start(name),
                match[which],
                match.start(which),
            )
        )
    if not lines or lines[0].indent or lines[0].dash:
        return None
    lines.reverse()  # taken from the end
    node = _simple_map(lines, 0, 0)
    return node if node is not None and not lines else None


def _simple_map(lines: list[_Line], indent: int, depth: int) -> Node | None:
    """Take the map whose keys stand at ``indent``; the first may stand behind a dash."""
    first = lines[-1]
    entries: dict[str, Node] = {}
    while (
        lines and lines[-1].key is not None and lines[-1].start == indent and (lines[-1] is first or not lines[-1].dash)
    ):
        line = lines.pop()
        node = _simple_scalar(line) if line.text is not None else _simple_below(lines, indent, depth)
        if node is None or line.key is None or line.key in entries:
            return None
        entries[line.key] = node
    return Node(entries, first.number, first.start + 1)


def _simple_below(lines: list[_Line], indent: int, depth: int) -> Node | None:
    if not lines or depth >= _MAX_DEPTH - 1:
        return None
    following = lines[-1]
    if following.dash and following.indent >= indent:
        return _simple_list(lines, following.indent, depth + 1)
    if not following.dash and following.key is not None and following.start > indent:
        return _simple_map(lines, following.start, depth + 1)
    return None  # an empty value


def _simple_list(lines: list[_Line], indent: int, depth: int) -> Node | None:
    first = lines[-1]
    items: list[Node] = []
    while lines and lines[-1].dash and lines[-1].indent == indent:
        if lines[-1].key is None:
            node = _simple_scalar(lines.pop())
        else:
            node = _simple_map(lines, lines[-1].start, depth + 1)
        if node is None:
            return None
        items.append(node)
    return Node(items, first.number, indent + 1)


def _simple_scalar(line: _Line) -> Node | None:
    text = line.text or ""
    if text.startswith("["):
        return Node(
            [Node(item[0], line.number, line.at + item.start() + 1) for item in re.finditer(_PLAIN, text)],
            line.number,
            line.at + 1,
        )
    return Node(text[1:-1] if text[0] in "\"'" else text, line.number, line.at + 1)


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
