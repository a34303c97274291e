"""The text form of a memory file: fences, front matter, body (DESIGN 3). Pure.

Reader and writer stand side by side; the block between the fences is :mod:`memfs.model.flatyaml`'s.
What is refused, and why, is in ``docs/adr/0003-front-matter-subset.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from unicodedata import normalize

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden
from memfs.model.edits import apply_edits, format_entry, plan_edits
from memfs.model.flatyaml import KEY, MAX_FRONT_CHARACTERS, UnreadableError, position, scan, unreadable
from memfs.model.memory import MAX_MEMORY_BYTES, Document, FrontValue, Problem

__all__ = [
    "UnreadableError",
    "change_document",
    "inspect_document",
    "normal_body",
    "parse_document",
    "split_document",
]

# Compiled where they are first used.
_BLANK_LINES = r"(?:[ \t]*\r?\n)*"
_LINE_END = r"[ \t]*(?:\r?\n|\Z)"
_OPENING = rf"\ufeff?{_BLANK_LINES}---{_LINE_END}"
_CLOSING = rf"(?m)^(?:---|\.\.\.){_LINE_END}"
_COMMENTS = r"(?:[ \t]*(?:#[^\n]*|\r)?\n)*"
# A rule of Markdown opens no front matter: the first line that says something must be a key's.
_KEY_LINE = rf" *(?:{KEY}|\"{KEY}\"|'{KEY}'):(?=\s|\Z)"
_OTHER_OPENING = rf"\ufeff?{_BLANK_LINES}(?:---|\+\+\+|;;;|\{{)"
_TOML = rf"\ufeff?\+\+\+{_LINE_END}((?:[^\n]*\n)*?)\+\+\+{_LINE_END}"
_LONE_RETURN = r"\r(?!\n)"
_CONFLICT_START = r"(?m)^<{7}(?: [^\n]*|\r)?$"
_CONFLICT_MIDDLE = r"(?m)^={7}\r?$"
_CONFLICT_END = r"(?m)^>{7}(?: [^\n]*|\r)?$"
_CODE_FENCE = r"(?m)^ {0,3}(`{3,}|~{3,})([^\n]*)"
_LFS = b"version https://git-lfs.github.com/spec/"


class Layout(NamedTuple):
    """Where the parts of one file are, as indexes into its text."""

    front_start: int
    front_end: int
    body_start: int


# --- reading ----------------------------------------------------------------------------------------


def parse_document(raw: bytes) -> Document:
    """Return the front matter and the body of one file.

    Raises :class:`UnreadableError` with all problems when the file is unreadable or its front matter
    is not in the subset.
    """
    document, problems = inspect_document(raw)
    fatal = [problem for problem in problems if problem.fatal]
    if fatal:
        raise UnreadableError(fatal)
    return document


def inspect_document(raw: bytes, *, parser: str | None = None) -> tuple[Document, tuple[Problem, ...]]:
    """Return what can be read of one file, and all problems; for showing, finding and reporting.

    Refused values come as their source text and with a fatal problem: only :func:`parse_document`
    gives a document to rely on. ``parser`` is for tests, as in :func:`memfs.model.flatyaml.scan`. Raises
    :class:`UnreadableError` when nothing can be read.
    """
    text = _decode(raw)
    _require_no_conflict(text)
    problems: list[Problem] = []
    if text.startswith("\ufeff"):
        message = "the file starts with a byte order mark"
        problems.append(Problem(rule="byte-order-mark", message=message, line=1, column=1, fatal=False))
    layout = split_document(text)
    if layout is None:
        document = _toml_document(text) or Document(front={}, body=_lf(text.removeprefix("\ufeff")))
        if document.has_front:
            message = "the front matter is TOML; a memory has YAML between --- lines"
            problems.append(Problem(rule="toml-front-matter", message=message, line=1, column=1))
    else:
        first_line = text.count("\n", 0, layout.front_start) + 1
        entries = scan(_lf(text[layout.front_start : layout.front_end]), first_line, problems, parser=parser)
        document = Document(
            front={entry.key: entry.value for entry in entries},
            lines={entry.key: first_line + entry.line for entry in entries},
            body=_lf(text[layout.body_start :]),
            has_front=True,
        )
        problems += _check_second_block(document, text.count("\n", 0, layout.body_start) + 1)
    if "\r" in text and (lone := re.search(_LONE_RETURN, text)):
        line, column = position(text, lone.start())
        message = "a carriage return stands without a line feed"
        problems.append(Problem(rule="lone-carriage-return", message=message, line=line, column=column))
    return document, tuple(problems)


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _decode(raw: bytes) -> str:
    if len(raw) > MAX_MEMORY_BYTES:
        raise unreadable("too-large", f"the file has {len(raw)} bytes; a memory has at most {MAX_MEMORY_BYTES}")
    if raw.startswith(_LFS):
        raise unreadable("lfs-pointer", "a Git LFS pointer stands here, not the file itself", line=1, column=1)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode("utf-8")
        line, column = position(good, len(good))
        raise unreadable("not-utf8", "the file is not UTF-8 text", line=line, column=column) from None
    if "\0" in text:
        line, column = position(text, text.index("\0"))
        raise unreadable("nul", "the file contains a NUL character: it is not text", line=line, column=column)
    return text


def _require_no_conflict(text: str) -> None:
    if "<<<<<<<" not in text:
        return
    fences = [(found.start(), found[1], found[2]) for found in re.finditer(_CODE_FENCE, text)]
    open_fence, next_fence = "", 0
    for start in re.finditer(_CONFLICT_START, text):
        while next_fence < len(fences) and fences[next_fence][0] < start.start():
            open_fence = _fence_after(open_fence, *fences[next_fence][1:])
            next_fence += 1
        if open_fence:
            continue
        middle = re.compile(_CONFLICT_MIDDLE).search(text, start.end())
        if middle is None or re.compile(_CONFLICT_END).search(text, middle.end()) is None:
            return
        line, column = position(text, start.start())
        raise unreadable("conflict-markers", "a merge conflict is not resolved here", line=line, column=column)


def _fence_after(fence: str, mark: str, rest: str) -> str:
    """Return which code fence (CommonMark 4.5) is open after a line that starts with ``mark``; "" for none."""
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    is_closing = mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip()
    return "" if is_closing else fence


def split_document(text: str) -> Layout | None:
    """Return where the front matter and the body of ``text`` are; None when it has no front matter.

    Raises :class:`UnreadableError` for front matter that is not closed.
    """
    opening = re.match(_OPENING, text)
    if opening is None:
        return None
    start = opening.end()
    comments = re.compile(_COMMENTS).match(text, start)
    said = comments.end() if comments else start
    closing = re.compile(_CLOSING).search(text, start)
    # With nothing above it, other readers do not take ... for the end.
    is_empty = closing is not None and closing.start() <= said and text.startswith("---", closing.start())
    if not is_empty and not re.compile(_KEY_LINE).match(text, said):
        return None
    if closing is None:
        line, column = position(text, text.index("---"))
        raise unreadable("unclosed-front-matter", "no --- line closes the front matter", line=line, column=column)
    return Layout(start, closing.start(), closing.end())


def _check_second_block(document: Document, first_line: int) -> list[Problem]:
    if not document.body.lstrip().startswith("---"):
        return []
    try:
        second = split_document(document.body)
        if second is None or second.front_start == second.front_end:
            return []
        entries = scan(document.body[second.front_start : second.front_end], 1, [])
    except UnreadableError:
        entries = []
    other = {entry.key: entry.value for entry in entries}
    line = first_line + document.body.count("\n", 0, document.body.index("---"))
    message = f"a second front matter block ({_named(other)}) stands below the first one ({_named(document.front)})"
    return [Problem(rule="second-front-matter", message=message, line=line, column=1)]


def _named(front: Mapping[str, FrontValue]) -> str:
    name = front.get("name")
    return escape_hidden(name, single_line=True)[:80] if isinstance(name, str) else "no name"


def _toml_document(text: str) -> Document | None:
    """Return a file of another tool that has TOML front matter, for showing only."""
    found = re.match(_TOML, text) if text.startswith(("+++", "\ufeff+++")) else None
    if found is None or len(found[1]) > MAX_FRONT_CHARACTERS:
        return None
    import tomllib

    try:
        table = tomllib.loads(_lf(found[1]))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    front: dict[str, FrontValue] = {}
    for key, value in table.items():
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        front[key] = tuple(value) if is_list else str(value)
    return Document(front=front, body=_lf(text[found.end() :]), has_front=True)


# --- writing ----------------------------------------------------------------------------------------


def write_document(front: Mapping[str, FrontValue], body: str) -> bytes:
    """Return a whole new file: the keys in the order given, then the body; read it back with :func:`require_same`.

    The file is NFC with LF line ends, without trailing blanks, and ends in one newline (TRUST 3).
    """
    lines = [line for key, value in front.items() for line in format_entry(key, value)]
    return _encode("\n".join(["---", *lines, "---", normal_body(body)]))


def normal_body(body: str) -> str:
    """Return ``body`` as the writer emits it: NFC, LF, no trailing blanks or outer blank lines, one final newline."""
    lines = [line.rstrip(" \t") for line in _lf(body).split("\n")]
    text = normalize("NFC", "\n".join(lines)).strip("\n")
    return text + "\n" if text else ""


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidMemoryError("the text contains half a surrogate pair, which is not a character") from None


def require_same(document: Document, front: Mapping[str, FrontValue], body: str) -> None:
    """Refuse what did not come back as it was written (STYLE 3)."""
    if _items(document.front) != _items(front) or document.body != normal_body(body):
        raise InvalidMemoryError("this text would not be read back as it was written")


def _items(front: Mapping[str, FrontValue]) -> list[tuple[str, FrontValue]]:
    return [(key, value if isinstance(value, str) else tuple(value)) for key, value in front.items()]


# --- changing ---------------------------------------------------------------------------------------


def change_document(raw: bytes, changes: Mapping[str, FrontValue | None], body: str | None = None) -> bytes:
    """Return ``raw`` with some keys set (None: removed) and, if given, another body; no other byte differs.

    Order, comments, quotes, spacing, line ends and a byte order mark stay. A file without any front
    matter gets a block at its top. Raises :class:`InvalidMemoryError` instead of guessing: for an
    unreadable file, another tool's block, a refused value, a second block.
    """
    document, problems = inspect_document(raw)
    for problem in problems:
        if problem.rule in {"second-front-matter", "lone-carriage-return"}:
            raise UnreadableError([problem])
    text = raw.decode("utf-8")
    layout = split_document(text)
    if layout is None:
        result = _add_block(text, changes, document.body, body)
    else:
        source = text[layout.front_start : layout.front_end]
        eol = "\r\n" if text.endswith("\r\n", 0, layout.front_start) else "\n"
        first_line = text.count("\n", 0, layout.front_start) + 1
        block = _lf(source)
        edits = plan_edits(block, scan(block, first_line, []), changes, first_line=first_line)
        changed = apply_edits(source, edits, eol=eol)
        fence, rest = text[layout.front_end : layout.body_start], text[layout.body_start :]
        if body is not None and normal_body(body) != document.body:
            blank = re.match(_BLANK_LINES, rest)
            kept = blank[0] if blank and normal_body(body) else ""
            fence = fence if fence.endswith("\n") else fence + eol
            rest = kept + normal_body(body).replace("\n", eol)
        result = text[: layout.front_start] + changed + fence + rest
    changed_raw = _encode(result)
    if changed_raw == raw:
        return raw
    expected = _changed_front({} if layout is None else document.front, changes)
    _require_changed(changed_raw, expected, document.body if body is None else normal_body(body), problems)
    return changed_raw


def _add_block(text: str, changes: Mapping[str, FrontValue | None], old_body: str, body: str | None) -> str:
    """Return a file that had no front matter with a block on top; refuse to stack it on another tool's."""
    lines = [line for key, value in changes.items() if value is not None for line in format_entry(key, value)]
    if not lines and body is None:
        return text
    if re.match(_OTHER_OPENING, text):
        line = position(text, text.index(text.lstrip("\ufeff \t\r\n")))[0]
        message = "the file starts with a block of another kind; memfs does not put a second one on top of it"
        raise unreadable("would-stack", message, line=line, column=1)
    eol = "\r\n" if "\r\n" in text else "\n"
    rest = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(rest)]
    if body is not None and normal_body(body) != old_body:
        rest = normal_body(body).replace("\n", eol)
    return mark + "".join(line + eol for line in (["---", *lines, "---"] if lines else [])) + rest


def _changed_front(front: Mapping[str, FrontValue], changes: Mapping[str, FrontValue | None]) -> dict[str, FrontValue]:
    names = {normalize("NFC", key): key for key in front}
    expected = dict(front)
    for key, value in changes.items():
        name = names.get(normalize("NFC", key), key)
        if value is None:
            expected.pop(name, None)
        else:
            expected[name] = value
    return expected


def _require_changed(raw: bytes, front: Mapping[str, FrontValue], body: str, before: Sequence[Problem]) -> None:
    """Refuse a change that would be read as anything but what was asked for."""
    document, problems = inspect_document(raw)
    is_body_right = document.body == body or normal_body(document.body) == body
    is_worse = {problem.rule for problem in problems} - {problem.rule for problem in before}
    if _items(document.front) != _items(front) or not is_body_right or is_worse:
        raise InvalidMemoryError("this change cannot be made in place; change the file by hand")
