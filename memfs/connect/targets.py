"""One file of an agent's settings, and what memfs puts into it. Pure: text in, text out.

``put`` makes memfs's entries in a text what they are to be, in the places where they are; ``strip`` takes them out.
Both prove by the values that nothing else changed, or raise :class:`UnfitError` and change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from memfs.connect import json_text, toml_text
from memfs.connect.ours import NAME, command_in, find_places, is_our_server, server_program, theirs
from memfs.errors import UsageError
from memfs.model.values import dataclass

_Entries = tuple[tuple[str, Mapping[str, Any]], ...]
_DEFAULT_KEYS = frozenset({"version", "$schema"})


class UnfitError(UsageError):
    """A file that memfs does not edit; ``hint`` is what its owner can paste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What every kind of file has: a path, and what memfs wants in it."""

    path: Path

    @property
    def wanted(self) -> bool:
        """Whether anything of memfs is to be in the file."""
        raise NotImplementedError

    def put(self, text: str, known: Sequence[str] = ()) -> str:
        """Return ``text`` with memfs's entries as they are to be, and no others; ``known`` are commands it wrote."""
        raise NotImplementedError

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:
        """Return ``text`` with nothing of memfs in it; ``before`` is the text into which memfs wrote."""
        raise NotImplementedError

    def is_bare(self, text: str) -> bool:
        """Return whether nothing of anybody's is in a file that memfs made."""
        return json_text.is_blank(text)

    def commands(self) -> tuple[str, ...]:
        """Return the shell commands and programs that ``put`` writes."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings(Target):
    """A settings file of hooks and MCP servers: ``hooks`` are (event, entry), ``server`` is memfs's own."""

    hooks: _Entries = ()
    server: Mapping[str, Any] | None = None
    servers: str = "mcpServers"

    @property
    def wanted(self) -> bool:
        return bool(self.hooks or self.server)

    def commands(self) -> tuple[str, ...]:
        found = [str(command_in(handler)) for _, entry in self.hooks for handler in _handlers(entry)]
        return tuple(dict.fromkeys([*found, *([server_program(self.server)] if self.server else [])]))

    def load(self, text: str) -> Any:
        """Return the values of ``text``. Raises ValueError."""
        raise NotImplementedError

    def prove(self, old: str, new: str, known: Sequence[str], hooks: _Entries, server: object) -> None:
        """Raise ValueError unless what is not memfs's is alike in both, and memfs's in ``new`` is as given."""
        known = (*known, *self.commands())
        before, after = self.load(old), self.load(new)
        if not _same(theirs(before, self.servers, known), theirs(after, self.servers, known)):
            raise ValueError("it would change what is not memfs's")
        if json_text.find_comments(old) != json_text.find_comments(new) and not isinstance(self, TomlTarget):
            raise ValueError("a comment would be lost")
        found = sorted((place.event, place.command) for place in find_places(after, known))
        if found != sorted((event, str(command_in(h))) for event, entry in hooks for h in _handlers(entry)):
            raise ValueError("memfs's hooks are written in a form that it does not edit")
        named = after.get(self.servers) if isinstance(after, Mapping) else None
        named = named.get(NAME) if isinstance(named, Mapping) else None
        if (server is None) != (not is_our_server(named, known)):
            raise ValueError("memfs's server is written in a form that it does not edit")

    def refuse(self, error: Exception) -> UnfitError:
        """Return what is said where the file is left as it is."""
        if isinstance(error, UnfitError):
            return error
        hint = "take memfs's entries out by hand"
        if self.wanted:
            hint = "paste this into it by hand:\n" + self.put("")
        return UnfitError(f"it cannot be edited safely ({error}); nothing was written", where=str(self.path), hint=hint)

    def other_server(self, document: object, known: Sequence[str]) -> UnfitError | None:
        """Return the refusal where another server has memfs's name."""
        named = document.get(self.servers) if isinstance(document, Mapping) else None
        if not isinstance(named, Mapping) or NAME not in named or is_our_server(named[NAME], known):
            return None
        return UnfitError(
            f"another entry is called {self.servers}.{NAME} there",
            where=str(self.path),
            hint="rename it, or take it out, and connect again",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTarget(_Settings):
    """Entries in somebody's JSON file, with or without comments. ``defaults`` are members that a new file needs."""

    defaults: tuple[tuple[str, Any], ...] = ()

    def load(self, text: str) -> Any:
        return json_text.load(text)

    def put(self, text: str, known: Sequence[str] = ()) -> str:
        out = text if not json_text.is_blank(text) else text.rstrip() + "{}\n"
        try:
            old = out
            if self.server and (other := self.other_server(self.load(out), known)):
                raise other
            for key, value in self.defaults:
                if json_text.find_node(out, (key,)) is None:
                    out = old = json_text.set_member(out, (key,), value)
            out = self._drop_surplus(out, known)
            for event, entry in self.hooks:
                out = self._put_hook(out, event, entry, known)
            if self.server and json_text.find_node(out, (self.servers, NAME)) is None:
                out = json_text.set_member(out, (self.servers, NAME), dict(self.server))
            for key, value in (self.server or {}).items():
                out = _set_changed(out, (self.servers, NAME, key), value)
            self.prove(old, out, known, self.hooks, self.server)
        except ValueError as error:
            raise self.refuse(error) from None
        return out

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:
        if json_text.is_blank(text):
            return text
        try:
            kept = _containers(before)
            out = text
            while places := find_places(self.load(out), known):
                path = places[0].path if not places[0].alone else places[0].path[:3]
                out = _drop(out, path, kept)
            named = json_text.find_node(out, (self.servers, NAME))
            if named is not None and self.other_server(self.load(out), known) is None:
                out = _drop(out, (self.servers, NAME), kept)
            self.prove(text, out, known, (), None)
        except ValueError as error:
            if NAME not in text:
                return text  # nothing of memfs's can be in it; whoever adds to it will say what is wrong
            raise self.refuse(error) from None
        return out

    def is_bare(self, text: str) -> bool:
        if json_text.is_blank(text):
            return True
        document = self.load(text)
        return isinstance(document, dict) and set(document) <= _DEFAULT_KEYS and not json_text.find_comments(text)

    def _drop_surplus(self, text: str, known: Sequence[str]) -> str:
        """Return ``text`` without hooks of memfs that are not wanted, are there twice, or have another shape."""
        wanted = {event: "hooks" in entry for event, entry in self.hooks}
        seen: set[str] = set()
        for place in find_places(self.load(text), known):
            nested = place.handler is not None
            if wanted.get(place.event) != nested or place.event in seen:
                path = place.path if not place.alone else place.path[:3]
                return self._drop_surplus(_drop(text, path, ()), known)
            seen.add(place.event)
        there = json_text.find_node(text, (self.servers, NAME)) is not None
        if there and not self.server and self.other_server(self.load(text), known) is None:
            return _drop(text, (self.servers, NAME), ())
        return text

    def _put_hook(self, text: str, event: str, entry: Mapping[str, Any], known: Sequence[str]) -> str:
        place = next((place for place in find_places(self.load(text), known) if place.event == event), None)
        if place is None:
            return json_text.append_item(text, ("hooks", event), entry)
        if place.handler is not None and place.alone and "matcher" in entry:
            text = _set_changed(text, (*place.path[:3], "matcher"), entry["matcher"])
        for key, value in _handlers(entry)[0].items():
            text = _set_changed(text, (*place.path, key), value)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlTarget(_Settings):
    """Tables in somebody's TOML file."""

    servers: str = "mcp_servers"

    def load(self, text: str) -> Any:
        return toml_text.parse_toml(text.removeprefix(json_text.MARK))

    def put(self, text: str, known: Sequence[str] = ()) -> str:
        mark = json_text.MARK if text.startswith(json_text.MARK) else ""
        out = text.removeprefix(mark)
        try:
            document = self.load(out)
            if self.server and (other := self.other_server(document, known)):
                raise other
            places = find_places(document, known)
            kept = {event: next((p for p in places if p.event == event and p.handler is not None), None)
                    for event, _ in self.hooks}  # fmt: skip
            surplus = [_toml_path(place) for place in places if place not in kept.values()]
            named = _entry(document, self.servers) is not None
            if named and not self.server and self.other_server(document, known) is None:
                surplus.append((self.servers, NAME))
            if surplus or toml_text.OLD_MARK.search(out):
                # Places are counted anew after a cut, so the rest is done in a second pass.
                out = toml_text.drop_paths(out, surplus)
                self.prove(text, out, known, *self._left(out, known))
                return self.put(mark + out, known) if self.wanted else mark + out
            out = self._put_values(out, document, kept)
            self.prove(text, out, known, self.hooks, self.server)
        except ValueError as error:
            raise self.refuse(error) from None
        return mark + out

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:  # noqa: ARG002
        mark = json_text.MARK if text.startswith(json_text.MARK) else ""
        try:
            document = self.load(text)
            paths = [_toml_path(place) for place in find_places(document, known)]
            if isinstance(document.get(self.servers), Mapping) and self.other_server(document, known) is None:
                paths.append((self.servers, NAME))
            out = toml_text.drop_paths(text.removeprefix(mark), paths)
            self.prove(text, out, known, (), None)
        except ValueError as error:
            if NAME not in text:
                return text
            raise self.refuse(error) from None
        return mark + out

    def _left(self, text: str, known: Sequence[str]) -> tuple[_Entries, object]:
        """Return what is left of memfs's own after the surplus was cut, in the form that ``prove`` takes."""
        document = self.load(text)
        hooks = tuple((place.event, {"command": place.command}) for place in find_places(document, known))
        return hooks, _entry(document, self.servers)

    def _put_values(self, text: str, document: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
        tables: list[tuple[str, Mapping[str, Any]]] = []
        for event, entry in self.hooks:
            place = kept[event]
            if place is None:
                tables.append((f"[[hooks.{event}]]", {}))
                tables += [(f"[[hooks.{event}.hooks]]", handler) for handler in _handlers(entry)]
                continue
            there = document["hooks"][event][place.entry]["hooks"][place.handler]
            text = _set_values(text, place.path, there, _handlers(entry)[0])
        if self.server:
            there = _entry(document, self.servers)
            if there is None:
                tables.append((f"[{self.servers}.{NAME}]", self.server))
            else:
                text = _set_values(text, (self.servers, NAME), there, self.server)
        return toml_text.append_tables(text, tables) if tables else text


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTarget(Target):
    """A file that is all memfs's: ``mark`` is in every version of it that memfs ever wrote."""

    content: str | None
    mark: str

    @property
    def wanted(self) -> bool:
        return self.content is not None

    def put(self, text: str, known: Sequence[str] = ()) -> str:  # noqa: ARG002 - all or nothing
        assert self.content is not None
        if text and self.mark not in text:
            raise UnfitError(
                "there is another file of that name, which memfs did not write",
                where=str(self.path),
                hint="move it away and connect again",
            )
        return self.content

    def strip(self, text: str, known: Sequence[str] = (), before: str | None = None) -> str:  # noqa: ARG002
        return "" if self.mark in text else text


def _same(left: object, right: object) -> bool:
    """Return whether two documents are equal, numbers and their kinds included."""
    return json.dumps(left, default=str, sort_keys=True) == json.dumps(right, default=str, sort_keys=True)


def _handlers(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(entry["hooks"]) if "hooks" in entry else [entry]


def _toml_path(place: Any) -> tuple[str | int, ...]:
    return tuple(place.path[:3] if place.alone else place.path)


def _set_values(text: str, table: tuple[str | int, ...], there: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    for key, value in values.items():
        if there.get(key) != value:
            text = toml_text.set_value(text, table, key, value)
    return text


def _set_changed(text: str, path: tuple[str | int, ...], value: Any) -> str:
    node = json_text.find_node(text, path)
    if node is not None and json_text.load(text[node.start : node.end]) == value:
        return text
    return json_text.set_member(text, path, value)


def _containers(text: str | None) -> Collection[tuple[str | int, ...]]:
    """Return the paths of the objects and arrays that the owner had before."""
    found: set[tuple[str | int, ...]] = set()
    try:
        root = json_text.parse_text(text) if text and not json_text.is_blank(text) else None
    except json_text.NotJsonError:
        root = None
    for first in root.children or () if root else ():
        if first.key is None or first.children is None:
            continue
        found.add((first.key,))
        found |= {(first.key, second.key) for second in first.children if second.key and second.children is not None}
    return found


def _drop(text: str, path: tuple[str | int, ...], kept: Collection[tuple[str | int, ...]]) -> str:
    """Return ``text`` without the entry at ``path``, and without the containers that it leaves empty."""
    text = _drop_one(text, path)
    for depth in range(len(path) - 1, 0, -1):
        container = json_text.find_node(text, path[:depth])
        if container is None or container.children or path[:depth] in kept:
            break
        if json_text.find_comments(text[container.start : container.end]):
            break
        text = _drop_one(text, path[:depth])
    return text


def _drop_one(text: str, path: tuple[str | int, ...]) -> str:
    parent = json_text.find_node(text, path[:-1])
    last = path[-1]
    if parent is None or parent.children is None:
        return text
    index = last if isinstance(last, int) else [child.key for child in parent.children].index(last)
    return json_text.drop_child(text, parent, index)


def _entry(document: Mapping[str, Any], servers: str) -> Any:
    """Return memfs's own entry among the servers, None where there is none. Raises :class:`ValueError` for servers
    that are not a table: such a file is not edited."""
    table = document.get(servers, {})
    if not isinstance(table, Mapping):
        raise ValueError(f"{servers} is not a table")
    return table.get(NAME)
