"""Kinds of sources, as a table of readers: each turns one file into pieces.

To add one, write a reader and a row of ``data/kinds.txt``.

A reader gets the path (relative to what was named), the bytes and the file as the lenient reader sees it. It raises
:class:`InvalidMemoryError` for a file that it cannot read; the other files go on.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

from memfs.errors import InvalidMemoryError
from memfs.importing.source import (
    Candidate,
    LeftOut,
    Piece,
    common_fields,
    heading_of,
    line_of_body,
    name_of,
    note,
    sections,
    text_of,
    texts_of,
    whole,
    without_heading,
)
from memfs.model.lenient import ForeignDocument, read_foreign
from memfs.model.memory import FrontValue
from memfs.model.reader import read_memory
from memfs.model.values import dataclass

MAX_RECORDS = 100_000
MAX_DATABASE_BYTES = 256 << 20
MAX_TEXT_BYTES = 1 << 20
"""Longest text of a row that is read from a database; a longer one ends the reading with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file to read: where it is, and its bytes (none for a database, which its own library opens)."""

    path: str
    place: Path
    raw: bytes

    def document(self) -> ForeignDocument:
        """Return the file as the lenient reader sees it. Raises :class:`InvalidMemoryError`."""
        return read_foreign(self.raw)


def _claude_memory(source: Source) -> Iterator[Piece]:
    """Claude Code's auto memory: name, description and type at the top, or nested below ``metadata``."""
    document = source.document()
    raw = source.raw.decode("utf-8", "replace")
    block = raw.split("\n---", 1)[0] if raw.startswith("---") else ""
    said = re.findall(r"(?m)^[ \t]+(type|modified):[ \t]*(\S.*)$", block)
    front: dict[str, FrontValue] = {**{key: value.strip() for key, value in said}, **document.front}
    kind = text_of(front, "type")
    fields = {key: value for key, value in common_fields(front).items() if key != "tags"}
    fields["kind"] = {"user": "preference", "feedback": "preference"}.get(kind, "observation")
    if kind == "user":
        fields["scope"] = "personal"
    if kind:
        fields["tags"] = (kind[:64],)
    title = text_of(front, "name") or name_of(source.path)
    described = text_of(front, "description")
    body = document.body.strip("\n")
    line = line_of_body(source.raw, body or described)
    if described and described not in body:
        body = f"{described}\n\n{body}".strip("\n")
    yield whole(source.path, title, body, line, fields)


def _claude_index(source: Source) -> Iterator[Piece]:
    """MEMORY.md: an index, of which only what it alone says is told to a person."""
    yield LeftOut(path=source.path, reason="an index of the other files")
    for number, line in enumerate(source.document().body.split("\n"), 1):
        links = re.findall(r"\]\(([^)\s]{1,500}\.md)\)", line)
        gone = [link for link in links if not (source.place.parent / link).is_file()]
        if gone:
            yield LeftOut(path=source.path, line=number, reason=f"its link {gone[0]} leads nowhere")
        elif not links and line.strip() and not line.startswith("#"):
            yield LeftOut(path=source.path, line=number, reason=f"only the index says: {line.strip()[:120]}")


def _rules(source: Source) -> Iterator[Piece]:
    """CLAUDE.md, AGENTS.md and their like: facts and conventions, one for each section."""
    document = source.document()
    if "<!-- memfs:begin" in document.body:
        yield LeftOut(path=source.path, reason="memfs exported it")
    elif len(document.body.strip().splitlines()) <= 1 and document.body.strip().startswith("@"):
        yield LeftOut(path=source.path, reason="it only names another file")
    else:
        folder = source.path.rpartition("/")[0]
        fields: dict[str, FrontValue] = {"kind": "procedure"}
        if folder and not folder.startswith("."):
            fields["applies_to"] = (f"{folder}/**",)
        yield from sections(source.path, source.raw, fields)


def _scoped_rules(source: Source) -> Iterator[Piece]:
    """Cursor's .mdc, Copilot's .instructions.md, Windsurf's and Claude's rules: a description, globs and a text."""
    document = source.document()
    globs = [glob for name in ("globs", "applyTo", "paths") for glob in texts_of(document.front, name)]
    fields: dict[str, FrontValue] = {"kind": "procedure"}
    if globs:
        fields["applies_to"] = tuple(dict.fromkeys(globs))
    if text_of(document.front, "alwaysApply") == "true":
        fields["tags"] = ("always",)
    title = text_of(document.front, "description", "title", "name") or heading_of(document.body) or name_of(source.path)
    body = without_heading(document.body)
    yield whole(source.path, title, body, line_of_body(source.raw, body), fields)


def _adr(source: Source) -> Iterator[Piece]:
    """A decision record: an accepted one as its decision in one paragraph, which rests on the record itself."""
    document = source.document()
    body = document.body
    status = text_of(document.front, "status") or _line(body, "Status") or _section(body, "Status")
    word = re.match(r"[A-Za-z]+", status.strip("*_ [").casefold() or "accepted")
    if word is None or word[0] not in ("accepted", "approved", "implemented", "adopted"):
        yield LeftOut(path=source.path, reason=f"its status is {status.split(chr(10))[0][:60] or 'not known'}")
        return
    decision = _section(body, "Decision Outcome") or _section(body, "Decision") or _section(body, "Decisions")
    paragraph = next((part for part in re.split(r"\n[ \t]*\n", without_heading(decision)) if part.strip()), "")
    if not paragraph:
        yield LeftOut(path=source.path, reason="it has no section that is called Decision")
        return
    title = text_of(document.front, "title") or heading_of(body) or name_of(source.path)
    fields = {**common_fields({**document.front, "date": _line(body, "Date") or document.front.get("date", "")})}
    fields = {"kind": "decision", **{key: value for key, value in fields.items() if key == "recorded"}}
    line = line_of_body(source.raw, paragraph)
    yield Candidate(path=source.path, title=title, body=paragraph.strip(), line=line, fields=fields)


def _line(body: str, name: str) -> str:
    found = re.search(rf"(?mi)^[-*]?[ \t]*\**{name}\**[ \t]*:\**[ \t]*(\S.*)$", body)
    return found[1].strip() if found else ""


def _section(body: str, name: str) -> str:
    found = re.search(rf"(?msi)^#+[ \t]+(?:[0-9.]+[ \t]+)?{name}[ \t#]*\n(.*?)(?=^#{{1,2}}[ \t]|\Z)", body)
    return found[1].strip() if found else ""


def _folder_note(source: Source) -> Iterator[Piece]:
    """A note of a vault, of Serena or of a memory bank: its folders are tags."""
    document = source.document()
    folders = [part for part in source.path.split("/")[:-1] if part[:1].isalnum() and part not in _HOMES]
    tags = (*common_fields(document.front).get("tags", ()), *folders)
    fields: dict[str, FrontValue] = {"tags": tuple(dict.fromkeys(tags))} if tags else {}
    yield from note(source.path, document, source.raw, fields)


_HOMES = frozenset({"docs", "memories", "memory", "memory-bank", "notes", "vault"})


def _records(source: Source) -> Iterator[Piece]:
    """JSONL, or one JSON document with a list: exports of mem0, claude-mem, beads, skillmem and anybody else."""
    text = source.raw.decode("utf-8", "replace")
    numbered: list[tuple[int, Any]] = []
    if source.path.casefold().endswith(".json"):
        try:
            numbered = [(1, row) for row in _rows(json.loads(text))]
        except ValueError as error:
            raise InvalidMemoryError(f"the file is not JSON: {error}") from None
        text = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                numbered.append((number, json.loads(line)))
            except ValueError:
                yield LeftOut(path=source.path, line=number, reason="this line is not JSON")
    for number, row in numbered[:MAX_RECORDS]:
        yield _record(source.path, number, row)


def _rows(whole: Any) -> list[Any]:
    """Return the records of a JSON document: a list, the first list of maps in a map, or the map itself."""
    if isinstance(whole, list):
        return whole
    lists = (value for value in whole.values() if isinstance(value, list)) if isinstance(whole, dict) else ()
    return next((one for one in lists if one and all(isinstance(row, dict) for row in one)), [whole])


def _record(path: str, line: int, row: Any) -> Piece:
    if not isinstance(row, dict):
        return LeftOut(path=path, line=line, reason="this is not a record")
    values = {key: value for key, value in row.items() if isinstance(value, str | int | float) and value != ""}
    front = {key: str(value) for key, value in values.items()}
    body = text_of_record(front)
    if not body:
        return LeftOut(path=path, line=line, reason="this record has no text")
    if front.get("status") in ("open", "in_progress", "blocked"):
        return LeftOut(path=path, line=line, reason="work that is open")
    listed = {
        k: tuple(map(str, v)) for k, v in row.items() if isinstance(v, list) and all(isinstance(x, str) for x in v)
    }
    tags = next((listed[name] for name in ("tags", "labels", "categories", "concepts") if name in listed), ())
    fields = {key: value for key, value in common_fields(front).items() if key == "recorded"}
    if tags:
        fields["tags"] = tuple(dict.fromkeys(tag[:64] for tag in tags))
    title = text_of(front, "title", "name", "slug") or body.split("\n", 1)[0][:80]
    return Candidate(path=path, title=title, body=body, line=line, fields=fields)


def text_of_record(front: Mapping[str, str]) -> str:
    """Return the text of one record, under the names that exporters give it."""
    names = ("memory", "statement", "text", "content", "body", "narrative", "observation", "description", "summary")
    return next((front[name].strip() for name in names if front.get(name, "").strip()), "")


def _database(source: Source) -> Iterator[Piece]:
    """A SQLite file, such as skillmem's: each row of the first table that has a text and a title.

    Nothing of the file is evaluated: only plain columns of plain tables are read, each up to a size.
    """
    if source.place.stat().st_size > MAX_DATABASE_BYTES:
        raise InvalidMemoryError(f"the database has more than {MAX_DATABASE_BYTES >> 20} MiB")
    try:
        with closing(sqlite3.connect(f"{source.place.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            yield from _read_tables(source.path, connection)
    except sqlite3.Error as error:
        raise InvalidMemoryError(f"the database cannot be read: {error}") from None


def _read_tables(path: str, connection: sqlite3.Connection) -> Iterator[Piece]:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    for (table,) in connection.execute(tables).fetchall():
        quoted = _quoted(table)
        # Column 6 says whether a column is hidden or generated: its value would be computed by the file's own words.
        columns = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({quoted})") if row[6] == 0]
        if not {*columns} & {"body", "content", "text", "memory"} or not {*columns} & {"title", "name", "slug"}:
            continue
        names = ", ".join(map(_quoted, columns))
        rows = connection.execute(f"SELECT {names} FROM {quoted} LIMIT {MAX_RECORDS}")  # noqa: S608
        yield from (_record(path, number, dict(zip(columns, row, strict=True))) for number, row in enumerate(rows, 1))
        return
    yield LeftOut(path=path, reason="no table of it has titles and texts")


def _quoted(name: str) -> str:
    """Return ``name`` as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _memfs(source: Source) -> Iterator[Piece]:
    """A memory of another memfs repository. Whether somebody approved it there does not count here."""
    file = read_memory(source.path, source.raw)
    if file.memory is None or file.document is None:
        yield LeftOut(path=source.path, reason="is not a memory")
        return
    taken = ("kind", "scope", "title", "tags", "applies_to", "recorded", "review_trigger", "expires")
    fields = {key: value for key, value in file.document.front.items() if key in taken}
    line = line_of_body(source.raw, file.memory.body)
    yield Candidate(path=source.path, title=file.id, body=file.memory.body.strip("\n"), line=line, fields=fields)


READERS: Mapping[str, Callable[[Source], Iterator[Piece]]] = {
    "claude-index": _claude_index,
    "database": _database,
    "records": _records,
    "memfs": _memfs,
    "cursor": _scoped_rules,
    "rules": _rules,
    "claude-memory": _claude_memory,
    "adr": _adr,
    "notes": _folder_note,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of source: which paths are of it, what their text contains too, and what reads them."""

    name: str
    title: str
    paths: re.Pattern[str]
    text: re.Pattern[str] | None
    read: Callable[[Source], Iterator[Piece]]


def _read_kinds() -> Iterator[Kind]:
    table = files("memfs.importing").joinpath("data/kinds.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        if line and not line.startswith("#"):
            name, title, paths, text = line.split("\t")
            wanted = re.compile(text, re.MULTILINE) if text != "-" else None
            yield Kind(name=name, title=title, paths=re.compile(paths), text=wanted, read=READERS[name])


KINDS = tuple(_read_kinds())


def find_kind(path: str, text: str) -> Kind | None:
    """Return the kind of a file by its path and text, None where memfs knows none."""
    fitting = (kind for kind in KINDS if kind.paths.search(path))
    return next((kind for kind in fitting if kind.text is None or kind.text.search(text)), None)
