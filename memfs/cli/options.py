"""Options that several commands share, so that each means one thing everywhere."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.errors import UsageError
from memfs.model.memory import FrontValue, Kind, Origin
from memfs.model.scope import Caller, parse_caller
from memfs.repository.draft import Commit
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session

FIELD_OPTIONS = ("kind", "scope", "evidence", "review_trigger", "title", "tags", "applies_to", "expires")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_caller(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="caller",
        metavar="SCOPES",
        help="answer as a caller with these scopes only, separated by commas (default: personal,team)",
    )


def caller_of(args: argparse.Namespace) -> Caller:
    """Return the caller that ``--as`` names; raises :class:`UsageError` for anything but scopes."""
    return parse_caller(args.caller) if args.caller is not None else Caller()


def writer_of(args: argparse.Namespace) -> Caller:
    """Return on whose behalf something is written: a person's own, unless ``--as`` names another caller."""
    return parse_caller(args.caller) if args.caller is not None else OWNER


def add_fields(parser: argparse.ArgumentParser) -> None:
    """Add one option for each field of a memory that a person gives."""
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="what sort of memory it is")
    parser.add_argument("--scope", help="whose it is: personal, team, team/NAME or restricted/NAME")
    parser.add_argument(
        "--evidence",
        action="append",
        metavar="TEXT",
        help="what it rests on: PATH, PATH#Heading, PATH#L10-L24, PATH@main, a commit, #812, a URL,"
        " or 'said by PERSON on DATE'; repeatable",
    )
    parser.add_argument(
        "--review",
        "--review-trigger",
        dest="review_trigger",
        metavar="TRIGGER",
        help="when to look again: 6m, tomorrow, 2027-06-01, 'next release', 'when PATH changes', "
        "'when NAME >= VERSION', 'when ID is superseded' or 'if TEXT'",
    )
    parser.add_argument("--title", help="a short title")
    parser.add_argument("--tag", "--tags", dest="tags", action="append", metavar="TAG", help="a tag; repeatable")
    parser.add_argument(
        "--applies-to", action="append", metavar="GLOB", help="a path glob or topic it applies to; repeatable"
    )
    parser.add_argument("--expires", metavar="DATE", help="the day from which it no longer counts: a date, 2w, 6m")


def add_writing(parser: argparse.ArgumentParser, *, commits: bool = True) -> None:
    """Add what every command that writes text takes."""
    parser.add_argument(
        "--origin",
        choices=[origin.value for origin in Origin],
        help="who wrote the text (default: owner at a terminal, agent elsewhere)",
    )
    parser.add_argument("--author", metavar="ADDRESS", help="who vouches for it (default: git's user.email)")
    parser.add_argument("--allow", metavar="RULE", action="append", help="let one admission rule pass; needs --reason")
    parser.add_argument("--reason", metavar="TEXT", help="why --allow is right; recorded in the commit")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would happen and change nothing")
    if not commits:
        return
    parser.add_argument("-m", "--message", metavar="SUBJECT", default="", help="the commit's subject")
    parser.add_argument("--no-commit", action="store_true", help="write the file alone; you commit it yourself")


def commit_of(args: argparse.Namespace) -> Commit:
    """Return how the change is committed."""
    return Commit(subject=args.message.strip(), wanted=not args.no_commit)


def fields_of(args: argparse.Namespace) -> dict[str, FrontValue]:
    """Return the fields that were given, lists as tuples."""
    given: dict[str, FrontValue] = {}
    for name in FIELD_OPTIONS:
        value = getattr(args, name)
        if value is not None:
            given[name] = tuple(value) if isinstance(value, list) else value
    return given


def origin_of(args: argparse.Namespace, session: Session) -> Origin:
    """Return the declared origin. Without a terminal nobody typed it, so it counts as an agent's."""
    if args.origin:
        return Origin(args.origin)
    return Origin.OWNER if session.interactive else Origin.AGENT


def allowed_rules(args: argparse.Namespace) -> dict[str, str]:
    """Return rule → reason from ``--allow`` and ``--reason``; raises :class:`UsageError` without one."""
    if args.allow and not (args.reason or "").strip():
        raise UsageError("--allow needs --reason", hint='--allow RULE --reason "why it is right here"')
    return dict.fromkeys(args.allow or (), args.reason or "")
