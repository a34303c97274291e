"""The doors of rooms: every public name loads, and none of them is a module too."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import memfs
from memfs.doors import open_door

ROOMS = [found.name for found in pkgutil.iter_modules(memfs.__path__) if found.ispkg]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_of_a_room_loads(room: str) -> None:
    door = importlib.import_module(f"memfs.{room}")
    for name in getattr(door, "__all__", ()):
        assert getattr(door, name) is not None


def test_a_public_name_that_is_a_module_too_is_refused() -> None:
    with pytest.raises(ValueError, match="publish is a module and a public name"):
        open_door("memfs.postgres", {"publish": ("publish",)})
