"""Give a memory another id, in one commit.

Memories that name it (`supersedes`, `when ID is superseded`) follow, and `memfs history` goes on from before.
An approval is of an id and a text: what was approved is named, to be approved again.

  memfs rename use-pnpm-never-npm-the-lockfile use-pnpm
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of, commit_of, writer_of
from memfs.disk.files import list_folder
from memfs.model.memory import Origin
from memfs.repository.may_write import require_agents_welcome
from memfs.repository.renaming import Renamed, rename

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    parser.add_argument("new", metavar="NEW-ID", help="its new id")
    parser.add_argument("-m", "--message", metavar="SUBJECT", default="", help="the commit's subject")
    parser.add_argument("--no-commit", action="store_true", help="change the files alone; you commit them yourself")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_with(args.id, caller_of(args))
    if not session.interactive:
        require_agents_welcome(session.places, repository.tree, Origin.AGENT)
    renamed = rename(repository, args.id, args.new, caller_of(args), by=writer_of(args), commit=commit_of(args))
    if args.json:
        session.emit("renamed", _payload(renamed))
        return 0
    committed = f"commit {renamed.commit[:12]}" if renamed.commit else "not committed"
    session.say(f"renamed {renamed.was} to {renamed.file.id}  ({committed})")
    if renamed.changed:
        session.note(f"changed with it, for they named it: {', '.join(renamed.changed)}")
    if renamed.approved:
        session.note(f"approved before, and to be approved again: `memfs trust {' '.join(renamed.approved)}`")
    receipts = list_folder(repository.tree, ".memfs/approvals")
    if renamed.file.id in renamed.approved or any(name.startswith(f"{renamed.was}.") for name in receipts):
        session.note(f"`memfs untrust {renamed.was}` keeps the old file from being approved again")
    return 0


def _payload(renamed: Renamed) -> dict[str, object]:
    return {
        "was": renamed.was,
        "id": renamed.file.id,
        "path": renamed.file.path,
        "commit": renamed.commit,
        "changed": list(renamed.changed),
        "approved": list(renamed.approved),
    }
