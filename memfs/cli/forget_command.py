"""Delete a memory in one commit. It stays in git's history; its approvals stay as a tombstone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    commit = session.open_repository().forget(args.id, caller_of(args))
    if args.json:
        session.emit("forgotten", {"id": args.id, "commit": commit})
    else:
        session.say(f"forgot {args.id}  (commit {(commit or 'none')[:12]})")
    return 0
