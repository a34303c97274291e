"""List, show, edit, submit and drop the drafts that admission held back.

A held draft lies in your own state folder, readable by nobody else; it is in no repository and is
never recalled. Submitting one runs the gate again.

  memfs drafts                                          what is held for this repository, and why
  memfs drafts show draft-1                             its text, in a frame
  memfs drafts edit draft-1 --review "on 2027-06-01"    add or change a field
  memfs drafts edit draft-1 --editor                    change the text in $EDITOR
  memfs drafts submit draft-1 --evidence docs/adr.md    record it, with what was missing
  memfs drafts drop draft-1 draft-2                     delete them
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memfs.cli.options import add_fields, add_json, add_writing, allowed_rules, fields_of
from memfs.cli.writing import edit_text, tell_recorded
from memfs.model.memory import Origin
from memfs.model.values import replace

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.disk.drafts import HeldDraft
    from memfs.repository.api import Repository
    from memfs.repository.writing import DraftText


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
    from memfs.disk.drafts import list_drafts

    drafts = list_drafts(repository.tree, session.places)
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
    from memfs.disk.drafts import get_draft
    from memfs.render.escape import show_line, show_lines
    from memfs.render.frame import frame_text

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
    session.say(frame_text(lines, draw_nonce=session.draw_nonce, name="held draft", about=about).rstrip("\n"))
    return 0


def _edit(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    from memfs.repository.drafting import replace_held

    replace_held(repository.writer(), _changed(args, session, repository), name=args.name)
    session.say(f"changed {args.name}; `memfs drafts submit {args.name}` records it")
    return 0


def _submit(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    from memfs.repository.drafting import submit

    draft = _changed(args, session, repository)
    if args.dry_run:
        recorded = repository.remember(draft, dry_run=True)
    else:
        recorded = submit(repository.writer(), args.name, draft)
    tell_recorded(recorded, args, session, done="remembered")
    return 0


def _drop(args: argparse.Namespace, session: Session, repository: Repository) -> int:
    from memfs.disk.drafts import drop_draft

    for name in args.names:
        drop_draft(repository.tree, session.places, name)
        session.say(f"dropped {name}")
    return 0


def _changed(args: argparse.Namespace, session: Session, repository: Repository) -> DraftText:
    """Return the held draft with what the arguments change.

    Its origin stays what the command that held it declared, unless a person at a terminal names
    another one or changes the text there: then it is theirs.
    """
    from memfs.disk.drafts import get_draft
    from memfs.repository.drafting import draft_of

    draft = draft_of(get_draft(repository.tree, session.places, args.name))
    body = draft.body
    if args.editor:
        body = edit_text(session, draft.body)
    elif args.text is not None:
        body = session.read_stdin().decode("utf-8", "surrogateescape") if args.text == "-" else args.text
    origin = Origin(args.origin) if args.origin else draft.origin
    if not args.origin and body != draft.body and session.interactive:
        origin = Origin.OWNER
    return replace(
        draft,
        body=body,
        origin=origin,
        front={**draft.front, **fields_of(args)},
        author=args.author or draft.author,
        id=args.id or draft.id,
        allow={**draft.allow, **allowed_rules(args)},
    )
