"""One file of an agent's settings, and what memfs puts into it. Pure: text in, text out.

Every target can ``add`` ours to a text that has none of it, and ``strip`` a text of all of it, so
that connecting again is stripping and adding, and always ends in the same text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from memfs.connect import json_text, toml_text
from memfs.connect.command import is_hook_command
from memfs.errors import UsageError
from memfs.model.values import dataclass

COMMAND_KEYS = ("command", "bash")


class UnfitError(UsageError):
    """A file that memfs will not edit; ``hint`` holds what its owner can paste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What every kind of file has: a path, and hooks or servers that belong into it."""

    path: Path

    def add(self, text: str) -> str:
        """Return ``text`` with ours in it."""
        raise NotImplementedError

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:
        """Return ``text`` with nothing of ours in it; ``known`` are commands that memfs wrote,
        ``before`` is the text into which it wrote them."""
        raise NotImplementedError

    def commands(self) -> tuple[str, ...]:
        """Return the shell commands and programs that ``add`` writes."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTarget(Target):
    """Entries in somebody's JSON file.

    ``hooks`` are (event, entry) for the arrays under ``hooks``; ``members`` are (path, value);
    ``servers`` names the object that holds MCP servers.
    """

    hooks: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    members: tuple[tuple[tuple[str, ...], Any], ...] = ()
    defaults: tuple[tuple[str, Any], ...] = ()  # members that a new file needs
    servers: str = "mcpServers"

    def commands(self) -> tuple[str, ...]:
        found = [command for _, entry in self.hooks for command in _hook_commands(entry)]
        return tuple(dict.fromkeys([*found, *(_server_program(value) for _, value in self.members)]))

    def add(self, text: str) -> str:
        if not self.hooks and not self.members:
            return text
        out = text if text.strip() else "{}\n"
        try:
            for key, value in self.defaults:
                if json_text.find_node(out, (key,)) is None:
                    out = json_text.set_member(out, (key,), value)
            for event, entry in self.hooks:
                out = json_text.append_item(out, ("hooks", event), entry)
            for path, value in self.members:
                if json_text.find_node(out, path) is not None:
                    raise UnfitError(
                        f"another entry is called {'.'.join(path)} there",
                        where=str(self.path),
                        hint="rename it, or take it out, and connect again",
                    )
                out = json_text.set_member(out, path, value)
        except json_text.NotPlainJsonError as error:
            raise self._unfit(error) from None
        return out

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:
        if text.strip() == "":
            return text
        try:
            kept = _containers(before)
            out = text
            while (found := self._find_ours(out, known)) is not None:
                out = _drop(out, *found, known=known, kept=kept)
        except json_text.NotPlainJsonError as error:
            if "memfs" not in text:
                return text  # nothing of ours can be in it; whoever adds to it will say what is wrong
            raise self._unfit(error) from None
        return out

    def _find_ours(self, text: str, known: Sequence[str]) -> tuple[tuple[str, ...], int | None] | None:
        """Return the place of one entry of ours: the container's path and an item's index (None: the member)."""
        json_text.parse_text(text)  # stricter than json: a name that stands twice is nobody's to choose between
        document = json.loads(text)
        if not isinstance(document, dict):
            return None
        hooks = document.get("hooks")
        for event, entries in hooks.items() if isinstance(hooks, dict) else ():
            for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                if any(is_hook_command(command, known) for command in _hook_commands(entry)):
                    return ("hooks", event), index
        servers = document.get(self.servers)
        if isinstance(servers, dict) and _is_our_server(servers.get("memfs"), known):
            return (self.servers, "memfs"), None
        return None

    def _unfit(self, error: Exception) -> UnfitError:
        return UnfitError(
            f"it cannot be edited safely ({error}); nothing was written",
            where=str(self.path),
            hint="paste this into it by hand:\n" + json.dumps(self.paste(), indent=2),
        )

    def paste(self) -> dict[str, Any]:
        """Return the document that holds ours and nothing else."""
        return dict(json.loads(self.add(""))) if self.hooks or self.members else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlTarget(Target):
    """A marked block in somebody's TOML file."""

    tables: tuple[tuple[str, Mapping[str, Any]], ...]

    def commands(self) -> tuple[str, ...]:
        return tuple(str(values["command"]) for _, values in self.tables if "command" in values)

    def add(self, text: str) -> str:
        if not self.tables:
            return text
        try:
            return toml_text.append_block(text, self.tables)
        except ValueError as error:
            raise UnfitError(
                f"it cannot be edited safely ({error}); nothing was written",
                where=str(self.path),
                hint="paste this into it by hand:\n" + toml_text.append_block("", self.tables),
            ) from None

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:  # noqa: ARG002 - the marks say it all
        return toml_text.drop_block(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTarget(Target):
    """A file that is all ours: ``mark`` stands in every version of it that memfs ever wrote."""

    content: str | None
    mark: str

    def commands(self) -> tuple[str, ...]:
        return ()

    def add(self, text: str) -> str:
        if self.content is None:
            return text
        if text:
            raise UnfitError(
                "there is another file of that name, which memfs did not write",
                where=str(self.path),
                hint="move it away and connect again",
            )
        return self.content

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:  # noqa: ARG002 - all or nothing
        return "" if self.mark in text else text


def _hook_commands(entry: object) -> list[str]:
    """Return the shell commands of one entry of an event's array, nested or flat."""
    if not isinstance(entry, Mapping):
        return []
    nested = entry.get("hooks")
    if isinstance(nested, list):
        return [command for inner in nested for command in _hook_commands(inner)]
    return [entry[key] for key in COMMAND_KEYS if isinstance(entry.get(key), str)]


def _server_program(value: object) -> str:
    command = value.get("command") if isinstance(value, Mapping) else None
    return str(command[0]) if isinstance(command, list) and command else str(command)


def _is_our_server(value: object, known: Sequence[str]) -> bool:
    if not isinstance(value, Mapping):
        return False
    program = _server_program(value)
    return program in known or program.rsplit("/", 1)[-1] == "memfs"


def _containers(text: str | None) -> Collection[tuple[str, ...]]:
    """Return the paths of the objects and arrays that the owner had before."""
    found: set[tuple[str, ...]] = set()
    try:
        root = json_text.parse_text(text) if text and text.strip() else None
    except json_text.NotPlainJsonError:
        root = None
    for first in root.children or () if root else ():
        if first.key is None or first.children is None:
            continue
        found.add((first.key,))
        found |= {(first.key, second.key) for second in first.children if second.key and second.children is not None}
    return found


def _drop(
    text: str, path: tuple[str, ...], index: int | None, *, known: Sequence[str], kept: Collection[tuple[str, ...]]
) -> str:
    """Return ``text`` without one entry, and without the containers that it leaves empty."""
    if index is None:
        text = _drop_member(text, path)
        path = path[:-1]
    else:
        text = _drop_item(text, path, index, known)
    for depth in range(len(path), 0, -1):
        container = json_text.find_node(text, path[:depth])
        if container is None or container.children or path[:depth] in kept:
            break
        text = _drop_member(text, path[:depth])
    return text


def _drop_member(text: str, path: tuple[str, ...]) -> str:
    parent = json_text.find_node(text, path[:-1])
    keys = [child.key for child in (parent.children or ())] if parent else []
    return json_text.drop_child(text, parent, keys.index(path[-1])) if parent else text


def _drop_item(text: str, path: tuple[str, ...], index: int, known: Sequence[str]) -> str:
    """Return ``text`` without the entry, or without our command alone where others share the entry."""
    array = json_text.find_node(text, path)
    if array is None or not array.children:
        return text
    inner = array.children[index].member("hooks")
    if inner is not None and inner.children and len(inner.children) > 1:
        for place, child in enumerate(inner.children):
            commands = _hook_commands(json.loads(text[child.start : child.end]))
            if any(is_hook_command(command, known) for command in commands):
                return json_text.drop_child(text, inner, place)
    return json_text.drop_child(text, array, index)
