"""The meaning side of one question: its vector and tokens, the nearest rows, the candidates of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from memfs.errors import MemfsError, SetupError
from memfs.index.embedding import Embedded, open_embedder
from memfs.index.languages import is_latin, language_of
from memfs.index.semantic import NOWHERE, embed_rows, find_model, find_places, is_outdated, read_places, read_vectors
from memfs.index.text import DEAD, Scores
from memfs.index.tokenizer import MAX_QUERY_CHARACTERS
from memfs.recall.query import Advice, Hit, Query
from memfs.recall.ranking import ENGLISH, FOREIGN, Evidence, rank, score_tokens, weigh_tokens
from memfs.recall.stores import Candidate, Store
from memfs.standing.background import refresh_detached, start_preparing

if TYPE_CHECKING:
    from array import array

    from memfs.disk.places import Places
    from memfs.index.models import Prepared
    from memfs.index.vectors import Vectors

NEAREST = 150
"""Rows whose signs are nearest; the cosine of each is computed."""
RANKED = 50
"""So many of the words' best and so many of the nearest are ranked."""


SAMPLED = 64
"""About so many memories of a store tell the question's mean cosine."""
TELLING = 0.25
"""The late interaction that a hit needs for a prompt, where its cosine is not enough."""
ALIKE = 0.55
"""The late interaction of two texts that are about the same."""

_WORTH_A_MODEL = 8  # memories; fewer are found by their words
_EMBEDDED_IN_PASSING = 4  # new texts embedded by a recall that has loaded the model anyway
Near = Mapping[tuple[int, int], float]  # (store number, row) → cosine


class Neighbours(Protocol):
    """Vectors that can be compared with the question's: a store on the disk, or what a shared index sent."""

    dimensions: int

    def nearest(self, query: array[float], places: Sequence[int], *, limit: int) -> list[int]: ...
    def similarity(self, query: array[float], number: int) -> float | None: ...
    def tokens(self, number: int) -> list[int]: ...


class Meaning:
    """The vector side of one question: its vector, and each store's rows that have one."""

    def __init__(self, prepared: Prepared, text: str, asked: Embedded) -> None:
        self.model = prepared.model
        self.key = prepared.key  # vectors of another key cannot be compared
        self.vectors: list[Neighbours] = []
        self.places: list[Sequence[int]] = []  # for each store, the vector row of each index row; below 0: none
        self._text = text
        self._tokens: dict[tuple[str, str], Sequence[int]] = {}  # of each ranked candidate, by store and path
        self._asked = asked

    @property
    def vector(self) -> array[float]:
        """The vector of the question."""
        return self._asked.vector

    def add(self, vectors: Neighbours, places: Sequence[int]) -> None:
        """Let one more store take part: ``places`` has the vector row of each of its rows; below 0: none."""
        self.vectors.append(vectors)
        self.places.append(places)

    def nearest(self, stores: Sequence[Store]) -> Near:
        """Return the cosine of the nearest rows of all stores."""
        similar: dict[tuple[int, int], float] = {}
        for number, (vectors, places) in enumerate(zip(self.vectors, self.places, strict=True)):
            for row in vectors.nearest(self._asked.vector, places, limit=NEAREST):
                found = vectors.similarity(self._asked.vector, places[row])
                if found is not None:
                    similar[number, row] = found
        if len(stores) == 1:
            return similar
        kept = sorted(similar, key=lambda key: (-similar[key], key))[:NEAREST]
        return {key: similar[key] for key in kept}

    @cached_property
    def is_at_home(self) -> bool:
        """Whether the model reads the question's language."""
        return self.model.languages != "en" or language_of(self._text) == "en"

    @cached_property
    def mean(self) -> float | None:
        """The question's mean cosine over some memories, without the nearest of them; None for too few."""
        found = [
            cosine
            for vectors, places in zip(self.vectors, self.places, strict=True)
            for place in places[:: max(1, len(places) // SAMPLED)]
            if place >= 0 and (cosine := vectors.similarity(self._asked.vector, place)) is not None
        ]
        return (sum(found) - max(found)) / (len(found) - 1) if len(found) > 1 else None

    def nearness(self, cosine: float) -> float:
        """Return what the model's thresholds are compared with: the cosine, or its distance from the mean."""
        if not self.model.above_mean:
            return cosine
        return (cosine - self.mean) / (1 - self.mean) if self.mean is not None and self.mean < 1 else -1.0

    def is_near(self, near: Near) -> bool:
        """Return whether one memory is so near that the prompt may look, whatever its words."""
        return self.is_at_home and bool(near) and self.nearness(max(near.values())) >= self.model.near

    def is_telling(self, parts: Mapping[str, float]) -> bool:
        """Return whether a hit is near enough to be shown for a prompt that nobody asked memfs."""
        if "late" not in parts or not self.is_at_home:
            return True  # there is no measure for it: its words found it
        return parts["late"] >= TELLING or self.nearness(parts["meaning"]) >= self.model.related

    def is_alike(self, first: Hit, second: Hit) -> bool | None:
        """Return whether two hits are about the same; None where their tokens are not known."""
        one, other = (self._tokens.get((hit.store, hit.assessment.file.path)) for hit in (first, second))
        if not one or not other:
            return None
        sides = ((one, other), (other, one))
        close = max(score_tokens([(bits, 1.0) for bits in a], b, self.model.dimensions) for a, b in sides)
        return close >= ALIKE

    def rank(
        self, stores: Sequence[Store], scores: Scores, near: Near, with_topic: Sequence[set[int]] | None
    ) -> list[Candidate]:
        """Return the candidates of both sides, best first. ``with_topic``: rows that need not be near."""
        text = {(number, row): score for number, row, score in scores.best(RANKED)}
        nearest = sorted(near, key=lambda key: (-near[key], key))[:RANKED]
        places: list[tuple[int, int]] = []
        evidence: list[Evidence] = []
        for number, row in dict.fromkeys((*text, *nearest)):
            cosine = near.get((number, row))
            place = self.places[number][row]
            if cosine is None and place >= 0:
                cosine = self.vectors[number].similarity(self._asked.vector, place)
            is_related = cosine is not None and self.nearness(cosine) >= self.model.related
            if with_topic is None or row in with_topic[number] or is_related:
                tokens = self.vectors[number].tokens(place) if place >= 0 and self._asked.tokens else ()
                places.append((number, row))
                evidence.append(Evidence(scores.by_row[number].get(row, 0.0), cosine, tokens))
        shares = ENGLISH if self.is_at_home else FOREIGN
        question = weigh_tokens(self._asked.words, self._asked.tokens, scores.counted, scores.documents)
        ranked = rank(question, shares, evidence, self.model.dimensions)
        candidates = []
        for (number, row), one, (score, late) in zip(places, evidence, ranked, strict=True):
            path = stores[number].index.paths[row]
            self._tokens[stores[number].name, path] = one.tokens
            parts = {"words": one.words, "meaning": one.cosine, "late": late}
            said = {name: value for name, value in parts.items() if value is not None}
            candidates.append(Candidate(stores[number], path, score, said))
        candidates.sort(key=lambda one: (-one.score, one.path))
        return candidates


def open_meaning(stores: Sequence[Store], places: Places, query: Query, notices: list[str]) -> Meaning | None:
    """Return the vector side of ``query``, or None: not wanted, no model, or not this model's language.

    Raises :class:`SetupError` when the query demands ``hybrid`` and no model is here.
    """
    prepared, reason = find_model(places)
    if prepared is None:
        if query.mode == "hybrid":
            raise SetupError(reason or "no model is here", hint="memfs model list")
        most = max(stores, key=lambda store: len(store.index.paths), default=None)
        if most is not None and is_outdated(places):
            refresh_detached(most.tree, places)  # it is prepared again, and everything is embedded again
            return None
        if most is not None and len(most.index.paths) >= _WORTH_A_MODEL and start_preparing(most.tree, places):
            reason = "recall is by words only: the model is being prepared"
        notices.append(Advice(reason or ""))
        return None
    text = query.text[:MAX_QUERY_CHARACTERS]
    if prepared.model.languages == "en" and not is_latin(text):
        return None
    vectors = [read_vectors(store.tree, places, prepared) for store in stores]
    placed = [_places_of(store, places, prepared, found) for store, found in zip(stores, vectors, strict=True)]
    missing = [_without(found) for found in placed]
    if not any(found.count for found in vectors) and sum(map(len, missing)) > _EMBEDDED_IN_PASSING:
        notices.append(Advice("recall is by words only: no memory is embedded yet (`memfs index` does it)"))
        _refresh_in_background(stores, missing, places)
        return None
    try:
        embedder = open_embedder(prepared)
        meaning = Meaning(prepared, text, embedder.embed(text, query=True))
        for number, (store, rows) in enumerate(zip(stores, missing, strict=True)):
            if rows and len(rows) <= _EMBEDDED_IN_PASSING and not store.opened.missing:
                embed_rows(store.tree, places, store.index, rows, embedder)
                vectors[number] = read_vectors(store.tree, places, prepared)
                placed[number] = _places_of(store, places, prepared, vectors[number])
    except (MemfsError, OSError) as error:
        if query.mode == "hybrid":
            raise
        notices.append(f"recall is by words only: {error}")
        return None
    _refresh_in_background(stores, missing, places)
    for store, own, found in zip(stores, vectors, placed, strict=True):
        flags = store.index.allowed_rows(store.seer(query.caller))
        hidden = flags.count(0) > store.index.scopes.count(DEAD)
        meaning.add(own, [at if seen else -1 for at, seen in zip(found, flags, strict=True)] if hidden else found)
    return meaning


def _places_of(store: Store, places: Places, prepared: Prepared, vectors: Vectors) -> array[int]:
    """Return where the vectors of a store's rows lie."""
    if store.index is not store.opened.index:  # the files are searched without an index
        return find_places(store.index, vectors)
    return read_places(store.tree, places, prepared, store.opened, vectors)


def _without(placed: array[int]) -> list[int]:
    """Return the rows of texts that may be embedded and are not yet."""
    return [row for row, place in enumerate(placed) if place == NOWHERE] if placed.count(NOWHERE) else []


def _refresh_in_background(stores: Sequence[Store], missing: Sequence[Sequence[int]], places: Places) -> None:
    for store, rows in zip(stores, missing, strict=True):
        if len(rows) > _EMBEDDED_IN_PASSING and not store.opened.behind:
            refresh_detached(store.tree, places)
