"""List the memories that rest on a file, watch it, or apply to it.

Ask before you change a file: what is approved about it, and what your change will make somebody look at
again. Exits with 1 when there is none.

  memfs blame src/retry.py
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.looks import say_line
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.disk.worktree import folder_below
from memfs.errors import EXIT_NO, EXIT_YES, UsageError
from memfs.render.escape import show_line
from memfs.render.views import render_json
from memfs.repository.blame import find_blame
from memfs.repository.shown import shown_of
from memfs.standing.tie import Knot

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.standing.blame import Bearing

_WORDS = {"rests-on": "rests on it", "watches": "is due when it changes", "applies": "applies to it"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a file of this repository")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    repository = session.open_repository()
    caller = caller_of(args)
    knot = Knot(
        repository.tree,
        folder=folder_below(repository.tree, session.cwd),
        sees_path=lambda name: repository.sight.sees_path(caller, name),
    )
    path = knot.find_path(args.path)
    if path is None:
        raise UsageError("there is no such file here", where=show_line(args.path), hint="git ls-files")
    found = find_blame(repository, path, caller)
    if args.json:
        memories = [
            {
                "how": bearing.how.value,
                "part": show_line(bearing.part) or None,
                "lines": [bearing.lines.first, bearing.lines.last] if bearing.lines else None,
                "memory": render_json([shown_of(assessment)])[0],
            }
            for bearing, assessment in found
        ]
        session.emit("blame", {"path": show_line(path), "memories": memories})
        return EXIT_YES if found else EXIT_NO
    for bearing, assessment in found:
        approved = "approved" if assessment.verdict.trusted else "not approved"
        session.say(f"{_place(bearing):<12} {bearing.file.id}  {assessment.state.state.value}, {approved}")
        if assessment.approved and bearing.file.memory is not None:
            say_line(session, f"{'':<12} {show_line(' '.join(bearing.file.memory.statement.split()))}")
    if not found:
        session.note("no memory has to do with this file")
    return EXIT_YES if found else EXIT_NO


def _place(bearing: Bearing) -> str:
    if bearing.lines is not None:
        return f"L{bearing.lines.first}-L{bearing.lines.last}"
    return _WORDS[bearing.how.value] if not bearing.part else show_line(bearing.part)
