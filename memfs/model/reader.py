"""A memory file as one value: bytes in, :class:`Memory` and all problems out (DESIGN 3). Pure.

The bytes are read once by the caller; the digest, the document and the memory all come from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TypeVar
from unicodedata import normalize

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden
from memfs.model.evidence import parse_date, parse_evidence
from memfs.model.frontmatter import (
    UnreadableError,
    change_document,
    inspect_document,
    require_same,
    write_document,
)
from memfs.model.memory import Document, Evidence, FrontValue, Kind, Memory, MemoryFile, Origin, Problem
from memfs.model.scope import is_scope, scope_of_path
from memfs.model.slugs import is_id, require_id
from memfs.model.triggers import parse_trigger

REQUIRED = ("kind", "origin", "scope", "evidence", "recorded", "review_trigger")
LISTS = ("evidence", "applies_to", "tags", "supersedes", "allow")
FIELDS = (
    "title",
    "kind",
    "origin",
    "scope",
    "evidence",
    "recorded",
    "review_trigger",
    "author",
    "applies_to",
    "tags",
    "supersedes",
    "expires",
    "allow",
)
"""Every field that memfs knows, in the order of a file that it writes."""

_TAG_KEYS = ("tags", "tag")

T = TypeVar("T")


def content_digest(raw: bytes) -> str:
    """Return the hex SHA-256 of ``raw`` with CRLF replaced by LF (TRUST 3); nothing else is normalised."""
    return sha256(raw.replace(b"\r\n", b"\n")).hexdigest()


def id_of_path(path: str) -> str:
    """Return the id that the file name ``…/<id>.md`` gives, "" where its stem is not an id."""
    name = path.rsplit("/", 1)[-1]
    stem = name.removesuffix(".md")
    return stem if stem != name and is_id(stem) else ""


def statement_of_body(body: str) -> str:
    """Return the first paragraph of ``body``; headings above it are passed over."""
    paragraph: list[str] = []
    for line in body.split("\n"):
        if line.strip():
            if paragraph or not _is_heading(line):
                paragraph.append(line)
        elif paragraph:
            break
    return "\n".join(paragraph).strip()


def _is_heading(line: str) -> bool:
    marks = len(line) - len(line.lstrip("#"))
    return 1 <= marks <= 6 and (len(line) == marks or line[marks] in " \t")


def find_tags(front: Mapping[str, FrontValue]) -> tuple[str, ...]:
    """Return the tags that ``front`` gives under ``tags`` or ``tag`` in any case.

    A list gives one tag an item, text is split at its commas; a tag that differs from an earlier one
    only in case is left out.
    """
    tags: dict[str, str] = {}
    for key, value in front.items():
        if key.casefold() in _TAG_KEYS:
            for tag in value.split(",") if isinstance(value, str) else value:
                if tag.strip():
                    tags.setdefault(normalize("NFC", tag.strip()).casefold(), tag.strip())
    return tuple(tags.values())


def read_memory(path: str, raw: bytes) -> MemoryFile:
    """Return what one file holds, with all its problems; never raises.

    ``path`` is ``memories/<scope>/<id>.md``, POSIX, relative to the work tree.
    """
    digest = content_digest(raw)
    memory_id = id_of_path(path)
    try:
        document, found = inspect_document(raw)
    except UnreadableError as error:
        return MemoryFile(
            id=memory_id, path=path, raw=raw, digest=digest, document=None, memory=None, problems=error.problems
        )
    check = _Check(path, memory_id, document, list(found))
    memory = check.run()
    return MemoryFile(
        id=memory_id,
        path=path,
        raw=raw,
        digest=digest,
        document=document,
        memory=memory,
        problems=tuple(sorted(check.problems, key=_severity)),
    )


def require_memory(file: MemoryFile) -> Memory:
    """Return the memory of ``file``; raise :class:`InvalidMemoryError` with its path and line otherwise."""
    if file.memory is not None:
        return file.memory
    fatal = [problem for problem in file.problems if problem.fatal]
    where = _where(file.path, fatal[0] if fatal else None)
    raise InvalidMemoryError("; ".join(map(str, fatal)) or "is not a memory", where=where)


def change_memory(file: MemoryFile, changes: Mapping[str, FrontValue | None], body: str | None = None) -> bytes:
    """Return the bytes of ``file`` with some fields set (None: removed) and, if given, another body.

    As :func:`memfs.model.frontmatter.change_document`, but what it refuses is told with the file's path.
    """
    try:
        return change_document(file.raw, changes, body)
    except UnreadableError as error:
        raise InvalidMemoryError(str(error.problems[0]), where=_where(file.path, error.problems[0])) from None


def _where(path: str, problem: Problem | None) -> str:
    shown = escape_hidden(path, single_line=True)
    if problem is None or problem.line is None:
        return shown
    return f"{shown}:{problem.line}:{problem.column or 1}"


def _severity(problem: Problem) -> bool:
    return not problem.fatal


def make_memory(path: str, front: Mapping[str, FrontValue], body: str) -> MemoryFile:
    """Return the file at ``path`` that these fields and this text make, its known fields in canonical order.

    Raises :class:`InvalidMemoryError` when it would not be read back as it was given, or is not a memory.
    """
    listed: dict[str, FrontValue] = {
        key: (value,) if key in LISTS and isinstance(value, str) else value for key, value in front.items()
    }
    if "tags" in front:
        listed["tags"] = find_tags({"tags": front["tags"]})
    ordered = {key: listed[key] for key in (*FIELDS, *listed) if key in listed}
    raw = write_document(ordered, body)
    file = read_memory(path, raw)
    require_memory(file)
    assert file.document is not None
    require_same(file.document, ordered, body)
    return file


class _Check:
    """All checks of one document; collects problems instead of stopping at the first."""

    def __init__(self, path: str, memory_id: str, document: Document, problems: list[Problem]) -> None:
        self.path = path
        self.id = memory_id
        self.document = document
        self.front = document.front
        self.problems = problems
        self.refused = {problem.field for problem in problems if problem.fatal}

    def run(self) -> Memory | None:
        document = self.document
        if not self.id:
            self._add(
                "bad-id", "the file's name is not an id with .md: lower-case letters, digits and dashes, at most 64"
            )
        if not document.has_front:
            self._add("no-front-matter", "the file has no front matter between --- lines", line=1)
        self._check_keys()
        self._check_required()
        kind = self._one_of("kind", Kind)
        origin = self._one_of("origin", Origin)
        scope = self._scope()
        evidence = self._evidence()
        recorded = self._parsed("recorded", parse_date)
        trigger = self._parsed("review_trigger", parse_trigger)
        expires = self._parsed("expires", parse_date)
        author = self._text("author")
        title = self._text("title", is_single_line=False)
        applies_to = self._list("applies_to")
        supersedes = self._supersedes()
        allow = self._list("allow")
        tags = find_tags(self.front)
        statement = statement_of_body(document.body)
        if not statement:
            self._add("no-statement", "the text below the front matter has no first paragraph")
        if any(problem.fatal for problem in self.problems):
            return None
        if not (kind and origin and scope and evidence and recorded and trigger):
            raise AssertionError("a field without a value has no problem")
        return Memory(
            id=self.id,
            path=self.path,
            kind=kind,
            origin=origin,
            scope=scope,
            evidence=evidence,
            recorded=recorded,
            review_trigger=trigger,
            statement=statement,
            body=document.body,
            title=title,
            author=author,
            tags=tags,
            applies_to=applies_to,
            supersedes=supersedes,
            allow=allow,
            expires=expires,
        )

    def _check_required(self) -> None:
        for key in REQUIRED if self.document.has_front else ():
            if key not in self.front:
                self._add("missing-field", "this required field is missing", field=key)
        if self.front.get("kind") == Kind.HANDOFF.value and "expires" not in self.front:
            self._add("missing-field", "a handoff needs the day on which it expires", field="expires")

    def _add(
        self, rule: str, message: str, *, field: str | None = None, line: int | None = None, fatal: bool = True
    ) -> None:
        line = self.document.lines.get(field, line) if field else line
        self.problems.append(
            Problem(rule=rule, message=message, field=field, line=line, column=line and 1, fatal=fatal)
        )

    def _check_keys(self) -> None:
        for key in self.front:
            if key in FIELDS:
                continue
            shown = escape_hidden(key, single_line=True)
            folded = normalize("NFKC", key).casefold().replace("-", "_").replace(" ", "_")
            line = self.document.lines.get(key)
            if key.casefold() in _TAG_KEYS:
                self._add("tag-key", "counts as tags", field=shown, line=line, fatal=False)
            elif find_like(folded):
                # Another reader may fold the case: it would see a field where this one sees none.
                self._add("look-alike-key", f"is written {find_like(folded)}", field=shown, line=line)
            else:
                self._add("unknown-key", "is not a field of a memory; it is kept", field=shown, line=line, fatal=False)

    def _one_of(self, key: str, kinds: type[T]) -> T | None:
        return self._parsed(key, lambda text: _member(kinds, text))

    def _parsed(self, key: str, parse: Callable[[str], T]) -> T | None:
        """Return the parsed value of a text field; None, with a problem, where it is badly formed."""
        value = self.front.get(key)
        if value is None or key in self.refused:
            return None
        if not isinstance(value, str):
            self._add("bad-type", "must be one text, not a list", field=key)
            return None
        try:
            return parse(value)
        except InvalidMemoryError as error:
            self._add("bad-value", error.message, field=key)
            return None

    def _scope(self) -> str | None:
        scope = self._parsed("scope", _require_scope)
        if scope is not None and scope != scope_of_path(self.path):
            self._add("scope-folder", "must equal the folder that the file is in below memories/", field="scope")
        return scope

    def _text(self, key: str, *, is_single_line: bool = True) -> str | None:
        def parse(text: str) -> str:
            if not text.strip() or (is_single_line and "\n" in text):
                raise InvalidMemoryError("must be text on one line" if is_single_line else "must be text")
            return text

        return self._parsed(key, parse)

    def _list(self, key: str, parse: Callable[[str], object] | None = None) -> tuple[str, ...]:
        value = self.front.get(key)
        if value is None or key in self.refused:
            return ()
        if isinstance(value, str):
            self._add("bad-type", "must be a list, like [one, two]", field=key)
            return ()
        for item in value:
            try:
                if not item.strip() or "\n" in item:
                    raise InvalidMemoryError("each item must be text on one line")
                if parse:
                    parse(item)
            except InvalidMemoryError as error:
                self._add("bad-value", error.message, field=key)
        return value

    def _evidence(self) -> tuple[Evidence, ...]:
        parsed: list[Evidence] = []
        value = self._list("evidence", lambda text: parsed.append(parse_evidence(text)))
        if value == () and isinstance(self.front.get("evidence"), tuple):
            self._add("bad-value", "must name at least one piece of evidence", field="evidence")
        return tuple(parsed)

    def _supersedes(self) -> tuple[str, ...]:
        value = self._list("supersedes", require_id)
        if self.id and self.id in value:
            self._add("bad-value", "must not name the memory itself", field="supersedes")
        return value


def find_like(folded: str) -> str | None:
    """Return the field that a key folded to lower case and underscores would be, or None."""
    return folded if folded in FIELDS and folded != "tags" else None


def _member(kinds: type[T], text: str) -> T:
    members: Sequence[str] = [str(member) for member in kinds]  # type: ignore[attr-defined]
    if text not in members:
        raise InvalidMemoryError(f"must be one of {', '.join(members)}")
    return kinds(text)  # type: ignore[call-arg]


def _require_scope(text: str) -> str:
    if not is_scope(text):
        raise InvalidMemoryError("must be personal, team, team/NAME or restricted/NAME")
    return text
