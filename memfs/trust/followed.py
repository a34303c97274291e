"""The branch that is followed: only what is seen in its history takes trust away later (TRUST 8).

It is the remote's default branch, or what the user names (`memfs pin --follow`). What another branch brings
counts while one is there, and is forgotten afterwards: whoever looks at a pull request that is never merged
loses nothing by it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence

from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.git.branches import find_main_ref
from memfs.git.log import find_boundary, read_messages
from memfs.git.read import read_git, ref_commit
from memfs.git.snapshot import GitFiles, parse_tree
from memfs.model.values import dataclass
from memfs.trust.carriers import APPROVALS, FilesCarrier, read_keyrings
from memfs.trust.judge import check_records
from memfs.trust.keyring import (
    FOLDER,
    Chain,
    KeyringError,
    SignedKeyring,
    Verify,
    check_chain,
)
from memfs.trust.record import MAX_RECORD_BYTES, Record, find_records, read_receipt
from memfs.trust.remembered import Remembered, by_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The branch that is followed, as this clone knows it now."""

    ref: str
    commit: str

    @property
    def name(self) -> str:
        return self.ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")


def find_followed(tree: WorkTree, remembered: Remembered) -> Followed | None:
    """Return the branch that is followed here; None where there is none yet, or it is not clear which.

    A branch that the user named and that is not here does not make memfs follow another one.
    """
    ref = remembered.followed() or find_main_ref(tree)
    commit = ref_commit(tree, ref) if ref is not None else None
    return Followed(ref=ref, commit=commit) if ref is not None and commit is not None else None


def shallow_mark(tree: WorkTree) -> str | None:
    """Return a mark of where the history of this clone is cut off, None where it is whole."""
    boundary = find_boundary(tree)
    return hashlib.sha256("".join(sorted(boundary)).encode()).hexdigest()[:8] if boundary else None


def newest_keyring_at(tree: WorkTree, commit: str, verify: Verify) -> tuple[str, SignedKeyring] | None:
    """Return repository id and newest keyring of a commit's files; None where they contain no sound keyring."""
    try:
        chain = check_chain(FilesCarrier(read_keyrings(_files_at(tree, commit, FOLDER)), {}).keyrings(), verify)
    except KeyringError:
        return None
    return chain.repository_id, chain.newest


def read_history(
    tree: WorkTree, commits: Sequence[str], *, known: Sequence[str] = (), timeout: float = 30.0
) -> list[Record]:
    """Return the records in the commit messages of ``commits`` and of their history without that of the ``known``
    tips, each once, newest first. What is found can only take trust away: granting needs no git (TRUST 7).

    Raises :class:`SetupError` when git is missing, refuses, or takes longer than ``timeout`` seconds.
    """
    messages = read_messages(tree, commits, known=known, timeout=timeout)
    return list({record.line: record for _, text in messages for record in find_records(text)}.values())


def remember_history(
    tree: WorkTree, followed: Followed, chain: Chain, remembered: Remembered, verify: Verify, *, timeout: float
) -> None:
    """Remember what the followed branch has got that was not read before, checked against ``chain``'s keyring.

    Raises :class:`MemfsError` where git cannot read it, or takes longer than ``timeout`` seconds.
    """
    reading = reading_of(tree, chain)
    known = remembered.tips(reading)
    if followed.commit in known:
        return
    records = read_history(tree, [followed.commit], known=known, timeout=timeout)
    # A squash merge may have dropped the trailers: then the receipts in the tree are all that tells.
    records += receipts_at(tree, followed.commit, since=known[0] if known else None)
    for memory_id, named in by_id({record.line: record for record in records}.values()).items():
        checked = check_records(
            ((record, False) for record in named),
            memory_id,
            keyring=chain.keyring,
            repository_id=chain.repository_id,
            verify=verify,
        )
        valid = [one.record for one in checked if one.failure is None]
        failed = [(one.failure, one.record) for one in checked if one.failure is not None]
        remembered.add({memory_id: valid}, {memory_id: failed})
    remembered.note_tip(reading, followed.commit)


def read_beside(
    tree: WorkTree, commits: Sequence[str], chain: Chain, remembered: Remembered, *, timeout: float
) -> list[Record]:
    """Return the records in the history of ``commits`` that the followed branch does not have, verified or not.

    Raises :class:`MemfsError` as :func:`remember_history`.
    """
    tips = remembered.tips(reading_of(tree, chain))
    found: list[Record] = []
    for commit in commits:
        if commit in tips:
            continue
        records = remembered.beside(commit)
        if records is None:
            records = read_history(tree, [commit], known=tips, timeout=timeout)
            remembered.note_beside(commit, records)
        found += records
    return found


def receipts_at(tree: WorkTree, commit: str, *, since: str | None = None) -> list[Record]:
    """Return the receipts in a commit's files, of those that ``since`` does not have where that is still here."""
    files = _files_at(tree, commit, APPROVALS)
    names = files.folder(APPROVALS)
    if since is not None:
        names = _added(tree, since, commit, names)
    wanted = [path for name in names if files.entries[path := f"{APPROVALS}/{name}"].size <= 2 * MAX_RECORD_BYTES]
    found = (
        read_receipt(path.rsplit("/", 1)[-1], raw) for path, raw in files.read_many(wanted) if isinstance(raw, bytes)
    )
    return [record for record in found if record is not None]


def reading_of(tree: WorkTree, chain: Chain) -> str:
    """Return what :meth:`Remembered.tips` keeps apart: the keyring that counts, and where the history ends."""
    return f"{chain.newest.digest}:{shallow_mark(tree) or 'whole'}"


def _files_at(tree: WorkTree, commit: str, folder: str) -> GitFiles:
    """Return the files that lie directly in ``folder`` of a commit."""
    raw = read_git(tree, "ls-tree", "-z", "-l", "--full-tree", commit, "--", f"{folder}/")
    return GitFiles(tree, commit, entries=parse_tree(raw))


def _added(tree: WorkTree, since: str, commit: str, names: Iterable[str]) -> list[str]:
    switches = ("-r", "-z", "--no-renames", "--no-commit-id", "--name-only", "--diff-filter=AMT")
    try:
        raw = read_git(tree, "diff-tree", *switches, since, commit, "--", APPROVALS)
    except MemfsError:  # `since` is gone: a force-push and a clean-up
        return list(names)
    added = {os.fsdecode(path).rsplit("/", 1)[-1] for path in raw.split(b"\0")}
    return [name for name in names if name in added]
