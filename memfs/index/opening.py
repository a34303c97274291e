"""The index as one recall uses it (RETRIEVAL 5): opened, compared with the files, brought up to date as far
as a recall can wait. A reader never waits for a writer; more than a few changes are left to a process of
its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from memfs.disk.files import Entry, Stamps, UnreadableFile, parse_stamp, read_file, scan_stamps, stamp_folders
from memfs.disk.private import own_lock
from memfs.errors import SetupError
from memfs.index.build import Build, Gate, apply_changes, read_document
from memfs.index.folder import (
    YOUNG,
    Snapshot,
    find_obstacle,
    index_folder,
    make_index_folder,
    read_snapshot,
)
from memfs.index.text import DamagedIndex, TextIndex
from memfs.index.writer import writing
from memfs.model.values import dataclass, field

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree

FEW_CHANGES = 64
"""So many changed files are read in the recalling process; more are left to a detached one."""
MANY = 10_000
"""From so many memories on a recall looks at the times of folders; a process of its own looks at each file."""
MAX_TAIL = 256
"""Rows scored from the tail; more become a segment of the postings."""

_PASS_SECONDS = 2.0  # a pass over all files that is younger than this is not repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The index as one recall uses it. ``behind`` counts changed files that it does not know yet;
    ``unlooked`` says that files were not looked at one by one, so somebody should refresh afterwards."""

    index: TextIndex
    unreadable: tuple[str, ...]  # paths
    read_scan: Callable[[], Stamps]  # the files as they are
    generation: int = 0  # of the index on disk that this is; 0 for one that is only in memory
    unlooked: bool = False
    supersedes: Mapping[str, Sequence[str]] = field(default_factory=dict)  # path → the ids that it replaces
    behind: int = 0
    missing: bool = False  # there is no usable index and too much to read now
    notices: tuple[str, ...] = ()


def open_index(tree: WorkTree, places: Places, gate: Gate) -> Opened:
    """Return the index of ``tree``, brought up to date as far as a recall can wait.

    When ``behind`` is not 0, somebody should refresh it in another process.

    Never raises for what lies on the disk: a missing, damaged or refused index costs time or hits.
    """
    obstacle = find_obstacle(tree, places)
    notices: list[str] = []
    snapshot = None
    if obstacle is not None:
        notices.append(f"the index is not used: {obstacle}")
    else:
        try:
            snapshot = read_snapshot(tree, places, gate.version)
            if snapshot is not None and len(snapshot.index) >= MANY and _has_same_folders(tree, snapshot):
                unlooked = _is_pass_old(tree, places)
                return _opened(snapshot, lambda: scan_stamps(tree), snapshot.skipped, unlooked=unlooked)
            return _compared(tree, places, gate, snapshot, notices)
        except DamagedIndex as error:
            notices.append(f"the index was damaged ({error}) and is made anew")
        except FileNotFoundError:
            pass  # somebody deleted it between two looks
    return _compared(tree, places, gate, None, notices, keep=obstacle is None)


def _compared(
    tree: WorkTree, places: Places, gate: Gate, snapshot: Snapshot | None, notices: list[str], *, keep: bool = True
) -> Opened:
    scan = scan_stamps(tree)
    skipped = [path for path, _ in scan.skipped]
    if snapshot is not None and snapshot.read_seen() == "\n".join(scan.lines):
        return _opened(snapshot, lambda: scan, skipped)
    changed, removed = compare(snapshot, scan)
    if len(changed) <= FEW_CHANGES:
        build = Build(snapshot)
        apply_changes(tree, build, gate, changed, removed)
        updated = build.finish(scan, changed)
        written = _try_to_save(tree, places, gate, updated, snapshot) if keep else None
        generation = written.generation if written is not None else 0
        return _opened(written or updated, lambda: scan, skipped, notices, generation=generation)
    if snapshot is None:
        empty = Build(None).finish(scan, ())
        return _opened(empty, lambda: scan, skipped, notices, behind=len(changed), missing=True)
    # Removed files need no change: a hit whose file is gone is dropped when it is read.
    return _opened(snapshot, lambda: scan, skipped, notices, behind=len(changed))


def _opened(
    snapshot: Snapshot,
    read_scan: Callable[[], Stamps],
    skipped: Sequence[str],
    notices: Sequence[str] = (),
    *,
    generation: int | None = None,
    behind: int = 0,
    missing: bool = False,
    unlooked: bool = False,
) -> Opened:
    return Opened(
        index=snapshot.index,
        unreadable=(*snapshot.unreadable, *skipped),
        read_scan=read_scan,
        supersedes={} if missing else snapshot.supersedes,
        generation=snapshot.generation if generation is None else generation,
        behind=behind,
        missing=missing,
        notices=tuple(notices),
        unlooked=unlooked,
    )


def _has_same_folders(tree: WorkTree, snapshot: Snapshot) -> bool:
    """Return whether no file was added, removed or renamed since: all folders are as they were."""
    names = [line.split(" ", 2)[2] for line in snapshot.folders if not line.startswith(YOUNG)]
    return len(names) == len(snapshot.folders) and stamp_folders(tree, names) == snapshot.folders


def _is_pass_old(tree: WorkTree, places: Places) -> bool:
    import time  # compared with a file's time, which no surface can pass down

    try:
        passed = os.stat(os.path.join(index_folder(tree, places), "passed")).st_mtime
    except OSError:
        return True
    return not 0 <= time.time() - passed < _PASS_SECONDS


def find_successors(tree: WorkTree, opened: Opened) -> dict[str, list[str]]:
    """Return each superseded id with the paths of the memories that replace it."""
    supersedes: Mapping[str, Sequence[str]] = opened.supersedes
    if opened.missing:
        supersedes = {}
        for entry in opened.read_scan().entries:
            try:
                if b"supersedes" not in read_file(tree, entry.path):
                    continue
            except UnreadableFile:
                continue
            document = read_document(tree, entry.path, None)
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


def _try_to_save(
    tree: WorkTree, places: Places, gate: Gate, updated: Snapshot, before: Snapshot | None
) -> Snapshot | None:
    """Write what this recall has read, unless another process is writing or has written meanwhile; return
    what was written."""
    try:
        folder = make_index_folder(tree, places)
        with own_lock(f"{folder}/lock", wait=False) as locked:
            if not locked:
                return None
            try:
                current = read_snapshot(tree, places, gate.version)
            except DamagedIndex:
                current = None
            if (current.generation if current else None) != (before.generation if before else None):
                return None
            if before is not None and before.index.paths == updated.index.paths and YOUNG in updated.read_seen():
                return None  # only young files were read again; they will be once more
            with writing(tree, places, before) as writer:
                if len(updated.index.tail) > MAX_TAIL:
                    writer.append(updated.index.tail)
                    updated.index.tail = []
                return writer.finish(updated, gate.version)
    except (OSError, SetupError):
        return None  # a full or read-only disk: this answer does not need it


def compare(snapshot: Snapshot | None, scan: Stamps) -> tuple[list[Entry], list[str]]:
    """Return the entries that are new or changed since the snapshot, and the paths that are gone."""
    if snapshot is None:
        return list(scan.entries), []
    changed = [parse_stamp(line) for line in set(scan.lines).difference(snapshot.read_seen().split("\n"))]
    present = {line.split(" ", 3)[3] for line in scan.lines}
    known = (path for path in snapshot.index.paths if path)
    removed = [path for path in known if path not in present]
    removed += [path for path in snapshot.unreadable if path not in present]
    return sorted(changed), removed
