"""What the package ships beside its code: ``schemas/`` and ``template-repo/``.

An installed wheel has them under ``memfs/_shipped``; a checkout has them beside the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
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


NO_COMMIT = b"0000000"
"""What the template's examples name as the commit of their evidence until there is one."""

_RECORDED, _EXPIRES = b"2000-01-01", b"2000-01-31"


def fill_example(raw: bytes, *, commit: str, today: date) -> bytes:
    """Return an example memory of the template tied to ``commit`` and to the day it is written on.

    Everything else in it stays. A file that is no untouched example comes back as it is.
    """
    if b"@" + NO_COMMIT + b"\n" not in raw and _RECORDED not in raw:
        return raw
    raw = raw.replace(b"@" + NO_COMMIT + b"\n", b"@" + commit.encode("ascii") + b"\n")
    raw = raw.replace(_EXPIRES, (today + timedelta(days=30)).isoformat().encode("ascii"))
    return raw.replace(_RECORDED, today.isoformat().encode("ascii"))
