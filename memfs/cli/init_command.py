"""Make a memory repository.

In an empty or new folder this makes a git repository from the template; in a code repository it adds
.memfs/, memories/ and the agents' skill and leaves everything else alone; --personal makes one that is yours alone, in
your own data folder. The SSH key that signs for you becomes the first key of its keyring, and this
machine pins it. A keyring that is there already is left alone and never pinned: `memfs pin` does that.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.cli.modelling import make_ready
from memfs.cli.options import add_json
from memfs.disk.worktree import find_work_tree
from memfs.repository.making import make_repository

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="DIR", help="where (default: the working directory)")
    parser.add_argument("--personal", action="store_true", help="make your personal repository, in your data folder")
    parser.add_argument("--key", metavar="FILE", help="the SSH key that approves (default: the one that signs for you)")
    parser.add_argument("--principal", metavar="ADDRESS", help="who that key belongs to (default: git's user.email)")
    parser.add_argument("--no-examples", action="store_true", help="leave the template's example memories out")
    parser.add_argument("--no-keyring", action="store_true", help="make no keyring: nothing can be approved yet")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    made = make_repository(
        _folder(args, session),
        places=session.places,
        today=session.today,
        environ=session.environ,
        personal=args.personal,
        key=args.key,
        principal=args.principal,
        keyring=not args.no_keyring,
        examples=not args.no_examples,
        interactive=session.interactive,
    )
    make_ready(session, find_work_tree(made.root))
    if args.json:
        session.emit(
            "init",
            {
                "root": str(made.root),
                "files": list(made.files),
                "commit": made.commit,
                "pin": made.pin,
                "notices": list(made.notices),
            },
        )
        return 0
    for path in made.files:
        session.say(f"  {path}")
    if made.files:
        session.say(f"{made.root} is a memory repository  (commit {(made.commit or 'none')[:12]})")
    else:
        session.say(f"{made.root} is a memory repository already; nothing to do")
    if made.pin:
        session.say(f"pinned on this machine: {made.pin}")
    for notice in made.notices:
        session.note(notice)
    session.note("next: `memfs remember --help`, or `memfs connect AGENT`")
    return 0


def _folder(args: argparse.Namespace, session: Session) -> Path | None:
    """Return where to make it; None is the user's own data folder."""
    if args.folder:
        return session.cwd / str(args.folder)
    return None if args.personal else session.cwd
