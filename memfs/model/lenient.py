"""Files that are not memfs's: their front matter as far as it can be read (DESIGN 3). Pure.

Other tools write any YAML between the fences, and some write what only looks like YAML: ``globs: *.ts``. So
python-frontmatter reads the block as YAML first, every scalar as the text that was written; where that fails,
each line is ``key: rest of line``. Nothing here is trusted, guessed at or admitted: that is up to the caller.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from memfs.errors import InvalidMemoryError
from memfs.model.memory import FrontValue
from memfs.model.values import dataclass

MAX_FOREIGN_BYTES = 256 * 1024
"""A larger file is not read: no note of a person is as long."""

_LINE = re.compile(r"([A-Za-z_][\w .-]{0,63}?)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDocument:
    """A file of another tool. ``how`` says what its front matter was read as, ``left_out`` which keys have values
    that are neither text nor a list of texts."""

    front: dict[str, FrontValue]
    body: str
    how: Literal["yaml", "lines", "none"]
    left_out: tuple[str, ...] = ()


def read_foreign(raw: bytes) -> ForeignDocument:
    """Return what a file of another tool contains.

    Raises :class:`InvalidMemoryError` for a file that is too large, or is not text in UTF-8.
    """
    if len(raw) > MAX_FOREIGN_BYTES:
        raise InvalidMemoryError(f"the file has more than {MAX_FOREIGN_BYTES // 1024} KiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidMemoryError(f"the file is not text in UTF-8 (byte {error.start + 1})") from None
    if "\0" in text:
        raise InvalidMemoryError("the file contains a NUL byte, so it is not text")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    block = _BLOCK.match(text)
    if block is None:
        return ForeignDocument(front={}, body=text.strip("\n"), how="none")
    body = text[block.end() :].strip("\n")
    values = _read_yaml(text)
    if values is None:
        return ForeignDocument(front=_read_lines(block[1]), body=body, how="lines")
    front: dict[str, FrontValue] = {}
    left_out = []
    for key, value in values.items():
        if isinstance(value, str):
            front[str(key)] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            front[str(key)] = tuple(value)
        else:
            left_out.append(str(key))
    return ForeignDocument(front=front, body=body, how="yaml", left_out=tuple(left_out))


def _read_yaml(text: str) -> dict[Any, Any] | None:
    """Return the front matter as YAML without types, or None where it is not a map of YAML."""
    import frontmatter
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    class Untyped(YAMLHandler):
        def load(self, fm: str, **_: object) -> Any:
            return yaml.load(fm, Loader=yaml.BaseLoader)  # noqa: S506 - texts, lists and maps only

    try:
        values, _ = frontmatter.parse(text, handler=Untyped())
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return values if isinstance(values, dict) and values else None


def _read_lines(block: str) -> dict[str, FrontValue]:
    found: dict[str, str] = {}
    items: dict[str, list[str]] = {}
    key = ""
    for line in block.split("\n"):
        named, item = _LINE.fullmatch(line), _ITEM.fullmatch(line)
        if named is not None:
            key = named[1]
            found.setdefault(key, _unquoted(named[2] or ""))
        elif item is not None and key and found[key] == "":
            items.setdefault(key, []).append(_unquoted(item[1]))
    return {key: tuple(items[key]) if key in items else value for key, value in found.items()}


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
