"""Text indexes in memory for tests of scoring."""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

from memfs.index.document import count_terms, text_key
from memfs.index.text import TextIndex


def index_of(texts: Mapping[str, str] | Sequence[str], *, scope: str | None = "team") -> TextIndex:
    """Return an index of ``texts`` in one scope; the paths are the keys, or the places as numbers."""
    if not isinstance(texts, Mapping):
        texts = {f"{place:04}": text for place, text in enumerate(texts)}
    return mixed_index([(path, scope, text) for path, text in texts.items()])


def mixed_index(rows: Sequence[tuple[str, str | None, str]]) -> TextIndex:
    """Return an index of (path, scope, text) rows, all of them in the tail."""
    names: list[str | None] = [None, *dict.fromkeys(scope for _, scope, _ in rows)]
    counts = [count_terms(text) for _, _, text in rows]
    return TextIndex(
        paths=[path for path, _, _ in rows],
        keys=bytearray(b"".join(text_key(text) for _, _, text in rows)),
        scopes=array("H", [names.index(scope, 1) for _, scope, _ in rows]),
        lengths=array("I", [length for _, length in counts]),
        scope_names=names,
        postings_rows=0,
        open_postings=None,
        tail=[count for count, _ in counts],
        read_facets=lambda: [""] * len(rows),
    )


def everybody(_scope: str | None) -> bool:
    """Be a caller who sees everything."""
    return True


def write_memory(root: Path, memory_id: str, statement: str, *, scope: str = "team", **more: str) -> Path:
    """Write a well-formed memory below ``root`` and return its path; keyword arguments are fields."""
    fields = {
        "kind": "decision",
        "origin": "owner",
        "scope": scope,
        "evidence": '["said by alice on 2026-01-01"]',
        "recorded": "2026-01-02",
        "review_trigger": "on 2040-01-01",
        **more,
    }
    path = root / "memories" / scope / f"{memory_id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    front = "\n".join(f"{key}: {value}" for key, value in fields.items())
    path.write_text(f"---\n{front}\n---\n{statement}\n", encoding="utf-8")
    return path


def settle(root: Path) -> None:
    """Make every memory old enough to be trusted by its time."""
    for path in root.rglob("*.md"):
        status = path.stat()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - 10_000_000_000))


class OpenGate:
    """A gate that lets everything through, for tests of the index alone."""

    version = 0

    def admits(self, _file: object) -> bool:
        return True

    def save(self) -> None:
        return
