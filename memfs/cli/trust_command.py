"""Approve memories with your SSH key.

Without ids it walks through everything that waits, as `git add -p` does. Each text is shown once, with what
changed since it was last approved and with everything that an eye may miss made visible; you approve, skip, edit
or verify it, and one signature is made for all of them at the end. The commit carries the signed record in its
message and as a receipt in the tree; change one byte of a memory and its approval no longer fits.

  memfs trust                                 walk through what waits
  memfs trust billing-additive-migrations     approve one
  memfs trust --since main                    everything that this branch adds or changes
  memfs trust --renew                         again, what you approved with a key that is retired
  memfs trust --print ID                      write nothing: print the record, to be pasted
  memfs trust --sync                          keep approvals seen in commit messages as receipts; no key needed

It needs a person at a terminal, which keeps programs from approving by accident. That does not keep out a
program that runs as you: it can open a terminal and reach an unlocked ssh-agent. A security key that is
listed with `memfs keys add … --touch` does: nothing but a finger gives its touch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import date
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfs.cli import queue
from memfs.cli.asking import announce, escape_lines, find_signer, require_terminal
from memfs.cli.options import add_json
from memfs.cli.pin_command import ask_for_pin
from memfs.errors import EXIT_NO, EXIT_TRUST, EXIT_YES, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.unseen import find_alike
from memfs.model.values import dataclass
from memfs.repository.find import find_ids
from memfs.sight import OWNER
from memfs.trust.approve import Approved, approve, make_records
from memfs.trust.carriers import APPROVALS
from memfs.trust.opening import open_view
from memfs.trust.plan import (
    Plan,
    PlanItem,
    Succession,
    approvers_of,
    find_key,
    narrow,
    plan_approval,
    stands_already,
    withdrawals_due,
)
from memfs.trust.receipts import find_missing_receipts, write_receipts
from memfs.trust.record import format_record
from memfs.trust.texts import find_remarks, ids_since, ids_to_renew, ids_waiting

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.trust.signing import SshSigner
    from memfs.trust.view import TrustView


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="a memory to approve")
    parser.add_argument("--all", action="store_true", help=argparse.SUPPRESS)  # what it does without ids
    parser.add_argument("--since", metavar="BASE", help="what HEAD adds or changes since it left BASE")
    parser.add_argument("--renew", action="store_true", help="what your own lapsed approvals fit")
    parser.add_argument("--until", metavar="DATE", help="the last day on which the approval counts")
    parser.add_argument("--key", metavar="FILE", help="the key to sign with")
    parser.add_argument("--print", dest="only_print", action="store_true", help="print the record and write nothing")
    parser.add_argument("--sync", action="store_true", help="write the receipts that approvals in the history lack")
    parser.add_argument(
        "--from", dest="source", metavar="FILE", help="with --sync: look in this text too ('-': standard input)"
    )
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    if args.source and not args.sync:
        raise UsageError("--from needs --sync", hint="memfs trust --sync --from FILE")
    if args.sync:
        return _sync(args, session)
    return approve_ids(
        args.ids,
        session,
        since=args.since,
        renew=args.renew,
        until=_parse_day(args.until),
        key=args.key,
        only_print=args.only_print,
        as_json=args.json,
    )


def approve_ids(
    ids: Sequence[str],
    session: Session,
    *,
    since: str | None = None,
    renew: bool = False,
    until: date | None = None,
    key: str | None = None,
    only_print: bool = False,
    as_json: bool = False,
) -> int:
    """Show memories, ask for each id, sign once in each store and commit. Return the exit code.

    Raises :class:`TrustError` where nobody sits at a terminal.
    """
    require_terminal(session, "approving")
    code = EXIT_YES
    for repository, names in session.open_each(ids, OWNER):
        wish = _Wish(ids=names, since=since, renew=renew, until=until, key=key)
        code = max(code, _approve_in(repository, session, wish, only_print=only_print, as_json=as_json))
    return code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What a person wants to approve in one repository, and with which key."""

    ids: Sequence[str]
    since: str | None
    renew: bool
    until: date | None
    key: str | None


def _approve_in(repository: Repository, session: Session, wish: _Wish, *, only_print: bool, as_json: bool) -> int:
    ids, since, renew = wish.ids, wish.since, wish.renew
    view = open_pinned(session, repository)
    tree, sees = repository.tree, repository.sight.for_caller(OWNER)
    wanted = [*find_ids(tree, ids, sees), *(ids_since(tree, since, sees) if since else ())]
    if not ids and not since and not renew:
        wanted = ids_waiting(tree, view, sees)
    signer = find_signer(session, view.keyring, key=wish.key, wanted=lambda line: "approve" in line.roles)
    if renew:
        line = view.keyring.find_key(signer.public.blob) if view.keyring else None
        wanted += ids_to_renew(tree, view, line.principal, sees) if line else []

    def plan_again(chosen: Sequence[str]) -> Plan:
        return plan_approval(tree, session.places, chosen, sees=sees, today=session.today, until=wish.until, view=view)

    plan = plan_again(wanted)
    for notice in plan.notices:
        session.note(notice)
    if since or renew:
        plan = narrow(plan, [item for item in plan.items if not (item.verdict and item.verdict.trusted)])
    if not plan.items:
        session.note("there is nothing to approve")
        return EXIT_YES
    plan = _without_done(session, plan, signer)
    if not plan.items:
        return EXIT_YES
    chosen = _choose(session, repository, plan, plan_again)
    if chosen is None:
        session.note("nothing was approved")
        return EXIT_NO
    announce(session, [signer])
    if only_print:
        return _print_records(session, chosen, signer)
    return _tell(session, approve(chosen, signer, now=session.now()), as_json=as_json)


def _print_records(session: Session, plan: Plan, signer: SshSigner) -> int:
    for record in make_records(plan, signer, now=session.now()):
        session.say(format_record(record).rstrip("\n"))
    session.note("nothing was written; whoever has push rights runs: memfs trust --sync --from FILE")
    return EXIT_YES


def _without_done(session: Session, plan: Plan, signer: SshSigner) -> Plan:
    """Return ``plan`` without what this person has approved already, which is said."""
    line = find_key(plan, signer)  # says at once when this key may not approve them
    due = {one.id for one in withdrawals_due(plan, line)}
    waiting = {one.by.id for one in plan.successions if one.old.id in due}
    done = [item for item in plan.items if stands_already(plan, item, line) and item.id not in waiting]
    for item in done:
        session.note(f"{item.id}: you have approved this text already")
    return narrow(plan, [item for item in plan.items if item not in done])


def _choose(
    session: Session, repository: Repository, plan: Plan, plan_again: Callable[[Sequence[str]], Plan]
) -> Plan | None:
    """Return what a person approves of ``plan``, None for nothing: one text by its first word, more as a queue."""
    if len(plan.items) > 1:
        return queue.Queue(session, repository, show=show_item, again=plan_again).walk(plan)
    (item,) = plan.items
    show_item(session, plan, item)
    word = item.id.partition("-")[0]
    answer = session.ask(f"Type {word} to approve exactly this text (nothing: leave it out):")
    if answer and answer not in (word, item.id):
        session.note("that is not the word; left out")
    return plan if answer in (word, item.id) else None


def open_pinned(session: Session, repository: Repository) -> TrustView:
    """Return the view on the approvals of a repository, pinned: a person's first use of a clone asks once."""
    tree = repository.tree
    view = open_view(tree, session.places, today=session.today)
    if view.trouble is not None and view.trouble.reason == "not-pinned" and ask_for_pin(session, tree):
        view = open_view(tree, session.places, today=session.today)
    for notice in view.notices:
        session.note(notice)
    return view


def show_item(session: Session, plan: Plan, item: PlanItem, place: str = "") -> None:
    """Write one memory of a plan to the terminal: state, text, what an eye may miss, the difference."""
    file = item.file
    assert file is not None
    session.note("")
    session.note(f"=== {f'{place}: ' if place else ''}{item.id}  ({escape_hidden(file.path, single_line=True)})")
    verdict = item.verdict
    if verdict is not None:
        people = f" by {', '.join(verdict.people)}" if verdict.people else ""
        session.note(
            f"    now: {verdict.reason or 'approved'}{people}{f' ({verdict.detail})' if verdict.detail else ''}"
        )
    need = plan.view.need(item.scope or "")
    if need > 1:
        session.note(f"    needs {need} people for {item.scope}")
    for line in escape_lines(item.text.rstrip("\n")):
        session.note(f"  | {line}")
    for remark in find_remarks(item.text):
        session.note(f"  ! {remark}")
    for path in item.twins:
        session.note(f"  ! another file has this id: {escape_hidden(path, single_line=True)}")
    if item.previous is not None:
        session.note("    difference to the text that was last approved:")
        for line in difference(item.previous, file.raw):
            session.note(f"  {line}")
        for alike in find_alike(item.previous.decode("utf-8", "replace"), item.text):
            session.note(f"  ! {alike.sentence}")
    for one in plan.successions:
        if one.by.id == item.id:
            session.note(f"    {_say_succession(plan, one)}")


def _say_succession(plan: Plan, one: Succession) -> str:
    """Return what the approval does to a memory that the approved one supersedes."""
    if not one.is_seen:
        return f"it supersedes {one.old.id}, which stays approved: not everybody who sees that one sees this one"
    have = len(approvers_of(plan, one.by))
    if have + 1 >= one.need:
        return f"it supersedes {one.old.id}, whose approval is withdrawn in the same commit"
    return f"it supersedes {one.old.id}, whose approval is withdrawn once {one.need} people have approved this one"


def difference(old: bytes, new: bytes) -> list[str]:
    """Return a unified difference of two texts, hidden characters made visible."""
    before, after = (escape_lines(raw.decode("utf-8", "replace").rstrip("\n")) for raw in (old, new))
    return list(unified_diff(before, after, lineterm="", n=3))[2:]


def _tell(session: Session, approved: Approved, *, as_json: bool) -> int:
    lacking = {memory_id: verdict for memory_id, verdict in approved.verdicts.items() if not verdict.trusted}
    if as_json:
        session.emit("trust", payload_of(approved))
    elif not approved.records:
        session.say("nothing was signed")
    else:
        for memory_id, verdict in approved.verdicts.items():
            state = (
                f"approved by {', '.join(verdict.people)}" if verdict.trusted else f"not yet trusted: {verdict.reason}"
            )
            session.say(f"{memory_id}  {state}")
        receipts = "a receipt" if len(approved.receipts) == 1 else f"{len(approved.receipts)} receipts"
        session.say(f"commit {(approved.commit or '')[:12]}, with {receipts} in .memfs/approvals")
    for memory_id, verdict in lacking.items():
        session.note(f"{memory_id}: {verdict.detail or verdict.reason}")
    # Waiting for a second person is how it should be; anything else (a file changed meanwhile) is not.
    return EXIT_TRUST if any(str(verdict.reason) != "not-enough-people" for verdict in lacking.values()) else EXIT_YES


def payload_of(approved: Approved) -> dict[str, Any]:
    """Return the `--json` answer of trust and untrust."""
    return {
        "commit": approved.commit,
        "receipts": list(approved.receipts),
        "records": [record.line for record in approved.records],
        "memories": [
            {
                "id": memory_id,
                "level": str(verdict.level),
                "reason": str(verdict.reason) if verdict.reason else None,
                "people": list(verdict.people),
            }
            for memory_id, verdict in approved.verdicts.items()
        ],
    }


def _sync(args: argparse.Namespace, session: Session) -> int:
    text = b""
    if args.source == "-":
        text = session.read_stdin()
    elif args.source:
        try:
            text = Path(session.cwd, args.source).read_bytes()
        except OSError as error:
            raise UsageError(f"the text cannot be read: {error.strerror}", where=args.source) from None
    tree = session.open_repository().tree
    view = open_view(tree, session.places, today=session.today)
    for notice in view.notices:
        session.note(notice)
    records = find_missing_receipts(tree, view, ids=args.ids, text=text)
    commit = write_receipts(tree, records) if records else None
    receipts = [f"{APPROVALS}/{record.receipt_name}" for record in records]
    if args.json:
        session.emit("trust-sync", {"commit": commit, "receipts": receipts})
        return EXIT_YES
    for path in receipts:
        session.say(path)
    session.note(f"commit {commit[:12]}" if commit else "every approval that counts has its receipt")
    return EXIT_YES


def _parse_day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError("a day is written YYYY-MM-DD", where="--until", hint="--until 2027-12-31") from None
