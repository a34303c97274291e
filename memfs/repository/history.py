"""How a memory came to be what it is: the commits that touched it or its approvals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memfs.git.log import read_commits
from memfs.git.read import head_commit
from memfs.model.values import dataclass, replace
from memfs.repository.find import find_files, find_ids
from memfs.trust.carriers import APPROVALS, TreeCarrier
from memfs.trust.record import find_records

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree
    from memfs.model.scope import Caller
    from memfs.sight import Sight

_WHAT = {"A": "added", "M": "changed", "D": "deleted", "T": "changed"}
_DONE = {"added": "Remember", "changed": "Edit", "deleted": "Forget", "approval": "Approve"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One commit in the life of a memory. ``what`` is added, changed, deleted or approval.

    ``ids`` are the memories that it is about: one approval may be of many.
    """

    commit: str
    on: str  # ISO time with zone, as git has it
    author: str
    what: str
    path: str
    subject: str
    blob: str  # the content after it
    ids: tuple[str, ...]


def read_history(tree: WorkTree, sight: Sight, name: str, caller: Caller) -> list[Event]:
    """Return the commits that touched a memory or its approvals, newest first; of a deleted one too, and from
    before it got the id that it has.

    A commit that touched what ``caller`` may not see is named by what it did here, not by its subject.
    Raises :class:`NotFoundError` where neither the files nor the history contain it for ``caller``.
    """
    every = _read_events(tree)
    sees = sight.for_caller(caller)
    (memory_id,) = find_ids(tree, [name], sees)
    ids = _every_id(every, memory_id, sees)
    events = [event for event in every if ids & set(event.ids)]
    visible = [event for event in events if event.what != "approval" and sees(event.path)]
    if not visible:
        find_files(tree, sight, name, caller)  # known but not committed yet, or unknown and hidden alike
    hidden = _hidden_commits(every, sight, caller)
    theirs = {event.commit for event in events if event.what != "approval"} - {event.commit for event in visible}
    return [
        replace(event, subject=f"{_DONE[event.what]} {min(ids & set(event.ids))}") if event.commit in hidden else event
        for event in events
        if event in visible or (event.what == "approval" and event.commit not in theirs)
    ]


def _every_id(events: Sequence[Event], memory_id: str, sees: Callable[[str], bool]) -> set[str]:
    """Return ``memory_id`` and the ids that the memory had before: a commit that adds a file and deletes one of the
    same content gave it another name."""
    ids, files = {memory_id}, [event for event in events if event.what != "approval"]
    for place, event in enumerate(files):
        if event.what != "added" or not ids & set(event.ids) or not sees(event.path):
            continue
        gone = {one.path for one in files if one.commit == event.commit and one.what == "deleted" and sees(one.path)}
        for path in gone:
            last = next((one for one in files[place:] if one.path == path and one.what != "deleted"), None)
            if last is not None and last.blob == event.blob:
                ids |= set(last.ids)
    return ids


def _hidden_commits(events: Sequence[Event], sight: Sight, caller: Caller) -> set[str]:
    """Return the commits whose subjects may name a memory that ``caller`` does not see."""
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for event in events:
        if event.what != "approval":
            seen[sight.sees_path(caller, event.path)].update(event.ids)
    hidden_ids = seen[False] - seen[True]
    return {
        event.commit
        for event in events
        if (hidden_ids & set(event.ids) if event.what == "approval" else not sight.sees_path(caller, event.path))
    }


def _read_events(tree: WorkTree) -> list[Event]:
    if tree.git_dir is None or head_commit(tree) is None:
        return []
    carrier = TreeCarrier(tree)
    return [
        Event(
            commit=commit.name,
            on=commit.on,
            author=f"{commit.author} <{commit.address}>",
            what="approval" if file.path.startswith(".memfs/") else _WHAT.get(file.letter, "changed"),
            path=file.path,
            subject=commit.subject,
            blob=file.blob,
            ids=_ids_of(carrier, file.path),
        )
        for commit in read_commits(tree, "HEAD", ["memories", ".memfs/approvals"])
        for file in commit.files
    ]


def _ids_of(carrier: TreeCarrier, path: str) -> tuple[str, ...]:
    """Return the memories that the file at ``path`` is about: its own, or those that a receipt of many names."""
    name = path.rsplit("/", 1)[-1]
    if not path.startswith(f"{APPROVALS}/"):
        return (name.removesuffix(".md"),)
    if not name.startswith("batch."):
        return (name.split(".", maxsplit=1)[0],)
    records = find_records(carrier.receipt(name) or b"")
    return tuple(item.id for one in records if one.receipt_name == name for item in one.statement.items)
