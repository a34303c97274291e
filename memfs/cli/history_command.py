"""Show how a memory came to be what it is: every commit that touched it or its approvals, newest first."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.looks import say_frame
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.render.escape import show_line
from memfs.render.frame import frame_text

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    caller = caller_of(args)
    events = session.open_with(args.id, caller).history(args.id, caller)
    if args.json:
        rows = [
            {
                "commit": event.commit,
                "on": event.on,
                "author": show_line(event.author),
                "what": event.what,
                "path": show_line(event.path),
                "subject": show_line(event.subject),
            }
            for event in events
        ]
        session.emit("history", {"id": args.id, "events": rows})
        return 0
    if not events:
        session.note("not committed yet")
        return 0
    lines = [
        f"{event.commit[:12]}  {event.on[:10]}  {event.what:<8}  {show_line(event.author)}  {show_line(event.subject)}"
        for event in events
    ]
    about = "what git recorded about one memory; whoever committed wrote it."
    say_frame(session, frame_text(lines, draw_nonce=session.draw_nonce, name="history", about=about))
    return 0
