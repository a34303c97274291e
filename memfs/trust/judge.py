"""The verdict of TRUST 6, as a pure function: facts in, level and reason out. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from enum import StrEnum

from memfs.model.codepoints import find_hidden
from memfs.model.memory import MAX_MEMORY_BYTES, MemoryFile
from memfs.model.values import dataclass
from memfs.trust import record as record_format
from memfs.trust.keyring import Key, Keyring, Verify
from memfs.trust.record import Item, Record, Verb
from memfs.trust.sshsig import SignatureError, parse_signature

_PLAIN_ASCII = bytes([0x09, 0x0A, *range(0x20, 0x7F)])


class Level(StrEnum):
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"
    WITHDRAWN = "withdrawn"
    DENIED = "denied"


class Reason(StrEnum):
    """Why a memory is not trusted: stable words, part of the public interface."""

    NO_APPROVAL = "no-approval"
    CHANGED = "changed"
    OLDER_TEXT = "older-text"
    WITHDRAWN = "withdrawn"
    DENIED = "denied"
    NOT_ENOUGH_PEOPLE = "not-enough-people"
    KEY_UNKNOWN = "key-unknown"
    KEY_EXPIRED = "key-expired"
    KEY_RETIRED = "key-retired"
    WRONG_REPOSITORY = "wrong-repository"
    WRONG_NAMESPACE = "wrong-namespace"
    BAD_SIGNATURE = "bad-signature"
    KEYRING_BROKEN = "keyring-broken"
    KEYRING_ROLLED_BACK = "keyring-rolled-back"
    NOT_PINNED = "not-pinned"
    BAD_FILE = "bad-file"
    DUPLICATE_ID = "duplicate-id"
    NO_TOUCH = "no-touch"
    TWO_TEXTS = "two-texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a reader may be told about one text. ``detail`` is memfs's own words."""

    level: Level
    reason: Reason | None = None
    people: tuple[str, ...] = ()  # who approved, or who withdrew
    on: date | None = None  # the newest date those people wrote down; information only
    detail: str | None = None

    @property
    def trusted(self) -> bool:
        return self.level is Level.TRUSTED


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRecord:
    """One record about one id, checked against the keyring that counts.

    ``failure`` None puts it into V of TRUST 6: it verifies, and ``key`` is its person's.
    """

    record: Record
    item: Item
    key: Key | None
    failure: Reason | None
    is_receipt: bool

    @property
    def approves(self) -> bool:
        return self.record.statement.verb is Verb.APPROVE

    @property
    def person(self) -> str:
        return self.record.statement.by

    @property
    def on(self) -> date:
        return date.fromisoformat(self.record.statement.at[:10])

    def counts_in(self, scope: str | None) -> bool:
        """Return whether this record says anything about a memory of ``scope``: it verifies, and its key is not
        limited to other scopes. None is a memory whose scope is not known (it is deleted): every key counts."""
        return self.failure is None and self.key is not None and (scope is None or self.key.covers(scope))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that :func:`judge` looks at."""

    digest: str
    scope: str
    records: tuple[CheckedRecord, ...]
    fault: str | None = None  # why these bytes can be neither approved nor trusted
    has_twin: bool = False  # another file of the same id lies in the tree


def find_fault(file: MemoryFile) -> str | None:
    """Return why ``file`` cannot be approved or trusted whatever its receipts say (TRUST 3), or None."""
    if len(file.raw) > MAX_MEMORY_BYTES:
        return "the file is over 256 KiB"
    if not file.id:
        return "the file's name is not an id"
    if file.raw.translate(None, _PLAIN_ASCII):  # something but plain text; find_hidden lets CRLF pass
        try:
            text = file.raw.decode("utf-8")
        except UnicodeDecodeError:
            return "the file is not UTF-8"
        hidden = find_hidden(text)
        if hidden:
            first = hidden[0]
            line = text.count("\n", 0, first.offset) + 1
            return f"line {line} contains U+{first.codepoint:04X} ({first.why})"
    if file.memory is None:
        fatal = [problem for problem in file.problems if problem.fatal]
        return fatal[0].message if fatal else "the file is not a well-formed memory"
    return None


def check_records(
    records: Iterable[tuple[Record, bool]], memory_id: str, *, keyring: Keyring, repository_id: str, verify: Verify
) -> list[CheckedRecord]:
    """Return how those of ``records`` (with whether each has a receipt) that name ``memory_id`` fare."""
    checked = []
    for record, is_receipt in records:
        item = record.statement.item(memory_id)
        if item is not None:
            key, failure = _check(record, keyring, repository_id, verify)
            checked.append(CheckedRecord(record=record, item=item, key=key, failure=failure, is_receipt=is_receipt))
    return checked


def _check(record: Record, keyring: Keyring, repository_id: str, verify: Verify) -> tuple[Key | None, Reason | None]:
    statement = record.statement
    if statement.repo != repository_id:
        return None, Reason.WRONG_REPOSITORY
    try:
        signature = parse_signature(record.signature)
    except SignatureError:
        return None, Reason.BAD_SIGNATURE
    key = keyring.find_key(signature.key_blob)
    # TRUST 4: `by` must own the key, so one key never counts as two people.
    # TRUST 5: a key for keyrings only has no say about memories.
    if key is None or key.principal != statement.by or not key.counts:
        return None, Reason.KEY_UNKNOWN
    if signature.namespace != record_format.NAMESPACE:
        return None, Reason.WRONG_NAMESPACE
    if not verify(key.public, signature, record_format.signed_bytes(record.text)):
        return None, Reason.BAD_SIGNATURE
    if key.touch and not signature.touched:
        return None, Reason.NO_TOUCH
    return key, None


def find_lapse(checked: CheckedRecord, scope: str | None, today: date) -> tuple[Reason, str] | None:
    """Return why a verified approval cannot grant, in a stable word and a sentence; None when it can.

    ``scope`` None leaves the key's scopes out of it.
    """
    key, statement = checked.key, checked.record.statement
    if key is None:
        return checked.failure or Reason.KEY_UNKNOWN, "the record does not verify"
    lapse = find_key_lapse(key, scope, today)
    if lapse is not None:
        return lapse
    if statement.until is not None and today > statement.until:
        return Reason.KEY_EXPIRED, f"the approval by {statement.by} ran out after {statement.until.isoformat()}"
    return None


def find_key_lapse(key: Key, scope: str | None, today: date) -> tuple[Reason, str] | None:
    """Return why ``key`` cannot approve a memory of ``scope`` on ``today``; None when it can."""
    who = key.principal
    if key.is_retired:
        return Reason.KEY_RETIRED, f"the key that {who} signed with is retired"
    if key.after is not None and today < key.after:
        return Reason.KEY_EXPIRED, f"the key of {who} may approve from {key.after.isoformat()} on"
    # TRUST 5: today's clock, not `at`: the holder of an expired key can write any date.
    if key.before is not None and today >= key.before:
        return Reason.KEY_EXPIRED, f"the key of {who} could approve before {key.before.isoformat()}"
    if scope is not None and not key.covers(scope):
        return Reason.NOT_ENOUGH_PEOPLE, f"{who} may not approve for {scope}"
    return None


def newest_of(records: Iterable[CheckedRecord], scope: str | None = None) -> tuple[CheckedRecord, ...]:
    """Return C of TRUST 6: of the records that count in ``scope``, those with the highest counter."""
    counted = [one for one in records if one.counts_in(scope)]
    top = max((one.item.seq for one in counted), default=0)
    return tuple(one for one in counted if one.item.seq == top)


def judge(facts: Facts, keyring: Keyring, today: date) -> Verdict:
    """Return the verdict of TRUST 6 on the text with ``facts.digest``."""
    if facts.digest in keyring.denied:
        return Verdict(level=Level.DENIED, reason=Reason.DENIED, detail="the keyring denies this text")
    if facts.fault is not None:
        return untrusted(Reason.BAD_FILE, facts.fault)
    top = newest_of(facts.records, facts.scope)
    withdrawals = [one for one in top if not one.approves]
    if withdrawals:
        seen_here = any(one.is_receipt for one in withdrawals)
        return Verdict(
            level=Level.WITHDRAWN,
            reason=Reason.WITHDRAWN,
            people=_people(withdrawals),
            on=_newest(withdrawals),
            detail=None if seen_here else "the withdrawal was seen before, on this machine or in the history",
        )
    fitting = [one for one in top if one.item.digest == facts.digest]
    if fitting and len(fitting) < len(top):
        both = ", ".join(_people(top))
        return untrusted(Reason.TWO_TEXTS, f"two texts were approved side by side ({both}): approve the right one")
    receipts = [one for one in fitting if one.is_receipt]
    granting = [one for one in receipts if find_lapse(one, facts.scope, today) is None]
    people = _people(granting)
    need = keyring.need(facts.scope)
    if len(people) >= need:
        return Verdict(level=Level.TRUSTED, people=people, on=_newest(granting))
    if people:
        return Verdict(
            level=Level.UNTRUSTED,
            reason=Reason.NOT_ENOUGH_PEOPLE,
            people=people,
            on=_newest(granting),
            detail=f"{len(people)} of {need} people approved this text",
        )
    return _why_nobody(facts, fitting, receipts, today)


def _why_nobody(facts: Facts, fitting: list[CheckedRecord], receipts: list[CheckedRecord], today: date) -> Verdict:
    """Return the reason that says most about a text that nobody's approval supports."""
    valid = [one for one in facts.records if one.failure is None]
    here = [one for one in valid if one.approves and one.item.digest == facts.digest]
    elsewhere = [one for one in here if one.is_receipt and not one.counts_in(facts.scope)]
    if receipts or (elsewhere and not fitting):
        newest = max(receipts or elsewhere, key=lambda one: one.record.statement.at)
        lapse = find_lapse(newest, facts.scope, today)
        if lapse is not None:
            return untrusted(*lapse)
    if fitting:
        return untrusted(
            Reason.NO_APPROVAL,
            "an approval was seen outside this tree, but its receipt is not here; run `memfs trust --sync`",
        )
    failed = [one for one in facts.records if one.failure is not None]
    failed_here = [one for one in failed if one.item.digest == facts.digest]
    if here:
        return untrusted(Reason.OLDER_TEXT, "a newer text was approved after this one")
    if failed_here:
        return _failed(failed_here)
    if facts.has_twin:
        return untrusted(Reason.DUPLICATE_ID, "another file has this id")
    if valid:
        return untrusted(Reason.CHANGED, "the text is not the one that was approved")
    if failed:
        return _failed(failed)
    return untrusted(Reason.NO_APPROVAL, None)


_FAILURES = {
    Reason.WRONG_REPOSITORY: "its approval was made for another repository",
    Reason.WRONG_NAMESPACE: "its signature was made for another purpose",
    Reason.KEY_UNKNOWN: "its approval is by a key that the keyring does not list for that person",
    Reason.BAD_SIGNATURE: "the signature of its approval does not verify",
    Reason.NO_TOUCH: "its approval was signed by a security key that nobody touched",
}


def _failed(records: list[CheckedRecord]) -> Verdict:
    newest = max(records, key=lambda one: (one.is_receipt, one.item.seq, one.record.statement.at))
    reason = newest.failure or Reason.BAD_SIGNATURE
    return untrusted(reason, _FAILURES[reason])


def untrusted(reason: Reason, detail: str | None) -> Verdict:
    return Verdict(level=Level.UNTRUSTED, reason=reason, detail=detail)


def _people(records: Iterable[CheckedRecord]) -> tuple[str, ...]:
    return tuple(sorted({one.person for one in records}))


def _newest(records: Iterable[CheckedRecord]) -> date:
    return max(one.on for one in records)
