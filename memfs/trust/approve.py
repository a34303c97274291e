"""Approving and withdrawing: a plan that a person looks at, then one signature for all of it.

The command line shows the plan and asks; :func:`approve` signs, writes receipts and commits. It
takes a signer and asks nobody: the terminal is the surface's business (TRUST 10).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError, MemfsError, NotFoundError, TrustError, UsageError
from memfs.git.log import read_commits
from memfs.git.objects import read_old_blobs
from memfs.git.read import head_commit, read_git
from memfs.model.codepoints import escape_hidden, find_hidden
from memfs.model.memory import MemoryFile
from memfs.model.reader import content_digest, read_memory
from memfs.model.values import dataclass, field
from memfs.trust import record as record_format
from memfs.trust.carriers import APPROVALS
from memfs.trust.history import lines_of, read_history
from memfs.trust.judge import CheckedRecord, Reason, Verdict, find_fault, find_lapse, newest_of
from memfs.trust.keyring import Key
from memfs.trust.opening import open_view
from memfs.trust.record import (
    MAX_ITEMS,
    MAX_SEQ,
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

if TYPE_CHECKING:
    from memfs.git.commit import Change  # imports GitPython, so only where something is written

_ID = re.compile(record_format.ID_PATTERN)
_MAX_LINE = 7000  # of a record: leaves room for quoting under the reader's 8 KiB
_WIDE = 500
_LOOK_BACK = 200  # versions of a file that are searched for the last approved text


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """One memory of a plan: what is there, what was approved before, and what stands in the records."""

    id: str
    digest: str
    records: tuple[CheckedRecord, ...]
    file: MemoryFile | None = None  # None: withdrawing what is deleted already
    verdict: Verdict | None = None  # as it is now
    previous: bytes | None = None  # the last approved text, where git still has it

    @property
    def scope(self) -> str | None:
        return self.file.memory.scope if self.file and self.file.memory else None

    @property
    def text(self) -> str:
        """Return the text as bytes say it; escape it before it is shown."""
        return self.file.raw.decode("utf-8", "replace") if self.file else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be signed. ``withdrawn`` are ids that the approved memories supersede."""

    tree: WorkTree
    view: TrustView
    verb: Verb
    items: tuple[PlanItem, ...]
    withdrawn: tuple[PlanItem, ...] = ()
    until: date | None = None
    notices: tuple[str, ...] = ()


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


def plan_approval(
    tree: WorkTree,
    places: Places,
    ids: Sequence[str],
    *,
    today: date,
    until: date | None = None,
    view: TrustView | None = None,
) -> Plan:
    """Return the plan for approving ``ids``: each file read once, and those bytes are what is signed.

    Raises :class:`TrustError` where the keyring is not in force or a text cannot be approved,
    :class:`NotFoundError` for an id without a file, :class:`UsageError` for a date in the past.
    """
    view = view or open_view(tree, places, today=today)
    _require_keyring(view)
    if until is not None and until < view.today:
        raise UsageError("the approval would have run out already", where="--until")
    files = find_files(tree, ids)
    items = [_plan_item(tree, view, file) for file in files]
    for item in items:
        _require_approvable(view, item)
    superseded = {
        old: file.id for file in files if file.memory is not None for old in file.memory.supersedes if old != file.id
    }
    notices = [f"{old} is not approved: {superseded[old]} supersedes it" for old in ids if old in superseded]
    items = [item for item in items if item.id not in superseded]
    withdrawn = [one for old in superseded if (one := _withdrawal_of(tree, view, old)) is not None]
    return Plan(
        tree=tree,
        view=view,
        verb=Verb.APPROVE,
        items=tuple(items),
        withdrawn=tuple(one for one in withdrawn if not _is_withdrawn(one)),
        until=until,
        notices=tuple(notices),
    )


def plan_withdrawal(
    tree: WorkTree, places: Places, ids: Sequence[str], *, today: date, view: TrustView | None = None
) -> Plan:
    """Return the plan for withdrawing the approval of ``ids``; their files may be deleted already.

    Raises as :func:`plan_approval`, and :class:`NotFoundError` for an id that nothing is known of.
    """
    view = view or open_view(tree, places, today=today)
    _require_keyring(view)
    items = []
    for memory_id in dict.fromkeys(ids):
        item = _withdrawal_of(tree, view, memory_id)
        if item is None:
            raise NotFoundError(
                "no memory of that id is here, and none was approved",
                where=escape_hidden(memory_id, single_line=True),
            )
        items.append(item)
    return Plan(tree=tree, view=view, verb=Verb.WITHDRAW, items=tuple(items))


def find_key(plan: Plan, signer: Signer) -> Key:
    """Return the signer's line of the keyring.

    Raises :class:`TrustError` when that key may not sign the plan.
    """
    keyring = plan.view.keyring
    key = keyring.find_key(signer.public.blob) if keyring else None
    if key is None or not key.counts:
        raise TrustError(
            "the keyring does not list this key for approving",
            reason=Reason.KEY_UNKNOWN,
            where=signer.name,
            hint="ask a root person to run `memfs keys add`, or name another key with --key FILE",
        )
    if plan.verb is Verb.APPROVE:
        for item in plan.items:
            lapse = _lapse_of(key, item.scope, plan.view.today)
            if lapse is not None:
                raise TrustError(lapse[1], reason=lapse[0], where=item.id, hint="somebody else must approve this one")
    return key


def make_records(plan: Plan, signer: Signer, *, now: datetime) -> tuple[Record, ...]:
    """Return the signed records of ``plan``, as few as fit it; nothing is written.

    ``now`` is information (TRUST 4). Raises :class:`TrustError` for a key that may not sign it and
    :class:`SetupError` when the signer fails.
    """
    key = find_key(plan, signer)
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    groups: list[tuple[Verb, list[Item], date | None]] = []
    wanted = [
        Item(id=item.id, seq=_next_counter(plan, item, key), digest=item.digest)
        for item in plan.items
        if not stands_already(plan, item, key)
    ]
    if wanted:
        groups.append((plan.verb, wanted, plan.until))
    if plan.withdrawn:
        revoked = [Item(id=item.id, seq=_above(item), digest=item.digest) for item in plan.withdrawn]
        groups.append((Verb.WITHDRAW, revoked, None))
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

    The commit holds the approved bytes too, where they were not committed. Nothing is written when
    signing fails; a memory that changed since the plan was made is refused
    (:class:`~memfs.git.commit.ConflictError`).
    """
    records = make_records(plan, signer, now=now)
    if not records:
        return Approved(records=(), receipts=(), commit=None, verdicts=_verdicts(plan))
    from memfs.git.commit import Change, commit_changes

    changes = [receipt_change(record) for record in records]
    if plan.verb is Verb.APPROVE:
        changes += [
            Change(path=item.file.path, content=item.file.raw, before=item.digest)
            for item in plan.items
            if item.file is not None
        ]
    commit = commit_changes(plan.tree, changes, format_message(message or _subject(plan), records))
    plan.view.forget_listing()
    return Approved(
        records=records,
        receipts=tuple(f"{APPROVALS}/{record.receipt_name}" for record in records),
        commit=commit,
        verdicts=_verdicts(plan),
    )


def receipt_change(record: Record) -> Change:
    """Return the change that writes the receipt of ``record``."""
    from memfs.git.commit import Change

    return Change(path=f"{APPROVALS}/{record.receipt_name}", content=format_record(record).encode("ascii"))


def format_message(subject: str, records: Iterable[Record]) -> str:
    """Return a commit message with ``records`` as its trailers."""
    return f"{subject}\n\n{''.join(map(format_record, records))}"


# -- records that are known but have no receipt ------------------------------------------------------


def find_missing_receipts(
    tree: WorkTree, view: TrustView, *, ids: Collection[str] = (), text: bytes = b""
) -> tuple[Record, ...]:
    """Return the verified records that deserve a receipt and have none (TRUST 6, `--sync`).

    They come from the history of HEAD, from what this machine remembers, and from ``text``, a
    pasted comment. Only records at the top of their id count: approvals that fit the file of today,
    and withdrawals. A receipt that was once in the tree and was deleted stays deleted, unless its id
    is named in ``ids`` or ``text``: taking an approval back with ``git revert`` must last.
    """
    _require_keyring(view)
    pasted = find_records(text)
    head = head_commit(tree)
    in_history = lines_of(read_history(tree, [head])) if head and tree.git_dir is not None else []
    by_ids: dict[str, dict[str, Record]] = {}
    for record in (*in_history, *pasted):
        for item in record.statement.items:
            by_ids.setdefault(item.id, {})[record.line] = record
    deleted = _deleted_receipts(tree, head)
    named = set(ids) | {item.id for record in pasted for item in record.statement.items}
    have = view.receipt_lines()
    files = {file.id: file for file in _all_files(tree, set(by_ids))}
    found: dict[str, Record] = {}
    for memory_id, records in by_ids.items():
        if ids and memory_id not in ids:
            continue
        file = files.get(memory_id)
        for one in newest_of(view.records_with(memory_id, records.values())):
            fits = not one.approves or (file is not None and content_digest(file.raw) == one.item.digest)
            gone = one.record.receipt_name in deleted and memory_id not in named
            if fits and not gone and one.record.line not in have:
                found[one.record.line] = one.record
    return tuple(found.values())


def write_receipts(tree: WorkTree, records: Sequence[Record]) -> str:
    """Commit the receipts of ``records``, which anybody may do without a key, and return the commit."""
    from memfs.git.commit import commit_changes

    count = len(records)
    subject = (
        f"Keep {'an approval' if count == 1 else f'{count} approvals'} as {'a receipt' if count == 1 else 'receipts'}"
    )
    return commit_changes(tree, [receipt_change(record) for record in records], subject)


# -- which memories ----------------------------------------------------------------------------------


def find_files(tree: WorkTree, ids: Sequence[str]) -> list[MemoryFile]:
    """Return the file of each of ``ids``, read once, each id once.

    Raises :class:`NotFoundError` for an id that has none, :class:`TrustError` (`duplicate-id`) for
    one that has several.
    """
    wanted = list(dict.fromkeys(ids))
    by_name: dict[str, list[MemoryFile]] = {}
    for file in _all_files(tree, set(wanted)):
        by_name.setdefault(file.id, []).append(file)
    found = []
    for memory_id in wanted:
        files = by_name.get(memory_id, [])
        shown = escape_hidden(memory_id, single_line=True)
        if not files:
            raise NotFoundError("no memory of that id is here", where=shown, hint="`memfs list` shows what there is")
        if len(files) > 1:
            raise TrustError(
                f"{len(files)} files have this id: {', '.join(sorted(file.path for file in files))}",
                reason=Reason.DUPLICATE_ID,
                where=shown,
                hint="rename or delete all but one",
            )
        found.append(files[0])
    return found


def ids_since(tree: WorkTree, base: str) -> list[str]:
    """Return the ids of the memories that HEAD adds or changes since it left ``base``.

    Raises :class:`UsageError` where ``base`` is no commit here.
    """
    name = re.sub(r"[^\x21-\x7e]", "?", base)
    try:
        start = read_git(tree, "merge-base", "--end-of-options", base, "HEAD").decode().strip()
        raw = read_git(
            tree, "diff-tree", "-r", "--no-renames", "--no-commit-id", "--name-only", "-z", "--diff-filter=AM",
            start, "HEAD", "--", "memories",
        )  # fmt: skip
    except MemfsError:
        raise UsageError(
            "there is no such commit to compare with", where=name, hint="name a branch, for instance main"
        ) from None
    names = [path.rsplit("/", 1)[-1] for path in raw.decode("utf-8", "replace").split("\0") if path.endswith(".md")]
    return [name[:-3] for name in names if _ID.fullmatch(name[:-3])]


def ids_to_renew(tree: WorkTree, view: TrustView, principal: str) -> list[str]:
    """Return the memories whose text of today ``principal`` approved with a key or for a time that
    has lapsed since, and does not hold in another way."""
    found = []
    for file in _all_files(tree, None):
        scope = file.memory.scope if file.memory else None
        mine = [
            one
            for one in newest_of(view.records(file.id) if file.id else ())
            if one.approves
            and one.is_receipt
            and one.record.statement.by == principal
            and one.item.digest == content_digest(file.raw)
        ]
        if mine and all(find_lapse(one, scope, view.today) for one in mine) and find_fault(file) is None:
            found.append(file.id)
    return found


def find_remarks(text: str) -> list[str]:
    """Return what a reader of ``text`` may not see, one sentence each, with the line."""
    remarks = []
    for hidden in find_hidden(text):
        line = text.count("\n", 0, hidden.offset) + 1
        remarks.append(f"line {line}: U+{hidden.codepoint:04X}, {hidden.why}")
    for match in re.finditer(r"<!--.*?(?:-->|\Z)", text, re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        remarks.append(f"line {line}: an HTML comment, which rendered Markdown does not show")
    for number, line_text in enumerate(text.splitlines(), 1):
        if len(line_text) > _WIDE:
            remarks.append(f"line {number}: {len(line_text)} columns wide; a web page hides the end of it")
    return remarks


# -- inside ------------------------------------------------------------------------------------------


def _require_keyring(view: TrustView) -> None:
    if view.keyring is not None:
        return
    trouble = view.trouble
    hint = "run `memfs pin` and compare what it shows with a colleague"
    if trouble is not None and trouble.reason is Reason.NO_APPROVAL:
        hint = "run `memfs keys create`"
    elif trouble is not None and trouble.reason is not Reason.NOT_PINNED:
        hint = "restore .memfs/ from a commit that your team trusts"
    raise TrustError(
        (trouble.detail if trouble else None) or "there is no keyring in force",
        reason=trouble.reason if trouble else Reason.KEYRING_BROKEN,
        hint=hint,
    )


def _plan_item(tree: WorkTree, view: TrustView, file: MemoryFile) -> PlanItem:
    digest = content_digest(file.raw)
    records = tuple(view.records(file.id)) if file.id else ()
    return PlanItem(
        id=file.id,
        digest=digest,
        records=records,
        file=file,
        verdict=view.verdict(file),
        previous=_find_previous(tree, records, file),
    )


def _withdrawal_of(tree: WorkTree, view: TrustView, memory_id: str) -> PlanItem | None:
    if not _ID.fullmatch(memory_id):
        return None
    records = tuple(view.records(memory_id))
    files = _all_files(tree, {memory_id})
    top = newest_of(records)
    if files:
        return PlanItem(
            id=memory_id,
            digest=content_digest(files[0].raw),
            records=records,
            file=files[0],
            verdict=view.verdict(files[0]),
        )
    if top:
        return PlanItem(id=memory_id, digest=top[0].item.digest, records=records)
    return None


def _is_withdrawn(item: PlanItem) -> bool:
    return any(not one.approves for one in newest_of(item.records))


def _require_approvable(view: TrustView, item: PlanItem) -> None:
    file = item.file
    assert file is not None
    fault = find_fault(file)
    if fault is not None:
        raise TrustError(
            f"this file cannot be approved: {fault}",
            reason=Reason.BAD_FILE,
            where=escape_hidden(file.path, single_line=True),
            hint="correct it (`memfs edit`), then approve it",
        )
    if view.keyring is not None and item.digest in view.keyring.denied:
        raise TrustError("the keyring denies this text", reason=Reason.DENIED, where=item.id)


def _lapse_of(key: Key, scope: str | None, today: date) -> tuple[Reason, str] | None:
    if key.is_retired:
        return Reason.KEY_RETIRED, "your key is retired: it may only withdraw"
    if (key.after is not None and today < key.after) or (key.before is not None and today >= key.before):
        return Reason.KEY_EXPIRED, "your key may not approve today"
    if scope is not None and not key.covers(scope):
        return Reason.NOT_ENOUGH_PEOPLE, f"your key may not approve for {scope}"
    return None


def stands_already(plan: Plan, item: PlanItem, key: Key) -> bool:
    """Return whether this person's approval of this text, for as long, is there already."""
    if plan.verb is Verb.WITHDRAW:
        return _is_withdrawn(item)
    return any(
        one.record.statement.until == plan.until for one in _own(item, key) if _grants(one, item, plan.view.today)
    )


def _next_counter(plan: Plan, item: PlanItem, key: Key) -> int:
    """Return the counter for a new record.

    One more than the highest that is visible, so that older records lose. An approval of the very
    text that stands at the top joins it there: the others' approvals keep counting, which is how
    several people come together (TRUST 6, ADR 4).
    """
    top = newest_of(item.records)
    joins = (
        plan.verb is Verb.APPROVE
        and bool(top)
        and all(one.approves and one.item.digest == item.digest for one in top)
        and not any(_grants(one, item, plan.view.today) for one in _own(item, key))
    )
    return top[0].item.seq if joins else _above(item)


def _own(item: PlanItem, key: Key) -> list[CheckedRecord]:
    return [
        one
        for one in newest_of(item.records)
        if one.approves and one.item.digest == item.digest and one.record.statement.by == key.principal
    ]


def _grants(one: CheckedRecord, item: PlanItem, today: date) -> bool:
    return one.is_receipt and find_lapse(one, item.scope, today) is None


def _above(item: PlanItem) -> int:
    top = newest_of(item.records)
    seq = top[0].item.seq + 1 if top else 1
    if seq > MAX_SEQ:
        raise TrustError(
            "the counter of this memory is used up",
            where=item.id,
            hint="give the memory another id, and remove the key that signed the last record",
        )
    return seq


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


def _verdicts(plan: Plan) -> dict[str, Verdict]:
    """Return the verdicts of what lies on the disk now: the proof of the approval, not its promise."""
    verdicts: dict[str, Verdict] = {}
    for item in plan.items:
        if item.file is not None:
            try:
                file = read_memory(item.file.path, read_file(plan.tree, item.file.path))
            except InvalidMemoryError:
                continue
            verdicts[item.id] = plan.view.verdict(file)
    return verdicts


def _all_files(tree: WorkTree, ids: Collection[str] | None) -> list[MemoryFile]:
    found = []
    for entry in scan_memories(tree).entries:
        name = entry.path.rsplit("/", 1)[-1]
        if ids is None or name[:-3] in ids:
            try:
                found.append(read_memory(entry.path, read_file(tree, entry.path)))
            except InvalidMemoryError:
                continue
    return found


def find_text(tree: WorkTree, path: str, digest: str) -> bytes | None:
    """Return the newest text of ``path`` in the history whose content digest is ``digest``, or None."""
    if tree.git_dir is None or head_commit(tree) is None:
        return None
    try:
        commits = read_commits(tree, "HEAD", [path], merges=True)
        blobs = dict.fromkeys(file.blob for commit in commits for file in commit.files if file.letter != "D")
        for _, raw in read_old_blobs(tree, list(blobs)[:_LOOK_BACK]):
            if content_digest(raw) == digest:
                return raw
    except MemfsError:
        return None
    return None


def find_last_approved(tree: WorkTree, view: TrustView, file: MemoryFile) -> bytes | None:
    """Return the text of ``file``'s id that was approved last, where git still has it and it is another one."""
    return _find_previous(tree, view.records(file.id) if file.id else (), file)


def _find_previous(tree: WorkTree, records: Iterable[CheckedRecord], file: MemoryFile) -> bytes | None:
    digest = content_digest(file.raw)
    others = [one for one in records if one.failure is None and one.approves and one.item.digest != digest]
    last = max(others, key=lambda one: one.item.seq, default=None)
    return find_text(tree, file.path, last.item.digest) if last is not None else None


def _deleted_receipts(tree: WorkTree, head: str | None) -> set[str]:
    if head is None:
        return set()
    return {
        file.path.rsplit("/", 1)[-1]
        for commit in read_commits(tree, head, [APPROVALS], merges=True)
        for file in commit.files
        if file.letter == "D"
    }
