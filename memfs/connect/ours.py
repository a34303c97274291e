"""What in an agent's settings is memfs's own, told from the values alone. Pure.

Whoever edits a settings file as text proves the edit with this: what is not memfs's is the same before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memfs.connect.command import is_hook_command
from memfs.model.values import dataclass

NAME = "memfs"
COMMAND_KEYS = ("command", "bash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One hook of memfs in a document: ``hooks[event][entry]``, and in its ``hooks[handler]`` where it has some."""

    event: str
    entry: int
    handler: int | None
    command: str
    alone: bool  # no other hook shares the entry

    @property
    def path(self) -> tuple[str | int, ...]:
        inner: tuple[str | int, ...] = () if self.handler is None else ("hooks", self.handler)
        return ("hooks", self.event, self.entry, *inner)


def command_in(handler: object) -> str | None:
    """Return the shell command of a hook, under whichever name the agent gives it."""
    if not isinstance(handler, Mapping):
        return None
    return next((handler[key] for key in COMMAND_KEYS if isinstance(handler.get(key), str)), None)


def iter_handlers(document: object) -> Iterator[tuple[str, int, int | None, Mapping[str, Any]]]:
    """Yield (event, entry, handler, value) of every hook in a settings document, nested or flat."""
    hooks = document.get("hooks") if isinstance(document, Mapping) else None
    for event, entries in hooks.items() if isinstance(hooks, Mapping) else ():
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            inner = entry.get("hooks") if isinstance(entry, Mapping) else None
            if isinstance(inner, list):
                for place, handler in enumerate(inner):
                    if isinstance(handler, Mapping):
                        yield event, number, place, handler
            elif isinstance(entry, Mapping):
                yield event, number, None, entry


def find_places(document: object, known: Sequence[str] = ()) -> list[Place]:
    """Return the places of memfs's hooks; ``known`` are commands that memfs wrote."""
    found = list(iter_handlers(document))
    return [
        Place(
            event=event,
            entry=entry,
            handler=handler,
            command=str(command_in(value)),
            alone=sum(other[:2] == (event, entry) for other in found) == 1,
        )
        for event, entry, handler, value in found
        if is_hook_command(command_in(value), known)
    ]


def server_program(value: object) -> str:
    """Return the program of an MCP server's entry; opencode writes it and its arguments in one list."""
    command = value.get("command") if isinstance(value, Mapping) else None
    return str(command[0]) if isinstance(command, list) and command else str(command)


def is_our_server(value: object, known: Sequence[str] = ()) -> bool:
    """Return whether the MCP server called ``memfs`` is the one that memfs wrote."""
    if not isinstance(value, Mapping):
        return False
    program = server_program(value)
    arguments = value.get("args", value.get("command"))
    called_so = isinstance(arguments, list) and "mcp" in arguments
    return program in known or program.rsplit("/", 1)[-1] == NAME or called_so


def theirs(document: object, servers: str, known: Sequence[str] = ()) -> Any:
    """Return ``document`` without memfs's entries, and without the containers that are empty then."""
    if not isinstance(document, Mapping):
        return document
    left = dict(document)
    ours = {(place.event, place.entry, place.handler) for place in find_places(document, known)}
    hooks = document.get("hooks")
    if isinstance(hooks, Mapping):
        events = {event: _entries_left(event, entries, ours) for event, entries in hooks.items()}
        left["hooks"] = {event: entries for event, entries in events.items() if entries not in ([], None)}
    named = document.get(servers)
    if isinstance(named, Mapping):
        left[servers] = {k: v for k, v in named.items() if k != NAME or not is_our_server(v, known)}
    return {key: value for key, value in left.items() if key not in ("hooks", servers) or value not in ({}, None)}


def _entries_left(event: str, entries: object, ours: set[tuple[str, int, int | None]]) -> object:
    if not isinstance(entries, list):
        return entries
    left: list[object] = []
    for number, entry in enumerate(entries):
        inner = entry.get("hooks") if isinstance(entry, Mapping) else None
        if isinstance(inner, list):
            kept = [handler for place, handler in enumerate(inner) if (event, number, place) not in ours]
            if kept or not inner:
                left.append({**entry, "hooks": kept})
        elif (event, number, None) not in ours:
            left.append(entry)
    return left
