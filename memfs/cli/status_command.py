"""Say what needs attention in this repository: what lost its approval and why, what must be looked at again, what
is not committed, drafts, and files that are not memories. On a terminal in a few lines, each with what to type
next; --long lists all."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from memfs.cli.looks import Looks, say_frame
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.model.codepoints import one_line
from memfs.model.memory import State
from memfs.render.escape import show_lines
from memfs.render.frame import frame_text
from memfs.repository.status import Status, read_status
from memfs.trust.judge import Reason
from memfs.trust.opening import open_view
from memfs.trust.pinning import has_keyring
from memfs.trust.texts import find_previous

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.standing.assess import Assessment

DIFFERENT = ("changed", "older-text")
MAX_DIFFERENCE = 20  # lines shown of one memory; `memfs trust ID` shows all


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--long", action="store_true", help="every memory of every group, with differences")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    status = read_status(repository, caller_of(args))
    if args.json:
        session.emit("status", _payload(status))
        return 0
    if session.terminal and not args.long:
        _draw(session, status, approve="memfs trust" if has_keyring(repository.tree) else "memfs keys create")
        return 0
    session.say(f"{count(len(status.assessments), 'memory', 'memories')}, {len(status.approved)} approved")
    if status.under_way:
        session.say(f"a {status.under_way} is under way: memfs reads, and writes nothing until it is finished")
    for notice in status.notices:
        session.say(notice)
    _lost(session, repository, status.lost)
    _section(session, "Not approved", [(a.file.id, str(a.verdict.reason)) for a in status.unapproved])
    _section(
        session, "Look again", [(a.file.id, f"{a.state.state.value}: {'; '.join(a.state.reasons)}") for a in status.due]
    )
    _section(session, "Not committed", [(one_line(path), "") for path in status.uncommitted])
    _section(
        session,
        "Not memories",
        [(one_line(path), reason) for path, reason in status.bad],
    )
    return 0


def _draw(session: Session, status: Status, *, approve: str) -> None:
    """Write the state in at most fifteen lines: each group with its first members and what to type next."""
    looks = Looks(session)
    waiting = [a.file.id for a in status.unapproved if a.verdict.reason != Reason.NOT_PINNED]
    unpinned = [a.file.id for a in status.unapproved if a.verdict.reason == Reason.NOT_PINNED]
    in_use = sum(a.approved for a in status.approved)
    session.say(
        f"{looks.bold(count(len(status.assessments), 'memory', 'memories'))}, {len(status.approved)} approved, "
        f"{in_use} in use"
    )
    if status.under_way:
        session.say(looks.warn(f"a {status.under_way} is under way: memfs writes nothing until it is finished"))
    for notice in status.notices[:2]:
        session.say(looks.fit(one_line(notice), looks.width))
    groups: list[tuple[str, Sequence[str], str]] = [
        ("lost approval", [a.file.id for a in status.lost], approve),
        ("not approved", waiting, approve),
        ("not pinned here", unpinned, "memfs pin"),
        ("look again", [a.file.id for a in status.due], "memfs due"),
        ("not committed", [one_line(path) for path in status.uncommitted], "git status"),
        ("drafts", status.drafts, "memfs drafts"),
        ("not memories", [one_line(path) for path, _ in status.bad], "memfs check"),
    ]
    if status.ahead:
        groups.append(("commits to push", [f"ahead of its upstream by {status.ahead}"], "git push"))
    if status.behind:
        groups.append(("commits to pull", [f"behind its upstream by {status.behind}"], "git pull"))
    shown = [group for group in groups if group[1]]
    for title, names, command in shown:
        number = f"{len(names):>4}" if not title.startswith("commits") else "    "
        head = f"{number} {title:<16}"
        room = looks.width - len(head) - len(command) - 6
        session.say(f"{looks.warn(head)}  {looks.fit(', '.join(names[:20]), room).ljust(room)}  {looks.bold(command)}")
    if not shown:
        session.say(looks.dim("nothing waits"))


def _lost(session: Session, repository: Repository, lost: Sequence[Assessment]) -> None:
    """Say what lost its approval and why, with the difference to the text that was approved last."""
    if not lost:
        return

    view = open_view(repository.tree, session.places, today=session.today)
    session.say("\nLost approval:")
    for assessment in lost:
        file, verdict = assessment.file, assessment.verdict
        session.say(f"  {file.id}  {verdict.reason}  {verdict.detail or ''}".rstrip())
        if assessment.gate.outcome.value == "reject":
            session.say("    admission withholds its text; `memfs check` says where and why")
            continue
        approved = find_previous(repository.tree, view.records(file.id), file) if verdict.reason in DIFFERENT else None
        if approved is not None:
            before, now = (show_lines(raw.decode("utf-8", "replace")) for raw in (approved, file.raw))
            lines = list(unified_diff(before, now, lineterm="", n=0))[2:][:MAX_DIFFERENCE]
            about = "what was approved (-) and what is there now (+)."
            say_frame(session, frame_text(lines, draw_nonce=session.draw_nonce, name="difference", about=about))


def count(number: int, one: str, many: str) -> str:
    """Return ``number`` with its noun."""
    return f"{number} {one if number == 1 else many}"


def _section(session: Session, title: str, rows: list[tuple[str, str]]) -> None:
    if not rows:
        return
    session.say(f"\n{title}:")
    for name, reason in rows:
        session.say(f"  {name}  {reason}".rstrip())


def _payload(status: Any) -> dict[str, Any]:
    def due(assessment: Any) -> bool:
        return assessment.state.state in (State.RECHECK, State.EXPIRED)

    return {
        "memories": len(status.assessments),
        "approved": len(status.approved),
        "under_way": status.under_way,
        "notices": list(status.notices),
        "lost": [{"id": a.file.id, "reason": str(a.verdict.reason)} for a in status.lost],
        "unapproved": [{"id": a.file.id, "reason": str(a.verdict.reason)} for a in status.unapproved],
        "due": [
            {"id": a.file.id, "state": a.state.state.value, "reasons": list(a.state.reasons)}
            for a in status.due
            if due(a)
        ],
        "drafts": list(status.drafts),
        "ahead": status.ahead,
        "behind": status.behind,
        "uncommitted": list(status.uncommitted),
        "not_memories": [{"path": path, "reason": reason} for path, reason in status.bad],
    }
