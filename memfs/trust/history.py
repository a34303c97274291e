"""Records in commit messages: one hardened ``git log`` over what was not read before (TRUST 7).

What is found can only take trust away or say why there is none; granting needs no git.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memfs.disk.worktree import WorkTree
from memfs.git.log import read_messages
from memfs.trust.record import KEYWORD, Record, find_records

_KEYWORD = KEYWORD.encode()


def read_history(
    tree: WorkTree, commits: Sequence[str], *, known: Iterable[str] = (), timeout: float = 30.0
) -> list[tuple[str, Record]]:
    """Return (commit, record) for the history of ``commits`` without that of the ``known`` tips.

    Newest first. Raises :class:`SetupError` when git is missing, refuses, or takes too long.
    """
    found: list[tuple[str, Record]] = []
    for name, part in read_messages(tree, commits, known=list(known), timeout=timeout):
        if _KEYWORD in part:
            found.extend((name, record) for record in find_records(part))
    return found


def lines_of(found: Sequence[tuple[str, Record]]) -> list[Record]:
    """Return the records alone, each once."""
    return list({record.line: record for _, record in found}.values())
