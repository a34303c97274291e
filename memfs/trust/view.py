"""One repository as one person sees it: keyring, receipts and memory joined into verdicts.

Everything that decides is in ``judge``; this module fetches the facts. A view is opened once (``opening``) and
asked for as many ids as are shown; each question reads only what that id needs. Asking changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property

from memfs.errors import TrustError
from memfs.model.memory import MemoryFile
from memfs.model.reader import content_digest
from memfs.model.values import dataclass, replace
from memfs.trust.carriers import Carrier
from memfs.trust.judge import (
    CheckedRecord,
    Facts,
    Level,
    Reason,
    Verdict,
    check_records,
    find_fault,
    find_lapse,
    judge,
    newest_of,
)
from memfs.trust.keyring import Chain, Keyring, KeyringError, Verify
from memfs.trust.record import Record, read_receipt, receipt_subject
from memfs.trust.remembered import Remembered, by_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One verified record about an id, whether or not it fits the text of today."""

    checked: CheckedRecord
    grants: bool  # at the top, in the tree, and by a key that may grant for this scope
    reason: Reason | None  # why it does not, when that lies in the key or the date


class TrustView:
    """What the pinned people of one repository signed. :meth:`verdict` never raises."""

    def __init__(
        self,
        *,
        carrier: Carrier,
        verify: Verify,
        today: date,
        chain: Chain | None,
        trouble: Verdict | None,
        remembered: Remembered,
        pinned: bool = False,
        notices: Sequence[str] = (),
    ) -> None:
        self.chain = chain
        self.pinned = pinned
        self.trouble = trouble
        self.today = today
        self._notices = notices
        self._carrier = carrier
        self._verify = verify
        self._remembered = remembered
        self._beside: Mapping[str, Sequence[Record]] = {}

    @property
    def repository_id(self) -> str | None:
        return self.chain.repository_id if self.chain else None

    @property
    def keyring(self) -> Keyring | None:
        """Return the keyring that judges, None while it is refused or not pinned."""
        return self.chain.keyring if self.chain and self.trouble is None else None

    @property
    def has_keyring(self) -> bool:
        """Return whether there is any file of a keyring, good or bad."""
        try:
            return self.chain is not None or bool(self._carrier.keyrings())
        except KeyringError:
            return True

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a reader should be told about all verdicts so far."""
        said = self._remembered.notice
        return tuple(dict.fromkeys((*self._notices, said) if said is not None else self._notices))

    def use_beside(self, records: Mapping[str, Sequence[Record]]) -> None:
        """Let records count that the history here brings, by id. They can only take trust away."""
        self._beside = records

    def verdict(self, file: MemoryFile, *, bad_file: bool = False) -> Verdict:
        """Return level and reason for the bytes of ``file``, hashed here. Never raises.

        ``bad_file`` is for a caller who knows more against the file than its bytes say.
        """
        keyring = self.keyring
        if keyring is None:
            return self.trouble or Verdict(level=Level.UNTRUSTED, reason=Reason.KEYRING_BROKEN)
        facts = Facts(
            digest=content_digest(file.raw),
            scope=file.memory.scope if file.memory else "",
            records=tuple(self.records(file.id)) if file.id else (),
            fault="the file cannot be judged" if bad_file else find_fault(file),
        )
        verdict = judge(facts, keyring, self.today)
        if verdict.reason in (Reason.CHANGED, Reason.NO_APPROVAL) and self._carrier.has_twin(file):
            verdict = judge(replace(facts, has_twin=True), keyring, self.today)
        return verdict

    def records(self, memory_id: str) -> list[CheckedRecord]:
        """Return every record about ``memory_id``, checked against the keyring."""
        if self.keyring is None:
            return []
        found = {record.line: (record, True) for record in self._receipts(memory_id)}
        for record in (*self._beside.get(memory_id, ()), *self._remembered.records(memory_id, known=found)):
            found.setdefault(record.line, (record, False))
        checked = self._check(memory_id, found.values())
        for reason, record in self._remembered.failures(memory_id):
            item = record.statement.item(memory_id)
            if record.line not in found and item is not None:
                checked.append(CheckedRecord(record=record, item=item, key=None, failure=reason, is_receipt=False))
        return checked

    def records_with(self, memory_id: str, more: Iterable[Record]) -> list[CheckedRecord]:
        """Return :meth:`records` and ``more`` besides, which have no receipt."""
        checked = self.records(memory_id)
        lines = {one.record.line for one in checked}
        return checked + self._check(memory_id, [(record, False) for record in more if record.line not in lines])

    def approvals(self, memory_id: str, *, scope: str | None = None) -> list[Approval]:
        """Return the verified records about ``memory_id``, highest counter first."""
        checked = [one for one in self.records(memory_id) if one.failure is None]
        top = newest_of(checked, scope)
        withdrawn = any(not one.approves for one in top)
        found = []
        for one in sorted(checked, key=lambda one: (-one.item.seq, one.record.line)):
            lapse = find_lapse(one, scope, self.today)
            reason = lapse[0] if lapse and one.approves else None
            grants = one.approves and one in top and not withdrawn and one.is_receipt and reason is None
            found.append(Approval(checked=one, grants=grants, reason=reason))
        return found

    def need(self, scope: str) -> int:
        """Return how many people a memory of ``scope`` needs."""
        return self.keyring.need(scope) if self.keyring else 1

    def approvers(self, scope: str) -> tuple[str, ...]:
        """Return who could approve for ``scope`` today."""
        keys = self.keyring.keys if self.keyring else ()
        return tuple(dict.fromkeys(key.principal for key in keys if key.approves_on(self.today) and key.covers(scope)))

    def ids(self) -> list[str]:
        """Return every id that a receipt, the history here or this machine's memory names."""
        return sorted({*self.ids_with_receipts(), *self._beside, *self._remembered.ids()})

    def ids_with_receipts(self) -> frozenset[str]:
        """Return the ids that some receipt in the tree names: no other one can be trusted."""
        return frozenset(self._names) | frozenset(self._batches)

    def _check(self, memory_id: str, records: Iterable[tuple[Record, bool]]) -> list[CheckedRecord]:
        keyring = self.keyring
        if keyring is None:
            return []
        return check_records(
            records, memory_id, keyring=keyring, repository_id=self.repository_id or "", verify=self._verify
        )

    def _receipts(self, memory_id: str) -> list[Record]:
        names = (name for name in self._names.get(memory_id, ()) if receipt_subject(name) == memory_id)
        found = (self._read_receipt(name) for name in names)
        return [*(record for record in found if record is not None), *self._batches.get(memory_id, ())]

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        """The names of receipts by their text before the first dot; the whole name is looked at for the ids in
        question only."""
        names: dict[str, list[str]] = {}
        for name in self._carrier.receipt_names():
            names.setdefault(name.partition(".")[0], []).append(name)
        return names

    @cached_property
    def _batches(self) -> Mapping[str, Sequence[Record]]:
        """The records of several memories, by id."""
        names = (name for name in self._names.get("batch", ()) if receipt_subject(name) == "")
        found = (self._read_receipt(name) for name in names)
        return by_id(record for record in found if record is not None)

    def _read_receipt(self, name: str) -> Record | None:
        raw = self._carrier.receipt(name)
        return read_receipt(name, raw) if raw is not None else None


def require_keyring(view: TrustView) -> None:
    """Raise :class:`TrustError` with what to do where no keyring judges."""
    if view.keyring is not None:
        return
    trouble = view.trouble
    hint = "run `memfs pin` and compare what it shows with a colleague"
    if trouble is not None and trouble.reason is Reason.NO_APPROVAL:
        hint = "run `memfs keys create`"
    elif trouble is not None and trouble.reason is not Reason.NOT_PINNED:
        hint = "restore .memfs/ from a commit that your team trusts; `memfs pin` says more"
    raise TrustError(
        (trouble.detail if trouble else None) or "no keyring counts here",
        reason=trouble.reason if trouble else Reason.KEYRING_BROKEN,
        hint=hint,
    )
