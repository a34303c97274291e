"""Receipts that are missing: records that are known, and can be kept as files by anybody without a key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memfs.disk.settings import read_repository_settings
from memfs.disk.worktree import WorkTree
from memfs.git.commit import Change, commit_changes
from memfs.git.log import read_commits
from memfs.git.read import head_commit
from memfs.model.reader import content_digest
from memfs.trust.carriers import APPROVALS
from memfs.trust.followed import read_history
from memfs.trust.judge import newest_of
from memfs.trust.record import Record, find_records, format_record
from memfs.trust.texts import all_files
from memfs.trust.view import TrustView, require_keyring


def receipt_change(record: Record) -> Change:
    """Return the change that writes the receipt of ``record``."""
    return Change(path=f"{APPROVALS}/{record.receipt_name}", content=format_record(record).encode("ascii"))


def format_message(subject: str, records: Iterable[Record]) -> str:
    """Return a commit message with ``records`` as its trailers."""
    return f"{subject}\n\n{''.join(map(format_record, records))}"


def find_missing_receipts(
    tree: WorkTree, view: TrustView, *, ids: Collection[str] = (), text: bytes = b""
) -> tuple[Record, ...]:
    """Return the verified records that deserve a receipt and have none (TRUST 6, `--sync`).

    They come from the history of HEAD, from what this machine remembers, and from ``text``, a
    pasted comment. Only records at the top of their id count: approvals that fit the file of today,
    and withdrawals. A receipt that was once in the tree and was deleted stays deleted, unless its id
    is named in ``ids`` or ``text``: taking an approval back with ``git revert`` must last.
    """
    require_keyring(view)
    pasted = find_records(text)
    head = head_commit(tree)
    in_history = read_history(tree, [head]) if head and tree.git_dir is not None else []
    by_ids: dict[str, dict[str, Record]] = {}
    for record in (*in_history, *pasted):
        for item in record.statement.items:
            by_ids.setdefault(item.id, {})[record.line] = record
    deleted = _deleted_receipts(tree, head)
    named = set(ids) | {item.id for record in pasted for item in record.statement.items}
    files = {file.id: file for file in all_files(tree, set(by_ids))}
    found: dict[str, Record] = {}
    for memory_id, records in by_ids.items():
        if ids and memory_id not in ids:
            continue
        file = files.get(memory_id)
        for one in newest_of(view.records_with(memory_id, records.values())):
            fits = not one.approves or (file is not None and content_digest(file.raw) == one.item.digest)
            gone = one.record.receipt_name in deleted and memory_id not in named
            if fits and not gone and not one.is_receipt:
                found[one.record.line] = one.record
    return tuple(found.values())


def write_receipts(tree: WorkTree, records: Sequence[Record]) -> str:
    """Commit the receipts of ``records``, which anybody may do without a key, and return the commit."""
    count = len(records)
    subject = (
        f"Keep {'an approval' if count == 1 else f'{count} approvals'} as {'a receipt' if count == 1 else 'receipts'}"
    )
    message = read_repository_settings(tree).message(subject)
    return commit_changes(tree, [receipt_change(record) for record in records], message)


def _deleted_receipts(tree: WorkTree, head: str | None) -> set[str]:
    if head is None:
        return set()
    return {
        file.path.rsplit("/", 1)[-1]
        for commit in read_commits(tree, head, [APPROVALS], merges=True)
        for file in commit.files
        if file.letter == "D"
    }
