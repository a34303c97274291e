"""Copilot CLI."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CAMEL_EVENTS, CLAUDE_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent

AGENT = Agent(
    name="copilot",
    title="Copilot CLI",
    known="run: 1.0.102",
    events={**CLAUDE_EVENTS, **CAMEL_EVENTS},
    context_key="additionalContext",
    sample={"sessionId": "memfs-doctor", "timestamp": 0},
    # It stops a tool whose preToolUse hook fails; and it starts no session after a compaction.
    install={
        "start": ("sessionStart", "preCompact"),
        "prompt": ("userPromptSubmitted",),
        "tool": ("postToolUse",),
    },
    nested=False,
    handler={"type": "command", "bash": HOOK, "timeoutSec": HOOK_SECONDS},
    folder=".copilot",
    project_folder=".github",
    hooks="hooks/memfs.json",
    project_hooks="hooks/memfs.json",
    defaults={"version": 1},
    servers=("mcp-config.json",),
    project_servers=("mcp.json",),
    server={"type": "local", "command": SCRIPT, "args": ARGS, "tools": ["*"]},
    reads_servers_of=".mcp.json",
    reads_hooks_of="claude-code",
    moved_by="COPILOT_HOME",
    plugins_in="settings.json",
    notes=(
        ("project-hooks", "Copilot runs a repository's hooks only in a folder that you trust (--trust-folder)."),
        ("always", "This is the Copilot CLI; for VS Code's Copilot: memfs connect vscode."),
    ),
)
