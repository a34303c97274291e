"""Show or set the root that you trust in this repository.

Who may approve is written in the repository, signed from its first keyring on. Which first keyring is
the right one is yours to say, once, on this machine: compare the pin with a colleague's over another
channel. `memfs init` pins what it made.

  memfs pin                      show people and pin; asks when this repository is not pinned yet
  memfs pin memfs1:…             pin what a colleague sent, if it fits
  memfs pin --move               move your pin to the newest version of the keyring
  memfs pin --reset              the keyring here is right, though this machine saw a newer one: shows both and asks
  memfs pin --follow origin/main remember what this branch had (default: the remote's default branch)
  memfs pin --remove             trust this repository no longer
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.cli.asking import require_terminal
from memfs.cli.options import add_json
from memfs.errors import EXIT_NO, EXIT_YES, TrustError
from memfs.model.codepoints import plain
from memfs.trust.check import describe_keyring, describe_keyring_change
from memfs.trust.pin import delete_pin, find_pin_fault, parse_pin
from memfs.trust.pinning import (
    ROLLED_BACK,
    follow_branch,
    pin_repository,
    read_pin_state,
    read_seen_keyring,
    require_pin,
    reset_pin,
)

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.disk.worktree import WorkTree
    from memfs.trust.pinning import PinState


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pin", nargs="?", metavar="PIN", help="the pin that a colleague sent")
    parser.add_argument("--move", action="store_true", help="move the pin to the newest version")
    parser.add_argument("--reset", action="store_true", help="pin the keyring that is here, older or another one")
    parser.add_argument("--follow", metavar="BRANCH", help="the branch whose history this machine remembers")
    parser.add_argument("--remove", action="store_true", help="remove the pin of this repository")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    tree = session.open_repository().tree
    state = read_pin_state(session.places, tree)
    if args.remove:
        require_terminal(session, "removing a pin")
        removed = delete_pin(session.places, state.chain.repository_id)
        session.say("no longer pinned" if removed else "it was not pinned")
        return EXIT_YES
    if args.follow:
        require_terminal(session, "following a branch")
        ref = follow_branch(session.places, tree, args.follow)
        session.say(f"this machine follows {plain(args.follow)} ({plain(ref)})")
        return EXIT_YES
    if args.reset:
        require_terminal(session, "resetting a pin")
        return _reset(session, tree, state)
    if args.pin:
        require_terminal(session, "pinning")
        _shout_at_another_root(session, state)
        pinned = pin_repository(session.places, tree, pin=parse_pin(args.pin), note=str(tree.root))
        session.say(f"pinned: {pinned.text}")
        return EXIT_YES
    if args.move:
        require_terminal(session, "moving a pin")
        return _move(session, tree, state)
    return _show(args, session, tree, state)


def _show(args: argparse.Namespace, session: Session, tree: WorkTree, state: PinState) -> int:

    pinned = state.pin if state.former is None else None
    if args.json:
        session.emit(
            "pin",
            {
                "repository": state.chain.repository_id,
                "newest": state.newest.text,
                "pinned": pinned.text if pinned else None,
                "root": list(state.chain.versions[0].keyring.principals("root")),
            },
        )
        return EXIT_YES if pinned else EXIT_NO
    if pinned is None and session.interactive:
        return EXIT_YES if ask_for_pin(session, tree) else EXIT_NO
    _shout_at_another_root(session, state)
    for line in describe_keyring(state.chain.keyring):
        session.say(line)
    session.say(f"newest: {state.newest.text}")
    session.say(f"pinned: {pinned.text if pinned else 'not pinned, so nothing here is trusted'}")
    if state.may_move:
        session.note("`memfs pin --move` pins the newest version, so that an older one is noticed")
    return EXIT_YES if pinned else EXIT_NO


def _move(session: Session, tree: WorkTree, state: PinState) -> int:
    """Move the pin of this repository up, after the person saw what changed since."""

    pin, newest = require_pin(state), state.newest
    fault = find_pin_fault(pin, state.chain)
    if fault is not None:
        raise TrustError(fault, reason="keyring-rolled-back", hint=ROLLED_BACK)
    if pin == newest:
        session.say(f"pinned: {pin.text}; this is the newest version")
        return EXIT_YES
    session.note(f"version {newest.version} of the keyring changes since {pin.text}:")
    before = state.chain.versions[(pin.version or 1) - 1].keyring
    for line in describe_keyring_change(before, state.chain.keyring):
        session.note(f"  {line}")
    if session.ask(f"Type keyring.{newest.version} to pin it:") != f"keyring.{newest.version}":
        session.note("the pin was not moved")
        return EXIT_NO
    session.say(f"pinned: {pin_repository(session.places, tree, note=str(tree.root)).text}")
    return EXIT_YES


def _reset(session: Session, tree: WorkTree, state: PinState) -> int:
    """Pin the keyring that is here, after the person saw it beside the one that this machine knows."""

    pin, newest = require_pin(state), state.newest
    seen = read_seen_keyring(session.places, state)
    session.note(f"Pinned: {pin.text}")
    if seen is not None:
        session.note(f"This machine saw version {seen.version} of the keyring on the branch that it follows:")
        for line in describe_keyring(seen):
            session.note(f"  {line}")
    session.note(f"Here is version {newest.version} ({newest.text}):")
    for line in describe_keyring(state.chain.keyring):
        session.note(f"  {line}")
    if seen is not None:
        session.note("From that one to this one:")
        for line in describe_keyring_change(seen, state.chain.keyring):
            session.note(f"  {line}")
    session.note("Somebody may want you to take an older keyring, which lists people who have left. Ask a colleague.")
    name = f"keyring.{newest.version}"
    if session.ask(f"Type {name} to pin it and forget the other one:") != name:
        session.note("nothing was changed")
        return EXIT_NO
    session.say(f"pinned: {reset_pin(session.places, tree, note=str(tree.root)).text}")
    return EXIT_YES


def ask_for_pin(session: Session, tree: WorkTree) -> bool:
    """Show who the root people of an unpinned repository are, ask once, and return whether it is pinned now."""
    if not session.interactive:
        return False

    state = read_pin_state(session.places, tree)
    _shout_at_another_root(session, state)
    session.note("This repository is not pinned on this machine. Its keyring says:")
    for line in describe_keyring(state.chain.keyring):
        session.note(f"  {line}")
    session.note(f"Its pin is {state.newest.text}")
    session.note("Compare the pin with a colleague's (`memfs pin`), over another channel than this repository.")
    start = state.chain.repository_id[:8]
    if session.ask("Type the first 8 characters after 'memfs1:' to trust these people:") != start:
        session.note("not pinned; nothing here is trusted")
        return False
    session.say(f"pinned: {pin_repository(session.places, tree, note=str(tree.root)).text}")
    return True


def _shout_at_another_root(session: Session, state: PinState) -> None:
    """Say loudly, as ssh does, that this folder contained another repository's keyring before."""
    if state.former is None:
        return
    edge = "@" * 64
    for line in (
        edge,
        "@  WARNING: THE FIRST KEYRING OF THIS FOLDER WAS EXCHANGED!".ljust(63) + "@",
        edge,
        "Somebody may have put other people in the place of those whom you trust.",
        f"Before, this folder contained the repository memfs1:{state.former}.",
        f"Now it contains                 memfs1:{state.chain.repository_id}.",
        "Ask a colleague whether your team began a new keyring. If nobody knows of it, do not pin it.",
    ):
        session.note(line)
