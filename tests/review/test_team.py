"""A scripted team: two people, two machines, one bare origin, from a proposal to a trusted recall."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from making import put
from people import Person, Team, Terminal, approving, found_team
from support import Run, git, launch_command

from memfs.disk.places import Places

STATEMENT = "Exports of the ledger are streamed row by row, because the whole file does not fit into memory."
QUESTION = "how are exports of the ledger written?"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    bare = tmp_path / "origin.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    return bare


@pytest.fixture
def alice(repo: Path, places: Places, key: Path, other_key: Path, origin: Path) -> Team:
    """Return the clone of the first person, who founded the repository and may approve."""
    team = found_team(repo, places, [Person("alice", key)], approve_memory=False)
    team.git("remote", "add", "origin", str(origin))
    team.git("push", "-q", "-u", "origin", "main")
    return team


@pytest.fixture
def bob(alice: Team, origin: Path, tmp_path: Path) -> Team:
    """Return the clone of the second person, on a machine of his own."""
    home = tmp_path / "bob-home"
    home.mkdir()
    git(tmp_path, "clone", "-q", str(origin), str(tmp_path / "bob"))
    clone = Team(root=tmp_path / "bob", places=Places(home=home))
    clone.git("config", "user.name", "Bob Example")
    clone.git("config", "user.email", "bob@example.com")
    clone.pin()
    return clone


@pytest.fixture
def run(memfs: Callable[..., Run]) -> Callable[..., Run]:
    """Return a function that runs a command on somebody's machine."""

    def command(who: Team, *arguments: str) -> Run:
        return memfs(*arguments, cwd=who.root, home=who.places.home)

    return command


def _propose(who: Team, run: Callable[..., Run], text: str = STATEMENT, memory_id: str = "streamed-exports") -> Run:
    done = run(
        who, "propose", "--new", text, "--id", memory_id, "--kind", "decision", "--scope", "team/ledger",
        "--evidence", "https://example.com/decisions/21", "--review", "on 2027-06-01", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    return done


def _approve(who: Team, person: Person, *ids: str) -> str:
    argv = [*launch_command(who.places.home), "review", "--approve", "--key", str(person.key)]
    code, shown = Terminal(argv, cwd=who.root, env=os.environ).answer(*approving(*ids))
    assert code == 0, shown
    return shown


@pytest.mark.parametrize("merge", ["squash", "rebase", "merge"])
def test_from_a_proposal_to_a_trusted_recall_on_the_other_clone(
    alice: Team, bob: Team, origin: Path, key: Path, run: Callable[..., Run], tmp_path: Path, merge: str
) -> None:
    # Bob proposes; his own work tree stays as it is.
    before = bob.git("status", "--porcelain"), bob.git("rev-parse", "HEAD")
    branch = _propose(bob, run).json["branch"]
    assert (bob.git("status", "--porcelain"), bob.git("rev-parse", "HEAD")) == before
    # Alice looks at it without checking anything out, and asks for a change.
    alice.git("fetch", "-q")
    seen = run(alice, "review", f"origin/main..origin/{branch}")
    assert seen.code == 0, seen.out
    assert "It needs one approval from alice@example.com." in seen.out
    assert "those with the scope team/ledger and the whole team" in seen.out
    # Bob makes the change on the same branch.
    bob.git("switch", "-q", branch)
    assert run(bob, "edit", "streamed-exports", f"{STATEMENT} The reader does the same.").code == 0
    bob.git("push", "-q", "origin", branch)
    bob.git("switch", "-q", "main")
    # Alice approves on the branch: one signature, made by a person at a terminal.
    alice.git("fetch", "-q")
    alice.git("switch", "-q", branch)
    shown = _approve(alice, Person("alice", key), "streamed-exports")
    assert "The reader does the same." in shown
    alice.git("push", "-q", "origin", branch)
    again = run(alice, "review", f"origin/main..{branch}")
    assert "Approved by alice@example.com: exactly these words." in again.out
    assert run(alice, "check", "--base", "origin/main").code == 0
    # Somebody merges, in the way the forge was told to.
    git(tmp_path, "clone", "-q", str(origin), "forge")
    forge = tmp_path / "forge"
    if merge == "squash":
        git(forge, "merge", "-q", "--squash", f"origin/{branch}")
        git(forge, "commit", "-qm", "Streamed exports (#7)")
    elif merge == "rebase":
        git(forge, "switch", "-q", branch)
        git(forge, "rebase", "-q", "origin/main")
        git(forge, "switch", "-q", "main")
        git(forge, "merge", "-q", "--ff-only", branch)
    else:
        git(forge, "merge", "-q", "--no-ff", "-m", "Merge pull request #7", f"origin/{branch}")
    git(forge, "push", "-q", "origin", "main")
    git(forge, "push", "-q", "origin", "--delete", branch)
    # Bob pulls, and what he recalls is what the team approved.
    bob.git("pull", "-q", "--ff-only")
    found = run(bob, "recall", QUESTION, "--json")
    assert found.code == 0, found.err
    hit = next(hit for hit in found.json["hits"] if hit["id"] == "streamed-exports")
    assert hit["trusted"], hit
    assert "alice@example.com" in hit["trust"]
    assert "approved" in run(bob, "recall", QUESTION).out


def test_before_the_approval_it_is_recalled_as_a_claim(alice: Team, bob: Team, run: Callable[..., Run]) -> None:
    branch = _propose(bob, run).json["branch"]
    bob.git("switch", "-q", branch)
    hit = run(bob, "recall", QUESTION, "--json").json["hits"][0]
    assert not hit["trusted"]


def test_an_approval_that_a_later_edit_breaks_is_said_before_the_merge(
    alice: Team, bob: Team, key: Path, run: Callable[..., Run]
) -> None:
    branch = _propose(bob, run).json["branch"]
    alice.git("fetch", "-q")
    alice.git("switch", "-q", branch)
    _approve(alice, Person("alice", key), "streamed-exports")
    assert run(alice, "edit", "streamed-exports", f"{STATEMENT} Or so.").code == 0
    seen = run(alice, "review", f"origin/main..{branch}")
    assert "Its approval is lost: alice@example.com" in seen.out
    assert "It needs one approval" in seen.out


def test_only_what_is_checked_out_can_be_approved(alice: Team, bob: Team, run: Callable[..., Run]) -> None:
    branch = _propose(bob, run).json["branch"]
    alice.git("fetch", "-q")
    done = run(alice, "review", f"origin/main..origin/{branch}", "--approve")
    assert done.code == 2
    assert "only what is checked out can be approved" in done.err
    assert f"git switch {branch}" in done.err
    alice.git("switch", "-q", branch)  # the hint works
    assert run(alice, "review", "--approve").code == 6


def test_a_pull_request_is_fetched_by_its_number_and_approved(
    alice: Team, bob: Team, origin: Path, key: Path, run: Callable[..., Run]
) -> None:
    branch = _propose(bob, run).json["branch"]
    git(origin, "update-ref", "refs/pull/7/head", f"refs/heads/{branch}")
    git(origin, "update-ref", "-d", f"refs/heads/{branch}")
    done = run(alice, "review", "7", "--approve")
    assert done.code == 2
    assert "pull request 7 is not in this clone yet" in done.err
    hint = "git fetch origin pull/7/head:pr/7 && git switch pr/7"
    assert hint in done.err
    for command in hint.split(" && "):
        alice.git(*command.split()[1:])
    argv = [*launch_command(alice.places.home), "review", "7", "--approve", "--key", str(key)]
    answers = approving("streamed-exports")
    code, shown = Terminal(argv, cwd=alice.root, env=os.environ).answer(*answers)
    assert code == 0, shown
    assert shown.count(STATEMENT) == 1, "each text is shown once"
    assert alice.says("streamed-exports", "team/ledger") == "trusted"
    alice.git("switch", "-q", "main")
    done = run(alice, "review", "7", "--approve")
    assert (done.code, "git switch pr/7" in done.err) == (2, True)


@pytest.mark.parametrize("argument", [(), ("7",)])
def test_without_a_branch_the_key_is_not_touched(
    alice: Team, bob: Team, origin: Path, tmp_path: Path, argument: tuple[str, ...], run: Callable[..., Run]
) -> None:
    branch = _propose(bob, run).json["branch"]
    git(origin, "update-ref", "refs/pull/7/head", f"refs/heads/{branch}")
    alice.git("fetch", "-q", "origin", "pull/7/head:pr/7")
    alice.git("switch", "-q", "--detach", "pr/7")
    # A key that cannot be read: whoever asked for it first would say so.
    argv = [*launch_command(alice.places.home), "review", *argument, "--approve", "--key", str(tmp_path / "no-key")]
    code, shown = Terminal(argv, cwd=alice.root, env=os.environ).answer()
    assert code == 2
    assert "no branch is checked out, so an approval could not be committed" in shown
    assert "Type" not in shown
    assert "no-key" not in shown


def test_approving_needs_a_person_at_a_terminal(alice: Team, bob: Team, run: Callable[..., Run]) -> None:
    branch = _propose(bob, run).json["branch"]
    alice.git("fetch", "-q")
    alice.git("switch", "-q", branch)
    done = run(alice, "review", "--approve")
    assert done.code == 6
    assert "terminal" in done.err


def test_several_memories_are_approved_with_one_signature(
    alice: Team, bob: Team, key: Path, run: Callable[..., Run]
) -> None:
    put(bob.root, "one", "The first thing is this.")
    put(bob.root, "two", "Another matter is that.")
    branch = run(bob, "propose", "--json").json["branch"]
    alice.git("fetch", "-q")
    alice.git("switch", "-q", branch)
    _approve(alice, Person("alice", key), "one", "two")
    names = alice.receipts()
    assert len(names) == 1
    assert names[0].startswith("batch.")


# -- parallel edits ----------------------------------------------------------------------------------


def test_two_people_with_two_memories_never_conflict(
    alice: Team, bob: Team, key: Path, run: Callable[..., Run]
) -> None:
    """No merge driver is needed: memories and receipts are files of their own."""
    branches = [
        _propose(who, run, f"{name} has something of their own to say about the ledger.", name).json["branch"]
        for who, name in ((alice, "alices-memory"), (bob, "bobs-memory"))
    ]
    alice.git("fetch", "-q")
    for branch, memory_id in zip(branches, ("alices-memory", "bobs-memory"), strict=True):
        alice.git("switch", "-q", branch)
        _approve(alice, Person("alice", key), memory_id)
    alice.git("switch", "-q", "main")
    for branch in branches:
        alice.git("merge", "-q", "--no-edit", branch)
    assert run(alice, "check").code == 0
    assert alice.says("alices-memory", "team/ledger") == "trusted"
    assert alice.says("bobs-memory", "team/ledger") == "trusted"


def test_two_edits_of_one_memory_are_a_conflict_that_check_names(
    alice: Team, bob: Team, run: Callable[..., Run]
) -> None:
    put(alice.root, "pool", "The pool holds twenty connections.")
    alice.commit("remember")
    alice.git("push", "-q", "origin", "main")
    bob.git("pull", "-q", "--ff-only")
    put(bob.root, "pool", "The pool holds fifty connections.")
    bob.commit("more")
    bob.git("push", "-q", "origin", "HEAD:refs/heads/more")
    put(alice.root, "pool", "The pool holds ten connections.")
    alice.commit("less")
    alice.git("fetch", "-q")
    assert "base-moved" in run(alice, "check", "--base", "main", "--commit", "origin/more").out
    merged = subprocess.run(["git", "merge", "-q", "origin/more"], cwd=alice.root, capture_output=True, check=False)
    assert merged.returncode != 0
    done = run(alice, "check")
    assert done.code == 1
    assert "memfs edit --merge pool" in done.out
