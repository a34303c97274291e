"""Which memory supersedes which, for one reader of the old one (ADMISSION 7, TRUST 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memfs.model.memory import Memory
from memfs.model.reader import id_of_path
from memfs.model.scope import is_seen_with, scope_of_path
from memfs.standing.facts import Superseding, asked_of_others


def find_superseding(
    memory: Memory,
    successors: Mapping[str, Sequence[str]],
    *,
    trusted: bool,
    is_trusted: Callable[[str], bool],
    sees_path: Callable[[str], bool] = lambda _path: True,
) -> Superseding:
    """Return what supersedes ``memory``, and the one that its trigger watches.

    ``successors`` maps an id to the paths of the memories that say they replace it. What people approved
    is superseded only by what people approved: otherwise anybody who may write a file could switch a rule
    off and put words of his own, as an id, beside it.
    """
    scope = scope_of_path(memory.path)
    found: dict[str, str] = {}
    passed_over = 0
    for old in asked_of_others(memory):
        for path in successors.get(old, ()):
            # A memory is superseded only by one that each of its readers can read too.
            if path == memory.path or not is_seen_with(scope_of_path(path), scope) or not sees_path(path):
                continue
            if trusted and not is_trusted(path):
                passed_over += old == memory.id
                continue
            found.setdefault(old, id_of_path(path))
    return Superseding(by=found, passed_over=passed_over)
