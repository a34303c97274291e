"""Where nothing is committed, nothing is changed either (case 11; locks of case 19)."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from support import git

from memfs.disk.files import scan_memories
from memfs.disk.worktree import WorkTree, find_work_tree, operation_under_way
from memfs.errors import SetupError, UsageError
from memfs.git import locks as gitlocks
from memfs.git.commit import Change, commit_changes

OPERATIONS = {
    "merge": "merge", "clean-merge": "merge", "outside": "merge", "rebase": "rebase", "pick": "cherry-pick",
    "revert": "revert", "bisect": "bisect", "am": "am", "stash": None,
}  # fmt: skip


def _remember(tree: WorkTree) -> str:
    return commit_changes(tree, [Change(path="memories/team/new.md", content=b"new\n", before=None)], "Remember new")


def _everything(root: Path) -> dict[str, bytes | None]:
    """Return every file of the work tree and of git's folder, but memfs's own lock."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
        if path.name != "memfs.lock"
    }


def test_every_operation_under_way_is_named_and_nothing_changes(make_case) -> None:
    case = make_case("11")
    for name, operation in OPERATIONS.items():
        tree = find_work_tree(case / name)
        assert operation_under_way(tree) == operation, name
        git(tree.root, "status")  # settles the index's stat data, which git writes when it looks
        before = _everything(tree.root)
        with pytest.raises(UsageError) as caught:
            _remember(tree)
        wanted = "unresolved conflict" if operation is None else f"{operation} in progress"
        assert wanted in str(caught.value), name
        assert caught.value.hint, name
        assert _everything(tree.root) == before, name
        assert "memories/first.md" in [entry.path for entry in scan_memories(tree).entries], name


def test_a_conflict_that_is_committed_in_a_code_fence_stops_nothing(tree: WorkTree) -> None:
    (tree.root / "memories/first.md").write_text("```\n<<<<<<< example\n=======\n>>>>>>> x\n```\n")
    git(tree.root, "add", "-A")
    git(tree.root, "commit", "-qm", "on purpose")
    _remember(tree)


@pytest.mark.parametrize(
    ("marker", "content", "operation"),
    [
        ("sequencer/todo", "pick abc\n", "cherry-pick"),
        ("sequencer/todo", "revert abc\n", "revert"),
        ("rebase-apply/rebasing", "", "rebase"),
        ("BISECT_START", "main\n", "bisect"),
    ],
)
def test_an_operation_between_two_steps_is_seen_too(tree: WorkTree, marker: str, content: str, operation: str) -> None:
    file = tree.root / ".git" / marker
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)
    assert operation_under_way(tree) == operation
    with pytest.raises(UsageError, match=f"{operation} in progress"):
        _remember(tree)


def test_the_operation_of_another_work_tree_is_not_this_one_s(make_case) -> None:
    case = make_case("10")
    main, topic = (find_work_tree(case / f"proj/{name}-wt") for name in ("main", "topic"))
    (Path(str(main.git_dir)) / "MERGE_HEAD").write_text(git(main.root, "rev-parse", "HEAD") + "\n")
    assert operation_under_way(main) == "merge"
    assert operation_under_way(topic) is None
    _remember(topic)


def test_a_detached_head_is_refused_with_the_way_out(tree: WorkTree) -> None:
    git(tree.root, "switch", "-q", "--detach")
    before = _everything(tree.root)
    with pytest.raises(UsageError, match="detached HEAD") as caught:
        _remember(tree)
    assert "git switch" in str(caught.value.hint)
    assert _everything(tree.root) == before


@pytest.mark.parametrize(("missing", "part"), [("user.name", "name"), ("user.email", "email")])
def test_a_missing_identity_is_told_with_the_commands_before_anything_is_written(
    tree: WorkTree, missing: str, part: str
) -> None:
    git(tree.root, "config", "--global", "--unset", missing)
    before = _everything(tree.root)
    with pytest.raises(SetupError, match=f"does not know your {part}") as caught:
        _remember(tree)
    assert "git config --global user.email" in str(caught.value.hint)
    assert _everything(tree.root) == before
    git(tree.root, "config", missing, "someone")
    _remember(tree)


def test_a_repository_of_another_user_is_refused_in_one_sentence(tree: WorkTree) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to somebody else")
    for path in (tree.root, tree.root / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(SetupError, match="belongs to another user") as caught:
        _remember(tree)
    assert f"safe.directory {tree.root}" in str(caught.value.hint)
    assert not (tree.root / "memories/team").exists()
    git(tree.root.parent, "config", "--global", "safe.directory", str(tree.root))
    _remember(tree)


# git's own locks


def test_a_stale_lock_is_reported_at_once_with_its_age_and_is_not_removed(make_case) -> None:
    tree = find_work_tree(make_case("19") / "stale-lock")
    start = time.monotonic()
    with pytest.raises(SetupError, match="there for 2 days") as caught:
        _remember(tree)
    assert time.monotonic() - start < 2
    assert f"rm {tree.root}/.git/index.lock" in str(caught.value.hint)
    assert (tree.root / ".git/index.lock").exists()
    assert not (tree.root / "memories/team").exists()


def test_a_living_lock_is_waited_for(make_case) -> None:
    case = make_case("19")
    tree = find_work_tree(case / "live-lock")
    with subprocess.Popen([str(case / "hold-lock.sh"), "1.5"]) as holder:
        while not (tree.root / ".git/index.lock").exists():
            time.sleep(0.01)
        _remember(tree)
        assert holder.wait() == 0
    assert git(tree.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["index.lock", "refs/heads/main.lock"])
def test_a_lock_that_stays_ends_the_wait_with_nothing_written(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(gitlocks.wait_for_lock, "__kwdefaults__", {"timeout": 0.2})
    (tree.root / ".git" / name).touch()
    with pytest.raises(SetupError, match="less than a second"):
        _remember(tree)
    assert not (tree.root / "memories/team").exists()
    (tree.root / ".git" / name).unlink()
    _remember(tree)


def test_a_ref_lock_that_appears_late_is_waited_for(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    from memfs.git import commit as module

    original = module._Commit._store_commit
    lock = tree.root / ".git/refs/heads/main.lock"

    def held(self: object, *arguments: object) -> str:
        subprocess.Popen(["sh", "-c", 'sleep 0.6; rm "$0"', str(lock)])
        lock.touch()
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module._Commit, "_store_commit", held)
    _remember(tree)
    assert git(tree.root, "status", "--porcelain") == ""


def test_only_a_lock_that_memfs_left_is_cleared_away(tree: WorkTree) -> None:
    # memfs makes index.lock only under its own lock: whoever holds that knows the marked one is dead.
    (tree.root / ".git/index.lock").write_text("memfs process 999999\n")
    (tree.root / ".git/memfs-commit-dead").mkdir()
    (tree.root / ".git/memfs-commit-dead/index").write_text("x")
    (tree.root / ".git/memfs-index-lock.7").write_text("x")
    _remember(tree)
    assert sorted(name for name in os.listdir(tree.root / ".git") if "lock" in name or "memfs" in name) == [
        "memfs.lock"
    ]
    assert git(tree.root, "status", "--porcelain") == ""
