"""Change a memory: its text, or single fields. Everything else in the file stays as it was.

Without options the whole file opens in $EDITOR. A changed memory is no longer approved: approve it
again with `memfs trust ID`.

  memfs edit billing-additive-migrations --review "on 2027-06-01"
  memfs edit billing-additive-migrations --unset expires
  memfs edit --merge billing-additive-migrations     two branches changed it: choose field by field
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.cli.editing import edit_until
from memfs.cli.merging import merge_versions
from memfs.cli.options import (
    add_caller,
    add_fields,
    add_json,
    add_writing,
    allowed_rules,
    caller_of,
    commit_of,
    fields_of,
    origin_of,
    writer_of,
)
from memfs.cli.writing import read_input, tell_recorded
from memfs.errors import UsageError
from memfs.model.memory import FrontValue, MemoryFile, Origin
from memfs.repository.draft import DraftText, Recorded
from memfs.repository.drafting import keep_refused, keeping_new_body
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory")
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the new text; '-' reads standard input")
    parser.add_argument("--editor", action="store_true", help="open the whole file in $EDITOR")
    parser.add_argument("--unset", metavar="FIELD", action="append", default=[], help="take a field away; repeatable")
    parser.add_argument("--merge", action="store_true", help="make one version of two that a merge left in conflict")
    parser.add_argument("--take", choices=["ours", "theirs"], help="with --merge: this side, where both differ")
    add_fields(parser)
    add_writing(parser)
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    if args.merge:
        return merge_versions(args.id, session, take=args.take)
    caller, origin = caller_of(args), origin_of(args, session)
    repository = session.open_with(args.id, caller)
    changes: dict[str, FrontValue | None] = {**fields_of(args), **dict.fromkeys(args.unset)}

    def record(*, body: str | None = None, raw: bytes | None = None) -> Recorded:
        return repository.edit(
            args.id,
            caller,
            by=writer_of(args),
            changes=changes,
            body=body,
            raw=raw,
            origin=origin,
            declared=args.origin is not None,
            allow=allowed_rules(args),
            dry_run=args.dry_run,
            commit=commit_of(args),
        )

    if args.text == ["-"]:
        body = read_input(session)
        draft = DraftText(body=body, origin=origin, front=fields_of(args))
        with keeping_new_body(repository.writer(), repository.find(args.id, caller), draft):
            recorded = record(body=body)
    elif args.text:
        recorded = record(body=" ".join(args.text))
    elif args.editor or not changes:
        if not session.interactive:
            raise UsageError("say what to change", hint="give TEXT, a field option, or run it on a terminal")
        recorded = _in_editor(session, repository, repository.find(args.id, caller), origin, record)
    else:
        recorded = record()
    tell_recorded(recorded, args, session, done="edited")
    return 0


def edit_file(session: Session, repository: Repository, memory_id: str) -> Recorded:
    """Return what a person at the terminal made of the whole file of a memory."""
    file = repository.find(memory_id, OWNER)

    def record(*, raw: bytes) -> Recorded:
        return repository.edit(memory_id, OWNER, changes={}, raw=raw)

    return _in_editor(session, repository, file, Origin.OWNER, record)


def _in_editor(
    session: Session, repository: Repository, file: MemoryFile, origin: Origin, record: Callable[..., Recorded]
) -> Recorded:
    repository.require_writable(origin)
    return edit_until(
        session,
        file.raw.decode("utf-8", "surrogateescape"),
        lambda text: record(raw=text.encode("utf-8", "surrogateescape")),
        keep=lambda text, error: keep_refused(
            repository.writer(), DraftText(body=text, origin=origin), error, edits=file.id
        ),
    )
