"""Bring the search index up to date. Recall does this by itself; this does it now, and says what it did.

The index lies in your cache and can be deleted at any time. The first run prepares the embedding model
where one is installed; nothing is downloaded.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.looks import say_line
from memfs.cli.options import add_json
from memfs.cli.progress import bars
from memfs.index.refresh import index_status
from memfs.index.semantic import find_missing, find_model, read_vectors
from memfs.model.codepoints import escape_hidden
from memfs.model.values import asdict
from memfs.standing.background import refresh_index

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="make it anew from the files")
    parser.add_argument("--status", action="store_true", help="only say how current it is")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    return _status(args, session) if args.status else _refresh(args, session)


def _status(args: argparse.Namespace, session: Session) -> int:

    tree = session.open_repository().tree
    status = index_status(tree, session.places)
    prepared, reason = find_model(session.places)
    embedded = None
    if prepared is not None and status.index is not None:
        vectors = read_vectors(tree, session.places, prepared)
        embedded = status.memories - len(find_missing(status.index, vectors))
    if args.json:
        fields = {key: value for key, value in asdict(status).items() if key != "index"}
        model = prepared.key if prepared is not None else None
        session.emit("index-status", {**fields, "model": model, "embedded": embedded})
    else:
        session.say(f"index      {status.state}{f' ({status.detail})' if status.detail else ''}")
        say_line(session, f"folder     {escape_hidden(status.folder, single_line=True)}")
        session.say(f"memories   {status.memories}, {status.behind} changed since, {status.unreadable} cannot be read")
        session.say(f"generation {status.generation}, {status.segments} segments, {status.tail} in the tail")
        session.say(f"size       {status.bytes / 1e6:.1f} MB")
        session.say(f"model      {f'{prepared.model.id}, {embedded} embedded' if prepared else reason}")
    return 0 if status.state == "current" else 1


def _refresh(args: argparse.Namespace, session: Session) -> int:

    tree = session.open_repository().tree
    with bars(session, "reading", "embedding") as (words, meaning):
        report = refresh_index(tree, session.places, progress=words, embedding_progress=meaning, anew=args.rebuild)
    assert report is not None  # it waits
    if args.json:
        session.emit("index", asdict(report))
    else:
        done = f"{report.changed} read, {report.removed} removed, {report.embedded} embedded"
        session.say(f"{report.memories} memories indexed ({done})")
        if report.unreadable:
            session.note(f"{report.unreadable} files cannot be read; `memfs check` names them")
    return 0
