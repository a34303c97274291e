"""The handed cases as a person meets them: through the command (cases 09, 10, 11, 13)."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git, launch_command

REMEMBER = [
    "remember", "Builds run on the large runners only.", "--title", "Large runners", "--kind", "decision",
    "--origin", "owner", "--scope", "team", "--evidence", "https://example.com/decisions/14",
    "--review", "on 2027-11-30",
]  # fmt: skip
MADE = "memories/team/large-runners.md"

Memfs = Callable[..., Run]


def _state(root: Path) -> list[str]:
    return sorted(str(path) for path in root.rglob("*") if path.name != "memfs.lock")


@pytest.mark.parametrize("name", ["proj", "plain.git", "seed/.git", "seed/.git/refs", "sepdir.git", "broken"])
def test_where_nothing_can_work_each_verb_says_so_and_makes_nothing(make_case, memfs: Memfs, name: str) -> None:
    case = make_case("10")
    before = _state(case)
    for arguments in (["status"], ["list"], ["recall", "deploy", "window"], ["show", "first"], ["index"], REMEMBER):
        done = memfs(*arguments, cwd=case / name)
        assert done.code == 2, arguments
        assert done.out == ""
        first = done.err.splitlines()[0]
        assert "no work tree" in first or "this repository is broken" in first, arguments
    assert _state(case) == before


@pytest.mark.parametrize(
    "name",
    ["proj/main-wt", "proj/topic-wt", "wt-of-bare", "super/mem", "sepdir-wt", "inner-outer/nested/memories", "unborn"],
)
def test_in_every_work_tree_a_memory_is_recorded_and_found(make_case, memfs: Memfs, name: str) -> None:
    case = make_case("10")
    assert memfs("status", cwd=case / name).code == 0
    done = memfs(*REMEMBER, cwd=case / name)
    assert done.code == 0, done.err
    root = Path(git(case / name, "rev-parse", "--show-toplevel"))
    assert git(root, "show", "--format=", "--name-only", "HEAD") == MADE
    assert git(root, "status", "--porcelain") == ""
    found = memfs("recall", "which runners do builds use", cwd=case / name)
    assert found.code == 0, found.err
    assert "[large-runners]" in found.out
    if name == "super/mem":
        assert git(case / "super", "diff", "--cached", "--name-only") == ""
        assert git(case / "super", "rev-list", "--count", "HEAD") == "1"


def test_two_work_trees_do_not_share_one_index(make_case, memfs: Memfs) -> None:
    case = make_case("10")
    assert memfs(*REMEMBER, cwd=case / "proj/topic-wt").code == 0
    assert "[large-runners]" in memfs("recall", "which runners do builds use", cwd=case / "proj/topic-wt").out
    assert "[large-runners]" not in memfs("recall", "which runners do builds use", cwd=case / "proj/main-wt").out


def test_unpacked_files_are_read_and_not_written(make_case, memfs: Memfs) -> None:
    folder = make_case("10") / "not-a-repo"
    assert memfs("status", cwd=folder).code == 0
    done = memfs(*REMEMBER, cwd=folder)
    assert done.code == 2
    assert "not a git repository" in done.err
    assert _state(folder) == [str(folder / "memories"), str(folder / "memories/x.md")]


def test_while_an_operation_is_under_way_memfs_reads_and_refuses_to_write(make_case, memfs: Memfs) -> None:
    case = make_case("11")
    names = {"merge": "merge", "clean-merge": "merge", "outside": "merge", "rebase": "rebase", "pick": "cherry-pick"}
    names |= {"revert": "revert", "bisect": "bisect", "am": "am", "stash": "unresolved conflict"}
    for name, operation in names.items():
        root = case / name
        head, status = git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")
        done = memfs(*REMEMBER, cwd=root)
        assert done.code == 2, name
        assert operation in done.err, name
        assert len(done.err.splitlines()) == 2, name
        assert memfs("status", cwd=root).code == 0, name
        found = memfs("recall", "deploy window tuesday monday thursday", cwd=root)
        assert found.code in (0, 1), name
        for marker in ("<<<<<<<", "=======", ">>>>>>>"):
            assert marker not in found.out, name
        assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == (head, status), name
    assert "memories/first.md" in memfs("check", cwd=case / "merge").out


def test_markers_that_are_meant_are_no_conflict(repo: Path, memfs: Memfs) -> None:
    text = "Conflicts look like this.\n\n```\n<<<<<<< example\nours\n=======\ntheirs\n>>>>>>> topic\n```\n"
    done = memfs(REMEMBER[0], "-", *REMEMBER[2:], cwd=repo, stdin=text.encode())
    assert done.code == 0, done.err
    assert "<<<<<<< example" in (repo / MADE).read_text()
    assert "[large-runners]" in memfs("recall", "what do conflicts look like", cwd=repo).out


@pytest.mark.parametrize("name", ["sparse", "skipwt", "assume", "autocrlf", "eolattr"])
def test_a_memory_commit_holds_one_file_whatever_is_not_on_the_disk(make_case, memfs: Memfs, name: str) -> None:
    root = make_case("13") / name
    done = memfs(*REMEMBER, cwd=root)
    assert done.code == 0, done.err
    assert git(root, "show", "--format=", "--name-status", "HEAD") == f"A\t{MADE}"
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["sparse", "skipwt"])
def test_what_is_not_checked_out_is_said_and_not_called_deleted(make_case, memfs: Memfs, name: str) -> None:
    root = make_case("13") / name
    memfs(*REMEMBER, cwd=root)
    found = memfs("recall", "which runners do builds use", cwd=root)
    assert "not checked out here" in found.err
    assert "deleted" not in memfs("status", cwd=root).out


def test_a_pointer_is_named_and_a_text_about_pointers_is_not(make_case, memfs: Memfs) -> None:
    root = make_case("13") / "skipwt"
    listed = memfs("status", cwd=root).out
    assert "memories/lfs.md  a Git LFS pointer" in listed
    assert "about-lfs.md  a Git LFS pointer" not in listed
    assert "4d7a214614ab" not in memfs("recall", "git lfs pointer oid sha256 size", cwd=root).out


@pytest.mark.parametrize("name", ["autocrlf", "eolattr"])
def test_crlf_on_the_disk_is_no_change(make_case, memfs: Memfs, name: str) -> None:
    root = make_case("13") / name
    assert memfs(*REMEMBER, cwd=root).code == 0
    git(root, "rm", "-q", "--cached", MADE)
    git(root, "reset", "-q", "--hard")
    assert b"\r\n" in (root / MADE).read_bytes()
    assert "Not committed" not in memfs("status", cwd=root).out
    done = memfs("edit", "large-runners", "--tag", "ci", cwd=root)
    assert done.code == 0, done.err
    raw = (root / MADE).read_bytes()
    assert raw.count(b"\r\n") == raw.count(b"\n")
    assert "\r" not in git(root, "cat-file", "blob", f"HEAD:{MADE}")
    assert git(root, "status", "--porcelain") == ""


def test_called_from_a_hook_of_another_repository_it_stays_in_its_own(make_case, sealed: Path) -> None:
    case = make_case("09")
    command = shlex.join([*launch_command(sealed), "-C", str(case / "memrepo"), *REMEMBER])
    done = subprocess.run(
        [str(case / "run.sh")], env={"PATH": "/usr/bin:/bin", "MEMFS_CMD": command}, capture_output=True, text=True
    )
    assert "commit rc 0" in done.stdout
    assert "rc 0" in (case / "hook-out.txt").read_text().splitlines()[-1], (case / "hook-out.txt").read_text()
    assert "GIT_DIR" in (case / "hook-env.txt").read_text()
    assert git(case / "linked", "ls-tree", "-r", "--name-only", "HEAD").splitlines() == ["src/a.txt", "src/b.txt"]
    assert git(case / "linked", "status", "--porcelain") == ""
    assert git(case / "memrepo", "show", "--format=", "--name-only", "HEAD") == MADE
    assert git(case / "memrepo", "status", "--porcelain") == "?? memories/third.md"


def test_a_memory_whose_commit_cannot_be_signed_is_kept_and_committed_once_by_the_next_run(
    make_case, memfs: Memfs
) -> None:
    case = make_case("16")
    root = case / "locked"
    done = memfs(*REMEMBER, cwd=root)
    assert done.code == 3
    assert "could not be signed" in done.err
    assert f"written but not committed: {MADE}" in done.err
    assert "ssh-add" in done.err
    git(root, "config", "user.signingkey", str(case / "keys/plain"))
    done = memfs(*REMEMBER, cwd=root)
    assert done.code == 0, done.err
    assert git(root, "show", "--format=", "--name-status", "HEAD") == f"A\t{MADE}"
    assert git(root, "rev-list", "--count", "HEAD") == "2"
    assert git(root, "status", "--porcelain") == "A  memories/new.md"
