"""Answers that never change, kept beside the index: what git said about a commit, what the gate said
about a text. Keyed by the digest of the memory they belong to.

They save starting git on the recall path. They can be deleted at any time; an entry that does not
have the expected form is asked for again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from memfs.disk.private import make_folder, own_lock
from memfs.disk.worktree import identify
from memfs.errors import SetupError
from memfs.index.folder import find_obstacle, index_folder, make_index_folder

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree

_MAX_ENTRIES = 2_000  # a shard; there are 256


class FactCache:
    """The kept answers of one work tree. Nothing is written before :meth:`save`."""

    def __init__(self, tree: WorkTree, places: Places) -> None:
        self._tree = tree
        self._places = places
        self._folder = os.path.join(index_folder(tree, places), "facts")
        self._usable = find_obstacle(tree, places) is None
        self._shards: dict[str, dict[str, dict[str, Any]]] = {}
        self._changed: set[str] = set()

    def get(self, digest: str) -> dict[str, Any]:
        """Return what is known about the memory with ``digest``; an empty mapping at first.

        Change it through :meth:`put` only.
        """
        return self._shard(digest).get(digest, {})

    def put(self, digest: str, key: str, value: object) -> None:
        """Remember ``value`` (JSON) under ``key`` for the memory with ``digest``."""
        entry = self._shard(digest).setdefault(digest, {})
        if entry.get(key) != value:
            entry[key] = value
            self._changed.add(digest[:2])

    def save(self, *, wait: bool = False) -> None:
        """Write what is new. A disk that refuses is not an error, nor another writer unless ``wait`` is
        given: the answers are asked for again."""
        if not self._changed or not self._usable:
            return
        try:
            make_index_folder(self._tree, self._places)
            make_folder(self._places, "cache", "index", identify(self._tree), "facts")
            with own_lock(f"{os.path.dirname(self._folder)}/facts.lock", wait=wait) as is_mine:
                if is_mine:
                    self._write()
        except (OSError, SetupError):
            pass
        self._changed.clear()

    def _write(self) -> None:
        for name in self._changed:
            entries = self._read(name)  # another process may have learned something meanwhile
            for digest, entry in self._shards[name].items():
                entries[digest] = entries.get(digest, {}) | entry
            for digest in list(entries)[: max(0, len(entries) - _MAX_ENTRIES)]:
                del entries[digest]
            path = os.path.join(self._folder, f"{name}.json")
            aside = f"{path}.{os.getpid()}"
            with open(aside, "w", encoding="ascii") as file:
                file.write(json.dumps(entries))
            os.rename(aside, path)

    def _shard(self, digest: str) -> dict[str, dict[str, Any]]:
        name = digest[:2]
        shard = self._shards.get(name)
        if shard is None:
            shard = self._shards[name] = self._read(name)
        return shard

    def _read(self, name: str) -> dict[str, dict[str, Any]]:
        if not self._usable:
            return {}
        try:
            with open(os.path.join(self._folder, f"{name}.json"), "rb") as file:
                entries = json.loads(file.read())
        except (OSError, ValueError):
            return {}
        if not isinstance(entries, dict):
            return {}
        return {digest: entry for digest, entry in entries.items() if isinstance(entry, dict)}
