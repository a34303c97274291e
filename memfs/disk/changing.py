"""Changes to the user's own settings: one entry of a list at a time, and no other line.

Whatever form a person gave them: what a change makes of them is read before it is written, and is written only
where it says the same as before with that one change.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from memfs.disk.places import Places
from memfs.disk.private import read_decisive, replace_decisive
from memfs.disk.settings import Store, UserSettings, parse_user_settings, read_user_settings
from memfs.disk.worktree import WorkTree
from memfs.disk.yaml import MAX_YAML_BYTES, Node, YamlError, find_node, parse_yaml
from memfs.errors import SetupError
from memfs.model.values import replace

_WHAT = "your settings"
_SWITCHES = {"recall": True, "capture": False, "automatic": False, "write": False}  # with what they are unsaid


def add_store(places: Places, store: Store) -> bool:
    """Add ``store`` to the user's settings and return whether it was new.

    Raises :class:`SetupError` when another store has its name, or the settings cannot be relied on.
    """
    if not f"{store.name}{store.path}".isprintable():
        raise SetupError("the name and path of a store are printable text", hint="give the folder another name")
    known = read_user_settings(places)
    if any(os.path.realpath(other.path) == os.path.realpath(store.path) for other in known.stores):
        return False
    if any(other.name == store.name for other in known.stores):
        raise SetupError("another store has this name in your settings", where=store.name)
    entry = [f"- name: {_text(store.name)}", f"  path: {_text(str(store.path))}"]
    for name, usual in _SWITCHES.items():
        if getattr(store, name) is not usual:
            entry.append(f"  {name}: {_text(not usual)}")
    _add_item(places, "stores", entry, replace(known, stores=(*known.stores, store)))
    return True


def set_switches(places: Places, tree: WorkTree, *, capture: bool, automatic: bool) -> None:
    """Write whether drafts may be captured for the repository at ``tree``.

    A repository without an entry gets one, which changes nothing else about it. Raises :class:`SetupError` for
    settings that cannot be relied on, or whose form is not one that memfs edits.
    """
    root = os.path.realpath(tree.root)
    known = read_user_settings(places)
    store = next((one for one in known.stores if os.path.realpath(one.path) == root), None)
    if store is None:
        name = Path(root).name or "store"
        taken = {one.name for one in known.stores}
        free = next(one for one in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if one not in taken)
        # It is found from inside without an entry, and agents write there.
        new = Store(name=free, path=Path(root), recall=False, write=True, capture=capture, automatic=automatic)
        add_store(places, new)
        return
    lines, top = _read(places)
    entry = next(item for item in _items(top, "stores") if find_node(item, "name").value == store.name)
    added = []
    for name, value in (("capture", capture), ("automatic", automatic)):
        node = find_node(entry, name)
        if node is entry:
            added.append(f"{name}: {_text(value)}")
        else:
            lines[node.line - 1] = re.sub(
                rf"({name}:[ \t]*)\S+", rf"\g<1>{_text(value)}", lines[node.line - 1], count=1
            )
    at = find_node(entry, "path").line  # what is new comes behind the path
    lines[at:at] = [f"{' ' * (entry.column - 1)}{line}\n" for line in added]
    changed = replace(store, capture=capture, automatic=automatic)
    stores = tuple(changed if one is store else one for one in known.stores)
    _write(places, lines, replace(known, stores=stores), f"set `capture: {_text(capture)}` for the store {store.name}")


def turn_off(places: Places, folder: Path) -> bool:
    """Enter ``folder`` in the list of projects that want nothing of memfs; return whether it was new."""
    known = read_user_settings(places)
    if known.is_off(folder):
        return False
    place = os.path.realpath(folder)
    _add_item(places, "off", [f"- {_text(place)}"], replace(known, off=(*known.off, Path(place))))
    return True


def turn_on(places: Places, folder: Path) -> bool:
    """Take ``folder`` and what is above it out of that list; return whether it was there."""
    known = read_user_settings(places)
    if not known.is_off(folder):
        return False
    lines, top = _read(places)
    place = Path(os.path.realpath(folder))
    kept = tuple(path for path in known.off if not place.is_relative_to(os.path.realpath(path)))
    gone = [item.line for item, path in zip(_items(top, "off"), known.off, strict=True) if path not in kept]
    if not kept:
        gone += [number for number, line in enumerate(lines, 1) if line.startswith("off:")]
    left = [line for number, line in enumerate(lines, 1) if number not in gone]
    _write(places, left, replace(known, off=kept), f"take {place} out of the list `off`")
    return True


def _read(places: Places) -> tuple[list[str], Node]:
    raw = read_decisive(places.config / "config.yaml", _WHAT, limit=MAX_YAML_BYTES)
    text = (raw or b"# Your own settings of memfs.\n").decode("utf-8")
    lines = (text if text.endswith("\n") else f"{text}\n").splitlines(keepends=True)
    return lines, parse_yaml(text.encode())


def _items(top: Node, name: str) -> list[Node]:
    node = find_node(top, name)
    return node.value if isinstance(node.value, list) else []


def _add_item(places: Places, name: str, entry: Sequence[str], wanted: UserSettings) -> None:
    """Write ``entry``, the lines of one item, behind the last item of the list ``name``."""
    lines, top = _read(places)
    items = _items(top, name)
    if not items:
        lines += [f"{name}:\n", *(f"  {line}\n" for line in entry)]
    else:
        first = lines[items[0].line - 1]
        indent = first[: len(first) - len(first.lstrip())]
        end = items[-1].line
        for number, line in enumerate(lines[end:], end + 1):
            if line.strip() and not line.startswith(f"{indent} "):
                break
            end = number if line.strip() else end
        lines[end:end] = [f"{indent}{line}\n" for line in entry]
    _write(places, lines, wanted, "\n".join(entry))


def _write(places: Places, lines: Sequence[str], wanted: UserSettings, by_hand: str) -> None:
    path = places.config / "config.yaml"
    changed = "".join(lines).encode()
    try:
        done = parse_user_settings(changed, places, str(path))
    except YamlError:
        done = None
    # What is unknown and what `check` has are told with their lines, which may have moved.
    if done is None or replace(done, problems=(), check=None) != replace(wanted, problems=(), check=None):
        raise SetupError(
            "memfs does not edit settings of this form; change them by hand", where=str(path), hint=by_hand
        )
    replace_decisive(places, path, changed, _WHAT)


def _text(value: str | bool) -> str:
    """Return a text or a switch as YAML: JSON's strings are YAML's double-quoted scalars."""
    return json.dumps(value, ensure_ascii=False)
