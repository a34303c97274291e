"""What a person or an agent says about a recalled memory. Kept on this machine, never in git."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from memfs.errors import SetupError
from memfs.recall.usage import NEVER, Usage, append_usage, read_usage

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree


def record_feedback(tree: WorkTree, places: Places, memory_id: str, *, helped: bool, today: date) -> Usage:
    """Note that a memory, which the caller was shown, helped or misled; return its usage with that counted.

    Raises :class:`SetupError` when the disk refuses.
    """
    try:
        append_usage(tree, places, "helped" if helped else "misled", [memory_id], today)
    except (OSError, SetupError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise SetupError(f"this could not be kept: {said}", where=str(places.state), hint="memfs doctor") from error
    return read_usage(tree, places).get(memory_id, NEVER)
