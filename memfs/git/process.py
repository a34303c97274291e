"""The one door to other programs.

Every child gets its standard input from ``/dev/null`` unless it is given some: a signing program
once waited on an inherited pipe and swallowed the request that was in it (TRUST 7). A child runs
in a session of its own, so that nothing below it can ask at the terminal and all of it can be
ended together.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.errors import SetupError
from memfs.model.codepoints import escape_hidden
from memfs.model.values import dataclass

if TYPE_CHECKING:
    import subprocess


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CAUSES = ("fatal:", "error:")
_ASIDES = ("hint:", "warning:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a program ended. ``returncode`` is negative when a signal ended it."""

    returncode: int
    stdout: bytes
    stderr: bytes


class ProgramError(SetupError):
    """A program ended with another code than 0; ``completed`` holds what it said."""

    def __init__(self, message: str, *, completed: Completed, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.completed = completed


class ProgramTimeout(SetupError):
    """A program did not end in its time and was ended, with all it had started."""


def find_program(name: str, path: str | None = None) -> str | None:
    """Return the absolute path of the program ``name``, or None.

    Relative and empty parts of the search path are passed over, and those inside the repository that is worked in:
    they would let it bring its own ``git``.
    """
    if os.sep in name:
        return name if os.access(name, os.X_OK) else None
    project = _find_project()
    for folder in (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep):
        candidate = os.path.join(folder, name)
        if not os.path.isabs(folder) or not os.path.isfile(candidate) or not os.access(candidate, os.X_OK):
            continue
        if project is None or not f"{os.path.realpath(folder)}/".startswith(project):
            return candidate
    return None


def _find_project() -> str | None:
    """Return the top of the repository that the working directory is in, with a slash; None where it is in none."""
    try:
        folder = os.path.realpath(os.getcwd())
    except OSError:
        return None
    while not os.path.lexists(f"{folder}/.git"):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return f"{folder}/"


def run(
    argv: Sequence[str],
    *,
    cwd: str | Path | None = None,
    input: bytes | None = None,  # noqa: A002 - the name that subprocess has for it
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    check: bool = True,
    terminal: bool = False,
    keep: Collection[int] = (),
) -> Completed:
    """Return how ``argv`` ended, with all it wrote. The child gets the open files ``keep`` too.

    ``env`` None passes on this process's environment. ``terminal`` leaves the child in this
    session, so that it can ask the person at the terminal (a key's passphrase).
    Raises :class:`SetupError` when the program is missing, :class:`ProgramTimeout` after
    ``timeout`` seconds, and with ``check`` :class:`ProgramError` on another code than 0.
    """
    import subprocess

    child = _start(argv, cwd, env, has_input=input is not None, own_session=not terminal, keep=keep)
    try:
        stdout, stderr = child.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(child, own_session=not terminal)
        raise ProgramTimeout(f"{argv[0]} did not end within {timeout:g} seconds") from None
    except BaseException:
        # Whatever ends this process's waiting (a person's Ctrl-C above all) ends the child too.
        _end(child, own_session=not terminal)
        raise
    completed = Completed(returncode=child.returncode, stdout=stdout or b"", stderr=stderr or b"")
    if check and completed.returncode != 0:
        raise ProgramError(_failure(argv, completed), completed=completed)
    return completed


def ask(
    argv: Sequence[str],
    questions: bytes,
    *,
    answered: Callable[[bytes], bool],
    cwd: str | Path,
    env: Mapping[str, str],
    timeout: float,
) -> bytes:
    """Return what ``argv`` wrote until ``answered`` said that it is enough; its input stays open so long.

    For a program that serves at standard input and output and is ended afterwards. Raises as :func:`run` does.
    """
    import select
    import time

    child = _start(argv, cwd, env, has_input=True, keeps_errors=False)
    assert child.stdin is not None
    assert child.stdout is not None
    said, until = b"", time.monotonic() + timeout
    try:
        child.stdin.write(questions)
        child.stdin.flush()
        while not answered(said):
            left = until - time.monotonic()
            if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
                raise ProgramTimeout(f"{argv[0]} did not answer within {timeout:g} seconds")
            piece = os.read(child.stdout.fileno(), 1 << 16)
            if not piece:
                break
            said += piece
    except BrokenPipeError:
        pass  # it ended before it read everything
    finally:
        _end(child, own_session=True)
    return said


def run_at_terminal(argv: Sequence[str], *, cwd: str | Path | None = None) -> int:
    """Return the exit code of ``argv`` run on this process's own terminal, such as an editor."""
    import subprocess

    program = require_program(argv[0])
    try:
        return subprocess.run([program, *argv[1:]], cwd=cwd, check=False).returncode
    except OSError as error:
        raise SetupError(f"{argv[0]} cannot be run: {error.strerror or error}") from error


def spawn_detached(argv: Sequence[str], *, cwd: str | Path | None = None) -> None:
    """Start ``argv`` and leave it: own session, closed streams, no child of this process."""
    import subprocess

    program = require_program(argv[0])
    try:
        # The shell puts the program into the background and ends, so that init inherits it.
        subprocess.run(
            ["/bin/sh", "-c", 'cd -- "$0" && { "$@" & }', str(cwd or "."), program, *argv[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )
    except OSError as error:
        raise SetupError(f"{argv[0]} cannot be started: {error.strerror or error}") from error


def spawn_own(call: str, *arguments: str) -> None:
    """Start a process of memfs's own that calls ``call`` (``module:function``) with ``arguments``, and leave it.

    It runs the memfs that this process runs, wherever that is.
    """
    module, _, function = call.partition(":")
    code = f"import sys; sys.path.insert(0, sys.argv[1])\nfrom {module} import {function}\n{function}(*sys.argv[2:])"
    spawn_detached([sys.executable, "-I", "-c", code, os.path.dirname(_PACKAGE), *arguments], cwd="/")


def first_line(raw: bytes) -> str:
    """Return the line of what a program wrote that says most, safe to print.

    That is git's first ``fatal:`` or ``error:``, else the first line that is neither a hint nor a warning.
    """
    lines = [line.strip() for line in raw.decode("utf-8", "replace").splitlines() if line.strip()]
    ranked = sorted(lines, key=lambda line: (not line.startswith(_CAUSES), line.startswith(_ASIDES)))
    return escape_hidden(ranked[0][:300], single_line=True) if ranked else ""


def require_program(name: str, env: Mapping[str, str] | None = None) -> str:
    """Return the absolute path of the program ``name``, by the search path of ``env``; None: of this process.

    Raises :class:`SetupError` where it is not there.
    """
    program = find_program(name, None if env is None else env.get("PATH", os.defpath))
    if program is None:
        raise SetupError(f"{name} is not installed, or not in a folder of PATH", hint=f"install {name} and try again")
    return program


def _start(
    argv: Sequence[str],
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    *,
    has_input: bool,
    own_session: bool = True,
    keeps_errors: bool = True,
    keep: Collection[int] = (),
) -> subprocess.Popen[bytes]:
    import subprocess

    program = require_program(argv[0], env)
    try:
        return subprocess.Popen(
            [program, *argv[1:]],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if keeps_errors else subprocess.DEVNULL,
            start_new_session=own_session,
            pass_fds=keep,
        )
    except OSError as error:
        raise SetupError(f"{argv[0]} cannot be run: {error.strerror or error}") from error


def _failure(argv: Sequence[str], completed: Completed) -> str:
    said = first_line(completed.stderr)
    return f"{os.path.basename(argv[0])} failed with code {completed.returncode}" + (f": {said}" if said else "")


def _end(child: subprocess.Popen[bytes], *, own_session: bool) -> None:
    import signal
    import subprocess

    # Asked first, so that git can take its lock files away; then made to.
    for number, patience in ((signal.SIGTERM, 0.5), (signal.SIGKILL, 5.0)):
        try:
            if own_session:
                os.killpg(child.pid, number)
            else:
                child.send_signal(number)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        if number is signal.SIGTERM and own_session:
            continue  # the leader has gone; what it started may not have
        break
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()
