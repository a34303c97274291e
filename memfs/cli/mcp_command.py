"""Serve memories over the Model Context Protocol.

Without options: to one client, on standard input and output, as agents start it; read-only. With
--http: to a team, with keys that say for whom, which scopes, and whether writing is allowed. Nobody
can approve anything through the server: that takes a person's key, at a terminal.

  memfs mcp                                    recall, get, list, history, due, feedback
  memfs mcp --allow write                      and remember, propose
  memfs mcp --add-key ci --as team/billing     print a new key once
  memfs mcp --http 8765                        serve http://127.0.0.1:8765/mcp
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.errors import MemfsError, SetupError, UsageError

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.mcp.calls import Desk, Propose
    from memfs.model.scope import Caller
    from memfs.repository.api import Repository
    from memfs.repository.writing import DraftText

_EXTRA = "install the extra: pip install 'memfs-git[mcp]'"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--allow", choices=["write"], help="let the client record and propose memories")
    parser.add_argument(
        "--http", metavar="[HOST:]PORT", help="serve Streamable HTTP with bearer keys (host: 127.0.0.1)"
    )
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--add-key", metavar="NAME", help="make a key for --http and print it once")
    keys.add_argument("--remove-key", metavar="NAME", help="make a key worthless")
    keys.add_argument("--keys", action="store_true", help="list the keys")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    if args.add_key or args.remove_key or args.keys:
        return _keys(args, session)
    try:
        import mcp  # noqa: F401 - only to say clearly that it is missing
    except ImportError:
        raise SetupError("the MCP server needs the Python SDK of MCP", hint=_EXTRA) from None
    from memfs.connect.texts import INSTRUCTIONS

    desk = _desk(args, session)
    if args.http:
        from memfs.mcp.http import parse_address, serve_http

        host, port = parse_address(args.http)
        return serve_http(desk, host=host, port=port, instructions=INSTRUCTIONS, say=session.note)
    from memfs.mcp.server import serve_stdio

    return serve_stdio(desk, instructions=INSTRUCTIONS)


def _desk(args: argparse.Namespace, session: Session) -> Desk:
    from datetime import date

    from memfs.mcp.calls import Desk

    return Desk(
        places=session.places,
        start=_start_folder(session),
        today=date.today,  # a server outlives the day it was started on
        caller=caller_of(args),
        write=args.allow == "write",
        propose=_make_propose(session),
    )


def _start_folder(session: Session) -> Path:
    """Return the folder whose repository is served: the working directory, as a rule.

    Copilot starts a plugin's server in the plugin's own folder and says nowhere which project it is in;
    its own working directory does, where the system shows that.
    """
    roots = {session.environ.get(name) for name in ("COPILOT_PLUGIN_ROOT", "PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")}
    if str(session.cwd) in roots:
        try:
            return Path(os.readlink(f"/proc/{os.getppid()}/cwd"))
        except OSError:
            return session.cwd
    return session.cwd


def _make_propose(session: Session) -> Propose:
    def propose(repository: Repository, draft: DraftText, by: Caller) -> str:
        """Put the draft on a branch of its own, push it as its user would, and say what became of it."""
        from memfs.propose.propose import Wanted, open_request, prepare, push

        file = repository.remember(draft, by=by, dry_run=True).file
        wanted = Wanted(new={file.path: file.raw})
        prepared = prepare(repository.tree, wanted, identities=repository.identities())
        said = f"Proposed as {file.id} on the branch {prepared.branch}, not approved: a person has to review it."
        if prepared.remote is None:
            return f"{said} There is no remote, so the branch is here alone."
        try:
            push(repository.tree, prepared, environ=session.environ, interactive=False)
        except MemfsError as error:
            return f"{said} It could not be pushed: {error}"
        opened = open_request(repository.tree, prepared, wanted, environ=session.environ, interactive=False)
        where = opened.request or opened.address
        return f"{said} It is pushed{f': {where}' if where else ''}."

    return propose


def _keys(args: argparse.Namespace, session: Session) -> int:
    from memfs.mcp.keys import add_key, read_keys, remove_key

    if args.keys and args.json:
        rows = [
            {"name": key.name, "scopes": list(key.scopes), "write": key.write, "made": key.made.isoformat()}
            for key in read_keys(session.places)
        ]
        session.emit("mcp-keys", {"keys": rows})
        return 0
    if args.keys:
        for key in read_keys(session.places):
            session.say(f"{key.name}  {','.join(key.scopes)}  {'read and write' if key.write else 'read'}")
        return 0
    if args.remove_key:
        remove_key(session.places, args.remove_key)
        session.say(f"removed {args.remove_key}")
        return 0
    if not args.caller:
        raise UsageError("a key needs scopes", where="--as", hint="for instance --as team/billing")
    secret = add_key(
        session.places, args.add_key, scopes=caller_of(args).scopes, write=args.allow == "write", today=session.today
    )
    session.say(secret)
    session.note("This is the only time the key is shown. Clients send it as: Authorization: Bearer KEY")
    return 0
