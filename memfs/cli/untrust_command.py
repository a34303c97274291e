"""Withdraw the approval of memories, with your SSH key.

The signed withdrawal outlasts the memory: when the file is deleted it stays as a tombstone, so that
bringing back the old file with its old receipt does not bring back the approval. Anybody who may
approve may withdraw, and so may people whose key is retired. To approve again, run `memfs trust`.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.asking import announce, find_signer, require_terminal
from memfs.cli.options import add_json
from memfs.cli.trust_command import open_pinned, payload_of
from memfs.errors import EXIT_NO, EXIT_YES
from memfs.model.codepoints import escape_hidden
from memfs.model.values import replace
from memfs.repository.find import find_ids
from memfs.sight import OWNER
from memfs.trust.approve import approve, make_records
from memfs.trust.plan import find_key, plan_withdrawal
from memfs.trust.record import format_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.cli.session import Session
    from memfs.repository.repository import Repository


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="a memory, there or deleted")
    parser.add_argument("--key", metavar="FILE", help="the key to sign with")
    parser.add_argument("--print", dest="only_print", action="store_true", help="print the record and write nothing")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    require_terminal(session, "withdrawing an approval")
    code = EXIT_YES
    for repository, names in session.open_each(args.ids, OWNER):
        code = max(code, _withdraw_in(repository, names, args, session))
    return code


def _withdraw_in(repository: Repository, names: Sequence[str], args: argparse.Namespace, session: Session) -> int:
    view = open_pinned(session, repository)
    signer = find_signer(session, view.keyring, key=args.key, wanted=lambda line: line.counts)
    sees = repository.sight.for_caller(OWNER)
    ids = find_ids(repository.tree, names, sees)
    plan = plan_withdrawal(repository.tree, session.places, ids, sees=sees, today=session.today, view=view)
    find_key(plan, signer)
    chosen = []
    for item in plan.items:
        where = escape_hidden(item.file.path, single_line=True) if item.file else "deleted"
        now = f"{item.verdict.reason or 'approved'}" if item.verdict else "no file"
        session.note(f"=== {item.id}  ({where}; now: {now})")
        for path in item.twins:
            session.note(f"    another file has this id: {escape_hidden(path, single_line=True)}")
        if session.ask(f"Type {item.id} to withdraw its approval (nothing: leave it):") == item.id:
            chosen.append(item)
    if not chosen:
        session.note("nothing was withdrawn")
        return EXIT_NO
    plan = replace(plan, items=tuple(chosen))
    announce(session, [signer])
    if args.only_print:
        for record in make_records(plan, signer, now=session.now()):
            session.say(format_record(record).rstrip("\n"))
        return EXIT_YES
    done = approve(plan, signer, now=session.now())
    if args.json:
        session.emit("trust", payload_of(done))
        return EXIT_YES
    if not done.records:
        session.say("withdrawn already; nothing was signed")
        return EXIT_YES
    for item in plan.items:
        session.say(f"{item.id}  withdrawn")
    session.say(f"commit {(done.commit or '')[:12]}")
    return EXIT_YES
