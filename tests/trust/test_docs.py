"""What the pages on trust say is what happens."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from people import Person, Team, Terminal
from support import CHECKOUT, launch_command

from memfs.trust.judge import Reason

DOCS = CHECKOUT / "docs"


def page(name: str) -> str:
    path = DOCS / name
    if not path.exists():
        pytest.skip("the documentation is not beside these tests")
    return path.read_text()


def block(text: str, after: str) -> str:
    """Return the first shell block after a heading."""
    return text[text.index(after) :].split("```sh\n", maxsplit=1)[1].split("```", maxsplit=1)[0]


def test_the_check_by_hand_works_with_coreutils_and_openssh_alone(team: Team, tmp_path: Path) -> None:
    script = block(page("reference/trailers.md"), "## By hand")
    script = script.replace(".memfs/approvals/billing.1.0123abcd.txt", f".memfs/approvals/{team.receipts()[0]}")
    script = script.replace("memories/team/billing.md", "memories/team/a.md")
    memfs = tmp_path / "memfs"
    memfs.write_text(
        "#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in launch_command(team.places.home)) + ' "$@"\n'
    )
    memfs.chmod(0o755)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=team.root, capture_output=True, text=True, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == team.repository_id
    assert lines[1].split()[0] in (team.root / ".memfs/approvals" / team.receipts()[0]).read_text()
    assert lines[2].startswith('Good "memory-approval@v1" signature for alice@example.com')
    changed = script.replace('"$statement"', '"$statement "')
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", changed],
        cwd=team.root, capture_output=True, text=True, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode != 0


def test_every_reason_is_explained() -> None:
    text = page("explanation/trust-model.md")
    assert [reason for reason in Reason if f"`{reason}`" not in text] == []


def test_the_threat_model_names_every_attack_test_and_no_other() -> None:
    named = set(re.findall(r"`((?:attacks|trust)/test_[a-z_]+\.py)`", page("threat-model.md")))
    assert [name for name in named if not (CHECKOUT / "tests" / name).exists()] == []
    of_trust = (
        "forged_records", "replay", "keyring_takeover", "git_operations", "files_and_names", "hostile_git",
        "own_folders", "signers",
    )  # fmt: skip
    assert {f"attacks/test_{name}.py" for name in of_trust} <= named


def test_every_command_in_the_how_tos_exists() -> None:
    from memfs.cli.parser import command_parser
    from memfs.cli.table import COMMANDS

    for name in ("set-up-a-team", "rotate-a-key", "lose-a-key", "approve-with-a-security-key"):
        for line in re.findall(r"(?:^|`)memfs ([a-z]+[^\n`#]*)", page(f"how-to/{name}.md"), re.MULTILINE):
            words = line.split()
            assert words[0] in COMMANDS, line
            help_text = command_parser(words[0]).format_help()
            if words[0] == "keys" and len(words) > 1 and words[1].isalpha():
                assert words[1] in help_text, line
            for option in re.findall(r"(?<= )--[a-z-]+", line):
                assert option in help_text or words[0] == "keys", line


def test_a_new_root_after_the_only_key_was_lost(team: Team, tmp_path: Path, mallory: Person) -> None:
    """The steps of the how-to for a team whose only root key is gone; here Mallory is the founder's new key."""
    assert team.says() == "trusted"
    before = team.repository_id
    team.git("rm", "-q", ".memfs/keyring.1")
    team.git("rm", "-rq", ".memfs/approvals")
    team.git("commit", "-qm", "New root")
    assert team.says() == "keyring-broken"
    key = ["--key", str(mallory.key)]
    terminal = Terminal([*launch_command(team.places.home), "keys", "create", *key], cwd=team.root, env=os.environ)
    code, shown = terminal.answer(("to make this the first keyring", "alice@example.com"))
    assert code == 0, shown
    assert team.repository_id != before
    terminal = Terminal([*launch_command(team.places.home), "trust", "a", *key], cwd=team.root, env=os.environ)
    code, shown = terminal.answer(("Type a to approve", "a"))
    assert code == 0, shown
    assert team.says() == "trusted"
