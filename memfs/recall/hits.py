"""From candidates to hits: each file read again, state, trust, place and usage joined, then cut to size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memfs.admission.gate import Outcome
from memfs.model.applies import applies
from memfs.model.memory import State
from memfs.model.values import dataclass
from memfs.recall.candidates import work_of
from memfs.recall.query import Hit, Query, Result
from memfs.recall.stores import Candidate
from memfs.recall.usage import NEVER

if TYPE_CHECKING:
    from memfs.model.memory import MemoryFile
    from memfs.standing.assess import Assessment

STATE_FACTORS = {State.CURRENT: 1.0, State.UNKNOWN: 0.95, State.RECHECK: 0.9, State.SUPERSEDED: 0.5, State.EXPIRED: 0.5}
"""What a memory's state does to its score."""
PLACE_FACTOR = 1.15
"""What ``applies_to`` does that matches the work path or a topic."""
PROMPT_SHARE = 0.7
"""A prompt shows no hit with less than this share of the best hit's score."""

LOOK_PAST = 5
"""Hits read beyond the limit: the factors move a hit by a few places."""
_MOST_REFUSED = 20  # files read that turn out to be withheld or not a memory
_HEADING_BYTES = 200  # about what the heading of a shown memory takes
_LINE_BYTES = 16  # and what a line takes beside its text: prefix, "evidence", status


@dataclass(slots=True)
class Found:
    """What the candidates turned out to be."""

    hits: list[Hit]
    withheld: int = 0
    strays: int = 0


def read_hits(candidates: Sequence[Candidate], query: Query, limit: int) -> Found:
    """Return the best candidates as hits, read from their files, all factors joined, best first.

    Some are read beyond the limit where a factor could move one of them up. What the gate withholds and
    what is not a memory is counted: it takes no memory's place.
    """
    found = Found([])
    rest = iter(candidates)
    moves = query.work_path is not None or bool(query.topics) or any(one.store.has_feedback for one in candidates[:1])
    for wanted in (limit, LOOK_PAST):
        if not _read_some(rest, query, wanted, found):
            break
        if not moves and all(hit.parts["state"] == 1 for hit in found.hits):
            break
    found.hits.sort(key=lambda hit: (-hit.score, hit.store, hit.assessment.file.path))
    return found


def _read_some(candidates: Iterator[Candidate], query: Query, wanted: int, found: Found) -> bool:
    """Add up to ``wanted`` hits to ``found``; return whether there may be more candidates."""
    before = len(found.hits)
    while (missing := wanted - (len(found.hits) - before)) > 0:
        files: dict[int, list[tuple[Candidate, MemoryFile]]] = {}
        count = 0
        while count < missing:
            one = next(candidates, None)
            if one is None or found.withheld + found.strays >= _MOST_REFUSED:
                break
            file = one.store.read(one.path, query)
            if file is not None:
                files.setdefault(id(one.store), []).append((one, file))
                count += 1
        if not count:
            return False
        for pairs in files.values():
            assessments = pairs[0][0].store.assess_many([file for _, file in pairs])
            for (one, file), assessment in zip(pairs, assessments, strict=True):
                if file.memory is None:
                    found.strays += 1
                elif assessment.gate.outcome is Outcome.REJECT:
                    found.withheld += 1
                else:
                    found.hits.append(_join(one, assessment, query))
    return True


def _join(one: Candidate, assessment: Assessment, query: Query) -> Hit:
    parts = dict(one.parts)
    score = one.score
    factors = {"state": STATE_FACTORS[assessment.state.state]}
    memory = assessment.file.memory
    path, topics = work_of(one.store, query)
    if memory is not None and (path is not None or topics) and applies(memory.applies_to, path, topics):
        factors["place"] = PLACE_FACTOR
    usage = one.store.usage.get(assessment.file.id, NEVER).factor
    if usage != 1:
        factors["usage"] = usage
    for name, factor in factors.items():
        score *= factor
        parts[name] = factor
    return Hit(assessment=assessment, score=score, parts=parts, store=one.store.label(assessment.file))


def near_the_best(hits: Sequence[Hit], share: float) -> list[Hit]:
    """Return the hits with at least ``share`` of the best one's score, and those found by where they apply."""
    if not hits:
        return []
    least = share * hits[0].score
    return [hit for hit in hits if hit.score >= least or "words" not in hit.parts]


def cut(hits: Sequence[Hit], limit: int, budget: int | None, mode: str) -> Result:
    """Return the hits within the limit and the budget: whole memories, approved ones first."""
    kept = list(hits[:limit])
    left_out = 0
    if budget is not None:
        fitting = []
        for hit in sorted(kept, key=lambda hit: not hit.assessment.approved):
            cost = shown_bytes(hit.assessment)
            if cost <= budget:
                budget -= cost
                fitting.append(hit)
        left_out = len(kept) - len(fitting)
        kept = fitting
    return Result(hits=tuple(kept), left_out=left_out, mode=mode)


def shown_bytes(assessment: Assessment) -> int:
    """Return about how many bytes a memory takes in a brief bundle: heading, statement, evidence."""
    memory = assessment.file.memory
    if memory is None:
        return _HEADING_BYTES
    lines = [memory.statement, *(report.text for report in assessment.state.evidence), *assessment.state.reasons]
    return _HEADING_BYTES + sum(len(line.encode("utf-8", "surrogatepass")) + _LINE_BYTES for line in lines)
