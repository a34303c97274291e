"""The results of the rules as a reviewer reads them: one sentence each, and how loud it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from memfs.check.results import Level, Report, Result
from memfs.check.rules import RULES, fix_of
from memfs.model.reader import id_of_path
from memfs.model.values import dataclass


class Tone(StrEnum):
    """How loud a sentence is: ``stop`` must be settled before a merge, ``look`` needs a person's eyes."""

    STOP = "stop"
    LOOK = "look"
    FINE = "fine"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One sentence about a change. ``about`` is the rule of ``memfs check`` that says it, or ``approval``.

    ``by_approval``: an approval settles it. ``others`` are the paths of all memories that the text is about.
    """

    tone: Tone
    about: str
    text: str
    by_approval: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """The signatures of one memory after the change."""

    people: tuple[str, ...]  # whose approval fits the new text
    lost: tuple[str, ...]  # who approved the text that the base has, and not this one
    gained: tuple[str, ...]  # who approves now and did not before
    need: int
    missing: int
    may: tuple[str, ...]  # who could give what is missing


def loudest(notes: Iterable[Note]) -> Tone:
    """Return the loudest tone, ``plain`` where there is none."""
    tones = {note.tone for note in notes}
    return next((tone for tone in (Tone.STOP, Tone.LOOK, Tone.FINE) if tone in tones), Tone.PLAIN)


def order_of(note: Note) -> int:
    """Return the place of a note among others: loud ones first."""
    return list(Tone).index(note.tone)


_TONES = {Level.ERROR: Tone.STOP, Level.WARNING: Tone.LOOK, Level.NOTE: Tone.PLAIN}
_HEADLINES = {
    "evidence-no-commit": "Its evidence does not exist: ",
    "evidence-no-path": "Its evidence does not exist: ",
    "hidden-character": "Hidden characters, which the difference on the forge does not show: ",
    "secret": "It looks like a credential: ",
    "personal-data": "It looks like personal data: ",
    "held": "Admission leaves it for a person to decide: ",
    "evidence-changed": "Its evidence has drifted: ",
    "evidence-gone": "Its evidence has drifted: ",
}


def note_of(result: Result, report: Report, paths_of: Mapping[str, Sequence[str]]) -> Note:
    """Return what a reviewer reads of a result: its sentence, where it is, and what to do if that is special.

    ``paths_of``: id → where memories of that id lie, before or after the change.
    """
    message = result.message
    if result.line and result.rule in _HEADLINES and not result.rule.startswith("evidence"):
        message = f"line {result.line}, column {result.column or 1} {message.removeprefix('body: ')}"
    usual = fix_of(result.rule, result.ids or (id_of_path(result.path),))
    special = result.fix is not None and result.level is not Level.NOTE and result.fix != usual
    return Note(
        tone=Tone.STOP if report.fails(result) else _TONES[result.level],
        about=result.rule,
        text=f"{_HEADLINES.get(result.rule, '')}{message}" + (f" {result.fix}" if special else ""),
        by_approval=RULES[result.rule].by_approval,
        others=_others(result, paths_of),
    )


def _others(result: Result, paths_of: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the paths of all memories that a result names or is about: who may not see one of them reads no note."""
    named = (path for name in result.ids for path in paths_of.get(name, ()))
    own = (result.path,) if result.path.startswith("memories/") else ()
    return tuple(dict.fromkeys((*own, *result.others, *named)))
