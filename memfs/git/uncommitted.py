"""Files written without a commit, for people who compose their commits themselves."""

from __future__ import annotations

from collections.abc import Sequence

from memfs.disk.files import delete_in_tree, lock, read_if_there, write_in_tree
from memfs.disk.worktree import WorkTree
from memfs.git.change import Change, check_changes, disk_bytes, require_before
from memfs.git.conversion import refuse_filtered


def write_uncommitted(tree: WorkTree, changes: Sequence[Change]) -> None:
    """Write ``changes`` into the work tree, and nothing into git.

    Refuses, changing nothing, with :class:`UsageError` (a path that git would convert) or :class:`ConflictError`
    (``before`` does not hold).
    """
    check_changes(changes, "written without a commit")
    refuse_filtered(tree, [change.path for change in changes if change.content is not None])
    with lock(tree):
        found = {change.path: read_if_there(tree, change.path) for change in changes}
        for change in changes:
            require_before(change, found[change.path])
        for change in changes:
            if change.content is None:
                delete_in_tree(tree, change.path)
            else:
                write_in_tree(tree, change.path, disk_bytes(change.path, change.content, found[change.path]))
