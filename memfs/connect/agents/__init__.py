"""The coding agents that memfs knows: one file an agent, one row of values in each (INTEGRATIONS 2 and 3).

To add an agent, write ``NAME.py`` here with its ``AGENT`` and put the name into :data:`AGENTS`. A hook is a cold
process, so this package loads one row and nothing that a row does not need.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from memfs.model.values import dataclass

AGENTS = (
    "claude-code", "codex", "gemini", "copilot", "opencode", "cursor", "devin", "qwen", "kilo", "pi", "droid",
    "vscode", "kiro",
)  # fmt: skip
"""The agents, by the names that every command takes."""

AUTO = "auto"
"""The agent of a hook that several agents share (a plugin): told from what comes on standard input."""

_ALIASES = {
    "claude": "claude-code", "codex-cli": "codex", "gemini-cli": "gemini", "copilot-cli": "copilot",
    "windsurf": "devin", "qwen-code": "qwen", "kilocode": "kilo", "factory": "droid", "vs-code": "vscode",
}  # fmt: skip

MOMENTS = ("start", "prompt", "tool")
"""What hooks can be chosen: session start, prompt, tool call. There is nothing to do at a turn's end yet."""

SCRIPT, ARGS, HOOK = "{script}", "{args}", "{hook}"
"""What a row writes where `memfs connect` puts the program, the server's arguments and the hook's command."""


class Moment(StrEnum):
    """When in an agent's work a hook was called."""

    START = "session-start"
    SUBAGENT = "subagent-start"
    PROMPT = "prompt"
    BEFORE_TOOL = "before-tool"
    AFTER_TOOL = "after-tool"
    COMPACT = "compaction"
    STOP = "turn-end"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent. Paths are relative to ``folder`` below the home, or to the project; ``~/`` leaves ``folder``."""

    name: str
    title: str
    known: str  # how this row is known: the version that was run, or the date of the documentation
    # What it calls, and how it is answered.
    events: Mapping[str, Moment]
    shown: frozenset[str] = frozenset()  # events whose answer reaches the model
    context_key: str = ""  # the key of the text in the answer; "" where it is nested under hookSpecificOutput
    refuses_other_keys: bool = False
    person_key: str = ""  # the key of a line that the agent shows to its user
    forgets: frozenset[str] = frozenset()  # sources of a session start whose answer the agent drops
    sample: Mapping[str, Any] | None = None  # fields of a call at a prompt, for `memfs doctor`
    prompt_event: str = ""  # its name in such a call
    # Hooks.
    install: Mapping[str, tuple[str, ...]] | None = None  # chosen moment → events
    nested: bool = True  # hooks are grouped under a matcher
    handler: Mapping[str, Any] | None = None
    matcher: str = ""  # the tools that name a path or a command
    milliseconds: bool = False
    plugin: tuple[str, str] | None = None  # (path below the settings folder, template beside the code)
    # Files.
    folder: str = ""  # the user's settings folder, below the home
    project_folder: str = ""
    hooks: str = ""
    project_hooks: str = ""
    hooks_toml: str = ""  # the TOML file in which a user may have hooks already
    defaults: Mapping[str, Any] | None = None  # members that a new hooks file needs
    servers: tuple[str, ...] = ()  # the first that is there, else the last
    project_servers: tuple[str, ...] = ()
    more_servers: tuple[str, ...] = ()  # the same entry goes here too (an old name of the agent)
    servers_key: str = "mcpServers"
    server: Mapping[str, Any] | None = None
    reads_servers_of: str = ""  # a project file of another agent that it reads as well
    reads_hooks_of: str = ""  # an agent whose project hooks it runs as well
    rule: str = ""  # a rule file of the project, written with the server
    rule_front: str = ""
    skills: str = ""  # the user's folder of skills, where it is not .agents/skills
    project_skills: str = ""
    moved_by: str = ""  # the variable that makes it read another folder
    extension: str = ""  # the file by which memfs's extension is there
    plugins_in: str = ""  # the settings file in which it keeps which plugins are on
    notes: tuple[tuple[str, str], ...] = ()  # (hooks, project, user, mcp or always; what its user has to do)


def find_agent(name: str) -> str | None:
    """Return the agent that ``name`` means (``claude`` is ``claude-code``), or None."""
    name = _ALIASES.get(name, name)
    return name if name in AGENTS or name == AUTO else None


def load_agent(name: str) -> Agent:
    """Return the row of the agent ``name``, one of :data:`AGENTS`."""
    module = f"{__name__}.{name.replace('-', '_')}"
    __import__(module)
    agent: Agent = sys.modules[module].AGENT
    return agent


LONGEST_CONTEXT = 9_500
"""Most bytes of UTF-8 that are put into one answer: every agent takes that many whole."""

_FLAT_MOMENTS = (Moment.START, Moment.SUBAGENT, Moment.PROMPT, Moment.BEFORE_TOOL, Moment.AFTER_TOOL)


def takes_context(agent: Agent, name: str, moment: Moment) -> bool:
    """Return whether the agent shows a hook's text to its model at this event."""
    return moment in _FLAT_MOMENTS if agent.context_key else name in agent.shown


def format_answer(agent: Agent, name: str, context: str, said: str = "") -> bytes:
    """Return what a hook prints to put ``context`` before the model, and ``said`` before the person.

    Answers are ASCII: no locale can spoil them.
    """
    answer: dict[str, Any]
    if agent.context_key:
        answer = {agent.context_key: context}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}
    if said and agent.person_key:
        answer[agent.person_key] = said
    return json.dumps(answer, ensure_ascii=True, allow_nan=False).encode("ascii")


def find_context(agent: Agent, answer: bytes) -> str | None:
    """Return the text that the agent would take from ``answer``, or None where it takes none.

    The inverse of :func:`format_answer`, as strict as the agent is: a check of an installation asks it what became
    of a real answer.
    """
    try:
        document = json.loads(answer.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    if agent.context_key:
        context = document.get(agent.context_key)
    else:
        inner = document.get("hookSpecificOutput")
        if not isinstance(inner, dict):
            return None
        known = {"hookSpecificOutput"}, {"hookEventName", "additionalContext"}
        if agent.refuses_other_keys and (set(document), set(inner)) != known:
            return None
        context = inner.get("additionalContext")
    return context if isinstance(context, str) else None


CLAUDE_EVENTS: Mapping[str, Moment] = {
    "SessionStart": Moment.START,
    "SubagentStart": Moment.SUBAGENT,
    "UserPromptSubmit": Moment.PROMPT,
    "PreToolUse": Moment.BEFORE_TOOL,
    "PostToolUse": Moment.AFTER_TOOL,
    "PostToolUseFailure": Moment.AFTER_TOOL,
    "PreCompact": Moment.COMPACT,
    "Stop": Moment.STOP,
}
"""The names of Claude Code, which many agents took over."""

CAMEL_EVENTS: Mapping[str, Moment] = {
    "sessionStart": Moment.START,
    "userPromptSubmitted": Moment.PROMPT,
    "beforeSubmitPrompt": Moment.PROMPT,
    "preToolUse": Moment.BEFORE_TOOL,
    "postToolUse": Moment.AFTER_TOOL,
    "postToolUseFailure": Moment.AFTER_TOOL,
    "preCompact": Moment.COMPACT,
    "agentStop": Moment.STOP,
    "stop": Moment.STOP,
}
"""The names of Copilot and Cursor."""

HOOK_SECONDS = 10
"""The time after which an agent ends a hook. memfs gives up by itself after two seconds."""
