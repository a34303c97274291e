"""Where content lies now that is not where it was. Other memories are not looked into (DESIGN 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from memfs.git.snapshot import Snapshot
from memfs.model.memory import PartEvidence
from memfs.model.parts import MAX_BYTES, PartedText

_MOST_CANDIDATES = 40  # files of a name that a moved part is looked for in
_EMPTY = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
"""git's names for the empty file: it has not moved, there are many of it."""


class Moves:
    """Finds moved files and parts of files in one snapshot; each text is read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._texts: dict[str, PartedText | None] = {}

    def text(self, path: str) -> PartedText | None:
        """Return the file's text with its parts; None where it is not here or too large."""
        if path not in self._texts:
            raw = self._snapshot.content_of(path, limit=MAX_BYTES)
            self._texts[path] = None if raw is None or len(raw) > MAX_BYTES else PartedText(path, raw)
        return self._texts[path]

    def find(self, path: str, then: str) -> str | None:
        """Return the path where the content that ``path`` had lies now; the likest name where it is at several."""
        if any(blob.startswith(then) for blob in _EMPTY):
            return None
        places = [other for other in self._by_blob.get(then[:16], ()) if _is_open(other)]
        same = [other for other in places if (self._snapshot.blob_of(other, like=then) or "").startswith(then)]
        return min(same, key=lambda other: _distance(path, other), default=None)

    def find_part(self, piece: PartEvidence) -> str | None:
        """Return the path of a file of the same name or folder that has the part as it was."""
        folder, _, name = piece.path.rpartition("/")
        ending = "." + name.rpartition(".")[2]
        near = [
            path
            for path, entry in self._snapshot.tracked().items()
            if entry.kind == "file" and (path.rsplit("/", 1)[-1] == name or path.rpartition("/")[0] == folder)
            if path.endswith(ending) and _is_open(path)
        ]
        for path in sorted(near, key=lambda other: _distance(piece.path, other))[:_MOST_CANDIDATES]:
            text = self.text(path)
            found = text.find(piece.part, piece.text) if text is not None else None
            if found is not None and found.same:
                return path
        return None

    @cached_property
    def _by_blob(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for path, entry in self._snapshot.tracked().items():
            if entry.kind == "file":
                found.setdefault(entry.blob[:16], []).append(path)
        return found


def _is_open(path: str) -> bool:
    return not path.startswith("memories/")


def _distance(path: str, other: str) -> tuple[bool, int, str]:
    """Return how unlike two paths are: the same file name first, then the most folders in common."""
    one, two = path.split("/"), other.split("/")
    common = 0
    while common < min(len(one), len(two)) - 1 and one[common] == two[common]:
        common += 1
    return one[-1] != two[-1], -common, other
