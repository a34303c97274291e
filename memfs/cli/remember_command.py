"""Record a memory: one Markdown file in one commit.

The text comes from the arguments, from standard input, or from $EDITOR. What is not given is a default,
which the answer names: an observation, for the team (or the scope of your folder, or `default_scope` of
the settings), to be looked at again in six months. On a terminal memfs asks once what the memory rests
on; left empty, it rests on your word of today. An agent always names its evidence.

  memfs remember "We deploy on Tuesdays."
  memfs remember "The billing team's migrations are additive." --kind decision \\
      --scope team/billing --evidence docs/adr/0014-additive-migrations.md \\
      --review "when docs/support.md changes"
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memfs.cli.options import add_fields, add_json, add_writing, allowed_rules, commit_of, fields_of, origin_of
from memfs.cli.propose_command import offer_proposal
from memfs.cli.trust_command import approve_ids
from memfs.cli.writing import NewText, ask_missing, needs_editor, read_text, tell_recorded
from memfs.errors import EXIT_YES
from memfs.model.memory import FrontValue
from memfs.model.values import replace
from memfs.repository.draft import DraftText, Recorded

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository


def configure(parser: argparse.ArgumentParser) -> None:
    add_draft(parser)
    parser.add_argument("--supersedes", metavar="ID", action="append", help="a memory that this one replaces")
    parser.add_argument("--trust", action="store_true", help="approve it in the same go (needs a terminal and a key)")


def add_draft(parser: argparse.ArgumentParser) -> None:
    """Add the options of a new memory, which ``remember`` and ``supersede`` share."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the memory; '-' or nothing reads standard input")
    parser.add_argument("--editor", action="store_true", help="write the text in $EDITOR")
    parser.add_argument("--id", help="the memory's id (default: the first five words of title or text)")
    parser.add_argument("--again", action="store_true", help="record it though a memory says the same already")
    add_fields(parser)
    add_writing(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_home(args.scope)
    more: dict[str, FrontValue] = {"supersedes": tuple(args.supersedes)} if args.supersedes else {}

    def record(draft: DraftText, name: str) -> Recorded:
        return repository.remember(draft, name=name, dry_run=args.dry_run, again=args.again, commit=commit_of(args))

    recorded = take_draft(args, session, repository, record, more=more)
    tell_recorded(recorded, args, session, done="remembered")
    if args.trust and not args.dry_run:
        code = approve_ids([recorded.file.id], session)
    else:
        code = EXIT_YES
    if recorded.commit is not None and not args.json:
        code = max(code, offer_proposal(session, repository, recorded.file.id))
    return code


def take_draft(
    args: argparse.Namespace,
    session: Session,
    repository: Repository,
    record: Callable[[DraftText, str], Recorded],
    *,
    more: Mapping[str, FrontValue] | None = None,
) -> Recorded:
    """Return what ``record`` makes of the draft that the arguments, the input and a person's answers make.

    Whether anything can be written here is asked before a person types.
    """
    draft = DraftText(
        body="",
        origin=origin_of(args, session),
        front={**fields_of(args), **(more or {})},
        author=args.author,
        id=args.id,
        allow=allowed_rules(args),
    )
    if needs_editor(args, session):
        repository.require_writable(draft.origin)
        return NewText(session, repository, draft, record).write()
    body, front = read_text(args, session), dict(draft.front)
    typed = ask_missing(front, session, repository)
    is_argument = bool(args.text) and args.text != ["-"]
    return record(replace(draft, body=body, front=front, at_hand=is_argument and not typed), "")
