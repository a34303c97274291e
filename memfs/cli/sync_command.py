"""Bring a store together with its remote: fetch, put your own commits on top, push.

For your own store on several machines, and for a team's main branch that takes pushes. Where both sides changed
the same memory nothing happens, and the answer says how to settle it. No hook of git runs.

  memfs sync               the repository that you are in
  memfs sync personal      a store of your settings, from anywhere
  memfs sync --all         each of them that has a remote
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs import propose
from memfs.check import counted
from memfs.cli.options import add_json
from memfs.disk.settings import read_user_settings
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.errors import EXIT_ENVIRONMENT, EXIT_YES, MemfsError, NotFoundError, UsageError
from memfs.git.owner import require_ours
from memfs.model.codepoints import plain
from memfs.repository.named import PROJECT

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", nargs="?", metavar="STORE", help="a store of your settings (default: where you are)")
    parser.add_argument("--all", action="store_true", help="every store of your settings")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    chosen = _choose(args, session)
    done, code = [], EXIT_YES
    for name, tree in chosen:
        try:
            synced = propose.sync(tree, environ=session.environ, interactive=session.interactive)
        except MemfsError as error:
            if len(chosen) == 1:
                raise
            session.note(f"{plain(name)}: {error}")
            code = EXIT_ENVIRONMENT
            continue
        done.append({"store": name, "remote": synced.remote, "received": synced.received, "sent": synced.sent})
        if not args.json:
            received, sent = counted(synced.received, "commit"), counted(synced.sent, "commit")
            session.say(f"{plain(name)}: {received} received, {sent} sent ({plain(synced.remote)})")
    if args.json:
        session.emit("sync", {"stores": done})
    return code


def _choose(args: argparse.Namespace, session: Session) -> list[tuple[str, WorkTree]]:
    if args.store is None and not args.all:
        if not session.interactive:
            raise UsageError(
                "without a person at a terminal only a store of your settings is synced",
                hint="memfs sync STORE, or memfs sync --all",
            )
        return [(PROJECT, session.open_repository().tree)]
    stores = read_user_settings(session.places).stores
    wanted = [store for store in stores if args.all or store.name == args.store]
    if not wanted:
        names = ", ".join(store.name for store in stores) or "none; `memfs init --personal` makes yours"
        raise NotFoundError("your settings name no such store", where=plain(args.store or "--all"), hint=names)
    found = []
    for store in wanted:
        tree = find_work_tree(store.path)
        require_ours(tree)
        found.append((store.name, tree))
    return found
