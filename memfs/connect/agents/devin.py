"""Devin, which Windsurf became in June 2026. Its hooks have Claude Code's format."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent, Moment

AGENT = Agent(
    name="devin",
    title="Devin (Windsurf)",
    known="documentation of November 2026",
    events={**CLAUDE_EVENTS, "PostCompact": Moment.COMPACT},
    shown=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    prompt_event="UserPromptSubmit",
    install={"start": ("SessionStart", "PostCompact"), "prompt": ("UserPromptSubmit",), "tool": ("PreToolUse",)},
    handler={"type": "command", "command": HOOK, "timeout": HOOK_SECONDS},
    matcher="exec|read|edit|write",
    folder=".config/devin",
    project_folder=".devin",
    hooks="config.json",
    # The local file: the command names a path of this machine, and config.json is checked in.
    project_hooks="config.local.json",
    servers=("mcp_config.json",),
    project_servers=("mcp_config.json",),
    more_servers=("~/.codeium/windsurf/mcp_config.json",),
    server={"command": SCRIPT, "args": ARGS},
    rule="rules/memfs.md",
    rule_front="trigger: always_on\n",
    reads_hooks_of="claude-code",
    notes=(("always", "Devin was not run against memfs: this follows its documentation of November 2026."),),
)
