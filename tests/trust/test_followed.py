"""Only what is seen on the branch that is followed takes trust away later (DESIGN 2, TRUST 8)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from people import Person, Team, Terminal, make_record, memory_text
from support import git, launch_command

from memfs.model.reader import content_digest
from memfs.trust.pinning import read_chain
from memfs.trust.record import Verb


def drop_receipts(team: Team, seq: int) -> None:
    """Delete the receipts of a counter, and commit that without a word: what a squash merge may do."""
    for name in team.receipts():
        if name.split(".")[1] == str(seq):
            (team.root / ".memfs/approvals" / name).unlink()
    team.commit("drop")


@pytest.fixture
def clone(team: Team, tmp_path: Path) -> Team:
    """Return a clone on another machine, whose remote is the team's repository."""
    home = tmp_path / "other-home"
    home.mkdir()
    return team.clone(tmp_path / "clone", home)


def test_a_look_at_a_keyring_on_a_branch_locks_nothing(team: Team, alice: Person, carol: Person) -> None:
    team.git("checkout", "-q", "-b", "add-carol")
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line()))
    view = team.view()
    assert view.verdict(team.read("a")).trusted
    assert any("version 2 of the keyring is not on main yet" in notice for notice in view.notices)
    team.git("checkout", "-q", "main")
    assert team.says() == "trusted"
    assert team.view().notices == ()
    team.git("branch", "-qD", "add-carol")
    team.change_keyring([alice], approve=1, root=1, keys=(*team.keys(), carol.key_line("root")))  # another version 2
    assert team.says() == "trusted"


def test_a_reviewer_who_checks_a_pull_request_out_keeps_main(
    team: Team, clone: Team, alice: Person, carol: Person
) -> None:
    team.git("checkout", "-q", "-b", "add-carol")
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line()))
    team.git("checkout", "-q", "main")
    clone.git("fetch", "-q")
    clone.git("checkout", "-q", "add-carol")
    assert clone.says() == "trusted"
    clone.git("checkout", "-q", "main")
    assert clone.says() == "trusted"


def test_two_work_trees_on_two_branches_do_not_lock_each_other(
    team: Team, alice: Person, carol: Person, tmp_path: Path
) -> None:
    team.git("worktree", "add", "-q", "-b", "add-carol", str(tmp_path / "beside"))
    beside = Team(root=tmp_path / "beside", places=team.places)
    beside.change_keyring([alice], keys=(*team.keys(), carol.key_line()))
    for _ in range(2):
        assert beside.says() == "trusted"
        assert team.says() == "trusted"


def test_a_newer_text_approved_on_a_branch_is_not_held_against_main(team: Team, bob: Person) -> None:
    team.git("checkout", "-q", "-b", "topic")
    team.write("a", memory_text("Second version."))
    team.approve(bob, "a")
    assert team.says() == "trusted"
    team.git("checkout", "-q", "main")
    assert team.says() == "trusted"
    team.git("branch", "-qD", "topic")
    assert team.says() == "trusted"


def test_a_withdrawal_on_a_branch_counts_there_and_nowhere_else_until_it_is_merged(team: Team, bob: Person) -> None:
    team.git("checkout", "-q", "-b", "topic")
    team.revoke(bob, "a")
    drop_receipts(team, 2)
    assert team.says() == "withdrawn"  # the trailer in the history here
    assert team.says() == "withdrawn"  # and from what was read before
    team.git("checkout", "-q", "main")
    assert team.says() == "trusted"
    team.git("merge", "-q", "--ff-only", "topic")
    assert team.says() == "withdrawn"
    team.git("reset", "-q", "--hard", "HEAD~2")
    assert team.says() == "withdrawn"


def test_what_the_remote_s_default_branch_had_is_remembered_wherever_one_is(
    team: Team, clone: Team, bob: Person
) -> None:
    before = team.git("rev-parse", "HEAD")
    team.revoke(bob, "a")
    clone.git("fetch", "-q")
    assert clone.says() == "withdrawn"  # seen on origin/main, although this work tree is behind it
    team.git("reset", "-q", "--hard", before)
    clone.git("fetch", "-q")
    assert clone.git("rev-parse", "origin/main") == before
    assert clone.says() == "withdrawn"


def test_a_local_branch_ahead_of_the_remote_is_not_remembered(clone: Team, bob: Person) -> None:
    before = clone.git("rev-parse", "HEAD")
    clone.revoke(bob, "a")
    assert clone.says() == "withdrawn"
    clone.git("reset", "-q", "--hard", before)
    assert clone.says() == "trusted"


def test_receipts_that_a_squash_left_without_trailers_are_remembered_from_the_followed_branch(
    team: Team, clone: Team, bob: Person
) -> None:
    team.put_receipt(make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW))
    team.commit("squashed (#7)")
    clone.git("fetch", "-q")
    assert clone.says() == "withdrawn"
    drop_receipts(team, 2)
    clone.git("pull", "-q")
    assert clone.says() == "withdrawn"
    shutil.rmtree(clone.places.state)
    assert clone.says() == "trusted"  # never seen: the known limit


def test_the_user_names_the_branch_that_is_followed(team: Team, clone: Team, bob: Person) -> None:
    home = clone.places.home
    team.git("checkout", "-q", "-b", "release")
    clone.git("fetch", "-q")
    argv = [*launch_command(home), "pin", "--follow"]
    code, shown = Terminal([*argv, "origin/release"], cwd=clone.root, env=os.environ).answer()
    assert code == 0, shown
    assert "follows origin/release" in shown
    team.revoke(bob, "a")
    clone.git("fetch", "-q")
    assert clone.says() == "withdrawn"
    code, shown = Terminal([*argv, "nonsense"], cwd=clone.root, env=os.environ).answer()
    assert code == 2
    assert "there is no branch of that name" in shown


def test_history_that_arrives_later_is_read(team: Team, bob: Person, tmp_path: Path) -> None:
    team.revoke(bob, "a")
    drop_receipts(team, 2)
    home = tmp_path / "shallow-home"
    home.mkdir()
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{team.root}", "shallow")
    shallow = Team(root=tmp_path / "shallow", places=type(team.places)(home=home))
    shallow.pin()
    view = shallow.view()
    assert view.verdict(shallow.read("a")).trusted  # the known limit, and it is said
    assert any("git fetch --unshallow" in notice for notice in view.notices)
    shallow.git("fetch", "-q", "--unshallow")
    assert shallow.says() == "withdrawn"
    assert shallow.view().notices == ()


def test_a_planted_end_of_history_is_said(team: Team, bob: Person) -> None:
    team.revoke(bob, "a")
    drop_receipts(team, 2)
    shutil.rmtree(team.places.state)
    (team.root / ".git/shallow").write_text(team.git("rev-parse", "HEAD") + "\n")
    assert any("history is cut off" in notice for notice in team.view().notices)
    (team.root / ".git/shallow").unlink()
    assert team.says() == "withdrawn"


def test_asking_for_a_verdict_writes_nothing_of_the_work_tree(team: Team, bob: Person) -> None:
    team.says()
    team.put_receipt(
        make_record(bob, team, "a", content_digest(team.path("a").read_bytes()), seq=9, verb=Verb.WITHDRAW)
    )
    assert team.says() == "withdrawn"
    shutil.rmtree(team.root / ".memfs/approvals")
    team.git("checkout", "-q", "--", ".memfs")
    assert team.says() == "trusted"


def test_an_old_branch_says_which_branch_has_the_newer_keyring(team: Team, alice: Person) -> None:
    team.git("branch", "old")
    team.change_keyring([alice], approve=1)
    assert team.says() == "trusted"
    team.git("checkout", "-q", "old")
    verdict = team.verdict()
    assert verdict.reason == "keyring-rolled-back"
    assert "merge or rebase on main" in (verdict.detail or "")
    team.git("merge", "-q", "main")
    assert team.says() == "trusted"


def test_reset_shows_both_keyrings_and_asks(team: Team, alice: Person, carol: Person) -> None:
    before = team.git("rev-parse", "HEAD")
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line()))
    team.pin()
    assert team.says() == "trusted"
    team.git("reset", "-q", "--hard", before)
    assert team.says() == "keyring-rolled-back"
    argv = [*launch_command(team.places.home), "pin", "--reset"]
    code, shown = Terminal(argv, cwd=team.root, env=os.environ).answer(("Type keyring.1", "no"))
    assert code == 1
    assert "carol@example.com" in shown
    assert team.says() == "keyring-rolled-back"
    code, shown = Terminal(argv, cwd=team.root, env=os.environ).answer(("Type keyring.1", "keyring.1"))
    assert code == 0, shown
    assert team.says() == "trusted"
    # Another version 2 is followed now.
    team.change_keyring([alice], approve=1)
    assert team.says() == "trusted"
    assert len(read_chain(team.tree).versions) == 2


def test_reset_needs_a_pin_of_this_repository(team: Team, tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    home.mkdir()
    clone = team.clone(tmp_path / "clone", home, pin=False)
    code, _ = Terminal([*launch_command(home), "pin", "--reset"], cwd=clone.root, env=os.environ).answer()
    assert code == 6
    assert clone.says() == "not-pinned"
