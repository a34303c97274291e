"""List memories: id, kind, scope, state and trust, and the files that are no memories with the reason.

Titles of memories that nobody approved are not shown: a list has no room for a frame.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.errors import UsageError
from memfs.model.codepoints import one_line
from memfs.model.memory import Kind, State
from memfs.model.scope import is_scope

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.standing.assess import Assessment


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", help="only this scope")
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="only this kind")
    parser.add_argument("--state", choices=[state.value for state in State], help="only this state")
    parser.add_argument("--trusted", action="store_true", help="only approved memories")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    if args.scope is not None and not is_scope(args.scope):
        raise UsageError("a scope is personal, team, team/NAME or restricted/NAME", where="--scope")
    repository = session.open_repository()
    found, skipped = repository.assess_all(caller_of(args))
    for notice in repository.notices:
        session.note(notice)
    chosen = [assessment for assessment in found if _wanted(assessment, args)]
    bad = [assessment for assessment in found if assessment.file.memory is None]
    if args.json:
        session.emit(
            "list",
            {
                "memories": [_row(assessment) for assessment in chosen],
                "not_memories": [
                    {
                        "path": item.file.path,
                        "problems": [str(problem) for problem in item.file.problems],
                        "front": _front(item),
                    }
                    for item in bad
                ],
                "not_opened": [{"path": path, "reason": reason} for path, reason in skipped],
            },
        )
        return 0 if chosen else 1
    widths = [max((len(cell[i]) for cell in map(_cells, chosen)), default=0) for i in range(4)]
    for assessment in chosen:
        cells = _cells(assessment)
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False))
        session.say(f"{line}  {cells[4]}".rstrip())
    for item in bad:
        problem = item.file.problems[0]
        session.note(f"not a memory: {one_line(item.file.path)}: {problem}")
    for path, reason in skipped:
        session.note(f"not opened: {one_line(path)}: {reason}")
    if not chosen:
        session.note(
            "no memories" if not (args.scope or args.kind or args.state or args.trusted) else "none of that kind"
        )
    return 0 if chosen else 1


def _wanted(assessment: Assessment, args: argparse.Namespace) -> bool:
    memory = assessment.file.memory
    if memory is None:
        return False
    return (
        (args.scope is None or memory.scope == args.scope)
        and (args.kind is None or memory.kind.value == args.kind)
        and (args.state is None or assessment.state.state.value == args.state)
        and (not args.trusted or assessment.verdict.trusted)
    )


def _cells(assessment: Assessment) -> tuple[str, str, str, str, str]:
    from memfs.render.views import Detail, render_json
    from memfs.repository.shown import shown_of

    memory = assessment.file.memory
    assert memory is not None
    shown = shown_of(assessment)
    row = render_json([shown], detail=Detail.HEADING)[0]
    verdict = assessment.verdict
    trust = "approved" if verdict.trusted else f"not approved ({verdict.reason})"
    return (
        memory.id,
        memory.kind.value,
        memory.scope,
        f"{assessment.state.state.value}, {trust}",
        (row["title"] or row["statement"].split("\n")[0][:80]) if shown.as_rule else "",
    )


def _front(assessment: Assessment) -> dict[str, Any] | None:
    """Return the front matter as the text that was written; None where it cannot be read or is stopped."""
    document = assessment.file.document
    if document is None or assessment.gate.outcome.value == "reject":
        return None
    from memfs.render.escape import show_line, show_text

    return {
        show_line(key): show_text(value) if isinstance(value, str) else [show_text(item) for item in value]
        for key, value in document.front.items()
    }


def _row(assessment: Assessment) -> dict[str, Any]:
    from memfs.render.views import render_json
    from memfs.repository.shown import shown_of

    return render_json([shown_of(assessment)])[0]
