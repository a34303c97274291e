"""List, show, edit, submit and drop drafts: texts that were held back or could not be recorded.

A draft lies in your own state folder, readable by nobody else; it is not in a repository and is
never recalled. Submitting one runs the gate again, and drops it once it is recorded.

  memfs drafts                                          what is held for this repository, and why
  memfs drafts show draft-1                             its text, in a frame
  memfs drafts edit draft-1 --review "on 2027-06-01"    add or change a field
  memfs drafts edit draft-1 --editor                    change the text in $EDITOR
  memfs drafts submit draft-1 --evidence docs/adr.md    record it, with what was missing
  memfs drafts drop draft-1 draft-2                     delete them
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from memfs.cli.editing import edit_until
from memfs.cli.looks import say_frame
from memfs.cli.options import add_fields, add_json, add_writing, allowed_rules, fields_of
from memfs.cli.writing import tell_recorded
from memfs.disk.drafts import drafts_of_others, drop_draft, get_draft, list_drafts
from memfs.errors import MemfsError
from memfs.model.memory import Origin
from memfs.model.values import replace
from memfs.render.escape import show_line, show_lines
from memfs.render.frame import frame_text
from memfs.repository.draft import DraftText, Recorded
from memfs.repository.drafting import draft_of, keep_refused, replace_held
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.disk.drafts import HeldDraft
    from memfs.repository.repository import Repository

T = TypeVar("T")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(json=False)
    verbs = parser.add_subparsers(dest="what", metavar="VERB", title="verbs")
    listing = verbs.add_parser("list", help="list the drafts that are held for this repository")
    add_json(listing)
    show = verbs.add_parser("show", help="show a draft's fields and text")
    show.add_argument("name", metavar="DRAFT", help="the draft's name, for instance draft-1")
    add_json(show)
    for verb, sentence in (
        ("edit", "change a draft's fields or text"),
        ("submit", "record a draft as a memory, with fields added or changed"),
    ):
        one = verbs.add_parser(verb, help=sentence)
        one.add_argument("name", metavar="DRAFT", help="the draft's name, for instance draft-1")
        one.add_argument("--text", help="the new text; '-' reads standard input")
        one.add_argument("--editor", action="store_true", help="change the text in $EDITOR")
        one.add_argument("--id", help="the memory's id (default: made from the title or the first words)")
        add_fields(one)
        add_writing(one)
        add_json(one)
    drop = verbs.add_parser("drop", help="delete drafts")
    drop.add_argument("names", metavar="DRAFT", nargs="+", help="the drafts' names")


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    verb = {None: _list, "list": _list, "show": _show, "edit": _edit, "submit": _submit, "drop": _drop}[args.what]
    return verb(args, session, repository)


def _list(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    drafts = list_drafts(repository.tree, session.places)
    others = drafts_of_others(repository.tree, session.places)
    if others is not None:
        session.note(f"drafts of another repository that was in this folder are in {others}")
    if args.json:
        session.emit("drafts", {"drafts": [_summary(draft) for draft in drafts]})
        return 0
    if not drafts:
        session.note("no drafts are held")
        return 1
    for draft in drafts:
        # Not a word of the draft itself: a list has no room for a frame (ADMISSION 6).
        session.say(f"{draft.name}  held {draft.held_on}  origin {draft.origin}  {len(draft.body.split())} words")
        for reason in draft.reasons:
            session.say(f"  {reason}")
    return 0


def _summary(draft: HeldDraft) -> dict[str, Any]:
    return {"name": draft.name, "held_on": draft.held_on, "origin": draft.origin, "reasons": list(draft.reasons)}


def _show(args: argparse.Namespace, session: Session, repository: Repository) -> int:

    draft = get_draft(repository.tree, session.places, args.name)
    fields = {
        show_line(key): [show_line(item) for item in value] if isinstance(value, tuple) else show_line(value)
        for key, value in draft.fields.items()
    }
    if args.json:
        text = "\n".join(show_lines(draft.body))
        session.emit("draft", {**_summary(draft), "fields": fields, "text": text})
        return 0
    lines = [f"[{draft.name}] held {draft.held_on} · origin {draft.origin}"]
    lines += [f"held: {show_line(reason)}" for reason in draft.reasons]
    for key, value in fields.items():
        lines += [f"field {key}: {item}" for item in (value if isinstance(value, list) else [value])]
    lines += show_lines(draft.body)
    about = "a draft that nobody has admitted or approved."
    say_frame(session, frame_text(lines, draw_nonce=session.draw_nonce, name="held draft", about=about))
    return 0


def _edit(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    draft = _changed(args, session, repository)

    def record(text: str) -> None:
        replace_held(repository.writer(), _with_text(args, session, draft, text), name=args.name)

    _take(args, session, repository, draft, record, edits=get_draft(repository.tree, session.places, args.name).edits)
    session.say(f"changed {args.name}; `memfs drafts submit {args.name}` records it")
    return 0


def _submit(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    draft = _changed(args, session, repository)
    edits = get_draft(repository.tree, session.places, args.name).edits

    def record(text: str) -> Recorded:
        changed = _with_text(args, session, draft, text)
        if edits is None:
            return repository.remember(changed, name=args.name, dry_run=args.dry_run)
        raw = text.encode("utf-8", "surrogateescape")
        recorded = repository.edit(
            edits, OWNER, changes={}, raw=raw, origin=changed.origin, allow=changed.allow, dry_run=args.dry_run
        )
        if not args.dry_run:
            drop_draft(repository.tree, session.places, args.name)
        return recorded

    recorded = _take(args, session, repository, draft, record, edits=edits)
    tell_recorded(recorded, args, session, done="remembered" if edits is None else "edited")
    return 0


def _take(
    args: argparse.Namespace,
    session: Session,
    repository: Repository,
    draft: DraftText,
    record: Callable[[str], T],
    *,
    edits: str | None,
) -> T:
    """Return what ``record`` makes of the draft's text, which a person may change in the editor first."""
    if not args.editor:
        return record(draft.body)

    def keep(text: str, error: MemfsError) -> None:
        if not error.draft:
            changed = _with_text(args, session, draft, text)
            keep_refused(repository.writer(), changed, error, name=args.name, edits=edits)

    return edit_until(session, draft.body, record, keep=keep)


def _drop(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    for name in args.names:
        drop_draft(repository.tree, session.places, name)
        session.say(f"dropped {name}")
    return 0


def _changed(args: argparse.Namespace, session: Session, repository: Repository) -> DraftText:
    """Return the draft with what the arguments change."""
    draft = draft_of(get_draft(repository.tree, session.places, args.name))
    if args.text is not None:
        text = session.read_stdin().decode("utf-8", "surrogateescape") if args.text == "-" else args.text
        draft = _with_text(args, session, draft, text)
    return replace(
        draft,
        front={**draft.front, **fields_of(args)},
        author=args.author or draft.author,
        id=args.id or draft.id,
        allow={**draft.allow, **allowed_rules(args)},
        origin=Origin(args.origin) if args.origin else draft.origin,
    )


def _with_text(args: argparse.Namespace, session: Session, draft: DraftText, text: str) -> DraftText:
    """Return the draft with another text.

    Its origin stays what the command that kept it declared, unless a person at a terminal names another
    one or changes the text there: then it is theirs.
    """
    if text != draft.body and session.interactive and not args.origin:
        draft = replace(draft, origin=Origin.OWNER)
    return replace(draft, body=text)
