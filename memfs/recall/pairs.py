"""Two current memories about the same: the newer one goes first and says so. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from memfs.index.tokenizer import tokens
from memfs.model.memory import State
from memfs.model.values import replace
from memfs.recall.query import Hit

CLOSE = 0.7
"""A pair's lower score is at least this share of the higher one."""
_SAME_WORDS = 0.6  # of the shorter text are in the longer one


def newer_first(hits: Sequence[Hit], is_alike: Callable[[Hit, Hit], bool | None]) -> list[Hit]:
    """Return ``hits`` with the newer of two current memories about the same before the older one.

    ``is_alike`` compares two hits by meaning, None where it cannot; then their words are compared. A memory
    that is not approved is not put before one that is.
    """
    ordered = list(hits)
    words: dict[int, set[str]] = {}
    for place, first in enumerate(hits):
        for second in hits[place + 1 :]:
            if second.score < CLOSE * first.score:
                break
            if not _both_current(first, second) or _recorded(first) == _recorded(second):
                continue
            alike = is_alike(first, second)
            if alike if alike is not None else _has_same_words(first, second, words):
                _put_first(ordered, *sorted((first, second), key=_recorded))
    return ordered


def _put_first(ordered: list[Hit], older: Hit, newer: Hit) -> None:
    """Put ``newer`` where ``older`` is, unless it is there before, and name ``older`` in it."""
    at = next((place for place, hit in enumerate(ordered) if hit.assessment is newer.assessment), None)
    if at is None or ordered[at].differs_from or (older.assessment.approved and not newer.assessment.approved):
        return
    marked = replace(ordered.pop(at), differs_from=older.assessment.file.id)
    before = next(place for place, hit in enumerate(ordered) if hit.assessment is older.assessment)
    ordered.insert(min(at, before), marked)


def _both_current(first: Hit, second: Hit) -> bool:
    return all(hit.assessment.state.state is State.CURRENT for hit in (first, second))


def _recorded(hit: Hit) -> date:
    memory = hit.assessment.file.memory
    return memory.recorded if memory is not None else date.min


def _has_same_words(first: Hit, second: Hit, known: dict[int, set[str]]) -> bool:
    for hit in (first, second):
        memory = hit.assessment.file.memory
        if id(hit) not in known and memory is not None:
            known[id(hit)] = {term for term in tokens(memory.statement) if term.isalpha()}
    one, other = known.get(id(first), set()), known.get(id(second), set())
    return len(one & other) >= _SAME_WORDS * max(1, min(len(one), len(other)))
