"""`memfs rename` gives a memory another id; what names it follows, and what was approved is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from people import Person, Team, memory_text
from support import Run

Memfs = Callable[..., Run]


def rename(team: Team, memfs: Memfs, *words: str) -> Run:
    return memfs("rename", *words, cwd=team.root)


def test_its_bytes_stay_its_approval_is_named_and_its_history_goes_on(team: Team, memfs: Memfs, alice: Person) -> None:
    team.write("a-long-and-winding-name", memory_text("We use pnpm."), commit=True)
    team.approve(alice, "a-long-and-winding-name")
    before = team.path("a-long-and-winding-name").read_bytes()
    run = rename(team, memfs, "a-long-and-winding-name", "pnpm")
    assert run.code == 0, run.err
    assert "approved before, and to be approved again: `memfs trust pnpm`" in run.err
    assert "`memfs untrust a-long-and-winding-name` keeps the old file" in run.err
    assert team.path("pnpm").read_bytes() == before
    assert not team.path("a-long-and-winding-name").exists()
    assert team.says("pnpm") == "no-approval"
    team.approve(alice, "pnpm")
    assert team.says("pnpm") == "trusted"
    subjects = [event["subject"] for event in memfs("history", "pnpm", "--json", cwd=team.root).json["events"]]
    assert subjects[:2] == ["Approve pnpm", "Rename a-long-and-winding-name to pnpm"]
    assert subjects[-2:] == ["Approve a-long-and-winding-name", "write a-long-and-winding-name"]


def test_one_that_was_approved_with_others_is_told_the_same(team: Team, memfs: Memfs, alice: Person) -> None:
    for name in "bc":
        team.write(name, memory_text(f"A rule called {name}."), commit=True)
    team.approve(alice, "b", "c")
    run = rename(team, memfs, "b", "d")
    assert "`memfs untrust b` keeps the old file" in run.err
    assert (team.says("d"), team.says("c")) == ("no-approval", "trusted")


def test_memories_that_name_it_follow_and_a_superseded_one_stays_so(team: Team, memfs: Memfs) -> None:
    team.write("old", memory_text("Migrations lock the table."), commit=True)
    team.write("new", memory_text("Migrations are additive.", extra={"supersedes": "[old]"}), commit=True)
    text = memory_text("Invoices wait for it.").replace("on 2027-11-30", "when old is superseded")
    team.write("third", text, commit=True)
    run = rename(team, memfs, "old", "locked")
    assert run.code == 0, run.err
    assert "changed with it, for they named it: new, third" in run.err
    assert "supersedes: [locked]" in team.path("new").read_text()
    assert "when locked is superseded" in team.path("third").read_text()
    assert team.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("a", "a: a memory of that id exists"),
        ("Two Words", "`two-words` would be one"),
        ("../x", "an id is 1 to 64 lower-case letters"),
    ],
)
def test_what_cannot_be_an_id_is_refused_and_nothing_changes(team: Team, memfs: Memfs, new: str, said: str) -> None:
    team.write("b", memory_text("Another one."), commit=True)
    head = team.git("rev-parse", "HEAD")
    run = rename(team, memfs, "b", new)
    assert run.code == 2
    assert said in run.err
    assert len(run.err.splitlines()) <= 3
    assert team.git("rev-parse", "HEAD") == head
    assert team.git("status", "--porcelain") == ""


def test_without_a_commit_the_files_alone_change(team: Team, memfs: Memfs) -> None:
    team.write("b", memory_text("Another one."), commit=True)
    head = team.git("rev-parse", "HEAD")
    assert "(not committed)" in rename(team, memfs, "b", "c", "--no-commit").out
    assert team.path("c").exists()
    assert not team.path("b").exists()
    assert team.git("rev-parse", "HEAD") == head


def test_a_hidden_memory_is_not_found_changed_or_named(team: Team, memfs: Memfs) -> None:
    scope = "restricted/board"
    team.write("globex", memory_text("A client.", scope=scope, extra={"supersedes": "[b]"}), scope=scope, commit=True)
    team.write("b", memory_text("Another one."), commit=True)
    assert rename(team, memfs, "globex", "x").code == 1
    run = rename(team, memfs, "b", "c", "--as", "team")
    assert run.code == 0, run.err
    assert "globex" not in run.out + run.err
    assert "supersedes: [b]" in (team.root / f"memories/{scope}/globex.md").read_text()


def test_a_memory_that_only_its_owner_sees_follows_and_is_not_named(team: Team, memfs: Memfs) -> None:
    scope = "restricted/board"
    team.write("globex", memory_text("A client.", scope=scope, extra={"supersedes": "[b]"}), scope=scope, commit=True)
    team.write("b", memory_text("Another one."), commit=True)
    run = rename(team, memfs, "b", "c")
    assert run.code == 0, run.err
    assert "globex" not in run.out + run.err
    assert "supersedes: [c]" in (team.root / f"memories/{scope}/globex.md").read_text()
