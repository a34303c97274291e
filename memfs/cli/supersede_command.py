"""Replace memories by a new one.

The old files stay for whoever asks how it came to be; they are shown as superseded and are no
longer recalled as current. Approving the new memory withdraws the old ones' approvals.

  memfs supersede exclusive-lock-migrations "Migrations are additive." --kind decision ...
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, caller_of, commit_of, writer_of
from memfs.cli.remember_command import add_draft, take_draft
from memfs.cli.writing import tell_recorded

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.draft import DraftText, Recorded


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="ID[,ID]", help="the memories that are replaced")
    add_draft(parser)
    add_caller(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    caller = caller_of(args)
    old_ids = [memory_id for memory_id in args.old.split(",") if memory_id]
    replaced = [repository.find(memory_id, caller).memory for memory_id in old_ids]
    if len(replaced) == 1 and replaced[0] is not None:
        # What replaces one memory is of its kind and for the same people, unless it says otherwise.
        args.kind = args.kind or replaced[0].kind.value
        args.scope = args.scope or replaced[0].scope

    def record(draft: DraftText, name: str) -> Recorded:
        return repository.supersede(
            old_ids, draft, caller, by=writer_of(args), name=name, dry_run=args.dry_run, again=args.again,
            commit=commit_of(args),
        )  # fmt: skip

    recorded = take_draft(args, session, repository, record)
    tell_recorded(recorded, args, session, done="remembered")
    return 0
