"""Asking a person whether a memory is still true: what it rests on, as it was and is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from memfs.cli.asking import escape_lines
from memfs.cli.parser import terminal_width
from memfs.render.escape import show_line
from memfs.repository.verify import plan_verification
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.repository.verify import Look, Verification

_MOST_ROWS = 60  # of one difference
_CONTEXT = 2
_WIDE = 100  # columns from which two texts are shown beside each other


def ask_still_true(session: Session, repository: Repository, plan: Verification, place: str) -> str:
    """Show one memory and ask; tie it anew where the answer is yes. Return ``y``, ``n`` or ``q``."""
    _show(session, plan, place)
    answer = session.ask(f"Is {plan.memory.id} still true? [y/N/q]").lower()
    if answer == "q":
        return "q"
    if answer not in ("y", "yes"):
        session.note(f"left as it is; `memfs edit {plan.memory.id}` changes it, `memfs supersede` replaces it")
        return "n"
    repository.edit(plan.memory.id, OWNER, changes=dict(plan.changes))
    session.say(f"verified {plan.memory.id}")
    return "y"


def verify_one(session: Session, repository: Repository, memory_id: str) -> None:
    """Look at one memory, outside a walk through several."""
    plan = plan_verification(repository, repository.assess(repository.find(memory_id, OWNER), OWNER), review=None)
    if plan.changes:
        ask_still_true(session, repository, plan, "1 of 1")
    else:
        session.note(f"{memory_id}: nothing that it rests on has changed")


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
