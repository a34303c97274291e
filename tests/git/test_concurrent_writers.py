"""Many writers at once, and writers that are killed (case 19). All of them real processes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import git, launch_command

from memfs.disk.files import lock, read_file, scan_memories
from memfs.disk.worktree import WorkTree
from memfs.git.commit import Change, commit_changes

CHECKOUT = Path(__file__).resolve().parents[2]

_WRITER = """
import sys
from pathlib import Path
from memfs.disk.worktree import find_work_tree
from memfs.git.commit import Change, ConflictError, commit_changes
root, path, text, before = sys.argv[1:]
before = {"new": None, "any": ...}.get(before, before)
try:
    change = Change(path=path, content=text.encode(), before=before)
    commit_changes(find_work_tree(Path(root)), [change], f"Remember {text}")
except ConflictError as error:
    sys.exit(f"conflict: {error}")
"""


def _write(root: Path, path: str, text: str, before: str = "new") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(root), path, text, before],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )


def _require_sound(root: Path, *, status: str = "") -> None:
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    assert git(root, "status", "--porcelain") == status
    assert [name for name in os.listdir(root / ".git") if name.endswith(".lock") and name != "memfs.lock"] == []


def test_twelve_writers_at_once_leave_twelve_commits_and_the_staged_file_staged(make_case) -> None:
    root = make_case("19") / "user-staged"
    writers = [_write(root, f"memories/team/n{number}.md", f"note {number}") for number in range(12)]
    for writer in writers:
        _, error = writer.communicate(timeout=60)
        assert writer.returncode == 0, error
    assert git(root, "rev-list", "--count", "HEAD") == "13"
    for commit in git(root, "rev-list", "-12", "HEAD").split():
        assert len(git(root, "show", "--format=", "--name-only", commit).splitlines()) == 1
    _require_sound(root, status=" M memories/second.md\nA  wip.txt")


def test_of_twelve_edits_of_one_memory_one_wins_and_the_others_are_told(tree: WorkTree) -> None:
    from memfs.model.reader import content_digest

    path = "memories/team/one.md"
    commit_changes(tree, [Change(path=path, content=b"old")], "old")
    writers = [_write(tree.root, path, f"edit {number}", content_digest(b"old")) for number in range(12)]
    said = [writer.communicate(timeout=60)[1] for writer in writers]
    assert sorted(writer.returncode for writer in writers) == [0] + [1] * 11
    assert sum("was changed meanwhile" in text for text in said) == 11
    assert git(tree.root, "rev-list", "--count", "HEAD") == "3"
    _require_sound(tree.root)


def test_of_twelve_new_files_of_one_name_one_is_made_and_the_others_are_told(tree: WorkTree) -> None:
    path = "memories/team/one.md"
    writers = [_write(tree.root, path, f"text {number}") for number in range(12)]
    said = [writer.communicate(timeout=60)[1] for writer in writers]
    assert sorted(writer.returncode for writer in writers) == [0] + [1] * 11
    assert sum("is there already" in text for text in said) == 11
    winner = next(number for number, writer in enumerate(writers) if writer.returncode == 0)
    assert (tree.root / path).read_text() == f"text {winner}"
    _require_sound(tree.root)


def test_writers_and_plain_git_commits_get_along(tree: WorkTree) -> None:
    writers = [_write(tree.root, f"memories/team/n{number}.md", f"note {number}") for number in range(6)]
    made = 0
    while any(writer.poll() is None for writer in writers):
        (tree.root / f"code{made}.txt").write_text("code")
        done = subprocess.run(
            f"git add code{made}.txt && git commit -qm code", shell=True, cwd=tree.root, capture_output=True
        )
        made += done.returncode == 0
        time.sleep(0.02)
    for writer in writers:
        _, error = writer.communicate()
        assert writer.returncode == 0, error
    subprocess.run(["git", "add", "-A"], cwd=tree.root, check=True)
    subprocess.run(["git", "commit", "-qm", "rest"], cwd=tree.root)
    files = git(tree.root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert {f"memories/team/n{number}.md" for number in range(6)} <= set(files)
    assert git(tree.root, "log", "--diff-filter=D", "--format=%s") == ""  # nobody took back another's file
    _require_sound(tree.root)


def test_readers_never_fail_because_of_writers(tree: WorkTree) -> None:
    writers = [_write(tree.root, f"memories/team/n{number}.md", "x" * 50_000) for number in range(6)]
    while any(writer.poll() is None for writer in writers):
        for entry in scan_memories(tree).entries:
            assert len(read_file(tree, entry.path)) == 50_000
    for writer in writers:
        writer.communicate()
    assert len(scan_memories(tree).entries) == 6


def test_two_work_trees_of_one_repository_write_at_once(make_case) -> None:
    case = make_case("10")
    roots = [case / "proj/main-wt", case / "proj/topic-wt"]
    writers = [_write(root, f"memories/team/n{number}.md", f"n{number}") for number in range(4) for root in roots]
    for writer in writers:
        _, error = writer.communicate(timeout=60)
        assert writer.returncode == 0, error
    for root in roots:
        assert git(root, "rev-list", "--count", "HEAD") == "5"
        assert git(root, "status", "--porcelain") == ""
        assert git(root, "fsck", "--no-dangling") == ""


@pytest.mark.slow
def test_a_writer_that_is_killed_anywhere_leaves_a_state_that_the_next_one_repairs(tree: WorkTree) -> None:
    (tree.root / "wip.txt").write_text("wip")
    git(tree.root, "add", "wip.txt")
    draw = random.Random(20261130)
    survived = 0
    for number in range(25):
        path = f"memories/team/n{number}.md"
        child = _write(tree.root, path, f"note {number}")
        time.sleep(draw.uniform(0.02, 0.45))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        survived += child.returncode == 0
        assert git(tree.root, "fsck", "--no-dangling") == ""
        # What a person would do next: say it again.
        again = _write(tree.root, path, f"note {number}", "any")
        _, error = again.communicate(timeout=30)
        assert again.returncode == 0, error
        _require_sound(tree.root, status="A  wip.txt")
    assert survived < 25
    assert len(scan_memories(tree).entries) == 25
    assert [name for name in os.listdir(tree.root / ".git") if "memfs" in name] == ["memfs.lock"]
    assert [name for name in os.listdir(tree.root / "memories/team") if not name.endswith(".md")] == []


@pytest.mark.parametrize("moment", ["_store_commit", "_move_branch", "after the branch moved", "after the index"])
def test_a_writer_killed_at_a_known_moment_is_repaired(tree: WorkTree, moment: str) -> None:
    if moment == "after the index":
        moment, hook, owner = "after", "replace", "os"
    else:
        hook = "_move_branch" if moment.startswith("after") else moment
        owner = "commit._Commit"
    code = (
        "import os, signal\nfrom memfs.git import commit\n"
        f"original = {owner}.{hook}\n"
        "def killed(*arguments):\n"
        + ("    original(*arguments)\n" if moment.startswith("after") else "")
        + "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"{owner}.{hook} = killed\n"
    )
    argv = [sys.executable, "-c", code + _WRITER, str(tree.root), "memories/team/a.md", "text", "new"]
    done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert (tree.root / "memories/team/a.md").read_text() == "text"
    assert (tree.root / ".git/index.lock").exists() is (hook != "_store_commit")
    commit_changes(tree, [Change(path="memories/team/a.md", content=b"text")], "again")
    commit_changes(tree, [Change(path="memories/team/b.md", content=b"more")], "more")
    _require_sound(tree.root)
    assert git(tree.root, "ls-tree", "-r", "--name-only", "HEAD", "memories").split() == [
        "memories/team/a.md",
        "memories/team/b.md",
    ]


def test_a_git_that_outlives_its_killed_writer_keeps_the_lock_till_it_ends(tree: WorkTree, tmp_path: Path) -> None:
    # The branch moves only after its writer was killed: the next one must not begin before.
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text(
        '#!/bin/sh\nfor word; do if [ "$word" = update-ref ]; then touch "$0.reached"; sleep 1.5; break; fi; done\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    argv = [sys.executable, "-c", _WRITER, str(tree.root), "memories/team/a.md", "text", "new"]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PATH": f"{slow.parent}:{os.environ['PATH']}"}
    with subprocess.Popen(argv, env=env) as child:
        while not (slow.parent / "git.reached").exists():
            time.sleep(0.02)
        child.kill()
    start = time.monotonic()
    commit_changes(tree, [Change(path="memories/team/b.md", content=b"more")], "more")
    assert time.monotonic() - start > 0.5
    assert git(tree.root, "ls-tree", "-r", "--name-only", "HEAD", "memories").split() == [
        "memories/team/a.md", "memories/team/b.md",
    ]  # fmt: skip
    _require_sound(tree.root)


def test_a_lock_that_a_killed_process_held_is_free(tree: WorkTree) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\nfrom memfs.disk.worktree import find_work_tree\n"
        "from memfs.disk.files import lock\n"
        "with lock(find_work_tree(Path(sys.argv[1]))): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    argv = [sys.executable, "-c", code, str(tree.root)]
    assert subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}).returncode == -signal.SIGKILL
    with lock(tree, timeout=0):
        pass


# The same through the command


def _memfs(home: Path, root: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*launch_command(home), "-C", str(root), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _remember(home: Path, root: Path, title: str) -> subprocess.Popen[str]:
    return _memfs(
        home, root, "remember", f"Statement of {title}: builds run on the large runners only.", "--title", title,
        "--kind", "decision", "--origin", "owner", "--scope", "team", "--evidence", "https://example.com/decisions/14",
        "--review", "on 2027-11-30", "--again",
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("same_title", [False, True])
def test_twelve_remember_commands_at_once_leave_twelve_memories(make_case, sealed: Path, same_title: bool) -> None:
    root = make_case("19") / "user-staged"
    children = [_remember(sealed, root, "One title" if same_title else f"Title {number}") for number in range(12)]
    for child in children:
        _, error = child.communicate(timeout=120)
        assert child.returncode == 0, error
    made = git(root, "ls-tree", "-r", "--name-only", "HEAD", "memories/team").splitlines()
    assert len(made) == 12
    assert git(root, "rev-list", "--count", "HEAD") == "13"
    _require_sound(root, status=" M memories/second.md\nA  wip.txt")


@pytest.mark.slow
def test_recall_works_while_others_remember(make_case, sealed: Path) -> None:
    root = make_case("19") / "repo"
    assert _remember(sealed, root, "First of all").wait(timeout=60) == 0
    writers = [_remember(sealed, root, f"Title {number}") for number in range(6)]
    readers = [_memfs(sealed, root, "recall", "which runners do builds use") for _ in range(6)]
    for child in [*writers, *readers]:
        out, error = child.communicate(timeout=120)
        assert child.returncode == 0, out + error
    _require_sound(root)
