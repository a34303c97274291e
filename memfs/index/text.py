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
        """Return up to ``limit`` (row, score) for the query ``text``, best first.

        Equal scores stand in the order of their paths. The scores of the visible rows do not depend
        on any other row.
        """
        terms = query_terms(text, keep_stop_words=keep_stop_words)
        if not terms or not self.paths:
            return []
        allowed = self.allowed_rows(sees)
        count = sum(allowed)
        if not count:
            return []
        lengths = self.lengths
        everything = count == len(allowed)
        total = sum(lengths) if everything else sum(length for length, seen in zip(lengths, allowed, strict=True) if seen)
        average = total / count or 1.0
        found = self._visible_postings(terms, allowed, everything)
        if len(found) > MAX_SCORED_TERMS:
            rarest = set(nsmallest(MAX_SCORED_TERMS, range(len(found)), key=lambda i: (len(found[i][0]), i)))
            found = [pair for i, pair in enumerate(found) if i in rarest]
        scores: dict[int, float] = {}
        get = scores.get
        for rows, counts in found:
            weight = (log(1 + (count - len(rows) + 0.5) / (len(rows) + 0.5))) * (K1 + 1)
            flat, slope = K1 * (1 - B), K1 * B / average
            for row, tf in zip(rows, counts, strict=True):
                scores[row] = get(row, 0.0) + weight * tf / (tf + flat + slope * lengths[row])
        paths = self.paths
        best = nsmallest(limit, scores.items(), key=lambda item: (-item[1], paths[item[0]]))
        return best

    def _visible_postings(
        self, terms: Sequence[str], allowed: bytes, everything: bool
    ) -> list[tuple[list[int], list[float]]]:
        postings = self.open_postings() if self.open_postings is not None and self.postings_rows else None
        found = []
        for term in terms:
            rows, counts = postings.read(term) if postings is not None else ([], [])
            for row, document in enumerate(self.tail, self.postings_rows):
                if term in document:
                    rows.append(row)
                    counts.append(document[term])
            if rows and not everything:
                pairs = [(row, n) for row, n in zip(rows, counts, strict=True) if allowed[row]]
                rows, counts = [row for row, _ in pairs], [n for _, n in pairs]
            if rows:
                found.append((rows, counts))
        return found
