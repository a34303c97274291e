"""Files that a new memory may rest on: what its author has just worked on."""

from __future__ import annotations

import os
from heapq import nlargest

from memfs.disk.worktree import WorkTree
from memfs.git.read import call_git
from memfs.git.snapshot import WorkFiles, list_index
from memfs.sight import OWNER, Sight

MOST = 9
_LOOKED_AT = 50


def offer_evidence(tree: WorkTree, sight: Sight) -> list[str]:
    """Return at most nine paths: those changed or new in the work tree, else those that HEAD changed."""
    if tree.git_dir is None:
        return []
    for paths in (_changed(tree), _names(tree, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "HEAD")):
        found = [path for path in paths if path.isprintable() and not path.startswith(("memories/", ".memfs/"))]
        found = [path for path in found if sight.sees_path(OWNER, path) and os.path.isfile(tree.root / path)]
        if found:
            return found[:MOST]
    return []


def _changed(tree: WorkTree) -> list[str]:
    """Return what differs from the index among the files touched last, and what git does not have yet."""
    files, entries = WorkFiles(tree), list_index(tree)
    times = {path: _touched(tree, path) for path in entries}
    recent = nlargest(_LOOKED_AT, times, key=lambda path: times[path])
    changed = [path for path in recent if files.blob_of(path, like=entries[path].blob) != entries[path].blob]
    return [*changed, *_names(tree, "ls-files", "--others", "--exclude-standard")]


def _touched(tree: WorkTree, path: str) -> int:
    try:
        return os.lstat(tree.root / path).st_mtime_ns
    except OSError:
        return 0


def _names(tree: WorkTree, *question: str) -> list[str]:
    done = call_git(tree, question[0], "-z", *question[1:])
    return done.stdout.decode("utf-8", "surrogateescape").strip("\0").split("\0") if done.returncode == 0 else []
