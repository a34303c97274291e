"""Getting text from a person: arguments, standard input, or ``$EDITOR``; and saying what was written."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memfs.cli.editing import edit_until
from memfs.errors import InvalidMemoryError, MemfsError, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.frontmatter import parse_document, write_document
from memfs.model.memory import FrontValue
from memfs.model.values import replace
from memfs.repository.drafting import keep_refused

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.draft import DraftText, Recorded
    from memfs.repository.repository import Repository

QUESTION = "What does it rest on (PATH, PATH#Heading, #812, a URL; Enter: your word of today)?"
LIKENESS = {
    "same": "says the same already",
    "near": "says nearly the same already",
    "contradicts": "is alike and may say the opposite",
}


def needs_editor(args: argparse.Namespace, session: Session) -> bool:
    """Return whether a person writes the text of a new memory in an editor."""
    return bool(args.editor) or (session.interactive and not args.text)


def read_text(args: argparse.Namespace, session: Session) -> str:
    """Return the memory's text from the arguments or stdin (``-`` or a pipe).

    Raises :class:`UsageError` when standard input is not UTF-8.
    """
    if args.text and args.text != ["-"]:
        return " ".join(args.text)
    return read_input(session)


def read_input(session: Session) -> str:
    """Return all of standard input. Raises :class:`UsageError` when it is not UTF-8."""
    try:
        return session.read_stdin().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the text is not UTF-8", where=f"standard input, byte {error.start + 1}") from None


class NewText:
    """A new memory on its way through the editor: first its text alone, then, when that was refused, the whole
    file with its fields. ``record`` gets the draft and the name that it is kept under already."""

    def __init__(
        self,
        session: Session,
        repository: Repository,
        draft: DraftText,
        record: Callable[[DraftText, str], Recorded],
    ) -> None:
        self.session = session
        self.repository = repository
        self.draft = draft
        self.record = record
        self.name = ""
        self.is_file = False

    def write(self) -> Recorded:
        """Open the editor and return what was recorded."""
        return edit_until(self.session, self.draft.body, self._record, keep=self._keep, again=self._as_file)

    def _record(self, text: str) -> Recorded:
        if self.is_file:
            document = parse_document(text.encode("utf-8", "surrogateescape"))
            self.draft = replace(self.draft, front=dict(document.front), body=document.body)
        else:
            front = dict(self.draft.front)
            self.draft = replace(self.draft, body=text)
            ask_missing(front, self.session, self.repository)
            self.draft = replace(self.draft, front=front)
        try:
            return self.record(self.draft, self.name)
        except MemfsError as error:
            self.name = error.draft or self.name
            raise

    def _as_file(self, text: str) -> str:
        if self.is_file:
            return text
        front = {key: value for key, value in self.draft.front.items() if value}
        try:
            whole = write_document(front, self.draft.body).decode("utf-8")
        except (InvalidMemoryError, ValueError):
            return text
        self.is_file = True
        return whole

    def _keep(self, text: str, error: MemfsError) -> None:
        if not error.draft:
            keep_refused(self.repository.writer(), replace(self.draft, body=text), error, name=self.name)


def ask_missing(front: dict[str, FrontValue], session: Session, repository: Repository) -> bool:
    """Ask a person once what the memory rests on, and return whether anything was typed.

    Files that are changed now are offered by number. An answer that names nothing is told, and asked for again.
    """
    if not session.interactive or "evidence" in front:
        return False
    offered = repository.offer_evidence()
    for number, path in enumerate(offered, 1):
        session.note(f"  {number}  {escape_hidden(path, single_line=True)}")
    while answer := session.ask(QUESTION):
        if answer.isdecimal() and 0 < int(answer) <= len(offered):
            answer = offered[int(answer) - 1]
        try:
            repository.writer().fields.knot(front.get("scope")).tie(answer)
        except InvalidMemoryError as error:
            session.note(f"{error}" + (f" ({error.hint})" if error.hint else ""))
            continue
        front["evidence"] = (answer,)
        return True
    return False


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
    elif recorded.commit is None and args.no_commit:
        session.say(f"{done} {recorded.file.id}  {path}  (not committed)")
    elif recorded.commit is None:
        session.say(f"nothing to change: {path}")
    else:
        session.say(f"{done} {recorded.file.id}  {path}  (commit {recorded.commit[:12]})")
