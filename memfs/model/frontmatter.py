"""The text form of a memory file: front matter as a flat subset of YAML, and a body (DESIGN 3).

Reader and writer stand side by side. The reader takes PyYAML's events and then asks more than YAML
does: every scalar must be the very text that stands in the file, on one line, so that no second
reader (another YAML library, a static site generator, a person) can see another value. What it
refuses, and why, is in ``docs/adr/0003-front-matter-subset.md``.

Two degrees of refusal: a file is *unreadable* when nobody can say where its front matter or its
values are (:class:`UnreadableError`); it is *refused* when it is clear YAML outside the subset (a
nested map, an anchor, a block scalar): then :func:`inspect_document` still gives the values that are
plain, the refused ones as the source text, and a fatal problem for each.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import is_normalized, normalize

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden, find_hidden
from memfs.model.memory import MAX_MEMORY_BYTES, Document, FrontValue, Problem

if TYPE_CHECKING:
    from types import ModuleType

MAX_FRONT_CHARACTERS = 32 * 1024
MAX_DEPTH = 16
MAX_KEY_CHARACTERS = 64

_BLANK_LINES = r"(?:[ \t]*\r?\n)*"
_LINE_END = r"[ \t]*(?:\r?\n|\Z)"
_KEY = r"\w[\w.-]*(?: [\w.-]+){0,3}"
_OPENING = re.compile(rf"\ufeff?{_BLANK_LINES}---{_LINE_END}")
_CLOSING = re.compile(rf"^(?:---|\.\.\.){_LINE_END}", re.MULTILINE)
_INSIGNIFICANT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n|[ \t]*\r\n)*")
# A rule of Markdown is no front matter: what follows the fence must begin with a key.
_KEY_LINE = re.compile(rf"[ ]*(?:{_KEY}|\"{_KEY}\"|'{_KEY}')[ \t]*:(?=\s|\Z)")
_OTHER_OPENING = re.compile(rf"\ufeff?{_BLANK_LINES}(?:---|\+\+\+|;;;|\{{)")
_TOML = re.compile(rf"\ufeff?\+\+\+{_LINE_END}((?:[^\n]*\n)*?)\+\+\+{_LINE_END}")

# What YAML 1.1, YAML 1.2 and other readers do not agree on: controls, separators, marks. TAB is refused
# too: libyaml, PyYAML and YAML 1.2 each allow it in other places.
_FORBIDDEN = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_FENCE_INSIDE = re.compile(r"^(?:---|\.\.\.|%)", re.MULTILINE)
_PLAIN_KEY = re.compile(_KEY)
_ESCAPE = re.compile(r"\\(?:([\"\\/nt])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "t": "\t"}

_CONFLICT = re.compile(r"^<{7}(?: [^\n]*)?$(?:\n[^\n]*)*?\n={7}\r?$(?:\n[^\n]*)*?\n>{7}(?: [^\n]*)?$", re.MULTILINE)
_CODE_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_LFS = b"version https://git-lfs.github.com/spec/"


class UnreadableError(InvalidMemoryError):
    """A file that cannot be read as text with front matter; ``problems`` says where and why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        where = None if first.line is None else f"line {first.line}, column {first.column or 1}"
        super().__init__(first.message, where=where)
        self.problems = tuple(problems)


class _Entry(NamedTuple):
    """One key and its value; indexes are into the front matter's text with LF line ends."""

    key: str
    key_start: int
    key_end: int
    line: int  # 0-based within the front matter
    form: str  # "scalar", "quoted", "flow", "block", or "refused"
    value: FrontValue
    start: int  # of the value
    end: int
    items: tuple[tuple[int, int], ...] = ()  # of the values of a list in block form


class _Layout(NamedTuple):
    """Where the parts of one file are, as indexes into its text."""

    front_start: int
    front_end: int
    body_start: int


# --- reading ---------------------------------------------------------------------------------------


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


def inspect_document(raw: bytes) -> tuple[Document, tuple[Problem, ...]]:
    """Return what can be read of one file, and all problems; for showing, finding and reporting.

    Values outside the subset come as their source text and with a fatal problem; only
    :func:`parse_document` gives a document to rely on. Raises :class:`UnreadableError` when nothing
    can be read.
    """
    text = _decode(raw)
    _require_no_conflict(text)
    problems: list[Problem] = []
    if text.startswith("\ufeff"):
        problems.append(
            Problem(
                rule="byte-order-mark", message="the file starts with a byte order mark", line=1, column=1, fatal=False
            )
        )
    layout = _find_layout(text)
    if layout is None:
        document = _toml_document(text) or Document(front={}, body=text.removeprefix("\ufeff").replace("\r\n", "\n"))
        if document.has_front:
            problems.append(
                Problem(
                    rule="toml-front-matter",
                    message="the front matter is TOML; a memory's is YAML between --- lines",
                    line=1,
                    column=1,
                )
            )
    else:
        front = text[layout.front_start : layout.front_end].replace("\r\n", "\n")
        first_line = text.count("\n", 0, layout.front_start) + 1
        entries = _scan(front, first_line, problems)
        body = text[layout.body_start :].replace("\r\n", "\n")
        document = Document(
            front={entry.key: entry.value for entry in entries},
            lines={entry.key: first_line + entry.line for entry in entries},
            body=body,
            has_front=True,
        )
        _check_second_block(document, text.count("\n", 0, layout.body_start) + 1, problems)
    carriage = re.search(r"\r(?!\n)", text)
    if carriage:
        line, column = _position(text, carriage.start())
        problems.append(
            Problem(
                rule="lone-carriage-return", message="a carriage return without a line feed", line=line, column=column
            )
        )
    return document, tuple(problems)


def _decode(raw: bytes) -> str:
    if len(raw) > MAX_MEMORY_BYTES:
        raise UnreadableError(
            [
                Problem(
                    rule="too-large", message=f"the file has {len(raw)} bytes; a memory has at most {MAX_MEMORY_BYTES}"
                )
            ]
        )
    if raw.startswith(_LFS):
        raise UnreadableError(
            [
                Problem(
                    rule="lfs-pointer", message="a Git LFS pointer stands here, not the file itself", line=1, column=1
                )
            ]
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode("utf-8")
        line, column = _position(good, len(good))
        raise UnreadableError(
            [Problem(rule="not-utf8", message="the file is not UTF-8 text", line=line, column=column)]
        ) from None
    if "\0" in text:
        line, column = _position(text, text.index("\0"))
        raise UnreadableError(
            [Problem(rule="nul", message="the file holds a NUL character: it is not text", line=line, column=column)]
        )
    return text


def _position(text: str, index: int) -> tuple[int, int]:
    """Return line and column, both from 1."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def _require_no_conflict(text: str) -> None:
    if "<<<<<<<" not in text:
        return
    for found in _CONFLICT.finditer(text):
        if not _is_in_code_fence(text, found.start()):
            line, column = _position(text, found.start())
            raise UnreadableError(
                [
                    Problem(
                        rule="conflict-markers",
                        message="a merge conflict is not resolved here",
                        line=line,
                        column=column,
                    )
                ]
            )


def _is_in_code_fence(text: str, index: int) -> bool:
    """Return whether ``index`` lies in a fenced code block (CommonMark 4.5) of ``text``."""
    fence = ""
    for found in _CODE_FENCE.finditer(text, 0, index):
        mark = found[1]
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence):
            end = text.find("\n", found.end())
            if not text[found.end() : end if end >= 0 else None].strip():
                fence = ""
    return bool(fence)


def _find_layout(text: str) -> _Layout | None:
    """Return where the front matter is, None when there is none."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    start = opening.end()
    insignificant = _INSIGNIFICANT.match(text, start)
    significant = insignificant.end() if insignificant else start
    closing = _CLOSING.search(text, start)
    is_empty = closing is not None and closing.start() <= significant
    if not is_empty and not _KEY_LINE.match(text, significant):
        return None
    if closing is None:
        line, column = _position(text, text.index("---"))
        raise UnreadableError(
            [
                Problem(
                    rule="unclosed-front-matter",
                    message="the front matter is not closed by a --- line",
                    line=line,
                    column=column,
                )
            ]
        )
    return _Layout(start, closing.start(), closing.end())


def _check_second_block(document: Document, first_line: int, problems: list[Problem]) -> None:
    try:
        second = _find_layout(document.body)
    except UnreadableError:
        return
    if second is None or second.front_start == second.front_end:
        return
    try:
        names = {entry.key: entry.value for entry in _scan(document.body[second.front_start : second.front_end], 1, [])}
    except UnreadableError:
        names = {}
    first, other = (
        escape_hidden(str(front.get("name", "without a name")), single_line=True)[:80]
        for front in (document.front, names)
    )
    line = first_line + document.body.count("\n", 0, document.body.index("---"))
    message = f"a second front matter block (name: {other}) stands below the first one (name: {first})"
    problems.append(Problem(rule="second-front-matter", message=message, line=line, column=1))


def _toml_document(text: str) -> Document | None:
    """Return a file of another tool with TOML front matter, for showing only."""
    found = _TOML.match(text)
    if found is None or len(found[1]) > MAX_FRONT_CHARACTERS:
        return None
    import tomllib

    try:
        table = tomllib.loads(found[1].replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    front: dict[str, FrontValue] = {}
    for key, value in table.items():
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        front[key] = tuple(value) if is_list else str(value)
    return Document(front=front, body=text[found.end() :].replace("\r\n", "\n"), has_front=True)


# --- the subset, on PyYAML's events -----------------------------------------------------------------


def _yaml() -> ModuleType:
    import yaml  # 13 ms: only where a file is parsed

    return yaml


def new_parser(front: str, *, pure: bool = False) -> Any:
    """Return a PyYAML parser of ``front``: libyaml's where it was built, else the pure one."""
    yaml = _yaml()
    if yaml.__with_libyaml__ and not pure:
        return yaml.cyaml.CParser(front)

    class PureParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):  # type: ignore[name-defined,misc]
        def __init__(self, stream: str) -> None:
            yaml.reader.Reader.__init__(self, stream)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)

    return PureParser(front)


def _scan(front: str, first_line: int, problems: list[Problem], *, pure: bool = False) -> list[_Entry]:
    """Return the entries of the front matter; append what is refused to ``problems``.

    Raises :class:`UnreadableError` when it is no flat mapping that can be told apart at all.
    """
    _require_clean(front, first_line)
    yaml = _yaml()
    scanner = _Scanner(front, first_line, problems)
    try:
        scanner.run(new_parser(front, pure=pure))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (first_line + mark.line, mark.column + 1) if mark else (first_line, 1)
        reason = escape_hidden(str(error.problem or error.context or "cannot be read"), single_line=True)[:120]
        broken = Problem(
            rule="bad-yaml", message=f"the front matter is not valid YAML: {reason}", line=line, column=column
        )
        raise UnreadableError([*problems, broken]) from None
    except yaml.YAMLError:
        broken = Problem(rule="bad-yaml", message="the front matter is not valid YAML", line=first_line, column=1)
        raise UnreadableError([*problems, broken]) from None
    if scanner.broken:
        raise UnreadableError([*scanner.broken, *problems])
    return scanner.entries


def _require_clean(front: str, first_line: int) -> None:
    """Refuse before parsing what YAML readers do not agree on, and what would take long."""
    if len(front) > MAX_FRONT_CHARACTERS:
        message = f"the front matter has more than {MAX_FRONT_CHARACTERS} characters"
        raise UnreadableError([Problem(rule="too-large", message=message, line=first_line, column=1)])
    forbidden = _FORBIDDEN.search(front)
    if forbidden:
        line, column = _position(front, forbidden.start())
        what, rule = (
            ("a tab", "tab")
            if forbidden[0] == "\t"
            else (f"the character U+{ord(forbidden[0]):04X}", "control-character")
        )
        message = f"{what} in the front matter"
        raise UnreadableError([Problem(rule=rule, message=message, line=first_line + line - 1, column=column)])
    fence = _FENCE_INSIDE.search(front)
    if fence:
        line, _ = _position(front, fence.start())
        message = "a line of the front matter starts with ---, ... or %"
        raise UnreadableError([Problem(rule="second-document", message=message, line=first_line + line - 1, column=1)])


class _Scanner:
    """One pass over the events of one front matter."""

    def __init__(self, front: str, first_line: int, problems: list[Problem]) -> None:
        self.front = front
        self.first_line = first_line
        self.problems = problems  # refused: the value is there, outside the subset
        self.broken: list[Problem] = []  # the file is unreadable
        self.entries: list[_Entry] = []

    def run(self, parser: Any) -> None:
        yaml = _yaml()
        ScalarEvent, MappingStart, MappingEnd = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.MappingEndEvent
        get = parser.get_event
        get()  # start of the stream
        event = get()
        if type(event) is yaml.StreamEndEvent:
            return
        event = get()
        if type(event) is not MappingStart or event.flow_style or event.anchor or event.tag:
            self._break("not-a-mapping", "the front matter is not a list of “key: value” lines", event.start_mark)
            return
        seen: set[str] = set()
        event = get()
        while type(event) is not MappingEnd:
            key = event
            if type(key) is not ScalarEvent:
                self._break("bad-key", "a key is one plain word", key.start_mark)
                return
            event = get()
            entry = self._entry(key, event, get)
            name = entry.key if entry.key.isascii() else normalize("NFC", entry.key)
            if name in seen:
                shown = escape_hidden(name, single_line=True)[:MAX_KEY_CHARACTERS]
                self._break("duplicate-key", f"the key {shown} is written twice", key.start_mark, shown)
            seen.add(name)
            self.entries.append(entry)
            event = get()
        get()  # end of the document
        event = get()
        if type(event) is not yaml.StreamEndEvent:
            self._break("second-document", "the front matter holds a second document", event.start_mark)
        self._fill_refused()

    def _entry(self, key: Any, event: Any, get: Any) -> _Entry:
        start, end = key.start_mark, key.end_mark
        is_fine = self._check_key(key)
        form, value, items, last = self._value(event, get, key.value)
        if not is_fine:
            form, value = "refused", ""
        return _Entry(
            key=key.value,
            key_start=start.index,
            key_end=end.index,
            line=start.line,
            form=form,
            value=value,
            start=event.start_mark.index,
            end=last.index,
            items=items,
        )

    def _check_key(self, key: Any) -> bool:
        text: str = key.value
        source = self.front[key.start_mark.index : key.end_mark.index]
        if key.anchor or key.tag:
            self._refuse("anchor" if key.anchor else "tag", "a key has no anchor and no tag", key.start_mark)
        elif text == "<<":
            self._refuse("merge-key", "merge keys (<<) are not part of the format", key.start_mark)
        elif source != text:
            self._refuse("quoted-key", "a key is written without quotes", key.start_mark)
        elif key.start_mark.column != 0:
            self._refuse("indented-key", "a key starts in the first column", key.start_mark)
        elif len(text) > MAX_KEY_CHARACTERS or not _PLAIN_KEY.fullmatch(text):
            self._refuse("bad-key", "a key has letters, digits, dashes, dots and underscores", key.start_mark)
        elif not self.front.startswith(":", key.end_mark.index):
            self._refuse("bad-key", "the colon follows its key directly", key.start_mark)
        else:
            return True
        return False

    def _value(self, event: Any, get: Any, key: str) -> tuple[str, FrontValue, tuple[tuple[int, int], ...], Any]:
        """Return form, value, places of a block list's items, and the end mark."""
        yaml = _yaml()
        kind = type(event)
        if kind is yaml.ScalarEvent:
            is_fine = self._check_scalar(event, key)
            form = "refused" if not is_fine else "quoted" if event.style in {"'", '"'} else "scalar"
            return form, event.value, (), event.end_mark
        if kind is yaml.SequenceStartEvent and not event.anchor and not event.tag:
            return self._list(event, get, key)
        self._refuse_node(event, key)
        return "refused", "", (), self._skip(event, get)

    def _list(self, start: Any, get: Any, key: str) -> tuple[str, FrontValue, tuple[tuple[int, int], ...], Any]:
        yaml = _yaml()
        values: list[str] = []
        items: list[tuple[int, int]] = []
        is_fine = True
        last = start.end_mark
        event = get()
        while type(event) is not yaml.SequenceEndEvent:
            if type(event) is yaml.ScalarEvent:
                is_fine = self._check_scalar(event, key) and is_fine
                values.append(event.value)
                items.append((event.start_mark.index, event.end_mark.index))
                last = event.end_mark
            else:
                is_fine = False
                self._refuse_node(event, key)
                last = self._skip(event, get)
            event = get()
        if not is_fine:
            return "refused", "", (), last
        if start.flow_style:
            return "flow", tuple(values), (), event.end_mark
        return "block", tuple(values), tuple(items), last

    def _check_scalar(self, event: Any, key: str) -> bool:
        """Return whether a scalar is in the subset: no anchor, no tag, and the text that stands there."""
        if event.anchor or event.tag:
            self._refuse_node(event, key)
            return False
        source = self.front[event.start_mark.index : event.end_mark.index]
        value: str = event.value
        if source == value and "\n" not in source:  # plain, the usual case
            return True
        if event.style in {"|", ">"}:
            self._refuse("block-scalar", "block scalars (| and >) are not part of the format", event.start_mark, key)
        elif "\n" in source:
            self._refuse("multi-line-value", "a value stands on one line", event.start_mark, key)
        elif event.style == "'" and source[1:-1].replace("''", "'") == value:
            return True
        elif event.style == '"' and _unescape(source[1:-1]) == value:
            if "\\" not in source or not find_hidden(value):
                return True
            self._refuse("hidden-escape", "an escape stands for a character that cannot be seen", event.start_mark, key)
        else:
            self._break(
                "bad-escape", "a quoted value with an escape that is not part of the format", event.start_mark, key
            )
        return False

    def _refuse_node(self, event: Any, key: str) -> None:
        yaml = _yaml()
        if type(event) is yaml.AliasEvent:
            self._refuse("alias", "aliases (*) are not part of the format", event.start_mark, key)
        elif event.anchor:
            self._refuse("anchor", "anchors (&) are not part of the format", event.start_mark, key)
        elif event.tag:
            self._refuse("tag", "tags (!) are not part of the format", event.start_mark, key)
        elif type(event) is yaml.MappingStartEvent:
            self._refuse("nested-map", "a value is text or a list of texts, not a map", event.start_mark, key)
        else:
            self._refuse("nested-list", "a list holds texts, not lists", event.start_mark, key)

    def _skip(self, event: Any, get: Any) -> Any:
        """Read to the end of the node that ``event`` starts; return its end mark."""
        yaml = _yaml()
        starts, ends = (yaml.MappingStartEvent, yaml.SequenceStartEvent), (yaml.MappingEndEvent, yaml.SequenceEndEvent)
        depth = int(isinstance(event, starts))
        while depth:
            event = get()
            depth += isinstance(event, starts) - isinstance(event, ends)
            if depth > MAX_DEPTH:
                message = f"the front matter is nested more than {MAX_DEPTH} deep"
                raise UnreadableError([self._problem("too-deep", message, event.start_mark, None)])
        return event.end_mark

    def _fill_refused(self) -> None:
        """Give each refused entry the text that stands in the file for it."""
        for at, entry in enumerate(self.entries):
            if entry.form == "refused":
                stop = self.entries[at + 1].key_start if at + 1 < len(self.entries) else len(self.front)
                source = self.front[entry.key_end : stop].strip().removeprefix(":").strip()
                self.entries[at] = entry._replace(value=source)

    def _problem(self, rule: str, message: str, mark: Any, key: str | None) -> Problem:
        field = None if key is None else escape_hidden(key, single_line=True)[:MAX_KEY_CHARACTERS]
        return Problem(
            rule=rule, message=message, field=field, line=self.first_line + mark.line, column=mark.column + 1
        )

    def _refuse(self, rule: str, message: str, mark: Any, key: str | None = None) -> None:
        self.problems.append(self._problem(rule, message, mark, key))

    def _break(self, rule: str, message: str, mark: Any, key: str | None = None) -> None:
        self.broken.append(self._problem(rule, message, mark, key))


def _unescape(source: str) -> str | None:
    """Return the content of a double-quoted scalar; None where an escape is not in the subset."""
    if "\\" not in source:
        return source
    parts: list[str] = []
    at = 0
    while (found := source.find("\\", at)) >= 0:
        escape = _ESCAPE.match(source, found)
        if escape is None:
            return None
        parts.append(source[at:found])
        if escape[1]:
            parts.append(_ESCAPED[escape[1]])
        else:
            code = int(escape[2] or escape[3] or escape[4], 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                return None
            parts.append(chr(code))
        at = escape.end()
    return "".join([*parts, source[at:]])


# --- writing ----------------------------------------------------------------------------------------

_WRITABLE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_PLAIN = re.compile(r"[^\W_](?:[\w ./@+=()<>~;*%$^&!?,:'-]*[\w./@+=()<>~;*%$^&!?,'-])?|[./][\w./@+-]+")
# YAML 1.1 or 1.2 reads these as no text; a date is one that both sides mean.
_NO_TEXT = re.compile(
    r"(?i:null|true|false|yes|no|on|off|y|n|[-+.]?[0-9.][0-9a-f_.:ox+-]*|0o?[0-7_]+|[-+]?\.(?:inf|nan))"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LINE_LENGTH = 100


def format_document(front: Mapping[str, FrontValue], body: str) -> bytes:
    """Return a whole new file: the keys in the order given, then the body.

    The file is NFC with LF line ends, without trailing blanks, and ends in one newline (TRUST 3); a
    value that is not NFC is written with escapes and comes back as it was. Raises
    :class:`InvalidMemoryError` for what would not be read back as the same document.
    """
    lines = ["---"]
    for key, value in front.items():
        lines += format_entry(key, value)
    text = "\n".join([*lines, "---", normal_body(body)])
    raw = _encode(text)
    _require_same(raw, front, normal_body(body))
    return raw


def normal_body(body: str) -> str:
    """Return ``body`` as the writer emits it: NFC, LF, no trailing blanks, one final newline."""
    lines = [line.rstrip(" \t") for line in body.replace("\r\n", "\n").split("\n")]
    text = normalize("NFC", "\n".join(lines)).strip("\n")
    return text + "\n" if text else ""


def format_entry(key: str, value: FrontValue) -> list[str]:
    """Return the lines of one key of a new file."""
    if not _WRITABLE_KEY.fullmatch(key):
        raise InvalidMemoryError(
            "a key has letters, digits, dashes and underscores", where=escape_hidden(key, single_line=True)
        )
    if isinstance(value, str):
        return [f"{key}: {format_scalar(value, where=key)}"]
    flow = f"{key}: {_format_flow(value, where=key)}"
    if value and (key == "evidence" or len(flow) > _LINE_LENGTH):
        return [f"{key}:", *(f"  - {format_scalar(item, where=key)}" for item in value)]
    return [flow]


def _format_flow(values: Sequence[str], *, where: str) -> str:
    return "[" + ", ".join(format_scalar(value, where=where, in_flow=True) for value in values) + "]"


def format_scalar(value: str, *, where: str, in_flow: bool = False, quote: bool = False) -> str:
    """Return ``value`` as a scalar: plain where every reader takes it for this text, else in double quotes."""
    forbidden = _FORBIDDEN.search(value.replace("\t", " "))
    if forbidden:
        raise InvalidMemoryError(f"the character U+{ord(forbidden[0]):04X} cannot be written", where=where)
    is_plain = (
        not quote
        and _PLAIN.fullmatch(value)
        and not (_NO_TEXT.fullmatch(value) and not _DATE.fullmatch(value))
        and ": " not in value
        and is_normalized("NFC", value)
        and not (in_flow and ("," in value or ":" in value or "?" in value))
    )
    if is_plain:
        return value
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    if not is_normalized("NFC", text):
        text = "".join(
            c if c.isascii() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in text
        )
    return f'"{text}"'


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidMemoryError("the text holds half a surrogate pair, which is no character") from None


def _require_same(raw: bytes, front: Mapping[str, FrontValue], body: str) -> None:
    """Refuse what would not come back (STYLE 3)."""
    document = parse_document(raw)
    if dict(document.front) != {key: _frozen(value) for key, value in front.items()} or document.body != body:
        raise InvalidMemoryError("this text would not be read back as it was written")


def _frozen(value: FrontValue) -> FrontValue:
    return value if isinstance(value, str) else tuple(value)


# --- changing ---------------------------------------------------------------------------------------


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def change_document(raw: bytes, changes: Mapping[str, FrontValue | None], body: str | None = None) -> bytes:
    """Return ``raw`` with some keys set (None: removed) and, if given, another body; no other byte differs.

    Order, comments, quotes, spacing, line ends and a byte order mark stay. A file without any front
    matter gets a block at its top. Raises :class:`InvalidMemoryError` (with the line) instead of
    guessing: for an unreadable file, another tool's block, a value that is refused, or a second block.
    """
    document, problems = inspect_document(raw)
    text = raw.decode("utf-8")
    layout = _find_layout(text)
    if layout is None:
        return _add_block(text, document, changes, body)
    for problem in problems:
        if problem.rule in {"second-front-matter", "lone-carriage-return"}:
            raise UnreadableError([problem])
    eol = "\r\n" if text.endswith("\r\n", 0, layout.front_start) else "\n"
    source = text[layout.front_start : layout.front_end]
    front = source.replace("\r\n", "\n")
    first_line = text.count("\n", 0, layout.front_start) + 1
    entries = {normalize("NFC", entry.key): entry for entry in _scan(front, first_line, [])}
    edits: list[_Edit] = []
    added: list[str] = []
    expected = dict(document.front)
    for key, value in changes.items():
        entry = entries.get(normalize("NFC", key))
        if entry is None:
            if value is not None:
                added += format_entry(key, value)
                expected[key] = _frozen(value)
        elif value is None:
            del expected[entry.key]
            edits.append(_removal(front, _editable(entry, first_line)))
        elif _frozen(value) != entry.value or entry.form == "refused":
            expected[entry.key] = _frozen(value)
            edits += _replacement(front, _editable(entry, first_line), value)
    if added:
        last = "" if front.endswith("\n") or not front else "\n"
        edits.append(_Edit(len(front), len(front), last + "".join(line + "\n" for line in added)))
    changed = _apply(source, front, edits, eol)
    rest = text[layout.front_end :]
    if body is not None and normal_body(body) != document.body:
        fence = text[layout.front_end : layout.body_start]
        blank = re.match(_BLANK_LINES, text[layout.body_start :])
        new_body = normal_body(body)
        if not fence.endswith("\n"):
            fence += eol
        rest = fence + (blank[0] if blank and new_body else "") + new_body.replace("\n", eol)
    result = _encode(text[: layout.front_start] + changed + rest)
    _require_changed(result, expected, problems, None if body is None else normal_body(body), document.body)
    return result


def _editable(entry: _Entry, first_line: int) -> _Entry:
    if entry.form == "refused":
        message = "this value is outside the format and cannot be changed in place; change it by hand"
        shown = escape_hidden(entry.key, single_line=True)[:MAX_KEY_CHARACTERS]
        raise UnreadableError(
            [Problem(rule="not-in-place", message=message, field=shown, line=first_line + entry.line, column=1)]
        )
    return entry


def _line_start(front: str, index: int) -> int:
    return front.rfind("\n", 0, index) + 1


def _line_stop(front: str, index: int) -> int:
    """Return the index after the newline that ends the line of ``index``."""
    found = front.find("\n", index)
    return len(front) if found < 0 else found + 1


def _removal(front: str, entry: _Entry) -> _Edit:
    return _Edit(entry.key_start, _line_stop(front, max(entry.key_end, entry.end)), "")


def _replacement(front: str, entry: _Entry, value: FrontValue) -> list[_Edit]:
    if entry.form == "block" and not isinstance(value, str) and value:
        return _block_edits(front, entry, value)
    if entry.form == "block":
        # The items go; what replaces them stands beside the key.
        start = _line_stop(front, entry.key_end)
        inline = _inline(value, entry)
        return [
            _Edit(entry.key_end + 1, entry.key_end + 1, " " + inline),
            _Edit(start, _line_stop(front, entry.end), ""),
        ]
    if entry.start <= entry.key_end + 1 or front[entry.key_end : entry.end] == ":":
        # No value yet: it goes right after the colon, before any comment.
        return [_Edit(entry.key_end + 1, entry.key_end + 1, " " + _inline(value, entry))]
    if entry.start == entry.end:
        return [_Edit(entry.key_end + 1, entry.key_end + 1, " " + _inline(value, entry))]
    return [_Edit(entry.start, entry.end, _inline(value, entry))]


def _inline(value: FrontValue, entry: _Entry) -> str:
    if isinstance(value, str):
        return format_scalar(value, where=entry.key, quote=entry.form == "quoted")
    return _format_flow(value, where=entry.key)


def _block_edits(front: str, entry: _Entry, values: Sequence[str]) -> list[_Edit]:
    """Return edits of a list in block form; the lines of items that stay are not touched."""
    old = entry.value
    first, last = 0, 0
    shorter = min(len(old), len(values))
    while first < shorter and old[first] == values[first]:
        first += 1
    while last < shorter - first and old[-1 - last] == values[-1 - last]:
        last += 1
    line = front[_line_start(front, entry.items[0][0]) : entry.items[0][0]]
    if line.strip() != "-":
        raise InvalidMemoryError("this list cannot be changed in place; change it by hand", where=entry.key)
    new = "".join(f"{line}{format_scalar(value, where=entry.key)}\n" for value in values[first : len(values) - last])
    gone = entry.items[first : len(old) - last]
    if gone:
        return [_Edit(_line_start(front, gone[0][0]), _line_stop(front, gone[-1][1]), new)]
    place = _line_stop(front, entry.items[first - 1][1]) if first else _line_start(front, entry.items[0][0])
    missing = "" if not place or front[place - 1] == "\n" else "\n"
    return [_Edit(place, place, missing + new)]


def _apply(source: str, front: str, edits: list[_Edit], eol: str) -> str:
    """Return ``source`` with ``edits``, whose indexes are into ``front`` (``source`` with LF)."""
    breaks = [found.start() - number for number, found in enumerate(re.finditer("\r\n", source))]

    def at(index: int) -> int:
        return index + bisect_left(breaks, index)

    for edit in sorted(edits, reverse=True):
        source = source[: at(edit.start)] + edit.text.replace("\n", eol) + source[at(edit.end) :]
    return source


def _add_block(text: str, document: Document, changes: Mapping[str, FrontValue | None], body: str | None) -> bytes:
    """Return a file that had no front matter with a block on top, or refuse to stack one on another's."""
    front = {key: value for key, value in changes.items() if value is not None}
    if front and _OTHER_OPENING.match(text):
        message = "the file starts with a block that is not this format's; a second one is not put on top of it"
        raise UnreadableError(
            [
                Problem(
                    rule="would-stack",
                    message=message,
                    line=_position(text, len(text) - len(text.lstrip("\ufeff \t\r\n")))[0],
                    column=1,
                )
            ]
        )
    eol = "\r\n" if "\r\n" in text else "\n"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text.removeprefix("\ufeff")
    if body is not None and normal_body(body) != document.body:
        rest = normal_body(body).replace("\n", eol)
    lines = [line for key, value in front.items() for line in format_entry(key, value)]
    block = "".join(line + eol for line in ["---", *lines, "---"]) if front else ""
    result = _encode(mark + block + rest)
    _require_changed(result, front, (), None if body is None else normal_body(body), document.body)
    return result


def _require_changed(
    raw: bytes,
    expected: Mapping[str, FrontValue],
    problems: Sequence[Problem],
    body: str | None,
    old_body: str,
) -> None:
    """Refuse a change that would be read as anything but what was asked for."""
    document, now = inspect_document(raw)
    is_body_right = document.body == old_body if body is None else normal_body(document.body) == body
    new_rules = {problem.rule for problem in now} - {problem.rule for problem in problems}
    if dict(document.front) != expected or not is_body_right or new_rules:
        raise InvalidMemoryError("this change cannot be made in place; change the file by hand")
