"""The three standard streams of a process, made fit before anything else happens.

A stream that is closed becomes ``/dev/null``: the next file that memfs opens would take its number otherwise, and
be written to as if it were the answer. Text that the locale cannot write is escaped. A full disk or a broken device
behind the answer is one sentence, not a traceback.
"""

from __future__ import annotations

import io
import os
import sys

from memfs.errors import SetupError

TYPE_CHECKING = False  # `typing` and `contextlib` take longer to load than a hook's call without memories
if TYPE_CHECKING:
    from typing import Any, TextIO

ESCAPED = "backslashreplace"


class _Answer(io.FileIO):
    """Standard output, whose failing is the user's environment and not a bug."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SetupError(
                f"the answer could not be written: {error.strerror}",
                where="standard output",
                hint="what the command did before is done; look with `memfs status`",
            ) from None


class _Remarks(io.FileIO):
    """Standard error: where nobody can read, there is nobody to tell."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return len(data)


def fill_descriptors() -> None:
    """Open ``/dev/null`` for each of the three standard descriptors that is closed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            os.set_inheritable(number, True)


def guard_streams() -> None:
    """Make ``sys.stdin``, ``sys.stdout`` and ``sys.stderr`` of this process fit for every text and every end."""
    fill_descriptors()
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8", errors=ESCAPED)
    elif isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors=ESCAPED)
    sys.stdout = _wrap(_Answer(1, "w", closefd=False), sys.stdout, line_buffering=False)
    sys.stderr = _wrap(_Remarks(2, "w", closefd=False), sys.stderr, line_buffering=True)


def _wrap(raw: io.FileIO, old: TextIO | None, *, line_buffering: bool) -> io.TextIOWrapper:
    encoding = getattr(old, "encoding", None) or "utf-8"
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding=encoding, errors=ESCAPED, line_buffering=line_buffering or raw.isatty())


def drop_answer() -> None:
    """Send what is still to be written nowhere, so that the interpreter does not fail at it either."""
    try:  # not `contextlib.suppress`: see above
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    except OSError:
        pass
    try:
        sys.stdout.flush()
    except (OSError, SetupError):
        return
