"""Look at the memories in a local web page.

Serves plain pages on this machine alone (127.0.0.1), read-only, until Ctrl-C; whoever has the printed
address can read them. Works without JavaScript (with it, / searches and j and k walk
through a list) and loads nothing from elsewhere.

  memfs browse                     print the address and serve
  memfs browse --as team/billing   only what somebody with this scope sees
  memfs browse --export site       write the pages into a folder instead
"""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from memfs import __version__
from memfs.browse.export import export_site
from memfs.browse.pages import require_extra
from memfs.browse.server import Pages, Server
from memfs.cli.options import add_caller, caller_of
from memfs.errors import EXIT_YES, SetupError, UsageError
from memfs.model.codepoints import escape_hidden

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)")
    parser.add_argument("--open", action="store_true", help="open it in your browser")
    parser.add_argument("--export", metavar="DIR", help="write a static site into this folder")
    parser.add_argument("--pin", metavar="PIN", help="the keyring to judge by, as `memfs pin` prints it; or `here`")
    add_caller(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    require_extra()
    repository = session.open_repository()
    caller = caller_of(args)
    name = repository.settings.name or repository.tree.root.name
    scopes = ", ".join(caller.scopes)
    about = f"memfs {__version__}, read-only, for callers with {scopes}; judged on {session.today.isoformat()}."
    if args.export:
        return _export(args, session, repository, name=name, about=about)
    if not 0 <= args.port < 65536:
        raise UsageError("a port is a number below 65536", where="--port")

    session.note("reading the memories …")
    pages = Pages(repository, caller, name=name, about=about, pin=args.pin)
    try:
        server = Server(pages, port=args.port)
    except OSError as error:
        raise SetupError(
            f"cannot listen: {error.strerror}", where=f"port {args.port}", hint="choose another --port"
        ) from error
    with server:
        session.say(server.address)
        session.out.flush()
        if args.open:
            webbrowser.open(server.address)
        session.note("Ctrl-C ends it")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            session.note("")
    return EXIT_YES


def _export(args: argparse.Namespace, session: Session, repository: Repository, *, name: str, about: str) -> int:

    folder = Path(session.cwd, args.export)
    pages = export_site(repository, caller_of(args), folder, name=name, about=about, pin=args.pin)
    session.say(f"{pages:,} pages in {escape_hidden(str(folder), single_line=True)}; open index.html")
    session.note("the pages contain the memories' text: whoever can read the folder can read them")
    return EXIT_YES
