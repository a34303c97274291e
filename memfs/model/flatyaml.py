"""The flat subset of YAML that front matter is written in: keys, texts, lists of texts (DESIGN 3). Pure.

The writer is in :mod:`memfs.model.edits`. The reader takes PyYAML's events and then asks more
than YAML does: every scalar must be the very text that is in the file, on one line, so that no
second reader (another YAML library, a site generator, a person) can see another value.

Two degrees of refusal. A block is *unreadable* when nobody can say which keys and values it has
(:class:`UnreadableError`). A value is *refused* when it is clear YAML outside the subset (a nested map,
an anchor, a block scalar): it is given as its source text, with a fatal problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unicodedata import normalize

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden, find_hidden
from memfs.model.memory import FrontValue, Problem
from memfs.model.simpleyaml import read_simple

MAX_FRONT_CHARACTERS = 32 * 1024
MAX_DEPTH = 16
MAX_KEY_CHARACTERS = 64

_WORD = r"\w(?:[\w.-]*\w)?"
KEY = rf"{_WORD}(?: {_WORD}){{0,3}}"

# Patterns are compiled where they are first used: a hook that reads one memory needs two of them.

# What readers do not agree on: controls, the separators that only YAML 1.1 knows, marks. TAB is refused
# too: libyaml, PyYAML and YAML 1.2 each allow it in other places.
FORBIDDEN = "[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_FORBIDDEN_ASCII = "[^\n\x20-\x7e]"
_FENCE_INSIDE = r"(?m)^(?:---|\.\.\.|%)"
_ESCAPE = r"\\(?:([\"\\/nt])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))"
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "t": "\t"}


class UnreadableError(InvalidMemoryError):
    """A file that cannot be read as text with front matter; ``problems`` says where and why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        where = None if first.line is None else f"line {first.line}, column {first.column or 1}"
        super().__init__(first.message, where=where)
        self.problems = tuple(problems)


def unreadable(rule: str, message: str, *, line: int | None = None, column: int | None = None) -> UnreadableError:
    """Return the error of a file with this one problem."""
    return UnreadableError([Problem(rule=rule, message=message, line=line, column=column)])


class Entry(NamedTuple):
    """One key and its value. Indexes are into the block's text; ``line`` counts its lines from 0."""

    key: str
    value: FrontValue
    form: str  # "plain", "quoted", "flow", "block", or "refused"
    line: int
    key_start: int
    key_end: int
    start: int  # of the value
    end: int
    items: tuple[tuple[int, int], ...] = ()  # start and end of each item of a list


def position(text: str, index: int) -> tuple[int, int]:
    """Return line and column of ``index``, both from 1."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


# --- reading ----------------------------------------------------------------------------------------


def scan(block: str, first_line: int, problems: list[Problem], *, parser: str | None = None) -> list[Entry]:
    """Return the entries of a block of front matter; append what is refused to ``problems``.

    ``block`` has LF line ends; ``first_line`` is its line in the file. ``parser`` ("libyaml" or "pure")
    is for tests, which hold all readings against each other. Raises :class:`UnreadableError`.
    """
    _require_clean(block, first_line)
    if parser is None and (entries := scan_simple(block)) is not None:
        return entries
    import yaml

    scanner = _Scanner(block, first_line, problems)
    pure: Any = yaml.SafeLoader
    loader = pure if parser == "pure" else getattr(yaml, "CSafeLoader", pure)
    try:
        scanner.run(yaml.parse(block, Loader=loader).__next__)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (first_line + mark.line, mark.column + 1) if mark else (first_line, 1)
        reason = escape_hidden(str(error.problem or error.context), single_line=True)[:120]
        raise unreadable(
            "bad-yaml", f"the front matter is not valid YAML: {reason}", line=line, column=column
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError):  # the last two: PyYAML's own parser on \Uffffffff
        raise unreadable("bad-yaml", "the front matter is not valid YAML", line=first_line, column=1) from None
    if scanner.broken:
        raise UnreadableError([*scanner.broken, *problems])
    return scanner.entries


def scan_simple(block: str) -> list[Entry] | None:
    """Return the entries of a block that only has the simplest lines, None for any other.

    It gives exactly what :func:`scan` gives, twice as fast; tests hold it there.
    """
    found = read_simple(block)
    if found is None or not isinstance(found.value, dict):
        return None
    entries = []
    for key, one in found.value.items():
        if isinstance(one.value, dict) or len(key) > MAX_KEY_CHARACTERS or "/" in key:
            return None
        value: FrontValue = ""
        places: tuple[tuple[int, int], ...] = ()
        if isinstance(one.value, str):
            value = one.value
        else:
            value = tuple(item.value for item in one.value if isinstance(item.value, str))
            places = tuple((item.start, item.end) for item in one.value)
            if len(value) < len(places):
                return None
        start = places[0][0] if one.form == "block" else one.start
        line = block.count("\n", 0, one.key)
        entries.append(Entry(key, value, one.form, line, one.key, one.key + len(key), start, one.end, places))
    return entries


def _require_clean(block: str, first_line: int) -> None:
    """Refuse before parsing what YAML readers do not agree on, and what would take long."""
    if len(block) > MAX_FRONT_CHARACTERS:
        raise unreadable("too-large", f"the front matter has over {MAX_FRONT_CHARACTERS} characters", line=first_line)
    rule, message, index = "", "", 0
    # The whole class takes 4 ms to compile, and most front matter is ASCII.
    if found := re.search(_FORBIDDEN_ASCII if block.isascii() else FORBIDDEN, block):
        index = found.start()
        is_tab = found[0] == "\t"
        rule = "tab" if is_tab else "control-character"
        message = f"{'a tab' if is_tab else f'the character U+{ord(found[0]):04X}'} is in the front matter"
    elif found := re.search(_FENCE_INSIDE, block):
        rule, index = "second-document", found.start()
        message = "a line of the front matter starts with ---, ... or %"
    elif block.count("[") + block.count("{") > MAX_DEPTH and (deep := _find_deep(block)) is not None:
        rule, message, index = "too-deep", f"brackets are nested more than {MAX_DEPTH} deep", deep
    if rule:
        line, column = position(block, index)
        raise unreadable(rule, message, line=first_line + line - 1, column=column)


def _find_deep(block: str) -> int | None:
    depth = 0
    for found in re.finditer(r"[\[\]{}]", block):
        depth += 1 if found[0] in "[{" else -1
        if depth > MAX_DEPTH:
            return found.start()
    return None


Places = tuple[tuple[int, int], ...]
Value = tuple[str, FrontValue, int, int, Places]  # form, value, start, end, items


class _Scanner:
    """One pass over the events of one block."""

    def __init__(self, block: str, first_line: int, problems: list[Problem]) -> None:
        from yaml import events

        self.events: Any = events
        self.block = block
        self.first_line = first_line
        self.problems = problems  # of values that are refused
        self.broken: list[Problem] = []  # the block is unreadable
        self.entries: list[Entry] = []

    def run(self, get: Callable[[], Any]) -> None:
        events = self.events
        get()  # start of the stream
        event = get()
        if type(event) is events.StreamEndEvent:
            return
        event = get()
        if type(event) is not events.MappingStartEvent or event.flow_style or event.anchor or event.tag:
            self._break("not-a-mapping", "the front matter is not a list of “key: value” lines", event.start_mark)
            return
        seen: set[str] = set()
        while type(event := get()) is not events.MappingEndEvent:
            if type(event) is not events.ScalarEvent:
                self._break("bad-key", "a key is one plain word", event.start_mark)
                return
            self._entry(event, get(), get, seen)
        get()  # end of the document
        event = get()
        if type(event) is not events.StreamEndEvent:
            self._break("second-document", "the front matter contains a second document", event.start_mark)
        self._fill_refused()

    def _entry(self, key: Any, event: Any, get: Any, seen: set[str]) -> None:
        name: str = key.value
        mark = key.start_mark
        normal = name if name.isascii() else normalize("NFC", name)
        if normal in seen:
            shown = escape_hidden(normal, single_line=True)[:MAX_KEY_CHARACTERS]
            self._break("duplicate-key", f"the key {shown} is written twice", mark, shown)
        seen.add(normal)
        is_fine = self._check_key(key)
        form, value, start, end, items = self._value(event, get, name)
        if form == "plain" and value == "":  # where nothing stands, the marks differ
            start = end = key.end_mark.index + 1
        if not is_fine:
            form, value, items = "refused", "", ()
        elif value == "" and form == "plain" and self._line_after(key).lstrip(" ").startswith("#"):
            message = "has no value: what follows # is a comment; put the text in quotes to keep it"
            self.problems.append(self._problem("comment-for-value", message, mark, name, fatal=False))
        self.entries.append(Entry(name, value, form, mark.line, mark.index, key.end_mark.index, start, end, items))

    def _line_after(self, key: Any) -> str:
        start = key.end_mark.index + 1
        stop = self.block.find("\n", start)
        return self.block[start : stop if stop >= 0 else None]

    def _check_key(self, key: Any) -> bool:
        text: str = key.value
        mark = key.start_mark
        if key.anchor or key.tag:
            self._refuse("anchor" if key.anchor else "tag", "a key has no anchor and no tag", mark)
        elif text == "<<":
            self._refuse("merge-key", "merge keys (<<) are not part of the format", mark)
        elif self.block[mark.index : key.end_mark.index] != text:
            self._refuse("quoted-key", "a key is written without quotes", mark)
        elif mark.column != 0:
            self._refuse("indented-key", "a key starts in the first column", mark)
        elif len(text) > MAX_KEY_CHARACTERS or not re.fullmatch(KEY, text):
            self._refuse("bad-key", "a key has letters, digits, dashes, dots and underscores", mark)
        elif not self.block.startswith(":", key.end_mark.index):
            self._refuse("bad-key", "the colon follows its key directly", mark)
        else:
            return True
        return False

    def _value(self, event: Any, get: Any, key: str) -> Value:
        kind = type(event)
        start = event.start_mark.index
        if kind is self.events.ScalarEvent:
            form = (
                "refused" if not self._check_scalar(event, key) else "quoted" if event.style in ('"', "'") else "plain"
            )
            return form, event.value, start, event.end_mark.index, ()
        if kind is self.events.SequenceStartEvent and not event.anchor and not event.tag:
            return self._list(event, get, key)
        self._refuse_node(event, key)
        return "refused", "", start, self._skip(event, get), ()

    def _list(self, opening: Any, get: Any, key: str) -> Value:
        values: list[str] = []
        items: list[tuple[int, int]] = []
        is_fine = True
        while type(event := get()) is not self.events.SequenceEndEvent:
            if type(event) is self.events.ScalarEvent:
                is_fine = self._check_scalar(event, key, in_flow=opening.flow_style) and is_fine
                values.append(event.value)
                items.append((event.start_mark.index, event.end_mark.index))
            else:
                is_fine = False
                self._refuse_node(event, key)
                self._skip(event, get)
        start, end = opening.start_mark.index, event.end_mark.index
        if opening.flow_style and re.search(r"\n[^ \n]", self.block[start:end]):
            # YAML 1.2 wants this; PyYAML reads it all the same.
            self._refuse("bad-item", "a list that goes on below is indented there", opening.start_mark, key)
            is_fine = False
        if opening.flow_style and self.block.startswith("#", end):
            self._refuse("bad-comment", "a comment has a blank before its #", event.end_mark, key)
            is_fine = False
        if not is_fine:
            return "refused", "", start, end, ()
        if opening.flow_style:
            return "flow", tuple(values), start, end, tuple(items)
        # The end of a list in block form is where the next token starts: far below, maybe.
        return "block", tuple(values), items[0][0], items[-1][1], tuple(items)

    def _check_scalar(self, event: Any, key: str, *, in_flow: bool = False) -> bool:
        """Return whether a scalar is in the subset: no anchor, no tag, and the text that is there."""
        if event.anchor or event.tag:
            self._refuse_node(event, key)
            return False
        source = self.block[event.start_mark.index : event.end_mark.index]
        value: str = event.value
        if source == value and "\n" not in source:  # plain, the usual case
            if not (in_flow and ("?" in value or value == "-")):
                return True
            # libyaml reads these; the pure parser, or YAML 1.2, does not.
            self._refuse("bad-item", "an item with ? and an item - are written in quotes", event.start_mark, key)
            return False
        if event.style in ('"', "'") and self.block.startswith("#", event.end_mark.index):
            self._refuse("bad-comment", "a comment has a blank before its #", event.end_mark, key)
            return False
        if event.style in ("|", ">"):
            self._refuse("block-scalar", "block scalars (| and >) are not part of the format", event.start_mark, key)
        elif "\n" in source:
            self._refuse("multi-line-value", "a text is on one line", event.start_mark, key)
        elif event.style == "'" and source[1:-1].replace("''", "'") == value:
            return True
        elif event.style == '"' and _unescape(source[1:-1]) == value:
            if "\\" not in source or not find_hidden(value):
                return True
            self._refuse("hidden-escape", "an escape stands for a character that nobody sees", event.start_mark, key)
        else:
            self._break("bad-escape", "an escape is not part of the format", event.start_mark, key)
        return False

    def _refuse_node(self, event: Any, key: str) -> None:
        mark = event.start_mark
        if type(event) is self.events.AliasEvent:
            self._refuse("alias", "aliases (*) are not part of the format", mark, key)
        elif event.anchor:
            self._refuse("anchor", "anchors (&) are not part of the format", mark, key)
        elif event.tag:
            self._refuse("tag", "tags (!) are not part of the format", mark, key)
        elif type(event) is self.events.MappingStartEvent:
            self._refuse("nested-map", "a value is a text or a list of texts, not a map", mark, key)
        else:
            self._refuse("nested-list", "a list holds texts, not lists", mark, key)

    def _skip(self, event: Any, get: Any) -> int:
        """Read to the end of the node that ``event`` starts; return its end."""
        starts = (self.events.MappingStartEvent, self.events.SequenceStartEvent)
        ends = (self.events.MappingEndEvent, self.events.SequenceEndEvent)
        depth = int(isinstance(event, starts))
        while depth:
            event = get()
            depth += isinstance(event, starts) - isinstance(event, ends)
            if depth > MAX_DEPTH:
                message = f"values are nested more than {MAX_DEPTH} deep"
                raise UnreadableError([self._problem("too-deep", message, event.start_mark, None)])
        end: int = event.end_mark.index
        return end

    def _fill_refused(self) -> None:
        """Give each refused entry the text that the file has for it."""
        stop = len(self.block)
        for at in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[at]
            if entry.form == "refused":
                lines = self.block[entry.key_end : stop].rstrip().split("\n")
                while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
                    lines.pop()  # a comment above the next key
                source = "\n".join(lines).strip().removeprefix(":").strip()
                self.entries[at] = entry._replace(value=source)
            stop = entry.key_start

    def _problem(self, rule: str, message: str, mark: Any, key: str | None, *, fatal: bool = True) -> Problem:
        field = None if key is None else escape_hidden(key, single_line=True)[:MAX_KEY_CHARACTERS]
        line = self.first_line + mark.line
        return Problem(rule=rule, message=message, field=field, line=line, column=mark.column + 1, fatal=fatal)

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
    escapes = re.compile(_ESCAPE)
    while (found := source.find("\\", at)) >= 0:
        escape = escapes.match(source, found)
        if escape is None:
            return None
        parts.append(source[at:found])
        if escape[1]:
            parts.append(_ESCAPED[escape[1]])
        else:
            code = int(escape[2] or escape[3] or escape[4], 16)
            # A number for an ASCII letter only hides a word from whoever reads the file.
            if code < 0xA0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                return None
            parts.append(chr(code))
        at = escape.end()
    return "".join([*parts, source[at:]])
