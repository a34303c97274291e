"""Signing a plan: records, their receipts, and the commit that carries both.

:func:`approve` takes a signer and asks nobody: the terminal is the surface's business (TRUST 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from memfs.disk.files import read_file
from memfs.disk.settings import read_repository_settings
from memfs.errors import InvalidMemoryError, TrustError
from memfs.git.commit import Change, commit_changes
from memfs.model.reader import read_memory
from memfs.model.values import dataclass, field
from memfs.trust import record as record_format
from memfs.trust.carriers import APPROVALS
from memfs.trust.judge import Reason, Verdict
from memfs.trust.opening import open_view
from memfs.trust.plan import Plan, counter_above, find_key, next_counter, stands_already, withdrawals_due
from memfs.trust.receipts import format_message, receipt_change
from memfs.trust.record import (
    MAX_ITEMS,
    Item,
    Record,
    Statement,
    Verb,
    find_records,
    format_record,
    format_statement,
    signed_bytes,
)
from memfs.trust.signing import Signer
from memfs.trust.view import TrustView

_MAX_LINE = 7000  # of a record: leaves room for quoting under the reader's 8 KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """What came of a plan. ``untrusted`` are the ids that are still not trusted, with the verdict."""

    records: tuple[Record, ...]
    receipts: tuple[str, ...]
    commit: str | None
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the records as they stand in the commit message, for pasting."""
        return "".join(map(format_record, self.records))


def make_records(plan: Plan, signer: Signer, *, now: datetime) -> tuple[Record, ...]:
    """Return the signed records of ``plan``, as few as fit it; nothing is written.

    ``now`` is information (TRUST 4). Raises :class:`TrustError` for a key that may not sign it and
    :class:`SetupError` when the signer fails.
    """
    key = find_key(plan, signer)
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    groups: list[tuple[Verb, list[Item], date | None]] = []
    wanted = [
        Item(id=item.id, seq=next_counter(plan, item, key), digest=item.digest)
        for item in plan.items
        if not stands_already(plan, item, key)
    ]
    if wanted:
        groups.append((plan.verb, wanted, plan.until))
    due = withdrawals_due(plan, key) if plan.verb is Verb.APPROVE else ()
    if due:
        withdrawn = [Item(id=item.id, seq=counter_above(item), digest=item.digest) for item in due]
        groups.append((Verb.WITHDRAW, withdrawn, None))
    records = []
    for verb, items, until in groups:
        for part in _split(items):
            statement = Statement(
                verb=verb, repo=plan.view.repository_id or "", by=key.principal, at=at, until=until, items=part
            )
            text = format_statement(statement)
            blob = signer.sign(record_format.NAMESPACE, signed_bytes(text))
            record = Record(statement=statement, text=text, signature=blob)
            _require_counted(plan, record)
            records.append(record)
    return tuple(records)


def approve(plan: Plan, signer: Signer, *, now: datetime, message: str | None = None) -> Approved:
    """Sign ``plan``, write its receipts and commit them with the records as trailers.

    The commit contains the approved bytes too, where they were not committed. Nothing is written when
    signing fails; a memory that changed since the plan was made is refused
    (:class:`~memfs.git.commit.ConflictError`). This machine remembers at once what was signed here.
    """
    records = make_records(plan, signer, now=now)
    if not records:
        return Approved(records=(), receipts=(), commit=None, verdicts=_verdicts(plan, plan.view))
    changes = [receipt_change(record) for record in records]
    if plan.verb is Verb.APPROVE:
        changes += [
            Change(path=item.file.path, content=item.file.raw, before=item.digest)
            for item in plan.items
            if item.file is not None
        ]
    subject = read_repository_settings(plan.tree).message(message or _subject(plan))
    commit = commit_changes(plan.tree, changes, format_message(subject, records))
    view = open_view(plan.tree, plan.places, today=plan.view.today)
    return Approved(
        records=records,
        receipts=tuple(f"{APPROVALS}/{record.receipt_name}" for record in records),
        commit=commit,
        verdicts=_verdicts(plan, view),
    )


def _split(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """Return ``items`` in as few statements as the limits of TRUST 4 allow."""
    parts: list[tuple[Item, ...]] = []
    current: list[Item] = []
    size = 0
    for item in items:
        length = len(item.id) + len(item.digest) + 32
        if current and (len(current) == MAX_ITEMS or size + length > _MAX_LINE - 1400):
            parts.append(tuple(current))
            current, size = [], 0
        current.append(item)
        size += length
    return [*parts, tuple(current)]


def _require_counted(plan: Plan, record: Record) -> None:
    """Raise unless ``record`` is found again in its own text and counts under the keyring."""
    found = find_records(format_record(record).encode("ascii"))
    records = plan.view.records_with(record.statement.items[0].id, found)
    mine = [one for one in records if one.record.line == record.line]
    if not mine or mine[0].failure is not None:
        reason = mine[0].failure if mine else None
        hint = "touch the key when it blinks" if reason is Reason.NO_TOUCH else None
        raise TrustError("the new signature does not count under the keyring", reason=reason, hint=hint)


def _subject(plan: Plan) -> str:
    count = len(plan.items)
    what = plan.items[0].id if count == 1 else f"{count} memories"
    if plan.verb is Verb.WITHDRAW:
        return f"Withdraw the approval of {what}"
    names = "" if count == 1 else "\n\n" + "\n".join(f"- {item.id}" for item in plan.items)
    return f"Approve {what}{names}"


def _verdicts(plan: Plan, view: TrustView) -> dict[str, Verdict]:
    """Return the verdicts of what lies on the disk now: the proof of the approval, not its promise."""
    verdicts: dict[str, Verdict] = {}
    for item in plan.items:
        if item.file is not None:
            try:
                file = read_memory(item.file.path, read_file(plan.tree, item.file.path))
            except InvalidMemoryError:
                continue
            verdicts[item.id] = view.verdict(file)
    return verdicts
