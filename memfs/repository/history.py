"""How a memory came to be what it is: the commits that touched it or its approvals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memfs.git.log import read_commits
from memfs.git.read import head_commit
from memfs.model.reader import id_of_path
from memfs.model.values import dataclass, replace
from memfs.repository.find import find_files

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree
    from memfs.model.scope import Caller
    from memfs.sight import Sight

_WHAT = {"A": "added", "M": "changed", "D": "deleted", "T": "changed"}
_DONE = {"added": "Remember", "changed": "Edit", "deleted": "Forget", "approval": "Approve"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One commit in the life of a memory. ``what`` is added, changed, deleted or approval."""

    commit: str
    on: str  # ISO time with zone, as git has it
    author: str
    what: str
    path: str
    subject: str


def read_history(tree: WorkTree, sight: Sight, memory_id: str, caller: Caller) -> list[Event]:
    """Return the commits that touched a memory or its approvals, newest first; of a deleted one too.

    A commit that touched what ``caller`` may not see is named by what it did here, not by its subject.
    Raises :class:`NotFoundError` where neither the files nor the history contain it for ``caller``.
    """
    every = _read_events(tree)
    events = [event for event in every if _is_about(event.path, memory_id)]
    visible = [event for event in events if event.what != "approval" and sight.sees_path(caller, event.path)]
    if not visible:
        find_files(tree, sight, memory_id, caller)  # known but not committed yet, or unknown and hidden alike
    hidden = _hidden_commits(every, sight, caller)
    theirs = {event.commit for event in events if event.what != "approval"} - {event.commit for event in visible}
    return [
        replace(event, subject=f"{_DONE[event.what]} {memory_id}") if event.commit in hidden else event
        for event in events
        if event in visible or (event.what == "approval" and event.commit not in theirs)
    ]


def _hidden_commits(events: Sequence[Event], sight: Sight, caller: Caller) -> set[str]:
    """Return the commits whose subjects may name a memory that ``caller`` does not see."""
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for event in events:
        if event.what != "approval":
            seen[sight.sees_path(caller, event.path)].add(id_of_path(event.path))
    hidden_ids = seen[False] - seen[True]
    return {
        event.commit
        for event in events
        if (
            _approved_id(event.path) in hidden_ids
            if event.what == "approval"
            else not sight.sees_path(caller, event.path)
        )
    }


def _read_events(tree: WorkTree) -> list[Event]:
    if tree.git_dir is None or head_commit(tree) is None:
        return []
    return [
        Event(
            commit=commit.name,
            on=commit.on,
            author=f"{commit.author} <{commit.address}>",
            what="approval" if file.path.startswith(".memfs/") else _WHAT.get(file.letter, "changed"),
            path=file.path,
            subject=commit.subject,
        )
        for commit in read_commits(tree, "HEAD", ["memories", ".memfs/approvals"])
        for file in commit.files
    ]


def _is_about(path: str, memory_id: str) -> bool:
    if path.startswith(".memfs/approvals/"):
        return _approved_id(path) == memory_id
    return path.rsplit("/", 1)[-1] == f"{memory_id}.md"


def _approved_id(path: str) -> str:
    return path.rsplit("/", 1)[-1].split(".", maxsplit=1)[0]
