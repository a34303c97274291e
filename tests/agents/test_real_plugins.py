"""The plugin and the extension, installed by the real agents from this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support import CHECKOUT

from agents.clients import ClaudeCode, Client, Codex, Copilot, Gemini
from agents.test_real_clients import APPROVED, FRAME, World, inside_frame
from memfs.capture.stub import Model, Say, Use

pytestmark = pytest.mark.slow

INSTALL: dict[type[Client], list[list[str]]] = {
    ClaudeCode: [["plugin", "marketplace", "add", "CHECKOUT"], ["plugin", "install", "memfs@memfs"]],
    Codex: [["plugin", "marketplace", "add", "CHECKOUT"], ["plugin", "add", "memfs@memfs"]],
    Copilot: [["plugin", "marketplace", "add", "CHECKOUT"], ["plugin", "install", "memfs@memfs"]],
    Gemini: [["extensions", "install", "--consent", "CHECKOUT/integrations/gemini-extension"]],
}
ALLOWED = {ClaudeCode: ["--allowedTools", "mcp__plugin_memfs_memfs"]}


@pytest.mark.parametrize("kind", INSTALL, ids=[kind.agent for kind in INSTALL])
def test_the_plugin_brings_hooks_server_and_skill(
    kind: type[Client], tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = kind.find()
    if program is None:
        pytest.skip(f"{kind.agent} is not installed (tests/agents/install_clients.sh)")
    world = World(kind, tmp_path, key)
    monkeypatch.setenv("PATH", f"{world.script.parent}:{os.environ['PATH']}")
    source = tmp_path / "checkout"  # agents may write beside what they install from
    shutil.copytree(CHECKOUT / "integrations", source / "integrations")
    shutil.copytree(CHECKOUT / ".claude-plugin", source / ".claude-plugin")
    with Model() as model:
        world.client.settings(model.url)
        for words in INSTALL[kind]:
            done = subprocess.run(
                [program, *(word.replace("CHECKOUT", str(source)) for word in words)],
                cwd=world.project,
                env={"PATH": os.environ["PATH"], "HOME": str(world.home), **world.client.variables(model.url)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=120,
            )
            assert done.returncode == 0, (done.stdout + done.stderr).decode()
        model.plan[:] = [Use(world.client.recall_tool, {"query": "billing migrations"}), Say()]
        arguments = world.client.arguments
        monkeypatch.setattr(world.client, "arguments", lambda prompt: [*arguments(prompt), *ALLOWED.get(kind, [])])
        ran = world.client.run(model.url, "How do we do billing migrations here?")
    assert ran.code == 0, ran.out[-2000:]
    first, *_, last = model.loop
    assert "approved" in inside_frame(first.conversation, APPROVED)
    brief_and_prompt = 2
    assert first.conversation.count(FRAME) - first.conversation.count(f"End of {FRAME.lower()}") <= brief_and_prompt
    assert any("memfs" in name and "recall" in name for name in first.tools), first.tools
    assert "recorded decisions, procedures and preferences before deciding" in first.everything, "no skill is offered"
    assert last.conversation.count(APPROVED) > first.conversation.count(APPROVED)
    assert world.log() == ""
    refused = subprocess.run(
        [world.script, "connect", kind.agent, "--command", str(world.script)],
        cwd=world.project,
        env={**os.environ, "HOME": str(world.home)},
        capture_output=True,
    )
    assert b"would run twice" in refused.stderr
