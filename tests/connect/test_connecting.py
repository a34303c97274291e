"""Connecting leaves everything that was there, and disconnecting leaves nothing of ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import Run

from memfs.connect.agents import AGENTS
from memfs.connect.json_text import load

SETTINGS = {
    "claude-code": {".claude/settings.json": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}\n'},
    "codex": {".codex/config.toml": 'model = "gpt-5"  # keep\n', ".codex/hooks.json": '{\n "hooks": {}\n}'},
    "gemini": {".gemini/settings.json": '{\n\t"ui": {"theme": "x"}\n}\n'},
    "copilot": {".copilot/mcp-config.json": '{"mcpServers": {"other": {"command": "x"}}}'},
    "opencode": {".config/opencode/opencode.json": '{\r\n  "model": "m"\r\n}\r\n'},
    "cursor": {".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "mine"}]}}'},
    "devin": {".codeium/windsurf/mcp_config.json": '{"mcpServers": {}}', ".config/devin/config.json": "{}"},
    "qwen": {".qwen/settings.json": '{\n  "model": {"name": "x"}, // mine\n}\n'},
    "kilo": {".config/kilo/kilo.jsonc": '{\n  // mine\n  "model": "m",\n}\n'},
    "pi": {".pi/agent/settings.json": "{}"},
    "droid": {".factory/mcp.json": '{"mcpServers": {"other": {"command": "x"}}}'},
    "vscode": {".config/Code/User/mcp.json": '{"servers": {}, "inputs": []}'},
    "kiro": {".kiro/settings/mcp.json": "{}"},
}


def files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and ".local" not in path.parts
    }


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "my home" / "bin" / "memfs"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\necho memfs-ran\n")
    path.chmod(0o755)
    return path


Memfs = Callable[..., Run]


@pytest.fixture
def project(repo: Path, script: Path) -> Path:
    return repo


def put(home: Path, agent: str) -> None:
    for name, text in SETTINGS[agent].items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_is_left_of_a_connection(memfs: Memfs, sealed: Path, project: Path, script: Path, agent: str) -> None:
    put(sealed, agent)
    before = files(sealed)
    connect = ["connect", agent, "--mcp", "--command", str(script)]
    assert memfs(*connect, cwd=project).code == 0
    connected = files(sealed)
    assert connected != before
    assert "unchanged" in memfs(*connect, cwd=project).out
    assert files(sealed) == connected
    for name, text in before.items():
        if name.endswith(".json"):
            assert set(load(text.decode())) <= set(load(connected[name].decode()))
    assert memfs("disconnect", agent, cwd=project).code == 0
    assert files(sealed) == before
    assert memfs("disconnect", agent, cwd=project).out == "memfs is not connected there\n"


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_without_settings_has_none_afterwards(
    memfs: Memfs, sealed: Path, project: Path, script: Path, agent: str
) -> None:
    before = files(sealed)
    memfs("connect", agent, "--mcp", "--command", str(script), cwd=project)
    assert files(sealed) != before
    memfs("disconnect", agent, cwd=project)
    assert files(sealed) == before
    left = {path.name for path in sealed.iterdir()}
    assert left <= {".gitconfig", ".local"}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_project_connection_touches_the_project_alone(
    memfs: Memfs, sealed: Path, project: Path, script: Path, agent: str
) -> None:
    home, before = files(sealed), files(project)
    ran = memfs("connect", agent, "--project", "--mcp", "--command", str(script), cwd=project)
    assert ran.code == 0, ran.err
    assert files(sealed) == home
    assert files(project) != before
    memfs("disconnect", agent, "--project", cwd=project)
    assert files(project) == before


def test_what_changed_meanwhile_stays_when_memfs_is_taken_out(memfs: Memfs, sealed: Path, script: Path) -> None:
    put(sealed, "claude-code")
    memfs("connect", "claude-code", "--mcp", "--command", str(script))
    settings = sealed / ".claude" / "settings.json"
    later = json.loads(settings.read_text())
    later["model"] = "opus"
    later["hooks"]["UserPromptSubmit"].insert(0, {"hooks": [{"type": "command", "command": "another"}]})
    later["hooks"]["UserPromptSubmit"][1]["hooks"].append({"type": "command", "command": "joined ours"})
    settings.write_text(json.dumps(later, indent=3))
    memfs("disconnect", "claude-code")
    left = json.loads(settings.read_text())
    assert "memfs" not in settings.read_text()
    assert left["model"] == "opus"
    assert left["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "mine"}]}]
    commands = [hook["command"] for entry in left["hooks"]["UserPromptSubmit"] for hook in entry["hooks"]]
    assert commands == ["another", "joined ours"]
    assert not (sealed / ".claude.json").exists()


def test_a_changed_wish_replaces_the_old_one(memfs: Memfs, sealed: Path, script: Path) -> None:
    memfs("connect", "claude-code", "--mcp", "--command", str(script))
    memfs("connect", "claude-code", "--hooks", "prompt", "--command", str(script))
    hooks = json.loads((sealed / ".claude" / "settings.json").read_text())["hooks"]
    assert list(hooks) == ["UserPromptSubmit"]
    assert not (sealed / ".claude.json").exists()


def test_a_lost_record_does_not_lose_the_way_back(memfs: Memfs, sealed: Path, script: Path) -> None:
    put(sealed, "codex")
    before = {name: tomllib.loads(raw.decode()) for name, raw in files(sealed).items() if name.endswith(".toml")}
    memfs("connect", "codex", "--mcp", "--command", str(script))
    shutil.rmtree(sealed / ".local")
    memfs("disconnect", "codex")
    after = {name: tomllib.loads(raw.decode()) for name, raw in files(sealed).items() if name.endswith(".toml")}
    assert after == before
    assert "memfs" not in (sealed / ".codex" / "config.toml").read_text()
    assert b"memfs" not in files(sealed).get(".codex/hooks.json", b"")


def test_the_hook_command_is_quoted_timed_and_harmless_when_memfs_is_gone(
    memfs: Memfs, sealed: Path, script: Path
) -> None:
    memfs("connect", "claude-code", "--command", str(script))
    hooks = json.loads((sealed / ".claude" / "settings.json").read_text())["hooks"]
    for entries in hooks.values():
        for hook in entries[0]["hooks"]:
            assert hook["timeout"] <= 10
            ran = subprocess.run(["/bin/sh", "-c", hook["command"]], capture_output=True, text=True)
            assert (ran.returncode, ran.stdout) == (0, "memfs-ran\n")
    script.unlink()
    assert subprocess.run(["/bin/sh", "-c", hook["command"]], capture_output=True).returncode == 0


def test_geminis_timeout_is_in_milliseconds(memfs: Memfs, sealed: Path, script: Path) -> None:
    memfs("connect", "gemini", "--command", str(script))
    hooks = json.loads((sealed / ".gemini" / "settings.json").read_text())["hooks"]
    assert {hook["timeout"] for entries in hooks.values() for entry in entries for hook in entry["hooks"]} == {10_000}


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "opencode"])
def test_a_damaged_file_is_refused_whole_and_says_what_to_paste(
    memfs: Memfs, sealed: Path, script: Path, agent: str
) -> None:
    name = next(iter(SETTINGS[agent]))
    (sealed / name).parent.mkdir(parents=True)
    (sealed / name).write_text('{\n  "model" "opus"\n}\n')
    before = files(sealed)
    ran = memfs("connect", agent, "--mcp", "--command", str(script))
    assert ran.code == 2
    assert "line 2: not JSON" in ran.err
    pasted = json.loads(ran.err[ran.err.index("\n{") :])
    assert "memfs" in json.dumps(pasted)
    assert files(sealed) == before, "one of several files was written"
    assert memfs("disconnect", agent).code == 0


COMMENTED = '\ufeff{\n  // my comment\n  "model": "opus", // mine\n  "list": [1, 2,],\n}\n'


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "opencode"])
@pytest.mark.parametrize("text", [COMMENTED, COMMENTED.removeprefix("\ufeff"), "\ufeff", "{ /* nothing */ }"])
def test_comments_trailing_commas_and_the_byte_order_mark_are_kept(
    memfs: Memfs, sealed: Path, script: Path, agent: str, text: str
) -> None:
    name = next(iter(SETTINGS[agent]))
    (sealed / name).parent.mkdir(parents=True)
    (sealed / name).write_text(text)
    before = files(sealed)
    connect = ["connect", agent, "--mcp", "--command", str(script)]
    assert memfs(*connect).code == 0
    assert text.startswith("\ufeff") == (sealed / name).read_text().startswith("\ufeff")
    connected = files(sealed)
    assert "unchanged" in memfs(*connect).out
    assert files(sealed) == connected
    shutil.rmtree(sealed / ".local")  # what it was is not remembered: memfs's entries are found by themselves
    assert memfs("disconnect", agent).code == 0
    left = files(sealed)
    if text != "\ufeff":  # an empty file may be one that memfs made
        assert "".join(left[name].decode().split()) == "".join(text.split())
    assert {key: value for key, value in left.items() if key != name} == {
        key: value for key, value in before.items() if key != name
    }


def codex_writes(config: Path) -> None:
    """Write what Codex itself writes: tables of its own among memfs's, and approvals in memfs's."""
    text = config.read_text()
    text = text.replace("[mcp_servers.memfs]", "[features]\ngoals = true\n\n[mcp_servers.memfs]\nenabled = true")
    state = '[hooks.state]\n\n[hooks.state."/h/hooks.json:user_prompt_submit:0:0"]\ntrusted_hash = "sha256:ab"\n'
    approval = '\n[mcp_servers.memfs.tools.recall]\napproval_mode = "approve"\n'
    config.write_text(text + approval + state + '\n[tui]\ntheme = "x"\n\n[mcp_servers.mydb]\ncommand = "true"\n')


def test_what_codex_writes_into_its_file_stays(memfs: Memfs, sealed: Path, script: Path) -> None:
    put(sealed, "codex")
    config = sealed / ".codex" / "config.toml"
    connect = ["connect", "codex", "--mcp", "--command", str(script)]
    memfs(*connect)
    codex_writes(config)
    written = config.read_text()
    assert "unchanged" in memfs(*connect).out
    assert config.read_text() == written
    memfs("connect", "codex", "--write", "--command", str(script))
    values = tomllib.loads(config.read_text())
    server = {**tomllib.loads(written)["mcp_servers"]["memfs"], "args": ["mcp", "--allow", "write"]}
    assert values == {**tomllib.loads(written), "mcp_servers": {"mydb": {"command": "true"}, "memfs": server}}
    memfs("disconnect", "codex")
    left = tomllib.loads(config.read_text())
    assert left.pop("mcp_servers") == {"mydb": {"command": "true"}}
    assert left == {key: value for key, value in values.items() if key != "mcp_servers"}
    assert 'model = "gpt-5"  # keep\n' in config.read_text()


@pytest.mark.parametrize(
    "begin", ["# memfs: begin (written by `memfs connect`, taken out by `memfs disconnect`)\n", ""]
)
def test_the_marked_block_of_an_older_memfs_is_taken_over(memfs: Memfs, sealed: Path, script: Path, begin: str) -> None:
    config = sealed / ".codex" / "config.toml"
    config.parent.mkdir()
    theirs = "[features]\ngoals = true\n"
    server = f'[mcp_servers.memfs]\ncommand = "{script}"\nargs = ["mcp"]\n'
    config.write_text(f'model = "gpt-5"\n\n{begin}{server}{theirs}# memfs: end\n')
    assert memfs("connect", "codex", "--mcp", "--command", str(script)).code == 0
    memfs("disconnect", "codex")
    assert tomllib.loads(config.read_text()) == {"model": "gpt-5", "features": {"goals": True}}
    assert "memfs" not in config.read_text()


def test_a_form_that_memfs_does_not_edit_is_refused_and_left(memfs: Memfs, sealed: Path, script: Path) -> None:
    config = sealed / ".codex" / "config.toml"
    config.parent.mkdir()
    text = f'mcp_servers = {{ memfs = {{ command = "{script}", args = ["mcp"] }}, mydb = {{ command = "true" }} }}\n'
    config.write_text(text)
    for verb in (["connect", "codex", "--write", "--command", str(script)], ["disconnect", "codex"]):
        ran = memfs(*verb)
        assert ran.code == 2
        assert "cannot be edited safely" in ran.err
        assert config.read_text() == text
        assert not (sealed / ".codex" / "hooks.json").exists()


def test_hooks_stay_in_their_places_so_that_what_codex_trusts_stays_trusted(
    memfs: Memfs, sealed: Path, script: Path
) -> None:
    memfs("connect", "codex", "--command", str(script))
    settings = sealed / ".codex" / "hooks.json"
    document = json.loads(settings.read_text())
    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    document["hooks"]["UserPromptSubmit"].append(mine)
    document["hooks"]["UserPromptSubmit"][0]["hooks"][0]["statusMessage"] = "memories"
    settings.write_text(json.dumps(document))
    other = script.with_name("memfs-two")
    other.write_bytes(script.read_bytes())
    other.chmod(0o755)
    memfs("connect", "codex", "--command", str(other))
    ours, theirs = json.loads(settings.read_text())["hooks"]["UserPromptSubmit"]
    assert theirs == mine
    assert str(other) in ours["hooks"][0]["command"]
    assert ours["hooks"][0]["statusMessage"] == "memories"


def test_a_program_of_another_name_is_known_without_a_record(memfs: Memfs, sealed: Path, script: Path) -> None:
    other = script.with_name("my-own-program")
    other.write_bytes(script.read_bytes())
    other.chmod(0o755)
    before = files(sealed)
    memfs("connect", "claude-code", "--mcp", "--command", str(other))
    shutil.rmtree(sealed / ".local")
    memfs("disconnect", "claude-code")
    assert files(sealed) == before


def test_a_file_that_the_agent_gave_a_schema_to_is_deleted_with_ours(
    memfs: Memfs, project: Path, sealed: Path, script: Path
) -> None:
    memfs("connect", "opencode", "--project", "--mcp", "--command", str(script), cwd=project)
    config = project / "opencode.json"
    document = {"$schema": "https://example.com/config.json", **json.loads(config.read_text())}
    config.write_text(json.dumps(document))
    memfs("disconnect", "opencode", "--project", cwd=project)
    assert not config.exists()


def test_a_symlinked_file_stays_a_link(memfs: Memfs, sealed: Path, script: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text('{"model":"opus"}\n')
    target.chmod(0o640)
    (sealed / ".claude").mkdir()
    link = sealed / ".claude" / "settings.json"
    link.symlink_to(target)
    memfs("connect", "claude-code", "--command", str(script))
    assert link.is_symlink()
    assert "memfs" in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640
    memfs("disconnect", "claude-code")
    assert target.read_text() == '{"model":"opus"}\n'


def test_a_link_to_nowhere_is_not_filled(memfs: Memfs, sealed: Path, script: Path, tmp_path: Path) -> None:
    (sealed / ".claude").mkdir()
    (sealed / ".claude" / "settings.json").symlink_to(tmp_path / "gone.json")
    ran = memfs("connect", "claude-code", "--command", str(script))
    assert ran.code == 3
    assert "a link to a file that is not there" in ran.err


def test_somebody_elses_change_between_reading_and_writing_wins(
    memfs: Memfs, sealed: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memfs.connect import install

    put(sealed, "claude-code")
    settings = sealed / ".claude" / "settings.json"
    swap = install.swap

    def late(snapshot: Any, content: bytes | None) -> None:
        if snapshot.path == settings:
            settings.write_text('{"theirs": true}')
        swap(snapshot, content)

    monkeypatch.setattr(install, "swap", late)
    ran = memfs("connect", "claude-code", "--command", str(script))
    assert ran.code == 3
    assert "somebody else changed it" in ran.err
    assert settings.read_text() == '{"theirs": true}'


def test_a_failure_at_the_second_file_takes_the_first_back(memfs: Memfs, sealed: Path, script: Path) -> None:
    put(sealed, "claude-code")
    before = files(sealed)
    (sealed / ".claude.json").mkdir()
    ran = memfs("connect", "claude-code", "--mcp", "--command", str(script))
    assert ran.code == 3
    assert files(sealed) == before


def test_where_the_way_back_cannot_be_kept_nothing_is_written(memfs: Memfs, sealed: Path, script: Path) -> None:
    put(sealed, "claude-code")
    (sealed / ".local").mkdir(exist_ok=True)
    (sealed / ".local" / "state").write_text("a file where a folder should be")
    before = files(sealed)
    ran = memfs("connect", "claude-code", "--mcp", "--command", str(script))
    assert ran.code == 3
    assert f"{sealed}/.local/state: a folder is needed here" in ran.err
    assert files(sealed) == before


def test_a_server_of_the_same_name_is_not_overwritten(memfs: Memfs, sealed: Path, script: Path) -> None:
    (sealed / ".claude.json").write_text('{"mcpServers": {"memfs": {"command": "another"}}}')
    ran = memfs("connect", "claude-code", "--mcp", "--command", str(script))
    assert ran.code == 2
    assert "another entry is called mcpServers.memfs" in ran.err
    assert memfs("disconnect", "claude-code").code == 0
    assert "another" in (sealed / ".claude.json").read_text()


def test_hooks_are_not_installed_twice_for_one_agent(memfs: Memfs, sealed: Path, project: Path, script: Path) -> None:
    connect = ["--command", str(script)]
    memfs("connect", "claude-code", *connect, cwd=project)
    ran = memfs("connect", "claude-code", "--project", *connect, cwd=project)
    assert ran.code == 2
    assert "would run twice" in ran.err
    memfs("disconnect", "claude-code", cwd=project)
    assert memfs("connect", "claude-code", "--project", *connect, cwd=project).code == 0
    assert "would run twice" in memfs("connect", "claude-code", *connect, cwd=project).err
    ran = memfs("connect", "copilot", "--project", *connect, cwd=project)
    assert ran.code == 2
    assert "settings.local.json" in ran.err
    assert not (project / ".github").exists()


def test_a_plugin_and_settings_are_not_both_used(memfs: Memfs, sealed: Path, script: Path) -> None:
    (sealed / ".claude").mkdir()
    (sealed / ".claude" / "settings.json").write_text('{"enabledPlugins": {"memfs@memfs": true}}')
    assert "would run twice" in memfs("connect", "claude-code", "--command", str(script)).err
    assert memfs("connect", "claude-code", "--hooks", "none", "--mcp", "--command", str(script)).code == 0


def test_codex_keeps_its_comments_and_gets_its_hooks_where_its_owner_has_them(
    memfs: Memfs, sealed: Path, script: Path
) -> None:
    config = sealed / ".codex" / "config.toml"
    config.parent.mkdir()
    theirs = 'model = "gpt-5"  # keep\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "mine"\n'
    config.write_text(theirs)
    memfs("connect", "codex", "--mcp", "--command", str(script))
    text = config.read_text()
    assert text.startswith(theirs)
    assert tomllib.loads(text)["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"] == 10
    assert not (sealed / ".codex" / "hooks.json").exists()


def test_the_environments_own_script_is_named(memfs: Memfs, sealed: Path, script: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.prefix", str(script.parent.parent))
    assert memfs("connect", "claude-code").code == 0
    assert str(script) in (sealed / ".claude" / "settings.json").read_text()


def test_a_memfs_without_a_script_says_so(memfs: Memfs, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr("sys.argv", [str(tmp_path / "-c")])
    assert "no script of its own" in memfs("connect", "claude-code").err


def test_the_mcp_server_writes_only_when_asked(memfs: Memfs, sealed: Path, script: Path) -> None:
    memfs("connect", "claude-code", "--mcp", "--command", str(script))
    server = json.loads((sealed / ".claude.json").read_text())["mcpServers"]["memfs"]
    assert server["args"] == ["mcp"]
    memfs("connect", "claude-code", "--write", "--command", str(script))
    server = json.loads((sealed / ".claude.json").read_text())["mcpServers"]["memfs"]
    assert server["args"] == ["mcp", "--allow", "write"]


@pytest.mark.shared
def test_the_handed_case_of_a_place_that_is_used(memfs: Memfs, shared: Path, tmp_path: Path, script: Path) -> None:
    place = tmp_path / "case"
    make = shared / "cases" / "23-existing-hooks" / "make.sh"
    subprocess.run(["bash", make, place], check=True, capture_output=True, env=dict(os.environ))
    home = place / "home"
    for agent in ("claude-code", "codex"):
        assert memfs("connect", agent, "--mcp", "--command", str(script), home=home).code == 0
    settings = home / ".claude" / "settings.json"
    assert settings.is_symlink()
    connected = json.loads(settings.read_text())
    assert connected["unknownKey"] == {"keep": [1, 2]}
    assert connected["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"] == "echo mine"
    assert "# keep" in (home / ".codex" / "config.toml").read_text()
    once = files(home)
    for agent in ("claude-code", "codex"):
        memfs("connect", agent, "--mcp", "--command", str(script), home=home)
    assert files(home) == once
    for agent in ("claude-code", "codex"):
        memfs("disconnect", agent, home=home)
    checked = subprocess.run(["sha256sum", "--quiet", "-c", "sha256.txt"], cwd=place, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_a_link_of_the_project_does_not_choose_a_file_outside_it(
    memfs: Memfs, sealed: Path, project: Path, script: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}\n")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (project / ".cursor").mkdir()
    (project / ".cursor/hooks.json").symlink_to(other)
    refused = memfs("connect", "cursor", "--project", "--command", str(script), cwd=project)
    assert refused.code == 3
    assert "leads out of the project" in refused.err
    (project / ".cursor/hooks.json").unlink()
    (project / ".cursor").rmdir()
    (project / ".cursor").symlink_to(folder)
    assert memfs("connect", "cursor", "--project", "--mcp", "--command", str(script), cwd=project).code == 3
    assert other.read_text() == "{}\n"
    assert list(folder.iterdir()) == []


def test_a_pipe_in_the_place_of_settings_does_not_hang(memfs: Memfs, sealed: Path, script: Path) -> None:
    (sealed / ".claude").mkdir(exist_ok=True)
    os.mkfifo(sealed / ".claude/settings.json")
    run = memfs("connect", "claude-code", "--command", str(script))
    assert run.code == 3
    assert "not a settings file" in run.err
    assert memfs("doctor", "claude-code").code in (0, 1)
