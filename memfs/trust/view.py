"""One repository seen with a person's pin: keyring, receipts and memory joined into verdicts.

Everything that decides is in ``judge``; this module fetches the facts. A view is opened once and
asked for as many ids as are shown; each question reads only what that id needs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from typing import Protocol

from memfs.disk.files import UnreadableFile, list_folder, read_file
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError, SetupError
from memfs.git.process import ProgramTimeout
from memfs.git.read import head_commit
from memfs.model.memory import MemoryFile
from memfs.model.values import dataclass, replace
from memfs.trust import record as record_format
from memfs.trust.cache import SignatureCache
from memfs.trust.history import read_history
from memfs.trust.judge import Facts, Heard, Level, Reason, Verdict, find_fault, find_lapse, hear, judge, top_of
from memfs.trust.keyring import MAX_KEYRING_BYTES, Chain, Keyring, KeyringError, Verify, check_chain, version_of_name
from memfs.trust.pin import Pin, find_pin_fault, parse_pin, read_pins
from memfs.trust.record import MAX_RECORD_BYTES, Record, read_receipt, receipt_subject
from memfs.trust.remembered import Remembered, by_id

APPROVALS = ".memfs/approvals"
KEYRINGS = ".memfs"
HISTORY_SECONDS = 30.0
"""How long the history may be read for when a surface names no limit of its own."""


class Carrier(Protocol):
    """Where keyrings and receipts are read from: a work tree, or files that a caller holds."""

    def keyrings(self) -> Mapping[int, bytes]: ...
    def receipt_names(self) -> Iterable[str]: ...
    def receipt(self, name: str) -> bytes | None: ...
    def has_twin(self, file: MemoryFile) -> bool: ...


class TreeCarrier:
    """The files of a work tree. No symlink is followed and nothing but regular files is opened."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._approvals = os.path.join(str(tree.root), *APPROVALS.split("/"))
        self._scopes: list[str] | None = None

    def keyrings(self) -> Mapping[int, bytes]:
        found: dict[int, bytes] = {}
        for name in list_folder(self._tree, KEYRINGS):
            version = version_of_name(name)
            if version is not None:
                try:
                    found[version] = read_file(self._tree, f"{KEYRINGS}/{name}", limit=MAX_KEYRING_BYTES)
                except UnreadableFile as error:
                    raise KeyringError(f"the keyring {error.message}", where=f"{KEYRINGS}/{name}") from None
        return found

    def receipt_names(self) -> Iterable[str]:
        return list_folder(self._tree, APPROVALS)

    def receipt(self, name: str) -> bytes | None:
        # Of the folders, `receipt_names` saw that none is a symlink. A receipt proves itself, so a
        # race for the path could only bring another one.
        try:
            fd = os.open(f"{self._approvals}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > 2 * MAX_RECORD_BYTES:
                return None
            return os.read(fd, status.st_size)
        except OSError:
            return None
        finally:
            os.close(fd)

    def has_twin(self, file: MemoryFile) -> bool:
        """Return whether another folder of a scope holds a file of the same name."""
        if self._scopes is None:
            self._scopes = ["memories/personal", "memories/team"]
            for parent in ("memories/team", "memories/restricted"):
                self._scopes += [f"{parent}/{name}" for name in list_folder(self._tree, parent) if "." not in name]
        name = file.path.rsplit("/", 1)[-1]
        paths = (f"{folder}/{name}" for folder in self._scopes)
        return any(path != file.path and os.path.lexists(f"{self._tree.root}/{path}") for path in paths)


class FilesCarrier:
    """Keyrings and receipts as bytes by path, for a reviewer who checks nothing out."""

    def __init__(self, keyrings: Mapping[str, bytes], receipts: Mapping[str, bytes]) -> None:
        self._keyrings = keyrings
        start = f"{APPROVALS}/"
        self._receipts = {path.removeprefix(start): raw for path, raw in receipts.items() if path.startswith(start)}

    def keyrings(self) -> Mapping[int, bytes]:
        found: dict[int, bytes] = {}
        for path, raw in self._keyrings.items():
            version = version_of_name(path.removeprefix(f"{KEYRINGS}/"))
            if version is not None:
                found[version] = raw
        return found

    def receipt_names(self) -> Iterable[str]:
        return self._receipts

    def receipt(self, name: str) -> bytes | None:
        return self._receipts.get(name)

    def has_twin(self, file: MemoryFile) -> bool:  # noqa: ARG002 - the reviewer reports double ids itself
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One verified record about an id, whether or not it fits the text of today."""

    person: str
    verb: str  # "approve" | "revoke"
    seq: int
    digest: str
    on: date  # of `at`; information only
    path: str | None  # of its receipt; None where it was only seen in history
    until: date | None
    grants: bool  # at the top, in the tree, and by a key that may grant for this scope
    reason: Reason | None  # why it does not, when that lies in the key or the date
    record: Record


class TrustView:
    """What the pinned people of one repository signed. :meth:`verdict` never raises."""

    def __init__(
        self,
        *,
        carrier: Carrier,
        verify: Verify,
        today: date,
        chain: Chain | None,
        pinned: bool,
        trouble: Verdict | None,
        notices: tuple[str, ...],
        remembered: Remembered,
        extra: Mapping[str, list[Record]] | None = None,
    ) -> None:
        self.chain = chain
        self.pinned = pinned
        self.trouble = trouble
        self._notices = notices
        self.today = today
        self._carrier = carrier
        self._verify = verify
        self._remembered = remembered
        self._extra = extra or {}
        self._names: dict[str, list[str]] | None = None
        self._batches: dict[str, list[tuple[str, Record]]] = {}

    @property
    def repository_id(self) -> str | None:
        return self.chain.repository_id if self.chain else None

    @property
    def keyring(self) -> Keyring | None:
        """Return the keyring in force, None while it is refused or not pinned."""
        return self.chain.keyring if self.chain and self.trouble is None else None

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a reader should be told about all verdicts so far."""
        said = self._remembered.notice
        return self._notices if said is None or said in self._notices else (*self._notices, said)

    def add_notices(self, notices: Iterable[str]) -> None:
        self._notices = (*self._notices, *notices)

    def verdict(self, file: MemoryFile, *, bad_file: bool = False) -> Verdict:
        """Return level and reason for the bytes of ``file``, hashed here. Never raises.

        ``bad_file`` is for a caller who knows more against the file than its bytes say.
        """
        keyring = self.keyring
        if keyring is None:
            return self.trouble or _untrusted(Reason.KEYRING_BROKEN, "there is no keyring in force")
        scope = file.memory.scope if file.memory else ""
        heard = self.heard(file.id) if file.id else []
        facts = Facts(
            digest=digest_of(file.raw),
            scope=scope,
            heard=tuple(heard),
            fault="the file cannot be judged" if bad_file else find_fault(file),
        )
        verdict = judge(facts, keyring, self.today)
        if verdict.reason in (Reason.CHANGED, Reason.NO_APPROVAL) and self._carrier.has_twin(file):
            verdict = judge(replace(facts, has_twin=True), keyring, self.today)
        return verdict

    def heard(self, memory_id: str) -> list[Heard]:
        """Return every record about ``memory_id``, held against the keyring in force."""
        keyring = self.keyring
        if keyring is None:
            return []
        receipts = self._receipts(memory_id)
        found: dict[str, tuple[Record, bool]] = {record.line: (record, True) for _, record in receipts}
        for record in (*self._extra.get(memory_id, ()), *self._remembered.records(memory_id, known=found)):
            found.setdefault(record.line, (record, False))
        heard = [
            one
            for record, is_receipt in found.values()
            if (one := self._hear(record, memory_id, keyring, is_receipt=is_receipt)) is not None
        ]
        for reason, record in self._remembered.failures(memory_id):
            item = record.statement.item(memory_id)
            if record.line not in found and item is not None:
                heard.append(Heard(record=record, item=item, key=None, failure=reason, is_receipt=False))
        self._remember(memory_id, heard)
        return heard

    def heard_with(self, memory_id: str, records: Iterable[Record]) -> list[Heard]:
        """Return :meth:`heard` and ``records`` besides, which have no receipt."""
        keyring = self.keyring
        heard = self.heard(memory_id)
        lines = {one.record.line for one in heard}
        more = [record for record in records if record.line not in lines]
        if keyring is not None:
            heard += [
                one for record in more if (one := self._hear(record, memory_id, keyring, is_receipt=False)) is not None
            ]
        return heard

    def approvals(self, memory_id: str, *, scope: str | None = None) -> tuple[Approval, ...]:
        """Return the verified records about ``memory_id``, highest counter first."""
        heard = [one for one in self.heard(memory_id) if one.failure is None]
        top = top_of(heard)
        withdrawn = any(not one.approves for one in top)
        paths = {record.line: f"{APPROVALS}/{name}" for name, record in self._receipts(memory_id)}
        found = []
        for one in sorted(heard, key=lambda one: (-one.item.seq, one.record.line)):
            lapse = find_lapse(one, scope, self.today)
            reason = lapse[0] if lapse and one.approves else None
            found.append(
                Approval(
                    person=one.record.statement.by,
                    verb=one.record.statement.verb.value,
                    seq=one.item.seq,
                    digest=one.item.digest,
                    on=one.on,
                    path=paths.get(one.record.line),
                    until=one.record.statement.until,
                    grants=one.approves and one in top and not withdrawn and one.is_receipt and reason is None,
                    reason=reason,
                    record=one.record,
                )
            )
        return tuple(found)

    def need(self, scope: str) -> int:
        """Return how many people a memory of ``scope`` needs."""
        return self.keyring.need(scope) if self.keyring else 1

    def approvers(self, scope: str) -> tuple[str, ...]:
        """Return who could approve for ``scope`` today."""
        keys = self.keyring.keys if self.keyring else ()
        return tuple(dict.fromkeys(key.principal for key in keys if key.approves_on(self.today) and key.covers(scope)))

    def forget_listing(self) -> None:
        """List the receipts again at the next question: they were changed."""
        self._names = None
        self._batches = {}

    def ids_with_receipts(self) -> frozenset[str]:
        """Return the ids that some receipt in the tree speaks of: no other one can be trusted."""
        if self._names is None:
            self._index_receipts()
        return frozenset(self._names or ()) | frozenset(self._batches)

    def receipt_lines(self) -> frozenset[str]:
        """Return the records that have a receipt in the tree, by their one-line form."""
        lines = set()
        for name in self._carrier.receipt_names():
            if receipt_subject(name) is not None and (record := self._read_receipt(name)) is not None:
                lines.add(record.line)
        return frozenset(lines)

    def _hear(self, record: Record, memory_id: str, keyring: Keyring, *, is_receipt: bool) -> Heard | None:
        return hear(
            record,
            memory_id,
            keyring=keyring,
            repository_id=self.repository_id or "",
            verify=self._verify,
            is_receipt=is_receipt,
        )

    def _remember(self, memory_id: str, heard: Iterable[Heard]) -> None:
        valid = [one.record for one in heard if one.failure is None]
        if valid:
            self._remembered.add({memory_id: valid}, {})

    def _receipts(self, memory_id: str) -> list[tuple[str, Record]]:
        if self._names is None:
            self._index_receipts()
        assert self._names is not None
        found = [
            (name, record)
            for name in self._names.get(memory_id, ())
            if receipt_subject(name) == memory_id and (record := self._read_receipt(name)) is not None
        ]
        return found + self._batches.get(memory_id, [])

    def _index_receipts(self) -> None:
        self._names = {}
        for name in self._carrier.receipt_names():
            # By the text before the first dot: the whole name is looked at for the ids in question only.
            self._names.setdefault(name.partition(".")[0], []).append(name)
        for name in self._names.get("batch", ()):
            if receipt_subject(name) == "" and (record := self._read_receipt(name)) is not None:
                for item in record.statement.items:
                    self._batches.setdefault(item.id, []).append((name, record))

    def _read_receipt(self, name: str) -> Record | None:
        raw = self._carrier.receipt(name)
        return read_receipt(name, raw) if raw is not None else None


def digest_of(raw: bytes) -> str:
    """Return the content digest of TRUST 3."""
    return hashlib.sha256(raw.replace(b"\r\n", b"\n")).hexdigest()


def open_view(
    tree: WorkTree,
    places: Places,
    *,
    today: date,
    pin: str | None = None,
    history: bool = True,
    patience: float = HISTORY_SECONDS,
) -> TrustView:
    """Return the view of ``tree`` under the user's pin.

    ``pin`` stands in for the user's own and is for `check` and `review` alone (TRUST 8).
    ``history`` off, or more than ``patience`` seconds of reading, falls back to what this machine
    remembers. Raises :class:`UsageError` for a ``pin`` that is none, and nothing else.
    """
    remembered = Remembered(places)
    notices: list[str] = []
    cache = SignatureCache(places)
    carrier = TreeCarrier(tree)
    given = parse_pin(pin) if pin is not None else None
    today = remembered.latest_date(today)
    chain, trouble = _read_chain(carrier, cache.verify)
    expected = remembered.repository_at(tree)
    pinned = False
    if chain is None:
        if expected is not None and trouble is not None and trouble.reason is Reason.NO_APPROVAL:
            trouble = _untrusted(Reason.KEYRING_BROKEN, "the keyring that this folder had is gone")
    else:
        remembered.use(chain.repository_id)
        user_pin, complaint = _find_pin(places, chain.repository_id, given)
        if complaint:
            notices.append(complaint)
        pinned = user_pin is not None
        trouble = _judge_chain(chain, user_pin, expected if given is None else None, remembered)
        if trouble is None:
            remembered.note_keyring(len(chain.versions), chain.newest.digest)
            if given is None:
                remembered.note_repository_at(tree, chain.repository_id)
    view = TrustView(
        carrier=carrier,
        verify=cache.verify,
        today=today,
        chain=chain,
        pinned=pinned,
        trouble=trouble,
        notices=(),
        remembered=remembered,
    )
    if history and view.keyring is not None:
        try:
            _catch_up(view, tree, remembered, cache.verify, patience)
        except MemfsError as error:
            notices.append(
                f"the history was not read, so only receipts and this machine's memory count ({error.message})"
            )
            if isinstance(error, ProgramTimeout) and patience < HISTORY_SECONDS:
                _read_detached(tree, places, today)
    if cache.notice:
        notices.append(cache.notice)
    if trouble is not None and trouble.detail:
        notices.append(trouble.detail)
    view.add_notices(notices)
    return view


def view_of_files(
    keyrings: Mapping[str, bytes],
    receipts: Mapping[str, bytes],
    *,
    today: date,
    pin: str | None = None,
    places: Places | None = None,
    messages: Iterable[bytes] = (),
) -> TrustView:
    """Return a view over bytes that the caller read, for instance the keyring of a pull request's
    base and the receipts of its head.

    Without ``pin`` the keyring counts as pinned: the caller says so to its reader. Records found in
    ``messages`` can only take trust away. Nothing is remembered.
    """
    carrier = FilesCarrier(keyrings, receipts)
    cache = SignatureCache(places)
    chain, trouble = _read_chain(carrier, cache.verify)
    remembered = Remembered(None)
    given = parse_pin(pin) if pin is not None else None
    if chain is not None:
        own = given if given is not None else Pin(repository_id=chain.repository_id)
        trouble = _judge_chain(chain, own if own.repository_id == chain.repository_id else None, None, remembered)
    found = [record for message in messages for record in record_format.find_records(message)]
    return TrustView(
        carrier=carrier,
        verify=cache.verify,
        today=today,
        chain=chain,
        pinned=given is not None and trouble is None,
        trouble=trouble,
        notices=(trouble.detail,) if trouble is not None and trouble.detail else (),
        remembered=remembered,
        extra=by_id(found),
    )


def _read_chain(carrier: Carrier, verify: Verify) -> tuple[Chain | None, Verdict | None]:
    try:
        files = carrier.keyrings()
        if not files:
            return None, _untrusted(Reason.NO_APPROVAL, "this repository has no keyring; `memfs keys create` makes one")
        return check_chain(files, verify), None
    except KeyringError as error:
        return None, _untrusted(Reason.KEYRING_BROKEN, f"the keyring is refused: {error}")


def _find_pin(places: Places, repository_id: str, given: Pin | None) -> tuple[Pin | None, str | None]:
    if given is not None:
        return (given if given.repository_id == repository_id else None), None
    try:
        return read_pins(places).get(repository_id), None
    except SetupError as error:
        return None, str(error)


def _judge_chain(chain: Chain, pin: Pin | None, expected: str | None, remembered: Remembered) -> Verdict | None:
    """Return why ``chain`` is not in force for this person, or None."""
    if expected is not None and expected != chain.repository_id:
        return _untrusted(
            Reason.KEYRING_BROKEN,
            "the first keyring of this folder was exchanged; if that is right, say so with `memfs pin`",
        )
    if pin is None:
        return _untrusted(
            Reason.NOT_PINNED, "you have not pinned this repository; `memfs pin` shows its people and asks"
        )
    fault = find_pin_fault(pin, chain)
    if fault is not None:
        return _untrusted(Reason.KEYRING_ROLLED_BACK, fault)
    newest = remembered.newest_keyring()
    if newest is not None:
        version, digest = newest
        if version > len(chain.versions):
            return _untrusted(
                Reason.KEYRING_ROLLED_BACK,
                f"version {version} of the keyring was seen before, here the newest is {len(chain.versions)}",
            )
        if chain.versions[version - 1].digest != digest:
            return _untrusted(
                Reason.KEYRING_ROLLED_BACK, f"version {version} of the keyring is not the one seen before"
            )
    return None


def _catch_up(view: TrustView, tree: WorkTree, remembered: Remembered, verify: Verify, patience: float) -> None:
    """Read the commits that were not read before. Raises :class:`MemfsError` where git cannot."""
    chain, keyring = view.chain, view.keyring
    if chain is None or keyring is None or tree.git_dir is None:
        return
    head = head_commit(tree)
    known = remembered.tips(chain.newest.digest)
    if head is None or head in known:
        return
    found = read_history(tree, head, known=known, timeout=patience)
    valid: dict[str, list[Record]] = {}
    failed: dict[str, list[tuple[Reason, Record]]] = {}
    for memory_id, records in by_id(record for _, record in found).items():
        for record in records:
            one = hear(
                record,
                memory_id,
                keyring=keyring,
                repository_id=chain.repository_id,
                verify=verify,
                is_receipt=False,
            )
            if one is None:
                continue
            if one.failure is None:
                valid.setdefault(memory_id, []).append(record)
            else:
                failed.setdefault(memory_id, []).append((one.failure, record))
    remembered.add(valid, failed)
    remembered.note_tip(chain.newest.digest, head)


def _read_detached(tree: WorkTree, places: Places, today: date) -> None:
    """Start a process of its own that reads a long history whole, and do not wait for it."""
    import sys

    import memfs
    from memfs.git.process import spawn_detached

    package = os.path.dirname(os.path.dirname(os.path.abspath(memfs.__file__)))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from memfs.trust.view import run_detached\n"
        "run_detached(*sys.argv[2:])"
    )
    with suppress(SetupError):
        arguments = [package, str(places.home), str(tree.root), today.isoformat()]
        spawn_detached([sys.executable, "-I", "-c", code, *arguments])


def run_detached(home: str, root: str, today: str) -> None:
    """Read the history of the tree at ``root``: the body of the detached process. One at a time."""
    import fcntl
    from pathlib import Path

    from memfs.disk.worktree import find_work_tree

    places = Places(home=Path(home))
    fd = os.open(places.state / "reading.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with suppress(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        open_view(find_work_tree(Path(root)), places, today=date.fromisoformat(today))


def _untrusted(reason: Reason, detail: str) -> Verdict:
    return Verdict(level=Level.UNTRUSTED, reason=reason, detail=detail)
