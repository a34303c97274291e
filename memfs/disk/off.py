"""The list of projects in which the user wants nothing of memfs, in the user's own settings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.disk.private import read_decisive, replace_decisive
from memfs.disk.settings import read_user_settings
from memfs.disk.yaml import MAX_YAML_BYTES, Node, parse_yaml
from memfs.errors import SetupError

if TYPE_CHECKING:
    from memfs.disk.places import Places

_WHAT = "your settings"


def turn_off(places: Places, folder: Path) -> bool:
    """Enter ``folder`` in the list and return whether it was new. No other line of the settings changes."""
    settings = read_user_settings(places)
    if settings.is_off(folder):
        return False
    lines, node = _read(places)
    entry = f"- {json.dumps(os.path.realpath(folder), ensure_ascii=False)}\n"
    if node is None:
        lines += ["off:\n", f"  {entry}"]
    elif not isinstance(node.value, list) or not node.value or lines[node.line - 1].lstrip().startswith("["):
        raise _by_hand(entry)
    else:
        first = lines[node.value[0].line - 1]
        lines.insert(node.value[-1].line, first[: len(first) - len(first.lstrip())] + entry)
    _write(places, lines)
    return True


def turn_on(places: Places, folder: Path) -> bool:
    """Take ``folder`` and what is above it out of the list; return whether it was there."""
    settings = read_user_settings(places)
    if not settings.is_off(folder):
        return False
    lines, node = _read(places)
    items = node.value if node is not None and isinstance(node.value, list) else []
    place = Path(os.path.realpath(folder))
    gone = [
        item.line - 1
        for item, path in zip(items, settings.off, strict=True)
        if place.is_relative_to(os.path.realpath(path))
    ]
    if any(not lines[number].lstrip().startswith("- ") for number in gone):
        raise _by_hand("off")
    if len(gone) == len(items):
        assert node is not None
        gone.append(next(number for number, line in enumerate(lines) if line.startswith("off:")))
    _write(places, [line for number, line in enumerate(lines) if number not in gone])
    return True


def _read(places: Places) -> tuple[list[str], Node | None]:
    raw = read_decisive(places.config / "config.yaml", _WHAT, limit=MAX_YAML_BYTES)
    raw = raw or b"# Your own settings of memfs.\n"
    top = parse_yaml(raw).value
    text = raw.decode("utf-8")
    lines = (text if text.endswith("\n") or not text else f"{text}\n").splitlines(keepends=True)
    return lines, top.get("off") if isinstance(top, dict) else None


def _write(places: Places, lines: list[str]) -> None:
    replace_decisive(places, places.config / "config.yaml", "".join(lines).encode(), _WHAT)
    read_user_settings(places)


def _by_hand(entry: str) -> SetupError:
    return SetupError("change the list in your settings by hand", where="off", hint=entry.strip())
