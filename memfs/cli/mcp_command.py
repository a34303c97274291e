"""Serve memories over the Model Context Protocol.

Without options: to one client, on standard input and output, as agents start it; read-only. With
--http: to a team, with keys that say for whom, which scopes, and whether writing is allowed. Nobody
can approve anything through the server: that takes a person's key, at a terminal.

  memfs mcp                                    recall, get, list, history, due, waiting, feedback
  memfs mcp --allow write                      and remember, propose, revise, verify
  memfs mcp --add-key ci --as team/billing     print a new key once
  memfs mcp --http 8765                        serve http://127.0.0.1:8765/mcp
"""

from __future__ import annotations

import argparse
from datetime import date
from typing import TYPE_CHECKING

from memfs.cli.options import add_caller, add_json, caller_of
from memfs.connect.texts import INSTRUCTIONS, WRITING
from memfs.disk.installed import install_command
from memfs.errors import SetupError, UsageError
from memfs.mcp.desk import Desk
from memfs.mcp.http import parse_address, serve_http
from memfs.mcp.keys import add_key, read_keys, remove_key
from memfs.mcp.server import serve_stdio

if TYPE_CHECKING:
    from memfs.cli.session import Session

_EXTRA = f"install the extra: {install_command('mcp')}"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--allow", choices=["write"], help="let the client record and propose memories")
    parser.add_argument(
        "--http", metavar="[HOST:]PORT", help="serve Streamable HTTP with bearer keys (host: 127.0.0.1)"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name by which clients call --http, for a proxy that keeps the Host header; can be given again",
    )
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        help="the project to serve, for clients that start servers elsewhere; an unfilled variable is left out",
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

    desk = Desk(
        places=session.places,
        start=session.cwd,
        today=date.today,  # a server outlives the day it was started on
        caller=caller_of(args),
        write=args.allow == "write",
        environ=session.environ,
    )
    instructions = INSTRUCTIONS + (WRITING if desk.write else "")
    if args.http:
        host, port = parse_address(args.http)
        return serve_http(
            desk, host=host, port=port, instructions=instructions, say=session.note, allowed=args.allow_host
        )

    return serve_stdio(desk, given=args.project, instructions=instructions)


def _keys(args: argparse.Namespace, session: Session) -> int:

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
