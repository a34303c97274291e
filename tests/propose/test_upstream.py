"""The team's main branch: put back after a proposal, offered for one, and brought together with its remote."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from people import Person, Team, Terminal, found_team, memory_text
from support import Run, git, launch_command

from memfs.disk.places import Places
from memfs.errors import UsageError
from memfs.propose.upstream import find_upstream, sync


@pytest.fixture
def shared(tmp_path: Path, repo: Path, places: Places, key: Path, other_key: Path) -> Team:
    """Return a clone of a team of two, whose main branch follows that of a bare repository."""
    team = found_team(repo, places, [Person("alice", key), Person("bob", other_key)])
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin.git")
    team.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    team.git("push", "-qu", "origin", "main")
    return team


@pytest.fixture
def other_key(tmp_path: Path) -> Path:
    from support import make_key

    return make_key(tmp_path, "bob")


def elsewhere(shared: Team, tmp_path: Path) -> Team:
    """Return a clone of the bare repository on the same machine."""
    git(tmp_path, "clone", "-q", "origin.git", "elsewhere")
    return Team(root=tmp_path / "elsewhere", places=shared.places)


def type_it(team: Team, *arguments: str, answers: tuple[tuple[str, str], ...], code: int = 0) -> str:
    ended, shown = Terminal(
        [*launch_command(team.places.home), *arguments], cwd=team.root, env=os.environ | {"TERM": "dumb"}
    ).answer(*answers)
    assert ended == code, shown
    return shown


def test_propose_puts_the_main_branch_back_when_a_person_agrees(shared: Team) -> None:
    before = shared.git("rev-parse", "origin/main")
    shared.write("b", memory_text("We deploy on Tuesdays."), commit=True)
    shown = type_it(shared, "propose", "b", answers=(("Put it back to origin/main", ""),))
    assert "main is where origin/main is" in shown
    assert shared.git("rev-parse", "HEAD") == before
    assert "memory/b" in shared.git("branch", "--list", "memory/b")
    assert not shared.path("b").exists()


def test_propose_leaves_the_branch_where_something_else_would_be_lost(shared: Team) -> None:
    shared.write("b", memory_text("We deploy on Tuesdays."))
    (shared.root / "work.txt").write_text("hours of work\n")
    head = shared.commit("both")
    shown = type_it(shared, "propose", "b", "--back", answers=())
    assert "where origin/main is" not in shown
    assert shared.git("rev-parse", "HEAD") == head


def test_what_is_staged_or_changed_stays(shared: Team) -> None:
    shared.write("b", memory_text("We deploy on Tuesdays."), commit=True)
    shared.write("a", memory_text("Changed and not committed."))
    (shared.root / "README.md").write_text("half a thought\n")
    type_it(shared, "propose", "b", "--back", answers=())
    assert "Changed and not committed." in shared.path("a").read_text()
    assert (shared.root / "README.md").read_text() == "half a thought\n"
    shared.write("c", memory_text("We test on Mondays."), commit=True)
    shared.git("add", "README.md")
    head = shared.git("rev-parse", "HEAD")
    type_it(shared, "propose", "c", "--back", answers=())
    assert shared.git("rev-parse", "HEAD") == head


def test_without_a_terminal_nothing_is_put_back_unless_it_is_said(
    shared: Team, memfs_process: Callable[..., Run]
) -> None:
    shared.write("b", memory_text("We deploy on Tuesdays."), commit=True)
    head = shared.git("rev-parse", "HEAD")
    run = memfs_process("propose", "b", cwd=shared.root)
    assert (run.code, shared.git("rev-parse", "HEAD")) == (0, head), run.err
    assert "`--back` puts it back" in run.err
    assert memfs_process("propose", "b", "--back", cwd=shared.root).code == 0
    assert shared.git("rev-parse", "HEAD") == shared.git("rev-parse", "origin/main")


def test_remember_on_the_teams_branch_offers_to_propose(shared: Team) -> None:
    shown = type_it(
        shared, "remember", "We deploy on Tuesdays.", "--id", "b",
        answers=(("What does it rest on", ""), ("Propose the memory on a branch of its own", "y")),
    )  # fmt: skip
    assert "memory/b" in shown
    assert shared.git("rev-parse", "HEAD") == shared.git("rev-parse", "origin/main")
    assert shared.git("ls-remote", "--heads", "origin", "memory/b")


def test_nobody_is_asked_who_works_alone_or_on_another_branch(shared: Team) -> None:
    shared.git("switch", "-qc", "work")
    shown = type_it(shared, "remember", "We deploy on Tuesdays.", answers=(("What does it rest on", ""),))
    assert "branch of its own" not in shown


def test_a_store_is_brought_together_with_its_remote(shared: Team, tmp_path: Path) -> None:
    other = elsewhere(shared, tmp_path)
    other.write("theirs", memory_text("From the other machine."), commit=True)
    other.git("push", "-q")
    shared.write("ours", memory_text("From this machine."), commit=True)
    done = sync(shared.tree, environ=os.environ, interactive=False)
    assert (done.received, done.sent) == (1, 1)
    assert shared.path("theirs").exists()
    again = sync(other.tree, environ=os.environ, interactive=False)
    assert (again.received, again.sent) == (1, 0)
    assert other.git("rev-parse", "HEAD") == shared.git("rev-parse", "HEAD")


def test_a_new_store_gets_its_branch_on_the_remote(repo: Path, places: Places, key: Path, tmp_path: Path) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "mine.git")
    team.git("remote", "add", "origin", str(tmp_path / "mine.git"))
    assert sync(team.tree, environ=os.environ, interactive=False).sent > 0
    upstream = find_upstream(team.tree)
    assert upstream is not None
    assert upstream.name == "origin/main"


def test_two_versions_of_one_memory_change_nothing_and_say_how_to_settle_it(shared: Team, tmp_path: Path) -> None:
    other = elsewhere(shared, tmp_path)
    for team, text in ((other, "Theirs."), (shared, "Ours.")):
        team.write("a", memory_text(text), commit=True)
    other.git("push", "-q")
    head = shared.git("rev-parse", "HEAD")
    with pytest.raises(UsageError, match="both sides changed the same memory") as refused:
        sync(shared.tree, environ=os.environ, interactive=False)
    assert "memfs edit --merge" in (refused.value.hint or "")
    assert (shared.git("rev-parse", "HEAD"), shared.git("status", "--porcelain")) == (head, "")


def test_a_store_is_synced_from_anywhere_by_its_name(
    repo: Path, places: Places, key: Path, tmp_path: Path, memfs_process: Callable[..., Run]
) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "mine.git")
    team.git("remote", "add", "origin", str(tmp_path / "mine.git"))
    places.config.mkdir(parents=True, mode=0o700, exist_ok=True)
    (places.config / "config.yaml").write_text(f"stores:\n  - name: mine\n    path: {team.root}\n")
    run = memfs_process("sync", "mine", "--json", cwd=tmp_path)
    assert run.code == 0, run.err
    assert run.json["stores"][0]["received"] == 0
    assert memfs_process("sync", "nobody", cwd=tmp_path).code == 1
    assert memfs_process("sync", cwd=team.root).code == 2
