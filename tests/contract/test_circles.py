"""The files of the package can be read in an order: none of them needs another that needs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import memfs

PACKAGE = Path(memfs.__file__).parent


def _needed(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def test_no_files_need_each_other_not_even_in_functions_or_for_types() -> None:
    files = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    needed = {
        name: {other for other in _needed(ast.parse(path.read_text(encoding="utf-8"))) if other in files} - {name}
        for name, path in files.items()
    }
    # A room's door names what is behind it; who is behind it may come through the door of another room.
    doors = {name for name, path in files.items() if path.name == "__init__.py"}
    TopologicalSorter({name: others - doors for name, others in needed.items() if name not in doors}).prepare()
