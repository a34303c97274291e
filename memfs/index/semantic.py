"""The meaning side of an index: which model, which vectors, and embedding what is missing."""

from __future__ import annotations

import os
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from memfs.disk.files import UnreadableFile, read_file
from memfs.disk.installed import install_command
from memfs.disk.private import make_folder, read_own, replace_own
from memfs.disk.worktree import identify
from memfs.errors import MemfsError, SetupError
from memfs.index.embedding import Embedder, is_available
from memfs.index.models import Prepared, can_prepare, chosen_runtime, find_prepared, is_damaged, prepare, was_prepared
from memfs.index.text import KEY_BYTES, NO_KEY
from memfs.index.vectors import Vectors, append_vectors, drop_damaged

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.index.folder import Snapshot
    from memfs.index.opening import Opened
    from memfs.index.text import TextIndex

WORKERS = 2
_PLACES = Struct("<QQI")  # generation of the index, rows of the vectors, checksum
_CHUNK = 32  # texts a worker embeds before it writes them


def vector_folder(tree: WorkTree, places: Places, key: str) -> str:
    """Return where the vectors of a repository lie; its work trees share them."""
    common = os.path.realpath(tree.common_dir or tree.root)
    name = sha256(os.fsencode(common)).hexdigest()[:32]
    return os.path.join(places.cache, "vectors", name, key)


def read_vectors(tree: WorkTree, places: Places, prepared: Prepared) -> Vectors:
    """Return the vectors of the repository for one model; none where there are none."""
    return Vectors(vector_folder(tree, places, prepared.key), prepared.model.dimensions)


def find_model(places: Places) -> tuple[Prepared | None, str | None]:
    """Return the model that can be used now, or None and the one sentence why not."""
    prepared = find_prepared(places)
    if prepared is not None and is_available(prepared.model.runtime):
        return prepared, None
    if prepared is not None or not is_available(chosen_runtime(places)):
        return None, f"recall is by words only: {install_command('semantic')} adds recall by meaning"
    return None, "recall is by words only: no model is prepared yet (`memfs index` does it)"


def is_outdated(places: Places) -> bool:
    """Return whether the model in use was prepared by another version of memfs and can be prepared again."""
    return is_available(chosen_runtime(places)) and was_prepared(places) and can_prepare(places)


def prepare_if_possible(places: Places) -> Prepared | None:
    """Return the model in use, prepared now if need be; None where it or onnxruntime is not installed."""
    if not is_available(chosen_runtime(places)):
        return None
    prepared = find_prepared(places)
    if prepared is not None:
        return prepared
    try:
        return prepare(places)
    except MemfsError:
        return None


NOWHERE, NEVER = -1, -2
"""In a list of places: a text that has no vector yet, and a row that never has one."""


def find_places(index: TextIndex, vectors: Vectors) -> array[int]:
    """Return for each row of ``index`` the row of its vector, :data:`NOWHERE` or :data:`NEVER`."""
    keys, get, size = bytes(index.keys), vectors.rows.get, KEY_BYTES
    return array("i", [get(key, NOWHERE) if (key := keys[at : at + size]) != NO_KEY else NEVER
                       for at in range(0, len(keys), size)])  # fmt: skip


def keep_places(tree: WorkTree, folder: str, snapshot: Snapshot, vectors: Vectors) -> None:
    """Write down where the vectors of a generation of this work tree lie, for :func:`read_places`."""
    if vectors.count and os.path.isdir(folder):
        found = find_places(snapshot.index, vectors).tobytes()
        head = _PLACES.pack(snapshot.generation, vectors.count, crc32(found))
        replace_own(os.path.join(folder, f"places-{identify(tree)}"), head + found)


def read_places(tree: WorkTree, places: Places, prepared: Prepared, opened: Opened, vectors: Vectors) -> array[int]:
    """Return :func:`find_places`, from the disk where the same generation and the same vectors were kept."""
    path = os.path.join(vector_folder(tree, places, prepared.key), f"places-{identify(tree)}")
    size = _PLACES.size + 4 * len(opened.index)
    try:
        raw = read_own(path, limit=size) if opened.generation else None
    except MemfsError:
        raw = None
    if raw is not None and len(raw) == size:
        generation, count, crc = _PLACES.unpack_from(raw)
        if (generation, count) == (opened.generation, vectors.count) and crc32(raw[_PLACES.size :]) == crc:
            found = array("i")
            found.frombytes(raw[_PLACES.size :])
            return found
    return find_places(opened.index, vectors)


def find_missing(index: TextIndex, vectors: Vectors) -> list[int]:
    """Return the living rows whose text has no vector yet, each text once."""
    missing = {index.key(row): row for row, place in enumerate(find_places(index, vectors)) if place == NOWHERE}
    return list(missing.values())


def embed_rows(tree: WorkTree, places: Places, index: TextIndex, rows: Sequence[int], embedder: Embedder) -> int:
    """Embed the texts of ``rows`` and keep their vectors; return how many there were."""
    folder = vector_folder(tree, places, embedder.key)
    make_folder(places, "cache", *os.path.relpath(folder, places.cache).split(os.sep))
    pairs = list(_embed(tree, index, rows, embedder))
    append_vectors(folder, pairs, embedder.model.dimensions)
    return len(pairs)


class Done(NamedTuple):
    """What an embedding run did: texts embedded, and how many of them because their vectors were damaged."""

    embedded: int = 0
    repaired: int = 0


def embed_missing(
    tree: WorkTree, places: Places, snapshot: Snapshot, *, progress: Callable[[int, int], None] | None = None
) -> Done:
    """Embed every row that has no sound vector, in two processes.

    Does nothing without a model. A worker writes as it goes, so what a killed run has done stays done.
    """
    prepared = prepare_if_possible(places)
    if prepared is None:
        return Done()
    folder = vector_folder(tree, places, prepared.key)
    if is_damaged(prepared):
        prepared = prepare(places)
        shutil.rmtree(folder, ignore_errors=True)  # nobody knows which vectors the damaged model made
    repaired = drop_damaged(folder, prepared.model.dimensions)
    missing = find_missing(snapshot.index, read_vectors(tree, places, prepared))
    done = _embed_in_workers(tree, places, snapshot.index, missing, prepared=prepared, progress=progress)
    keep_places(tree, folder, snapshot, read_vectors(tree, places, prepared))
    return Done(done, repaired)


def _embed_in_workers(
    tree: WorkTree,
    places: Places,
    index: TextIndex,
    missing: Sequence[int],
    *,
    prepared: Prepared,
    progress: Callable[[int, int], None] | None,
) -> int:
    if not missing:
        return 0
    count = min(WORKERS, (len(missing) + _CHUNK - 1) // _CHUNK)
    reader, writer = os.pipe()
    workers = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            os.close(reader)
            _work(tree, places, index, missing[number::count], prepared=prepared, writer=writer)
        workers.append(child)
    os.close(writer)
    done = 0
    try:
        while piece := os.read(reader, 4096):
            done += sum(piece)
            if progress is not None:
                progress(done, len(missing))
    finally:
        os.close(reader)
        statuses = [os.waitpid(child, 0)[1] for child in workers]
    if any(statuses):
        raise SetupError("the model could not embed every memory", hint="memfs model prepare")
    return done


def _work(
    tree: WorkTree, places: Places, index: TextIndex, rows: Sequence[int], *, prepared: Prepared, writer: int
) -> None:
    """Embed ``rows`` in a forked worker, tell how many by bytes through ``writer``, and end."""
    code = 1
    try:
        embedder = Embedder(prepared, indexing=True)
        for start in range(0, len(rows), _CHUNK):
            chunk = rows[start : start + _CHUNK]
            embed_rows(tree, places, index, chunk, embedder)
            os.write(writer, bytes([len(chunk)]))
        code = 0
    except BrokenPipeError:
        code = 0  # the parent was interrupted; what was written stays
    finally:
        os._exit(code)  # never back into the parent's code


def _embed(
    tree: WorkTree, index: TextIndex, rows: Sequence[int], embedder: Embedder
) -> Iterator[tuple[bytes, array[float], bytes]]:
    from memfs.index.document import embeddable_text, indexable_text, text_key
    from memfs.model.reader import read_memory

    for row in rows:
        path = index.paths[row]
        try:
            file = read_memory(path, read_file(tree, path))
        except UnreadableFile:
            continue
        # Only the text that the index knows, and that passed the gate, is embedded.
        if file.document is not None and text_key(indexable_text(file)) == index.key(row):
            found = embedder.embed(embeddable_text(file))
            yield index.key(row), found.vector, found.tokens
