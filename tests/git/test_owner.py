"""A repository of another user of the machine is not read, and so reaches no prompt."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from people import memory_text
from support import Run, git

from memfs.disk.worktree import find_work_tree
from memfs.git.owner import is_ours

SOMEBODY = 4242
PLANTED = "Releases of the stove go out on Tuesdays."

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")


def give_away(folder: Path, *below: str) -> None:
    for path in (folder, *folder.rglob("*")) if not below else [folder / name for name in below]:
        os.chown(path, SOMEBODY, SOMEBODY, follow_symlinks=False)


@pytest.fixture(params=["git", "plain"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder of one's own below a repository that somebody else made."""
    shared = tmp_path / "shared"
    team = shared / "memories" / "team"
    team.mkdir(parents=True)
    (team / "skip.md").write_text(memory_text(PLANTED))
    (shared / ".memfs").mkdir()
    if request.param == "git":
        git(shared, "init", "-q")
        git(shared, "add", "-A")
        git(shared, "commit", "-qm", "planted")
    give_away(shared)
    mine = shared / "mine"
    mine.mkdir()
    return mine


VERBS = (
    ["recall", "releases of the stove"],
    ["show", "skip"],
    ["list"],
    ["status"],
    ["check"],
    ["due"],
    ["history", "skip"],
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_verb_reads_it(foreign: Path, memfs: Callable[..., Run], verb: list[str]) -> None:
    said = memfs(*verb, cwd=foreign)
    assert said.code == (1 if verb == ["due"] else 3)  # nothing is due, with a notice
    assert PLANTED not in said.out + said.err
    assert "belongs to another user" in said.err
    assert "safe.directory" in said.err or verb == ["due"]


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "copilot", "cursor", "opencode"])
def test_no_hook_reads_it(foreign: Path, memfs_process: Callable[..., Run], agent: str) -> None:
    from memfs.connect.agents import load_agent
    from memfs.connect.doctor import sample_call

    call = json.dumps(sample_call(load_agent(agent), "when do releases of the stove go out?", str(foreign))).encode()
    said = memfs_process("hook", agent, cwd=foreign, stdin=call)
    assert (said.code, said.out, said.err) == (0, "", "")


@pytest.mark.parametrize("named", ["*", "{root}", "{above}/*"])
def test_what_the_user_calls_safe_is_read(foreign: Path, sealed: Path, memfs: Callable[..., Run], named: str) -> None:
    root = foreign.parent
    git(root, "config", "--global", "--add", "safe.directory", named.format(root=root, above=root.parent))
    said = memfs("recall", "releases of the stove", cwd=foreign)
    assert said.code == 0
    assert PLANTED in said.out


def test_a_repository_cannot_call_itself_safe(foreign: Path, memfs: Callable[..., Run]) -> None:
    if (foreign.parent / ".git").exists():
        with (foreign.parent / ".git" / "config").open("a") as file:
            file.write("[safe]\n\tdirectory = *\n")
    assert memfs("recall", "releases of the stove", cwd=foreign).code == 3


@pytest.mark.parametrize("part", [".", ".git"])
def test_every_part_that_decides_must_be_ours(repo: Path, part: str) -> None:
    assert is_ours(find_work_tree(repo))
    give_away(repo, part)
    assert not is_ours(find_work_tree(repo))


def test_under_sudo_the_repository_of_the_caller_is_ours(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(repo)
    monkeypatch.setenv("SUDO_UID", str(SOMEBODY))
    assert is_ours(find_work_tree(repo))
