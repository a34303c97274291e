"""Pinning the repository of a work tree: what a person says once, on this machine (TRUST 8).

Nothing that a repository contains is the person's word (DESIGN 4): these functions write the pin that the caller
was told, and refuse to lower one.
"""

from __future__ import annotations

import os

from memfs.disk.files import list_folder
from memfs.disk.gitfiles import is_ref_name
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.errors import TrustError, UsageError
from memfs.git.read import ref_commit
from memfs.model.codepoints import plain
from memfs.model.values import dataclass
from memfs.trust import sshsig
from memfs.trust.carriers import TreeCarrier
from memfs.trust.judge import Reason
from memfs.trust.keyring import FOLDER, Chain, Keyring, KeyringError, check_chain, parse_file, version_of_name
from memfs.trust.pin import Pin, find_pin_fault, pin_of, read_pins, write_pin
from memfs.trust.remembered import Remembered

ROLLED_BACK = "fetch the newest commits first; `memfs pin --reset` shows both keyrings and asks"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinState:
    """What this machine knows of the repository in a work tree."""

    chain: Chain
    pin: Pin | None  # of this repository
    former: str | None  # the repository that was pinned in this folder, where it is another one

    @property
    def newest(self) -> Pin:
        return pin_of(self.chain)

    @property
    def may_move(self) -> bool:
        """Return whether the keyring here follows the pinned version, and is newer."""
        return self.pin is not None and self.pin != self.newest and find_pin_fault(self.pin, self.chain) is None


def has_keyring(tree: WorkTree) -> bool:
    """Return whether ``tree`` contains any version of a keyring, good or bad."""
    names = list_folder(tree, FOLDER)
    return any(version_of_name(name) is not None for name in names) or os.path.lexists(tree.memfs / "keyring.1")


def read_chain(tree: WorkTree) -> Chain:
    """Return the keyrings of ``tree``, verified from the first one on, whether or not it is pinned.

    Raises :class:`KeyringError`.
    """
    return check_chain(TreeCarrier(tree).keyrings(), sshsig.verify)


def read_pin_state(places: Places, tree: WorkTree) -> PinState:
    """Return what is pinned for the repository of ``tree``.

    Raises :class:`KeyringError`, and :class:`SetupError` for pins that cannot be relied on.
    """
    chain = read_chain(tree)
    seen = Remembered(places).repository_at(tree)
    former = seen if seen != chain.repository_id else None
    return PinState(chain=chain, pin=read_pins(places).get(chain.repository_id), former=former)


def pin_repository(places: Places, tree: WorkTree, *, pin: Pin | None = None, note: str = "") -> Pin:
    """Pin the repository of ``tree`` for this user, at its newest keyring or at ``pin``; return the pin.

    A repository that was in this folder before is left behind. Raises :class:`TrustError` when ``pin`` is
    another repository's, names a version that is not here, or is older than the one that is pinned.
    """
    state = read_pin_state(places, tree)
    chosen = pin or state.newest
    if chosen.repository_id != state.chain.repository_id:
        raise TrustError(
            f"the pin is of another repository; this one is memfs1:{state.chain.repository_id}",
            reason=Reason.NOT_PINNED,
            hint="compare with a colleague before you pin anything",
        )
    _require_known(chosen, state.chain)
    if state.pin is not None:
        _require_known(state.pin, state.chain)
        if (chosen.version or 0) < (state.pin.version or 0):
            raise TrustError(
                f"version {state.pin.version} of the keyring is pinned, which is newer than {chosen.text}",
                reason=Reason.KEYRING_ROLLED_BACK,
                hint="`memfs pin --reset` shows both and asks",
            )
    write_pin(places, chosen, note=note)
    _remember(places, state).note_repository_at(tree, chosen.repository_id)
    return chosen


def reset_pin(places: Places, tree: WorkTree, *, note: str = "") -> Pin:
    """Pin the keyring that is here although this machine knows a newer one, and forget that one; return the pin.

    For a person who saw both and says that this is the right one. Raises :class:`TrustError` where the repository is
    not pinned at all.
    """
    state = read_pin_state(places, tree)
    require_pin(state)
    write_pin(places, state.newest, note=note)
    _remember(places, state).note_keyring(state.chain.newest, even_older=True)
    return state.newest


def read_seen_keyring(places: Places, state: PinState) -> Keyring | None:
    """Return the newest keyring that this machine saw on the followed branch, to show it; None where its text is
    not known."""
    raw = _remember(places, state).keyring_file()
    try:
        return parse_file(raw, where="the keyring that was seen").keyring if raw else None
    except KeyringError:
        return None


def follow_branch(places: Places, tree: WorkTree, name: str) -> str:
    """Follow the branch ``name`` of the repository in ``tree`` from now on; return its full ref.

    Raises :class:`UsageError` where there is no such branch, and :class:`TrustError` where nothing is pinned.
    """
    state = read_pin_state(places, tree)
    require_pin(state)
    for ref in (f"refs/remotes/{name}", f"refs/heads/{name}", name):
        if is_ref_name(ref) and ref_commit(tree, ref) is not None:
            _remember(places, state).note_followed(ref)
            return ref
    raise UsageError(
        "there is no branch of that name", where=plain(name), hint="git branch --all lists them: origin/main, for one"
    )


def require_pin(state: PinState) -> Pin:
    """Return the pin; raise :class:`TrustError` where this repository is not pinned in this folder."""
    if state.pin is None or state.former is not None:
        raise TrustError(
            "this repository is not pinned here, so there is no pin to change",
            reason=Reason.NOT_PINNED,
            hint="run `memfs pin`, and compare what it shows with a colleague",
        )
    return state.pin


def _remember(places: Places, state: PinState) -> Remembered:
    remembered = Remembered(places)
    remembered.use(state.chain.repository_id)
    return remembered


def _require_known(pin: Pin, chain: Chain) -> None:
    fault = find_pin_fault(pin, chain)
    if fault is not None:
        raise TrustError(fault, reason=Reason.KEYRING_ROLLED_BACK, hint=ROLLED_BACK)
