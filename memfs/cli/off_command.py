"""Turn memfs off in this project, for you and your agents: no hook, no MCP tool and no recall answers here.

It is a line of your own settings (`off:`), which only you write. What you ask for by name (show, list, edit,
trust) still works.

  memfs off            nothing in this project from now on
  memfs off --end      on again
  memfs off --list     where it is off
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_json
from memfs.disk.changing import turn_off, turn_on
from memfs.disk.settings import read_user_settings
from memfs.disk.worktree import NoWorkTreeError, find_work_tree, printable
from memfs.errors import EXIT_NO, EXIT_YES, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--end", action="store_true", help="turn it on again")
    parser.add_argument("--list", action="store_true", help="name the projects where it is off")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    if args.list or args.json:
        return _list(args, session)
    if not session.interactive:
        raise UsageError(
            "this needs a person at a terminal", hint="write the folder below `off:` in your settings yourself"
        )
    folder = _project(session)
    if args.end:
        changed = turn_on(session.places, folder)
        session.say(f"memfs is on in {printable(str(folder))}" if changed else "memfs was not off here")
        return EXIT_YES
    changed = turn_off(session.places, folder)
    session.say(f"memfs is off in {printable(str(folder))}" if changed else "memfs is off here already")
    session.note("`memfs off --end` turns it on again")
    return EXIT_YES


def _list(args: argparse.Namespace, session: Session) -> int:
    folders = [printable(str(folder)) for folder in read_user_settings(session.places).off]
    if args.json:
        session.emit("off", {"folders": folders})
    else:
        session.say("\n".join(folders) or "nowhere")
    return EXIT_YES if folders else EXIT_NO


def _project(session: Session) -> Path:
    try:
        return find_work_tree(session.cwd).root
    except NoWorkTreeError:
        return session.cwd
