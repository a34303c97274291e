"""One hook call: read standard input, answer within the deadline, and never fail.

The work is done in a child of this process, which waits for it: a stuck disk, a library that dies or
a pattern that runs away cost one log line, never the agent's turn. Forking this small process takes
about a millisecond.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from datetime import date

    from memfs.disk.places import Places

DEADLINE_SECONDS = 2.0
LARGEST_LOG = 64 * 1024
_LOG_NAME = "hooks.log"


def run_hook(
    agent: str, places: Places, *, answer: Callable[[bytes], bytes] | None = None, deadline: float = DEADLINE_SECONDS
) -> int:
    """Answer the hook call on standard input for ``agent`` and return 0, whatever happens.

    ``answer`` is what turns the bytes of standard input into the bytes of standard output.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        return 0
    # A process that lives this short need not look for what it could forget, nor at its end.
    gc.disable()
    gc.freeze()
    began = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(writer, answer, agent, places)
    os.close(writer)
    said, reason = _collect(reader, began + deadline)
    os.close(reader)
    if reason == "deadline":
        # Not waited for: a child that hangs in the kernel would hold the agent after all.
        os.kill(child, signal.SIGKILL)
    elif (status := os.waitpid(child, 0)[1]) != 0 and not reason:
        reason = f"ended with status {status}"
    if reason:
        write_log(places, agent, f"gave up after {time.monotonic() - began:.1f} s: {reason}")
        return 0
    try:
        while said:
            said = said[os.write(1, said) :]
    except OSError:
        return 0  # the agent does not listen any more
    return 0


def write_log(places: Places, agent: str, what: str) -> None:
    """Append one line to the hooks' log, and keep the log short. A disk that refuses is no error."""
    said = "".join(character if character.isprintable() else " " for character in what)
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {agent} {said}"[:400] + "\n"
    from memfs.disk.private import append_own, make_folder, read_own, replace_own
    from memfs.errors import SetupError

    try:
        path = make_folder(places, "state") / _LOG_NAME
        if append_own(path, line.encode("ascii", "backslashreplace")) > LARGEST_LOG:
            kept = read_own(path, limit=2 * LARGEST_LOG) or b""
            replace_own(path, kept[-LARGEST_LOG // 2 :].split(b"\n", 1)[-1])
    except SetupError:
        return


def _answer_event(raw: bytes, agent: str, places: Places) -> bytes:
    from memfs.hooks.answer import answer_event

    return answer_event(raw, agent, places, today=_today)


def _today() -> date:
    from datetime import date

    return date.today()


def _work(writer: int, answer: Callable[[bytes], bytes] | None, agent: str, places: Places) -> NoReturn:
    """Answer in the child and end it, whatever happens: it must never run on as a second parent.

    It writes ``+`` and the answer, or ``-`` and why there is none.
    """
    code = 70
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        raw = _read_stdin()
        said = b"+" + (answer(raw) if answer is not None else _answer_event(raw, agent, places))
        code = 0
    except BaseException as error:  # noqa: BLE001 - a hook has nobody to raise to: the parent logs what went wrong
        said = f"-{type(error).__name__}: {error}".encode("ascii", "backslashreplace")
    try:
        with os.fdopen(writer, "wb") as file:
            file.write(said)
    finally:
        os._exit(code)  # no exit handlers: they belong to the parent


def _read_stdin() -> bytes:
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _collect(reader: int, until: float) -> tuple[bytes, str]:
    """Return what the child said and why that is no answer ("" where it is one)."""
    said = b""
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return b"", "deadline"
        piece = os.read(reader, 1 << 16)
        if not piece:
            break
        said += piece
    if said[:1] == b"+":
        return said[1:], ""
    return b"", said[1:].decode("ascii", "replace") or "no answer"
