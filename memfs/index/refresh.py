"""Keeping the index what the files are (RETRIEVAL 5): scan, compare, read what changed.

A reader never waits for a writer. ``open_index`` is the recall path: few changes are read in this
process before it answers, many are left to a detached one. ``refresh`` and ``rebuild`` are for
people and for that detached process.
"""

from __future__ import annotations

import marshal
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from memfs.disk.files import Entry, Stamps, UnreadableFile, parse_stamp, read_file, scan_stamps
from memfs.errors import SetupError
from memfs.index.folder import (
    Snapshot,
    find_obstacle,
    index_folder,
    index_lock,
    make_index_folder,
    read_snapshot,
    write_snapshot,
)
from memfs.index.text import DEAD, KEY_BYTES, NO_KEY, Counts, DamagedIndex, TextIndex
from memfs.model.values import dataclass, field, replace

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.model.memory import MemoryFile

FEW_CHANGES = 64
"""So many changed files are read in the recalling process; more are left to a detached one."""

_MAX_TAIL = 256  # rows scored from the tail; more become a segment of the postings
_MAX_SEGMENTS = 12
_SHARED = 512  # files to read from which on two processes do it
_READERS = 2
_CHUNK = 64
_YOUNG = "? "  # stands before the stamp of a file that is read once more
_RACY_NS = 2_000_000_000  # a file this young may change again within one tick of its file system's clock


class Gate(Protocol):
    """What decides whether a text may be indexed. ``version`` is part of the manifest."""

    version: int

    def admits(self, file: MemoryFile) -> bool: ...

    def save(self) -> None: ...


Progress = Callable[[int, int], None]
"""Called with (done, total) during long work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The index as one recall uses it. ``behind`` counts changed files that it does not know yet;
    ``scan`` is the pass over the files that was compared with it."""

    index: TextIndex
    unreadable: tuple[str, ...]  # paths
    scan: Stamps
    supersedes: Mapping[str, Sequence[str]] = field(default_factory=dict)  # path → the ids that it replaces
    behind: int = 0
    missing: bool = False  # there is no usable index and too much to read now
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshReport:
    """What a refresh did."""

    memories: int
    unreadable: int
    changed: int
    removed: int
    generation: int
    rebuilt: bool = False
    embedded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """What the index on disk holds, and how far it is behind the files."""

    folder: str
    state: str  # "current", "behind", "missing", "damaged", "refused"
    detail: str | None = None
    memories: int = 0
    unreadable: int = 0
    behind: int = 0
    generation: int = 0
    segments: int = 0
    tail: int = 0
    bytes: int = 0
    index: TextIndex | None = None


@dataclass(slots=True)
class _Document:
    path: str
    scope: str | None
    key: bytes
    facet: str
    counts: Counts
    length: int
    supersedes: tuple[str, ...]

    def plain(self) -> tuple[object, ...]:
        """Return the fields in order, for a pipe."""
        return (self.path, self.scope, self.key, self.facet, self.counts, self.length, self.supersedes)


def open_index(tree: WorkTree, places: Places, gate: Gate) -> Opened:
    """Return the index of ``tree``, brought up to date as far as a recall can wait.

    When ``behind`` is not 0, somebody should call :func:`refresh` in another process.

    Never raises for what lies on the disk: a missing, damaged or refused index costs time or hits.
    """
    scan = scan_stamps(tree)
    obstacle = find_obstacle(tree, places)
    notices: list[str] = []
    snapshot = None
    if obstacle is not None:
        notices.append(f"the index is not used: {obstacle}")
    else:
        try:
            snapshot = read_snapshot(tree, places, gate.version)
        except DamagedIndex as error:
            notices.append(f"the index was damaged ({error}) and is made anew")
    stamps = scan.lines
    if snapshot is not None and snapshot.seen == "\n".join(stamps):
        return Opened(
            index=snapshot.index,
            unreadable=_unreadable(snapshot, scan),
            scan=scan,
            supersedes=snapshot.supersedes,
        )
    changed, removed = _compare(snapshot, scan)
    if len(changed) <= FEW_CHANGES:
        updated = _apply(tree, snapshot, gate, changed, removed, stamps=stamps)
        if obstacle is None:
            updated = _try_to_save(tree, places, gate, updated, snapshot)
        return Opened(
            index=updated.index,
            unreadable=_unreadable(updated, scan),
            scan=scan,
            supersedes=updated.supersedes,
            notices=tuple(notices),
        )
    if snapshot is None:
        empty = _apply(tree, None, gate, (), (), stamps=[])
        return Opened(
            index=empty.index,
            unreadable=_unreadable(empty, scan),
            scan=scan,
            behind=len(changed),
            missing=True,
            notices=tuple(notices),
        )
    # Removed files need no change: a hit whose file is gone is dropped when it is read.
    return Opened(
        index=snapshot.index,
        unreadable=_unreadable(snapshot, scan),
        scan=scan,
        supersedes=snapshot.supersedes,
        behind=len(changed),
        notices=tuple(notices),
    )


def refresh(
    tree: WorkTree,
    places: Places,
    gate: Gate,
    *,
    progress: Progress | None = None,
    embedding_progress: Progress | None = None,
    wait: bool = True,
    anew: bool = False,
) -> RefreshReport | None:
    """Bring words and vectors of the index of ``tree`` up to date and return what was done.

    ``anew`` makes the words anew from the files, aside, and swaps them in; vectors belong to texts and
    stay. Waits for another refresh, or with ``wait`` false returns None when there is one.
    Raises :class:`SetupError` when the index folder must not be used or cannot be written.
    """
    try:
        return _refresh(tree, places, gate, progress, embedding_progress, wait=wait, anew=anew)
    except OSError as error:
        raise SetupError(
            f"the index cannot be written: {error.strerror or type(error).__name__}",
            where=index_folder(tree, places),
            hint="free some space there; recall goes on without",
        ) from error


def _refresh(
    tree: WorkTree,
    places: Places,
    gate: Gate,
    progress: Progress | None,
    embedding_progress: Progress | None,
    *,
    wait: bool,
    anew: bool,
) -> RefreshReport | None:
    from memfs.index.semantic import embed_missing

    folder = make_index_folder(tree, places)
    # One refresh at a time: it can take minutes. The writers' lock is held for the words alone.
    with index_lock(folder, "refresh.lock", wait=wait) as is_mine:
        if not is_mine:
            return None
        with index_lock(folder, "lock", wait=True):
            try:
                snapshot = None if anew else read_snapshot(tree, places, gate.version)
            except DamagedIndex:
                snapshot = None
            report, snapshot = _refresh_words(tree, places, gate, snapshot, progress)
        embedded = embed_missing(tree, places, snapshot.index, progress=embedding_progress)
        return replace(report, embedded=embedded)


def find_successors(tree: WorkTree, opened: Opened) -> dict[str, list[str]]:
    """Return each superseded id with the paths of the memories that replace it."""
    supersedes: Mapping[str, Sequence[str]] = opened.supersedes
    if opened.missing:
        supersedes = {}
        for entry in opened.scan.entries:
            try:
                if b"supersedes" not in read_file(tree, entry.path):
                    continue
            except UnreadableFile:
                continue
            document = _read_document(tree, entry.path, None)
            if not isinstance(document, str) and document.supersedes:
                supersedes[entry.path] = document.supersedes
    found: dict[str, list[str]] = {}
    for path, ids in supersedes.items():
        for old in ids:
            found.setdefault(old, []).append(path)
    return found


def discard_index(tree: WorkTree, places: Places) -> None:
    """Make nobody use the index of ``tree`` any more: its postings are damaged."""
    try:
        os.unlink(os.path.join(index_folder(tree, places), "manifest.json"))
    except OSError:
        return  # another process was quicker, or the disk refuses: the caller searches the files


def index_status(tree: WorkTree, places: Places) -> IndexStatus:
    """Return the state of the index on disk; changes nothing."""
    folder = index_folder(tree, places)
    obstacle = find_obstacle(tree, places)
    if obstacle is not None:
        return IndexStatus(folder=folder, state="refused", detail=obstacle)
    try:
        snapshot = read_snapshot(tree, places, None)
    except DamagedIndex as error:
        return IndexStatus(folder=folder, state="damaged", detail=str(error))
    scan = scan_stamps(tree)
    if snapshot is None:
        return IndexStatus(folder=folder, state="missing", behind=len(scan.entries))
    known = {line.removeprefix(_YOUNG) for line in snapshot.seen.split("\n")}
    behind = len(known.symmetric_difference(scan.lines) - {""})
    size = 0
    for parent, _, names in os.walk(folder):
        size += sum(os.lstat(os.path.join(parent, name)).st_size for name in names)
    return IndexStatus(
        folder=folder,
        state="behind" if behind else "current",
        memories=sum(scope != DEAD for scope in snapshot.index.scopes),
        unreadable=len(snapshot.unreadable),
        behind=behind,
        generation=snapshot.generation,
        segments=len(snapshot.segments),
        tail=len(snapshot.index.tail),
        bytes=size,
        index=snapshot.index,
    )


def _refresh_words(
    tree: WorkTree, places: Places, gate: Gate, snapshot: Snapshot | None, progress: Progress | None
) -> tuple[RefreshReport, Snapshot]:
    scan = scan_stamps(tree)
    stamps = scan.lines
    if snapshot is not None and _is_worn(snapshot):
        snapshot = None
    rebuilt = snapshot is None
    changed, removed = _compare(snapshot, scan)
    if snapshot is None or changed or removed or snapshot.seen != "\n".join(stamps):
        updated = _apply(tree, snapshot, gate, changed, removed, stamps=stamps, progress=progress)
        previous = snapshot.generation if snapshot is not None else None
        fold = len(updated.index.tail) > _MAX_TAIL
        snapshot = write_snapshot(tree, places, updated, previous=previous, fold=fold, gate=gate.version)
    report = RefreshReport(
        memories=sum(scope != DEAD for scope in snapshot.index.scopes),
        unreadable=len(snapshot.unreadable) + len(scan.skipped),
        changed=len(changed),
        removed=len(removed),
        generation=snapshot.generation,
        rebuilt=rebuilt,
    )
    return report, snapshot


def _is_worn(snapshot: Snapshot) -> bool:
    rows = len(snapshot.index)
    dead = snapshot.index.scopes.count(DEAD)
    return len(snapshot.segments) > _MAX_SEGMENTS or dead > max(_MAX_TAIL, rows // 4)


def _try_to_save(tree: WorkTree, places: Places, gate: Gate, updated: Snapshot, before: Snapshot | None) -> Snapshot:
    """Write what this recall has read, unless another process is writing or has written meanwhile."""
    try:
        folder = make_index_folder(tree, places)
        with index_lock(folder, "lock", wait=False) as locked:
            if not locked:
                return updated
            try:
                current = read_snapshot(tree, places, gate.version)
            except DamagedIndex:
                current = None
            if (current.generation if current else None) != (before.generation if before else None):
                return updated
            if before is not None and before.index.paths == updated.index.paths and _YOUNG in updated.seen:
                return updated  # only young files were read again; they will be once more
            fold = len(updated.index.tail) > _MAX_TAIL
            previous = before.generation if before else None
            return write_snapshot(tree, places, updated, previous=previous, fold=fold, gate=gate.version)
    except (OSError, SetupError):
        return updated  # a full or read-only disk: this answer does not need it


def _compare(snapshot: Snapshot | None, scan: Stamps) -> tuple[list[Entry], list[str]]:
    """Return the entries that are new or changed since the snapshot, and the paths that are gone."""
    if snapshot is None:
        return list(scan.entries), []
    changed = [parse_stamp(line) for line in set(scan.lines).difference(snapshot.seen.split("\n"))]
    present = {line.split(" ", 3)[3] for line in scan.lines}
    known = (path for path in snapshot.index.paths if path)
    removed = [path for path in known if path not in present]
    removed += [path for path in snapshot.unreadable if path not in present]
    return sorted(changed), removed


def _apply(
    tree: WorkTree,
    snapshot: Snapshot | None,
    gate: Gate,
    changed: Sequence[Entry],
    removed: Iterable[str],
    *,
    stamps: Sequence[str],
    progress: Progress | None = None,
) -> Snapshot:
    """Return a snapshot in memory with ``changed`` read and ``removed`` dropped."""
    old = snapshot.index if snapshot is not None else None
    paths = list(old.paths) if old else []
    keys = bytearray(old.keys) if old else bytearray()
    facets = list(old.read_facets()) if old else []
    scopes = array("H", old.scopes) if old else array("H")
    lengths = array("I", old.lengths) if old else array("I")
    names: list[str | None] = list(old.scope_names) if old else [None]
    tail = list(old.tail) if old else []
    unreadable = dict(snapshot.unreadable) if snapshot is not None else {}
    supersedes = dict(snapshot.supersedes) if snapshot is not None else {}
    rows = {path: row for row, path in enumerate(paths) if path} if old else {}

    def bury(path: str) -> None:
        supersedes.pop(path, None)
        row = rows.pop(path, None)
        if row is not None:
            kill(row)

    def kill(row: int) -> None:
        paths[row], scopes[row], lengths[row], facets[row] = "", DEAD, 0, ""
        keys[row * KEY_BYTES : (row + 1) * KEY_BYTES] = bytes(KEY_BYTES)

    for path in removed:
        bury(path)
        unreadable.pop(path, None)
    documents = _read_documents(tree, [entry.path for entry in changed], gate)
    for number, (path, document) in enumerate(documents):
        if isinstance(document, str):
            bury(path)
            unreadable[path] = document
        else:
            unreadable.pop(path, None)
            supersedes.pop(path, None)
            if document.supersedes:
                supersedes[path] = list(document.supersedes)
            row = rows.get(path)
            if row is not None and keys[row * KEY_BYTES : (row + 1) * KEY_BYTES] == document.key:
                facets[row] = document.facet
            else:
                if row is not None:
                    kill(row)
                rows[path] = len(paths)
                paths.append(path)
                keys += document.key
                facets.append(document.facet)
                scopes.append(_scope_number(names, document.scope))
                lengths.append(document.length)
                tail.append(document.counts)
        if progress is not None:
            progress(number + 1, len(changed))
    index = TextIndex(
        paths=paths,
        keys=keys,
        scopes=scopes,
        lengths=lengths,
        scope_names=names,
        postings_rows=old.postings_rows if old else 0,
        open_postings=old.open_postings if old else None,
        tail=tail,
        read_facets=lambda: facets,
    )
    return Snapshot(
        index=index,
        seen="\n".join(_settled(stamps, changed)),
        unreadable=unreadable,
        supersedes=supersedes,
        generation=snapshot.generation if snapshot is not None else 0,
        segments=snapshot.segments if snapshot is not None else [],
    )


def _settled(stamps: Sequence[str], changed: Sequence[Entry]) -> list[str]:
    """Return the stamps, unequal to any file's where the file is so young that a second change
    could leave its stamp as it is: such a file is read once more, as git does."""
    import time  # compared with file times, which no surface can pass down

    settled_before = time.time_ns() - _RACY_NS
    young = {entry.path for entry in changed if entry.mtime_ns > settled_before}
    if not young:
        return list(stamps)
    return [f"{_YOUNG}{stamp}" if stamp.split(" ", 3)[3] in young else stamp for stamp in stamps]


def _scope_number(names: list[str | None], scope: str | None) -> int:
    try:
        return names.index(scope, 1)
    except ValueError:
        names.append(scope)
        return len(names) - 1


def _read_document(tree: WorkTree, path: str, gate: Gate | None) -> _Document | str:
    """Return what is indexed of the file, or the reason why it cannot be read.

    Of a text that the gate stops only the words of the id are indexed, and nothing is embedded.
    """
    from memfs.index.document import count_terms, facet_of, indexable_text, text_key
    from memfs.model.reader import read_memory
    from memfs.model.scope import scope_of_path

    try:
        raw = read_file(tree, path)
    except UnreadableFile as error:
        return error.reason
    file = read_memory(path, raw)
    if file.document is None:
        return file.problems[0].rule if file.problems else "unreadable"
    admitted = gate is None or gate.admits(file)
    text = indexable_text(file) if admitted else file.id.replace("-", " ")
    counts, length = count_terms(text)
    return _Document(
        path=path,
        scope=scope_of_path(path),
        key=text_key(text) if admitted else NO_KEY,
        facet=facet_of(file) if admitted else "",
        counts=dict(counts),
        length=length,
        supersedes=file.memory.supersedes if file.memory is not None else (),
    )


def _read_documents(tree: WorkTree, paths: Sequence[str], gate: Gate) -> Iterator[tuple[str, _Document | str]]:
    """Yield each path with what is indexed of it, in order; two processes share a long list."""
    if len(paths) < _SHARED:
        for path in paths:
            yield path, _read_document(tree, path, gate)
        gate.save()
        return
    chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
    workers = [_start_reader(tree, chunks[number::_READERS], gate) for number in range(_READERS)]
    try:
        for number, chunk in enumerate(chunks):
            _, reader = workers[number % _READERS]
            answers = marshal.load(reader)  # noqa: S302 - from a process that this one forked
            for path, found in zip(chunk, answers, strict=True):
                yield path, found if isinstance(found, str) else _Document(*found)
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
                found = [_read_document(tree, path, gate) for path in chunk]
                file.write(marshal.dumps([one if isinstance(one, str) else one.plain() for one in found]))
        gate.save()
    finally:
        os._exit(0)  # never back into the parent's code; it notices a pipe that ends early


def _unreadable(snapshot: Snapshot, scan: Stamps) -> tuple[str, ...]:
    return (*snapshot.unreadable, *(path for path, _ in scan.skipped))
