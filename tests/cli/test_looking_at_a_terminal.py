"""What a person sees: width and colour are known, each group says what to type next; pipes get plain lines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from people import Team, Terminal, memory_text
from rich.cells import cell_len
from support import Run, launch_command

from memfs.disk.places import Places

LONG = "Migrations stay additive because mixed versions of the workers run beside each other for a while. " * 2
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def see(team: Team, *arguments: str, columns: int = 80, **env: str) -> str:
    """Return what a terminal of that width shows."""
    argv = [*launch_command(team.places.home), *arguments]
    colours = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    _, shown = Terminal(argv, cwd=team.root, env={**colours, "COLUMNS": str(columns), "TERM": "xterm", **env}).answer()
    return shown.replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", ["list", "status"])
def test_no_line_is_wider_than_the_terminal(team: Team, command: str, columns: int) -> None:
    for number in range(30):
        team.write(f"a-rather-long-name-of-a-memory-{number}", memory_text(f"{LONG} 日本語 {number}."))
    shown = see(team, command, columns=columns)
    lines = [ESCAPE.sub("", line) for line in shown.splitlines()]
    assert max(map(len, lines)) <= columns
    assert "\x1b[" in shown
    if command == "status":
        assert len(lines) <= 15


def test_colour_is_off_where_nobody_wants_it(team: Team) -> None:
    assert "\x1b[" not in see(team, "list", NO_COLOR="1")
    assert "\x1b[" not in see(team, "status", TERM="dumb")


def test_status_names_the_next_command_for_each_group(team: Team) -> None:
    team.write("b", memory_text("Nobody approved this."))
    team.write("c", memory_text("Nor this."), commit=True)
    team.path("a").write_text(memory_text("Changed since."))
    shown = see(team, "status", NO_COLOR="1")
    assert re.search(r"1 lost approval +a +memfs trust", shown)
    assert re.search(r"2 not approved +b, c +memfs trust", shown)
    assert re.search(r"not committed +.*git status", shown)


def test_a_hostile_text_stays_in_its_line(team: Team) -> None:
    team.write("b", memory_text("First\x1b[31m red \u202e turned."))
    shown = see(team, "list", NO_COLOR="1")
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown


def test_a_list_is_filtered_by_what_one_remembers(team: Team, memfs: Callable[..., Run]) -> None:
    team.write("b", memory_text("Retries stop after five attempts.", extra={"tags": "[api]"}))
    for arguments in (("RETRIES",), ("--tag", "api"), ("--unapproved",), ("retries", "five", "--origin", "owner")):
        run = memfs("list", *arguments, cwd=team.root)
        assert run.out.split()[0] == "b", arguments
        assert len(run.out.splitlines()) == 1
    assert memfs("list", "--approved", cwd=team.root).out.split()[0] == "a"
    assert memfs("list", "nothing-like-it", cwd=team.root).code == 1


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "command", [("show", "a"), ("recall", "additive", "migrations"), ("history", "a"), ("due",), ("keys",), ("doctor",)]
)
def test_an_answer_is_drawn_as_wide_as_the_terminal(team: Team, command: tuple[str, ...], columns: int) -> None:
    team.write("b", memory_text(f"{LONG * 3} 日本語 https://example.com/{'x' * 200}", extra={"expires": "2026-11-28"}))
    team.write("a", memory_text(f"{LONG * 3} additive"), commit=True)
    shown = see(team, *command, columns=columns)
    assert max(cell_len(ESCAPE.sub("", line)) for line in shown.splitlines()) <= columns
    assert "\x1b[" not in see(team, *command, columns=columns, NO_COLOR="1")
    assert "\x1b[" not in see(team, *command, columns=columns, TERM="dumb")


def test_a_frame_is_the_same_for_a_pipe_and_its_words_for_a_person(team: Team, memfs: Callable[..., Run]) -> None:
    team.write("a", memory_text(LONG), commit=True)
    piped = memfs("show", "a", cwd=team.root).out
    assert max(map(len, piped.splitlines())) > 150
    shown = ESCAPE.sub("", see(team, "show", "a"))

    def words(text: str) -> list[str]:
        inside = [line for line in text.splitlines() if re.match(r"[0-9a-f]{4}\|", line)]
        return [word for line in inside for word in line.partition("| ")[2].split()]

    assert words(shown) == words(piped)
    inside = shown.splitlines().index(next(line for line in shown.splitlines() if "origin owner" in line))
    assert all(re.match(r"[0-9a-f]{4}\|", line) for line in shown.splitlines()[inside : inside + 5])


def test_a_person_gets_a_note_about_the_installation_once_a_day(team: Team) -> None:
    first, second = (see(team, "recall", "additive migrations") for _ in range(2))
    assert "by words only" in first
    assert "by words only" not in second


def test_init_makes_the_model_ready_or_says_that_there_is_none(repo: Path, places: Places) -> None:
    from memfs.index.semantic import find_model, is_available

    argv = [*launch_command(places.home), "init", "--no-keyring"]
    code, shown = Terminal(argv, cwd=repo, env=os.environ).answer()
    assert code == 0, shown
    if is_available("onnxruntime"):
        assert find_model(places)[0] is not None
    else:
        assert "recall is by words only" in shown
