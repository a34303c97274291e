"""Every command is there, explains itself, and is documented."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest
from support import CHECKOUT, Run

from memfs.cli.parser import command_parser
from memfs.cli.table import COMMANDS, command_module

VERBS = sorted(COMMANDS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_explains_itself(verb: str, memfs: Callable[..., Run]) -> None:
    run = memfs(verb, "--help")
    assert run.code == 0
    assert run.out.startswith(f"usage: memfs {verb}")
    assert (command_module(verb).__doc__ or "").strip().splitlines()[0] in run.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_sentence(verb: str) -> None:
    for parser in _all_parsers(command_parser(verb)):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                continue
            assert action.help, f"memfs {verb}: {action.option_strings or action.dest} has no help"


def _all_parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                found += _all_parsers(child)
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_its_reference_page_entry(verb: str) -> None:
    page = (CHECKOUT / "docs/reference/commands.md").read_text()
    assert f"\n## memfs {verb}\n" in page


@pytest.mark.parametrize("script", ["write_commands.py", "write_admission.py", "write_checks.py"])
def test_the_reference_page_is_what_the_code_says(script: str) -> None:
    import subprocess
    import sys

    script = str(CHECKOUT / "docs/reference" / script)
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_lists_every_command(memfs: Callable[..., Run]) -> None:
    run = memfs("--help")
    assert run.code == 0
    for verb, text in COMMANDS.items():
        assert verb in run.out
        assert text in run.out


def test_an_unknown_command_is_answered_with_a_near_one(memfs: Callable[..., Run]) -> None:
    run = memfs("remeber", "x")
    assert run.code == 2
    assert "memfs remember" in run.err
    assert run.out == ""


def test_the_version_is_one_line(memfs: Callable[..., Run]) -> None:
    run = memfs("--version")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("memfs ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command(shell: str, memfs: Callable[..., Run]) -> None:
    run = memfs("completion", shell)
    assert run.code == 0
    for verb in COMMANDS:
        assert verb in run.out
