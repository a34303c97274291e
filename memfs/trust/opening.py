"""Opening a view: by whose keyring, under whose pin, with which memory. The one place that says it (TRUST 6, 8).

On a person's machine every surface judges by that person's pin and by what the machine remembers, whether it
looks at a work tree, at a commit or at a pull request. Only a caller who hands a pin (`--pin`, for CI) is judged
by that one instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

from memfs.disk.places import Places
from memfs.disk.private import own_lock
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.errors import MemfsError, SetupError
from memfs.git.process import ProgramTimeout, spawn_own
from memfs.git.read import head_commit
from memfs.model.codepoints import plain
from memfs.trust.cache import SignatureCache
from memfs.trust.carriers import Carrier, FilesCarrier, TreeCarrier
from memfs.trust.followed import (
    Followed,
    find_followed,
    newest_keyring_at,
    read_beside,
    read_history,
    remember_history,
    shallow_mark,
)
from memfs.trust.judge import Reason, Verdict, untrusted
from memfs.trust.keyring import Chain, KeyringError, check_chain
from memfs.trust.pin import Pin, find_pin_fault, parse_pin, read_pins
from memfs.trust.remembered import Remembered, by_id
from memfs.trust.view import TrustView

HISTORY_SECONDS = 30.0
"""How long the history may be read for when a surface names no limit of its own."""
HERE = "here"
"""As a pin: take the keyring that is here, unverified. For CI that has nothing to compare with."""


def open_view(
    tree: WorkTree,
    places: Places | None,
    *,
    today: date,
    pin: str | None = None,
    carrier: Carrier | None = None,
    tips: Sequence[str] | None = None,
    history: bool = True,
    patience: float = HISTORY_SECONDS,
) -> TrustView:
    """Return the view of ``tree`` under the user's pin, with what this machine remembers.

    ``carrier`` reads keyrings and receipts from elsewhere than the work tree, and ``tips`` are the commits whose
    history counts (HEAD). ``pin`` is used for the user's own and for the memory; it is for `check` and `review`
    alone (TRUST 8). ``history`` off, or more than ``patience`` seconds of reading, falls back to what this
    machine remembers. Raises :class:`UsageError` for a ``pin`` that is not one, and nothing else.
    """
    opening = _Opening(tree, places, carrier or TreeCarrier(tree), today, pin or None)
    view = opening.view()
    if history and view.keyring is not None:
        opening.read_history(view, tips, patience)
    return view


def view_of_files(
    keyrings: Mapping[str, bytes],
    receipts: Mapping[str, bytes],
    *,
    today: date,
    pin: str,
    places: Places | None = None,
    remembered: bool = False,
) -> TrustView:
    """Return the view on keyrings and receipts by path that lie in no repository of this machine, under ``pin``.

    No history is read and nothing is noted. ``places`` is for the cache of signatures; ``remembered``: what this
    machine saw of that repository (a withdrawal, a newer keyring) takes away here too.
    """
    opening = _Opening(None, places, FilesCarrier(keyrings, receipts), today, pin)
    if remembered:
        opening.remembered = Remembered(places)
    return opening.view()


class _Opening:
    """The pieces of one view."""

    def __init__(
        self, tree: WorkTree | None, places: Places | None, carrier: Carrier, today: date, pin: str | None
    ) -> None:
        self.tree = tree
        self.places = places
        self.carrier = carrier
        self.given = pin
        self.given_pin = parse_pin(pin) if pin not in (None, HERE) else None
        self.remembered = Remembered(places if pin is None else None)
        self.today = self.remembered.latest_date(today)
        self.cache = SignatureCache(places)
        self.notices: list[str] = []
        self.followed: Followed | None = None

    def view(self) -> TrustView:
        """Return the view as the files here make it, without any history."""
        chain, trouble = self._read_chain()
        pin = None
        if chain is not None:
            self.remembered.use(chain.repository_id)
            pin = self._find_pin(chain)
            trouble = self._judge_chain(chain, pin)
            if trouble is None and self.tree is not None and self.given is None:
                self.remembered.note_repository_at(self.tree, chain.repository_id)
        if self.cache.notice:
            self.notices.append(self.cache.notice)
        if trouble is not None and trouble.detail:
            self.notices.append(trouble.detail)
        return TrustView(
            carrier=self.carrier,
            verify=self.cache.verify,
            today=self.today,
            chain=chain,
            trouble=trouble,
            remembered=self.remembered,
            pinned=pin is not None and self.given != HERE,
            notices=self.notices,
        )

    def read_history(self, view: TrustView, tips: Sequence[str] | None, patience: float) -> None:
        """Let the history here count: what the followed branch has is remembered, the rest is for this view."""
        chain, tree = view.chain, self.tree
        if chain is None or tree is None or tree.git_dir is None:
            return
        if tips is None:
            head = head_commit(tree)
            tips = [head] if head is not None else []
        try:
            if self.given is not None:
                records = read_history(tree, tips, timeout=patience) if tips else []
            else:
                if self.followed is not None:
                    verify = self.cache.verify
                    remember_history(tree, self.followed, chain, self.remembered, verify, timeout=patience)
                records = read_beside(tree, tips, chain, self.remembered, timeout=patience)
            view.use_beside(by_id(records))
        except MemfsError as error:
            self.notices.append(
                f"the history was not read, so only receipts and this machine's memory count ({error.message})"
            )
            if isinstance(error, ProgramTimeout) and patience < HISTORY_SECONDS and self.places is not None:
                # A process of its own reads a long history whole, and nobody waits for it.
                arguments = [str(self.places.home), str(tree.root), self.today.isoformat()]
                with suppress(SetupError):
                    spawn_own("memfs.trust.opening:run_detached", *arguments)
        if shallow_mark(tree) is not None and self.given is None:
            self.notices.append(
                "the history is cut off here (a shallow clone), so an older withdrawal may be missing: "
                "run `git fetch --unshallow`"
            )

    def _read_chain(self) -> tuple[Chain | None, Verdict | None]:
        try:
            files = self.carrier.keyrings()
            if files:
                return check_chain(files, self.cache.verify), None
        except KeyringError as error:
            return None, untrusted(Reason.KEYRING_BROKEN, f"the keyring is refused: {error}")
        if self.given_pin is not None:
            return None, untrusted(Reason.KEYRING_BROKEN, "a pin is given, and there is no keyring here")
        if self._expected() is not None:
            return None, untrusted(Reason.KEYRING_BROKEN, "the keyring that this folder had is gone")
        return None, untrusted(Reason.NO_APPROVAL, "this repository has no keyring; `memfs keys create` makes one")

    def _expected(self) -> str | None:
        """Return the repository that was pinned in this folder."""
        return self.remembered.repository_at(self.tree) if self.tree is not None else None

    def _find_pin(self, chain: Chain) -> Pin | None:
        if self.given == HERE:
            return Pin(repository_id=chain.repository_id)
        if self.given_pin is not None:
            return self.given_pin if self.given_pin.repository_id == chain.repository_id else None
        if self.places is None:
            return None
        try:
            return read_pins(self.places).get(chain.repository_id)
        except SetupError as error:
            self.notices.append(str(error))
            return None

    def _judge_chain(self, chain: Chain, pin: Pin | None) -> Verdict | None:
        """Return why ``chain`` judges nothing for this person, or None."""
        expected = self._expected()
        if expected is not None and expected != chain.repository_id:
            return untrusted(
                Reason.KEYRING_BROKEN,
                "the first keyring of this folder was exchanged; if that is right, say so with `memfs pin`",
            )
        if pin is None:
            return untrusted(
                Reason.NOT_PINNED, "you have not pinned this repository; `memfs pin` shows its people and asks"
            )
        fault = find_pin_fault(pin, chain)
        if fault is not None:
            return untrusted(Reason.KEYRING_ROLLED_BACK, fault)
        if self.tree is not None and self.given is None:
            self.followed = find_followed(self.tree, self.remembered)
            if self.followed is not None and self.followed.commit not in self.remembered.keyring_tips():
                self._note_keyring(self.tree, chain, self.followed)
        return self._compare_with_the_newest(chain)

    def _compare_with_the_newest(self, chain: Chain) -> Verdict | None:
        """Return why ``chain`` falls behind the newest keyring that the followed branch had, or None."""
        newest = self.remembered.newest_keyring()
        if newest is None:
            return None
        version, digest = newest
        where = f"; merge or rebase on {plain(self.followed.name)}" if self.followed is not None else ""
        if version > len(chain.versions):
            return untrusted(
                Reason.KEYRING_ROLLED_BACK,
                f"version {version} of the keyring was seen before, here the newest is {len(chain.versions)}{where}",
            )
        if chain.versions[version - 1].digest != digest:
            return untrusted(
                Reason.KEYRING_ROLLED_BACK,
                f"version {version} of the keyring is not the one seen before; `memfs pin --reset` shows both",
            )
        if version < len(chain.versions) and self.followed is not None:
            self.notices.append(
                f"version {len(chain.versions)} of the keyring is not on {plain(self.followed.name)} yet, "
                f"which has version {version}"
            )
        return None

    def _note_keyring(self, tree: WorkTree, chain: Chain, followed: Followed) -> None:
        with suppress(MemfsError):  # git's own trouble is told when the history is read
            found = newest_keyring_at(tree, followed.commit, self.cache.verify)
            if found is not None and found[0] == chain.repository_id:
                self.remembered.note_keyring(found[1])
            self.remembered.note_keyring_tip(followed.commit)


def run_detached(home: str, root: str, today: str) -> None:
    """Read the history of the tree at ``root``: the body of the detached process. One at a time."""
    places = Places(home=Path(home))
    with own_lock(places.state / "reading.lock", wait=False) as is_mine:
        if is_mine:
            open_view(find_work_tree(Path(root)), places, today=date.fromisoformat(today))
