"""Pinning the repository of a work tree: what a person says once, on this machine (TRUST 8).

Nothing that a repository contains is the person's word (DESIGN 4): these functions write the pin that the caller
was told, and refuse to lower one.
"""

from __future__ import annotations

import os

from memfs.disk.files import list_folder
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.errors import TrustError
from memfs.model.values import dataclass
from memfs.trust import sshsig
from memfs.trust.judge import Reason
from memfs.trust.keyring import FOLDER, Chain, check_chain, version_of_name
from memfs.trust.pin import Pin, find_pin_fault, pin_of, read_pins, write_pin
from memfs.trust.remembered import Remembered
from memfs.trust.view import TreeCarrier


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
                hint="`memfs pin --remove` first, if you mean it",
            )
    write_pin(places, chosen, note=note)
    remembered = Remembered(places)
    remembered.use(chosen.repository_id)
    remembered.note_repository_at(tree, chosen.repository_id)
    return chosen


def _require_known(pin: Pin, chain: Chain) -> None:
    fault = find_pin_fault(pin, chain)
    if fault is not None:
        raise TrustError(fault, reason=Reason.KEYRING_ROLLED_BACK, hint="fetch the newest commits first")
