"""Agents that memfs has no row for get the skill and a snippet; a skill that several agents read is taken out last."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import Run

from memfs.connect.agents import AGENTS, load_agent
from memfs.connect.texts import skill_text

Memfs = Callable[..., Run]
SHARED = ".agents/skills/memfs/SKILL.md"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "memfs"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_any_agent_gets_the_skill_and_a_snippet_to_paste(memfs: Memfs, sealed: Path, repo: Path, script: Path) -> None:
    ran = memfs("connect", "--skill", "--write", "--command", str(script), cwd=repo)
    assert ran.code == 0, ran.err
    for name in (SHARED, ".claude/skills/memfs/SKILL.md"):
        assert (sealed / name).read_text() == skill_text()
    pasted = json.loads(ran.out[ran.out.index("{") :])["mcpServers"]["memfs"]
    assert pasted == {"command": str(script), "args": ["mcp", "--allow", "write"]}
    assert memfs("connect", "--skill", "--project", "--command", str(script), cwd=repo).code == 0
    assert (repo / SHARED).read_text() == skill_text()
    assert memfs("connect", cwd=repo).code == 2


def test_a_skill_of_somebody_else_is_left(memfs: Memfs, sealed: Path, script: Path) -> None:
    own = sealed / SHARED
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    ran = memfs("connect", "codex", "--command", str(script))
    assert ran.code == 2
    assert own.read_text() == "mine"
    assert not (sealed / ".codex").exists()
    assert memfs("connect", "codex", "--no-skill", "--command", str(script)).code == 0


def test_a_skill_stays_while_another_agent_reads_it(memfs: Memfs, sealed: Path, script: Path) -> None:
    memfs("connect", "codex", "--command", str(script))
    memfs("connect", "gemini", "--command", str(script))
    memfs("disconnect", "codex")
    assert (sealed / SHARED).exists()
    memfs("disconnect", "gemini")
    assert not (sealed / ".agents").exists()


def test_the_old_name_of_devin_writes_both_files(memfs: Memfs, sealed: Path, script: Path) -> None:
    memfs("connect", "windsurf", "--mcp", "--command", str(script))
    for name in (".config/devin/mcp_config.json", ".codeium/windsurf/mcp_config.json"):
        assert "memfs" in json.loads((sealed / name).read_text())["mcpServers"]
    memfs("disconnect", "windsurf")
    assert not (sealed / ".codeium").exists()


def test_a_server_that_cannot_start_is_not_installed(
    memfs: Memfs, sealed: Path, script: Path, monkeypatch: Any
) -> None:
    from memfs.cli import connect_command

    monkeypatch.setattr(connect_command, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.prefix", str(script.parent.parent))
    ran = memfs("connect", "claude-code", "--mcp")
    assert ran.code == 3
    assert "extra 'mcp'" in ran.err
    assert not (sealed / ".claude").exists()
    assert memfs("connect", "claude-code").code == 0


@pytest.mark.parametrize("agent", AGENTS)
def test_every_row_says_how_it_is_known_and_names_its_file(agent: str) -> None:
    row = load_agent(agent)
    assert row.name == agent
    assert row.known.startswith(("run: ", "documentation of "))
    assert row.folder
    assert row.project_folder
    assert set(row.shown) <= set(row.events)
    for events in (row.install or {}).values():
        assert set(events) <= set(row.events)
