"""Whose repository this is: one that belongs to another user of the machine is not read (DESIGN 4).

The rule is git's own (safe.directory in git-config(1)), asked without starting git unless another user owns the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from memfs.disk.worktree import WorkTree
from memfs.git.read import refuse_owner, safe_folders


def require_ours(tree: WorkTree) -> None:
    """Raise :class:`~memfs.errors.SetupError` for a tree of another user that this user has not called safe."""
    if is_ours(tree):
        return
    real = os.path.realpath(tree.root)
    for folder in safe_folders():
        if folder == "*" or os.path.realpath(folder) == real:
            return
        if folder.endswith("/*") and real.startswith(os.path.realpath(folder[:-2]) + os.sep):
            return
    raise refuse_owner(tree.root)


def is_ours(tree: WorkTree) -> bool:
    """Return whether everything that makes this folder a repository belongs to this user.

    Under sudo the user who called it counts as well, as for git.
    """
    users = {os.geteuid()}
    sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo.isdecimal():
        users.add(int(sudo))
    return all(owner in users for owner in _owners(tree))


def _owners(tree: WorkTree) -> Iterator[int]:
    # Without git the folders that memfs reads make it one: the root above them may be a shared one.
    deciding = [tree.root, tree.root / ".git", tree.git_dir] if tree.git_dir else [tree.memfs, tree.memories]
    for path in deciding:
        if path is not None and os.path.lexists(path):
            yield os.lstat(path).st_uid
