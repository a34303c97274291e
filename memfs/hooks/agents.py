"""The agents that memfs knows, by the names that every command takes. Imports nothing: see ``run``."""

from __future__ import annotations

AGENTS = ("claude-code", "codex", "gemini", "copilot", "opencode", "cursor", "windsurf")
"""The agents memfs knows, as they are named in every command."""

AUTO = "auto"
"""The agent of a hook that several agents share (a plugin): told from what stands on stdin."""

_ALIASES = {"claude": "claude-code", "codex-cli": "codex", "gemini-cli": "gemini", "copilot-cli": "copilot"}


def find_agent(name: str) -> str | None:
    """Return the agent that ``name`` means (``claude`` is ``claude-code``), or None."""
    name = _ALIASES.get(name, name)
    return name if name in AGENTS or name == AUTO else None
