"""Entries of stores in the user's own settings, written without touching another line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from memfs.disk.places import Places
from memfs.disk.private import read_decisive, replace_decisive
from memfs.disk.settings import Store, parse_user_settings, read_user_settings
from memfs.disk.worktree import WorkTree
from memfs.disk.yaml import MAX_YAML_BYTES, YamlError, find_node, parse_yaml
from memfs.errors import SetupError
from memfs.model.values import replace


def add_store(places: Places, store: Store) -> bool:
    """Add ``store`` to the user's settings, changing no other line, and return whether it was new.

    Raises :class:`SetupError` when another store has its name, or the settings cannot be relied on.
    """
    if not f"{store.name}{store.path}".isprintable():
        raise SetupError("the name and path of a store are printable text", hint="give the folder another name")
    known = read_user_settings(places).stores
    if any(_same(other.path, store.path) for other in known):
        return False
    if any(other.name == store.name for other in known):
        raise SetupError("another store has this name in your settings", where=store.name)
    path = places.config / "config.yaml"
    raw = read_decisive(path, "your settings", limit=MAX_YAML_BYTES) or b"# Your own settings of memfs.\n"
    changed = _with_store(raw, store)
    parse_user_settings(changed, places, str(path))
    replace_decisive(places, path, changed, "your settings")
    return True


def set_switches(places: Places, tree: WorkTree, *, capture: bool, automatic: bool) -> None:
    """Write whether drafts may be captured for the repository at ``tree``, into the user's own settings.

    A repository without an entry gets one, which changes nothing else about it. Raises :class:`SetupError` for
    settings that cannot be relied on, or whose form is not one that memfs edits.
    """
    root = os.path.realpath(tree.root)
    known = read_user_settings(places).stores
    store = next((one for one in known if os.path.realpath(one.path) == root), None)
    if store is None:
        name = Path(root).name or "store"
        taken = {one.name for one in known}
        free = next(one for one in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if one not in taken)
        # It is found from inside without an entry, and agents write there.
        new = Store(name=free, path=Path(root), recall=False, write=True, capture=capture, automatic=automatic)
        add_store(places, new)
        return
    path = places.config / "config.yaml"
    raw = read_decisive(path, "your settings", limit=MAX_YAML_BYTES) or b""
    lines = raw.decode("utf-8").splitlines(keepends=True)
    stores = find_node(parse_yaml(raw), "stores")
    nodes = [one.value for one in stores.value if isinstance(one.value, dict)] if isinstance(stores.value, list) else []
    entry = next(one for one in nodes if "name" in one and one["name"].value == store.name)
    wanted = {"capture": "true" if capture else "false", "automatic": "true" if automatic else "false"}
    for name in wanted.keys() & entry.keys():  # in their lines; what is new comes behind the path
        line = entry[name].line - 1
        lines[line] = re.sub(rf"({name}:[ \t]*)\S+", rf"\g<1>{wanted[name]}", lines[line], count=1)
    at = entry["path"].line
    head = re.match(r"[ \t]*(?:-[ \t]+)?", lines[at - 1])
    indent = " " * len(head[0]) if head else ""
    lines[at:at] = [f"{indent}{name}: {text}\n" for name, text in wanted.items() if name not in entry]
    changed = "".join(lines).encode()
    try:
        done = parse_user_settings(changed, places, str(path))
    except YamlError:
        done = None
    if done is None or replace(store, capture=capture, automatic=automatic) not in done.stores:
        hint = f"set `capture: {'true' if capture else 'false'}` for the store {store.name} there by hand"
        raise SetupError("the form of your settings is not one that memfs edits", where=str(path), hint=hint)
    replace_decisive(places, path, changed, "your settings")


def _with_store(raw: bytes, store: Store) -> bytes:
    # JSON strings are YAML's double-quoted scalars.
    name, path = (json.dumps(text, ensure_ascii=False) for text in (store.name, str(store.path)))
    entry = f"  - name: {name}\n    path: {path}\n"
    for switch, value, default in (
        ("recall", store.recall, True),
        ("capture", store.capture, False),
        ("automatic", store.automatic, False),
        ("write", store.write, False),
    ):
        if value is not default:
            entry += f"    {switch}: {'true' if value else 'false'}\n"
    text = raw.decode("utf-8")
    if text and not text.endswith("\n"):
        text += "\n"
    stores = parse_yaml(raw).value
    node = stores.get("stores") if isinstance(stores, dict) else None
    if node is None:
        return f"{text}stores:\n{entry}".encode()
    lines = text.splitlines(keepends=True)
    if not isinstance(node.value, list) or not node.value or lines[node.line - 1].lstrip().startswith("["):
        raise SetupError("add the store to your settings by hand", where="stores", hint=entry)
    start = node.value[0].line - 1
    indent, dash, _ = lines[start].partition("-")
    if indent.strip() or not dash:
        raise SetupError("add the store to your settings by hand", where="stores", hint=entry)
    end = start + 1
    for number, line in enumerate(lines[start:], start):
        if line.strip() and not line.startswith((indent + "-", indent + " ")):
            break
        end = number + 1 if line.strip() else end
    entry = "".join(indent + line[2:] for line in entry.splitlines(keepends=True))
    return "".join([*lines[:end], entry, *lines[end:]]).encode()


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
