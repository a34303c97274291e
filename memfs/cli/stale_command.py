"""List memories that were never used, or not for long, on this machine.

Nothing fades by itself: what is listed stays until somebody edits, supersedes or forgets it.
Exits with 1 when there is none.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.errors import UsageError
from memfs.model.values import asdict
from memfs.recall.due import find_stale
from memfs.render.views import render_json
from memfs.repository.shown import shown_of
from memfs.repository.stores import Stores

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=90, metavar="N", help="not used for so long (default: 90)")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    if not 0 <= args.days <= 36_500:
        raise UsageError("must be a number of days", where="--days")
    stores = Stores.open(session.cwd, places=session.places, today=session.today)
    found = find_stale(stores.stores, session.places, caller_of(args), today=session.today, days=args.days)
    notices = (*stores.notices, *found.notices)
    if args.json:
        shown = [shown_of(one.assessment, store=one.store) for one in found.stale]
        usage = [asdict(one.usage) for one in found.stale]
        session.emit("stale", {"memories": render_json(shown), "usage": usage, "notices": list(notices)})
    else:
        for one in found.stale:
            last = f"last used {one.usage.last}" if one.usage.last else "never used"
            session.say(f"{one.assessment.file.id}  {last}, shown {one.usage.shown} times")
        if not found.stale:
            session.note("every memory was used, or is new")
    for notice in notices:
        session.note(notice)
    return 0 if found.stale else 1
