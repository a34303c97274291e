"""One hook call: read standard input, answer within the deadline, and never fail.

The work is done in a child of this process, which waits for it: a stuck disk, a library that dies or
a pattern that runs away cost one log line, never the agent's turn. Forking this small process takes
about a millisecond. Most projects have no memories: those calls end before anything of memfs is loaded.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import time

TYPE_CHECKING = False  # `typing` takes longer to load than a call without memories
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from typing import NoReturn

    from memfs.disk.places import Places

DEADLINE_SECONDS = 2.0
_SIGKILL = 9  # `signal` takes longer to load than a call without memories
_NO_AGENT = "there is no such agent"


def run_fast(argv: Sequence[str], places: Places | None) -> int:
    """Run ``memfs hook AGENT`` without the command line's parser: an agent waits for each millisecond."""
    if len(argv) != 2:
        return _refuse()
    return run_hook(argv[1], places)


def run_hook(
    agent: str,
    places: Places | None = None,
    *,
    answer: Callable[[bytes], bytes] | None = None,
    deadline: float = DEADLINE_SECONDS,
) -> int:
    """Answer the hook call on standard input for ``agent`` and return 0, whatever happens.

    ``answer`` is what turns the bytes of standard input into the bytes of standard output. The deadline counts from
    the start of this process.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        return 0
    # A process that lives this short need not look for what it could forget, nor at its end.
    gc.disable()
    gc.freeze()
    began = time.monotonic() - _seconds_since_start()
    try:
        reader, writer = os.pipe()
        child = os.fork()
    except OSError as error:
        _write_log(places, agent, f"could not begin: {error.strerror}")
        return 0
    if child == 0:
        os.close(reader)
        _work(writer, answer or (lambda raw: _answer_event(raw, agent, places, (began, began + deadline))))
    os.close(writer)
    said, reason = _collect(reader, began + deadline)
    os.close(reader)
    if reason == "deadline":
        # Not waited for: a child that hangs in the kernel would hold the agent after all.
        os.kill(child, _SIGKILL)
    elif (status := os.waitpid(child, 0)[1]) != 0 and not reason:
        reason = f"ended with status {status}"
    if reason == _NO_AGENT:
        return _refuse()
    if reason:
        _write_log(places, agent, f"gave up after {time.monotonic() - began:.1f} s: {reason}")
        return 0
    try:
        while said:
            said = said[os.write(1, said) :]
    except OSError:
        return 0  # the agent does not listen any more
    return 0


def _write_log(places: Places | None, agent: str, what: str) -> None:
    from memfs.hooks.log import write_log  # most calls have nothing to log

    write_log(places, agent, what)


def _refuse() -> int:
    # Not 2, the usual answer to a wrong call: agents take that as "block what the user asked".
    sys.stderr.write("memfs: hook needs one agent; `memfs hook --help` lists them\n")
    return 0


def _seconds_since_start() -> float:
    """Return how long this process has run already; 0 where the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rsplit(b")", 1)[1].split()[19])
        passed = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
    return min(max(passed, 0.0), 1.0)


def _answer_event(raw: bytes, agent: str, places: Places | None, times: tuple[float, float]) -> bytes:
    if not may_have_memories(raw, str(places.home) if places else None):
        return b""
    from memfs.connect.agents import find_agent
    from memfs.hooks.answer import Clock, answer_event

    name = find_agent(agent)
    if name is None:
        raise LookupError(_NO_AGENT)
    return answer_event(raw, name, lambda: places or _find_places(), today=_today, clock=Clock(*times))


def may_have_memories(raw: bytes, home: str | None = None) -> bool:
    """Return whether there may be memories where the call ``raw`` comes from.

    In doubt there may be. A user whose settings may name other stores has memories everywhere.
    """
    import pwd

    try:
        folder = _find_folder(raw)
        home = home or pwd.getpwuid(os.getuid()).pw_dir
    except (ValueError, RecursionError, AttributeError, KeyError, IndexError, TypeError):
        return True
    if not isinstance(folder, str) or not os.path.isabs(folder) or os.path.lexists(f"{home}/.config/memfs/config.yaml"):
        return True
    while not os.path.lexists(f"{folder}/.git"):
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
    return os.path.lexists(f"{folder}/memories") or os.path.lexists(f"{folder}/.memfs")


def _find_folder(raw: bytes) -> object:
    """Return the folder that the call ``raw`` names. Raises what reading a wrong call raises."""
    _, key, rest = raw.partition(b'"cwd"')
    value = rest.lstrip(b" \t\r\n:")
    end = value.find(b'"', 1)
    plain = key and value[:1] == b'"' and end > 0 and b"\\" not in value[:end]
    if plain and b'"cwd"' not in rest and b"workspace_roots" not in raw:
        # The usual call, read without the JSON module, which takes longer to load than all the rest. Inside a text
        # the name would have a backslash before its second quotation mark.
        return value[1:end].decode("utf-8")
    import json

    fields = json.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    roots = fields.get("workspace_roots")
    return fields.get("cwd") or (roots[0] if roots else None)


def _find_places() -> Places:
    from memfs.disk.places import find_places

    return find_places()


def _today() -> date:
    from datetime import date

    return date.today()


def _work(writer: int, answer: Callable[[bytes], bytes]) -> NoReturn:
    """Answer in the child and end it, whatever happens: it must never run on as a second parent.

    It writes ``+`` and the answer, or ``-`` and why there is none.
    """
    code = 70
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        raw = _read_stdin()
        said = b"+" + answer(raw)
        code = 0
    except LookupError as error:
        said = f"-{error.args[0] if error.args == (_NO_AGENT,) else repr(error)}".encode("ascii", "backslashreplace")
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
    """Return what the child said and why that is not an answer ("" where it is one)."""
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
