"""The text index in memory: rows, postings and the scores of one caller (RETRIEVAL 2, ADMISSION 7).

A row is one memory file as it was when it was indexed. Scores are BM25 with every statistic (number
of documents, average length, document frequency) taken over the rows that this caller sees, so a
hidden memory changes nothing. Rows that were replaced or removed are dead: they count as hidden.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from memfs.index.tokenizer import parse_question

if TYPE_CHECKING:
    from memfs.index.postings import Postings

B = 0.4
CODE_B = 0.9
"""How much the length of a text counts against it: of prose, of code."""
K1 = 1.2
MAX_SCORED_TERMS = 12
"""The rarest terms of a longer query are scored (RETRIEVAL 2)."""

KEY_BYTES = 16
NO_KEY = bytes(KEY_BYTES)
"""The key of a row without a text that may be embedded: a dead one, and one that the gate stops."""
DEAD = 0  # the scope number of a dead row

Counts = Mapping[str, int]
NO_FORMS: Mapping[str, Sequence[str]] = {}


class DamagedIndex(Exception):
    """The index, or a part of it, is not what its manifest promises. It is rebuilt, never trusted."""


class Beyond(NamedTuple):
    """What an index knows of visible memories that it has no rows of: their number, their terms, and in how many of
    them each term of the question occurs."""

    documents: int = 0
    length: int = 0
    frequencies: Mapping[str, int] = {}


NOTHING_BEYOND = Beyond()


class TextIndex:
    """Rows of one repository and what is needed to score them. Made by ``memfs.index.refresh``."""

    __slots__ = (
        "beyond",
        "code",
        "keys",
        "lengths",
        "open_postings",
        "paths",
        "postings_rows",
        "read_facets",
        "scope_names",
        "scopes",
        "tail",
    )

    def __init__(
        self,
        *,
        paths: list[str],
        keys: bytearray,
        scopes: array[int],
        lengths: array[int],
        scope_names: list[str | None],
        postings_rows: int,
        open_postings: Callable[[], Postings] | None,
        tail: list[Counts],
        read_facets: Callable[[], list[str]],
        code: set[int] | None = None,
        beyond: Beyond = NOTHING_BEYOND,
    ) -> None:
        self.code = code or set()  # rows that are code: their length counts more
        self.beyond = beyond
        self.paths = paths  # "" for a dead row
        self.keys = keys  # KEY_BYTES a row: stands for the row's text, names its vector
        self.scopes = scopes  # index into scope_names; 0 is a dead row
        self.lengths = lengths  # terms in the row
        self.scope_names = scope_names  # [0] stands for dead; None is a file in no scope folder
        self.postings_rows = postings_rows  # rows below this are in the postings, the rest in the tail
        self.open_postings = open_postings
        self.tail = tail
        self.read_facets = read_facets  # a line a row: the day it was recorded, TAB, applies_to joined by U+001F

    def __len__(self) -> int:
        return len(self.paths)

    def key(self, row: int) -> bytes:
        """Return the key of the text of ``row``."""
        return bytes(self.keys[row * KEY_BYTES : (row + 1) * KEY_BYTES])

    def allowed_rows(self, sees: Callable[[str | None], bool]) -> bytes:
        """Return one byte a row: 1 where it lives and ``sees`` says yes to its scope."""
        flags = [0] + [1 if sees(name) else 0 for name in self.scope_names[1:]]
        return bytes(map(flags.__getitem__, self.scopes))

    def count_withheld(self, sees: Callable[[str | None], bool]) -> int:
        """Return how many rows that ``sees`` allows have a text that the gate stops."""
        return sum(self.key(row) == NO_KEY for row, seen in enumerate(self.allowed_rows(sees)) if seen)

    def search(
        self, text: str, sees: Callable[[str | None], bool], *, limit: int = 100, keep_stop_words: bool = False
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (row, score) for the query ``text`` in this index alone, best first."""
        asked = parse_question(text, keep_stop_words=keep_stop_words)
        found = search_texts([self], asked.terms, [sees], forms=asked.forms)
        return [(row, score) for _, row, score in found.best(limit)]

    def read_postings(
        self, terms: Sequence[str], forms: Mapping[str, Sequence[str]] = NO_FORMS
    ) -> list[tuple[list[int], list[float]]]:
        """Return for each term the rows that contain it or one of its ``forms``, dead and hidden ones too,
        and how often."""
        postings = self.open_postings() if self.open_postings is not None and self.postings_rows else None
        found = []
        for term in terms:
            rows, counts = self._read_rows(postings, term)
            for form in forms.get(term, ()):
                merged = dict(zip(rows, counts, strict=True))
                for row, count in zip(*self._read_rows(postings, form), strict=True):
                    merged[row] = max(count, merged.get(row, 0.0))
                rows = sorted(merged)
                counts = [merged[row] for row in rows]
            found.append((rows, counts))
        return found

    def _read_rows(self, postings: Postings | None, term: str) -> tuple[list[int], list[float]]:
        rows, counts = self._read_term(postings, term) if postings is not None else ([], [])
        for row, document in enumerate(self.tail, self.postings_rows):
            if term in document:
                rows.append(row)
                counts.append(document[term])
        return rows, counts

    def _read_term(self, postings: Postings, term: str) -> tuple[list[int], list[float]]:
        try:
            rows, counts = postings.read(term)
        except OSError:
            raise
        except Exception as error:  # whatever damaged bytes make the decoders raise
            raise DamagedIndex(f"the postings cannot be read ({type(error).__name__})") from error
        if rows and rows[-1] >= self.postings_rows:
            raise DamagedIndex("a posting points past the last row")
        return rows, counts


class Scores:
    """What the text side of a search found, over all indexes as one collection."""

    __slots__ = ("by_row", "documents", "frequencies", "indexes", "rows_of", "terms")

    def __init__(self, indexes: Sequence[TextIndex], terms: Sequence[str], documents: int) -> None:
        self.indexes = indexes
        self.terms = terms
        self.documents = documents  # visible rows
        self.frequencies: list[int] = []  # of each term, visible rows that hold it
        self.rows_of: list[list[Sequence[int]]] = []  # for each index and term, those rows
        self.by_row: list[dict[int, float]] = [{} for _ in indexes]  # for each index, row → score

    def best(self, limit: int) -> list[tuple[int, int, float]]:
        """Return up to ``limit`` (index number, row, score), best first; equal scores by path."""
        ranked: list[tuple[float, int, str, int]] = []
        for number, scores in enumerate(self.by_row):
            paths = self.indexes[number].paths
            ranked += nsmallest(limit, [(-score, number, paths[row], row) for row, score in scores.items()])
        return [(number, row, -score) for score, number, _, row in nsmallest(limit, ranked)]

    def frequency(self, term: str) -> int:
        """Return how many visible rows hold ``term`` of the query."""
        return self.frequencies[self.terms.index(term)]

    def counted(self, term: str) -> int | None:
        """Return :meth:`frequency` of a term of the query, None for any other."""
        return self.frequency(term) if term in self.terms else None

    def rows_with_any(self, terms: Collection[str]) -> list[set[int]]:
        """Return for each index the visible rows that hold at least one of ``terms``."""
        places = [place for place, term in enumerate(self.terms) if term in terms]
        return [set().union(*(found[place] for place in places)) for found in self.rows_of]

    def rows_with_all(self) -> list[set[int]]:
        """Return for each index the visible rows that hold every term of the query."""
        return [set(found[0]).intersection(*found[1:]) if found else set() for found in self.rows_of]

    def most_shared(self, terms: Collection[str]) -> int:
        """Return the most of ``terms`` that one visible row has."""
        places = [place for place, term in enumerate(self.terms) if term in terms]
        shared = [Counter(row for place in places for row in found[place]) for found in self.rows_of]
        return max((number for counts in shared for number in counts.values()), default=0)

    def is_covered(self, terms: Collection[str]) -> bool:
        """Return whether one visible row holds all of ``terms``."""
        places = [place for place, term in enumerate(self.terms) if term in terms]
        if not places or not all(self.frequencies[place] for place in places):
            return False
        places.sort(key=self.frequencies.__getitem__)
        return any(
            set(found[places[0]]).intersection(*(found[place] for place in places[1:])) for found in self.rows_of
        )


def search_texts(
    indexes: Sequence[TextIndex],
    terms: Sequence[str],
    sees: Sequence[Callable[[str | None], bool]],
    *,
    forms: Mapping[str, Sequence[str]] = NO_FORMS,
) -> Scores:
    """Return the scores for the query ``terms`` of the rows that the ``sees`` of their index allows.

    They do not depend on any other row. ``forms`` has other spellings of a term, which count as the term.
    """
    allowed = [index.allowed_rows(see) for index, see in zip(indexes, sees, strict=True)]
    count = sum(map(sum, allowed)) + sum(index.beyond.documents for index in indexes)
    scores = Scores(indexes, terms, count)
    if not terms or not count:
        scores.frequencies = [0] * len(terms)
        scores.rows_of = [[()] * len(terms) for _ in indexes]
        return scores
    total = sum(_visible_length(index, flags) for index, flags in zip(indexes, allowed, strict=True))
    total += sum(index.beyond.length for index in indexes)
    postings = [_visible_postings(index, terms, forms, flags) for index, flags in zip(indexes, allowed, strict=True)]
    frequencies = [
        sum(len(found[place][0]) for found in postings) + sum(one.beyond.frequencies.get(term, 0) for one in indexes)
        for place, term in enumerate(terms)
    ]
    known = [term for term, frequency in enumerate(frequencies) if frequency]
    scored = sorted(nsmallest(MAX_SCORED_TERMS, known, key=lambda term: (frequencies[term], term)))
    flat, slope = K1 * (1 - B), K1 * B * count / (total or 1)
    code_flat, code_slope = K1 * (1 - CODE_B), K1 * CODE_B * count / (total or 1)
    for number, (index, found) in enumerate(zip(indexes, postings, strict=True)):
        sums = scores.by_row[number]
        get, lengths = sums.get, index.lengths
        for term in scored:
            frequency = frequencies[term]
            weight = log(1 + (count - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)
            for row, tf in zip(*found[term], strict=True):
                sums[row] = get(row, 0.0) + weight * tf / (tf + flat + slope * lengths[row])
            for row, tf in zip(*found[term], strict=True) if index.code else ():
                if row in index.code:
                    length = lengths[row]
                    sums[row] += weight * tf / (tf + code_flat + code_slope * length)
                    sums[row] -= weight * tf / (tf + flat + slope * length)
    scores.frequencies = frequencies
    scores.rows_of = [[rows for rows, _ in found] for found in postings]
    return scores


def _visible_length(index: TextIndex, allowed: bytes) -> int:
    if 0 not in allowed:
        return sum(index.lengths)
    return sum(length for length, seen in zip(index.lengths, allowed, strict=True) if seen)


def _visible_postings(
    index: TextIndex, terms: Sequence[str], forms: Mapping[str, Sequence[str]], allowed: bytes
) -> list[tuple[Sequence[int], Sequence[float]]]:
    found = index.read_postings(terms, forms)
    if 0 not in allowed:
        return list(found)
    visible: list[tuple[Sequence[int], Sequence[float]]] = []
    for rows, counts in found:
        pairs = [pair for pair in zip(rows, counts, strict=True) if allowed[pair[0]]]
        visible.append(([row for row, _ in pairs], [tf for _, tf in pairs]))
    return visible
