"""Say whether a recalled memory helped or misled you; without either, show what was said so far.

Kept on this machine, never in git. It moves a memory a few per cent in later answers.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.model.values import asdict
from memfs.recall.feedback import record_feedback
from memfs.recall.usage import NEVER, read_usage
from memfs.repository.stores import Stores

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--helped", action="store_true", help="it was right and useful")
    how.add_argument("--misled", action="store_true", help="it was wrong or in the way")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    stores = Stores.open(session.cwd, places=session.places, today=session.today)
    found = stores.find(args.id, caller_of(args))
    repository, file = found.repository, found.file
    if args.helped or args.misled:
        usage = record_feedback(repository.tree, session.places, file.id, helped=args.helped, today=session.today)
    else:
        usage = read_usage(repository.tree, session.places).get(file.id, NEVER)
    if args.json:
        session.emit("feedback", {"id": file.id, **asdict(usage)})
    else:
        session.say(f"{file.id}: shown {usage.shown}, helped {usage.helped}, misled {usage.misled}")
    return 0
