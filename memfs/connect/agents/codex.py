"""Codex."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent

AGENT = Agent(
    name="codex",
    title="Codex",
    known="run: 0.171.0",
    events=CLAUDE_EVENTS,
    shown=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    refuses_other_keys=True,
    sample={"turn_id": "memfs-doctor"},
    prompt_event="UserPromptSubmit",
    install={"start": ("SessionStart",), "prompt": ("UserPromptSubmit",), "tool": ("PreToolUse",)},
    handler={"type": "command", "command": HOOK, "timeout": HOOK_SECONDS},
    folder=".codex",
    project_folder=".codex",
    hooks="hooks.json",
    project_hooks="hooks.json",
    # Codex warns where one folder has hooks in both files: memfs's join those that are there.
    hooks_toml="config.toml",
    servers=("config.toml",),
    project_servers=("config.toml",),
    servers_key="mcp_servers",
    server={"command": SCRIPT, "args": ARGS},
    moved_by="CODEX_HOME",
    plugins_in="config.toml",
    notes=(
        ("hooks", "Codex runs a hook only when you trust it: start codex, type /hooks, and trust memfs."),
        ("project", "Codex reads a project's settings only in a project that you trust."),
    ),
)
