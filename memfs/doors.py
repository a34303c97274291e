"""How a room opens its door: the names in its ``__init__`` load their module at first use.

A room's ``__init__.py`` contains its docstring, the imports of its public names under ``TYPE_CHECKING`` (for
readers and type checkers) and one line::

    __getattr__, __all__ = open_door(__name__, {"view": ("open_view", "TrustView"), "judge": ("judge",)})

Other rooms write ``from memfs import trust`` at the top of the file and ``trust.open_view(…)`` where they need it:
a cold process loads only what it uses. Inside a room, modules import each other directly, at the top.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any


def open_door(room: str, modules: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], tuple[str, ...]]:
    """Return (``__getattr__``, ``__all__``) of the package ``room``; ``modules`` maps a module to its public names.

    Source: PEP 562. Raises :class:`ValueError` for a public name that is a module's too: once that module is
    loaded, Python gives the module for the name.
    """
    where = {name: module for module, names in modules.items() for name in names}
    if both := where.keys() & modules.keys():
        raise ValueError(f"{room}: {', '.join(sorted(both))} is a module and a public name")

    def load(name: str) -> Any:
        module = where.get(name)
        if module is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        path = f"{room}.{module}"
        __import__(path)
        value = getattr(sys.modules[path], name)
        setattr(sys.modules[room], name, value)
        return value

    return load, tuple(sorted(where))
