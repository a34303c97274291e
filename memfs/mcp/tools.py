"""The tools that the server offers: names, words and arguments. Pure.

Every client puts the whole list into its model's context, so descriptions are short and schemas are
small. The server's instructions say when to call them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from memfs.model.memory import Kind, State
from memfs.model.values import dataclass, field
from memfs.standing.tie import MOST_TEXTS

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_TEXTS}
_ID = {"type": "string", "description": "memory id"}
DRAFT: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "string", "description": "what holds, and why"},
    "kind": {"enum": [kind.value for kind in Kind], "description": "decision, procedure, preference, ..."},
    "scope": {"type": "string", "description": "personal, team, team/NAME"},
    "evidence": {**_TEXTS, "description": "PATH, PATH#Heading, PATH#L10-L24, a commit, URL, 'said by PERSON on DATE'"},
    "review_trigger": {"type": "string", "description": "'on DATE', 'when PATH changes', 'if TEXT'"},
    "title": _TEXT,
    "applies_to": {**_TEXTS, "description": "path globs"},
    "supersedes": {**_TEXTS, "description": "ids"},
    "expires": {"type": "string", "description": "date; needed for handoff"},
}
_CHANGES = {name: DRAFT[name] for name in ("text", "title", "evidence", "review_trigger", "expires", "applies_to")}
_SINCE = {"type": "string", "description": "recorded on DATE or later", "format": "date"}
_FILTERS: Mapping[str, Mapping[str, Any]] = {
    "scope": _TEXT,
    "kind": {"enum": [kind.value for kind in Kind]},
    "tag": _TEXT,
    "since": _SINCE,
}
_DRAFT_NEEDS = ("text", "scope", "evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool. ``arguments`` maps a name to its JSON Schema."""

    name: str
    about: str
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    writes: bool = False
    repeatable: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {name: dict(value) for name, value in self.arguments.items()},
            **({"required": list(self.needs)} if self.needs else {}),
            "additionalProperties": False,
        }


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="recall",
        about="Find memories about a question, in plain words.",
        arguments={
            "query": _TEXT,
            "path": {"type": "string", "description": "file you work on"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            "weak": {"type": "boolean", "description": "weak matches too"},
            **_FILTERS,
        },
        needs=("query",),
    ),
    ToolSpec(name="get", about="Show one memory whole.", arguments={"id": _ID}, needs=("id",)),
    ToolSpec(
        name="list",
        about="List approved memories; others are counted.",
        arguments={
            **_FILTERS,
            "state": {"enum": [state.value for state in State]},
            "start": {"type": "integer", "minimum": 0, "description": "skip this many"},
        },
    ),
    ToolSpec(name="history", about="Show the commits behind a memory.", arguments={"id": _ID}, needs=("id",)),
    ToolSpec(name="due", about="List memories that must be looked at again."),
    ToolSpec(name="waiting", about="List what waits for a person: not approved, proposed, held drafts."),
    ToolSpec(
        name="feedback",
        about="Say whether a recalled memory helped.",
        arguments={"id": _ID, "helped": {"type": "boolean"}},
        needs=("id", "helped"),
    ),
    ToolSpec(
        name="remember",
        about="Record a memory in a commit. People approve it later; secrets and guesses are refused.",
        arguments=DRAFT,
        needs=_DRAFT_NEEDS,
        writes=True,
        repeatable=False,
    ),
    ToolSpec(
        name="propose",
        about="Record a memory on a branch of its own, for review.",
        arguments=DRAFT,
        needs=_DRAFT_NEEDS,
        writes=True,
        repeatable=False,
    ),
    ToolSpec(
        name="revise",
        about="Propose a change of a memory, on a branch of its own.",
        arguments={"id": _ID, **_CHANGES},
        needs=("id",),
        writes=True,
        repeatable=False,
    ),
    ToolSpec(
        name="verify",
        about="Propose that a memory still holds: its evidence is tied to what is there now.",
        arguments={"id": _ID},
        needs=("id",),
        writes=True,
        repeatable=False,
    ),
)
"""All tools. None approves anything: approving takes a person's key, at a terminal."""


def find_tool(name: str, *, write: bool) -> ToolSpec | None:
    """Return the tool of that name that a caller with or without writing may use, or None."""
    return next((tool for tool in TOOLS if tool.name == name and (write or not tool.writes)), None)


def check_arguments(tool: ToolSpec, arguments: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with ``arguments``, in words that hold no text of theirs."""
    problems = [f"{name} is missing" for name in tool.needs if arguments.get(name) in (None, "", [])]
    unknown = len([name for name in arguments if name not in tool.arguments])
    if unknown:
        problems.append(f"{unknown} unknown arguments; it takes {', '.join(tool.arguments) or 'none'}")
    for name, schema in tool.arguments.items():
        value = arguments.get(name)
        if value is None:
            continue
        problem = _check_value(value, schema)
        if problem:
            problems.append(f"{name} must be {problem}")
    return problems


def _check_value(value: Any, schema: Mapping[str, Any]) -> str | None:
    if "enum" in schema:
        return None if value in schema["enum"] else f"one of {', '.join(schema['enum'])}"
    kind = schema["type"]
    if kind == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 1 << 31)
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return None if good else f"a whole number from {low} to {high}"
    if kind == "boolean":
        return None if isinstance(value, bool) else "true or false"
    if kind == "array":
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if good else "a list of texts"
    if schema.get("format") == "date":
        return None if isinstance(value, str) and _is_date(value) else "a date such as 2026-11-30"
    return None if isinstance(value, str) else "a text"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
