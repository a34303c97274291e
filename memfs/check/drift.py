"""What a change of other files does to memories that it leaves alone, as results at the changed file's line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from memfs.check.change import Between
from memfs.check.results import Result
from memfs.check.rules import make_result
from memfs.check.words import names_of
from memfs.model.codepoints import plain
from memfs.model.memory import MemoryFile
from memfs.standing.drift import Drift, Turn, find_drift

MAX_STATEMENT = 160


def check_drift(between: Between, *, today: date) -> Iterator[Result]:
    """Yield what the change does to memories that it leaves alone: each one's state before and after."""
    view = between.view

    def people(file: MemoryFile) -> tuple[str, ...] | None:
        verdict = view.verdict(file) if view is not None else None
        return verdict.people if verdict is not None and verdict.trusted else None

    tips = (between.states.named, between.states.tip)
    for drift in find_drift(between.base, between.now, tips=tips, today=today, people=people):
        yield make_result(
            drift.turn.value,
            _sentence(drift),
            path=drift.changed,
            line=drift.line,
            column=drift.line and 1,
            fix=f"Still true: `{drift.command}`." if drift.command else None,
            ids=(drift.memory_id,),
            others=(drift.path,),
        )


_WORDS = {
    Turn.MAKES_STALE: "{id} must be looked at again: {reason}.",
    Turn.GONE: "{id} loses what it rests on: {reason}.",
    Turn.MOVED: "{id} rests on a file that moves to {moved_to}.",
    Turn.HEALS: "{id} rests on this again: {reason}.",
    Turn.TRIGGER_FIRES: "The review trigger of {id} fires: {reason}.",
    Turn.APPLIES_HERE: "{id} applies to this file.",
}


def _sentence(drift: Drift) -> str:
    words = _WORDS[drift.turn].format(id=drift.memory_id, reason=drift.reason, moved_to=plain(drift.moved_to))
    says = plain(" ".join(drift.statement.split()), limit=MAX_STATEMENT)
    who = f"approved by {names_of(drift.people)}" if drift.people else "not approved"
    return f'{words} It says "{says}" ({who}).'
