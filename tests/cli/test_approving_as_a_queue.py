"""Bare `memfs trust` walks through what waits; each text is shown once, one signature at the end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from people import Person, Team, Terminal, memory_text
from support import launch_command

from memfs.cli.queue import in_words


def walk(team: Team, alice: Person, *answers: tuple[str, str], **env: str) -> tuple[int, str]:
    argv = [*launch_command(team.places.home), "trust", "--key", str(alice.key)]
    return Terminal(argv, cwd=team.root, env={**os.environ, **env}).answer(*answers)


def test_twelve_memories_cost_at_most_forty_keys_and_each_text_is_shown_once(team: Team, alice: Person) -> None:
    names = [f"rule-{number}" for number in range(12)]
    for number, name in enumerate(names):
        team.write(name, memory_text(f"Rule number {number} of the warehouse, in its own words {'x' * number}."))
    answers = [("Approve this text", "a")] * 12 + [("Type twelve to approve these 12 texts", "twelve")]
    code, shown = walk(team, alice, *answers)
    assert code == 0, shown
    assert sum(len(typed) + 1 for _, typed in answers) <= 40
    assert [shown.count(f"Rule number {number} of") for number in range(12)] == [1] * 12
    assert {team.says(name) for name in names} == {"trusted"}
    assert team.git("log", "-1", "--format=%B").count("sig=") == 1


def test_what_is_skipped_or_comes_after_quit_is_not_approved(team: Team, alice: Person) -> None:
    for name in ("b", "c", "d", "e"):
        team.write(name, memory_text(f"Another one, called {name}."))
    answers = [("1 of 4", "a"), ("2 of 4", ""), ("3 of 4", "a"), ("4 of 4", "q"), ("Type two", "2")]
    code, shown = walk(team, alice, *answers)
    assert code == 0, shown
    assert [team.says(name) for name in "bcde"] == ["trusted", "no-approval", "trusted", "no-approval"]


@pytest.mark.parametrize("answer", ["", "three", "yes", "y"])
def test_only_the_count_in_words_or_digits_signs(team: Team, alice: Person, answer: str) -> None:
    team.write("b", memory_text("Another one."))
    team.write("c", memory_text("A third one."))
    code, shown = walk(team, alice, ("1 of 2", "a"), ("2 of 2", "a"), ("Type two", answer))
    assert code == 1, shown
    assert "nothing was approved" in shown
    assert team.says("b") == team.says("c") == "no-approval"


def test_an_edited_text_is_shown_again_and_is_what_is_approved(team: Team, alice: Person, tmp_path: Path) -> None:
    team.write("b", memory_text("Deploys happen on Tuesdays."))
    team.write("c", memory_text("A third one."), commit=True)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/Tuesdays/Thursdays/ "$1"\n')
    editor.chmod(0o755)
    answers = [("1 of 2", "e"), ("Thursdays", "a"), ("2 of 2", "s"), ("Type one", "one")]
    code, shown = walk(team, alice, *answers, EDITOR=str(editor))
    assert code == 0, shown
    assert "Thursdays" in team.path("b").read_text()
    assert team.says("b") == "trusted"


def test_help_and_the_opened_memory_change_nothing(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Another one."))
    team.write("c", memory_text("A third one."))
    code, shown = walk(team, alice, ("1 of 2", "?"), ("tie it anew", "o"), ("Memory bundle", "q"))
    assert code == 1, shown
    assert team.says("b") == "no-approval"


def test_one_memory_is_approved_by_its_first_word(team: Team, alice: Person) -> None:
    team.write("deploys-on-tuesdays", memory_text("Deploys happen on Tuesdays."))
    code, shown = walk(team, alice, ("Type deploys to approve exactly this text", "deploys"))
    assert code == 0, shown
    assert team.says("deploys-on-tuesdays") == "trusted"


def test_nothing_waits_is_said(team: Team, alice: Person) -> None:
    code, shown = walk(team, alice)
    assert code == 0
    assert "there is nothing to approve" in shown


def test_counts_have_words() -> None:
    assert [in_words(count) for count in (0, 1, 12, 20, 21, 99, 100)] == [
        "zero", "one", "twelve", "twenty", "twenty-one", "ninety-nine", "100",
    ]  # fmt: skip
    assert len({in_words(count) for count in range(300)}) == 300
