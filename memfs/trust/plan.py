"""What would be signed: a plan that a person looks at before one signature is made for all of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date

from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.errors import NotFoundError, TrustError, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile
from memfs.model.reader import content_digest
from memfs.model.scope import is_seen_with
from memfs.model.slugs import is_id
from memfs.model.values import dataclass, replace
from memfs.trust.judge import CheckedRecord, Reason, Verdict, find_fault, find_key_lapse, find_lapse, newest_of
from memfs.trust.keyring import Key, Keyring
from memfs.trust.opening import open_view
from memfs.trust.record import MAX_SEQ, Verb
from memfs.trust.signing import Signer
from memfs.trust.texts import all_files, find_files, find_previous
from memfs.trust.view import TrustView, require_keyring


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """One memory of a plan: what is there, what was approved before, and every record about it."""

    id: str
    digest: str
    records: tuple[CheckedRecord, ...]
    file: MemoryFile | None = None  # None: withdrawing what is deleted already
    verdict: Verdict | None = None  # as it is now
    previous: bytes | None = None  # the last approved text, where git still has it
    twins: tuple[str, ...] = ()  # other files of this id, by path

    @property
    def scope(self) -> str | None:
        return self.file.memory.scope if self.file and self.file.memory else None

    @property
    def text(self) -> str:
        """Return the text as bytes say it; escape it before it is shown."""
        return self.file.raw.decode("utf-8", "replace") if self.file else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """``old`` is superseded by the memory ``by``. Its approval is withdrawn once ``need`` people have approved that
    one, so that there is never no rule at all; ``is_seen`` says whether all who see ``old`` see it (TRUST 6)."""

    old: PlanItem
    by: PlanItem
    need: int
    is_seen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be signed. ``successions`` are what the approved memories supersede."""

    tree: WorkTree
    places: Places
    view: TrustView
    verb: Verb
    items: tuple[PlanItem, ...]
    successions: tuple[Succession, ...] = ()
    until: date | None = None
    notices: tuple[str, ...] = ()
    is_again: bool = False  # sign although it is so already: by another key


def plan_approval(
    tree: WorkTree,
    places: Places,
    ids: Sequence[str],
    *,
    sees: Callable[[str], bool],
    today: date,
    until: date | None = None,
    view: TrustView | None = None,
) -> Plan:
    """Return the plan for approving ``ids``: each file read once, and those bytes are what is signed.

    A file at a path that the person does not see (``sees``) is not there for them.
    Raises :class:`TrustError` where the keyring does not count or a text cannot be approved,
    :class:`NotFoundError` for an id without a file, :class:`UsageError` for a date in the past.
    """
    view = view or open_view(tree, places, today=today)
    require_keyring(view)
    if until is not None and until < view.today:
        raise UsageError("the approval would have run out already", where="--until")
    files = find_files(tree, ids, sees)
    items = [_plan_item(tree, view, file) for file in files]
    for item in items:
        _require_approvable(view, item)
    superseded = {
        old: file.id for file in files if file.memory is not None for old in file.memory.supersedes if old != file.id
    }
    notices = [f"{old} is not approved: {superseded[old]} supersedes it" for old in ids if old in superseded]
    items = [item for item in items if item.id not in superseded]
    return Plan(
        tree=tree,
        places=places,
        view=view,
        verb=Verb.APPROVE,
        items=tuple(items),
        successions=tuple(_successions(tree, view, items, sees)),
        until=until,
        notices=tuple(notices),
    )


def _successions(
    tree: WorkTree, view: TrustView, items: Sequence[PlanItem], sees: Callable[[str], bool]
) -> list[Succession]:
    found = []
    for item in items:
        memory = item.file.memory if item.file else None
        for old_id in memory.supersedes if memory is not None else ():
            old = _withdrawal_of(tree, view, old_id, sees) if old_id != item.id else None
            if old is not None and not is_withdrawn(old):
                need = max(view.need(item.scope or ""), view.need(old.scope or item.scope or ""))
                is_seen = old.scope is None or is_seen_with(item.scope, old.scope)
                found.append(Succession(old=old, by=item, need=need, is_seen=is_seen))
    return found


def plan_withdrawal(
    tree: WorkTree,
    places: Places,
    ids: Sequence[str],
    *,
    sees: Callable[[str], bool],
    today: date,
    view: TrustView | None = None,
) -> Plan:
    """Return the plan for withdrawing the approval of ``ids`` that the person sees; their files may be deleted already.

    Raises as :func:`plan_approval`, and :class:`NotFoundError` for an id that nothing is known of.
    """
    view = view or open_view(tree, places, today=today)
    require_keyring(view)
    items = []
    for memory_id in dict.fromkeys(ids):
        item = _withdrawal_of(tree, view, memory_id, sees)
        if item is None:
            raise NotFoundError(
                "no memory of that id is here, and none was approved",
                where=escape_hidden(memory_id, single_line=True),
            )
        items.append(item)
    return Plan(tree=tree, places=places, view=view, verb=Verb.WITHDRAW, items=tuple(items))


def plan_kept_withdrawals(tree: WorkTree, places: Places, after: Keyring, *, today: date) -> Plan:
    """Return the plan for withdrawing again what nobody would have withdrawn any more under the keyring ``after``."""
    view = open_view(tree, places, today=today)
    items = []
    for memory_id in view.ids():
        item = _withdrawal_of(tree, view, memory_id, sees=None)
        if item is not None and is_withdrawn(item):
            kept = [one for one in item.records if one.key is None or after.find_key(one.key.public.blob) is not None]
            top = newest_of(kept, item.scope)
            if not any(not one.approves for one in top):
                items.append(item)
    return Plan(tree=tree, places=places, view=view, verb=Verb.WITHDRAW, items=tuple(items), is_again=True)


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
    for item in plan.items:
        if plan.verb is Verb.APPROVE:
            lapse = find_key_lapse(key, item.scope, plan.view.today)
            if lapse is not None:
                raise TrustError(lapse[1], reason=lapse[0], where=item.id, hint="somebody else must approve this one")
        elif item.scope is not None and not key.covers(item.scope):
            raise TrustError(
                f"{key.principal} may not withdraw for {item.scope}",
                reason=Reason.NOT_ENOUGH_PEOPLE,
                where=item.id,
                hint="somebody else must withdraw this one",
            )
    return key


def narrow(plan: Plan, items: Collection[PlanItem]) -> Plan:
    """Return the plan for those ``items`` of it alone, and what they supersede."""
    ids = {item.id for item in items}
    left = tuple(item for item in plan.items if item.id in ids)
    return replace(plan, items=left, successions=tuple(one for one in plan.successions if one.by.id in ids))


def withdrawals_due(plan: Plan, key: Key) -> tuple[PlanItem, ...]:
    """Return what the approval of ``plan`` by the person of ``key`` withdraws: the memories whose successor has
    enough people with it, everybody who saw the old one sees the new one, and the key may withdraw there."""
    due: dict[str, PlanItem] = {}
    for one in plan.successions:
        covers = one.old.scope is None or key.covers(one.old.scope)
        if one.is_seen and covers and len({*approvers_of(plan, one.by), key.principal}) >= one.need:
            due.setdefault(one.old.id, one.old)
    return tuple(due.values())


def approvers_of(plan: Plan, item: PlanItem) -> tuple[str, ...]:
    """Return whose approval counts for exactly this text of ``item`` now."""
    top = newest_of(item.records, item.scope)
    if any(not one.approves or one.item.digest != item.digest for one in top):
        return ()
    return tuple(sorted({one.person for one in top if _grants(one, item, plan.view.today)}))


def _plan_item(tree: WorkTree, view: TrustView, file: MemoryFile) -> PlanItem:
    digest = content_digest(file.raw)
    records = tuple(view.records(file.id)) if file.id else ()
    return PlanItem(
        id=file.id,
        digest=digest,
        records=records,
        file=file,
        verdict=view.verdict(file),
        previous=find_previous(tree, records, file),
    )


def _withdrawal_of(
    tree: WorkTree, view: TrustView, memory_id: str, sees: Callable[[str], bool] | None
) -> PlanItem | None:
    """Return what is known of ``memory_id``; None where that is nothing, or nothing that the person sees."""
    if not is_id(memory_id):
        return None
    records = tuple(view.records(memory_id))
    files = all_files(tree, {memory_id})
    seen = [file for file in files if sees is None or sees(file.path)]
    if files and not seen:
        return None
    judged = [(file, view.verdict(file)) for file in seen]
    judged.sort(key=lambda pair: (not pair[1].trusted, pair[0].path))  # the approved file of two, not its twin
    if judged:
        file, verdict = judged[0]
        twins = tuple(other.path for other, _ in judged[1:])
        digest = content_digest(file.raw)
        return PlanItem(id=memory_id, digest=digest, records=records, file=file, verdict=verdict, twins=twins)
    top = newest_of(records)
    return PlanItem(id=memory_id, digest=top[0].item.digest, records=records) if top else None


def is_withdrawn(item: PlanItem) -> bool:
    """Return whether the approval of ``item`` is withdrawn already."""
    return any(not one.approves for one in newest_of(item.records, item.scope))


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


def stands_already(plan: Plan, item: PlanItem, key: Key) -> bool:
    """Return whether this person's approval of this text, for as long, is there already."""
    if plan.verb is Verb.WITHDRAW:
        return is_withdrawn(item) and not plan.is_again
    return any(
        one.record.statement.until == plan.until for one in _own(item, key) if _grants(one, item, plan.view.today)
    )


def next_counter(plan: Plan, item: PlanItem, key: Key) -> int:
    """Return the counter for a new record.

    One more than the highest that is visible, so that older records lose. An approval of the very
    text that is at the top joins it there: the others' approvals keep counting, which is how
    several people come together (TRUST 6, ADR 4).
    """
    top = newest_of(item.records, item.scope)
    joins = (
        plan.verb is Verb.APPROVE
        and bool(top)
        and all(one.approves and one.item.digest == item.digest for one in top)
        and not any(_grants(one, item, plan.view.today) for one in _own(item, key))
    )
    return top[0].item.seq if joins else counter_above(item)


def _own(item: PlanItem, key: Key) -> list[CheckedRecord]:
    return [
        one
        for one in newest_of(item.records, item.scope)
        if one.approves and one.item.digest == item.digest and one.person == key.principal
    ]


def _grants(one: CheckedRecord, item: PlanItem, today: date) -> bool:
    return one.is_receipt and find_lapse(one, item.scope, today) is None


def counter_above(item: PlanItem) -> int:
    """Return the counter above every record that counts here. Raises :class:`TrustError` where there is none."""
    top = newest_of(item.records, item.scope)
    seq = top[0].item.seq + 1 if top else 1
    if seq > MAX_SEQ:
        raise TrustError(
            "the counter of this memory is used up",
            where=item.id,
            hint="give the memory another id, and remove the key that signed the last record",
        )
    return seq
