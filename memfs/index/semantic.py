"""The meaning side of an index: which model, which vectors, and embedding what is missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from memfs.disk.files import UnreadableFile, read_file
from memfs.disk.private import make_folder
from memfs.errors import MemfsError, SetupError
from memfs.index.embedding import Embedder, is_available
from memfs.index.models import Prepared, can_prepare, chosen_runtime, find_prepared, prepare, was_prepared
from memfs.index.text import DEAD, NO_KEY
from memfs.index.vectors import Vectors, append_vectors

if TYPE_CHECKING:
    from array import array

    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.index.text import TextIndex

WORKERS = 2
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
        return None, "recall is by words only: pip install 'memfs-git[semantic]' adds recall by meaning"
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


def find_missing(index: TextIndex, vectors: Vectors) -> list[int]:
    """Return the living rows whose text has no vector yet, each text once."""
    missing: dict[bytes, int] = {}
    for row, scope in enumerate(index.scopes):
        key = index.key(row)
        if scope != DEAD and key != NO_KEY and key not in vectors.rows:
            missing.setdefault(key, row)
    return list(missing.values())


def embed_rows(tree: WorkTree, places: Places, index: TextIndex, rows: Sequence[int], embedder: Embedder) -> int:
    """Embed the texts of ``rows`` and keep their vectors; return how many there were."""
    folder = vector_folder(tree, places, embedder.key)
    make_folder(places, "cache", *os.path.relpath(folder, places.cache).split(os.sep))
    pairs = list(_embed(tree, index, rows, embedder))
    append_vectors(folder, pairs, embedder.model.dimensions)
    return len(pairs)


def embed_missing(
    tree: WorkTree, places: Places, index: TextIndex, *, progress: Callable[[int, int], None] | None = None
) -> int:
    """Embed every row that has no vector, in two processes, and return how many there were.

    Does nothing without a model. A worker writes as it goes, so what a killed run has done stays done.
    """
    prepared = prepare_if_possible(places)
    if prepared is None:
        return 0
    missing = find_missing(index, read_vectors(tree, places, prepared))
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
