"""What a person or an agent says about a recalled memory. Kept on this machine, never in git."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from memfs.disk.files import scan_memories
from memfs.errors import NotFoundError, SetupError
from memfs.recall.usage import NEVER, Usage, append_usage, read_usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree


def record_feedback(
    tree: WorkTree,
    places: Places,
    memory_id: str,
    *,
    helped: bool,
    today: date,
    sees: Callable[[str | None], bool] = lambda _scope: True,
) -> Usage:
    """Note that a memory helped or misled, and return its usage with that counted.

    Raises :class:`NotFoundError`, with the same words, for an unknown id and for a hidden one, and
    :class:`SetupError` when the disk refuses.
    """
    require_visible(tree, memory_id, sees)
    try:
        append_usage(tree, places, "helped" if helped else "misled", [memory_id], today)
    except OSError as error:
        raise SetupError(
            f"this could not be kept: {error.strerror}",
            where=str(places.state),
            hint="free some space, then say it again",
        ) from error
    return read_usage(tree, places).get(memory_id, NEVER)


def require_visible(tree: WorkTree, memory_id: str, sees: Callable[[str | None], bool]) -> None:
    """Raise :class:`NotFoundError` unless a memory of that id is here and its folder may be seen."""
    from memfs.model.codepoints import escape_hidden
    from memfs.model.scope import scope_of_path

    for entry in scan_memories(tree).entries:
        if entry.path.rsplit("/", 1)[-1] == f"{memory_id}.md" and sees(scope_of_path(entry.path)):
            return
    raise NotFoundError(
        "no memory of that id is here for this caller", where=escape_hidden(memory_id, single_line=True)
    )
