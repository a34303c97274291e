"""The doctor tries what is installed and has one thing to do for each thing that is wrong."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from people import Person, Team, memory_text
from support import Run, git, launch_command

from memfs.connect.agents import AGENTS

Memfs = Callable[..., Run]


@pytest.fixture
def script(sealed: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the script of this memfs: what the process was started as."""
    path = tmp_path_factory.mktemp("env") / "bin" / "memfs"
    path.parent.mkdir()
    start = " ".join(shlex.quote(word) for word in launch_command(sealed))
    path.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    path.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(path)])
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


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent not in ("vscode", "kiro")])
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
    from memfs.disk.places import Places
    from memfs.trust import changing

    alice = Person("alice", key)
    team = Team(root=project, places=Places(home=sealed))
    team.write_keyring(changing.new_keyring(alice.signer, alice.principal))
    ran = memfs("doctor", cwd=project)
    assert "not pinned" in ran.out
    assert "memfs pin" in ran.out
    assert ran.code == 1


PROJECT_FILES = {
    "claude-code": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "copilot": ".github/hooks/memfs.json",
    "cursor": ".cursor/hooks.json",
    "opencode": ".opencode/plugins/memfs.js",
}


def hostile_settings(agent: str, command: str) -> str:
    if agent == "opencode":
        return f"const MEMFS = {json.dumps(command)}\n"
    event = {"gemini": "BeforeAgent", "copilot": "userPromptSubmitted", "cursor": "beforeSubmitPrompt"}.get(agent)
    handler = {"type": "command", "command": command, "bash": command, "timeout": 10}
    entry = handler if agent in ("copilot", "cursor") else {"hooks": [handler]}
    return json.dumps({"version": 1, "hooks": {event or "UserPromptSubmit": [entry]}})


@pytest.mark.parametrize("agent", PROJECT_FILES)
@pytest.mark.parametrize("form", ["shell", "script", "substitution", "bare"])
def test_the_doctor_runs_no_command_of_a_projects_file(
    *, memfs: Memfs, project: Path, script: Path, tmp_path: Path, agent: str, form: str
) -> None:
    ran = tmp_path / "ran"
    own = project / "memfs"
    own.write_text(f"#!/bin/sh\ntouch {ran}\n")
    own.chmod(0o755)
    command = {
        "shell": f"touch {ran}; ./memfs hook {agent} || true",
        "script": f"./memfs hook {agent}",
        "substitution": f'"$(touch {ran})/memfs" hook {agent} || true',
        "bare": f"memfs hook {agent} || true",
    }[form]
    settings = project / PROJECT_FILES[agent]
    settings.parent.mkdir(parents=True)
    settings.write_text(hostile_settings(agent, command))
    for arguments in (("doctor",), ("doctor", agent)):
        said = memfs(*arguments, cwd=project, env={"PATH": f".:{project}:/usr/bin:/bin"})
        assert "doctor runs no command of a project" in said.out
    assert not ran.exists()


@pytest.mark.parametrize("form", ["shell", "script", "other"])
def test_the_doctor_runs_nothing_but_this_memfs_for_the_user_either(
    *, memfs: Memfs, sealed: Path, project: Path, script: Path, tmp_path: Path, form: str
) -> None:
    ran = tmp_path / "ran"
    for own in (project / "memfs", tmp_path / "memfs"):
        own.write_text(f"#!/bin/sh\ntouch {ran}\n")
        own.chmod(0o755)
    command = {
        "shell": f"touch {ran}; {script} hook claude-code || true",
        "script": "./memfs hook claude-code || true",
        "other": f"{tmp_path}/memfs hook claude-code || true",
    }[form]
    (sealed / ".claude").mkdir()
    (sealed / ".claude" / "settings.json").write_text(hostile_settings("claude-code", command))
    assert says(findings(memfs, project, "claude-code"), "was not tried")["level"] == "unwise"
    assert not ran.exists()


def test_a_hook_that_connect_wrote_into_the_project_is_named_and_fine(
    memfs: Memfs, project: Path, script: Path
) -> None:
    memfs("connect", "claude-code", "--project", "--command", str(script), cwd=project)
    assert says(findings(memfs, project, "claude-code"), "memfs connect wrote it here")["level"] == "good"


def test_codex_is_asked_in_the_home_folder_and_not_in_the_project(
    *, memfs: Memfs, sealed: Path, project: Path, script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    codex = tmp_path / "bin" / "codex"
    codex.parent.mkdir()
    answer = json.dumps({"id": 2, "result": {"data": []}})
    lines = "read a; read b; read c"
    codex.write_text(
        f"#!/bin/sh\npwd >{tmp_path}/where\n{lines}\necho $c >{tmp_path}/asked\necho {shlex.quote(answer)}\n"
    )
    codex.chmod(0o755)
    monkeypatch.setenv("PATH", f"{codex.parent}:/usr/bin:/bin")
    memfs("connect", "codex", "--command", str(script), cwd=project)
    memfs("doctor", "codex", cwd=project)
    assert (tmp_path / "where").read_text().strip() == str(sealed)
    assert str(project) not in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("kind", ["plain", "locked", "gone"])
def test_the_doctor_tries_a_signature(kind: str, memfs: Memfs, team: Team, alice: Person, tmp_path: Path) -> None:
    key = tmp_path / "key"
    shutil.copy(alice.key, key)
    key.chmod(0o600)
    named = str(key)
    if kind == "locked":
        subprocess.run(["ssh-keygen", "-q", "-p", "-N", "secret words", "-f", str(key)], check=True)
    if kind == "gone":
        named = alice.signer.public.text
    (team.places.home / ".gitconfig").write_text(
        (team.places.home / ".gitconfig").read_text() + f"[user]\n\tsigningkey = {named}\n[gpg]\n\tformat = ssh\n"
    )
    rows = memfs("doctor", "--json", cwd=team.root).json["findings"]
    (said,) = [row for row in rows if row["about"] == "keys"]
    words = {"plain": "it signed a test", "locked": "with its passphrase", "gone": "no private key belongs"}[kind]
    assert words in said["message"]
    assert said["level"] == ("unwise" if kind == "gone" else "good")


def test_the_doctor_closes_folders_and_names_what_it_cannot(memfs: Memfs, project: Path, sealed: Path) -> None:
    state = sealed / ".local" / "state" / "memfs"
    (state / "usage").mkdir(parents=True)
    for folder in (state, state / "usage"):
        folder.chmod(0o777)
    assert "folders" not in {row["about"] for row in memfs("doctor", "--json", cwd=project).json["findings"]}
    assert [folder.stat().st_mode & 0o077 for folder in (state, state / "usage")] == [0, 0]
    shutil.rmtree(state)
    state.write_text("")
    said = memfs("doctor", cwd=project)
    assert f"{state}: a folder is needed here" in said.out
    assert said.code == 1


def test_the_doctor_says_where_it_looks_when_home_is_elsewhere(memfs: Memfs, project: Path, tmp_path: Path) -> None:
    said = memfs("doctor", cwd=project, env={"HOME": str(tmp_path)})
    assert f"HOME is {tmp_path}" in said.out


def test_an_agents_settings_follow_home_and_pins_do_not(memfs: Memfs, team: Team, script: Path, tmp_path: Path) -> None:
    home = tmp_path / "container"
    home.mkdir()
    memfs("connect", "claude-code", "--command", str(script), cwd=team.root, env={"HOME": str(home)})
    assert (home / ".claude" / "settings.json").exists()
    assert not (team.places.home / ".claude").exists()
    said = memfs("doctor", "claude-code", cwd=team.root)
    assert "the hook answered" in said.out
    assert f"memfs keeps pins in {team.places.home}" in said.out
