"""Claude Code."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CLAUDE_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent

AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    known="run: 2.1.332",
    events=CLAUDE_EVENTS,
    shown=frozenset(
        {"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"}
    ),
    person_key="systemMessage",
    sample={"prompt_id": "memfs-doctor"},
    prompt_event="UserPromptSubmit",
    install={
        "start": ("SessionStart", "SubagentStart"),
        "prompt": ("UserPromptSubmit",),
        "tool": ("PreToolUse",),
    },
    handler={"type": "command", "command": HOOK, "timeout": HOOK_SECONDS},
    matcher="Read|Edit|MultiEdit|Write|NotebookEdit|Bash",
    folder=".claude",
    project_folder=".claude",
    hooks="settings.json",
    # The local file: the command names a path of this machine, and settings.json is checked in.
    project_hooks="settings.local.json",
    servers=("~/.claude.json",),
    project_servers=("~/.mcp.json",),
    server={"type": "stdio", "command": SCRIPT, "args": ARGS},
    skills=".claude/skills",
    project_skills=".claude/skills",
    moved_by="CLAUDE_CONFIG_DIR",
    plugins_in="settings.json",
)
