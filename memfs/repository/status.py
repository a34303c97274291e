"""What needs attention in a repository."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memfs.disk.drafts import list_drafts
from memfs.disk.files import UnreadableFile, list_folder, read_file
from memfs.disk.worktree import WorkTree, operation_under_way
from memfs.git.read import blob_id, call_git, head_commit, memories_not_checked_out, object_format, read_git
from memfs.model.memory import MemoryFile, State
from memfs.model.values import dataclass
from memfs.repository.repository import Repository

if TYPE_CHECKING:
    from memfs.model.scope import Caller
    from memfs.standing.assess import Assessment

_APPROVALS = ".memfs/approvals"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What needs attention in a repository, for one caller."""

    assessments: tuple[Assessment, ...]
    approved: tuple[Assessment, ...]
    lost: tuple[Assessment, ...]  # were approved in another form, or by somebody who no longer can
    unapproved: tuple[Assessment, ...]
    due: tuple[Assessment, ...]
    uncommitted: tuple[str, ...]
    bad: tuple[tuple[str, str], ...]  # path, why it is not a memory
    under_way: str | None
    notices: tuple[str, ...]
    drafts: tuple[str, ...] = ()  # names of texts that are kept for their author
    ahead: int = 0  # commits that the upstream does not have
    behind: int = 0  # and the other way round


def read_status(repository: Repository, caller: Caller) -> Status:
    """Return what needs attention. Reads every memory that ``caller`` may see."""
    files, skipped = repository.assess_all(caller)
    good = tuple(item for item in files if item.file.memory is not None)
    bad = [(item.file.path, str(item.file.problems[0])) for item in files if item.file.memory is None]
    unapproved = [item for item in good if not item.verdict.trusted]
    lost = tuple(item for item in unapproved if item.verdict.reason not in (None, "no-approval", "not-pinned"))
    return Status(
        assessments=good,
        approved=tuple(item for item in good if item.verdict.trusted),
        lost=lost,
        unapproved=tuple(item for item in unapproved if item not in lost),
        due=tuple(item for item in good if item.state.state in (State.RECHECK, State.EXPIRED)),
        uncommitted=find_uncommitted(repository, [item.file for item in files], caller),
        bad=(*bad, *skipped),
        under_way=operation_under_way(repository.tree),
        notices=repository.notices,
        drafts=tuple(held.name for held in list_drafts(repository.tree, repository.places)),
        **_distance(repository.tree),
    )


def _distance(tree: WorkTree) -> dict[str, int]:
    """Return how many commits the branch is ahead of its upstream, and behind; nothing where it has none."""
    if tree.git_dir is None:
        return {}
    done = call_git(tree, "rev-list", "--left-right", "--count", "HEAD...@{upstream}")
    ahead, _, behind = done.stdout.decode("ascii", "replace").partition("\t")
    return {"ahead": int(ahead), "behind": int(behind)} if done.returncode == 0 else {}


def find_uncommitted(repository: Repository, files: Sequence[MemoryFile], caller: Caller) -> tuple[str, ...]:
    """Return the paths that are not as in the last commit, deleted ones too, as far as ``caller`` sees.

    ``files`` are the memories that ``caller`` sees; their receipts and the keyrings count too, since an
    approval that is not committed reaches nobody else. Compares bytes with the commit's tree; git is never
    asked about the work tree.
    """
    tree, sight = repository.tree, repository.sight
    if tree.git_dir is None:
        return ()
    if head_commit(tree) is None:
        return tuple(file.path for file in files)
    committed = _committed_blobs(tree, "memories", ".memfs")
    changed = set(_changed(tree, {file.path: file.raw.replace(b"\r\n", b"\n") for file in files}, committed))
    changed |= set(_changed(tree, _read_approvals(tree, {file.id for file in files}), committed))
    elsewhere = set(memories_not_checked_out(tree))
    gone = {
        path
        for path in committed.keys() - elsewhere
        if path.startswith("memories/")
        and path.endswith(".md")
        and not os.path.lexists(tree.root / path)
        and sight.sees_path(caller, path)
    }
    return tuple(sorted(changed | gone))


def _committed_blobs(tree: WorkTree, *paths: str) -> dict[str, str]:
    raw = read_git(tree, "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *paths)
    found = {}
    for record in raw.split(b"\0"):
        head, tab, path = record.partition(b"\t")
        if tab:
            found[os.fsdecode(path)] = head.decode("ascii").split(" ")[2]
    return found


def _changed(tree: WorkTree, contents: Mapping[str, bytes], committed: Mapping[str, str]) -> Iterable[str]:
    algorithm = object_format(tree)
    return (path for path, raw in contents.items() if committed.get(path) != blob_id(raw, algorithm=algorithm))


def _read_approvals(tree: WorkTree, ids: set[str]) -> dict[str, bytes]:
    """Return the keyrings, and the receipts of ``ids``, as they are in the work tree."""
    names = [f".memfs/{name}" for name in list_folder(tree, ".memfs") if name.startswith("keyring.")]
    names += [f"{_APPROVALS}/{name}" for name in list_folder(tree, _APPROVALS) if name.split(".")[0] in ids]
    found = {}
    for name in names:
        try:
            found[name] = read_file(tree, name)
        except UnreadableFile:
            continue  # `memfs check` names it
    return found
