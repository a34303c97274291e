"""Writing a generation of the index: aside, in segments, then renamed into place and named by the manifest."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from zlib import crc32

from memfs.index.folder import ENGINE, FORMAT, PARTS, Snapshot, index_folder, open_generation
from memfs.index.text import Counts, TextIndex
from memfs.index.tokenizer import TOKENIZER_VERSION

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree

_KEPT_SECONDS = 60  # a replaced generation stays this long for readers that still open it,
_KEPT_GENERATIONS = 8  # unless there are more of them than this


class Writer:
    """A generation that nobody sees before :meth:`finish`. Made by :func:`writing`."""

    def __init__(self, folder: str, root: str, previous: Snapshot | None) -> None:
        self._folder = folder
        self._root = root
        self.segments = list(previous.segments) if previous is not None else []
        self.generation = max(_generations(folder), default=0) + 1
        self._aside = os.path.join(folder, f"aside-{self.generation}-{os.getpid()}")
        os.mkdir(self._aside, 0o700)
        if previous is not None and self.segments:
            _link_postings(os.path.join(folder, f"text-{previous.generation}"), self._aside)

    def append(self, documents: Sequence[Counts]) -> None:
        """Write ``documents``, the next rows, as a segment of the postings."""
        from memfs.index.lexical import append_postings, create_postings

        if not self.segments:
            create_postings(self._aside)
        self.segments.append(append_postings(self._aside, documents))

    def finish(self, snapshot: Snapshot, gate: int) -> Snapshot:
        """Make ``snapshot``, whose rows before its tail were appended, the current generation; return it as read."""
        index = snapshot.index
        parts = {
            "paths": "\n".join(index.paths).encode("utf-8", "surrogateescape"),
            "keys": bytes(index.keys),
            "facets": "\n".join(index.read_facets()).encode("utf-8", "surrogateescape"),
            "scopes": index.scopes.tobytes(),
            "lengths": index.lengths.tobytes(),
            "code": array("I", sorted(index.code)).tobytes(),
            "tail": json.dumps(index.tail, separators=(",", ":")).encode(),
            "seen": snapshot.read_seen().encode("utf-8", "surrogateescape"),
        }
        for name, raw in parts.items():
            _write(os.path.join(self._aside, name), raw)
        with os.scandir(self._aside) as entries:
            sizes = {entry.name: entry.stat().st_size for entry in entries}
        manifest = {
            "format": FORMAT,
            "tokenizer": TOKENIZER_VERSION,
            "engine": ENGINE,
            "gate": gate,
            "root": self._root,
            "generation": self.generation,
            "segments": self.segments,
            "scopes": index.scope_names,
            "folders": snapshot.folders,
            "skipped": snapshot.skipped,
            "unreadable": snapshot.unreadable,
            "supersedes": snapshot.supersedes,
            "crc": {name: crc32(raw) for name, raw in parts.items()},
            "sizes": sizes,
        }
        place = os.path.join(self._folder, f"text-{self.generation}")
        os.rename(self._aside, place)
        _write(os.path.join(self._folder, "manifest.new"), json.dumps(manifest).encode())
        os.rename(os.path.join(self._folder, "manifest.new"), os.path.join(self._folder, "manifest.json"))
        _remove_old_generations(self._folder, self.generation)
        return self._written(snapshot, place)

    def _written(self, snapshot: Snapshot, place: str) -> Snapshot:
        index, segments = snapshot.index, self.segments
        written = TextIndex(
            paths=index.paths,
            keys=index.keys,
            scopes=index.scopes,
            lengths=index.lengths,
            scope_names=index.scope_names,
            postings_rows=sum(rows for _, rows in segments),
            open_postings=lambda: open_generation(place, segments),
            tail=list(index.tail),
            read_facets=index.read_facets,
            code=index.code,
        )
        return Snapshot(
            index=written,
            read_seen=snapshot.read_seen,
            folders=snapshot.folders,
            skipped=snapshot.skipped,
            unreadable=snapshot.unreadable,
            supersedes=snapshot.supersedes,
            generation=self.generation,
            segments=segments,
        )

    def abandon(self) -> None:
        """Remove what was written and is not in place."""
        _remove(self._aside)


@contextmanager
def writing(tree: WorkTree, places: Places, previous: Snapshot | None) -> Iterator[Writer]:
    """Yield the writer of the next generation, which goes on from ``previous``. The caller has the lock."""
    writer = Writer(index_folder(tree, places), os.path.realpath(tree.root), previous)
    try:
        yield writer
    finally:
        writer.abandon()


def _remove(folder: str) -> None:
    if os.path.isdir(folder):
        import shutil  # slow to load, and a recall without changes loads this module too

        shutil.rmtree(folder, ignore_errors=True)


def _write(path: str, raw: bytes) -> None:
    with open(path, "wb") as file:
        file.write(raw)


def _link_postings(old: str, new: str) -> None:
    with os.scandir(old) as entries:
        names: Sequence[str] = [entry.name for entry in entries if entry.name not in PARTS]
    for name in names:
        if "LOCK" not in name:
            os.link(os.path.join(old, name), os.path.join(new, name), follow_symlinks=False)


def _generations(folder: str) -> dict[int, str]:
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            kind, _, number = entry.name.partition("-")
            if kind == "text" and number.isdecimal():
                found[int(number)] = entry.path
    return found


def _remove_old_generations(folder: str, newest: int) -> None:
    now = os.stat(os.path.join(folder, "manifest.json")).st_mtime
    for number, path in _generations(folder).items():
        try:
            old = os.stat(path).st_mtime < now - _KEPT_SECONDS
            if number < newest - (1 if old else _KEPT_GENERATIONS):
                _remove(path)
        except FileNotFoundError:
            pass
    with os.scandir(folder) as entries:
        leftovers = [entry.path for entry in entries if entry.name.startswith("aside-")]
    for path in leftovers:  # of writers that were killed: we hold the lock, so nobody is at work there
        _remove(path)
