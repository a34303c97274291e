"""opencode: no command hooks, but a plugin of its own that asks memfs."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, SCRIPT, Agent

AGENT = Agent(
    name="opencode",
    title="opencode",
    known="run: 1.18.33",
    events=CLAUDE_EVENTS,
    shown=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    prompt_event="UserPromptSubmit",
    plugin=("plugins/memfs.js", "opencode.js"),
    folder=".config/opencode",
    project_folder=".opencode",
    servers=("opencode.jsonc", "opencode.json"),
    project_servers=("~/opencode.jsonc", "~/opencode.json"),
    servers_key="mcp",
    server={"type": "local", "command": [SCRIPT, ARGS], "enabled": True},
)
