"""Import what a team already knows: notes, rules for agents, decision records, exports of other tools.

Shows first what would happen: what comes in, what is held or refused and where, what is left out and why. The
sources stay as they are, byte for byte. What comes in is imported text that nobody has approved: walk through it with
`memfs trust`. A second run changes nothing; a source that changed becomes an edit.

  memfs import CLAUDE.md docs/adr           what would come in from here
  memfs import ~/.claude/projects/x/memory --yes
  memfs import notes ~/vault --scope team/handbook
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfs import importing
from memfs.cli.import_walk import walk
from memfs.cli.options import add_json
from memfs.cli.progress import bars
from memfs.errors import EXIT_NO, EXIT_YES, UsageError
from memfs.model.codepoints import plain
from memfs.model.memory import FrontValue, Kind, Origin

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.importing import Entry, Plan

_MOST_TOLD = 20
_TOLD = ("held", "refused", "unreadable", "left-out")


def configure(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(kind.name for kind in importing.KINDS)
    parser.add_argument("paths", nargs="+", metavar="[KIND] PATH", help=f"files and folders; KIND is one of {names}")
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="what sort of memory each is")
    parser.add_argument("--scope", help="whose they are")
    parser.add_argument("--review", metavar="TRIGGER", help="when to look again: 6m, 2027-06-01, 'when PATH changes'")
    parser.add_argument("-y", "--yes", action="store_true", help="write what can be recorded, without asking")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would happen and change nothing")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    kind, roots = _split(args.paths, session)
    given = {"kind": args.kind, "scope": args.scope, "review_trigger": args.review}
    fields: dict[str, FrontValue] = {name: value for name, value in given.items() if value}
    if not args.dry_run:
        repository.require_writable(Origin.IMPORTED)
    with bars(session, "reading") as (show,):
        plan = importing.make_plan(repository, roots, kind=kind, fields=fields, progress=show)
    wanted = bool(plan.writes) and not args.dry_run
    if not args.json:
        _tell(session, plan)
    if wanted and not args.yes:
        question = f"Write {len(plan.writes)} memories? [y]es, [w]alk through them, [N]o:"
        answer = session.ask(question).lower() if session.interactive else ""
        if answer in ("w", "walk"):
            plan = walk(session, repository, plan)
        wanted = answer in ("y", "yes", "w", "walk")
    commit = importing.carry_out(repository, plan) if wanted else None
    if args.json:
        session.emit("import", {"commit": commit, "entries": [_payload(entry) for entry in plan.entries]})
    elif commit is not None:
        session.say(f"commit {commit[:12]}; nobody has approved them: `memfs trust` walks through them")
    elif plan.writes:
        session.note("nothing was written; --yes writes them")
    return EXIT_NO if plan.of(importing.Outcome.REFUSED, importing.Outcome.UNREADABLE) else EXIT_YES


def _split(given: list[str], session: Session) -> tuple[str | None, list[Path]]:
    """Return the kind that the first word names, if it does, and the paths. Raises :class:`UsageError`."""
    names = {kind.name for kind in importing.KINDS}
    kind = given[0] if len(given) > 1 and given[0] in names and not Path(session.cwd, given[0]).exists() else None
    roots = [Path(session.cwd, name).expanduser() for name in given[kind is not None :]]
    for name, root in zip(given[kind is not None :], roots, strict=True):
        if not root.exists():
            raise UsageError("there is no such file or folder", where=plain(name), hint="memfs import --help")
    return kind, roots


def _tell(session: Session, plan: Plan) -> None:
    rows: dict[tuple[str, str], Counter[str]] = {}
    for entry in plan.entries:
        rows.setdefault((entry.path.partition("/")[0], entry.kind), Counter())[entry.outcome.value] += 1
    if not rows:
        session.say("there is nothing here that memfs can import")
        return
    columns = ["new", "changed", "moved", "same", "held", "refused", "unreadable", "left-out"]
    columns = [name for name in columns if any(row[name] for row in rows.values())]
    shown = sorted(rows.items())[:12]
    width = max(len(f"{folder} ({kind})") for (folder, kind), _ in shown)
    session.say(f"{'':<{width}}  {'  '.join(columns)}")
    for (folder, kind), row in shown:
        session.say(f"{f'{folder} ({kind})':<{width}}  {'  '.join(f'{row[c] or chr(183):>{len(c)}}' for c in columns)}")
    if len(rows) > len(shown):
        session.say(f"… and {len(rows) - len(shown)} more folders")
    _tell_reasons(session, [entry for entry in plan.entries if entry.outcome.value in _TOLD])


def _tell_reasons(session: Session, entries: list[Entry]) -> None:
    grouped: dict[tuple[int, str], list[Entry]] = {}
    for entry in entries:
        grouped.setdefault((_TOLD.index(entry.outcome.value), entry.reason), []).append(entry)
    told = sorted(grouped.items(), key=lambda pair: (pair[0][0], -len(pair[1])))
    for (place, reason), group in told[:_MOST_TOLD]:
        first = group[0]
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        line = f":{first.line}" if first.line else ""
        session.note(f"{_TOLD[place]}: {first.path}{line}{more}: {reason}")
    if len(told) > _MOST_TOLD:
        session.note(f"{len(told) - _MOST_TOLD} more reasons; --json names each piece")


def _payload(entry: Entry) -> dict[str, Any]:
    return {
        "outcome": entry.outcome.value,
        "path": entry.path,
        "line": entry.line,
        "kind": entry.kind,
        "id": entry.id or None,
        "reason": entry.reason or None,
    }
