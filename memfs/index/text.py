"""The text index in memory: rows, postings and the scores of one caller (RETRIEVAL 2, ADMISSION 7).

A row is one memory file as it was when it was indexed. Scores are BM25 with every statistic (number
of documents, average length, document frequency) taken over the rows that this caller sees, so a
hidden memory changes nothing. Rows that were replaced or removed are dead: they count as hidden.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import TYPE_CHECKING

from memfs.index.tokenizer import query_terms

if TYPE_CHECKING:
    from memfs.index.lexical import Postings

B = 0.4
K1 = 1.2
MAX_SCORED_TERMS = 12
"""The rarest terms of a longer query are scored (RETRIEVAL 2)."""

DEAD = 0  # the scope number of a dead row

Counts = Mapping[str, int]


class TextIndex:
    """Rows of one repository and what is needed to score them. Made by ``memfs.index.refresh``."""

    __slots__ = ("keys", "lengths", "open_postings", "paths", "postings_rows", "scope_names", "scopes", "tail")

    def __init__(
        self,
        *,
        paths: list[str],
        keys: list[str],
        scopes: array[int],
        lengths: array[int],
        scope_names: list[str | None],
        postings_rows: int,
        open_postings: Callable[[], Postings] | None,
        tail: list[Counts],
    ) -> None:
        self.paths = paths  # "" for a dead row
        self.keys = keys  # the key of the row's text, for vectors
        self.scopes = scopes  # index into scope_names; 0 is a dead row
        self.lengths = lengths  # terms in the row
        self.scope_names = scope_names  # [0] stands for dead; None is a file in no scope folder
        self.postings_rows = postings_rows  # rows below this are in the postings, the rest in the tail
        self.open_postings = open_postings
        self.tail = tail

    def __len__(self) -> int:
        return len(self.paths)

    def allowed_rows(self, sees: Callable[[str | None], bool]) -> bytes:
        """Return one byte a row: 1 where it lives and ``sees`` says yes to its scope."""
        flags = [0] + [1 if sees(name) else 0 for name in self.scope_names[1:]]
        return bytes(map(flags.__getitem__, self.scopes))

    def search(
        self, text: str, sees: Callable[[str | None], bool], *, limit: int = 100, keep_stop_words: bool = False
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (row, score) for the query ``text`` in this index alone, best first."""
        found = search_texts([self], text, sees, limit=limit, keep_stop_words=keep_stop_words)
        return [(row, score) for _, row, score in found]

    def read_postings(self, terms: Sequence[str]) -> list[tuple[list[int], list[float]]]:
        """Return for each term the rows that hold it, dead and hidden ones too, and how often."""
        postings = self.open_postings() if self.open_postings is not None and self.postings_rows else None
        found = []
        for term in terms:
            rows, counts = postings.read(term) if postings is not None else ([], [])
            for row, document in enumerate(self.tail, self.postings_rows):
                if term in document:
                    rows.append(row)
                    counts.append(document[term])
            found.append((rows, counts))
        return found


def search_texts(
    indexes: Sequence[TextIndex],
    text: str,
    sees: Callable[[str | None], bool],
    *,
    limit: int = 100,
    keep_stop_words: bool = False,
) -> list[tuple[int, int, float]]:
    """Return up to ``limit`` (index number, row, score) for the query ``text``, best first.

    All indexes are scored as one collection. Equal scores stand in the order of index and path. The
    scores of the rows that ``sees`` allows do not depend on any other row.
    """
    terms = query_terms(text, keep_stop_words=keep_stop_words)
    if not terms:
        return []
    allowed = [index.allowed_rows(sees) for index in indexes]
    count = sum(map(sum, allowed))
    if not count:
        return []
    total = sum(_visible_length(index, flags) for index, flags in zip(indexes, allowed, strict=True))
    postings = [_visible_postings(index, terms, flags) for index, flags in zip(indexes, allowed, strict=True)]
    frequencies = [sum(len(found[term][0]) for found in postings) for term in range(len(terms))]
    known = [term for term, frequency in enumerate(frequencies) if frequency]
    scored = sorted(nsmallest(MAX_SCORED_TERMS, known, key=lambda term: (frequencies[term], term)))
    flat, slope = K1 * (1 - B), K1 * B * count / (total or 1)
    ranked: list[tuple[float, int, str, int]] = []
    for number, (index, found) in enumerate(zip(indexes, postings, strict=True)):
        scores: dict[int, float] = {}
        get, lengths = scores.get, index.lengths
        for term in scored:
            frequency = frequencies[term]
            weight = log(1 + (count - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)
            for row, tf in zip(*found[term], strict=True):
                scores[row] = get(row, 0.0) + weight * tf / (tf + flat + slope * lengths[row])
        paths = index.paths
        ranked += nsmallest(limit, [(-score, number, paths[row], row) for row, score in scores.items()])
    return [(number, row, -score) for score, number, _, row in nsmallest(limit, ranked)]


def _visible_length(index: TextIndex, allowed: bytes) -> int:
    if 0 not in allowed:
        return sum(index.lengths)
    return sum(length for length, seen in zip(index.lengths, allowed, strict=True) if seen)


def _visible_postings(
    index: TextIndex, terms: Sequence[str], allowed: bytes
) -> list[tuple[Sequence[int], Sequence[float]]]:
    found = index.read_postings(terms)
    if 0 not in allowed:
        return list(found)
    visible: list[tuple[Sequence[int], Sequence[float]]] = []
    for rows, counts in found:
        pairs = [pair for pair in zip(rows, counts, strict=True) if allowed[pair[0]]]
        visible.append(([row for row, _ in pairs], [tf for _, tf in pairs]))
    return visible
