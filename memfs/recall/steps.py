"""Prompts that are a step of a conversation: a shell command, a few words of talk. Pure.

A hook asks this of every prompt, so nothing that cuts texts into terms is loaded for it.
"""

from __future__ import annotations

import re

from memfs.index.languages import is_talk

_LOOKED_AT = 4_000  # characters
_FLAGS = r"(?:\s+(?:-{1,2}[\w=./-]+|\.{1,2}|[\w.-]*/[\w./-]*))*"
_PATTERN = (
    r"\s*[$>%]?\s*(?:"
    r"git(?:\s+(?:status|diff|log|show|add|commit|push|pull|fetch|stash|branch|checkout|switch|restore|rebase|merge))?"
    r"|(?:npm|yarn|pnpm)(?:\s+(?:install|ci|test|start|build|(?:run\s+)?[\w:-]+))?"
    r"|cargo(?:\s+(?:build|test|run|check|clippy|fmt))?|go\s+(?:build|test|run|vet|fmt|mod\s+tidy)"
    r"|pip3?\s+(?:install|list|freeze)(?:\s+[\w.-]+)?"
    r"|python3?(?:\s+-m\s+[\w.]+)?(?:\s+[\w./-]+\.py)?|node(?:\s+[\w./-]+\.js)?"
    r"|make(?:\s+[a-z-]+)?|docker(?:\s+compose)?\s+(?:ps|up|down|build|images|logs)|kubectl\s+get\s+[a-z]+"
    r"|(?:cd|ls|ll|cat|less|head|tail|rm|mkdir|touch)(?:\s+[\w.-]+\.\w+)?"
    r"|pytest|tox|nox|ruff|mypy|eslint|tsc|pwd|clear|exit|quit|history|whoami|date|top|htop|ps|df|du|env"
    rf"){_FLAGS}\s*"
)
_TOOL_NAMES = """
git npm yarn pnpm cargo go pip pip3 python python3 node make docker kubectl cd ls ll cat less head tail rm
mkdir touch pytest tox nox ruff mypy eslint tsc pwd clear exit quit history whoami date top htop ps df du env
"""
_TOOLS = frozenset(_TOOL_NAMES.split())


def is_command(text: str) -> bool:
    """Return whether ``text`` is nothing but a plain shell command, such as ``git status`` or ``ls -la``."""
    words = text[:90].lower().lstrip("$>% \t").split(None, 1)
    if len(text) > 80 or not words or words[0] not in _TOOLS:
        return False
    return re.fullmatch(_PATTERN, text, re.IGNORECASE) is not None


def is_step(text: str) -> bool:
    """Return whether the prompt ``text`` is a shell command or talk, whatever the memories are."""
    return is_command(text) or is_talk(text[:_LOOKED_AT])
