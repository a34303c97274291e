"""Memories of the same scope that say the same, nearly the same, or the opposite: a hint while writing.

``memfs check`` and ``memfs review`` look at all of them, this at the most recently changed ones only. A long
note that contains a short rule is not like it.
"""

from __future__ import annotations

from memfs.disk.files import read_file, scan_memories
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError
from memfs.model.memory import MemoryFile
from memfs.model.reader import id_of_path, require_memory
from memfs.repository.duplicates import judge_pair

_MOST_COMPARED = 500
_MOST_SHOWN = 3


def find_similar(tree: WorkTree, file: MemoryFile) -> tuple[tuple[str, str], ...]:
    """Return (id, "same" | "near" | "contradicts") of the memories that ``file`` is like."""
    memory = require_memory(file)
    folder = f"memories/{memory.scope}/"
    entries = [
        entry
        for entry in scan_memories(tree).entries
        if entry.path.startswith(folder) and "/" not in entry.path[len(folder) :] and entry.path != file.path
    ]
    found = []
    for entry in sorted(entries, key=lambda entry: -entry.mtime_ns)[:_MOST_COMPARED]:
        other = id_of_path(entry.path)
        if not other or other in memory.supersedes or not _may_be_alike(entry.size, len(file.raw)):
            continue
        try:
            body = _body_of(read_file(tree, entry.path))
        except InvalidMemoryError:
            continue
        likeness = judge_pair(memory.body, body)
        if likeness is not None:
            found.append((other, likeness.value))
    return tuple(found[:_MOST_SHOWN])


def _may_be_alike(one: int, other: int) -> bool:
    return abs(one - other) < 900 + max(one, other) // 2


def _body_of(raw: bytes) -> str:
    """Return the text below the front matter, roughly: enough to compare words."""
    text = raw.decode("utf-8", "replace")
    if text.startswith("---"):
        end = text.find("\n---", 3)
        text = text[end + 4 :] if end >= 0 else text
    return text
