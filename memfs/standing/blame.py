"""Which memories rest on a file, watch it, or apply to it: what to know before it is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from memfs.git.snapshot import Snapshot
from memfs.model.applies import matcher
from memfs.model.evidence import format_part
from memfs.model.memory import FileEvidence, Lines, MemoryFile, PartEvidence, WhenPathChanges
from memfs.model.parts import MAX_BYTES, PartedText
from memfs.model.values import dataclass


class How(StrEnum):
    """How a memory has to do with a file."""

    RESTS = "rests-on"
    WATCHES = "watches"
    APPLIES = "applies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearing:
    """One memory and one file. ``part`` is what of the file it rests on, ``lines`` where that is now."""

    file: MemoryFile
    how: How
    part: str = ""
    lines: Lines | None = None


def find_bearing(snapshot: Snapshot, path: str, files: Iterable[MemoryFile]) -> list[Bearing]:
    """Return what of ``files`` has to do with ``path``: by line first what rests on a part, then what rests on
    all of it, what watches it, and what applies to it. A memory comes once, with its closest tie; several
    parts of one memory come each."""
    raw = snapshot.content_of(path, limit=MAX_BYTES)
    text = PartedText(path, raw) if raw is not None else None
    matches = matcher(path)
    found: list[Bearing] = []
    for file in files:
        memory = file.memory
        if memory is None:
            continue
        resting = list(_resting(file, path, text))
        if resting:
            found += resting
        elif isinstance(memory.review_trigger, WhenPathChanges) and memory.review_trigger.path == path:
            found.append(Bearing(file=file, how=How.WATCHES))
        elif matches(memory.applies_to):
            found.append(Bearing(file=file, how=How.APPLIES))
    order = list(How)
    return sorted(found, key=lambda one: (one.lines.first if one.lines else 10**9, order.index(one.how), one.file.id))


def _resting(file: MemoryFile, path: str, text: PartedText | None) -> Iterator[Bearing]:
    assert file.memory is not None
    for piece in file.memory.evidence:
        if not isinstance(piece, FileEvidence) or piece.repo is not None or piece.path != path:
            continue
        if isinstance(piece, PartEvidence):
            place = text.find(piece.part, piece.text) if text is not None else None
            lines = place.lines if place is not None else None
            yield Bearing(file=file, how=How.RESTS, part=format_part(piece.part), lines=lines)
        else:
            yield Bearing(file=file, how=How.RESTS)
