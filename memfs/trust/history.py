"""Records in commit messages: one hardened ``git log`` over what was not read before (TRUST 7).

What is found can only take trust away or say why there is none; granting needs no git.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memfs.disk.worktree import WorkTree
from memfs.git.read import read_git
from memfs.trust.record import KEYWORD, Record, find_records

MAX_TIPS = 64
_COMMIT = re.compile(rb"\n?([0-9a-f]{40}(?:[0-9a-f]{24})?)")
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_KEYWORD = KEYWORD.encode()


def read_history(
    tree: WorkTree, commit: str, *, known: Iterable[str] = (), timeout: float = 30.0
) -> list[tuple[str, Record]]:
    """Return (commit, record) for the history of ``commit`` without that of the ``known`` tips.

    Newest first. Raises :class:`SetupError` when git is missing, refuses, or takes too long.
    """
    tips = [tip for tip in known if _OBJECT_ID.fullmatch(tip)][:MAX_TIPS]
    raw = read_git(
        tree,
        "log",
        "--no-show-signature",
        "--no-mailmap",
        "--no-notes",
        "--no-color",
        "--no-decorate",
        "--no-patch",
        "--ignore-missing",
        "--encoding=UTF-8",
        "--format=%H%x00%B%x00",
        commit,
        "--not",
        *tips,
        timeout=timeout,
    )
    return find_in_log(raw)


def find_in_log(raw: bytes) -> list[tuple[str, Record]]:
    """Return (commit, record) from ``%H%x00%B%x00`` output.

    Every part between two NULs is looked at by itself: a message that holds a NUL must not shift
    what follows it out of sight.
    """
    found: list[tuple[str, Record]] = []
    if _KEYWORD not in raw:
        return found
    commit = ""
    for part in raw.split(b"\0"):
        match = _COMMIT.fullmatch(part)
        if match is not None:
            commit = match[1].decode()
        elif _KEYWORD in part:
            found.extend((commit, record) for record in find_records(part))
    return found


def lines_of(found: Sequence[tuple[str, Record]]) -> list[Record]:
    """Return the records alone, each once."""
    return list({record.line: record for _, record in found}.values())
