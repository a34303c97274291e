"""What a change does to approvals, by the reason of the verdict: each case in its own true words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memfs.check.change import Between, MemoryChange, say
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.words import names_of
from memfs.model.codepoints import plain
from memfs.model.memory import MemoryFile
from memfs.trust.carriers import APPROVALS
from memfs.trust.judge import Reason
from memfs.trust.record import Record, Verb, find_records, read_receipt
from memfs.trust.view import TrustView

_REFUSED = {
    Reason.KEY_UNKNOWN: "Its approval is by a key that the base's keyring does not list, so it does not count.",
    Reason.WRONG_REPOSITORY: "Its approval was made for another repository, so it does not count.",
    Reason.WRONG_NAMESPACE: "Its signature was made for another purpose, so it does not count.",
    Reason.BAD_SIGNATURE: "The signature of its approval is not valid, so it does not count.",
    Reason.NO_TOUCH: "Its approval was signed without a touch of the security key, so it does not count.",
}
_LAPSED = {
    Reason.KEY_EXPIRED: "Its approval has run out.",
    Reason.KEY_RETIRED: "Its approval is by a key that is retired.",
}
_WAITING = (None, Reason.NO_APPROVAL, Reason.NOT_ENOUGH_PEOPLE)


def check_approvals(between: Between) -> Iterator[Result]:
    """Yield what became of the approval of each memory that the change touches."""
    view = between.view
    for change in between.memories:
        if change.what == "removed":
            yield _removed(change)
        elif view is not None and change.after is not None and not change.is_trusted:
            yield _untrusted(between, view, change)
    yield from _check_receipts(between)


def need_of(change: MemoryChange, view: TrustView) -> str:
    """Return in a sentence how many approvals are missing, and who could give them; "" where none is."""
    missing = view.need(change.scope) - len(change.has)
    if missing < 1:
        return ""
    may = [person for person in view.approvers(change.scope) if person not in change.has]
    many = "one approval" if missing == 1 else f"{missing} approvals"
    if len(may) < missing:
        return f"It needs {many}; the keyring lists too few people who could give it."
    return f"It needs {many} from {names_of(may, joiner='or')}."


def _removed(change: MemoryChange) -> Result:
    if not change.had:
        return say(change, "memory-removed", "It is removed.")
    if change.after is not None and change.after.reason is Reason.WITHDRAWN:
        return say(
            change, "memory-removed", f"It is removed, and {names_of(change.after.people)} withdrew its approval."
        )
    return say(change, "memory-removed", f"It is removed; {names_of(change.had)} had approved it.")


def _untrusted(between: Between, view: TrustView, change: MemoryChange) -> Result:
    """Return the one result that says why the text is not approved."""
    assert change.after is not None
    reason = change.after.reason
    need = need_of(change, view)
    if reason is Reason.WITHDRAWN:
        return _withdrawn(between, change, need)
    if reason is Reason.DENIED:
        return say(change, "text-denied", "The keyring forbids this text for good.")
    if reason is Reason.OLDER_TEXT:
        return say(change, "older-text", _older(view, change), fix=need)
    if reason in _REFUSED:
        return say(change, "approval-refused", _REFUSED[reason], fix=need)
    if reason is Reason.BAD_FILE:
        why = plain(change.after.detail or "its form is not right")
        level = Level.ERROR if change.is_lost else Level.WARNING
        return say(change, "approval-lost", f"It cannot be approved as it is: {why}.", level=level)
    if reason is Reason.CHANGED:
        level = Level.ERROR if change.is_lost else Level.WARNING
        return say(change, "approval-lost", _changed(view, change), fix=need, level=level)
    if change.is_lost:
        return say(change, "receipt-removed", _receipts_gone(between, change), fix=_put_back(between, change))
    if reason in _LAPSED:
        return say(change, "approval-lapsed", _LAPSED[reason], fix=need)
    people = f"Approved by {names_of(change.has)}. " if change.has else ""
    return say(change, "needs-approval", f"{people}{need}" or "Nobody has approved this text.")


def _withdrawn(between: Between, change: MemoryChange, need: str) -> Result:
    assert change.after is not None
    who = names_of(change.after.people)
    is_here = any(
        record.statement.verb is Verb.WITHDRAW and record.statement.item(change.id) for record in between.new_records
    )
    if is_here or change.what == "approvals":
        successor = between.find_approved_successor(change.id)
        text = f"{who} withdrew the approval of this memory"
        message = f"{text}: {successor} replaces it." if successor else f"{text}."
        ids = (change.id, *filter(None, [successor]))
        return make_result("withdrawn", message, path=change.path, ids=ids)
    return say(change, "withdrawn", f"{who} withdrew the approval of this memory.", fix=need, level=Level.WARNING)


def _older(view: TrustView, change: MemoryChange) -> str:
    newest = next((one.checked for one in view.approvals(change.id) if one.checked.approves), None)
    if newest is None:
        return "It brings back an older text; a newer one was approved since."
    return f"It brings back an older text; {plain(newest.person)} approved a newer one on {newest.on.isoformat()}."


def _changed(view: TrustView, change: MemoryChange) -> str:
    dates = {one.checked.person: one.checked.on for one in view.approvals(change.id) if one.checked.approves}
    people = change.had or tuple(dates)
    who = names_of(f"{person} ({dates[person].isoformat()})" if person in dates else person for person in people)
    fields = _changed_fields(change.old, change.file)
    if fields:
        return f"Its approval is lost: {who} approved this memory with another {names_of(fields)}."
    if not people:
        return "The text is not the one that was approved."
    return f"Its approval is lost: {who} approved another text."


def _changed_fields(old: MemoryFile | None, new: MemoryFile) -> tuple[str, ...]:
    """Return the keys whose values differ, where the text below the front matter is the same."""
    if old is None or old.document is None or new.document is None or old.document.body != new.document.body:
        return ()
    before, after = old.document.front, new.document.front
    return tuple(sorted(key for key in {*before, *after} if before.get(key) != after.get(key)))


# -- receipts ----------------------------------------------------------------------------------------


def _receipts_gone(between: Between, change: MemoryChange) -> str:
    """Return where the receipts went that the approval rests on."""
    places = _find_moved(between)
    gone = [path for path in between.receipts_changed if _speaks_of(between.receipts_before.get(path), change.id)]
    moved = [places[path] for path in gone if path in places]
    who = names_of(change.had)
    if moved:
        folder = plain(moved[0].rpartition("/")[0])
        return f"Its approval by {who} is lost: the receipt is moved to {folder}/, where it does not count."
    return f"Its approval by {who} is lost: the receipt is deleted."


def _put_back(between: Between, change: MemoryChange) -> str:
    paths = [
        path.removeprefix(f"{APPROVALS}/")
        for path in between.receipts_changed
        if _speaks_of(between.receipts_before.get(path), change.id) and path not in between.receipts_after
    ]
    names = names_of(paths)
    return f"Put back in {APPROVALS}/: {names}."


def _speaks_of(raw: bytes | None, memory_id: str) -> bool:
    return raw is not None and any(record.statement.item(memory_id) for record in find_records(raw))


def _find_moved(between: Between) -> Mapping[str, str]:
    """Return receipt → where the same content lies after the change."""
    gone = {
        between.base.entries[path].blob: path for path in between.receipts_changed if path not in between.receipts_after
    }
    return {gone[entry.blob]: path for path, entry in between.listing.entries.items() if entry.blob in gone}


def _check_receipts(between: Between) -> Iterator[Result]:
    """Yield records of withdrawals that the change takes out of the tree: an old text could come back."""
    for path in between.receipts_changed:
        raw = between.receipts_before.get(path)
        record = read_receipt(path.rpartition("/")[2], raw) if raw is not None else None
        if record is not None and record.statement.verb is Verb.WITHDRAW:
            yield make_result("withdrawal-removed", _removed_withdrawal(record), path=path, ids=_ids_of(record))


def _removed_withdrawal(record: Record) -> str:
    ids = names_of(_ids_of(record))
    return f"It removes the record that {record.statement.by} withdrew the approval of {ids}: an old text could return."


def _ids_of(record: Record) -> tuple[str, ...]:
    return tuple(item.id for item in record.statement.items)
