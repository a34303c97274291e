"""Propose a memory of your own store to the team.

The text and its fields go onto a branch of the repository that you are in, as `memfs propose --new` does; options
change them. Yours stays where it is. What is yours alone is shown and asked for at a terminal before it leaves.

  memfs promote deploys-on-tuesdays --scope team/billing --evidence docs/deploy.md
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.asking import escape_lines
from memfs.cli.options import allowed_rules, fields_of
from memfs.cli.propose_command import add_request, send
from memfs.errors import EXIT_NO, NotFoundError, UsageError
from memfs.model.memory import FrontValue, MemoryFile
from memfs.repository import DraftText
from memfs.repository.stores import open_personal
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session

_OWN = ("origin", "author", "recorded", "scope", "supersedes", "allow")
"""Fields that belong to the memory where it is, and do not go with it."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="ID", help="a memory of your own store")
    parser.add_argument("--id", metavar="ID", help="its id in the team's repository (default: the same)")
    add_request(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    store = open_personal(session.places, session.today)
    if store is None or store.tree.root == repository.tree.root:
        raise UsageError(
            "promoting takes your own store and a team's repository",
            hint="`memfs init --personal` makes your store; run this in the team's repository",
        )
    draft = _draft_of(args, store.find(args.name, OWNER))
    if not args.dry_run and not _is_meant(session, draft):
        session.note("nothing was proposed")
        return EXIT_NO
    args.new, args.ids = draft.body, []
    return send(args, session, repository, draft)


def _draft_of(args: argparse.Namespace, file: MemoryFile) -> DraftText:
    if file.memory is None or file.document is None:
        raise NotFoundError("this file is not a memory yet", where=file.id, hint=f"`memfs show {file.id}` says why")
    front: dict[str, FrontValue] = {key: value for key, value in file.document.front.items() if key not in _OWN}
    return DraftText(
        body=file.memory.body,
        origin=file.memory.origin,
        front={**front, **fields_of(args)},
        author=args.author,
        id=args.id or file.id,
        allow=allowed_rules(args),
    )


def _is_meant(session: Session, draft: DraftText) -> bool:
    if not session.interactive:
        raise UsageError(
            "a memory leaves your own store only when a person at a terminal says so",
            hint="`-n` says what would be proposed",
        )
    for line in escape_lines(draft.body.rstrip("\n")):
        session.note(f"  | {line}")
    return session.ask("Propose this text to the team (y, n)?").lower() in ("y", "yes")
