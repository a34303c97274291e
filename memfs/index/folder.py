"""The index on disk: where it lies, who may have written it, what it must say before it is read.

``<cache>/index/<digest of the tree's real path>/`` holds ``manifest.json`` and one folder
``text-N`` a generation. A generation is built aside, renamed into place and then named by the
manifest; it is never changed afterwards, so a reader has a consistent index without a lock.
Everything here can be deleted at any time and costs only time.
"""

from __future__ import annotations

import json
import os
import stat
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from memfs.disk.private import find_folder, make_folder
from memfs.disk.worktree import WorkTree, identify
from memfs.errors import SetupError
from memfs.index.text import KEY_BYTES, Counts, DamagedIndex, TextIndex
from memfs.index.tokenizer import TOKENIZER_VERSION

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.index.postings import Postings

FORMAT = 5
"""Version of this layout; another one is rebuilt."""

PARTS = ("paths", "keys", "scopes", "lengths", "tail", "seen", "facets", "code")
"""The tables of a generation, beside the files of Whoosh."""
_READ_LATER = ("keys", "facets", "seen")

YOUNG = "? "
"""Begins the stamp of a file or folder that is looked at once more."""

ENGINE = "whoosh-w3"
"""lexical.ENGINE, which must not be imported before the manifest is checked."""


class Snapshot:
    """One generation of the index in memory."""

    __slots__ = ("folders", "generation", "index", "read_seen", "segments", "skipped", "supersedes", "unreadable")

    def __init__(
        self,
        *,
        index: TextIndex,
        read_seen: Callable[[], str],
        folders: list[str],
        skipped: list[str],
        unreadable: dict[str, str],
        supersedes: dict[str, list[str]],
        generation: int,
        segments: list[tuple[str, int]],
    ) -> None:
        self.index = index
        self.read_seen = read_seen  # the sorted stamps of the files that this generation was made from
        self.folders = folders  # the stamps of their folders, sorted
        self.skipped = skipped  # paths below memories/ that are passed over
        self.unreadable = unreadable  # path → why
        self.supersedes = supersedes  # path → the ids that this memory replaces
        self.generation = generation
        self.segments = segments  # name and rows of each segment of the postings


def index_folder(tree: WorkTree, places: Places) -> str:
    """Return the path of the index of ``tree``; nothing is created."""
    return os.path.join(places.cache, "index", identify(tree))


def find_obstacle(tree: WorkTree, places: Places) -> str | None:
    """Return why the index folder must not be used, or None.

    Opening an index executes what is in it (RETRIEVAL 2), so every folder on the way must be the
    user's own and closed to others, and none may lie in the tree that is indexed.
    """
    root = os.path.realpath(tree.root)
    cache = os.path.realpath(places.cache)
    if cache == root or cache.startswith(root + os.sep):
        return "the user's cache lies inside this repository"
    try:
        find_folder(places, "cache", "index", identify(tree))
    except SetupError as error:
        return str(error)
    return None


def read_snapshot(tree: WorkTree, places: Places, gate: int | None) -> Snapshot | None:
    """Return the newest generation, or None where there is none that this version can read.

    ``gate`` is the version of the gate that it must have passed; None takes any.

    Raises :class:`DamagedIndex` when files are missing, changed or not the user's own.
    """
    folder = index_folder(tree, places)
    for attempt in range(4):
        manifest = _read_manifest(folder, os.path.realpath(tree.root), gate)
        if manifest is None:
            return None
        try:
            return _read_generation(folder, manifest)
        except FileNotFoundError as error:
            # A writer may have replaced the generation between our two reads (RETRIEVAL 1).
            if attempt == 3:
                raise DamagedIndex("a file of the index is missing") from error
        except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise DamagedIndex(f"the index cannot be read ({type(error).__name__})") from error
    return None


def _read_manifest(folder: str, root: str, gate: int | None) -> dict[str, Any] | None:
    try:
        with open(os.path.join(folder, "manifest.json"), "rb") as file:
            manifest = json.loads(file.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedIndex("its manifest cannot be read") from error
    wanted: dict[str, object] = {"format": FORMAT, "tokenizer": TOKENIZER_VERSION, "engine": ENGINE, "root": root}
    if gate is not None:
        wanted["gate"] = gate
    if not isinstance(manifest, dict):
        raise DamagedIndex("its manifest is not a mapping")
    if any(manifest.get(key) != value for key, value in wanted.items()):
        return None
    return manifest


def _read_generation(folder: str, manifest: Mapping[str, Any]) -> Snapshot:
    generation = int(manifest["generation"])
    place = os.path.join(folder, f"text-{generation}")
    _require_files(place, manifest["sizes"])
    crcs: dict[str, int] = manifest["crc"]
    parts = {name: _read_part(place, name, crcs[name]) for name in PARTS if name not in _READ_LATER}
    paths = parts["paths"].decode("utf-8", "surrogateescape")
    scopes, lengths = array("H"), array("I")
    scopes.frombytes(parts["scopes"])
    lengths.frombytes(parts["lengths"])
    tail: list[Counts] = json.loads(parts["tail"])
    segments = [(str(name), int(rows)) for name, rows in manifest["segments"]]
    if any("/" in name for name, _ in segments):
        raise DamagedIndex("a segment has a strange name")
    postings_rows = sum(rows for _, rows in segments)
    index = TextIndex(
        paths=paths.split("\n") if scopes else [],
        keys=bytearray(_read_part(place, "keys", crcs["keys"])),
        scopes=scopes,
        lengths=lengths,
        scope_names=list(manifest["scopes"]),
        postings_rows=postings_rows,
        open_postings=lambda: open_generation(place, segments),
        tail=tail,
        read_facets=lambda: _read_facets(place, crcs["facets"], len(scopes)),
        code=set(memoryview(parts["code"]).cast("I")),
    )
    rows = len(scopes)
    sizes_agree = len(index.paths) == len(lengths) == rows == index.postings_rows + len(tail)
    if not sizes_agree or len(index.keys) != rows * KEY_BYTES:
        raise DamagedIndex("the tables of the index do not agree")
    if scopes and max(scopes) >= len(index.scope_names):
        raise DamagedIndex("a row of the index has no scope")
    return Snapshot(
        index=index,
        read_seen=lambda: _read_part(place, "seen", crcs["seen"]).decode("utf-8", "surrogateescape"),
        folders=list(map(str, manifest["folders"])),
        skipped=list(map(str, manifest["skipped"])),
        unreadable={str(path): str(reason) for path, reason in manifest["unreadable"].items()},
        supersedes={str(path): list(map(str, ids)) for path, ids in manifest["supersedes"].items()},
        generation=generation,
        segments=segments,
    )


def _require_files(place: str, sizes: Mapping[str, int]) -> None:
    with os.scandir(place) as entries:
        present = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
    for name, size in sizes.items():
        status = present.get(name)
        if status is None:
            raise FileNotFoundError(name)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size != size:
            raise DamagedIndex("a file of the index has another size, kind or owner")


def find_damage(tree: WorkTree, places: Places, snapshot: Snapshot) -> str | None:
    """Return what is wrong with the bytes that a search reads in parts, or None. Reads everything once."""
    place = os.path.join(index_folder(tree, places), f"text-{snapshot.generation}")
    try:
        snapshot.read_seen()
        snapshot.index.read_facets()
        if snapshot.segments:
            open_generation(place, snapshot.segments).verify()
    except (DamagedIndex, OSError, ValueError) as error:
        return str(error)
    return None


def _read_part(place: str, name: str, crc: int) -> bytes:
    with open(os.path.join(place, name), "rb") as file:
        raw = file.read()
    if crc32(raw) != crc:
        raise DamagedIndex(f"{name} was changed")
    return raw


def _read_facets(place: str, crc: int, rows: int) -> list[str]:
    lines = _read_part(place, "facets", crc).decode("utf-8", "surrogateescape").split("\n")
    return lines if len(lines) == rows else [""] * rows


def open_generation(place: str, segments: Sequence[tuple[str, int]]) -> Postings:
    """Return the posting lists of one generation. Raises :class:`DamagedIndex`."""
    from struct import error as StructError

    from memfs.index.postings import Postings

    try:
        return Postings(place, segments)
    except (StructError, ValueError) as error:
        raise DamagedIndex(f"the postings cannot be opened ({error})") from error


def make_index_folder(tree: WorkTree, places: Places) -> str:
    """Return the index folder, made where it was missing, closed to others.

    Raises :class:`SetupError` when it must not be used.
    """
    folder = index_folder(tree, places)
    make_folder(places, "cache", "index", identify(tree))
    obstacle = find_obstacle(tree, places)
    if obstacle is not None:
        raise SetupError(obstacle, where=folder, hint="memfs doctor")
    return folder
