"""Off in this project: nothing answers there for the user's agents, and only the user says so."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp_talk import Talk
from people import Team, Terminal
from support import Run, launch_command

from memfs.disk.changing import turn_off, turn_on
from memfs.disk.places import Places
from memfs.disk.settings import read_user_settings
from memfs.errors import SetupError


def type_it(team: Team, *arguments: str) -> str:
    terminal = Terminal([*launch_command(team.places.home), *arguments], cwd=team.root, env=os.environ)
    code, shown = terminal.answer()
    assert code == 0, shown
    return shown


def ask(team: Team, memfs_process: Callable[..., Run]) -> tuple[int, str]:
    call = {
        "hook_event_name": "SessionStart",
        "session_id": os.urandom(4).hex(),
        "cwd": str(team.root),
        "source": "startup",
    }
    hook = memfs_process("hook", "claude-code", cwd=team.root, stdin=json.dumps(call).encode())
    return memfs_process("recall", "additive migrations", cwd=team.root).code, hook.out


def test_no_hook_and_no_recall_answers_until_it_is_on_again(team: Team, memfs_process: Callable[..., Run]) -> None:
    code, said = ask(team, memfs_process)
    assert code == 0
    assert "Migrations" in said
    assert "memfs is off" in type_it(team, "off")
    assert ask(team, memfs_process) == (2, "")
    assert "memfs is off in this project" in memfs_process("recall", "migrations", cwd=team.root).err
    assert memfs_process("show", "a", cwd=team.root).code == 0
    assert memfs_process("off", "--list", "--json", cwd=team.root).json["folders"] == [str(team.root)]
    assert "is on" in type_it(team, "off", "--end")
    assert ask(team, memfs_process)[0] == 0


def test_no_tool_of_the_server_answers_there(team: Team) -> None:
    type_it(team, "off")
    talk = Talk(team.places.home, team.root, "--allow", "write")
    try:
        talk.begin()
        for tool, arguments in (("recall", {"query": "migrations"}), ("list", {}), ("get", {"id": "a"})):
            answer = json.dumps(talk.call(tool, **arguments))
            assert "memfs is off" in answer, tool
            assert "additive" not in answer, tool
    finally:
        talk.process.kill()


def test_a_program_cannot_turn_it_off(team: Team, memfs_process: Callable[..., Run]) -> None:
    assert memfs_process("off", cwd=team.root).code == 2
    assert not (team.places.config / "config.yaml").exists()


@pytest.mark.parametrize(
    "settings",
    ["", "# mine\nidentities:\n  - a@example.com\n", "off:\n- /elsewhere # keep\nmodel: mini\n", "model: mini"],
)
def test_turning_it_off_and_on_again_leaves_every_other_line(places: Places, tmp_path: Path, settings: str) -> None:
    folder = tmp_path / "a project: of mine"
    folder.mkdir()
    places.config.mkdir(parents=True, mode=0o700)
    file = places.config / "config.yaml"
    file.write_text(settings)
    assert turn_off(places, folder)
    assert not turn_off(places, folder / "below")
    assert read_user_settings(places).is_off(folder / "below")
    assert turn_on(places, folder)
    assert not turn_on(places, folder)
    assert file.read_text().rstrip("\n") == (settings or "# Your own settings of memfs.\n").rstrip("\n")


@pytest.mark.parametrize(
    "form", ["off: [/elsewhere]\n", "off: [/elsewhere,\n  {here}]\n", 'off: ["/a", {here}, "/b"]\n']
)
def test_a_list_of_another_form_is_left_to_the_person(places: Places, tmp_path: Path, form: str) -> None:
    places.config.mkdir(parents=True, mode=0o700)
    file = places.config / "config.yaml"
    text = form.format(here=tmp_path)
    file.write_text(text)
    with pytest.raises(SetupError, match="by hand"):
        (turn_on if str(tmp_path) in text else turn_off)(places, tmp_path)
    assert file.read_text() == text
