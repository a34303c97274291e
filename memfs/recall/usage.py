"""What became of recalled memories on this machine: shown, helped, misled. Never in git.

Events are appended to a log in the user's state, one line each, and now and then folded into counts.
They move a hit by a few per cent and let people see what nobody uses; nothing fades by itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING

from memfs.disk.private import append_own, make_folder, read_own, replace_own
from memfs.disk.worktree import identify
from memfs.errors import SetupError
from memfs.model.values import dataclass

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree

EVENTS = ("shown", "helped", "misled")
_MAX_LOG = 64 * 1024
_MAX_FILE = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The counts of one memory. ``last`` is the last day on which it was shown, helped or misled."""

    shown: int = 0
    helped: int = 0
    misled: int = 0
    last: str = ""

    @property
    def factor(self) -> float:
        """What usage does to a score: between 0.9 and 1.05, and 1 without feedback."""
        return 1 + max(-0.1, 0.05 * (self.helped - 2 * self.misled) / (self.helped + self.misled + 2))


NEVER = Usage()


def read_usage(tree: WorkTree, places: Places) -> Mapping[str, Usage]:
    """Return the usage of each memory id of ``tree`` that was ever shown; what cannot be read counts as none."""
    folder = _folder(tree, places)
    counts = _read_counts(folder)
    _add_log(counts, _read(os.path.join(folder, "log")))
    return {
        memory_id: Usage(shown=shown, helped=helped, misled=misled, last=last)
        for memory_id, (shown, helped, misled, last) in counts.items()
    }


def record_usage(tree: WorkTree, places: Places, event: str, ids: Iterable[str], today: date) -> None:
    """Append ``event`` for ``ids``. A disk that refuses is not an error: usage is a convenience."""
    with suppress(OSError, SetupError):
        append_usage(tree, places, event, ids, today)


def append_usage(tree: WorkTree, places: Places, event: str, ids: Iterable[str], today: date) -> None:
    """Append ``event`` for ``ids``. Raises :class:`OSError` or :class:`SetupError` when it could not be kept."""
    lines = "".join(f"{today.isoformat()} {event} {memory_id}\n" for memory_id in ids if memory_id)
    if not lines or event not in EVENTS:
        return
    folder = _folder(tree, places)
    make_folder(places, "state", "usage", identify(tree))
    if append_own(os.path.join(folder, "log"), lines.encode("ascii", "replace")) > _MAX_LOG:
        _fold(folder)


def _fold(folder: str) -> None:
    """Add the log to the counts. Two processes that do it at once may lose events, never a file."""
    log, taken = os.path.join(folder, "log"), os.path.join(folder, f"log.{os.getpid()}")
    os.rename(log, taken)
    counts = _read_counts(folder)
    _add_log(counts, _read(taken))
    replace_own(os.path.join(folder, "counts.json"), json.dumps(counts).encode("ascii"))
    os.unlink(taken)


def _folder(tree: WorkTree, places: Places) -> str:
    return os.path.join(places.state, "usage", identify(tree))


def _read_counts(folder: str) -> dict[str, tuple[int, int, int, str]]:
    try:
        kept = json.loads(_read(os.path.join(folder, "counts.json")) or b"{}")
        return {str(key): (int(a), int(b), int(c), str(last)) for key, (a, b, c, last) in kept.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _add_log(counts: dict[str, tuple[int, int, int, str]], raw: bytes) -> None:
    for line in raw.decode("ascii", "replace").splitlines():
        words = line.split(" ")
        if len(words) != 3 or words[1] not in EVENTS:
            continue
        on, event, memory_id = words
        shown, helped, misled, last = counts.get(memory_id, (0, 0, 0, ""))
        counts[memory_id] = (
            shown + (event == "shown"),
            helped + (event == "helped"),
            misled + (event == "misled"),
            max(last, on),
        )


def _read(path: str) -> bytes:
    try:
        return read_own(path, limit=_MAX_FILE) or b""
    except SetupError:
        return b""
