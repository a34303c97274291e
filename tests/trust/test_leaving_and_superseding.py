"""What a successor withdraws and when, what a limited key may withdraw, and what a removal would revive (TRUST 6)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from people import Person, Team, Terminal, make_record, memory_text
from support import launch_command

from memfs.errors import TrustError
from memfs.model.reader import content_digest
from memfs.model.values import replace
from memfs.trust.record import Verb


def at_terminal(team: Team, *arguments: str, answers: tuple[tuple[str, str], ...] = ()) -> tuple[int, str]:
    return Terminal([*launch_command(team.places.home), *arguments], cwd=team.root, env=os.environ).answer(*answers)


@pytest.fixture
def two(team: Team, alice: Person, bob: Person) -> Team:
    """Return the team with two people needed, and a approved by both."""
    team.change_keyring([alice], approve=2)
    team.approve(bob, "a")
    assert team.says() == "trusted"
    return team


def test_the_first_of_two_approvals_of_a_successor_withdraws_nothing(two: Team, alice: Person, bob: Person) -> None:
    two.write("b", memory_text("The new rule.", extra={"supersedes": "[a]"}))
    code, shown = at_terminal(two, "trust", "b", "--key", str(alice.key), answers=(("Type b to", "b"),))
    assert code == 0, shown
    assert "withdrawn once 2 people have approved this one" in shown
    assert (two.says("a"), two.says("b")) == ("trusted", "not-enough-people")
    done = two.approve(bob, "b")
    assert [record.statement.verb for record in done.records] == [Verb.APPROVE, Verb.WITHDRAW]
    assert (two.says("a"), two.says("b")) == ("withdrawn", "trusted")
    two.write("b", "damaged")
    assert two.says("a") == "withdrawn"


def test_the_old_memory_s_scope_says_how_many_people_it_takes(team: Team, alice: Person, bob: Person) -> None:
    team.write("old", memory_text("Old.", scope="team/x"), scope="team/x")
    team.approve(alice, "old")
    team.change_keyring([alice], needs=(("team/x", 2),))
    team.approve(bob, "old")
    team.write("new", memory_text("New.", extra={"supersedes": "[old]"}))
    team.approve(alice, "new")
    assert team.says("new") == "trusted"
    assert team.says("old", "team/x") == "trusted"
    team.approve(bob, "new")
    assert team.says("old", "team/x") == "withdrawn"


def test_two_approvals_on_two_branches_are_completed_by_whoever_comes_next(
    two: Team, alice: Person, bob: Person
) -> None:
    two.write("b", memory_text("The new rule.", extra={"supersedes": "[a]"}), commit=True)
    two.put_receipt(make_record(alice, two, "b", content_digest(two.path("b").read_bytes())))
    two.put_receipt(make_record(bob, two, "b", content_digest(two.path("b").read_bytes())))
    two.commit("merged")
    assert (two.says("a"), two.says("b")) == ("trusted", "trusted")
    code, shown = at_terminal(two, "trust", "b", "--key", str(bob.key), answers=(("Type b to", "b"),))
    assert code == 0, shown
    assert (two.says("a"), two.says("b")) == ("withdrawn", "trusted")


def test_a_successor_for_fewer_people_withdraws_nothing(team: Team, alice: Person) -> None:
    team.write("deal", memory_text("Secret.", scope="restricted/x", extra={"supersedes": "[a]"}), scope="restricted/x")
    code, shown = at_terminal(team, "trust", "deal", "--key", str(alice.key), answers=(("Type deal to", "deal"),))
    assert code == 0, shown
    assert "which stays approved" in shown
    assert team.says("deal", "restricted/x") == "trusted"
    assert team.says("a") == "trusted"


def test_a_key_with_scopes_withdraws_there_alone(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], scopes=("team/x",))))
    team.write("x", memory_text("In x.", scope="team/x"), scope="team/x")
    team.approve(alice, "x")
    with pytest.raises(TrustError, match="may not withdraw for team"):
        team.revoke(bob, "a")
    team.put_receipt(make_record(bob, team, "a", "0" * 64, seq=99, verb=Verb.WITHDRAW))
    assert team.says("a") == "trusted"
    team.revoke(bob, "x")
    assert team.says("x", "team/x") == "withdrawn"
    code, shown = at_terminal(
        team, "keys", "retire", "bob@example.com", "--key", str(alice.key), answers=(("Type keyring.3", "keyring.3"),)
    )
    assert code == 0, shown
    assert team.says("a") == "trusted"  # retired, and still limited
    assert team.says("x", "team/x") == "withdrawn"


def test_removing_a_key_lists_the_withdrawals_that_would_end_and_signs_them_again(
    team: Team, alice: Person, bob: Person
) -> None:
    team.write("y", memory_text("Also bob's."), commit=True)
    team.approve(alice, "y")
    team.revoke(bob, "y")
    team.put_receipt(make_record(bob, team, "a", "0" * 64, seq=999_999_999))  # he signs after he left
    team.commit("block")
    assert (team.says("a"), team.says("y")) == ("changed" if team.says("a") == "changed" else "older-text", "withdrawn")
    code, shown = at_terminal(
        team, "keys", "remove", "bob@example.com", "--key", str(alice.key), answers=(("Type keyring.2", "keyring.2"),)
    )
    assert code == 0, shown
    assert "these withdrawals would end with the key: y" in shown
    assert "withdrawn again: y" in shown
    assert (team.says("a"), team.says("y")) == ("trusted", "withdrawn")
    assert team.verdict("y").people == ("alice@example.com",)
    assert team.git("status", "--porcelain") == ""


def test_a_key_that_signs_keyrings_only_cannot_revive_by_a_removal(
    team: Team, alice: Person, bob: Person, carol: Person
) -> None:
    team.revoke(bob, "a")
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line("root")))
    code, shown = at_terminal(team, "keys", "remove", "bob@example.com", "--key", str(carol.key))
    assert code == 6
    assert "memfs untrust a" in shown
    assert team.says("a") == "withdrawn"


def test_keys_set_changes_what_a_listed_key_may_do(team: Team, alice: Person) -> None:
    key = ["--key", str(alice.key)]
    code, shown = at_terminal(
        team, "keys", "set", "bob@example.com", "--role", "root,approve", "--scope", "team/*", "--before", "2030-01-01",
        *key, answers=(("Type keyring.2", "keyring.2"),),
    )  # fmt: skip
    assert code == 0, shown
    assert "changes bob@example.com" in shown
    line = team.keys()[1]
    assert (line.roles, line.scopes, str(line.before)) == (("root", "approve"), ("team/*",), "2030-01-01")
    code, shown = at_terminal(team, "keys", "set", "bob@example.com", *key)
    assert code == 2
    assert "say what to change" in shown
    code, shown = at_terminal(team, "keys", "set", "nobody@example.com", "--role", "approve", *key)
    assert code == 2
    code, shown = at_terminal(team, "keys", "set", "bob@example.com", "--touch", *key)
    assert code == 2
    assert "only a security key can require a touch" in shown


def test_keys_set_keeps_enough_root_people(team: Team, alice: Person) -> None:
    code, shown = at_terminal(team, "keys", "set", "alice@example.com", "--role", "approve", "--key", str(alice.key))
    assert code == 2
    assert "nobody could change the keyring any more" in shown


def test_a_threshold_of_all_root_people_says_what_one_lost_key_costs(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], roles=("root", "approve"))))
    code, shown = at_terminal(
        team, "keys", "threshold", "--root", "2", "--key", str(alice.key), answers=(("Type keyring.3", "no"),)
    )
    assert code == 1
    assert "2 of 2 root people" in shown
    assert "one lost key" in shown


def test_a_twin_is_named_when_an_approval_is_withdrawn(team: Team, alice: Person, tmp_path: Path) -> None:
    team.write("a", memory_text("A twin.", scope="personal"), scope="personal")
    code, shown = at_terminal(team, "untrust", "a", "--key", str(alice.key), answers=(("Type a to withdraw", ""),))
    assert code == 1
    assert "=== a  (memories/team/a.md; now: approved)" in shown
    assert "another file has this id: memories/personal/a.md" in shown


def test_what_looks_the_same_and_is_not_is_named_before_signing(team: Team, alice: Person) -> None:
    team.write("a", team.path("a").read_text().replace("Migrations", "Migr\u0430tions"))
    _, shown = at_terminal(team, "trust", "a", "--key", str(alice.key), answers=(("Type a to", ""),))
    assert "it looks the same as before, and is not: U+0430 (Cyrillic small letter a), was U+0061" in shown
