"""A person's editor: nothing that they typed in it is lost, whatever becomes of it afterwards."""

from __future__ import annotations

import os
import shlex
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memfs.errors import MemfsError, RefusedError, UsageError
from memfs.git.commit import UncommittedError
from memfs.git.process import run_at_terminal
from memfs.model.codepoints import escape_hidden
from memfs.repository.draft import HeldError, TwiceError

if TYPE_CHECKING:
    from memfs.cli.session import Session

T = TypeVar("T")
_MARK = "# memfs: "


def edit_until(
    session: Session,
    start: str,
    record: Callable[[str], T],
    *,
    keep: Callable[[str, MemfsError], None],
    again: Callable[[str], str] = lambda text: text,
) -> T:
    """Return what ``record`` makes of the text that a person leaves in the editor, which opens with ``start``.

    A refused text reopens, as ``again`` makes it, with the reason on top, as often as the person at the
    terminal wants. Otherwise ``keep`` puts it among the drafts and the error is raised; what admission
    rejected is kept nowhere. Text that is in its file already, only not committed, needs no keeping.
    """
    text, reason = start, ""
    while True:
        text, problem = edit_text(session, text, reason=reason)
        with _kept_when_stopped(session, partial(keep, text)) as held:
            try:
                if problem:
                    raise UsageError(problem)
                return record(text)
            except UncommittedError:
                raise
            except MemfsError as error:
                is_rejected = isinstance(error, RefusedError) and not isinstance(error, HeldError | TwiceError)
                held.is_wanted = not is_rejected
                if session.interactive and _wants_again(session, error):
                    reason, text = _describe(error), again(text)
                    continue
                if is_rejected:
                    error.hint = "; ".join(filter(None, (error.hint, "the text is kept nowhere")))
                else:
                    keep(text, error)
                raise


def edit_text(session: Session, start: str, *, reason: str = "") -> tuple[str, str]:
    """Return what a person leaves in ``$VISUAL`` or ``$EDITOR``, and what is wrong with it ("" for nothing).

    Raises :class:`UsageError` or :class:`SetupError` where no text came out: the editor cannot be started,
    or left nothing but what it was given and failed.
    """
    editor = session.environ.get("VISUAL") or session.environ.get("EDITOR") or "vi"
    try:
        command = shlex.split(editor)
    except ValueError as error:
        raise UsageError(f"the editor's command cannot be read: {error}", where=_shown(editor)) from None
    if not command:
        raise UsageError("the editor's command is empty", where="$EDITOR", hint="set EDITOR, for instance to vi")
    head = "".join(f"{_MARK}{line}\n" for line in reason.splitlines())
    given = (head + start).encode("utf-8", "surrogateescape")
    handle, name = tempfile.mkstemp(prefix="memfs-", suffix=".md")
    try:
        with os.fdopen(handle, "wb") as draft:
            draft.write(given)
        with _without_interrupts():
            code = run_at_terminal([*command, name])
        try:
            raw = Path(name).read_bytes()
        except OSError:
            raise UsageError("the editor deleted the file; nothing was written", where=_shown(editor)) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
    if code != 0 and raw in (given, b""):
        raise UsageError(f"the editor ended with {code}; nothing was written", where=_shown(editor))
    text, problem = _decode(raw)
    text = text.removeprefix(head)
    if code != 0:
        problem = f"the editor ended with {code}"
    if not text.strip():
        raise UsageError("the text is empty; nothing was written")
    return text, problem


def _decode(raw: bytes) -> tuple[str, str]:
    try:
        return raw.decode("utf-8"), ""
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "the editor saved bytes that are not UTF-8; they were read as Latin-1"


def _wants_again(session: Session, error: MemfsError) -> bool:
    session.note(_describe(error))
    return session.ask("(e)dit again, (q)uit?").lower().startswith("e")


def _describe(error: MemfsError) -> str:
    lines = [str(error)]
    if isinstance(error, RefusedError):
        lines += [f"{f.rule} in {f.field}: {f.message}" for f in error.findings]  # type: ignore[attr-defined]
    return "\n".join(_shown(line) for line in "\n".join(lines).splitlines())


def _shown(text: str) -> str:
    return escape_hidden(text, single_line=True)


class _Held:
    """Whether the text is kept when its author goes away: not when admission rejected it."""

    is_wanted = True


@contextmanager
def _kept_when_stopped(session: Session, keep: Callable[[MemfsError], None]) -> Iterator[_Held]:
    """Keep the text when a person presses Ctrl-C at a question, closes the terminal, or the process is ended."""
    held = _Held()
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield held
    except KeyboardInterrupt:
        if held.is_wanted:
            error = UsageError("interrupted")
            keep(error)
            with suppress(OSError):  # the terminal may be gone
                session.note(f"{error.hint}")
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the editor: a handler that does nothing, which the child does not inherit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
