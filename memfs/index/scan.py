"""Searching without an index: a text index in memory, of the files that could match (RETRIEVAL 2).

Used while an index is missing and there is too much to read for one recall. A file that holds none of
the query's words is counted, by its size, and not tokenised.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memfs.disk.files import Entry, UnreadableFile, read_file
from memfs.index.document import count_terms
from memfs.index.text import Counts, TextIndex
from memfs.model.scope import scope_of_path

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree

MAX_SCANNED = 20_000
_BYTES_A_TERM = 7


def scan_texts(
    tree: WorkTree, entries: Sequence[Entry], terms: Sequence[str], sees: Callable[[str | None], bool]
) -> TextIndex:
    """Return an index of the files that ``sees`` allows, with the terms of those that may match."""
    stems = [term.encode() for term in terms]
    names: list[str | None] = [None]
    paths: list[str] = []
    scopes, lengths = array("H"), array("I")
    tail: list[Counts] = []
    for entry in entries[:MAX_SCANNED]:
        scope = scope_of_path(entry.path)
        if not sees(scope):
            continue
        counts: Counts = {}
        length = 0
        try:
            raw = read_file(tree, entry.path)
        except UnreadableFile:
            continue
        if not raw.isascii() or any(stem in raw.lower() for stem in stems):
            counts, length = count_terms(raw.decode("utf-8", "replace"))
        if scope not in names[1:]:
            names.append(scope)
        paths.append(entry.path)
        scopes.append(names.index(scope, 1))
        lengths.append(length or entry.size // _BYTES_A_TERM)
        tail.append(counts)
    return TextIndex(
        paths=paths,
        keys=bytearray(16 * len(paths)),
        scopes=scopes,
        lengths=lengths,
        scope_names=names,
        postings_rows=0,
        open_postings=None,
        tail=tail,
        read_facets=lambda: [""] * len(paths),
    )
