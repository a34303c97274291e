"""What the package ships beside its code: ``schemas/`` and ``template-repo/``.

An installed wheel has them under ``memfs/_shipped``; a checkout has them beside the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from memfs.errors import NotFoundError, SetupError

_PACKAGE = Path(__file__).resolve().parent.parent


def find_shipped(name: str) -> Path:
    """Return the folder ``schemas`` or ``template-repo``; raise :class:`SetupError` where it was not shipped."""
    for folder in (_PACKAGE / "_shipped" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise SetupError(f"this installation of memfs has no {name} folder", hint="install memfs-git again")


@cache
def read_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema ``schemas/<name>.json``; raise :class:`NotFoundError` for an unknown name."""
    path = find_shipped("schemas") / f"{name}.json"
    if not path.is_file():
        raise NotFoundError("there is no schema of that name", where=name)
    return cast(dict[str, Any], json.loads(path.read_text(encoding="utf-8")))


def iter_schemas() -> Iterator[str]:
    """Yield the names of all schemas, sorted."""
    yield from sorted(path.stem for path in find_shipped("schemas").glob("*.json"))


def iter_template() -> Iterator[tuple[str, bytes]]:
    """Yield (POSIX path relative to the new repository, content) of every file of the template, sorted."""
    root = find_shipped("template-repo")
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()
