"""Drafts that the gate holds back: one file each in the user's own state folder (ADMISSION 1).

They stay with their author, outside every repository, readable by nobody else, and are never
recalled. The gate has looked at a draft before it comes here: a rejected value is kept nowhere.
A draft belongs to the clone that it was kept for, by a mark in that clone's git directory: another
repository that comes to lie in the same folder neither shows nor submits it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memfs.disk.gitfiles import read_small
from memfs.disk.places import Places
from memfs.disk.private import make_folder, read_own, replace_own
from memfs.disk.worktree import WorkTree, identify
from memfs.errors import NotFoundError, SetupError
from memfs.model.values import asdict, dataclass, field, replace

VERSION = 1
MAX_DRAFTS = 500
"""Most drafts kept for one repository; the next one is refused until some are dropped."""

_NAME = re.compile(r"draft-([1-9]\d{0,5})")
_LIMIT = 1024 * 1024
_MARK = "memfs-clone"  # in the clone's git directory


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
    clone: str | None = None  # the mark of the clone that it is for; None: whichever is in the folder


def keep_draft(tree: WorkTree, places: Places, draft: HeldDraft) -> str:
    """Keep ``draft`` for the repository ``tree`` and return its name; a draft without one gets the next free."""
    folder = make_folder(places, "state", "drafts", identify(tree))
    name = draft.name
    if not name:
        taken = {int(match[1]) for entry in os.listdir(folder) if (match := _NAME.match(entry))}
        if len(taken) >= MAX_DRAFTS:
            raise SetupError(f"{len(taken)} drafts are kept already", hint="`memfs drafts drop` some of them")
        name = f"draft-{max(taken, default=0) + 1}"
    document = {"version": VERSION, **asdict(replace(draft, clone=_mark_of(tree) or _make_mark(tree)))}
    del document["name"]
    replace_own(folder / f"{name}.json", json.dumps(document, indent=1).encode() + b"\n")
    return name


def list_drafts(tree: WorkTree, places: Places) -> tuple[HeldDraft, ...]:
    """Return the drafts that are kept for ``tree``, oldest first; what cannot be read is passed over."""
    mark = _mark_of(tree)
    return tuple(draft for draft in _read_all(tree, places) if _is_for(draft, mark))


def drafts_of_others(tree: WorkTree, places: Places) -> str | None:
    """Return the folder of drafts that were kept for another clone in the place of ``tree``; None without any."""
    mark = _mark_of(tree)
    return str(_folder(tree, places)) if any(not _is_for(one, mark) for one in _read_all(tree, places)) else None


def get_draft(tree: WorkTree, places: Places, name: str) -> HeldDraft:
    """Return the draft called ``name``. Raises NotFoundError, and SetupError for a file that is not a draft."""
    draft = _read(tree, places, name)
    if not _is_for(draft, _mark_of(tree)):
        raise _no_draft(name)
    return draft


def drop_draft(tree: WorkTree, places: Places, name: str) -> None:
    """Delete the draft called ``name``, a damaged one too. Raises NotFoundError when there is none."""
    with suppress(SetupError):
        get_draft(tree, places, name)
    try:
        os.unlink(_folder(tree, places) / f"{name}.json")
    except FileNotFoundError:
        raise _no_draft(name) from None


def _read_all(tree: WorkTree, places: Places) -> list[HeldDraft]:
    folder = _folder(tree, places)
    if not os.path.isdir(folder):
        return []
    make_folder(places, "state", "drafts", identify(tree))
    numbers = sorted(
        int(match[1]) for entry in os.listdir(folder) if (match := _NAME.fullmatch(entry.removesuffix(".json")))
    )
    found = []
    for number in numbers:
        with suppress(NotFoundError, SetupError):
            found.append(_read(tree, places, f"draft-{number}"))
    return found


def _read(tree: WorkTree, places: Places, name: str) -> HeldDraft:
    raw = read_own(_folder(tree, places) / f"{name}.json", limit=_LIMIT) if _NAME.fullmatch(name) else None
    if raw is None:
        raise _no_draft(name)
    try:
        return _parse(name, json.loads(raw))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SetupError("this draft is damaged", where=name, hint=f"`memfs drafts drop {name}`") from error


def _no_draft(name: str) -> NotFoundError:
    where = name if _NAME.fullmatch(name) else None
    return NotFoundError("there is no such draft", where=where, hint="`memfs drafts` lists them")


def _is_for(draft: HeldDraft, mark: str | None) -> bool:
    return draft.clone is None or draft.clone == mark


def _mark_of(tree: WorkTree) -> str | None:
    raw = read_small(str(tree.git_dir / _MARK), limit=64) if tree.git_dir is not None else None
    text = (raw or b"").decode("ascii", "replace").strip()
    return text if re.fullmatch(r"[0-9a-f]{32}", text) else None


def _make_mark(tree: WorkTree) -> str | None:
    """Give the clone a mark; None where its git directory takes none, and the folder's path alone has to do."""
    if tree.git_dir is None:
        return None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError), os.fdopen(os.open(tree.git_dir / _MARK, flags, 0o600), "w") as file:
        file.write(f"{secrets.token_hex(16)}\n")
    return _mark_of(tree)


def _parse(name: str, document: Any) -> HeldDraft:
    if document["version"] != VERSION:
        raise ValueError("a draft of another version")
    texts = {
        key: None if document.get(key) is None else str(document[key]) for key in ("author", "id", "edits", "clone")
    }
    fields = {
        str(key): tuple(map(str, value)) if isinstance(value, list) else str(value)
        for key, value in document["fields"].items()
    }
    return HeldDraft(
        name=name,
        held_on=str(document["held_on"]),
        origin=str(document["origin"]),
        allow={str(rule): str(reason) for rule, reason in document["allow"].items()},
        reasons=tuple(map(str, document["reasons"])),
        fields=fields,
        body=str(document["body"]),
        **texts,
    )


def _folder(tree: WorkTree, places: Places) -> Path:
    return places.state / "drafts" / identify(tree)
