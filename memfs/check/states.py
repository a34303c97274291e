"""What is compared with what: the state that is checked, and the base of a change.

A change is judged as what a merge of it would make (DESIGN-2 1): two sound changes can be unsound together.
"""

from __future__ import annotations

from pathlib import Path

from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError, UsageError
from memfs.git.merging import merge_commits
from memfs.git.read import head_commit
from memfs.git.snapshot import GitFiles, Snapshot, WorkFiles, is_shallow, merge_base, require_commit
from memfs.model.codepoints import plain
from memfs.model.values import dataclass, replace


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
    fail_on: str | None = None  # a level; with the settings' own, the stricter one counts
    require_approval: bool = False
    index: Path | None = None  # with ``staged``: another one than git's usual index


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """What is compared. ``base`` is None when everything is checked.

    ``now`` is the merge of the two sides where git can tell it, else the one side. ``theirs`` are the base's files
    of today: who may approve is what they say. ``parted`` are those of the commit where the histories parted
    (``since``). ``named`` is the base's commit, and ``tip`` the one whose history counts.
    """

    now: Snapshot
    base: GitFiles | None = None
    theirs: GitFiles | None = None
    parted: GitFiles | None = None
    since: str | None = None
    named: str | None = None
    tip: str | None = None
    is_merged: bool = True
    conflicts: tuple[str, ...] = ()


def open_states(tree: WorkTree, target: Target) -> States:
    """Return the states that ``target`` names.

    Raises :class:`UsageError` for a base or a commit that is not here, and for options that do not fit together;
    :class:`SetupError` where the two histories do not meet.
    """
    if target.staged and (target.base or target.commit):
        raise UsageError("--staged cannot be combined with --base or --commit")
    if target.commit and not target.base:
        raise UsageError("--commit needs --base", hint="what is checked is the change from one to the other")
    head = head_commit(tree)
    if target.staged:
        base = GitFiles(tree, head) if head else None
        now = GitFiles(tree, None, index=target.index)
        return States(now=now, base=base, theirs=base, parted=base, since=head, named=head, tip=head)
    if target.base is None:
        return States(now=WorkFiles(tree), tip=head)
    tip = require_commit(tree, target.commit) if target.commit else head
    named = require_commit(tree, target.base)
    if tip is None:
        theirs = GitFiles(tree, named)
        return States(now=WorkFiles(tree), base=theirs, theirs=theirs, parted=theirs, since=named, named=named)
    since = _require_merge_base(tree, named, tip)
    return _compare(tree, named=named, tip=tip, since=since, is_commit=target.commit is not None)


def _compare(tree: WorkTree, *, named: str, tip: str, since: str, is_commit: bool) -> States:
    theirs = GitFiles(tree, named)
    parted = theirs if named == since else GitFiles(tree, since)
    work = States(
        now=WorkFiles(tree) if not is_commit else GitFiles(tree, tip),
        base=parted,
        theirs=theirs,
        parted=parted,
        since=since,
        named=named,
        tip=tip,
        is_merged=named == since,
    )
    if not is_commit or named == since:
        return work
    merged = merge_commits(tree, named, tip)
    if merged.files is None:
        return replace(work, conflicts=merged.conflicts)
    return replace(work, now=merged.files, base=theirs, is_merged=True)


def _require_merge_base(tree: WorkTree, base: str, head: str) -> str:
    since = merge_base(tree, base, head)
    if since is None:
        cut = is_shallow(tree)
        raise SetupError(
            "this clone is shallow, so it is not known where the two histories parted"
            if cut
            else "the two histories have no commit in common",
            where=plain(f"{base[:12]}..{head[:12]}"),
            hint="git fetch --unshallow" if cut else "compare two branches of one repository",
        )
    return since


def find_changes(base: Snapshot, now: Snapshot) -> dict[str, str | None]:
    """Return the memory paths that differ, each with its path in ``base`` (None: it is new).

    A file of the same id in another folder counts as moved, not as deleted and added.
    """
    old, odd_before = base.memories()
    new, others = now.memories()
    by_name: dict[str, list[str]] = {}
    for path in old:
        if path not in new:
            by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    changed: dict[str, str | None] = {}
    if isinstance(now, GitFiles):  # whether line ends alone differ is seen from the content
        now.keep_contents(path for path in new if path in old and base.blob_of(path) != now.blob_of(path))
    for path in new:
        if path in old:
            blob = base.blob_of(path)
            if blob != now.blob_of(path, like=blob):
                changed[path] = path
        else:
            moved = by_name.get(path.rsplit("/", 1)[-1], [])
            changed[path] = moved[0] if len(moved) == 1 else None
    for path, reason in others.items():
        if odd_before.get(path) != reason:
            changed[path] = path if path in old else None
    return changed


def differs(base: Snapshot, now: Snapshot, path: str) -> bool:
    """Return whether the content of ``path`` differs between two states."""
    old = base.blob_of(path)
    return old != now.blob_of(path, like=old)


def changed_paths(states: States) -> tuple[str, ...]:
    """Return every path of the repository whose content the change makes another, sorted.

    Of a work tree, those that differ in the index: git is never asked to look at the disk (TRUST 7).
    """
    if states.base is None:
        return ()
    now = states.now if isinstance(states.now, GitFiles) else GitFiles(states.now.tree, None)
    old, new = states.base.entries, now.entries
    return tuple(
        sorted(
            path
            for path in {*old, *new}
            if path not in old
            or path not in new
            or (old[path].blob, old[path].kind) != (new[path].blob, new[path].kind)
        )
    )
