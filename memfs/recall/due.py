"""What people should look at: memories that are due, and memories that nobody uses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from memfs.disk.files import UnreadableFile, read_file, scan_memories
from memfs.errors import MemfsError
from memfs.model.memory import State
from memfs.model.reader import read_memory
from memfs.model.scope import Caller
from memfs.model.values import dataclass
from memfs.recall.usage import NEVER, Usage, read_usage
from memfs.sight import open_sight
from memfs.standing.assess import Assessment, Assessor

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A memory that is not current any more; its state says why."""

    assessment: Assessment
    store: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A memory that was not shown for long. Nothing happens to it unless a person decides so."""

    assessment: Assessment
    store: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What was found, and what could not be looked at."""

    due: tuple[Due, ...] = ()
    stale: tuple[Stale, ...] = ()
    notices: tuple[str, ...] = ()


def find_due(
    stores: Sequence[tuple[str, WorkTree]],
    places: Places,
    caller: Caller,
    *,
    today: date,
    on: date | None = None,
    with_superseded: bool = False,
) -> Attention:
    """Return the memories of ``stores`` whose trigger fired, whose evidence changed or which expired.

    ``on`` may be a coming day: what will be due then. Superseded ones have been looked at already.
    """
    wanted = {State.RECHECK, State.EXPIRED} | ({State.SUPERSEDED} if with_superseded else set())
    found, notices = _assess_all(stores, places, caller, today, on=on)
    due = [Due(assessment=one, store=store) for store, _, one in found if one.state.state in wanted]
    return Attention(due=tuple(due), notices=notices)


def find_stale(
    stores: Sequence[tuple[str, WorkTree]], places: Places, caller: Caller, *, today: date, days: int
) -> Attention:
    """Return the memories recorded over ``days`` days ago that were not shown here in that time."""
    since = (today - timedelta(days=days)).isoformat()
    found, notices = _assess_all(stores, places, caller, today)
    stale = []
    for store, usage, one in found:
        memory = one.file.memory
        if memory is not None and memory.recorded.isoformat() < since and usage.last < since:
            stale.append(Stale(assessment=one, store=store, usage=usage))
    stale.sort(key=lambda one: (one.usage.last, one.usage.shown, one.assessment.file.path))
    return Attention(stale=tuple(stale), notices=notices)


def _assess_all(
    stores: Sequence[tuple[str, WorkTree]], places: Places, caller: Caller, today: date, *, on: date | None = None
) -> tuple[list[tuple[str, Usage, Assessment]], tuple[str, ...]]:
    found: list[tuple[str, Usage, Assessment]] = []
    notices: list[str] = []
    for name, tree in stores:
        files = []
        sees_path = partial(open_sight(tree, places).sees_path, caller)
        for entry in scan_memories(tree).entries:
            if sees_path(entry.path):
                try:
                    files.append(read_memory(entry.path, read_file(tree, entry.path)))
                except UnreadableFile:
                    continue  # `memfs check` names it
        assessor = Assessor(tree, places, today, on=on, sees_path=sees_path)
        try:
            assessments = assessor.assess_many([file for file in files if file.memory is not None])
        except MemfsError as error:
            notices.append(f"store {name} is left out: {error}")
            continue
        usage = read_usage(tree, places)
        found += [(name, usage.get(one.file.id, NEVER), one) for one in assessments]
        notices += assessor.notices
    return found, tuple(dict.fromkeys(notices))
