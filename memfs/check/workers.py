"""Looking at many files on all processors: forked children take a share each and hand back JSON.

Only for runs that are worth it, and never beside other threads. A child that fails costs nothing but
time: its share is looked at here.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Sequence

from memfs.check.single import Known, format_known, look_at, parse_known

MIN_FILES = 400
"""Fewer files are looked at faster without children."""

MAX_CHILDREN = 7

Found = tuple[str, bytes]


def look_at_many(files: Sequence[Found], *, identities: Collection[str] = ()) -> list[Known]:
    """Return what is known of each (path, bytes), in order."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    children = min(MAX_CHILDREN, processors - 1)
    if len(files) < MIN_FILES or children < 1 or threading.active_count() > 1:
        return [look_at(path, raw, identities=identities) for path, raw in files]
    shares = [files[place :: children + 1] for place in range(children + 1)]
    pipes = [_start(share, identities) for share in shares[1:]]
    results = [[look_at(path, raw, identities=identities) for path, raw in shares[0]]]
    for share, (pid, pipe) in zip(shares[1:], pipes, strict=True):
        known = _collect(pid, pipe, len(share))
        results.append(known if known is not None else [look_at(p, raw, identities=identities) for p, raw in share])
    return [results[place % len(results)][place // len(results)] for place in range(len(files))]


def _start(share: Sequence[Found], identities: Collection[str]) -> tuple[int, int]:
    receiving, sending = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sending)
        return pid, receiving
    code = 1
    try:
        os.close(receiving)
        answer = [format_known(look_at(path, raw, identities=identities)) for path, raw in share]
        with os.fdopen(sending, "wb") as pipe:
            pipe.write(json.dumps(answer).encode("ascii"))
        code = 0
    finally:
        # Whatever happened, this copy of the process must not go on: the parent looks itself.
        os._exit(code)


def _collect(pid: int, pipe: int, count: int) -> list[Known] | None:
    with os.fdopen(pipe, "rb") as file:
        raw = file.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        return None
    try:
        known = [parse_known(kept) for kept in json.loads(raw)]
    except (ValueError, TypeError, KeyError):
        return None
    return known if len(known) == count else None
