"""Kilo: a fork of opencode, with its plugins and settings."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, SCRIPT, Agent

AGENT = Agent(
    name="kilo",
    title="Kilo Code CLI",
    known="run: 7.7.9",
    events=CLAUDE_EVENTS,
    shown=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    prompt_event="UserPromptSubmit",
    plugin=("plugins/memfs.js", "opencode.js"),
    folder=".config/kilo",
    project_folder=".kilo",
    servers=("kilo.jsonc", "kilo.json"),
    project_servers=("kilo.jsonc", "kilo.json"),
    servers_key="mcp",
    server={"type": "local", "command": [SCRIPT, ARGS], "enabled": True},
)
