"""Qwen Code: Claude Code's hooks, with Gemini's milliseconds."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent

AGENT = Agent(
    name="qwen",
    title="Qwen Code",
    known="run: 0.24.4",
    events=CLAUDE_EVENTS,
    shown=frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    sample={"timestamp": "1970-01-01T00:00:00Z"},
    prompt_event="UserPromptSubmit",
    install={"start": ("SessionStart",), "prompt": ("UserPromptSubmit",), "tool": ("PostToolUse",)},
    handler={"name": "memfs", "type": "command", "command": HOOK, "timeout": HOOK_SECONDS * 1000},
    matcher="read_file|read_many_files|write_file|edit|replace|run_shell_command",
    milliseconds=True,
    folder=".qwen",
    project_folder=".qwen",
    hooks="settings.json",
    project_hooks="settings.json",
    servers=("settings.json",),
    project_servers=("settings.json",),
    server={"command": SCRIPT, "args": ARGS},
    skills=".qwen/skills",
    project_skills=".qwen/skills",
)
