"""Recall: what is known about a question, for one caller, over several stores.

Scope filter → candidates → floor → each hit's file read and hashed again → state and trust joined →
hits. The index only proposes rows; every text, scope, state and verdict comes from the files now, so
a damaged or poisoned index can lose results and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from memfs.errors import MemfsError
from memfs.index.folder import DamagedIndex
from memfs.index.refresh import Opened, open_index
from memfs.index.text import search_texts
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile, State
from memfs.model.reader import read_memory
from memfs.model.scope import Caller, scope_of_path
from memfs.recall.assess import Assessment, Assessor
from memfs.store.files import UnreadableFile, read_file

if TYPE_CHECKING:
    from memfs.store.places import Places
    from memfs.store.worktree import WorkTree

CANDIDATES = 100

STATE_FACTORS = {State.CURRENT: 1.0, State.RECHECK: 0.9, State.SUPERSEDED: 0.5, State.EXPIRED: 0.5}
"""What a memory's state does to its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question. ``work_path`` and ``topics`` say what the caller is working on."""

    text: str
    caller: Caller = field(default_factory=Caller)
    limit: int = 5
    work_path: str | None = None
    topics: tuple[str, ...] = ()
    mode: str = "auto"  # "auto", "lexical", "hybrid"
    floor: bool = True
    brief: bool = False
    budget_bytes: int | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result. ``parts`` says how the score came about."""

    assessment: Assessment
    score: float
    parts: Mapping[str, float]
    store: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer, best first. ``unreadable`` counts files that this caller would see if they could be
    read; ``left_out`` what the limit or the budget cut off."""

    hits: tuple[Hit, ...]
    unreadable: int = 0
    notices: tuple[str, ...] = ()
    left_out: int = 0
    mode: str = "lexical"


@dataclass(slots=True)
class _Store:
    name: str
    tree: WorkTree
    opened: Opened
    assessor: Assessor


def recall(stores: Sequence[tuple[str, WorkTree]], places: Places, query: Query, *, today: date) -> Result:
    """Return what ``stores`` know about ``query`` in one ranking. A store that cannot be opened costs
    only itself and is named in the notices."""
    notices: list[str] = []
    opened: list[_Store] = []
    for name, tree in stores:
        try:
            index = open_index(tree, places)
        except (MemfsError, OSError) as error:
            notices.append(f"store {escape_hidden(name, single_line=True)} is left out: {error}")
            continue
        notices += index.notices
        if index.behind:
            notices.append(f"{index.behind} changed files are not indexed yet; the index is being refreshed")
        opened.append(_Store(name, tree, index, Assessor(tree, places, today, opened=index)))
    unreadable = sum(
        1 for store in opened for path in store.opened.unreadable if query.caller.sees(scope_of_path(path))
    )
    ranked = _rank(opened, query)
    hits = _read_hits(opened, ranked, query)
    for store in opened:
        notices += store.assessor.notices
    return Result(hits=tuple(hits), unreadable=unreadable, notices=tuple(dict.fromkeys(notices)))


def _rank(stores: Sequence[_Store], query: Query) -> list[tuple[_Store, str, float]]:
    indexes = [store.opened.index for store in stores]
    try:
        found = search_texts(indexes, query.text, query.caller.sees, limit=CANDIDATES)
    except (DamagedIndex, OSError):
        return []
    return [(stores[number], indexes[number].paths[row], score) for number, row, score in found]


def _read_hits(stores: Sequence[_Store], ranked: Sequence[tuple[_Store, str, float]], query: Query) -> list[Hit]:
    wanted = query.limit + 5  # state moves a hit by small factors: look a little past the limit
    files: list[tuple[_Store, MemoryFile, float]] = []
    for store, path, score in ranked:
        if len(files) >= wanted:
            break
        if not query.caller.sees(scope_of_path(path)):
            continue  # whatever the index says about this path
        try:
            raw = read_file(store.tree, path)
        except UnreadableFile:
            continue
        file = read_memory(path, raw)
        if file.document is not None:
            files.append((store, file, score))
    hits = []
    for store in stores:
        own = [(file, score) for owner, file, score in files if owner is store]
        for (_, score), assessment in zip(own, store.assessor.assess_many([file for file, _ in own]), strict=True):
            factor = STATE_FACTORS[assessment.state.state]
            parts = {"text": score, "state": factor}
            hits.append(Hit(assessment=assessment, score=score * factor, parts=parts, store=store.name))
    hits.sort(key=lambda hit: (-hit.score, hit.store, hit.assessment.file.path))
    return hits[: query.limit]
