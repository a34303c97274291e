"""Droid of Factory: hooks in Claude Code's format."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent

AGENT = Agent(
    name="droid",
    title="Droid (Factory)",
    known="documentation of November 2026",
    events=CLAUDE_EVENTS,
    shown=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    prompt_event="UserPromptSubmit",
    install={"start": ("SessionStart",), "prompt": ("UserPromptSubmit",), "tool": ("PostToolUse",)},
    handler={"type": "command", "command": HOOK, "timeout": HOOK_SECONDS},
    matcher="Read|Edit|MultiEdit|Create|Execute|ApplyPatch",
    folder=".factory",
    project_folder=".factory",
    hooks="hooks.json",
    project_hooks="hooks.json",
    servers=("mcp.json",),
    project_servers=("mcp.json",),
    server={"type": "stdio", "command": SCRIPT, "args": ARGS},
    skills=".factory/skills",
    project_skills=".factory/skills",
    notes=(("always", "Droid was not run against memfs: this follows its documentation of November 2026."),),
)
