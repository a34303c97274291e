"""The stores that the user's own settings name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import Store, UserSettings

PROJECT = "project"
"""What the store of the working directory is called; a hit from it needs no store beside it."""

PERSONAL = "personal"
"""What the user's own store is called, and the scope of what is the user's alone."""


def store_of(places: Places, tree: WorkTree) -> Store | None:
    """Return the entry of the user's settings that names this repository, or None."""
    root = os.path.realpath(tree.root)
    settings = own_settings(places, [])
    known = settings.stores if settings is not None else ()
    return next((store for store in known if os.path.realpath(store.path) == root), None)


def own_settings(places: Places, notices: list[str]) -> UserSettings | None:
    """Return the user's settings; None where there are none, or none that can be used, which ``notices`` then says."""
    if not places.has_settings():
        return None
    from memfs.disk.settings import read_user_settings

    try:
        return read_user_settings(places)
    except MemfsError as error:
        notices.append(f"your settings cannot be used: {error}")
        return None
