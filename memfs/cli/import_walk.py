"""Walking through what an import would write: each text is shown once, and kept, changed or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.cli.editing import edit_text
from memfs.errors import MemfsError
from memfs.importing import Outcome
from memfs.model.memory import Origin
from memfs.model.values import replace
from memfs.render.escape import show_line, show_lines
from memfs.render.frame import frame_text
from memfs.repository.draft import DraftText

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.importing import Entry, Plan
    from memfs.repository.repository import Repository

QUESTION = "Keep this text [k,d,e,q,?]?"
HELP = """\
k  keep it
d  drop it: it is not written; so does Enter
e  change its text in $EDITOR, and see it again
q  quit: this one and the rest are dropped"""


def walk(session: Session, repository: Repository, plan: Plan) -> Plan:
    """Return ``plan`` with what a person at the terminal kept; nothing is written."""
    kept: list[Entry] = []
    writes = plan.writes
    for number, entry in enumerate(writes, 1):
        chosen = _ask(session, repository, entry, f"{number} of {len(writes)}")
        if chosen is None:
            break
        kept += chosen
    dropped = {one.id for one in writes if one.outcome is Outcome.NEW} - {one.id for one in kept}
    kept = [_without_links(repository, one, dropped) for one in kept]
    session.note(f"{len(kept)} of {len(writes)} are kept")
    return replace(plan, entries=(*(one for one in plan.entries if one not in writes), *kept))


def _ask(session: Session, repository: Repository, entry: Entry, place: str) -> list[Entry] | None:
    """Return what becomes of ``entry``: itself, perhaps changed, or nothing; None where the walk ends."""
    _show(session, entry, place)
    while True:
        answer = session.ask(QUESTION).lower()[:1]
        if answer in ("k", "y"):
            return [entry]
        if answer in ("", "d", "n", "s"):  # the end of input too: nothing is kept that nobody kept
            return []
        if answer == "q":
            return None
        if answer != "e":
            session.note(HELP)
            continue
        try:
            entry = _changed(session, repository, entry)
        except MemfsError as error:
            session.note(str(error))
            continue
        _show(session, entry, place)


def _show(session: Session, entry: Entry, place: str) -> None:
    assert entry.file is not None
    assert entry.file.document is not None
    line = f":{entry.line}" if entry.line else ""
    head = f"{place}: {entry.outcome.value}, from {entry.path}{line}"
    fields = [f"field {key}: {_value(value)}" for key, value in entry.file.document.front.items()]
    lines = [f"[{entry.id}]", *fields, *show_lines(entry.file.document.body.strip("\n"))]
    about = "text of a source that nobody has approved."
    session.note(f"\n{head}\n{frame_text(lines, draw_nonce=session.draw_nonce, name='import', about=about)}")


def _value(value: str | tuple[str, ...]) -> str:
    return show_line(value) if isinstance(value, str) else ", ".join(map(show_line, value))


def _changed(session: Session, repository: Repository, entry: Entry) -> Entry:
    """Return ``entry`` with the text that its reader left in the editor, as far as the gate lets it in."""
    assert entry.file is not None
    assert entry.file.document is not None
    body, problem = edit_text(session, entry.file.document.body.strip("\n") + "\n")
    if problem:
        session.note(problem)
    return _with_body(repository, entry, body)


def _without_links(repository: Repository, entry: Entry, dropped: set[str]) -> Entry:
    """Return ``entry`` without the ids that links to ``dropped`` memories got."""
    assert entry.file is not None
    assert entry.file.document is not None
    body = entry.file.document.body
    for memory_id in dropped:
        body = body.replace(f" (`{memory_id}`)", "")
    return entry if body == entry.file.document.body else _with_body(repository, entry, body)


def _with_body(repository: Repository, entry: Entry, body: str) -> Entry:
    assert entry.file is not None
    assert entry.file.document is not None
    writer = repository.writer()
    if entry.outcome is not Outcome.NEW and entry.before is not None:
        evidence = entry.file.document.front.get("evidence", ())
        done = writer.edit(
            entry.before, changes={"evidence": evidence}, body=body, origin=Origin.IMPORTED, dry_run=True
        )
        return replace(entry, file=done.file)
    front = {key: value for key, value in entry.file.document.front.items() if key not in ("origin", "author")}
    draft = DraftText(body=body.strip("\n"), origin=Origin.IMPORTED, front=front, id=entry.id)
    return replace(entry, file=writer.make_new(draft))
