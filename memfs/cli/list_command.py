"""List memories: id, kind, scope, state and trust, and the files that are not memories with the reason.

On a terminal they stand below their scopes, with the start of their text, dimmed where nobody approved it. Elsewhere
titles of memories that nobody approved are not shown: a list has no room for a frame.

  memfs list retry                    whose id, title or text contains a word
  memfs list --unapproved --tag api
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memfs.cli.looks import Looks
from memfs.cli.options import add_caller, add_json, caller_of
from memfs.errors import UsageError
from memfs.model.codepoints import one_line
from memfs.model.memory import Kind, Origin, State
from memfs.model.scope import is_scope
from memfs.render.escape import show_line, show_text
from memfs.render.views import Detail, render_json
from memfs.repository.shown import shown_of

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.standing.assess import Assessment


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", metavar="TEXT", help="only those that contain each of these words")
    parser.add_argument("--scope", help="only this scope")
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="only this kind")
    parser.add_argument("--state", choices=[state.value for state in State], help="only this state")
    parser.add_argument("--tag", "--tags", metavar="TAG", help="only with this tag")
    parser.add_argument("--origin", choices=[origin.value for origin in Origin], help="only of this origin")
    parser.add_argument("--author", metavar="ADDRESS", help="only by this author")
    approval = parser.add_mutually_exclusive_group()
    approval.add_argument("--trusted", "--approved", action="store_true", help="only approved memories")
    approval.add_argument("--unapproved", action="store_true", help="only memories that are not approved")
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
    if session.terminal:
        _draw(session, chosen)
        chosen_lines: list[Assessment] = []
    else:
        chosen_lines = chosen
    widths = [max((len(cell[i]) for cell in map(_cells, chosen_lines)), default=0) for i in range(4)]
    for assessment in chosen_lines:
        cells = _cells(assessment)
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False))
        session.say(f"{line}  {cells[4]}".rstrip())
    for item in bad:
        problem = item.file.problems[0]
        session.note(f"not a memory: {one_line(item.file.path)}: {problem}")
    for path, reason in skipped:
        session.note(f"not opened: {one_line(path)}: {reason}")
    if not chosen:
        session.note("no memories" if not found else "no memory is like that")
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
        and (not args.unapproved or not assessment.verdict.trusted)
        and (args.tag is None or args.tag in memory.tags)
        and (args.origin is None or memory.origin.value == args.origin)
        and (args.author is None or memory.author == args.author)
        and all(word.casefold() in _words(assessment) for word in args.text)
    )


def _words(assessment: Assessment) -> str:
    memory = assessment.file.memory
    if memory is None or assessment.gate.outcome.value == "reject":
        return ""
    return f"{memory.id}\n{memory.title or ''}\n{memory.body}".casefold()


def _draw(session: Session, chosen: list[Assessment]) -> None:
    """Write the list for a person: scopes as headings, state, id, and the start of the text."""

    looks = Looks(session)
    scope = ""
    width = min(max((len(one.file.id) for one in chosen), default=0), looks.width // 2)
    for one in sorted(chosen, key=lambda one: (one.file.memory.scope if one.file.memory else "", one.file.id)):
        memory = one.file.memory
        assert memory is not None
        if memory.scope != scope:
            session.say(f"{'' if not scope else chr(10)}{looks.bold(memory.scope)}")
            scope = memory.scope
        withheld = one.gate.outcome.value == "reject"
        text = "withheld by admission" if withheld else one_line(" ".join(memory.statement.split())[: looks.width])
        name = looks.fit(memory.id, width).ljust(width)
        text = looks.fit(text, looks.width - width - 5)
        session.say(f" {looks.state(one.state.state)} {name}  {text if one.approved else looks.dim(text)}".rstrip())
    total = sum(one.verdict.trusted for one in chosen)
    if chosen:
        session.say(looks.dim(f"\n{len(chosen)} memories, {total} approved"))


def _cells(assessment: Assessment) -> tuple[str, str, str, str, str]:

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

    return {
        show_line(key): show_text(value) if isinstance(value, str) else [show_text(item) for item in value]
        for key, value in document.front.items()
    }


def _row(assessment: Assessment) -> dict[str, Any]:

    return render_json([shown_of(assessment)])[0]
