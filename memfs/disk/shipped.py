"""What the package ships beside its code: ``schemas/`` and ``template-repo/``.

An installed wheel has them under ``memfs/_shipped``; a checkout has them beside the package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
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


_RECORDED, _EXPIRES = b"2000-01-01", b"2000-01-31"
_TIED = re.compile(rb"(?m)^(  - )([^@\n]+)@blob:[0-9a-f]+$")


def fill_example(raw: bytes, *, blobs: Mapping[str, str], today: date) -> bytes:
    """Return an example memory of the template tied to ``blobs`` (path → git's name of the content) and to
    the day it is written on.

    Everything else in it stays. A file that is not an untouched example comes back as it is.
    """
    if _RECORDED not in raw:
        return raw

    def tie(found: re.Match[bytes]) -> bytes:
        blob = blobs.get(found[2].decode())
        return found[0] if blob is None else found[1] + found[2] + b"@blob:" + blob.encode("ascii")

    raw = _TIED.sub(tie, raw).replace(_EXPIRES, (today + timedelta(days=30)).isoformat().encode("ascii"))
    return raw.replace(_RECORDED, today.isoformat().encode("ascii"))
