"""Promises of DESIGN 4 that a changed line in the commit would break without another test noticing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import git

from memfs.disk.worktree import WorkTree
from memfs.errors import UsageError
from memfs.git import commit as module
from memfs.git.commit import Change, commit_changes

PATH = "memories/team/a.md"


def test_a_commit_of_another_program_between_the_look_and_the_move_is_kept(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = module._Commit._move_branch
    theirs: list[str] = []

    def late(self: module._Commit, new: str, base: str | None) -> bool:
        if not theirs:  # a push or a fetch moves a branch without the index, and so without its lock
            theirs.append(git(tree.root, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "another program's"))
            git(tree.root, "update-ref", "HEAD", theirs[0])
        return original(self, new, base)

    monkeypatch.setattr(module._Commit, "_move_branch", late)
    ours = commit_changes(tree, [Change(path=PATH, content=b"text\n", before=None)], "ours")
    assert git(tree.root, "rev-parse", "HEAD") == ours
    assert git(tree.root, "rev-parse", "HEAD~1") == theirs[0]


def test_a_mere_intent_to_add_the_file_is_in_nobodys_way(tree: WorkTree) -> None:
    (tree.root / PATH).parent.mkdir(parents=True, exist_ok=True)
    (tree.root / PATH).write_text("text\n")
    git(tree.root, "add", "-N", PATH)
    commit_changes(tree, [Change(path=PATH, content=b"text\n", before=None)], "ours")
    assert git(tree.root, "status", "--porcelain") == ""
    assert git(tree.root, "show", f"HEAD:{PATH}") == "text"


@pytest.mark.parametrize("is_file", [False, True])
def test_nothing_is_written_into_a_repository_inside_this_one(tree: WorkTree, is_file: bool, tmp_path: Path) -> None:
    inner = tree.root / "memories/team"
    inner.mkdir(parents=True)
    if is_file:
        (inner / ".git").write_text("gitdir: elsewhere\n")
    else:
        git(inner, "init", "-q")
    head = git(tree.root, "rev-parse", "HEAD")
    with pytest.raises(UsageError, match="another repository inside this one"):
        commit_changes(tree, [Change(path=PATH, content=b"text\n")], "ours")
    assert git(tree.root, "rev-parse", "HEAD") == head
    assert not (tree.root / PATH).exists()
