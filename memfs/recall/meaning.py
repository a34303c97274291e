"""The meaning side of one question: its vector and tokens, the nearest rows, and the ranking by both sides.

Candidates are ranked by late interaction: each word of the question scores by the token of a memory that
is most like it, and rare words count more. Words and the whole vector have a small part beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, NamedTuple

from memfs.errors import MemfsError, SetupError
from memfs.index.embedding import Embedded, open_embedder
from memfs.index.languages import is_latin, language_of
from memfs.index.semantic import embed_rows, find_model, is_outdated, read_vectors
from memfs.index.text import NO_KEY, Scores
from memfs.index.tokenizer import MAX_QUERY_CHARACTERS, parse_question
from memfs.recall.query import Query
from memfs.recall.stores import Candidate, Store
from memfs.standing.background import refresh_detached, start_preparing

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.index.models import Model
    from memfs.index.vectors import Vectors

NEAREST = 150
"""Rows whose signs are nearest; the cosine of each is computed."""
RANKED = 50
"""So many of the words' best and so many of the nearest are ranked."""


class Shares(NamedTuple):
    """The parts of a score: late interaction, words, cosine."""

    late: float
    words: float
    cosine: float


ENGLISH = Shares(0.8, 0.1, 0.1)
FOREIGN = Shares(0.2, 0.5, 0.3)
"""For a question in another language than the model's: its tokens say less."""
WHOLE = Shares(0.0, 0.55, 0.45)
"""For a model that gives no token vectors."""

_WORTH_A_MODEL = 8  # memories; fewer are found by their words
_EMBEDDED_IN_PASSING = 4  # new texts embedded by a recall that has loaded the model anyway
Near = Mapping[tuple[int, int], float]  # (store number, row) → cosine


class Meaning:
    """The vector side of one question: its vector, and each store's rows that have one."""

    def __init__(self, model: Model, text: str, asked: Embedded) -> None:
        self.model = model
        self.vectors: list[Vectors] = []
        self.rows: list[dict[int, int]] = []  # for each store, index row → vector row
        self._text = text
        self._asked = asked

    @cached_property
    def shares(self) -> Shares:
        if not self._asked.tokens:
            return WHOLE
        return ENGLISH if self.model.languages != "en" or language_of(self._text) == "en" else FOREIGN

    def nearest(self, stores: Sequence[Store]) -> Near:
        """Return the cosine of the nearest rows of all stores."""
        similar: dict[tuple[int, int], float] = {}
        for number, (vectors, rows) in enumerate(zip(self.vectors, self.rows, strict=True)):
            back = {place: row for row, place in rows.items()}
            for place in vectors.nearest(self._asked.vector, list(back), limit=NEAREST):
                found = vectors.similarity(self._asked.vector, place)
                if found is not None:
                    similar[number, back[place]] = found
        if len(stores) == 1:
            return similar
        kept = sorted(similar, key=lambda key: (-similar[key], key))[:NEAREST]
        return {key: similar[key] for key in kept}

    def is_near(self, near: Near) -> bool:
        """Return whether one memory is so near that the prompt may look, whatever its words."""
        return max(near.values(), default=-1.0) >= self.model.near

    def rank(
        self, stores: Sequence[Store], scores: Scores, near: Near, with_topic: Sequence[set[int]] | None
    ) -> list[Candidate]:
        """Return the candidates of both sides, best first. ``with_topic``: rows that need not be near."""
        text = {(number, row): score for number, row, score in scores.best(RANKED)}
        similar = dict(near)
        for number, row in text:
            place = self.rows[number].get(row)
            if (number, row) not in similar and place is not None:
                found = self.vectors[number].similarity(self._asked.vector, place)
                if found is not None:
                    similar[number, row] = found
        nearest = sorted(near, key=lambda key: (-near[key], key))[:RANKED]
        top = max(text.values(), default=1.0)
        low, high = min(similar.values(), default=0.0), max(similar.values(), default=1.0)
        weights = self._weights(scores)
        candidates = []
        for number, row in dict.fromkeys((*text, *nearest)):
            cosine = similar.get((number, row))
            is_related = cosine is not None and cosine >= self.model.related
            if with_topic is not None and row not in with_topic[number] and not is_related:
                continue
            words = scores.by_row[number].get(row, 0.0)
            parts = {"words": words}
            late = None
            if cosine is not None:
                parts["meaning"] = cosine
                late = self._late(number, row, weights) if self.shares.late else None
                if late is not None:
                    parts["late"] = late
            score = _joined(self.shares, words / top, cosine, late, low=low, high=high)
            candidates.append(Candidate(stores[number], stores[number].index.paths[row], score, parts))
        candidates.sort(key=lambda one: (-one.score, one.path))
        return candidates

    def _weights(self, scores: Scores) -> list[tuple[int, float]]:
        """Return the sign bits of each token of the question, and what it counts: its word is rare or not."""
        words = self._asked.words
        size = len(self._asked.tokens) // len(words) if words else 0
        found = []
        for place, word in enumerate(words):
            terms = parse_question(word).terms or parse_question(word, keep_stop_words=True).terms
            known = [scores.frequency(term) for term in terms if term in scores.terms]
            seldom = min(known, default=0)
            weight = log(1 + (scores.documents - seldom + 0.5) / (seldom + 0.5)) / words.count(word)
            bits = int.from_bytes(self._asked.tokens[place * size : (place + 1) * size], "little")
            found.append((bits, weight))
        return found

    def _late(self, number: int, row: int, weights: Sequence[tuple[int, float]]) -> float | None:
        """Return how well the tokens of a row answer those of the question, 0 to 1; None without tokens."""
        tokens = self.vectors[number].tokens(self.rows[number][row])
        if not tokens:
            return None
        total = sum(weight for _, weight in weights) or 1.0
        worst = self.vectors[number].dimensions / 2  # as unlike as two random rows of bits
        distance = sum(weight * min([(bits ^ token).bit_count() for token in tokens]) for bits, weight in weights)
        return max(0.0, 1 - distance / total / worst)


def _joined(
    shares: Shares, words: float, cosine: float | None, late: float | None, *, low: float, high: float
) -> float:
    """Return a score of 0 to 1 from the three sides; a text that is not embedded yet has only words."""
    if cosine is None:
        return words
    near = (cosine - low) / (high - low or 1.0)
    if late is None:
        return WHOLE.words * words + WHOLE.cosine * near
    return shares.late * late + shares.words * words + shares.cosine * near


def open_meaning(stores: Sequence[Store], places: Places, query: Query, notices: list[str]) -> Meaning | None:
    """Return the vector side of ``query``, or None: not wanted, no model, or not this model's language.

    Raises :class:`SetupError` when the query demands ``hybrid`` and there is no model.
    """
    prepared, reason = find_model(places)
    if prepared is None:
        if query.mode == "hybrid":
            raise SetupError(reason or "there is no model", hint="memfs model list")
        most = max(stores, key=lambda store: len(store.index.paths), default=None)
        if most is not None and is_outdated(places):
            refresh_detached(most.tree, places)  # it is prepared again, and everything is embedded again
            return None
        if most is not None and len(most.index.paths) >= _WORTH_A_MODEL and start_preparing(most.tree, places):
            reason = "recall is by words only: the model is being prepared"
        notices.append(reason or "")
        return None
    text = query.text[:MAX_QUERY_CHARACTERS]
    if prepared.model.languages == "en" and not is_latin(text):
        return None
    vectors = [read_vectors(store.tree, places, prepared) for store in stores]
    placed = [store.index.places_of(found.rows) for store, found in zip(stores, vectors, strict=True)]
    missing = [_without(store, found) for store, found in zip(stores, placed, strict=True)]
    if not any(found.count for found in vectors) and sum(map(len, missing)) > _EMBEDDED_IN_PASSING:
        notices.append("recall is by words only: no memory is embedded yet (`memfs index` does it)")
        _refresh_in_background(stores, missing, places)
        return None
    try:
        embedder = open_embedder(prepared)
        meaning = Meaning(prepared.model, text, embedder.embed(text, query=True))
        for number, (store, rows) in enumerate(zip(stores, missing, strict=True)):
            if rows and len(rows) <= _EMBEDDED_IN_PASSING and not store.opened.missing:
                embed_rows(store.tree, places, store.index, rows, embedder)
                vectors[number] = read_vectors(store.tree, places, prepared)
                placed[number] = store.index.places_of(vectors[number].rows)
    except (MemfsError, OSError) as error:
        if query.mode == "hybrid":
            raise
        notices.append(f"recall is by words only: {error}")
        return None
    _refresh_in_background(stores, missing, places)
    meaning.vectors = vectors
    for store, found in zip(stores, placed, strict=True):
        flags = store.index.allowed_rows(store.seer(query.caller))
        meaning.rows.append({row: place for row, place in enumerate(found) if place is not None and flags[row]})
    return meaning


def _without(store: Store, placed: Sequence[int | None]) -> list[int]:
    """Return the rows of texts that may be embedded and are not yet."""
    return [row for row, place in enumerate(placed) if place is None and store.index.key(row) != NO_KEY]


def _refresh_in_background(stores: Sequence[Store], missing: Sequence[Sequence[int]], places: Places) -> None:
    for store, rows in zip(stores, missing, strict=True):
        if len(rows) > _EMBEDDED_IN_PASSING and not store.opened.behind:
            refresh_detached(store.tree, places)
