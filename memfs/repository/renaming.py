"""Another id for a memory: its file moves, and what names it follows.

An approval is of an id and a text (TRUST 4), so it does not move. The history goes on: see ``history``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memfs.errors import UsageError
from memfs.model.memory import FrontValue, MemoryFile, WhenSuperseded
from memfs.model.reader import change_memory, read_memory, require_memory
from memfs.model.slugs import is_id, slug_of_title
from memfs.model.triggers import format_trigger
from memfs.model.values import dataclass
from memfs.repository.draft import ONE_COMMIT, Commit, DraftText
from memfs.repository.writing import blind_id

if TYPE_CHECKING:
    from memfs.model.scope import Caller
    from memfs.repository.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A memory under its new id. ``changed`` are the memories that named it and that the caller sees, ``approved``
    those of all of them that were approved and are no longer."""

    was: str
    file: MemoryFile
    commit: str | None
    changed: tuple[str, ...]
    approved: tuple[str, ...]


def rename(
    repository: Repository, name: str, new_id: str, caller: Caller, *, by: Caller, commit: Commit = ONE_COMMIT
) -> Renamed:
    """Give the memory ``name``, which ``caller`` sees, the id ``new_id`` in one commit, on behalf of ``by``.

    Where ``by`` does not see every memory, the id gets a mark: whether it is taken would tell of a hidden one.
    Raises :class:`UsageError` for an id that is not one, or is taken.
    """
    old = repository.find(name, caller)
    memory = require_memory(old)
    every = repository.files()[0]
    seen = [file for file in every if repository.sight.sees_path(by, file.path)]
    taken = {file.id for file in seen}
    _require_free(new_id, taken)
    if len(seen) < len(every):
        new_id = blind_id(new_id, memory.body, taken=taken)
    writer = repository.writer(by)
    front = old.document.front if old.document is not None else {}
    allow = dict.fromkeys(memory.allow, "")
    writer.require_admissible(
        DraftText(body=memory.body, origin=memory.origin, front=front, author=memory.author, id=new_id, allow=allow)
    )
    file = read_memory(f"{old.path.rpartition('/')[0]}/{new_id}.md", old.raw)
    # Where two files have the id, nobody knows which of them is meant by it.
    is_one = sum(file.id == old.id for file in seen) == 1
    followers = list(_followers(seen, old, new_id)) if is_one else []
    named = [follower for follower, _ in followers if repository.sight.sees_path(caller, follower.path)]
    before = [old, *named]
    approved = [one.id for one in before if repository.assess(one, caller).verdict.trusted]
    name_of_commit = writer.write(
        [
            (file.path, file.raw, None),
            (old.path, None, old.digest),
            *((follower.path, raw, follower.digest) for follower, raw in followers),
        ],
        commit.subject or f"Rename {old.id} to {new_id}",
        commit,
    )
    return Renamed(
        was=old.id,
        file=file,
        commit=name_of_commit or None,
        changed=tuple(follower.id for follower in named),
        approved=tuple(new_id if memory_id == old.id else memory_id for memory_id in approved),
    )


def _require_free(new_id: str, taken: set[str]) -> None:
    if not is_id(new_id):
        raise UsageError(
            "an id is 1 to 64 lower-case letters, digits and dashes",
            where=ascii(new_id[:64]),
            hint=f"`{slug_of_title(new_id, taken=taken)}` would be one",
        )
    if new_id in taken:
        raise UsageError("a memory of that id exists", where=new_id, hint="choose another; `memfs list` shows them")


def _followers(files: Sequence[MemoryFile], old: MemoryFile, new_id: str) -> Iterator[tuple[MemoryFile, bytes]]:
    """Return those of ``files`` whose fields name ``old``, with their new bytes."""
    for file in files:
        memory = file.memory
        if memory is None or file.path == old.path:
            continue
        changes: dict[str, FrontValue | None] = {}
        if old.id in memory.supersedes:
            changes["supersedes"] = tuple(new_id if one == old.id else one for one in memory.supersedes)
        if memory.review_trigger == WhenSuperseded(id=old.id):
            changes["review_trigger"] = format_trigger(WhenSuperseded(id=new_id))
        if changes:
            yield file, change_memory(file, changes)
