"""Making the rows of an index from files: reading them, in two processes where there are many, and keeping
what did not change."""

from __future__ import annotations

import marshal
import os
import re
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from memfs.disk.files import Entry, Stamps, UnreadableFile, read_file
from memfs.errors import SetupError
from memfs.index.document import count_terms, facet_of, indexable_text, is_code, text_key
from memfs.index.folder import YOUNG, Snapshot
from memfs.index.text import DEAD, KEY_BYTES, NO_KEY, Counts, TextIndex
from memfs.model.reader import read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree
    from memfs.model.memory import MemoryFile

SEGMENT = 20_000
"""Rows of one segment of a long build: what is in memory at once."""
_NO_WIDTH = re.compile("[\u200b-\u200d\u2060\ufeff]")
_SHARED = 512  # files to read from which on two processes do it
_READERS = 2
_CHUNK = 64
_RACY_NS = 2_000_000_000  # a file this young may change again within one tick of its file system's clock


class Gate(Protocol):
    """What decides whether a text may be indexed. ``version`` is part of the manifest."""

    version: int

    def admits(self, file: MemoryFile) -> bool: ...

    def save(self) -> None: ...


@dataclass(slots=True)
class Document:
    """What is indexed of one file."""

    path: str
    scope: str | None
    key: bytes
    facet: str
    counts: Counts
    length: int
    supersedes: tuple[str, ...]
    code: bool

    def plain(self) -> tuple[object, ...]:
        """Return the fields in order, for a pipe."""
        return (self.path, self.scope, self.key, self.facet, self.counts, self.length, self.supersedes, self.code)


class Build:
    """The rows of a snapshot that is being made: those of an older one, changed."""

    def __init__(self, old: Snapshot | None, flush: Callable[[Sequence[Counts]], None] | None = None) -> None:
        index = old.index if old is not None else None
        self._old = old
        self._flush = flush  # takes the rows before the tail when there are many
        self._paths = list(index.paths) if index else []
        self._keys = bytearray(index.keys) if index else bytearray()
        self._facets = list(index.read_facets()) if index else []
        self._scopes = array("H", index.scopes) if index else array("H")
        self._lengths = array("I", index.lengths) if index else array("I")
        self._names: list[str | None] = list(index.scope_names) if index else [None]
        self._tail = list(index.tail) if index else []
        self._code = set(index.code) if index else set()
        self._postings_rows = index.postings_rows if index else 0
        self._unreadable = dict(old.unreadable) if old is not None else {}
        self._supersedes = dict(old.supersedes) if old is not None else {}
        self._rows = {path: row for row, path in enumerate(self._paths) if path}

    def remove(self, path: str) -> None:
        """Take out the file at ``path``, which is gone."""
        self._bury(path)
        self._unreadable.pop(path, None)

    def put(self, path: str, found: Document | str) -> None:
        """Take in what is indexed of the file at ``path`` now, or why it cannot be read."""
        if isinstance(found, str):
            self._bury(path)
            self._unreadable[path] = found
            return
        self._unreadable.pop(path, None)
        self._supersedes.pop(path, None)
        if found.supersedes:
            self._supersedes[path] = list(found.supersedes)
        row = self._rows.get(path)
        same = row is not None and self._keys[row * KEY_BYTES : (row + 1) * KEY_BYTES] == found.key
        if row is not None and same and found.key != NO_KEY:
            self._facets[row] = found.facet
            return
        if row is not None:
            self._kill(row)
        self._rows[path] = len(self._paths)
        self._paths.append(path)
        self._keys += found.key
        self._facets.append(found.facet)
        self._scopes.append(self._scope_number(found.scope))
        self._lengths.append(found.length)
        self._tail.append(found.counts)
        if found.code:
            self._code.add(self._rows[path])
        if self._flush is not None and len(self._tail) >= SEGMENT:
            self.flush()

    def flush(self) -> None:
        """Hand the tail on: its rows are in the postings from now on."""
        if self._flush is not None and self._tail:
            self._flush(self._tail)
            self._postings_rows += len(self._tail)
            self._tail = []

    @property
    def tail_rows(self) -> int:
        """How many rows are in no segment."""
        return len(self._tail)

    def finish(self, scan: Stamps, changed: Sequence[Entry]) -> Snapshot:
        """Return the snapshot. ``changed`` are the files that were read for it."""
        old = self._old
        index = TextIndex(
            paths=self._paths,
            keys=self._keys,
            scopes=self._scopes,
            lengths=self._lengths,
            scope_names=self._names,
            postings_rows=self._postings_rows,
            open_postings=old.index.open_postings if old is not None else None,
            tail=self._tail,
            read_facets=lambda: self._facets,
            code=self._code,
        )
        settled_before = time.time_ns() - _RACY_NS  # compared with file times, which no surface can pass down
        seen = "\n".join(_settled(scan.lines, changed, settled_before))
        return Snapshot(
            index=index,
            read_seen=lambda: seen,
            folders=[line if int(line.split(" ", 1)[0]) <= settled_before else YOUNG + line for line in scan.folders],
            skipped=[path for path, _ in scan.skipped],
            unreadable=self._unreadable,
            supersedes=self._supersedes,
            generation=old.generation if old is not None else 0,
            segments=old.segments if old is not None else [],
        )

    def _bury(self, path: str) -> None:
        self._supersedes.pop(path, None)
        row = self._rows.pop(path, None)
        if row is not None:
            self._kill(row)

    def _kill(self, row: int) -> None:
        self._paths[row], self._scopes[row], self._lengths[row], self._facets[row] = "", DEAD, 0, ""
        self._keys[row * KEY_BYTES : (row + 1) * KEY_BYTES] = bytes(KEY_BYTES)
        self._code.discard(row)

    def _scope_number(self, scope: str | None) -> int:
        if scope not in self._names[1:]:
            self._names.append(scope)
        return self._names.index(scope, 1)


def _settled(stamps: Sequence[str], changed: Sequence[Entry], before: int) -> Sequence[str]:
    """Return the stamps, unequal to any file's where the file is so young that a second change
    could leave its stamp as it is: such a file is read once more, as git does."""
    young = {entry.path for entry in changed if entry.mtime_ns > before}
    if not young:
        return stamps
    return [f"{YOUNG}{stamp}" if stamp.split(" ", 3)[3] in young else stamp for stamp in stamps]


def apply_changes(
    tree: WorkTree,
    build: Build,
    gate: Gate,
    changed: Sequence[Entry],
    removed: Iterable[str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Read ``changed`` into ``build`` and take ``removed`` out."""
    for path in removed:
        build.remove(path)
    for number, (path, document) in enumerate(read_documents(tree, [entry.path for entry in changed], gate)):
        build.put(path, document)
        if progress is not None:
            progress(number + 1, len(changed))


def read_document(tree: WorkTree, path: str, gate: Gate | None) -> Document | str:
    """Return what is indexed of the file, or the reason why it cannot be read.

    Of a text that the gate stops only the words of the id are indexed, and nothing is embedded. Where it
    stops nothing but characters of no width, the words of the text are indexed too.
    """
    try:
        raw = read_file(tree, path)
    except UnreadableFile as error:
        return error.reason
    file = read_memory(path, raw)
    if file.document is None:
        return file.problems[0].rule if file.problems else "unreadable"
    admitted = gate is None or gate.admits(file)
    text = indexable_text(file) if admitted else _searchable_text(path, raw, gate) or file.id.replace("-", " ")
    counts, length = count_terms(text)
    return Document(
        path=path,
        scope=scope_of_path(path),
        key=text_key(text) if admitted else NO_KEY,
        facet=facet_of(file) if admitted else "",
        counts=dict(counts),
        length=length,
        supersedes=file.memory.supersedes if file.memory is not None else (),
        code=admitted and is_code(file),
    )


def _searchable_text(path: str, raw: bytes, gate: Gate | None) -> str:
    """Return the text of a stopped file without characters of no width, where the gate stops only those.

    Such a memory stays withheld, and a recall says that it matches. "" for every other file.
    """
    clean = _NO_WIDTH.sub("", raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    if clean == raw or gate is None:
        return ""
    file = read_memory(path, clean)
    return indexable_text(file) if file.document is not None and gate.admits(file) else ""


def read_documents(tree: WorkTree, paths: Sequence[str], gate: Gate) -> Iterator[tuple[str, Document | str]]:
    """Yield each path with what is indexed of it, in order; two processes share a long list."""
    if len(paths) < _SHARED:
        for path in paths:
            yield path, read_document(tree, path, gate)
        gate.save()
        return
    chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
    workers = [_start_reader(tree, chunks[number::_READERS], gate) for number in range(_READERS)]
    try:
        for number, chunk in enumerate(chunks):
            _, reader = workers[number % _READERS]
            answers = marshal.load(reader)  # noqa: S302 - from a process that this one forked
            for path, found in zip(chunk, answers, strict=True):
                yield path, found if isinstance(found, str) else Document(*found)
    except (EOFError, ValueError, TypeError) as error:
        raise SetupError("a process that read the memories ended early", hint="run `memfs index` again") from error
    finally:
        for child, reader in workers:
            reader.close()
            os.waitpid(child, 0)


def _start_reader(tree: WorkTree, chunks: Sequence[Sequence[str]], gate: Gate) -> tuple[int, BinaryIO]:
    """Fork a process that reads ``chunks``; return its id and the pipe that its answers come through."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, os.fdopen(reader, "rb")
    try:
        os.close(reader)
        with os.fdopen(writer, "wb") as file:
            for chunk in chunks:
                found = [read_document(tree, path, gate) for path in chunk]
                file.write(marshal.dumps([one if isinstance(one, str) else one.plain() for one in found]))
        gate.save()
    finally:
        os._exit(0)  # never back into the parent's code; it notices a pipe that ends early
