"""Record a memory: one Markdown file in one commit.

The text comes from the arguments, from standard input, or from $EDITOR. Every memory says what it
rests on and when it must be looked at again; on a terminal memfs asks for what is missing.

  memfs remember "The billing team's migrations are additive." --kind decision \\
      --scope team/billing --evidence docs/adr/0014-additive-migrations.md \\
      --review "when docs/support.md changes"
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_fields, add_json, add_writing, allowed_rules, fields_of, origin_of
from memfs.cli.writing import ask_missing, read_text, tell_recorded

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.writing import DraftText


def configure(parser: argparse.ArgumentParser) -> None:
    add_draft(parser)
    parser.add_argument("--supersedes", metavar="ID", action="append", help="a memory that this one replaces")
    parser.add_argument("--trust", action="store_true", help="approve it in the same go (needs a terminal and a key)")


def add_draft(parser: argparse.ArgumentParser) -> None:
    """Add the options of a new memory, which ``remember`` and ``supersede`` share."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the memory; '-' or nothing reads standard input")
    parser.add_argument("--editor", action="store_true", help="write the text in $EDITOR")
    parser.add_argument("--id", help="the memory's id (default: made from the title or the first words)")
    add_fields(parser)
    add_writing(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    draft = read_draft(args, session)
    if args.supersedes:
        draft.front["supersedes"] = tuple(args.supersedes)  # type: ignore[index]  # our own dict, made below
    recorded = repository.remember(draft, dry_run=args.dry_run)
    tell_recorded(recorded, args, session, done="remembered")
    if args.trust and not args.dry_run:
        from memfs.cli.trust_command import approve_ids

        return approve_ids([recorded.file.id], session)
    return 0


def read_draft(args: argparse.Namespace, session: Session) -> DraftText:
    """Return the draft that the arguments, the input and a person's answers make."""
    from memfs.repository.writing import DraftText

    front = fields_of(args)
    body = read_text(args, session)
    ask_missing(front, session)
    return DraftText(
        body=body,
        origin=origin_of(args, session),
        front=front,
        author=args.author,
        id=args.id,
        allow=allowed_rules(args),
    )
