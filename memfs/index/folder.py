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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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

FORMAT = 3
"""Version of this layout; another one is rebuilt."""

PARTS = ("paths", "keys", "scopes", "lengths", "tail", "seen", "facets")
"""The tables of a generation, beside the files of Whoosh."""

_ENGINE = "whoosh-w3"  # lexical.ENGINE, which must not be imported before the manifest is checked
_KEPT_SECONDS = 60  # a replaced generation stays this long for readers that still open it,
_KEPT_GENERATIONS = 8  # unless there are more of them than this


class Snapshot:
    """One generation of the index in memory."""

    __slots__ = ("generation", "index", "seen", "segments", "supersedes", "unreadable")

    def __init__(
        self,
        *,
        index: TextIndex,
        seen: str,
        unreadable: dict[str, str],
        supersedes: dict[str, list[str]],
        generation: int,
        segments: list[tuple[str, int]],
    ) -> None:
        self.index = index
        self.seen = seen  # the sorted stamps of the files that this generation was made from
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
        except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
            raise DamagedIndex(f"the index cannot be read ({type(error).__name__})") from error
    return None


def _read_manifest(folder: str, root: str, gate: int | None) -> dict[str, Any] | None:
    try:
        with open(os.path.join(folder, "manifest.json"), "rb") as file:
            manifest = json.loads(file.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DamagedIndex("its manifest cannot be read") from error
    wanted: dict[str, object] = {"format": FORMAT, "tokenizer": TOKENIZER_VERSION, "engine": _ENGINE, "root": root}
    if gate is not None:
        wanted["gate"] = gate
    if not isinstance(manifest, dict):
        raise DamagedIndex("its manifest is no mapping")
    if any(manifest.get(key) != value for key, value in wanted.items()):
        return None
    return manifest


def _read_generation(folder: str, manifest: Mapping[str, Any]) -> Snapshot:
    generation = int(manifest["generation"])
    place = os.path.join(folder, f"text-{generation}")
    sizes: dict[str, int] = manifest["sizes"]
    with os.scandir(place) as entries:
        present = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
    for name, size in sizes.items():
        status = present.get(name)
        if status is None:
            raise FileNotFoundError(name)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size != size:
            raise DamagedIndex("a file of the index has another size, kind or owner")
    crcs: dict[str, int] = manifest["crc"]
    parts = {name: _read_part(place, name, crcs[name]) for name in PARTS if name not in ("keys", "facets")}
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
        open_postings=lambda: _open_postings(place, segments),
        tail=tail,
        read_facets=lambda: _read_facets(place, crcs["facets"], len(scopes)),
    )
    rows = len(scopes)
    sizes_agree = len(index.paths) == len(lengths) == rows == index.postings_rows + len(tail)
    if not sizes_agree or len(index.keys) != rows * KEY_BYTES:
        raise DamagedIndex("the tables of the index do not agree")
    if scopes and max(scopes) >= len(index.scope_names):
        raise DamagedIndex("a row of the index has no scope")
    return Snapshot(
        index=index,
        seen=parts["seen"].decode("utf-8", "surrogateescape"),
        unreadable={str(path): str(reason) for path, reason in manifest["unreadable"].items()},
        supersedes={str(path): list(map(str, ids)) for path, ids in manifest["supersedes"].items()},
        generation=generation,
        segments=segments,
    )


def _read_part(place: str, name: str, crc: int) -> bytes:
    with open(os.path.join(place, name), "rb") as file:
        raw = file.read()
    if crc32(raw) != crc:
        raise DamagedIndex(f"{name} was changed")
    return raw


def _read_facets(place: str, crc: int, rows: int) -> list[str]:
    lines = _read_part(place, "facets", crc).decode("utf-8", "surrogateescape").split("\n")
    return lines if len(lines) == rows else [""] * rows


def _open_postings(place: str, segments: Sequence[tuple[str, int]]) -> Postings:
    from struct import error as StructError

    from memfs.index.postings import BadPostings, Postings

    try:
        return Postings(place, segments)
    except (BadPostings, StructError) as error:
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


@contextmanager
def index_lock(folder: str, name: str, *, wait: bool) -> Iterator[bool]:
    """Hold the lock ``name`` of an index folder; yields False, without it, when another process has it
    and ``wait`` is false. Readers never take one."""
    import fcntl

    fd = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(fd)


def write_snapshot(
    tree: WorkTree, places: Places, snapshot: Snapshot, *, previous: int | None, fold: bool, gate: int
) -> Snapshot:
    """Write ``snapshot`` as a new generation and make it the current one; return it as written.

    ``previous`` is the generation whose postings it goes on from, None for none. With ``fold`` the
    tail becomes a segment of the postings. The caller holds the lock.
    """
    import shutil

    folder = index_folder(tree, places)
    index = snapshot.index
    generation = _newest_generation(folder) + 1
    aside = os.path.join(folder, f"aside-{generation}-{os.getpid()}")
    os.mkdir(aside, 0o700)
    try:
        segments, tail = list(snapshot.segments), index.tail
        if previous is not None and segments:
            _link_postings(os.path.join(folder, f"text-{previous}"), aside)
        if fold and tail:
            from memfs.index.lexical import append_postings, create_postings

            if not segments:
                create_postings(aside)
            segments.append(append_postings(aside, tail))
            tail = []
        parts = {
            "paths": "\n".join(index.paths).encode("utf-8", "surrogateescape"),
            "keys": bytes(index.keys),
            "facets": "\n".join(index.read_facets()).encode("utf-8", "surrogateescape"),
            "scopes": index.scopes.tobytes(),
            "lengths": index.lengths.tobytes(),
            "tail": json.dumps(tail, separators=(",", ":")).encode(),
            "seen": snapshot.seen.encode("utf-8", "surrogateescape"),
        }
        for name, raw in parts.items():
            _write(os.path.join(aside, name), raw)
        with os.scandir(aside) as entries:
            sizes = {entry.name: entry.stat().st_size for entry in entries}
        manifest = {
            "format": FORMAT,
            "tokenizer": TOKENIZER_VERSION,
            "engine": _ENGINE,
            "gate": gate,
            "root": os.path.realpath(tree.root),
            "generation": generation,
            "segments": segments,
            "scopes": index.scope_names,
            "unreadable": snapshot.unreadable,
            "supersedes": snapshot.supersedes,
            "crc": {name: crc32(raw) for name, raw in parts.items()},
            "sizes": sizes,
        }
        place = os.path.join(folder, f"text-{generation}")
        os.rename(aside, place)
        _write(os.path.join(folder, "manifest.new"), json.dumps(manifest).encode())
        os.rename(os.path.join(folder, "manifest.new"), os.path.join(folder, "manifest.json"))
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    _remove_old_generations(folder, generation)
    written = TextIndex(
        paths=index.paths,
        keys=index.keys,
        scopes=index.scopes,
        lengths=index.lengths,
        scope_names=index.scope_names,
        postings_rows=sum(rows for _, rows in segments),
        open_postings=lambda: _open_postings(place, segments),
        tail=list(tail),
        read_facets=index.read_facets,
    )
    return Snapshot(
        index=written,
        seen=snapshot.seen,
        unreadable=snapshot.unreadable,
        supersedes=snapshot.supersedes,
        generation=generation,
        segments=segments,
    )


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


def _newest_generation(folder: str) -> int:
    return max(_generations(folder), default=0)


def _remove_old_generations(folder: str, newest: int) -> None:
    import shutil

    now = os.stat(os.path.join(folder, "manifest.json")).st_mtime
    for number, path in _generations(folder).items():
        try:
            old = os.stat(path).st_mtime < now - _KEPT_SECONDS
            if number < newest - (1 if old else _KEPT_GENERATIONS):
                shutil.rmtree(path, ignore_errors=True)
        except FileNotFoundError:
            pass
    with os.scandir(folder) as entries:
        leftovers = [entry.path for entry in entries if entry.name.startswith("aside-")]
    for path in leftovers:  # of writers that were killed: we hold the lock, so nobody is at work there
        shutil.rmtree(path, ignore_errors=True)
