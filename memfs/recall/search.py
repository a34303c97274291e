"""Recall: what is known about a question, for one caller, over several stores.

Scope filter → candidates → floor → ranking → each hit's file read and hashed again → state, trust,
place and usage joined → hits. The index only proposes rows; every text, scope, state and verdict comes
from the files now, so a damaged or poisoned index can lose results and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from memfs.index.tokenizer import parse_question
from memfs.model.values import replace
from memfs.recall.candidates import find_candidates, find_literal, with_places
from memfs.recall.floor import is_literal, says_nothing, topic_terms
from memfs.recall.hits import PROMPT_SHARE, cut, near_the_best, read_hits
from memfs.recall.pairs import newer_first
from memfs.recall.query import Hit, Query, Result
from memfs.recall.stores import Store, open_stores, within_limits
from memfs.recall.usage import record_usage

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import SharedStore
    from memfs.disk.worktree import WorkTree
    from memfs.recall.shared import Asked

__all__ = ["Hit", "Query", "Result", "recall"]


def recall(
    stores: Sequence[tuple[str, WorkTree]],
    places: Places,
    query: Query,
    *,
    today: date,
    shared: Sequence[SharedStore] = (),
) -> Result:
    """Return what ``stores`` and the indexes ``shared`` know about ``query`` in one ranking. A store that cannot
    be opened costs only itself and is named in the notices.

    Raises :class:`SetupError` when the query demands ``hybrid`` and no model is here.
    """
    is_place = query.work_path is not None or bool(query.topics)
    if query.floor and not query.brief and not is_place and says_nothing(query.text, prompt=query.prompt):
        return Result(hits=())  # the commonest prompt of all: nothing is opened for it
    notices: list[str] = []
    elsewhere = None
    if shared and query.text.strip():
        from memfs.recall.shared import Asked

        elsewhere = Asked(shared, places, query, today)  # connects while the own stores are opened
    opened = open_stores(stores, places, query, today, notices)
    unreadable = sum(
        1 for store in opened for path in store.opened.unreadable if store.sight.sees_path(query.caller, path)
    )
    if query.brief and not query.text.strip():
        from memfs.recall.brief import recall_brief

        result = recall_brief(opened, query)
    else:
        result = _answer(opened, places, query, notices, elsewhere)
    for store in opened:
        notices += store.assessor.notices
    if query.record:
        for store in opened:
            ids = [hit.assessment.file.id for hit in result.hits if hit.store == store.name]
            record_usage(store.tree, places, "shown", ids, today)
    return replace(result, unreadable=unreadable, notices=tuple(dict.fromkeys(notices)))


def _answer(
    stores: Sequence[Store], places: Places, query: Query, notices: list[str], elsewhere: Asked | None
) -> Result:
    limit, budget = within_limits(query, stores)
    asked = parse_question(query.text)
    topics = topic_terms(asked)
    if not topics and not query.floor:
        asked = asked if asked.terms else parse_question(query.text, keep_stop_words=True)
        topics = list(asked.terms)
    candidates = []
    meaning = None
    if topics:
        if query.mode != "lexical":
            from memfs.recall.meaning import open_meaning

            meaning = open_meaning(stores, places, query, notices)
        indexes = elsewhere.stores(asked, meaning, _ids(stores), notices) if elsewhere is not None else []
        candidates = find_candidates([*stores, *indexes], places, query, asked, topics, meaning=meaning)
        for index in indexes:
            notices += index.prepare(candidates)
    elif is_literal(query.text):
        candidates = find_literal(stores, places, query)
    if query.work_path is not None or query.topics:
        candidates = with_places(stores, query, candidates)
    found = read_hits(candidates, query, limit)
    hits = found.hits
    others = 0
    if query.brief:
        others = sum(not hit.assessment.approved for hit in hits)
        hits = [hit for hit in hits if hit.assessment.approved]
    if query.prompt:
        hits = near_the_best(hits, PROMPT_SHARE)
        hits = [hit for hit in hits if meaning is None or meaning.is_telling(hit.parts)]
    mode = "lexical" if meaning is None else "hybrid"
    if len(hits) > 1:
        hits = newer_first(hits[:limit], meaning.is_alike if meaning is not None else lambda _one, _other: None)
    result = replace(cut(hits, limit, budget, mode), others=others, withheld=found.withheld, strays=found.strays)
    if hits or query.prompt:
        return result
    return replace(result, unsearched=sum(store.index.count_withheld(store.seer(query.caller)) for store in stores))


def _ids(stores: Sequence[Store]) -> list[str]:
    """Return the ids of the repositories whose clones are here."""
    return [found for store in stores if (found := store.assessor.repository_id()) is not None]
