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
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.cli.trust_command import approve_ids
from memfs.cli.verifying import ask_still_true
from memfs.errors import EXIT_NO, EXIT_YES, MemfsError
from memfs.model.memory import Origin
from memfs.propose.propose import Wanted, prepare
from memfs.repository.may_write import require_agents_welcome
from memfs.repository.verify import plan_verification
from memfs.sight import OWNER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.repository.verify import Verification


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="a memory")
    parser.add_argument("--review", metavar="TRIGGER", help="when to look again (default: as before, from today)")
    parser.add_argument("--no-approve", action="store_true", help="tie the evidence, and leave the approval to others")
    parser.add_argument("--key", metavar="FILE", help="the key to approve with")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    caller, code = caller_of(args), EXIT_YES
    for repository, names in session.open_each(list(dict.fromkeys(args.ids)), caller):
        code = max(code, _verify_in(repository, names, args, session))
    return code


def _verify_in(repository: Repository, names: Sequence[str], args: argparse.Namespace, session: Session) -> int:
    caller = caller_of(args)
    if not session.interactive:
        require_agents_welcome(session.places, repository.tree, Origin.AGENT)
    plans = []
    for memory_id in names:
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
        answer = ask_still_true(session, repository, plan, f"{number} of {len(plans)}")
        if answer == "q":
            break
        if answer == "y":
            done.append(plan)
    if not done:
        return EXIT_YES if not plans else EXIT_NO
    approved = [plan.memory.id for plan in done if plan.assessment.verdict.people or plan.assessment.verdict.trusted]
    for plan in done:
        if plan.memory.id not in approved:
            session.note(f"{plan.memory.id} was not approved before; `memfs trust {plan.memory.id}` approves it")
    if not approve or not approved:
        return EXIT_YES
    try:
        return approve_ids(approved, session, key=key)
    except MemfsError as error:
        session.note(f"verified, and not approved: {error}")
        session.note(f"run: memfs trust {' '.join(approved)}")
        return error.exit_code


def _prepare(repository: Repository, session: Session, plans: Sequence[Verification], *, as_json: bool) -> int:
    """Make a branch with the tied memories; the work tree stays as it is."""
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
