"""Bringing the index up to date with the files, for people and for the detached process of a recall."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.disk.files import Stamps, scan_stamps
from memfs.disk.private import own_lock, replace_own
from memfs.errors import SetupError
from memfs.index.build import SEGMENT, Build, Gate, apply_changes
from memfs.index.folder import (
    YOUNG,
    Snapshot,
    find_damage,
    find_obstacle,
    index_folder,
    make_index_folder,
    read_snapshot,
)
from memfs.index.opening import MANY, MAX_TAIL, compare
from memfs.index.semantic import embed_missing
from memfs.index.text import DEAD, DamagedIndex, TextIndex
from memfs.index.writer import writing
from memfs.model.values import dataclass, replace

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree

_MAX_SEGMENTS = 12  # and one more for each full segment
Progress = Callable[[int, int], None]
"""Called with (done, total) during long work."""


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
    repaired: int = 0  # vectors whose bytes were changed, made again


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


def bring_up_to_date(
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
    folder = make_index_folder(tree, places)
    # One refresh at a time: it can take minutes. The writers' lock is held for the words alone.
    with own_lock(f"{folder}/refresh.lock", wait=wait) as is_mine:
        if not is_mine:
            return None
        with own_lock(f"{folder}/lock", wait=True):
            snapshot = None if anew else _read_sound(tree, places, gate)
            report, snapshot = _refresh_words(tree, places, gate, snapshot, progress)
        replace_own(os.path.join(folder, "passed"), b"")
        done = embed_missing(tree, places, snapshot, progress=embedding_progress)
        return replace(report, embedded=done.embedded, repaired=done.repaired)


def _read_sound(tree: WorkTree, places: Places, gate: Gate) -> Snapshot | None:
    """Return the snapshot on disk; None where there is none or one of its bytes was changed."""
    try:
        snapshot = read_snapshot(tree, places, gate.version)
    except DamagedIndex:
        return None
    return None if snapshot is None or find_damage(tree, places, snapshot) else snapshot


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
    damage = find_damage(tree, places, snapshot)
    if damage is not None:
        return IndexStatus(folder=folder, state="damaged", detail=damage)
    known = {line.removeprefix(YOUNG) for line in snapshot.read_seen().split("\n")}
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
    if snapshot is not None and _is_worn(snapshot):
        snapshot = None
    rebuilt = snapshot is None
    changed, removed = compare(snapshot, scan)
    if snapshot is None or changed or removed or not _says(snapshot, scan):
        with writing(tree, places, snapshot) as writer:
            build = Build(snapshot, writer.append)
            apply_changes(tree, build, gate, changed, removed, progress=progress)
            if build.tail_rows > MAX_TAIL:
                build.flush()
            snapshot = writer.finish(build.finish(scan, changed), gate.version)
    report = RefreshReport(
        memories=sum(scope != DEAD for scope in snapshot.index.scopes),
        unreadable=len(snapshot.unreadable) + len(scan.skipped),
        changed=len(changed),
        removed=len(removed),
        generation=snapshot.generation,
        rebuilt=rebuilt,
    )
    return report, snapshot


def _says(snapshot: Snapshot, scan: Stamps) -> bool:
    """Return whether ``snapshot`` has the stamps of ``scan``: those of folders matter where there are many files."""
    is_current = snapshot.read_seen() == "\n".join(scan.lines)
    return is_current and (len(snapshot.index) < MANY or snapshot.folders == scan.folders)


def _is_worn(snapshot: Snapshot) -> bool:
    rows = len(snapshot.index)
    dead = snapshot.index.scopes.count(DEAD)
    return len(snapshot.segments) > _MAX_SEGMENTS + rows // SEGMENT or dead > max(MAX_TAIL, rows // 4)
