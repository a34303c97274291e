"""Show or set the root that you trust in this repository.

Who may approve is written in the repository, signed from its first keyring on. Which first keyring is
the right one is yours to say, once, on this machine: compare the pin with a colleague's over another
channel. `memfs init` pins what it made.

  memfs pin                      show people and pin; asks when this repository is not pinned yet
  memfs pin memfs1:…             pin what a colleague sent, if it fits
  memfs pin --move               move your pin to the newest version of the keyring
  memfs pin --remove             trust this repository no longer
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.asking import require_terminal
from memfs.cli.options import add_json
from memfs.errors import EXIT_NO, EXIT_YES

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.disk.worktree import WorkTree


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pin", nargs="?", metavar="PIN", help="the pin that a colleague sent")
    parser.add_argument("--move", action="store_true", help="move the pin to the newest version")
    parser.add_argument("--remove", action="store_true", help="remove the pin of this repository")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    from memfs.trust.check import describe_keyring
    from memfs.trust.pin import delete_pin, parse_pin, pin_of, read_pins
    from memfs.trust.setup import pin_repository, read_chain

    tree = session.open_repository().tree
    chain = read_chain(tree)
    if args.remove:
        require_terminal(session, "removing a pin")
        removed = delete_pin(session.places, chain.repository_id)
        session.say("no longer pinned" if removed else "it was not pinned")
        return EXIT_YES
    if args.pin or args.move:
        require_terminal(session, "pinning")
        chosen = parse_pin(args.pin) if args.pin else None
        session.say(f"pinned: {pin_repository(session.places, tree, pin=chosen, note=str(tree.root)).text}")
        return EXIT_YES
    pinned = read_pins(session.places).get(chain.repository_id)
    if args.json:
        session.emit(
            "pin",
            {
                "repository": chain.repository_id,
                "newest": pin_of(chain).text,
                "pinned": pinned.text if pinned else None,
                "root": list(chain.versions[0].keyring.principals("root")),
            },
        )
        return EXIT_YES if pinned else EXIT_NO
    if pinned is None and session.interactive:
        return EXIT_YES if ask_for_pin(session, tree) else EXIT_NO
    for line in describe_keyring(chain):
        session.say(line)
    session.say(f"newest: {pin_of(chain).text}")
    session.say(f"pinned: {pinned.text if pinned else 'not pinned, so nothing here is trusted'}")
    if pinned is not None and pinned != pin_of(chain):
        session.note("`memfs pin --move` pins the newest version, so that an older one is noticed")
    return EXIT_YES if pinned else EXIT_NO


def ask_for_pin(session: Session, tree: WorkTree) -> bool:
    """Show who the root people of an unpinned repository are, ask once, and return whether it is pinned now."""
    if not session.interactive:
        return False
    from memfs.trust.check import describe_keyring
    from memfs.trust.pin import pin_of
    from memfs.trust.setup import pin_repository, read_chain

    chain = read_chain(tree)
    session.note("This repository is not pinned on this machine. Its keyring says:")
    for line in describe_keyring(chain):
        session.note(f"  {line}")
    session.note(f"Its pin is {pin_of(chain).text}")
    session.note("Compare the pin with a colleague's (`memfs pin`), over another channel than this repository.")
    if session.ask("Type the first 8 characters after 'memfs1:' to trust these people:") != chain.repository_id[:8]:
        session.note("not pinned; nothing here is trusted")
        return False
    session.say(f"pinned: {pin_repository(session.places, tree, note=str(tree.root)).text}")
    return True
