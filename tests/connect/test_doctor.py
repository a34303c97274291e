"""The doctor tries what is installed and has one thing to do for each thing that is wrong."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from people import memory_text
from support import Run, git, launch_command

from memfs.hooks.agents import AGENTS

Memfs = Callable[..., Run]


@pytest.fixture
def script(sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("env") / "bin" / "memfs"
    path.parent.mkdir()
    start = " ".join(shlex.quote(word) for word in launch_command(sealed))
    path.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def project(repo: Path) -> Path:
    folder = repo / "memories" / "team"
    folder.mkdir(parents=True)
    (folder / "additive.md").write_text(memory_text("Billing migrations stay additive."))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memory")
    return repo


def findings(memfs: Memfs, project: Path, agent: str) -> dict[str, Any]:
    ran = memfs("doctor", agent, "--json", cwd=project)
    found = [finding for finding in ran.json["findings"] if finding["about"] == agent]
    assert all(finding["fix"] or finding["level"] == "good" for finding in found)
    return {finding["message"]: finding for finding in found}


def says(found: dict[str, Any], words: str) -> Any:
    match = [finding for message, finding in found.items() if words in message]
    assert match, f"nothing about {words!r} in {list(found)}"
    return match[0]


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "windsurf"])
def test_a_good_installation_is_tried_and_found_good(memfs: Memfs, project: Path, script: Path, agent: str) -> None:
    memfs("connect", agent, "--command", str(script), cwd=project)
    found = findings(memfs, project, agent)
    assert says(found, "memories for a memory's own words")["level"] == "good"
    assert not [finding for finding in found.values() if finding["level"] == "wrong"]


def test_an_agent_without_memfs_is_told_how_to_get_it(memfs: Memfs, project: Path) -> None:
    assert says(findings(memfs, project, "gemini"), "no hooks")["fix"] == "memfs connect gemini"


def test_a_script_that_went_away_is_wrong(memfs: Memfs, project: Path, script: Path) -> None:
    memfs("connect", "claude-code", "--command", str(script), cwd=project)
    script.unlink()
    assert says(findings(memfs, project, "claude-code"), "which is not there")["level"] == "wrong"
    assert memfs("doctor", "claude-code", cwd=project).code == 1


@pytest.mark.parametrize(
    ("agent", "file", "old", "new"),
    [
        ("claude-code", ".claude/settings.json", '"timeout": 10', '"timeout": 10000'),
        ("gemini", ".gemini/settings.json", '"timeout": 10000', '"timeout": 10'),
        ("codex", ".codex/hooks.json", '"timeout": 10', '"timeout": 0.5'),
    ],
)
def test_a_timeout_in_the_wrong_unit_is_wrong(
    *, memfs: Memfs, sealed: Path, project: Path, script: Path, agent: str, file: str, old: str, new: str
) -> None:
    memfs("connect", agent, "--command", str(script), cwd=project)
    settings = sealed / file
    settings.write_text(settings.read_text().replace(old, new))
    assert says(findings(memfs, project, agent), "the timeout is")["level"] == "wrong"


def test_a_hook_that_stands_twice_is_wrong(memfs: Memfs, sealed: Path, project: Path, script: Path) -> None:
    memfs("connect", "claude-code", "--command", str(script), cwd=project)
    settings = sealed / ".claude" / "settings.json"
    document = json.loads(settings.read_text())
    document["hooks"]["UserPromptSubmit"] *= 2
    settings.write_text(json.dumps(document))
    assert says(findings(memfs, project, "claude-code"), "2 times")["level"] == "wrong"


def test_two_installations_are_wrong(memfs: Memfs, sealed: Path, project: Path, script: Path) -> None:
    memfs("connect", "claude-code", "--project", "--command", str(script), cwd=project)
    local = project / ".claude" / "settings.local.json"
    (sealed / ".claude").mkdir()
    (sealed / ".claude" / "settings.json").write_text(local.read_text())
    assert says(findings(memfs, project, "claude-code"), "runs twice")["level"] == "wrong"


def test_a_shim_is_unwise(memfs: Memfs, sealed: Path, project: Path, script: Path) -> None:
    shim = sealed / ".pyenv" / "shims" / "memfs"
    shim.parent.mkdir(parents=True)
    shim.write_text(script.read_text())
    shim.chmod(0o755)
    memfs("connect", "claude-code", "--command", str(shim), cwd=project)
    assert says(findings(memfs, project, "claude-code"), "shim")["level"] == "unwise"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('echo \'{"additionalContext": "x"}\'', "not in the shape"),
        ("echo hello", "not in the shape"),
        ("echo oops >&2", "did not run: oops"),
        ("true", "found nothing"),
    ],
)
def test_what_the_hook_really_prints_is_judged(
    memfs: Memfs, project: Path, script: Path, body: str, words: str
) -> None:
    memfs("connect", "codex", "--command", str(script), cwd=project)
    script.write_text(f"#!/bin/sh\n{body}\n")
    says(findings(memfs, project, "codex"), words)


def test_hooks_that_are_switched_off_are_noticed(memfs: Memfs, sealed: Path, project: Path, script: Path) -> None:
    (sealed / ".claude").mkdir()
    (sealed / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    memfs("connect", "claude-code", "--command", str(script), cwd=project)
    assert says(findings(memfs, project, "claude-code"), "switched off")["level"] == "wrong"


def test_codex_is_asked_what_it_trusts(
    memfs: Memfs, project: Path, script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hook = {"command": f"{script} hook codex || true", "trustStatus": "untrusted"}
    answer = json.dumps({"id": 2, "result": {"data": [{"hooks": [hook, {"command": "mine", "trustStatus": "x"}]}]}})
    codex = tmp_path / "bin" / "codex"
    codex.parent.mkdir()
    codex.write_text(f"#!/bin/sh\nread a; read b; read c\necho 'no json'\necho {shlex.quote(answer)}\n")
    codex.chmod(0o755)
    monkeypatch.setenv("PATH", f"{codex.parent}:/usr/bin:/bin")
    memfs("connect", "codex", "--command", str(script), cwd=project)
    assert says(findings(memfs, project, "codex"), "1 of 1 hooks are not trusted")["level"] == "wrong"
    codex.write_text(codex.read_text().replace("untrusted", "trusted"))
    assert says(findings(memfs, project, "codex"), "trusts all 1")["level"] == "good"


def test_the_machine_and_the_repository_are_looked_at(memfs: Memfs, project: Path) -> None:
    ran = memfs("doctor", "--json", cwd=project)
    about = {finding["about"] for finding in ran.json["findings"]}
    assert {"memfs", "keyring", "index"} <= about
    assert ran.code == 0


def test_an_unpinned_repository_is_wrong(memfs: Memfs, project: Path, key: Path, sealed: Path) -> None:
    from people import Person, Team

    from memfs.disk.places import Places
    from memfs.trust import setup

    alice = Person("alice", key)
    team = Team(root=project, places=Places(home=sealed))
    team.write_keyring(setup.new_keyring(alice.signer, alice.principal))
    ran = memfs("doctor", cwd=project)
    assert "not pinned" in ran.out
    assert "memfs pin" in ran.out
    assert ran.code == 1
