"""From text for the model to what each agent reads on a hook's standard output. Pure.

The shapes were seen by running the agents. Codex refuses an answer with one key it does not know,
Copilot and Cursor do not look into ``hookSpecificOutput``, Gemini reads nothing but JSON, and
Windsurf has no way in. Answers are ASCII: no locale can spoil them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memfs.hooks.event import Event, Moment

LONGEST_CONTEXT = 9_500
"""Most bytes of UTF-8 that are put into one answer: every agent takes that many whole."""

_NESTED: Mapping[str, frozenset[str]] = {
    "claude-code": frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"}),
    "codex": frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    "gemini": frozenset({"SessionStart", "BeforeAgent", "AfterTool"}),
    "opencode": frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
}
_FLAT: Mapping[str, str] = {"copilot": "additionalContext", "cursor": "additional_context"}
_FLAT_MOMENTS = frozenset({Moment.START, Moment.PROMPT, Moment.BEFORE_TOOL, Moment.AFTER_TOOL})


def takes_context(event: Event) -> bool:
    """Return whether the agent of ``event`` shows a hook's text to its model at this event."""
    if event.agent in _FLAT:
        return event.moment in _FLAT_MOMENTS
    return event.name in _NESTED.get(event.agent, frozenset())


def format_answer(event: Event, context: str) -> bytes:
    """Return what a hook prints to put ``context`` before the model; nothing where that is nothing."""
    if not context or not takes_context(event):
        return b""
    answer: dict[str, Any]
    if event.agent in _FLAT:
        answer = {_FLAT[event.agent]: context}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": context}}
    return json.dumps(answer, ensure_ascii=True, allow_nan=False).encode("ascii")


def find_context(agent: str, answer: bytes) -> str | None:
    """Return the text that ``agent`` would take from ``answer``, or None where it takes none.

    The inverse of :func:`format_answer`, as strict as the agent is: a check of an installation asks
    it what became of a real answer.
    """
    try:
        document = json.loads(answer.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    if agent in _FLAT:
        context = document.get(_FLAT[agent])
    else:
        inner = document.get("hookSpecificOutput")
        if not isinstance(inner, dict):
            return None
        if agent == "codex" and (set(document) != {"hookSpecificOutput"} or set(inner) != _CODEX_KEYS):
            return None
        context = inner.get("additionalContext")
    return context if isinstance(context, str) else None


_CODEX_KEYS = {"hookEventName", "additionalContext"}
