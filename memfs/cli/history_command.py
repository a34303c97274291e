"""Show how a memory came to be what it is: every commit that touched it or its approvals, newest first."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.model.codepoints import escape_hidden

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    events = repository.history(args.id, caller_of(args))
    if args.json:
        rows = [
            {
                "commit": event.commit,
                "on": event.on,
                "author": event.author,
                "what": event.what,
                "path": event.path,
                "subject": event.subject,
            }
            for event in events
        ]
        session.emit("history", {"id": args.id, "events": rows})
        return 0
    for event in events:
        author = escape_hidden(event.author, single_line=True)
        subject = escape_hidden(event.subject, single_line=True)
        session.say(f"{event.commit[:12]}  {event.on[:10]}  {event.what:<8}  {author}  {subject}")
    if not events:
        session.note("not committed yet")
    return 0
