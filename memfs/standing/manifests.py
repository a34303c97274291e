"""The manifests of a project: at its root, and of the packages of its workspace (DESIGN 3).

A workspace's packages are those that its manifests declare, and those in the usual folders.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from memfs.git.snapshot import Snapshot
from memfs.model.versions import MANIFESTS, MAX_MANIFEST_BYTES, parse_manifest

USUAL = ("apps", "cmd", "crates", "libs", "modules", "packages", "services")
"""Folders whose folders are packages in most repositories that contain several."""

_MOST = 400  # packages that are looked at
_PNPM_ITEM = re.compile(r"\s*-\s*['\"]?([^'\"#\s]+)")
_GO_USE = re.compile(r"^[ \t]*(?:use[ \t]+)?(\./[^\s()]+|[A-Za-z0-9_][^\s()]*)[ \t\r]*$", re.MULTILINE)


def read_manifests(snapshot: Snapshot) -> list[dict[str, str]]:
    """Return the parsed manifests of the root and of every package of the workspace."""
    found: list[dict[str, str]] = []
    folders = ["", *find_packages(snapshot)]
    for folder in folders:
        for name in MANIFESTS:
            text = _read(snapshot, f"{folder}/{name}" if folder else name)
            if text is not None:
                found.append(parse_manifest(name, text))
    return found


def find_packages(snapshot: Snapshot) -> list[str]:
    """Return the folders of the workspace's packages, sorted; declared ones and those in the usual places."""
    here = set(snapshot.folders(""))
    globs = [f"{folder}/*" for folder in USUAL if folder in here]
    globs += [glob.removeprefix("./").strip("/") for glob in _declared(snapshot)]
    left_out = [glob[1:] for glob in globs if glob.startswith("!")]
    found = {folder for glob in globs if not glob.startswith("!") for folder in _expand(snapshot, glob)}
    return sorted(path for path in found if not any(fnmatchcase(path, glob) for glob in left_out))[:_MOST]


def _declared(snapshot: Snapshot) -> Iterator[str]:
    for name, of in (
        ("package.json", _of_npm),
        ("pnpm-workspace.yaml", _of_pnpm),
        ("Cargo.toml", _of_cargo),
        ("pyproject.toml", _of_uv),
        ("go.work", _of_go),
    ):
        text = _read(snapshot, name)
        if text is None:
            continue
        try:
            found = of(text)
        except (ValueError, RecursionError):  # somebody's text
            continue
        yield from (glob for glob in found if isinstance(glob, str) and ".." not in glob.split("/"))


def _of_npm(text: str) -> list[Any]:
    table = json.loads(text)
    found = table.get("workspaces") if isinstance(table, dict) else None
    if isinstance(found, dict):
        found = found.get("packages")
    return found if isinstance(found, list) else []


def _of_pnpm(text: str) -> list[Any]:
    below = text.partition("packages:")[2]
    return [match[1] for line in below.split("\n") if (match := _PNPM_ITEM.fullmatch(line.rstrip()))]


def _of_cargo(text: str) -> list[Any]:
    return _list_at(tomllib.loads(text), "workspace", "members")


def _of_uv(text: str) -> list[Any]:
    return _list_at(tomllib.loads(text), "tool", "uv", "workspace", "members")


def _of_go(text: str) -> list[Any]:
    return [match[1] for match in _GO_USE.finditer(text.replace("use (", "").replace(")", ""))]


def _list_at(table: object, *names: str) -> list[Any]:
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, list) else []


def _expand(snapshot: Snapshot, glob: str) -> list[str]:
    """Return the folders that ``glob`` names; ``**`` stands for up to two folders."""
    found = [""]
    for part in glob.split("/"):
        if part in ("", "."):
            continue
        if part == "**":
            once = [below for folder in found for below in _below(snapshot, folder)]
            found += [*once, *(below for folder in once for below in _below(snapshot, folder))]
        elif any(char in part for char in "*?["):
            found = [
                below
                for folder in found
                for below in _below(snapshot, folder)
                if fnmatchcase(below.rsplit("/", 1)[-1], part)
            ]
        else:
            found = [f"{folder}/{part}" if folder else part for folder in found]
        found = found[:_MOST]
    return [folder for folder in found if folder]


def _below(snapshot: Snapshot, folder: str) -> list[str]:
    names = [name for name in snapshot.folders(folder) if not name.startswith(".") and name != "node_modules"]
    return [f"{folder}/{name}" if folder else name for name in names]


def _read(snapshot: Snapshot, path: str) -> str | None:
    raw = snapshot.content_of(path, limit=MAX_MANIFEST_BYTES)
    return None if raw is None else raw.decode("utf-8", "replace")
