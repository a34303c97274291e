"""Drafts that the gate holds back: one file each in the user's own state folder (ADMISSION 1).

They stay with their author, outside every repository, readable by nobody else, and are never
recalled. The gate has looked at a draft before it comes here: a rejected value is kept nowhere.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memfs.disk.places import Places
from memfs.disk.private import make_folder, read_own, replace_own
from memfs.disk.worktree import WorkTree, identify
from memfs.errors import NotFoundError, SetupError
from memfs.model.values import dataclass, field

VERSION = 1
MAX_DRAFTS = 500
"""Most drafts kept for one repository; the next one is refused until some are dropped."""

_NAME = re.compile(r"draft-([1-9]\d{0,5})")
_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDraft:
    """One draft as it is kept: what was given, who declared what, and which rules hold it."""

    name: str
    held_on: str  # ISO date
    origin: str
    fields: Mapping[str, str | tuple[str, ...]]
    body: str
    author: str | None = None
    id: str | None = None
    allow: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()  # memfs's own words: rule, field and sentence
    edits: str | None = None  # the id of the memory whose whole new file ``body`` is


def keep_draft(tree: WorkTree, places: Places, draft: HeldDraft) -> str:
    """Keep ``draft`` for the repository ``tree`` and return its name; a draft without one gets the next free."""
    folder = make_folder(places, "state", "drafts", identify(tree))
    name = draft.name
    if not name:
        taken = {int(match[1]) for entry in os.listdir(folder) if (match := _NAME.match(entry))}
        if len(taken) >= MAX_DRAFTS:
            raise SetupError(f"{len(taken)} drafts are kept already", hint="`memfs drafts drop` some of them")
        name = f"draft-{max(taken, default=0) + 1}"
    document = {
        "version": VERSION,
        "held_on": draft.held_on,
        "origin": draft.origin,
        "author": draft.author,
        "id": draft.id,
        "allow": dict(draft.allow),
        "reasons": list(draft.reasons),
        "edits": draft.edits,
        "fields": {key: list(value) if isinstance(value, tuple) else value for key, value in draft.fields.items()},
        "body": draft.body,
    }
    replace_own(folder / f"{name}.json", json.dumps(document, indent=1).encode() + b"\n")
    return name


def list_drafts(tree: WorkTree, places: Places) -> tuple[HeldDraft, ...]:
    """Return the drafts that are kept for ``tree``, oldest first; what cannot be read is passed over."""
    folder = _folder(tree, places)
    if not os.path.isdir(folder):
        return ()
    make_folder(places, "state", "drafts", identify(tree))
    numbers = sorted(
        int(match[1]) for entry in os.listdir(folder) if (match := _NAME.fullmatch(entry.removesuffix(".json")))
    )
    found = []
    for number in numbers:
        try:
            found.append(get_draft(tree, places, f"draft-{number}"))
        except (NotFoundError, SetupError):
            continue
    return tuple(found)


def get_draft(tree: WorkTree, places: Places, name: str) -> HeldDraft:
    """Return the draft called ``name``. Raises NotFoundError, and SetupError for a file that is no draft."""
    if not _NAME.fullmatch(name):
        raise NotFoundError("there is no such draft", hint="`memfs drafts` lists them")
    raw = read_own(_folder(tree, places) / f"{name}.json", limit=_LIMIT)
    if raw is None:
        raise NotFoundError("there is no such draft", where=name, hint="`memfs drafts` lists them")
    try:
        return _parse(name, json.loads(raw))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SetupError("this draft is damaged", where=name, hint=f"`memfs drafts drop {name}`") from error


def drop_draft(tree: WorkTree, places: Places, name: str) -> None:
    """Delete the draft called ``name``. Raises NotFoundError when there is none."""
    if not _NAME.fullmatch(name):
        raise NotFoundError("there is no such draft", hint="`memfs drafts` lists them")
    try:
        os.unlink(_folder(tree, places) / f"{name}.json")
    except FileNotFoundError:
        raise NotFoundError("there is no such draft", where=name, hint="`memfs drafts` lists them") from None


def _parse(name: str, document: Any) -> HeldDraft:
    if document["version"] != VERSION:
        raise ValueError("a draft of another version")
    fields = {
        str(key): tuple(map(str, value)) if isinstance(value, list) else str(value)
        for key, value in document["fields"].items()
    }
    return HeldDraft(
        name=name,
        held_on=str(document["held_on"]),
        origin=str(document["origin"]),
        author=None if document["author"] is None else str(document["author"]),
        id=None if document["id"] is None else str(document["id"]),
        allow={str(rule): str(reason) for rule, reason in document["allow"].items()},
        reasons=tuple(map(str, document["reasons"])),
        edits=None if document.get("edits") is None else str(document["edits"]),
        fields=fields,
        body=str(document["body"]),
    )


def _folder(tree: WorkTree, places: Places) -> Path:
    return places.state / "drafts" / identify(tree)
