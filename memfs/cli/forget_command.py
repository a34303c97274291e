"""Delete a memory in one commit.

It stays in git's history. So does its approval: whoever brings back the old file with its receipt brings
back an approved memory. `memfs untrust ID` withdraws the approval, before or after, and that stays.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.disk.files import list_folder
from memfs.model.memory import Origin
from memfs.repository.may_write import require_agents_welcome

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    caller = caller_of(args)
    repository = session.open_with(args.id, caller)
    if not session.interactive:
        require_agents_welcome(session.places, repository.tree, Origin.AGENT)
    commit = repository.forget(args.id, caller)
    if args.json:
        session.emit("forgotten", {"id": args.id, "commit": commit})
    else:
        session.say(f"forgot {args.id}  (commit {(commit or 'none')[:12]})")
    if any(name.startswith(f"{args.id}.") for name in list_folder(repository.tree, ".memfs/approvals")):
        session.note(f"it was approved once; `memfs untrust {args.id}` keeps the old file from being approved again")
    return 0
