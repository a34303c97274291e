"""Two versions of one memory made into one, field by field: what git alone cannot do, because a
joined text would be one that nobody wrote.

Fields that one side alone changed are taken; lists get what either side added and lose what either
removed; everything else is a question to a person.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from memfs.disk.files import UnreadableFile, read_file, scan_memories
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError, NotFoundError, UsageError
from memfs.git.read import read_git
from memfs.git.snapshot import read_blobs
from memfs.model.codepoints import plain
from memfs.model.frontmatter import change_document, parse_document
from memfs.model.memory import Document, FrontValue
from memfs.model.reader import read_memory, require_memory
from memfs.model.values import dataclass

BODY = "text"
"""The name of the body among the fields."""

OURS, THEIRS = "ours", "theirs"

_LISTS = ("evidence", "applies_to", "tags", "supersedes")
_START = re.compile(rb"<{7}(?: |$)")
_MIDDLE = re.compile(rb"={7}$")
_END = re.compile(rb">{7}(?: |$)")
_BASE = re.compile(rb"\|{7}(?: |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The versions of one file. ``base`` is None where the common text is not known."""

    path: str
    base: bytes | None
    ours: bytes
    theirs: bytes
    is_in_merge: bool  # from git's index; the file is staged by the person afterwards


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A field that both sides changed. Values are texts, lists as their items; None: not there."""

    name: str
    base: FrontValue | None
    ours: FrontValue | None
    theirs: FrontValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What can be said without asking: the settled fields, and what a person must choose."""

    values: Mapping[str, FrontValue | None]
    conflicts: tuple[Conflict, ...]
    taken: tuple[tuple[str, str], ...]  # (field, where from) of fields that only one side changed


def merge_sides(sides: Sides) -> Merged:
    """Return the fields of both versions joined, as far as that needs nobody's judgement.

    Raises :class:`InvalidMemoryError` for a version that is not a readable document.
    """
    base = _fields(parse_document(sides.base)) if sides.base is not None else {}
    ours, theirs = _fields(parse_document(sides.ours)), _fields(parse_document(sides.theirs))
    values: dict[str, FrontValue | None] = {}
    conflicts: list[Conflict] = []
    taken: list[tuple[str, str]] = []
    for name in dict.fromkeys([*ours, *theirs]):
        was, mine, other = base.get(name), ours.get(name), theirs.get(name)
        if mine == other:
            values[name] = mine
        elif sides.base is not None and mine == was:
            values[name] = other
            taken.append((name, THEIRS))
        elif sides.base is not None and other == was:
            values[name] = mine
            taken.append((name, OURS))
        elif name in _LISTS and not isinstance(mine, str) and not isinstance(other, str):
            values[name] = merge_lists(was if isinstance(was, tuple) else (), mine or (), other or ())
            taken.append((name, "both"))
        else:
            conflicts.append(Conflict(name=name, base=was, ours=mine, theirs=other))
    return Merged(values=values, conflicts=tuple(conflicts), taken=tuple(taken))


def merge_lists(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """Return ``ours`` with what ``theirs`` added, without what either side removed."""
    gone = {item for item in base if item not in ours or item not in theirs}
    return tuple(dict.fromkeys(item for item in (*ours, *theirs) if item not in gone))


def write_merged(sides: Sides, merged: Mapping[str, FrontValue | None]) -> bytes:
    """Return the file with these fields, as a change of ours: its order and quoting stay.

    Raises :class:`InvalidMemoryError` when the result is not a well-formed memory.
    """
    ours = _fields(parse_document(sides.ours))
    changes = {name: value for name, value in merged.items() if name != BODY and value != ours.get(name)}
    body = merged.get(BODY)
    raw = change_document(sides.ours, changes, body if isinstance(body, str) and body != ours[BODY] else None)
    require_memory(read_memory(sides.path, raw))
    return raw


def find_sides(tree: WorkTree, memory_id: str) -> Sides:
    """Return both versions of a memory: from git's index in the middle of a merge, else from the
    conflict markers in its file.

    Raises :class:`NotFoundError` for an unknown id and :class:`UsageError` where one version only is there.
    """
    unmerged = _find_in_index(tree, memory_id)
    if unmerged is not None:
        return unmerged
    paths = [entry.path for entry in scan_memories(tree).entries if entry.path.endswith(f"/{memory_id}.md")]
    if not paths:
        raise NotFoundError("no memory of that id is here", where=plain(memory_id))
    for path in paths:
        try:
            raw = read_file(tree, path)
        except UnreadableFile:
            continue
        found = split_markers(raw)
        if found is not None:
            base, ours, theirs = found
            return Sides(path=path, base=base, ours=ours, theirs=theirs, is_in_merge=False)
    raise UsageError(
        "there is one version of this memory, and no conflict", where=plain(memory_id), hint="`memfs edit` changes it"
    )


def split_markers(raw: bytes) -> tuple[bytes | None, bytes, bytes] | None:
    """Return (base, ours, theirs) of a text with git's conflict markers; None where it has none.

    The base is known where git wrote it too (``merge.conflictStyle=diff3``).
    """
    sides: dict[str, list[bytes]] = {"base": [], OURS: [], THEIRS: []}
    where = "all"
    found = has_base = False
    for line in raw.replace(b"\r\n", b"\n").split(b"\n"):
        if where == "all" and _START.match(line):
            where, found = OURS, True
        elif where == OURS and _BASE.match(line):
            where, has_base = "base", True
        elif where in (OURS, "base") and _MIDDLE.match(line):
            where = THEIRS
        elif where == THEIRS and _END.match(line):
            where = "all"
        else:
            for name in sides if where == "all" else (where,):
                sides[name].append(line)
    if not found or where != "all":
        return None
    texts = {name: b"\n".join(lines) for name, lines in sides.items()}
    return texts["base"] if has_base else None, texts[OURS], texts[THEIRS]


def _find_in_index(tree: WorkTree, memory_id: str) -> Sides | None:
    if tree.git_dir is None:
        return None
    raw = read_git(tree, "ls-files", "-u", "-z", "--", "memories", check=False)
    stages: dict[str, dict[int, str]] = {}
    for line in raw.split(b"\0"):
        facts, _, name = line.partition(b"\t")
        words = facts.split()
        if len(words) == 3:
            stages.setdefault(os.fsdecode(name), {})[int(words[2])] = words[1].decode("ascii")
    for path, blobs in stages.items():
        if not path.endswith(f"/{memory_id}.md"):
            continue
        if 2 not in blobs or 3 not in blobs:
            raise UsageError(
                "one branch deleted this memory and the other changed it",
                where=plain(path),
                hint="`git add` the file to keep it, or `git rm` it",
            )
        texts = dict(read_blobs(tree, dict.fromkeys(blobs.values(), 0)))
        return Sides(
            path=path, base=texts.get(blobs.get(1, "")), ours=texts[blobs[2]], theirs=texts[blobs[3]], is_in_merge=True
        )
    return None


def _fields(document: Document) -> dict[str, FrontValue | None]:
    if not document.has_front:
        raise InvalidMemoryError("one of the versions has no front matter, so they can only be joined by hand")
    return {**document.front, BODY: document.body}
