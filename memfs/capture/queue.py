"""Sessions that wait to be captured by themselves: noted by a hook, read by one process of its own.

A hook notes the session at each prompt and at each turn's end, in one small file. A session has ended when nothing
was noted for ten minutes; then the one detached process that waits for that reads it. A caged agent's own hooks find
:data:`memfs.capture.cage.MARK` in their environment and note nothing, so no capture starts another.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memfs.disk.places import Places
from memfs.disk.private import find_folder, make_folder, own_lock, read_own, replace_own
from memfs.errors import MemfsError
from memfs.git.process import spawn_own
from memfs.model.values import dataclass

QUIET_SECONDS = 600
_MOST = 200
_LONGEST = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One session that waits: its transcript, where its agent worked, and when it was noted last."""

    file: Path
    transcript: Path
    cwd: Path
    at: float


def note(places: Places, transcript: str, cwd: str, *, now: float) -> None:
    """Note that something was said in a session, and see that a process waits for its end."""
    folder = make_folder(places, "state", "capture", "queue")
    if len(os.listdir(folder)) >= _MOST:
        return
    name = hashlib.sha256(transcript.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    row = {"transcript": transcript, "cwd": cwd, "at": now}
    replace_own(folder / f"{name}.json", json.dumps(row).encode() + b"\n")
    with own_lock(_lock(places), wait=False) as is_alone:
        pass
    if is_alone:
        spawn_own("memfs.cli.capture_command:run_queued", str(places.home))


def read_queue(places: Places) -> list[Waiting]:
    """Return the sessions that wait, the one that was noted first first. What cannot be read is taken away."""
    folder = find_folder(places, "state", "capture", "queue")
    found = []
    for file in sorted(folder.glob("*.json")) if folder is not None else ():
        row = _read(file)
        if row is None:
            file.unlink(missing_ok=True)
            continue
        transcript, cwd = Path(str(row["transcript"])), Path(str(row["cwd"]))
        found.append(Waiting(file=file, transcript=transcript, cwd=cwd, at=float(row["at"])))
    return sorted(found, key=lambda one: one.at)


def take_ended(places: Places, *, quiet: float = QUIET_SECONDS) -> Iterator[Waiting]:
    """Yield each session once it has been quiet for ``quiet`` seconds; ends when none waits.

    Only one process does this at a time: another one yields nothing. A session is taken off before it is read, so
    that one which cannot be read is not tried for ever.
    """
    with own_lock(_lock(places), wait=False) as is_alone:
        while is_alone and (waiting := read_queue(places)):
            left = waiting[0].at + quiet - time.time()
            if left > 0:
                time.sleep(min(left, 30))
                continue
            waiting[0].file.unlink(missing_ok=True)
            yield waiting[0]


def lines_done(places: Places, transcript: Path) -> int:
    """Return how many lines of a transcript were captured by itself already."""
    row = _read(_done(places, transcript))
    return int(row["lines"]) if row is not None and isinstance(row.get("lines"), int) else 0


def keep_lines_done(places: Places, transcript: Path, lines: int) -> None:
    """Note that ``lines`` lines of a transcript were captured."""
    replace_own(_done(places, transcript), json.dumps({"lines": lines}).encode() + b"\n")


def _done(places: Places, transcript: Path) -> Path:
    name = hashlib.sha256(os.fsencode(transcript)).hexdigest()[:24]
    return make_folder(places, "state", "capture", "done") / f"{name}.json"


def _read(file: Path) -> Mapping[str, Any] | None:
    try:
        row = json.loads(read_own(file, limit=_LONGEST) or b"")
    except (MemfsError, ValueError):
        return None
    return row if isinstance(row, dict) else None


def _lock(places: Places) -> Path:
    """Return the lock of the one process that captures."""
    return make_folder(places, "state", "capture") / "lock"
