"""Show one memory: what it says, its state, who approved it, and whether its evidence is unchanged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.looks import say_frame
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.render.views import render_bundle, render_json, render_markdown
from memfs.repository.find import two_files
from memfs.repository.shown import shown_of

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    caller = caller_of(args)
    repository = session.open_with(args.id, caller)
    files = repository.find_all(args.id, caller)
    assessments = sorted((repository.assess(file, caller) for file in files), key=lambda one: not one.approved)
    shown = [shown_of(assessment) for assessment in assessments]
    if len(files) > 1:
        session.note(two_files(files))
    for notice in repository.notices:
        session.note(notice)
    if args.json:
        session.emit("show", {"memory": render_json(shown)[0]})
    elif args.markdown:
        session.say(render_markdown(shown, draw_nonce=session.draw_nonce).rstrip("\n"))
    else:
        say_frame(session, render_bundle(shown, draw_nonce=session.draw_nonce))
    return 0
