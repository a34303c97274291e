"""Say what needs attention in this repository: what lost its approval and why, what must be looked
at again, what is not committed, and files that are no memories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.model.codepoints import one_line
from memfs.model.memory import State

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.standing.assess import Assessment

DIFFERENT = ("changed", "older-text")
MAX_DIFFERENCE = 20  # lines shown of one memory; `memfs trust ID` shows all


def configure(parser: argparse.ArgumentParser) -> None:
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    status = repository.status(caller_of(args))
    if args.json:
        session.emit("status", _payload(status))
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


def _lost(session: Session, repository: Repository, lost: Sequence[Assessment]) -> None:
    """Say what lost its approval and why, with the difference to the text that was approved last."""
    if not lost:
        return
    from memfs.render.escape import show_lines
    from memfs.render.frame import frame_text
    from memfs.trust.opening import open_view
    from memfs.trust.texts import find_last_approved

    view = open_view(repository.tree, session.places, today=session.today)
    session.say("\nLost approval:")
    for assessment in lost:
        file, verdict = assessment.file, assessment.verdict
        session.say(f"  {file.id}  {verdict.reason}  {verdict.detail or ''}".rstrip())
        if assessment.gate.outcome.value == "reject":
            session.say("    admission withholds its text; `memfs check` says where and why")
            continue
        approved = find_last_approved(repository.tree, view, file) if verdict.reason in DIFFERENT else None
        if approved is not None:
            before, now = (show_lines(raw.decode("utf-8", "replace")) for raw in (approved, file.raw))
            lines = list(unified_diff(before, now, lineterm="", n=0))[2:][:MAX_DIFFERENCE]
            about = "what was approved (-) and what stands there now (+)."
            session.say(frame_text(lines, draw_nonce=session.draw_nonce, name="difference", about=about).rstrip("\n"))


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
        "uncommitted": list(status.uncommitted),
        "not_memories": [{"path": path, "reason": reason} for path, reason in status.bad],
    }
