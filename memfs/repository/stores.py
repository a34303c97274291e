"""Every repository that recall looks into: the project's own and those of the user's settings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.disk.worktree import NoWorkTreeError, WorkTree, find_work_tree
from memfs.errors import MemfsError, SetupError, UsageError
from memfs.git.owner import require_ours
from memfs.model.values import replace

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import SharedStore, Store, UserSettings
    from memfs.model.scope import Caller
    from memfs.recall.search import Query, Result
    from memfs.repository.find import Found
    from memfs.repository.repository import Repository

PROJECT = "project"
"""What the store of the working directory is called; a hit from it needs no store beside it."""


PERSONAL = "personal"
"""What the user's own store is called, and the scope of what is the user's alone."""


class Stores:
    """The stores that one caller's answers come from, the project's first."""

    def __init__(
        self,
        stores: Sequence[tuple[str, WorkTree]],
        *,
        places: Places,
        today: date,
        notices: Sequence[str] = (),
        missing: UsageError | SetupError | None = None,
        shared: Sequence[SharedStore] = (),
    ) -> None:
        self.stores = tuple(stores)
        self.shared = tuple(shared)  # indexes of an organisation
        self.missing = missing  # why the place itself is not a store
        self.places = places
        self.today = today
        self.notices = tuple(notices)

    @classmethod
    def open(cls, start: Path, *, places: Places, today: date) -> Stores:
        """Return the stores as seen from ``start``. A missing or broken one costs only itself.

        Opening starts no process and reads the user's settings only.
        """
        found: list[tuple[str, WorkTree]] = []
        notices: list[str] = []
        missing: UsageError | SetupError | None = None
        try:
            tree = find_work_tree(start)
            require_ours(tree)
            found.append((PROJECT, tree))
        except (UsageError, SetupError) as error:  # the user's own stores still answer
            missing = error
            if not isinstance(error, NoWorkTreeError):
                notices.append(str(error))
        settings = _settings(places, notices)
        for store in settings.stores if settings is not None else ():
            if not store.recall:
                continue
            try:
                tree = find_work_tree(store.path)
                require_ours(tree)
            except (MemfsError, OSError) as error:
                notices.append(f"store {store.name} is left out: {error}")
                continue
            if all(tree.root != other.root for _, other in found):
                found.append((store.name, tree))
        shared = [store for store in settings.shared if store.recall] if settings is not None else []
        return cls(found, places=places, today=today, notices=notices, missing=missing, shared=shared)

    def recall(self, query: Query) -> Result:
        """Return what all stores know about ``query`` in one ranking."""
        from memfs.recall.search import recall

        result = recall(self.stores, self.places, query, today=self.today, shared=self.shared)
        return replace(result, notices=(*self.notices, *result.notices))

    def repositories(self) -> list[tuple[str, Repository]]:
        """Return each store opened, with its name."""
        from memfs.repository.repository import Repository

        return [
            (name, Repository(tree, places=self.places, today=self.today, is_elsewhere=name != PROJECT))
            for name, tree in self.stores
        ]

    def find(self, memory_id: str, caller: Caller) -> Found:
        """Return the files of ``memory_id`` in the first store that has it for ``caller``."""
        from memfs.repository.find import find_in

        return find_in(self.repositories(), memory_id, caller)


def open_personal(places: Places, today: date) -> Repository | None:
    """Return the user's own store, which ``memfs init --personal`` makes; None without one that can be used."""
    from memfs.repository.repository import Repository

    settings = _settings(places, [])
    store = next((one for one in settings.stores if one.name == PERSONAL), None) if settings is not None else None
    if store is None:
        return None
    tree = find_work_tree(store.path)
    require_ours(tree)
    return Repository(tree, places=places, today=today, is_elsewhere=True)


def store_of(places: Places, tree: WorkTree) -> Store | None:
    """Return the entry of the user's settings that names this repository, or None."""
    root = os.path.realpath(tree.root)
    settings = _settings(places, [])
    known = settings.stores if settings is not None else ()
    return next((store for store in known if os.path.realpath(store.path) == root), None)


def _settings(places: Places, notices: list[str]) -> UserSettings | None:
    if not places.has_settings():
        return None
    from memfs.disk.settings import read_user_settings

    try:
        return read_user_settings(places)
    except MemfsError as error:
        notices.append(f"your settings cannot be used: {error}")
        return None
