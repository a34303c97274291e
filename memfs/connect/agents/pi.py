"""pi: an extension that asks memfs before each turn; pi has no MCP."""

from __future__ import annotations

from memfs.connect.agents import CLAUDE_EVENTS, Agent

AGENT = Agent(
    name="pi",
    title="pi",
    known="run: 0.73.1",
    events=CLAUDE_EVENTS,
    shown=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    prompt_event="UserPromptSubmit",
    plugin=("extensions/memfs.ts", "pi.ts"),
    folder=".pi/agent",
    project_folder=".pi",
    skills=".pi/agent/skills",
    project_skills=".pi/skills",
    notes=(("mcp", "pi has no MCP; its skill says how to call memfs on the command line."),),
)
