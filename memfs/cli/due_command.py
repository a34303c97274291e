"""List memories that must be looked at again: a review trigger fired, evidence changed, or they expired.

Exits with 1 when there is none. `memfs verify ID` says that one is still true.
"""

from __future__ import annotations

import argparse
from datetime import date
from typing import TYPE_CHECKING

from memfs.cli.looks import Looks
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.errors import UsageError
from memfs.recall.due import find_due
from memfs.render.escape import show_line
from memfs.render.views import render_json
from memfs.repository.shown import shown_of
from memfs.repository.stores import Stores

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.standing.assess import Assessment


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ids", action="store_true", help="print the ids alone, for `memfs verify $(memfs due --ids)`")
    parser.add_argument("--on", metavar="DATE", help="what will be due on a coming day (default: today)")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    stores = Stores.open(session.cwd, places=session.places, today=session.today)
    found = find_due(stores.stores, session.places, caller_of(args), today=session.today, on=_day(args))
    notices = (*stores.notices, *found.notices)
    if args.json:
        shown = [shown_of(one.assessment, store=one.store) for one in found.due]
        session.emit("due", {"memories": render_json(shown), "notices": list(notices)})
    elif args.ids:
        for memory_id in dict.fromkeys(one.assessment.file.id for one in found.due):
            session.say(memory_id)
    else:
        for one in found.due:
            _say(session, one.assessment)
        if found.due:
            session.note("`memfs verify ID` shows what changed, and says that a memory is still true")
        if not found.due:
            session.note("nothing is due")
    for notice in notices:
        session.note(notice)
    return 0 if found.due else 1


def _say(session: Session, assessment: Assessment) -> None:
    state = assessment.state
    reasons = "; ".join(show_line(reason) for reason in state.reasons)
    if not session.draws:
        session.say(f"{assessment.file.id}  {state.state.value}: {reasons}")
        return
    looks = Looks(session)
    session.say(f" {looks.state(state.state)} {looks.bold(assessment.file.id)}")
    for line in looks.wrap(f"{state.state.value}: {reasons}", first="   ", rest="   "):
        session.say(line)


def _day(args: argparse.Namespace) -> date | None:
    if args.on is None:
        return None
    try:
        return date.fromisoformat(args.on)
    except ValueError:
        raise UsageError("must be a day, as 2027-01-31", where="--on") from None
