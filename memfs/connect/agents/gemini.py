"""Gemini CLI."""

from __future__ import annotations

from memfs.connect.agents import ARGS, HOOK, HOOK_SECONDS, SCRIPT, Agent, Moment

AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    known="run: 0.61.0",
    events={
        "SessionStart": Moment.START,
        "BeforeAgent": Moment.PROMPT,
        "BeforeTool": Moment.BEFORE_TOOL,
        "AfterTool": Moment.AFTER_TOOL,
        "AfterAgent": Moment.STOP,
    },
    shown=frozenset({"SessionStart", "BeforeAgent", "AfterTool"}),
    person_key="systemMessage",
    forgets=frozenset({"clear"}),
    sample={"timestamp": "1970-01-01T00:00:00Z"},
    prompt_event="BeforeAgent",
    # It takes context after a tool, not before it.
    install={"start": ("SessionStart",), "prompt": ("BeforeAgent",), "tool": ("AfterTool",)},
    handler={"name": "memfs", "type": "command", "command": HOOK, "timeout": HOOK_SECONDS * 1000},
    matcher="read_file|read_many_files|write_file|replace|run_shell_command",
    milliseconds=True,
    folder=".gemini",
    project_folder=".gemini",
    hooks="settings.json",
    project_hooks="settings.json",
    servers=("settings.json",),
    project_servers=("settings.json",),
    server={"command": SCRIPT, "args": ARGS},
    moved_by="GEMINI_CLI_HOME",
    extension="extensions/memfs/gemini-extension.json",
)
