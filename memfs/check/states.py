"""What is compared with what: the state that is checked, and the base of a change."""

from __future__ import annotations

from memfs.disk.worktree import WorkTree
from memfs.errors import UsageError
from memfs.git.read import head_commit
from memfs.git.snapshot import GitFiles, Snapshot, WorkFiles, merge_base, require_commit
from memfs.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is checked. ``commit``: that commit's files; ``staged``: the index; else the work tree.

    ``base``: only what changed since the histories parted. ``paths``: results about these only.
    """

    paths: tuple[str, ...] = ()
    base: str | None = None
    staged: bool = False
    commit: str | None = None
    pin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """What is compared: ``base`` is None when everything is checked. ``since`` is the commit that the
    base's files are read from (where the histories parted), ``named`` the one that was asked for and
    ``theirs`` its files: who may approve is what *they* say today. ``tip`` is the commit whose history
    counts."""

    now: Snapshot
    base: GitFiles | None
    theirs: GitFiles | None
    since: str | None
    named: str | None
    tip: str | None


def open_states(tree: WorkTree, target: Target) -> States:
    """Return the states that ``target`` names.

    Raises :class:`UsageError` for a base or a commit that is not here, and for options that do not fit together.
    """
    if target.staged and (target.base or target.commit):
        raise UsageError("--staged cannot be combined with --base or --commit")
    if target.commit and not target.base:
        raise UsageError("--commit needs --base", hint="what is checked is the change from one to the other")
    head = head_commit(tree)
    if target.staged:
        base = GitFiles(tree, head) if head else None
        return States(now=GitFiles(tree, None), base=base, theirs=base, since=head, named=head, tip=head)
    if target.base:
        tip = require_commit(tree, target.commit) if target.commit else head
        named = require_commit(tree, target.base)
        since = (merge_base(tree, named, tip) or named) if tip else named
        now: Snapshot = GitFiles(tree, tip) if target.commit else WorkFiles(tree)
        base = GitFiles(tree, since)
        theirs = base if named == since else GitFiles(tree, named)
        return States(now=now, base=base, theirs=theirs, since=since, named=named, tip=tip)
    return States(now=WorkFiles(tree), base=None, theirs=None, since=None, named=None, tip=head)


def find_changes(base: Snapshot, now: Snapshot) -> dict[str, str | None]:
    """Return the memory paths that differ, each with its path in ``base`` (None: it is new).

    A file of the same id in another folder counts as moved, not as deleted and added.
    """
    old, _ = base.memories()
    new, others = now.memories()
    by_name: dict[str, list[str]] = {}
    for path in old:
        if path not in new:
            by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    changed: dict[str, str | None] = {}
    for path in new:
        if path in old:
            blob = base.blob_of(path)
            if blob != now.blob_of(path, like=blob):
                changed[path] = path
        else:
            moved = by_name.get(path.rsplit("/", 1)[-1], [])
            changed[path] = moved[0] if len(moved) == 1 else None
    for path in others:
        changed[path] = path if path in old else None
    return changed


def differs(base: Snapshot, now: Snapshot, path: str) -> bool:
    old = base.blob_of(path)
    return old != now.blob_of(path, like=old)
