"""The hook of the template, run by the real pre-commit in every way that pre-commit runs one.

Only its environment is not built here, since that needs the network: the hook calls this memfs.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from making import STATEMENT, put, write
from people import Person, Team, found_team
from support import git, launch_command

from memfs.disk.places import Places
from memfs.disk.shipped import find_shipped

PRE_COMMIT = Path(sys.executable).with_name("pre-commit")

pytestmark = pytest.mark.skipif(not PRE_COMMIT.is_file(), reason="pre-commit is not installed")


class Hooked:
    """A repository with the hook, and a machine on which nobody has pinned anything."""

    def __init__(self, team: Team, folder: Path) -> None:
        self.team = team
        self.env = {**os.environ, "PRE_COMMIT_HOME": str(folder / "pre-commit"), "PRE_COMMIT_COLOR": "never"}
        document = yaml.safe_load((find_shipped("template-repo") / ".pre-commit-config.yaml").read_text())
        hook = document["repos"][0]["hooks"][0]
        del hook["additional_dependencies"]
        memfs, *arguments = hook["entry"].split()
        assert memfs == "memfs"
        hook |= {"language": "system", "entry": shlex.join([*launch_command(folder / "clean-home"), *arguments])}
        write(team.root, ".pre-commit-config.yaml", yaml.safe_dump(document))
        team.commit("pre-commit")

    def run(self, *arguments: str) -> tuple[int, str]:
        """Return exit code and output of ``pre-commit run``."""
        return self._do(str(PRE_COMMIT), "run", *arguments)

    def commit(self, message: str, *how: str, add: bool = True) -> tuple[int, str]:
        """Return what came of a ``git commit`` with the installed hook."""
        assert self._do(str(PRE_COMMIT), "install")[0] == 0
        if add:
            git(self.team.root, "add", "-A")
        return self._do("git", "commit", "-m", message, *how)

    def _do(self, *argv: str) -> tuple[int, str]:
        done = subprocess.run(argv, cwd=self.team.root, env=self.env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def hooked(repo: Path, places: Places, key: Path, tmp_path: Path) -> Hooked:
    (tmp_path / "clean-home").mkdir()
    return Hooked(found_team(repo, places, [Person("alice", key)]), tmp_path)


def test_all_files_judges_everything_that_is_committed(hooked: Hooked) -> None:
    code, shown = hooked.run("--all-files")
    assert code == 0, shown
    assert "no pin was given" in shown
    write(hooked.team.root, "memories/team/bad.md", "broken\n")
    hooked.team.commit("bad")
    code, shown = hooked.run("--all-files")
    assert code == 1
    assert "memories/team/bad.md:1:1: bad-front-matter" in shown


def test_a_range_judges_what_lies_between(hooked: Hooked) -> None:
    write(hooked.team.root, "memories/team/bad.md", "broken\n")
    hooked.team.commit("bad")
    put(hooked.team.root, "good", STATEMENT.replace("Friday", "Monday"))
    hooked.team.commit("good")
    assert hooked.run("--from-ref", "HEAD~2", "--to-ref", "HEAD~1")[0] == 1
    code, shown = hooked.run("--from-ref", "HEAD~1", "--to-ref", "HEAD")
    assert code == 0, shown


def test_a_commit_of_a_broken_memory_is_stopped(hooked: Hooked) -> None:
    write(hooked.team.root, "memories/team/bad.md", "broken\n")
    code, shown = hooked.commit("bad")
    assert code == 1
    assert "bad-front-matter" in shown
    (hooked.team.root / "memories/team/bad.md").unlink()
    put(hooked.team.root, "good", STATEMENT.replace("Friday", "Monday"))
    code, shown = hooked.commit("good")
    assert code == 0, shown


@pytest.mark.parametrize(
    ("pattern", "code", "sentence"),
    [
        (".memfs/approvals/*", 1, "the receipt is deleted"),
        (".memfs/keyring.1", 1, "without it no approval in this repository would count"),
        ("memories/team/a.md", 0, "alice@example.com had approved it"),
    ],
)
def test_a_commit_that_only_deletes_is_judged(hooked: Hooked, pattern: str, code: int, sentence: str) -> None:
    for path in hooked.team.root.glob(pattern):
        path.unlink()
    found, shown = hooked.commit("tidy")
    assert found == code, shown
    assert sentence in shown


def test_a_commit_of_code_alone_says_which_memory_it_makes_stale(hooked: Hooked) -> None:
    write(hooked.team.root, "retry.py", "MAX = 3\n")
    blob = git(hooked.team.root, "hash-object", "-w", "retry.py")
    put(hooked.team.root, "retry", "A charge is retried three times.", evidence=f"retry.py@blob:{blob}")
    hooked.team.commit("retry")
    write(hooked.team.root, "retry.py", "MAX = 5\n")
    code, shown = hooked.commit("five")
    assert code == 0, shown
    assert "makes-stale retry must be looked at again" in shown
    assert "`memfs verify retry`" in shown


@pytest.mark.parametrize("how", [("-a",), ("memories/team/a.md",), ("--only", "memories/team/a.md")])
def test_a_commit_without_git_add_is_judged_by_what_it_commits(hooked: Hooked, how: tuple[str, ...]) -> None:
    # git writes what such a commit takes into another index than its usual one.
    path = hooked.team.path("a")
    path.write_text(path.read_text() + "\nMore.\n")
    code, shown = hooked.commit("edit", *how, add=False)
    assert code == 1, shown
    assert "approval-lost" in shown
