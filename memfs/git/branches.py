"""Which branch a commit goes to, and when none may be made."""

from __future__ import annotations

import os

from memfs.disk.gitfiles import is_object_id, is_ref_name, parse_head, read_small
from memfs.disk.worktree import WorkTree, operation_under_way, printable, read_git_config
from memfs.errors import UsageError
from memfs.git.read import branch_name, head_commit, ref_commit, symbolic_target
from memfs.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The branch that a commit is made on."""

    ref: str
    checked_out: bool  # the branch of this work tree: files and index follow it
    start: str | None = None  # where a branch begins that is not there yet


def require_target(tree: WorkTree, branch: str | None, start: str | None) -> Target:
    """Return the branch that a commit goes to: the current one, or ``branch``.

    Raises :class:`UsageError` while git is in the middle of something or no branch is checked out, and
    for another branch that cannot be committed to.
    """
    current = branch_name(tree)
    if branch is not None and branch != current:
        return _require_other_branch(tree, branch, start)
    operation = operation_under_way(tree)
    if operation is not None:
        raise UsageError(
            f"{operation} in progress, so nothing is committed",
            where=printable(tree.root),
            hint=_WAYS_OUT[operation],
        )
    if current is None:
        raise UsageError(
            "no branch is checked out here (detached HEAD), so nothing is committed",
            where=printable(tree.root),
            hint="check out a branch first: git switch BRANCH, or git switch -c NEW-BRANCH",
        )
    if start is not None:
        raise UsageError("is checked out here already", where=printable(current))
    return Target(ref=f"refs/heads/{current}", checked_out=True)


def find_main_ref(tree: WorkTree, remote: str | None = None) -> str | None:
    """Return the full ref of the branch that changes go to, or None where that is not clear.

    It is the default branch of ``remote`` (of ``upstream``, ``origin`` or the only remote) as this clone knows it;
    else a local ``main`` or ``master``; else the only local branch. Reads files and starts no process, but where
    the refs are kept in another way.
    """
    remotes = [remote] if remote else _remotes(tree)
    for name in remotes:
        start = f"refs/remotes/{name}"
        for ref in (f"{start}/HEAD", f"{start}/main", f"{start}/master"):
            if is_ref_name(ref) and ref_commit(tree, ref) is not None:
                return ref if not ref.endswith("/HEAD") else symbolic_target(tree, ref) or ref
    for ref in ("refs/heads/main", "refs/heads/master"):
        if ref_commit(tree, ref) is not None:
            return ref
    current = branch_name(tree)
    return f"refs/heads/{current}" if current is not None and _is_only_branch(tree) else None


def _remotes(tree: WorkTree) -> list[str]:
    names = [
        key[len("remote.") : -len(".url")]
        for key in read_git_config(tree)
        if key.startswith("remote.") and key.endswith(".url")
    ]
    known: list[str] = [name for name in ("upstream", "origin") if name in names]
    return known or (names if len(names) == 1 else [])


def _is_only_branch(tree: WorkTree) -> bool:
    heads = os.path.join(str(tree.common_dir), "refs", "heads")
    packed = read_small(os.path.join(str(tree.common_dir), "packed-refs"), limit=256 * 1024 * 1024) or b""
    loose = sum(len(files) for _, _, files in os.walk(heads))
    return loose + packed.count(b" refs/heads/") <= 1


def _require_other_branch(tree: WorkTree, branch: str, start: str | None) -> Target:
    ref = f"refs/heads/{branch}"
    if not is_ref_name(ref) or branch.startswith("-"):
        raise UsageError("is not a name for a branch", where=printable(branch))
    elsewhere = _checked_out_at(tree, ref)
    if elsewhere is not None:
        raise UsageError(
            f"the branch {printable(branch)} is checked out in another work tree",
            where=printable(elsewhere),
            hint="work there",
        )
    if ref_commit(tree, ref) is None:
        first = head_commit(tree) if start is None else start
        if first is None:
            raise UsageError("the repository has no commit yet that a branch could begin at")
        if not is_object_id(first):
            raise UsageError("a branch begins at the full name of a commit", where=printable(first))
        return Target(ref=ref, checked_out=False, start=first)
    if start is not None:
        raise UsageError(f"the branch {printable(branch)} exists already", hint="choose another name")
    return Target(ref=ref, checked_out=False)


_WAYS_OUT = {
    "merge": "finish it (git commit) or give it up (git merge --abort), then try again",
    "rebase": "finish it (git rebase --continue) or give it up (git rebase --abort), then try again",
    "am": "finish it (git am --continue) or give it up (git am --abort), then try again",
    "cherry-pick": "finish it (git cherry-pick --continue) or give it up (git cherry-pick --abort), then try again",
    "revert": "finish it (git revert --continue) or give it up (git revert --abort), then try again",
    "bisect": "end it (git bisect reset), then try again",
}


def _checked_out_at(tree: WorkTree, ref: str) -> str | None:
    common = str(tree.common_dir)
    linked = os.path.join(common, "worktrees")
    folders = [common]
    if os.path.isdir(linked):
        folders += [os.path.join(linked, name) for name in os.listdir(linked)]
    for folder in folders:
        if parse_head(read_small(os.path.join(folder, "HEAD")) or b"") == (ref, None):
            return folder
    return None
