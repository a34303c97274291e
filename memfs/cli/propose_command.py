"""Open a pull request with memories.

Puts the memories on a branch of their own, which starts at the remote's main branch, pushes it, and opens
a pull request with `gh` or `glab` when one is installed; else prints the page to open. Your work tree,
your index and the branch you are on stay as they are, so several agents can do this at once.

  memfs propose billing-additive-migrations      one memory (with its approvals)
  memfs propose                                  everything that the main branch does not have
  memfs propose --update ID                      what you changed since, on the same branch
  memfs propose --new "TEXT" --kind decision --scope team --evidence docs/x.md --review "on 2027-06-01"
                                                 a new memory, straight to a branch
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_fields, add_json, add_writing, allowed_rules, fields_of, origin_of
from memfs.errors import EXIT_YES, UsageError

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.propose.propose import Plan
    from memfs.repository.repository import Repository


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="a memory of this work tree (default: all that is new)")
    parser.add_argument("--new", metavar="TEXT", help="propose a new memory with this text ('-': standard input)")
    parser.add_argument("--id", help="with --new: its id (default: made from its title or first words)")
    parser.add_argument("--branch", metavar="NAME", help="the branch to make (default: memory/ID)")
    parser.add_argument("--update", action="store_true", help="add to the branch that is there already")
    parser.add_argument("--base", metavar="BRANCH", help="the branch to propose to (default: the remote's main one)")
    parser.add_argument("--remote", metavar="NAME", help="the remote to push to (default: origin)")
    parser.add_argument("--message", metavar="TEXT", help="title of the commit and the pull request")
    parser.add_argument("--draft", action="store_true", help="open the pull request as a draft")
    parser.add_argument("--no-push", action="store_true", help="make the branch and nothing else")
    add_fields(parser)
    add_writing(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    from memfs.propose.propose import Opened, Wanted, open_request, plan, prepare, push

    repository = session.open_repository()
    if args.new is None and (given := [name for name, value in fields_of(args).items() if value]):
        raise UsageError(f"--{given[0].replace('_', '-')} goes with --new", hint="`memfs edit ID` changes a memory")
    new = _write_new(args, session, repository) if args.new is not None else {}
    wanted = Wanted(
        ids=tuple(args.ids),
        new=new,
        branch=args.branch,
        base=args.base,
        remote=args.remote,
        update=args.update,
        title=args.message,
        draft=args.draft,
        push=not args.no_push,
    )
    if args.dry_run:
        return _tell_plan(plan(repository.tree, wanted, identities=repository.identities()), session)
    prepared = prepare(repository.tree, wanted, identities=repository.identities())
    for notice in prepared.notices:
        session.note(notice)
    opened = Opened()
    pushed = not args.no_push and prepared.remote is not None
    if pushed:
        if not args.json:
            session.note(f"pushing {prepared.branch} …")
        push(repository.tree, prepared, environ=session.environ, interactive=session.interactive)
        opened = open_request(
            repository.tree, prepared, wanted, environ=session.environ, interactive=session.interactive
        )
    if args.json:
        session.emit(
            "propose",
            {
                "branch": prepared.branch,
                "commit": prepared.commit,
                "base": prepared.base,
                "paths": list(prepared.paths),
                "pushed": pushed,
                "request": opened.request,
                "address": opened.address,
                "notices": [*prepared.notices, *opened.notices],
            },
        )
        return EXIT_YES
    for notice in opened.notices:
        session.note(notice)
    session.say(
        f"{prepared.branch}  (commit {prepared.commit[:12]}, {len(prepared.paths)} file(s), onto {prepared.base})"
    )
    if opened.request:
        session.say(f"pull request: {opened.request}")
    elif opened.address:
        session.say(f"open it here: {opened.address}")
    elif not pushed:
        session.say("not pushed")
    return EXIT_YES


def _tell_plan(planned: Plan, session: Session) -> int:
    from memfs.model.codepoints import plain
    from memfs.propose.remote import show_remote

    where = show_remote(planned.url) if planned.url else "nowhere: there is no remote"
    session.say(f"{plain(planned.title)}: {planned.branches[0]} onto {plain(planned.base)}, pushed to {where}")
    for path, raw in planned.files.items():
        session.say(f"  {'deletes' if raw is None else 'writes'} {plain(path)}")
    session.note("nothing was done")
    return EXIT_YES


def _write_new(args: argparse.Namespace, session: Session, repository: Repository) -> dict[str, bytes]:
    """Return the file of a new memory, admitted but not written anywhere."""
    from memfs.repository.draft import DraftText

    text = session.read_stdin().decode("utf-8") if args.new == "-" else args.new
    draft = DraftText(
        body=text,
        origin=origin_of(args, session),
        front=fields_of(args),
        author=args.author,
        id=args.id,
        allow=allowed_rules(args),
    )
    recorded = repository.remember(draft, dry_run=True)
    return {recorded.file.path: recorded.file.raw}
