"""An exported file is read by the real agents that know no hook of memfs's: the approved memories are in it, alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agents.clients import ClaudeCode
from agents.test_real_clients import APPROVED, UNAPPROVED, World, ask, model, world
from memfs.capture.stub import Model, Say, Use

__all__ = ["model", "world"]
pytestmark = pytest.mark.slow

TARGETS = {"gemini": "gemini"}
"""The file that an agent reads, where it does not read AGENTS.md."""


def test_an_exported_file_reaches_the_model(world: World, model: Model) -> None:
    world.client.settings(model.url)
    assert not any(APPROVED in asked.everything for asked in ask(world, model, "hello there", Say()))
    world.memfs("export", TARGETS.get(world.client.agent, "agents"))
    requests = ask(world, model, "hello again", Say())
    assert any(APPROVED in asked.everything for asked in requests)
    assert not any(UNAPPROVED in asked.everything for asked in requests)


def test_what_claude_code_keeps_for_itself_comes_in(tmp_path: Path, key: Path, model: Model) -> None:
    if ClaudeCode.find() is None:
        pytest.skip("claude-code is not installed (tests/agents/install_clients.sh)")
    world = World(ClaudeCode, tmp_path, key)
    world.client.settings(model.url)
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(world.project))
    folder = world.home / ".claude/projects" / slug / "memory"
    note = (
        "---\nname: deploys-on-tuesdays\ndescription: When deploys happen\nmetadata:\n  type: project\n---\n\n"
        "Deploys of the billing workers happen on Tuesdays, before noon.\n"
    )
    write = Use("^Write$", {"file_path": str(folder / "deploys.md"), "content": note})
    index = Use("^Write$", {"file_path": str(folder / "MEMORY.md"), "content": "- [Deploys](deploys.md) when\n"})
    ask(world, model, "Remember that deploys happen on Tuesdays.", write, index, Say())
    assert (folder / "deploys.md").is_file(), "the client did not write its memory"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = json.loads(world.memfs("import", str(folder), "--yes", "--json"))
    assert [entry["id"] for entry in done["entries"] if entry["outcome"] == "new"] == ["deploys-on-tuesdays"]
    text = (world.project / "memories/team/deploys-on-tuesdays.md").read_text()
    assert "Deploys of the billing workers happen on Tuesdays" in text
    assert "origin: imported\n" in text
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    again = json.loads(world.memfs("import", str(folder), "--yes", "--json"))
    assert again["commit"] is None
