"""Give this repository's shared scopes to an index of the organisation.

Writes what HEAD contains of the scopes that `.memfs/config.yaml` names under `share:` into a PostgreSQL database:
the files, their receipts and the keyring as they are. Readers verify each approval themselves. A second run
changes nothing; what is gone from the repository goes from the index; an interrupted run goes on where it was.

  memfs publish --to postgresql://ci@db.example.com/memories
  memfs publish --to postgresql://owner@db.example.com/memories --migrate      once, as the database's owner

The password comes from PGPASSWORD, ~/.pgpass, a service file or your keyring.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from memfs import postgres
from memfs.cli.options import add_json
from memfs.cli.progress import bars
from memfs.errors import EXIT_YES, UsageError
from memfs.git.read import head_commit
from memfs.model.codepoints import plain

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.postgres import Open

SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="URL", required=True, help="the database: postgresql://USER@HOST/DATABASE")
    parser.add_argument("--migrate", action="store_true", help="make or renew the tables, as the database's owner")
    parser.add_argument("--force", action="store_true", help="publish HEAD although a newer commit is published")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would change and write nothing")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    address = postgres.parse_address(args.to)
    with postgres.connect(address, session.places) as connection:
        if args.migrate:
            version = postgres.migrate(connection)
            if args.json:
                session.emit("publish-migrated", {"version": version})
            else:
                session.say(f"the shared index has version {version}")
            return EXIT_YES
        return _publish(args, session, connection)


def _publish(args: argparse.Namespace, session: Session, connection: Open) -> int:
    tree = session.open_repository().tree
    head = head_commit(tree)
    if head is None:
        raise UsageError("this repository has no commit yet", hint="git commit")
    meaning = postgres.open_meaning(session.places)
    publication = postgres.read_publication(tree, session.places, head, today=session.today, model=meaning.model)
    with bars(session, "publishing") as (show,):
        done = postgres.publish(
            connection,
            publication,
            meaning,
            is_ancestor=partial(postgres.is_ancestor, tree),
            dry_run=args.dry_run,
            force=args.force,
            progress=show,
        )
    if args.json:
        session.emit("publish", {"dry_run": args.dry_run, **postgres.as_payload(done, publication.left_out)})
        return EXIT_YES
    verb = "would be published" if args.dry_run else "published"
    session.say(
        f"{len(publication.rows)} memories {verb} at {head[:12]}: "
        f"{done.added} added, {done.changed} changed, {done.removed} removed, {done.unchanged} unchanged"
    )
    reasons = publication.left_out
    for path, reason in list(reasons.items())[:SHOWN]:
        session.note(f"left out: {plain(path)}: {reason}")
    if len(reasons) > SHOWN:
        session.note(f"left out: {len(reasons) - SHOWN} more; --json names each")
    return EXIT_YES
