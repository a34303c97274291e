"""Open a pull request with memories.

Puts the memories on a branch of their own, which starts at the remote's main branch, pushes it, and opens
a pull request with `gh` or `glab` when one is installed; else prints the page to open. Your work tree,
your index and the branch you are on stay as they are, so several agents can do this at once. Only where
your main branch is ahead by nothing but what is proposed, memfs offers to put it back to its upstream.

  memfs propose billing-additive-migrations      one memory (with its approvals)
  memfs propose                                  everything that the main branch does not have
  memfs propose --update ID                      what you changed since, on the same branch
  memfs propose --new "TEXT" --kind decision --scope team --evidence docs/x.md --review "on 2027-06-01"
                                                 a new memory, straight to a branch
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from memfs import propose
from memfs.check import counted
from memfs.cli.options import add_fields, add_json, add_writing, allowed_rules, fields_of, origin_of
from memfs.cli.writing import read_input
from memfs.errors import EXIT_YES, UsageError
from memfs.model.codepoints import plain
from memfs.model.memory import Origin
from memfs.repository import DraftText, Repository, find_ids, keeping
from memfs.repository.may_write import require_agents_welcome
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="a memory of this work tree (default: all that is new)")
    parser.add_argument("--new", metavar="TEXT", help="propose a new memory with this text ('-': standard input)")
    parser.add_argument("--id", help="with --new: its id (default: made from its title or first words)")
    add_request(parser)


def add_request(parser: argparse.ArgumentParser) -> None:
    """Add the options of a pull request and of the new memory in it."""
    parser.add_argument("--branch", metavar="NAME", help="the branch to make (default: memory/ID)")
    parser.add_argument("--update", action="store_true", help="add to the branch that is there already")
    parser.add_argument("--base", metavar="BRANCH", help="the branch to propose to (default: the remote's main one)")
    parser.add_argument("--remote", metavar="NAME", help="the remote to push to (default: origin)")
    parser.add_argument("-m", "--message", metavar="TEXT", help="title of the commit and the pull request")
    parser.add_argument("--draft", action="store_true", help="open the pull request as a draft")
    parser.add_argument("--no-push", action="store_true", help="make the branch and nothing else")
    back = parser.add_mutually_exclusive_group()
    back.add_argument("--back", action="store_true", default=None, help="put the main branch back without asking")
    back.add_argument("--no-back", dest="back", action="store_false", help="leave the main branch where it is")
    add_fields(parser)
    add_writing(parser, commits=False)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    draft, code = _new_draft(args, session), EXIT_YES
    for repository, ids in session.open_each(args.ids, OWNER):
        args.ids = ids
        if not session.interactive and not args.dry_run:
            require_agents_welcome(session.places, repository.tree, Origin.AGENT)
        code = max(code, send(args, session, repository, draft))
    return code


def send(args: argparse.Namespace, session: Session, repository: Repository, draft: DraftText | None) -> int:
    """Put a new memory, or those that ``args`` name, on a branch, push it and open a pull request."""
    tree, identities = repository.tree, repository.identities()
    # What was piped in is nowhere else.
    typed = draft is not None and args.new == "-" and not args.dry_run
    with keeping(repository.writer(), draft) if draft is not None and typed else nullcontext():
        wanted = _wanted(args, repository, draft)
        if args.dry_run:
            return _tell_plan(propose.plan(tree, wanted, identities=identities), session)
        prepared = propose.prepare(tree, wanted, identities=identities)
    for notice in prepared.notices:
        session.note(notice)
    opened = propose.Opened()
    pushed = wanted.push and prepared.remote is not None
    if pushed:
        if not args.json:
            session.note(f"pushing {prepared.branch} …")
        propose.push(tree, prepared, environ=session.environ, interactive=session.interactive)
        opened = propose.open_request(tree, prepared, wanted, environ=session.environ, interactive=session.interactive)
    if args.json:
        session.emit("propose", _payload(prepared, opened, pushed=pushed))
    else:
        _tell(prepared, opened, session, pushed=pushed)
    if pushed and args.back is not False:
        _put_back(session, repository, prepared, asked=bool(args.back))
    return EXIT_YES


def _put_back(session: Session, repository: Repository, prepared: propose.Prepared, *, asked: bool) -> None:
    """Put the main branch back to its upstream, where all that it is ahead by is on the proposed branch now."""
    tree, environ = repository.tree, session.environ
    upstream = propose.find_upstream(tree)
    if upstream is None or not upstream.is_main:
        return
    ahead = propose.can_be_put_back(tree, upstream, prepared.commit, prepared.paths, environ=environ)
    if not ahead:
        return
    here, there = plain(upstream.branch), plain(upstream.name)
    commits = counted(ahead, "commit")
    if not asked:
        if not session.interactive:
            session.note(f"{here} is ahead of {there} by {commits}, proposed now; `--back` puts it back")
            return
        answer = session.ask(f"{here} is ahead by {commits}, all proposed now. Put it back to {there} (Y, n)?")
        if answer.lower() not in ("", "y", "yes"):
            return
    propose.put_back(tree, upstream, environ=environ)
    session.note(f"{here} is where {there} is; the memory is on {prepared.branch} until it is merged")


def offer_proposal(session: Session, repository: Repository, memory_id: str) -> int:
    """Ask a person who recorded on the team's main branch whether to propose the memory, and do it.

    Nobody is asked who is the only one in the keyring, or whose branch follows no remote.
    """
    if not session.interactive or not propose.is_shared(repository.tree):
        return EXIT_YES
    upstream = propose.find_upstream(repository.tree)
    if upstream is None or not upstream.is_main:
        return EXIT_YES
    question = f"{plain(upstream.branch)} is the team's branch. Propose the memory on a branch of its own (y, N)?"
    if session.ask(question).lower() not in ("y", "yes"):
        return EXIT_YES
    parser = argparse.ArgumentParser()
    configure(parser)
    return send(parser.parse_args([memory_id, "--back"]), session, repository, None)


def _wanted(args: argparse.Namespace, repository: Repository, draft: DraftText | None) -> propose.Wanted:
    if draft is None and (given := [name for name, value in fields_of(args).items() if value]):
        raise UsageError(f"--{given[0].replace('_', '-')} needs --new", hint="`memfs edit ID` changes a memory")
    sees = repository.sight.for_caller(OWNER)
    return propose.Wanted(
        ids=tuple(find_ids(repository.tree, args.ids, sees)),
        sees=sees,
        new=_write_new(repository, draft) if draft is not None else {},
        branch=args.branch,
        base=args.base,
        remote=args.remote,
        update=args.update,
        title=args.message,
        draft=args.draft,
        push=not args.no_push,
    )


def _payload(prepared: propose.Prepared, opened: propose.Opened, *, pushed: bool) -> dict[str, Any]:
    return {
        "branch": prepared.branch,
        "commit": prepared.commit,
        "base": prepared.base,
        "paths": list(prepared.paths),
        "pushed": pushed,
        "request": opened.request,
        "address": opened.address,
        "notices": [*prepared.notices, *opened.notices],
    }


def _tell(prepared: propose.Prepared, opened: propose.Opened, session: Session, *, pushed: bool) -> None:
    for notice in opened.notices:
        session.note(notice)
    files = counted(len(prepared.paths), "file")
    session.say(f"{prepared.branch}  (commit {prepared.commit[:12]}, {files}, onto {prepared.base})")
    if opened.request:
        session.say(f"pull request: {opened.request}")
    elif opened.address:
        session.say(f"open it here: {opened.address}")
    elif not pushed:
        session.say("not pushed")


def _tell_plan(planned: propose.Plan, session: Session) -> int:
    where = propose.show_remote(planned.url) if planned.url else "nowhere: there is no remote"
    session.say(f"{plain(planned.title)}: {planned.branches[0]} onto {plain(planned.base)}, pushed to {where}")
    for path, raw in planned.files.items():
        session.say(f"  {'deletes' if raw is None else 'writes'} {plain(path)}")
    session.note("nothing was done")
    return EXIT_YES


def _new_draft(args: argparse.Namespace, session: Session) -> DraftText | None:
    """Return the new memory that is proposed; None where none is."""
    if args.new is None:
        return None
    return DraftText(
        body=read_input(session) if args.new == "-" else args.new,
        origin=origin_of(args, session),
        front=fields_of(args),
        author=args.author,
        id=args.id,
        allow=allowed_rules(args),
    )


def _write_new(repository: Repository, draft: DraftText) -> dict[str, bytes]:
    """Return the file of a new memory, admitted but not written anywhere."""
    recorded = repository.remember(draft, dry_run=True)
    return {recorded.file.path: recorded.file.raw}
