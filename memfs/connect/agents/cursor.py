"""Cursor. Only ``sessionStart`` is documented to reach the model, so the rule file and the server carry it."""

from __future__ import annotations

from memfs.connect.agents import ARGS, CAMEL_EVENTS, HOOK, HOOK_SECONDS, SCRIPT, Agent

AGENT = Agent(
    name="cursor",
    title="Cursor",
    known="documentation of September 2026",
    events=CAMEL_EVENTS,
    context_key="additional_context",
    sample={"conversation_id": "memfs-doctor"},
    prompt_event="beforeSubmitPrompt",
    install={
        "start": ("sessionStart", "preCompact"),
        "prompt": ("beforeSubmitPrompt",),
        "tool": ("postToolUse",),
    },
    nested=False,
    handler={"command": HOOK, "timeout": HOOK_SECONDS},
    folder=".cursor",
    project_folder=".cursor",
    hooks="hooks.json",
    project_hooks="hooks.json",
    defaults={"version": 1},
    servers=("mcp.json",),
    project_servers=("mcp.json",),
    # It starts the servers of a user in the home folder: its own variable says where the project is.
    server={"command": SCRIPT, "args": [ARGS, "--project", "${workspaceFolder}"]},
    rule="rules/memfs.mdc",
    rule_front="description: {about}\nalwaysApply: true\n",
    reads_hooks_of="claude-code",
)
