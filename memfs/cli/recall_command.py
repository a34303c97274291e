"""Find memories: what the project's repository and your other stores know about a question.

With --for, what applies to a file; with --brief, what a session should begin with: approved and
current memories only. A prompt that asks about nothing finds nothing, unless --all is given.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memfs.cli.looks import say_frame
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.errors import UsageError
from memfs.recall.query import Advice

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.recall.search import Hit, Query, Result
    from memfs.render.views import Shown

_BYTES_A_TOKEN = 4
_FRAME_BYTES = 600  # what the frames and the line about what was left out may take


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="*", metavar="TEXT", help="what you want to know")
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="show at most so many (default: 5)")
    parser.add_argument(
        "--budget", metavar="SIZE", help="show whole memories up to so many bytes, or tokens with a t: 2000, 500t"
    )
    parser.add_argument("--for", dest="work_path", metavar="FILE", help="what applies to this file")
    parser.add_argument("--topic", action="append", metavar="WORD", help="what applies to this topic; repeatable")
    parser.add_argument("--brief", action="store_true", help="approved and current memories only, others counted")
    parser.add_argument("--all", action="store_true", help="show weak matches too")
    parser.add_argument("--full", action="store_true", help="show whole memories, not only statement and evidence")
    parser.add_argument("--explain", action="store_true", help="say how each place in the ranking came about")
    parser.add_argument(
        "--mode",
        choices=["auto", "lexical", "hybrid"],
        default="auto",
        help="by words only, by words and meaning, or as there is a model (default)",
    )
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    from memfs.repository.stores import Stores

    query = _query(args, session)
    stores = Stores.open(session.cwd, places=session.places, today=session.today)
    if not stores.stores and stores.missing is not None:
        raise stores.missing
    result = stores.recall(query)
    if args.json:
        _emit(result, args, session)
    elif result.hits:
        say_frame(session, _render(result, args, session))
    _note(result, args, session)
    return 0 if result.hits or result.left_out else 1


def _query(args: argparse.Namespace, session: Session) -> Query:
    from memfs.recall.search import Query

    if args.limit < 1:
        raise UsageError("must be at least 1", where="--limit", hint="--limit 5")
    text = " ".join(args.question)
    if not text.strip() and not (args.work_path or args.brief or args.topic):
        raise UsageError("what do you want to know?", hint="memfs recall TEXT, or --for FILE, or --brief")
    budget = _budget(args)
    return Query(
        text=text,
        caller=caller_of(args),
        limit=args.limit,
        work_path=str(session.cwd.resolve() / args.work_path) if args.work_path else None,
        topics=tuple(args.topic or ()),
        mode=args.mode,
        floor=not args.all,
        brief=args.brief,
        budget_bytes=None if budget is None else max(0, budget - _FRAME_BYTES),
        explain=args.explain,
    )


def _budget(args: argparse.Namespace) -> int | None:
    if args.budget is None:
        return None
    number = args.budget.rstrip("bt")
    if not number.isdecimal() or int(number) == 0 or len(args.budget) - len(number) > 1:
        raise UsageError("must be a number of bytes, or of tokens with a t", where="--budget", hint="--budget 500t")
    return int(number) * (_BYTES_A_TOKEN if args.budget.endswith("t") else 1)


def _shown(hit: Hit, args: argparse.Namespace) -> Shown:
    from memfs.repository.shown import shown_of

    notes = (*hit.notes, _explain(hit)) if args.explain else hit.notes
    return shown_of(hit.assessment, store=hit.store or None, score=hit.score, notes=notes)


def _explain(hit: Hit) -> str:
    names = {"words": "words {:.2f}", "meaning": "meaning {:.2f}", "late": "tokens {:.2f}"}
    parts = [names.get(name, name + " x{:.2f}").format(value) for name, value in hit.parts.items()]
    return f"score {hit.score:.3f} = {', '.join(parts)}"


def _render(result: Result, args: argparse.Namespace, session: Session) -> str:
    from memfs.render.views import Detail, render_bundle

    return render_bundle(
        [_shown(hit, args) for hit in result.hits],
        draw_nonce=session.draw_nonce,
        limit_bytes=_budget(args),
        left_out=result.left_out,
        detail=Detail.FULL if args.full else Detail.BRIEF,
    )


def _emit(result: Result, args: argparse.Namespace, session: Session) -> None:
    from memfs.render.views import Detail, render_json

    document: dict[str, Any] = {
        "hits": render_json([_shown(hit, args) for hit in result.hits], detail=Detail.FULL),
        "mode": result.mode,
        "unreadable": result.unreadable,
        "left_out": result.left_out,
        "others": result.others,
        "withheld": result.withheld,
        "strays": result.strays,
        "notices": list(result.notices),
    }
    if args.explain:
        document["parts"] = [dict(hit.parts) for hit in result.hits]
    session.emit("recall", document)


def _note(result: Result, args: argparse.Namespace, session: Session) -> None:
    for notice in result.notices:
        if isinstance(notice, Advice):
            session.advise(notice)
        else:
            session.note(notice)
    if result.unreadable:
        files = "file" if result.unreadable == 1 else "files"
        session.note(f"{result.unreadable} {files} here cannot be read; `memfs check` names them")
    for remark in result.remarks():
        session.note(remark)
    if args.brief and result.others:
        session.note(f"{result.others} others are not approved or not current")
    if not result.hits and result.left_out:
        session.note(f"{result.left_out} found, and none of them fits into --budget {args.budget}")
    elif not result.hits and not result.remarks():
        session.note("nothing found" if args.all or args.brief else "nothing found (--all shows weak matches too)")
