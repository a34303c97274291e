"""Getting text from a person: arguments, standard input, or ``$EDITOR``; and saying what was written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memfs.errors import UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import FrontValue, Kind

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.writing import Recorded

QUESTIONS = {
    "kind": f"Kind ({', '.join(kind.value for kind in Kind)})?",
    "scope": "Scope (personal, team, team/NAME, restricted/NAME)?",
    "evidence": "What does it rest on (PATH, PATH#Heading, PATH#L10-L24, #812, a URL, 'said by PERSON on DATE')?",
    "review_trigger": "When must it be looked at again ('on DATE', 'when PATH changes', 'if TEXT')?",
}


LIKENESS = {
    "same": "says the same already",
    "near": "says nearly the same already",
    "contradicts": "is alike and may say the opposite",
}


def read_text(args: argparse.Namespace, session: Session, *, start: str = "") -> str:
    """Return the memory's text from the arguments, stdin (``-`` or a pipe) or an editor.

    Raises :class:`UsageError` when standard input is not UTF-8 or the editor was left empty.
    """
    if args.text and args.text != ["-"]:
        return " ".join(args.text)
    if args.editor or (session.interactive and not args.text):
        return edit_text(session, start)
    try:
        return session.read_stdin().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the text is not UTF-8", where=f"standard input, byte {error.start + 1}") from None


def edit_text(session: Session, start: str) -> str:
    """Return what a person leaves in ``$VISUAL`` or ``$EDITOR``, which opens with ``start``."""
    import os
    import shlex
    import tempfile
    from pathlib import Path

    from memfs.git.process import run_at_terminal

    editor = session.environ.get("VISUAL") or session.environ.get("EDITOR") or "vi"
    handle, name = tempfile.mkstemp(prefix="memfs-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as draft:
            draft.write(start)
        code = run_at_terminal([*shlex.split(editor), name])
        if code != 0:
            raise UsageError(f"the editor ended with {code}; nothing was written", where=editor)
        text = Path(name).read_text(encoding="utf-8")
    finally:
        os.unlink(name)
    if not text.strip():
        raise UsageError("the text is empty; nothing was written")
    return text


def ask_missing(front: dict[str, FrontValue], session: Session) -> None:
    """Ask a person for required fields that were not given; elsewhere they stay missing."""
    if not session.interactive:
        return
    for name, question in QUESTIONS.items():
        if name not in front and (answer := session.ask(question)):
            front[name] = (answer,) if name == "evidence" else answer


def tell_recorded(recorded: Recorded, args: argparse.Namespace, session: Session, *, done: str) -> None:
    """Say what was written, or would be, in words or JSON."""
    path = recorded.file.path
    findings = [
        {"rule": f.rule, "field": f.field, "line": f.line, "message": f.message} for f in recorded.decision.findings
    ]
    if args.json:
        payload: dict[str, Any] = {
            "id": recorded.file.id,
            "path": path,
            "digest": recorded.file.digest,
            "commit": recorded.commit,
            "dry_run": recorded.commit is None and args.dry_run,
            "warnings": findings,
            "similar": [{"id": other, "likeness": likeness} for other, likeness in recorded.similar],
        }
        session.emit("recorded", payload)
        return
    for finding in findings:
        session.note(f"warning: {finding['rule']} {finding['field']}: {finding['message']}")
    for notice in recorded.notices:
        session.note(notice)
    for other, likeness in recorded.similar:
        session.note(
            f"{other} {LIKENESS[likeness]}: `memfs show {other}`; `memfs edit {other}` or `memfs supersede {other}`?"
        )
    if recorded.commit is None and args.dry_run:
        session.say(f"would be {done}: {path}")
        session.say(escape_hidden(recorded.file.raw.decode("utf-8")))
    elif recorded.commit is None:
        session.say(f"nothing to change: {path}")
    else:
        session.say(f"{done} {recorded.file.id}  {path}  (commit {recorded.commit[:12]})")
