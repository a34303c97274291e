"""From the bytes that an agent writes to a hook's standard input to an :class:`Event`. Pure.

Every agent has its own field names and event names; all of them end up in the few values that
decide what to recall. Anything that is not an event of ours is an :class:`Event` whose moment is
``OTHER``, never an error: a hook that fails is a hook that its user removes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memfs.connect.agents import AUTO, Agent, Moment, load_agent
from memfs.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One call of a hook. Text is as the agent sent it, cut to a length that can be worked with."""

    row: Agent
    name: str  # the agent's own name of the event; "" where it sends none
    moment: Moment
    session: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""  # of a session start: startup, resume, clear, compact …
    tool: str = ""
    paths: tuple[str, ...] = ()
    command: str = ""
    subagent: str = ""  # the id of the subagent on whose behalf this is; "" for the main agent
    notification: bool = False  # a "prompt" that no person typed
    borrowed: bool = False  # the agent runs a hook that stands in another agent's file
    stop_hook_active: bool = False
    transcript: str = ""  # the file in which the agent keeps this session; "" where it names none


_GEMINI_ONLY = frozenset(
    {"BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool", "AfterTool"}
    | {"PreCompress", "Notification"}
)
_READERS_OF_CLAUDE = frozenset({"copilot", "cursor"})

_PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "dir_path")
_COMMAND_KEYS = ("command", "cmd", "script")
_PATCHED_FILES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")

_LONGEST_PROMPT = 20_000
_LONGEST_COMMAND = 2_000
_MOST_PATHS = 8


def parse_event(raw: bytes, agent: str) -> Event | None:
    """Return the event that ``raw`` describes for ``agent``, or None where it is not a JSON object.

    ``raw`` is UTF-8, with or without a byte order mark; bytes that are none are replaced. NaN and
    infinities are refused as JSON refuses them. With ``auto`` the sender is told from its fields.
    """
    fields = _parse_object(raw)
    if fields is None:
        return None
    sender = detect_sender(fields)
    # Copilot and Cursor also run the hooks of Claude Code's files: they get their own shape.
    borrowed = agent == "claude-code" and sender in _READERS_OF_CLAUDE
    if agent == AUTO or borrowed:
        agent = sender or "claude-code"
    row = load_agent(agent)
    name = _text(fields, "hook_event_name", "hookName")
    moment = row.events.get(name, Moment.OTHER)
    if not name and agent == "copilot":
        moment = _guess_copilot_moment(fields)
    subagent = _text(fields, "agent_id", "agentId")
    if moment is Moment.STOP and subagent:
        moment = Moment.OTHER  # a subagent's end is no turn's end
    tool_input = _tool_input(fields)
    prompt = _prompt(fields)
    return Event(
        row=row,
        name=name,
        moment=moment,
        session=_text(fields, "session_id", "sessionId", "conversation_id"),
        cwd=_cwd(fields),
        prompt=_cut(prompt, _LONGEST_PROMPT),
        source=_text(fields, "source"),
        tool=_text(fields, "tool_name", "toolName"),
        paths=_paths(tool_input),
        command=_command(tool_input),
        subagent=subagent,
        notification=prompt.lstrip().startswith("<task-notification>"),
        borrowed=borrowed,
        stop_hook_active=fields.get("stop_hook_active") is True,
        transcript=_text(fields, "transcript_path", "transcriptPath"),
    )


def detect_sender(fields: Mapping[str, Any]) -> str | None:
    """Return which agent sends such an object, or None where nothing tells it from Claude Code's.

    The environment does not help: agents started by agents inherit each other's variables.
    """
    name = fields.get("hook_event_name")
    if "cursor_version" in fields or "conversation_id" in fields:
        return "cursor"
    if "sessionId" in fields:
        return "copilot"
    if "prompt_id" in fields:
        return "claude-code"
    if "turn_id" in fields or (name == "SessionStart" and "model" in fields and "permission_mode" in fields):
        return "codex"
    if "timestamp" in fields:
        if name in _GEMINI_ONLY:
            return "gemini"
        if "transcript_path" not in fields or name in ("PreCompact", "Stop"):  # Copilot has the path at these two
            return "copilot"
        # Gemini and Qwen Code both name their sessions' ends so; a prompt of this name is Qwen's.
        return "gemini" if name in ("SessionStart", "SessionEnd") else "qwen"
    if str(fields.get("session_id", "")).startswith("ses_"):
        return "opencode"
    return None


def _parse_object(raw: bytes) -> dict[str, Any] | None:
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _guess_copilot_moment(fields: Mapping[str, Any]) -> Moment:
    # Copilot's camelCase objects do not say which event they are.
    if "toolName" in fields:
        after = "toolResult" in fields or "error" in fields
        return Moment.AFTER_TOOL if after else Moment.BEFORE_TOOL
    if "prompt" in fields:
        return Moment.PROMPT
    if "stopReason" in fields:
        return Moment.STOP
    if "source" in fields:
        return Moment.START
    if "customInstructions" in fields:
        return Moment.COMPACT
    return Moment.OTHER


def _prompt(fields: Mapping[str, Any]) -> str:
    prompt = fields.get("prompt")
    if isinstance(prompt, list):
        parts = [part.get("text") for part in prompt if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return prompt if isinstance(prompt, str) else ""


def _cut(text: str, longest: int) -> str:
    """Return ``text``, or its two ends where it is longer: what is asked comes first or last."""
    if len(text) <= longest:
        return text
    return text[: longest // 2] + "\n" + text[-longest // 2 :]


def _cwd(fields: Mapping[str, Any]) -> str:
    roots = fields.get("workspace_roots")
    if not fields.get("cwd") and isinstance(roots, list) and roots and isinstance(roots[0], str):
        return roots[0]
    return _text(fields, "cwd")


def _tool_input(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    value = fields.get("tool_input", fields.get("toolArgs"))
    if isinstance(value, str):
        value = _parse_object(value.encode("utf-8", "replace"))
    return value if isinstance(value, dict) else {}


def _paths(tool_input: Mapping[str, Any]) -> tuple[str, ...]:
    found = [value for key in _PATH_KEYS if isinstance(value := tool_input.get(key), str) and value]
    patch = tool_input.get("patch", tool_input.get("input", tool_input.get("command")))
    if isinstance(patch, str) and "*** Begin Patch" in patch:
        for line in patch.splitlines():
            found += [line.removeprefix(mark) for mark in _PATCHED_FILES if line.startswith(mark)]
    return tuple(dict.fromkeys(found))[:_MOST_PATHS]


def _command(tool_input: Mapping[str, Any]) -> str:
    for key in _COMMAND_KEYS:
        value = tool_input.get(key)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = " ".join(value)
        if isinstance(value, str) and "*** Begin Patch" not in value:
            return _cut(value, _LONGEST_COMMAND)
    return ""


def _text(fields: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
