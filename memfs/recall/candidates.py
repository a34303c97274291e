"""Which rows may answer a question: by words, by meaning, by where they apply; and what the floor says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memfs.index.document import indexable_text
from memfs.index.opening import discard_index
from memfs.index.text import DamagedIndex, Scores, search_texts
from memfs.index.tokenizer import MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS, Question, tokens
from memfs.model.applies import matcher, topics_of_path
from memfs.recall.floor import is_question, telling_topics
from memfs.recall.query import Query
from memfs.recall.stores import Candidate, Store
from memfs.standing.background import open_recall_index

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.recall.meaning import Meaning

TEXT_CANDIDATES = 100
PLACE_SCORE = 0.3
"""The score of a memory that is only found by where it applies; the best by words has 1."""


def find_candidates(
    stores: Sequence[Store],
    places: Places,
    query: Query,
    asked: Question,
    topics: Sequence[str],
    *,
    meaning: Meaning | None,
) -> list[Candidate]:
    """Return what may answer the question, best first; nothing where the floor says that nobody asks."""
    scores = search_words(stores, places, query, asked)
    near = meaning.nearest(stores) if meaning is not None else {}
    counted = topics
    if query.prompt:
        counted = telling_topics(asked, topics, [scores.frequency(term) for term in topics], scores.most_shared)
    if query.floor and not is_question(
        topics,
        [scores.frequency(term) for term in counted],
        documents=scores.documents,
        covered=scores.is_covered(counted),
        is_near=meaning is not None and meaning.is_near(near),
    ):
        return []
    with_topic = scores.rows_with_any(counted) if query.floor else None
    if meaning is not None:
        return meaning.rank(stores, scores, near, with_topic)
    ranked = scores.best(TEXT_CANDIDATES)
    return [
        Candidate(stores[number], stores[number].index.paths[row], score / ranked[0][2], {"words": score})
        for number, row, score in ranked
        if with_topic is None or row in with_topic[number]
    ]


def find_literal(stores: Sequence[Store], places: Places, query: Query) -> list[Candidate]:
    """Return the memories that contain the whole of a longer text word for word, though it has no topic."""
    sought = tokens(query.text[:MAX_QUERY_CHARACTERS])
    asked = Question("en", tuple(dict.fromkeys(sought))[:MAX_QUERY_TERMS])
    scores = search_words(stores, places, query, asked)
    found = []
    for store, rows in zip(stores, scores.rows_with_all(), strict=True):
        for row in sorted(rows)[:TEXT_CANDIDATES]:
            one = Candidate(store, store.index.paths[row], 1.0, {"words": 1.0})
            file = store.read(one.path, query)
            if file is not None and _contains(tokens(indexable_text(file)), sought):
                found.append(one)
    return found


def _contains(words: Sequence[str], sought: Sequence[str]) -> bool:
    size = len(sought)
    return any(words[at : at + size] == sought for at in range(len(words) - size + 1) if words[at] == sought[0])


def search_words(stores: Sequence[Store], places: Places, query: Query, asked: Question) -> Scores:
    """Return the word scores of all stores. An index that fails under the search is opened again, then
    thrown away; in the end the files themselves are searched."""
    for store in stores:
        if store.opened.missing:
            _scan(store, query, asked)
    for attempt in range(3):
        try:
            return search_texts(
                [store.index for store in stores],
                asked.terms,
                [store.seer(query.caller) for store in stores],
                forms=asked.forms,
            )
        except (DamagedIndex, OSError) as error:
            for store in stores:
                if store.opened.missing or not store.is_here:
                    continue
                if isinstance(error, DamagedIndex):
                    discard_index(store.tree, places)
                store.opened = open_recall_index(store.tree, places)
                store.index = store.opened.index
                if attempt == 1 or store.opened.missing:
                    _scan(store, query, asked)
    return search_texts([], asked.terms, [])


def _scan(store: Store, query: Query, asked: Question) -> None:
    from memfs.index.scan import scan_texts

    terms = [*asked.terms, *(form for forms in asked.forms.values() for form in forms)]
    store.index = scan_texts(store.tree, store.opened.read_scan().entries, terms, store.seer(query.caller))


def with_places(stores: Sequence[Store], query: Query, candidates: list[Candidate]) -> list[Candidate]:
    """Return ``candidates`` and the memories whose ``applies_to`` names what the caller works on."""
    known = {(one.store.name, one.path) for one in candidates}
    added: list[tuple[str, Candidate]] = []
    for store in stores:
        path, topics = work_of(store, query)
        flags = store.index.allowed_rows(store.seer(query.caller))
        matches = matcher(path, topics)
        answers: dict[str, bool] = {"": False}  # many memories name the same places
        for row, facet in enumerate(store.index.read_facets()):
            recorded, _, places = facet.partition("\t")
            if places not in answers:
                answers[places] = matches(places.split("\x1f"))
            memory_path = store.index.paths[row]
            if answers[places] and flags[row] and (store.name, memory_path) not in known:
                added.append((recorded, Candidate(store, memory_path, PLACE_SCORE, {})))
    added.sort(key=lambda pair: (pair[0], pair[1].path), reverse=True)
    return [*candidates, *(one for _, one in added)]


def work_of(store: Store, query: Query) -> tuple[str | None, tuple[str, ...]]:
    """Return the work path relative to this store (None where it lies elsewhere) and all topics."""
    path = query.work_path
    if path is None or not store.is_here:
        return None, query.topics
    root = str(store.tree.root)
    if path.startswith("/"):
        path = path.removeprefix(root + "/") if path.startswith(root + "/") else None
    return path, (*query.topics, *(topics_of_path(path) if path is not None else ()))
