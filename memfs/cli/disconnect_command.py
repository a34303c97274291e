"""Remove memfs from a coding agent's settings.

Files that nobody else changed since `memfs connect` are again what they were, byte for byte; out of
the others memfs's own entries are taken, and nothing else is touched.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.connect_command import add_where, agent_of, changes_payload, wish_of
from memfs.cli.options import add_json
from memfs.connect.install import disconnect

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    add_where(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    wish = wish_of(args, session, agent_of(args.agent), script="memfs")
    changes = disconnect(wish, session.places)
    if args.json:
        session.emit("disconnected", changes_payload(wish, changes))
        return 0
    changed = [change for change in changes if change.what != "unchanged"]
    for change in changed:
        session.say(f"{change.what} {change.path}")
    if not changed:
        session.say("memfs is not connected there")
    return 0
