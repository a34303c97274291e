"""Say that memories are still true after what they rest on has changed.

Shows each memory with the old and the new text of what changed, and asks whether it is still true. Then its
evidence is tied to what is there now (at its new path, where it moved), a day for review moves on by as much
as before, and you approve it. Without a terminal nothing here changes: a branch with the tied memory is
prepared, for a person to review.

  memfs verify billing-additive-migrations     one memory
  memfs verify $(memfs due --ids)              each that is due, one after the other
  memfs verify ID --review "on 2027-06-01"     and look again then
"""

from __future__ import annotations

import argparse
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from memfs.cli.asking import escape_lines
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.cli.parser import terminal_width
from memfs.errors import EXIT_NO, EXIT_YES, MemfsError
from memfs.render.escape import show_line
from memfs.sight import OWNER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.repository.verify import Look, Verification

_MOST_ROWS = 60  # of one difference
_CONTEXT = 2
_WIDE = 100  # columns from which two texts are shown beside each other


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="a memory")
    parser.add_argument("--review", metavar="TRIGGER", help="when to look again (default: as before, from today)")
    parser.add_argument("--no-approve", action="store_true", help="tie the evidence, and leave the approval to others")
    parser.add_argument("--key", metavar="FILE", help="the key to approve with")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    from memfs.repository.verify import plan_verification

    repository = session.open_repository()
    caller = caller_of(args)
    plans = []
    for memory_id in dict.fromkeys(args.ids):
        assessment = repository.assess(repository.find(memory_id, caller), caller)
        plan = plan_verification(repository, assessment, review=args.review, caller=caller)
        if plan.changes:
            plans.append(plan)
        else:
            session.note(f"{memory_id}: nothing that it rests on has changed")
    if not session.interactive or args.json:
        return _prepare(repository, session, plans, as_json=args.json)
    return _ask(repository, session, plans, approve=not args.no_approve, key=args.key)


def _ask(
    repository: Repository, session: Session, plans: Sequence[Verification], *, approve: bool, key: str | None
) -> int:
    done: list[Verification] = []
    for number, plan in enumerate(plans, 1):
        _show(session, plan, f"{number} of {len(plans)}")
        answer = session.ask(f"Is {plan.memory.id} still true? [y/N/q]").lower()
        if answer == "q":
            break
        if answer not in ("y", "yes"):
            session.note(f"left as it is; `memfs edit {plan.memory.id}` changes it, `memfs supersede` replaces it")
            continue
        repository.edit(plan.memory.id, OWNER, changes=dict(plan.changes))
        session.say(f"verified {plan.memory.id}")
        done.append(plan)
    if not done:
        return EXIT_YES if not plans else EXIT_NO
    approved = [plan.memory.id for plan in done if plan.assessment.verdict.people or plan.assessment.verdict.trusted]
    for plan in done:
        if plan.memory.id not in approved:
            session.note(f"{plan.memory.id} was not approved before; `memfs trust {plan.memory.id}` approves it")
    if not approve or not approved:
        return EXIT_YES
    from memfs.cli.trust_command import approve_ids

    try:
        return approve_ids(approved, session, key=key)
    except MemfsError as error:
        session.note(f"verified, and not approved: {error}")
        session.note(f"run: memfs trust {' '.join(approved)}")
        return error.exit_code


def verify_one(session: Session, repository: Repository, memory_id: str) -> None:
    """Show what one memory rests on, as it was and is now, and tie it anew where a person says that it is true."""
    from memfs.repository.verify import plan_verification

    plan = plan_verification(repository, repository.assess(repository.find(memory_id, OWNER), OWNER), review=None)
    if plan.changes:
        _ask(repository, session, [plan], approve=False, key=None)
    else:
        session.note(f"{memory_id}: nothing that it rests on has changed")


def _prepare(repository: Repository, session: Session, plans: Sequence[Verification], *, as_json: bool) -> int:
    """Make a branch with the tied memories; the work tree stays as it is."""
    from memfs.propose.propose import Wanted, prepare

    if not plans:
        if as_json:
            session.emit("verify", {"branch": None, "commit": None, "memories": []})
        return EXIT_YES
    new = {}
    for plan in plans:
        recorded = repository.edit(plan.memory.id, OWNER, changes=dict(plan.changes), dry_run=True)
        new[recorded.file.path] = recorded.file.raw
    ids = [plan.memory.id for plan in plans]
    more = f"-and-{len(ids) - 1}-more" if len(ids) > 1 else ""
    wanted = Wanted(new=new, branch=f"memory/verify-{ids[0]}{more}", title=f"Verify {', '.join(ids)}"[:200], push=False)
    prepared = prepare(repository.tree, wanted, identities=repository.identities())
    if as_json:
        memories = [
            {
                "id": plan.memory.id,
                "changes": dict(plan.changes),
                "looks": [{"about": look.about, "status": look.status, "tied": look.tied} for look in plan.looks],
            }
            for plan in plans
        ]
        session.emit("verify", {"branch": prepared.branch, "commit": prepared.commit, "memories": memories})
        return EXIT_YES
    for plan in plans:
        session.say(f"{plan.memory.id}  tied on {prepared.branch}")
    session.note("a person has to look at it and approve it: git push -u origin " + prepared.branch)
    return EXIT_YES


def _show(session: Session, plan: Verification, place: str) -> None:
    memory = plan.memory
    session.note("")
    session.note(f"=== {memory.id}  ({place})")
    for line in escape_lines(memory.statement):
        session.note(f"  | {line}")
    people = plan.assessment.verdict.people
    session.note(f"  approved by {', '.join(map(show_line, people))}" if people else "  not approved")
    for reason in plan.assessment.state.reasons:
        session.note(f"  {show_line(reason)}")
    for look in plan.looks:
        session.note(f"  --- {show_line(look.about)} ({look.status})")
        for line in rows_of(look, terminal_width()):
            session.note(f"  {line}")
        session.note(f"  becomes {show_line(look.tied)}")


def rows_of(look: Look, width: int) -> Iterator[str]:
    """Yield the old text beside the new one; below each other where the terminal is narrow."""
    if look.new is None:
        return
    new = escape_lines(look.new)
    if look.old is None:
        yield "the text that was recorded is not in this clone; this is what is there now:"
        yield from (f"{number:>5} {line}" for number, line in enumerate(new[:_MOST_ROWS], look.first))
        return
    rows = list(_beside(escape_lines(look.old), new, look.first))
    half = (width - 16) // 2
    for number, (mark, old, here) in enumerate(rows):
        if number >= _MOST_ROWS:
            yield f"… {len(rows) - number} more rows"
            return
        if width >= _WIDE:
            yield f"{(old or '')[:half]:<{half}} {mark} {(here or '')[:half]}".rstrip()
        elif mark == " ":
            yield f"  {here}"
        else:
            yield from (f"{sign} {text}" for sign, text in (("-", old), ("+", here)) if text is not None)


def _beside(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield (mark, old line, new line) of what differs, with a little of what is around it."""
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        yield "@", f"line {group[0][1] + 1}", f"line {group[0][3] + first}"
        for kind, start, end, there, until in group:
            mark = " " if kind == "equal" else "|"
            for one, two in zip_longest(old[start:end], new[there:until]):
                yield mark, one, two
