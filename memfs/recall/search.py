"""Recall: what is known about a question, for one caller, over several stores.

Scope filter → candidates → floor → fusion → each hit's file read and hashed again → state, trust,
place and usage joined → hits. The index only proposes rows; every text, scope, state and verdict comes
from the files now, so a damaged or poisoned index can lose results and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from memfs.disk.files import UnreadableFile, read_file
from memfs.errors import MemfsError, SetupError
from memfs.index.document import indexable_text
from memfs.index.refresh import Opened, discard_index
from memfs.index.text import NO_KEY, DamagedIndex, Scores, TextIndex, search_texts
from memfs.index.tokenizer import MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS, query_terms, tokens
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile, State
from memfs.model.reader import read_memory
from memfs.model.scope import Caller
from memfs.model.values import dataclass, field, replace
from memfs.recall.applies import applies, matcher, topics_of_path
from memfs.recall.floor import NEAR, is_command, is_question, topic_terms
from memfs.recall.usage import NEVER, Usage, read_usage, record_usage
from memfs.sight import Sight, open_sight
from memfs.standing.assess import RECALL_PATIENCE, Assessment, Assessor
from memfs.standing.background import open_recall_index, refresh_detached, start_preparing

if TYPE_CHECKING:
    from array import array

    from memfs.disk.places import Places
    from memfs.disk.settings import RepositorySettings
    from memfs.disk.worktree import WorkTree
    from memfs.index.models import Model
    from memfs.index.vectors import Vectors

TEXT_CANDIDATES = 100
MEANING_CANDIDATES = 150
MEANING_SHARE = 0.45
"""The vector side's part of a hybrid score (RETRIEVAL 4)."""

STATE_FACTORS = {State.CURRENT: 1.0, State.RECHECK: 0.9, State.SUPERSEDED: 0.5, State.EXPIRED: 0.5}
"""What a memory's state does to its score."""
LITERAL_WORDS = 5
"""A prompt of conversation alone that has so many words is looked for word for word."""
PLACE_FACTOR = 1.15
"""What ``applies_to`` does that matches the work path or a topic."""

_LOOK_PAST = 5  # hits read beyond the limit: the factors move a hit by a few places
_WORTH_A_MODEL = 8  # memories; fewer are found by their words
_EMBEDDED_IN_PASSING = 4  # new texts embedded by a recall that has loaded the model anyway
_BRIEF_READ = 60  # files read for a session's brief
_PLACE_SCORE = 0.3  # of a memory that is only found by where it applies; the best by words has 1
_HEADING_BYTES = 200  # about what the heading of a shown memory takes
_LINE_BYTES = 16  # and what a line takes beside its text: prefix, "evidence", status


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question. ``work_path`` and ``topics`` say what the caller is working on.

    ``brief`` asks for what a session should begin with: approved and current memories only.
    ``budget_bytes`` bounds what is shown, in whole memories. ``record`` notes what was shown. ``on`` is
    the day for which states are judged, where it is not today.
    """

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
    record: bool = True
    on: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result. ``parts`` says how the score came about; the score is their fusion and factors."""

    assessment: Assessment
    score: float
    parts: Mapping[str, float]
    store: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer, best first. ``unreadable`` counts files that this caller would see if they could be
    read, ``left_out`` hits that the budget cut off (of a brief, approved memories beyond the limit),
    ``others`` what a brief does not show because it is not approved or not current."""

    hits: tuple[Hit, ...]
    unreadable: int = 0
    notices: tuple[str, ...] = ()
    left_out: int = 0
    others: int = 0
    mode: str = "lexical"


class _Store:
    """One store, opened for one query."""

    __slots__ = ("assessor", "index", "name", "opened", "sight", "tree", "usage")

    def __init__(self, name: str, tree: WorkTree, opened: Opened, assessor: Assessor, sight: Sight) -> None:
        self.name = name
        self.tree = tree
        self.opened = opened
        self.index: TextIndex = opened.index
        self.assessor = assessor
        self.sight = sight
        self.usage: Mapping[str, Usage] = {}

    @property
    def has_feedback(self) -> bool:
        return any(usage.helped or usage.misled for usage in self.usage.values())

    @property
    def settings(self) -> RepositorySettings | None:
        return self.sight.settings


class _Candidate:
    """A row that may become a hit, and what speaks for it."""

    __slots__ = ("parts", "path", "score", "store")

    def __init__(self, store: _Store, path: str, score: float, parts: dict[str, float]) -> None:
        self.store = store
        self.path = path
        self.score = score
        self.parts = parts


def recall(stores: Sequence[tuple[str, WorkTree]], places: Places, query: Query, *, today: date) -> Result:
    """Return what ``stores`` know about ``query`` in one ranking. A store that cannot be opened costs
    only itself and is named in the notices.

    Raises :class:`SetupError` when the query demands ``hybrid`` and there is no model.
    """
    if _says_nothing(query):
        return Result(hits=())  # the commonest prompt of all: nothing is opened for it
    notices: list[str] = []
    opened = _open_stores(stores, places, query, today, notices)
    unreadable = sum(
        1 for store in opened for path in store.opened.unreadable if store.sight.sees_path(query.caller, path)
    )
    if query.brief and not query.text.strip():
        result = _recall_brief(opened, query)
    else:
        result = _recall_answer(opened, places, query, notices)
    for store in opened:
        notices += store.assessor.notices
    if query.record:
        for store in opened:
            ids = [hit.assessment.file.id for hit in result.hits if hit.store == store.name]
            record_usage(store.tree, places, "shown", ids, today)
    return replace(result, unreadable=unreadable, notices=tuple(dict.fromkeys(notices)))


def _says_nothing(query: Query) -> bool:
    """Return whether the floor stops this prompt whatever the memories are (RETRIEVAL 4)."""
    if not query.floor or query.brief or query.work_path is not None or query.topics:
        return False
    if is_command(query.text):
        return True
    return not topic_terms(query_terms(query.text)) and not _is_literal(query)


def _is_literal(query: Query) -> bool:
    return len(query.text[:MAX_QUERY_CHARACTERS].split()) >= LITERAL_WORDS


def _open_stores(
    stores: Sequence[tuple[str, WorkTree]], places: Places, query: Query, today: date, notices: list[str]
) -> list[_Store]:
    found: list[_Store] = []
    for name, tree in stores:
        try:
            opened = open_recall_index(tree, places)
            sight = open_sight(tree, places)
            assessor = Assessor(
                tree,
                places,
                today,
                opened=opened,
                on=query.on,
                patience=RECALL_PATIENCE,
                sees_path=partial(sight.sees_path, query.caller),
            )
            store = _Store(name, tree, opened, assessor, sight)
        except (MemfsError, OSError) as error:
            notices.append(f"store {escape_hidden(name, single_line=True)} is left out: {error}")
            continue
        store.usage = read_usage(tree, places)
        notices += opened.notices
        if opened.behind:
            notices.append(f"{opened.behind} changed files are not indexed yet; the index is being refreshed")
        absent = sum(sight.sees_path(query.caller, path) for path in store.assessor.not_checked_out())
        if absent:
            notices.append(f"{absent} memories are not checked out here (sparse checkout) and were not searched")
        found.append(store)
    return found


# -- an answer to a question -----------------------------------------------------------------------


def _within_limits(query: Query, stores: Sequence[_Store]) -> Query:
    """Return ``query`` with no more room than the narrowest repository among ``stores`` gives."""
    from memfs.disk.settings import MAX_CONTEXT_BYTES

    limits = [store.settings.context_bytes for store in stores if store.settings is not None]
    narrow = [limit for limit in limits if limit < MAX_CONTEXT_BYTES]
    if not narrow:
        return query
    return replace(
        query, budget_bytes=min([*narrow, *([query.budget_bytes] if query.budget_bytes is not None else [])])
    )


def _recall_answer(stores: Sequence[_Store], places: Places, query: Query, notices: list[str]) -> Result:
    if any(store.settings is not None for store in stores):
        query = _within_limits(query, stores)
    limit = min([query.limit, *(store.settings.results for store in stores if store.settings is not None)])
    terms = query_terms(query.text)
    topics = topic_terms(terms)
    if not topics and not query.floor:
        topics = terms = terms or query_terms(query.text, keep_stop_words=True)
    candidates: list[_Candidate] = []
    mode = "lexical"
    if query.floor and not topics:
        if _is_literal(query):
            candidates = _find_literal(stores, places, query)
    elif not query.floor or not is_command(query.text):
        candidates, mode = _find_candidates(stores, places, query, notices, terms=terms, topics=topics)
    if query.work_path is not None or query.topics:
        candidates = _with_places(stores, query, candidates)
    hits = _read_hits(candidates, query, limit)
    others = 0
    if query.brief:
        others = sum(not hit.assessment.approved for hit in hits)
        hits = [hit for hit in hits if hit.assessment.approved]
    return _cut(hits, query, limit, mode, others)


def _find_candidates(
    stores: Sequence[_Store],
    places: Places,
    query: Query,
    notices: list[str],
    *,
    terms: Sequence[str],
    topics: Sequence[str],
) -> tuple[list[_Candidate], str]:
    scores = _search_words(stores, places, query, terms)
    meaning = _open_meaning(stores, places, query, notices)
    near = _find_near(stores, meaning) if meaning is not None else {}
    nearest = max(near.values(), default=None) if meaning is not None else None
    if query.floor and not is_question(
        topics,
        [scores.frequency(term) for term in topics],
        documents=scores.documents,
        covered=scores.is_covered(topics),
        nearest=nearest,
        near=meaning.model.near if meaning is not None else NEAR,
    ):
        return [], "lexical" if meaning is None else "hybrid"
    with_topic = scores.rows_with_any(topics) if query.floor else None
    if meaning is None:
        ranked = scores.best(TEXT_CANDIDATES)
        found = [
            _Candidate(stores[number], stores[number].index.paths[row], score / ranked[0][2], {"words": score})
            for number, row, score in ranked
            if with_topic is None or row in with_topic[number]
        ]
        return found, "lexical"
    return _fuse(stores, scores, meaning, near, with_topic), "hybrid"


def _find_literal(stores: Sequence[_Store], places: Places, query: Query) -> list[_Candidate]:
    """Return the memories that hold the whole of a longer prompt word for word, though it is about nothing."""
    sought = tokens(query.text[:MAX_QUERY_CHARACTERS])
    scores = _search_words(stores, places, query, list(dict.fromkeys(sought))[:MAX_QUERY_TERMS])
    found = []
    for store, rows in zip(stores, scores.rows_with_all(), strict=True):
        for row in sorted(rows)[:TEXT_CANDIDATES]:
            one = _Candidate(store, store.index.paths[row], 1.0, {"words": 1.0})
            file = _read_candidate(one, query)
            if file is not None and _holds(tokens(indexable_text(file)), sought):
                found.append(one)
    return found


def _holds(words: Sequence[str], sought: Sequence[str]) -> bool:
    size = len(sought)
    return any(words[at : at + size] == sought for at in range(len(words) - size + 1) if words[at] == sought[0])


def _search_words(stores: Sequence[_Store], places: Places, query: Query, terms: Sequence[str]) -> Scores:
    """Return the word scores of all stores. An index that fails under the search is opened again, then
    thrown away; in the end the files themselves are searched."""
    for store in stores:
        if store.opened.missing:
            _scan(store, query, terms)
    for attempt in range(3):
        try:
            return _search_indexes(stores, query, terms)
        except (DamagedIndex, OSError) as error:
            for store in stores:
                if store.opened.missing:
                    continue
                if isinstance(error, DamagedIndex):
                    discard_index(store.tree, places)
                store.opened = open_recall_index(store.tree, places)
                store.index = store.opened.index
                if attempt == 1 or store.opened.missing:
                    _scan(store, query, terms)
    return search_texts([], terms, [])


def _search_indexes(stores: Sequence[_Store], query: Query, terms: Sequence[str]) -> Scores:
    return search_texts([store.index for store in stores], terms, [_seer(store, query) for store in stores])


def _seer(store: _Store, query: Query) -> Callable[[str | None], bool]:
    return partial(store.sight.sees, query.caller)


def _scan(store: _Store, query: Query, terms: Sequence[str]) -> None:
    from memfs.index.scan import scan_texts

    store.index = scan_texts(store.tree, store.opened.scan.entries, terms, _seer(store, query))


class _Meaning:
    """The vector side of one query: its vector, and each store's rows that have one."""

    __slots__ = ("model", "query", "rows", "vectors")

    def __init__(self, model: Model, query: array[float]) -> None:
        self.model = model
        self.query = query
        self.vectors: list[Vectors] = []
        self.rows: list[dict[int, int]] = []  # for each store, index row → vector row

    def similarity(self, number: int, row: int) -> float | None:
        place = self.rows[number].get(row)
        return None if place is None else self.vectors[number].similarity(self.query, place)


def _open_meaning(stores: Sequence[_Store], places: Places, query: Query, notices: list[str]) -> _Meaning | None:
    """Return the vector side of ``query``, or None: not wanted, no model, or not this model's language."""
    if query.mode == "lexical":
        return None
    from memfs.index.semantic import embed_rows, find_model, read_vectors

    prepared, reason = find_model(places)
    if prepared is None:
        if query.mode == "hybrid":
            raise SetupError(reason or "there is no model", hint="memfs model list")
        most = max(stores, key=lambda store: len(store.index.paths), default=None)
        if most is not None and len(most.index.paths) >= _WORTH_A_MODEL and start_preparing(most.tree, places):
            reason = "recall is by words only: the model is being prepared"
        notices.append(reason or "")
        return None
    if prepared.model.languages == "en" and not _is_latin(query.text):
        return None
    vectors = [read_vectors(store.tree, places, prepared) for store in stores]
    missing = [_rows_without(store.index, found) for store, found in zip(stores, vectors, strict=True)]
    if not any(found.rows for found in vectors) and sum(map(len, missing)) > _EMBEDDED_IN_PASSING:
        notices.append("recall is by words only: no memory is embedded yet (`memfs index` does it)")
        _refresh_in_background(stores, missing, places)
        return None
    from memfs.index.embedding import open_embedder

    try:
        embedder = open_embedder(prepared)
        meaning = _Meaning(prepared.model, embedder.embed(query.text[:MAX_QUERY_CHARACTERS], query=True))
        for number, (store, rows) in enumerate(zip(stores, missing, strict=True)):
            if rows and len(rows) <= _EMBEDDED_IN_PASSING and not store.opened.missing:
                embed_rows(store.tree, places, store.index, rows, embedder)
                vectors[number] = read_vectors(store.tree, places, prepared)
    except (MemfsError, OSError) as error:
        if query.mode == "hybrid":
            raise
        notices.append(f"recall is by words only: {error}")
        return None
    _refresh_in_background(stores, missing, places)
    for store, found in zip(stores, vectors, strict=True):
        meaning.vectors.append(found)
        flags = store.index.allowed_rows(_seer(store, query))
        placed = store.index.places_of(found.rows)
        meaning.rows.append({row: place for row, place in enumerate(placed) if place is not None and flags[row]})
    return meaning


def _rows_without(index: TextIndex, vectors: Vectors) -> list[int]:
    """Return the living rows that have no vector."""
    places = index.places_of(vectors.rows)
    return [row for row, place in enumerate(places) if place is None and index.key(row) != NO_KEY]


def _refresh_in_background(stores: Sequence[_Store], missing: Sequence[Sequence[int]], places: Places) -> None:
    for store, rows in zip(stores, missing, strict=True):
        if len(rows) > _EMBEDDED_IN_PASSING and not store.opened.behind:
            refresh_detached(store.tree, places)


def _is_latin(text: str) -> bool:
    letters = [char for char in text[:MAX_QUERY_CHARACTERS] if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _find_near(stores: Sequence[_Store], meaning: _Meaning) -> dict[tuple[int, int], float]:
    """Return the cosine of the nearest rows of all stores, by (store number, row)."""
    similar: dict[tuple[int, int], float] = {}
    for number, (vectors, rows) in enumerate(zip(meaning.vectors, meaning.rows, strict=True)):
        back = {place: row for row, place in rows.items()}
        for place in vectors.nearest(meaning.query, list(back), limit=MEANING_CANDIDATES):
            similar[number, back[place]] = vectors.similarity(meaning.query, place)
    if len(stores) == 1:
        return similar
    kept = sorted(similar, key=lambda key: (-similar[key], key))[:MEANING_CANDIDATES]
    return {key: similar[key] for key in kept}


def _fuse(
    stores: Sequence[_Store],
    scores: Scores,
    meaning: _Meaning,
    near: Mapping[tuple[int, int], float],
    with_topic: Sequence[set[int]] | None,
) -> list[_Candidate]:
    """Return the candidates of both sides by RETRIEVAL 4: each side scaled to 0…1, then weighed."""
    similar = dict(near)
    text = {(number, row): score for number, row, score in scores.best(TEXT_CANDIDATES)}
    for key in text:
        if key not in similar:
            found = meaning.similarity(*key)
            if found is not None:
                similar[key] = found
    top = max(text.values(), default=1.0)
    low, high = min(similar.values(), default=0.0), max(similar.values(), default=1.0)
    spread = high - low or 1.0
    candidates = []
    for number, row in dict.fromkeys((*text, *similar)):
        index = stores[number].index
        words = scores.by_row[number].get(row, 0.0)
        cosine = similar.get((number, row))
        if (
            with_topic is not None
            and row not in with_topic[number]
            and (cosine is None or cosine < meaning.model.related)
        ):
            continue
        by_words = words / top
        by_meaning = by_words if cosine is None else (cosine - low) / spread  # a text that is not embedded yet
        score = (1 - MEANING_SHARE) * by_words + MEANING_SHARE * by_meaning
        parts = {"words": words} if cosine is None else {"words": words, "meaning": cosine}
        candidates.append(_Candidate(stores[number], index.paths[row], score, parts))
    candidates.sort(key=lambda one: (-one.score, one.path))
    return candidates


# -- places, files, factors --------------------------------------------------------------------------


def _with_places(stores: Sequence[_Store], query: Query, candidates: list[_Candidate]) -> list[_Candidate]:
    """Return ``candidates`` and the memories whose ``applies_to`` names what the caller works on."""
    known = {(one.store.name, one.path) for one in candidates}
    added: list[tuple[str, _Candidate]] = []
    for store in stores:
        path, topics = _work_of(store, query)
        flags = store.index.allowed_rows(_seer(store, query))
        matches = matcher(path, topics)
        answers: dict[str, bool] = {"": False}  # many memories name the same places
        for row, facet in enumerate(store.index.read_facets()):
            recorded, _, places = facet.partition("\t")
            if places not in answers:
                answers[places] = matches(places.split("\x1f"))
            memory_path = store.index.paths[row]
            if answers[places] and flags[row] and (store.name, memory_path) not in known:
                added.append((recorded, _Candidate(store, memory_path, _PLACE_SCORE, {})))
    added.sort(key=lambda pair: (pair[0], pair[1].path), reverse=True)
    return [*candidates, *(one for _, one in added)]


def _work_of(store: _Store, query: Query) -> tuple[str | None, tuple[str, ...]]:
    """Return the work path relative to this store (None where it lies elsewhere) and all topics."""
    path = query.work_path
    if path is None:
        return None, query.topics
    root = str(store.tree.root)
    if path.startswith("/"):
        path = path.removeprefix(root + "/") if path.startswith(root + "/") else None
    return path, (*query.topics, *(topics_of_path(path) if path is not None else ()))


def _read_hits(candidates: Sequence[_Candidate], query: Query, limit: int) -> list[Hit]:
    """Return the best candidates as hits, read from their files, all factors joined, best first.

    Some are read beyond the limit where a factor could move one of them up.
    """
    hits: list[Hit] = []
    rest = iter(candidates)
    moves = query.work_path is not None or bool(query.topics) or any(one.store.has_feedback for one in candidates[:1])
    for wanted in (limit, _LOOK_PAST):
        hits += _read_some(rest, query, wanted)
        if not moves and all(hit.parts["state"] == 1 for hit in hits):
            break
    hits.sort(key=lambda hit: (-hit.score, hit.store, hit.assessment.file.path))
    return hits


def _read_some(candidates: Iterator[_Candidate], query: Query, wanted: int) -> list[Hit]:
    files: dict[int, list[tuple[_Candidate, MemoryFile]]] = {}
    count = 0
    while count < wanted and (one := next(candidates, None)) is not None:
        file = _read_candidate(one, query)
        if file is not None:
            files.setdefault(id(one.store), []).append((one, file))
            count += 1
    hits: list[Hit] = []
    for pairs in files.values():
        assessments = pairs[0][0].store.assessor.assess_many([file for _, file in pairs])
        hits += [_join(one, assessment, query) for (one, _), assessment in zip(pairs, assessments, strict=True)]
    return hits


def _read_candidate(one: _Candidate, query: Query) -> MemoryFile | None:
    # Whatever the index says about this path, its folder decides who sees it.
    if not one.store.sight.sees_path(query.caller, one.path):
        return None
    try:
        file = read_memory(one.path, read_file(one.store.tree, one.path))
    except UnreadableFile:
        return None
    return file if file.document is not None else None


def _join(one: _Candidate, assessment: Assessment, query: Query) -> Hit:
    parts = dict(one.parts)
    score = one.score
    factors = {"state": STATE_FACTORS[assessment.state.state]}
    memory = assessment.file.memory
    path, topics = _work_of(one.store, query)
    if memory is not None and (path is not None or topics) and applies(memory.applies_to, path, topics):
        factors["place"] = PLACE_FACTOR
    usage = one.store.usage.get(assessment.file.id, NEVER).factor
    if usage != 1:
        factors["usage"] = usage
    for name, factor in factors.items():
        score *= factor
        parts[name] = factor
    return Hit(assessment=assessment, score=score, parts=parts, store=one.store.name)


def _cut(hits: Sequence[Hit], query: Query, limit: int, mode: str, others: int = 0) -> Result:
    """Return the hits within the limit and the budget: whole memories, approved ones first."""
    kept = list(hits[:limit])
    left_out = 0
    if query.budget_bytes is not None:
        room = query.budget_bytes
        fitting = []
        for hit in sorted(kept, key=lambda hit: not hit.assessment.approved):
            cost = shown_bytes(hit.assessment)
            if cost <= room:
                room -= cost
                fitting.append(hit)
        left_out = len(kept) - len(fitting)
        kept = fitting
    return Result(hits=tuple(kept), left_out=left_out, others=others, mode=mode)


def shown_bytes(assessment: Assessment) -> int:
    """Return about how many bytes a memory takes in a brief bundle: heading, statement, evidence."""
    memory = assessment.file.memory
    if memory is None:
        return _HEADING_BYTES
    lines = [memory.statement, *(report.text for report in assessment.state.evidence), *assessment.state.reasons]
    return _HEADING_BYTES + sum(len(line.encode("utf-8", "surrogatepass")) + _LINE_BYTES for line in lines)


# -- what a session begins with ----------------------------------------------------------------------


def _recall_brief(stores: Sequence[_Store], query: Query) -> Result:
    """Return approved and current memories: those for the work path first, then the used, then the newest.

    Only ids that have a receipt can be approved, so nothing else is read.
    """
    candidates: list[tuple[tuple[bool, int, str], _Candidate]] = []
    visible = 0
    for store in stores:
        path, topics = _work_of(store, query)
        flags = store.index.allowed_rows(_seer(store, query))
        visible += sum(flags)
        approved = store.assessor.ids_with_receipts()
        if not approved:
            continue
        for row, (memory_path, facet) in enumerate(zip(store.index.paths, store.index.read_facets(), strict=True)):
            memory_id = memory_path.rpartition("/")[2].removesuffix(".md")  # what is in `approved` is an id
            if flags[row] and memory_id in approved:
                recorded, _, places = facet.partition("\t")
                here = bool(places) and applies(places.split("\x1f"), path, topics)
                rank = (here, store.usage.get(memory_id, NEVER).helped, recorded)
                candidates.append((rank, _Candidate(store, memory_path, _PLACE_SCORE, {})))
    candidates.sort(key=lambda pair: (pair[0], pair[1].path), reverse=True)
    order = {(one.store.name, one.path): place for place, (_, one) in enumerate(candidates)}
    hits: list[Hit] = []
    read = 0
    # A few more than are shown at first: an approval that lapsed is seen only when the file is read.
    while len(hits) < query.limit and read < min(len(candidates), _BRIEF_READ):
        batch = [one for _, one in candidates[read : read + query.limit + _LOOK_PAST]]
        hits += [hit for hit in _read_hits(batch, query, len(batch)) if hit.assessment.approved]
        read += len(batch)
    hits.sort(key=lambda hit: order[hit.store, hit.assessment.file.path])
    result = _cut(hits, query, query.limit, "brief")
    left_out = len(hits) - len(result.hits) + len(candidates) - read
    return replace(result, left_out=left_out, others=visible - len(result.hits) - left_out)
