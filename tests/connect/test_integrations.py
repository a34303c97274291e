"""The files that agents load are what their one source says, and fit the agents' own rules."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support import CHECKOUT

from memfs.connect import texts
from memfs.connect.agents import load_agent
from memfs.connect.generic import skill_files


def test_the_folder_is_up_to_date() -> None:
    stale = [
        path
        for path, text in texts.iter_integrations()
        if not (CHECKOUT / path).is_file() or (CHECKOUT / path).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `python integrations/generate.py`"


def test_nothing_stale_lies_beside_it() -> None:
    written = {path for path, _ in texts.iter_integrations()}
    own = {"integrations/README.md", "integrations/generate.py"}
    found = {
        str(path.relative_to(CHECKOUT))
        for folder in ("integrations", ".claude-plugin")
        for path in (CHECKOUT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found - written - own == set()
    shipped = {path for path, _ in texts.iter_integrations() if path.startswith("template-repo/")}
    assert {f"template-repo/{path}" for path, _ in skill_files()} == shipped


def test_hooks_of_the_shared_plugin_use_the_form_that_all_three_agents_take() -> None:
    document = json.loads((CHECKOUT / "integrations" / "plugin" / "hooks" / "hooks.json").read_text())
    handlers = [hook for entries in document["hooks"].values() for entry in entries for hook in entry["hooks"]]
    assert handlers
    for handler in handlers:
        assert set(handler) == {"type", "command", "timeout"}
        assert handler["timeout"] <= 10
        assert handler["command"].endswith("|| true")


def test_the_registry_entry_keeps_to_its_limits() -> None:
    entry = json.loads((CHECKOUT / "integrations" / "server.json").read_text())
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")


def test_the_skill_names_itself_as_agents_require() -> None:
    text = (CHECKOUT / "integrations" / "skills" / "memfs" / "SKILL.md").read_text()
    front = text.split("---\n")[1]
    assert "name: memfs\n" in front
    about = re.search(r"description: (.*)", front)
    assert about is not None
    assert len(about.group(1)) <= 1024
    assert ": " not in about.group(1), "would need quoting in YAML"


def test_the_instructions_stay_short() -> None:
    assert len(texts.INSTRUCTIONS.encode()) < 500
    assert len((texts.INSTRUCTIONS + texts.WRITING).encode()) < 800
    assert len(texts.WHEN.encode()) < 2_000


@pytest.mark.parametrize(
    "rule",
    [
        texts.rule_text(load_agent("cursor").rule_front),
        texts.skill_text(),
        texts.plugin_text("opencode.js", "memfs"),
        texts.plugin_text("pi.ts", "memfs"),
    ],
)
def test_what_memfs_wrote_can_be_told_from_what_it_did_not(rule: str) -> None:
    assert texts.MARK in rule


def test_the_opencode_plugin_is_javascript(tmp_path: Path) -> None:
    import shutil
    import subprocess

    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    path = tmp_path / "memfs.mjs"
    path.write_text(texts.plugin_text("opencode.js", '/my home/it\'s "memfs"', ["start"]))
    subprocess.run([node, "--check", path], check=True)
