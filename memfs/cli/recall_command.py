"""Find memories: what the project's repository and your other stores know about a question."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="+", metavar="TEXT", help="what you want to know")
    parser.add_argument("--limit", type=int, default=5, help="show at most so many (default: 5)")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    from memfs.api import Stores, render_hits
    from memfs.recall.search import Query

    stores = Stores.open(session.cwd, places=session.places, today=session.today)
    query = Query(text=" ".join(args.question), caller=caller_of(args), limit=args.limit)
    result = stores.recall(query)
    if args.json:
        from memfs.api import shown_of
        from memfs.render.views import render_json

        shown = [shown_of(hit.assessment, store=hit.store, score=hit.score) for hit in result.hits]
        session.emit("recall", {"hits": render_json(shown), "mode": result.mode, "notices": list(result.notices)})
    elif result.hits:
        session.say(render_hits(result, draw_nonce=session.draw_nonce).rstrip("\n"))
    for notice in result.notices:
        session.note(notice)
    if not result.hits:
        session.note("nothing found")
    return 0 if result.hits else 1
