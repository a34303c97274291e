"""What a commit is to change, what must hold of it before anything is written, and how it fails."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from types import EllipsisType

from memfs.disk.files import split_path
from memfs.disk.worktree import printable
from memfs.errors import SetupError, UsageError
from memfs.model.reader import content_digest
from memfs.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file of a commit. ``content`` None deletes it.

    ``before`` is the content digest (TRUST 3) that the file in the work tree must have now; None:
    it must not be there (or hold ``content`` already, uncommitted); ``...``: whatever it is.
    Under ``memories/`` CRLF is committed as LF, and a file that has CRLF on the disk keeps it there.
    """

    path: str
    content: bytes | None
    before: str | EllipsisType | None = ...


class ConflictError(SetupError):
    """Somebody else changed the file ``path`` meanwhile; nothing was written."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message, where=printable(path), hint="look at what it holds now, and make your change again")
        self.path = path


class UndoneError(SetupError):
    """The commit could not be made, and the work tree is as it was before."""


class UncommittedError(SetupError):
    """The files are written, but the commit could not be made."""

    def __init__(self, message: str, *, paths: Sequence[str], hint: str | None = None) -> None:
        super().__init__(
            f"{message}; written but not committed: {', '.join(printable(path) for path in paths)}", hint=hint
        )
        self.paths = tuple(paths)


def require_no_conflict(unmerged: Sequence[str]) -> None:
    if unmerged:
        raise UsageError(
            f"{printable(unmerged[0])} has an unresolved conflict, so nothing is committed",
            hint="resolve it and `git add` the file, or `git checkout --ours/--theirs` it; then try again",
        )


def check_changes(changes: Sequence[Change], message: str) -> None:
    if not changes:
        raise UsageError("there is nothing to commit")
    if not message.strip() or any(char == "\0" or 0xD800 <= ord(char) < 0xE000 for char in message):
        raise UsageError("a commit needs a message of ordinary text")
    for change in changes:
        if any(ord(char) < 0x20 or ord(char) == 0x7F for char in "".join(split_path(change.path))):
            raise UsageError("contains a control character", where=printable(change.path))
    paths = {change.path for change in changes}
    if len(paths) != len(changes):
        raise UsageError("the same file twice in one commit")
    for path in paths:
        if not paths.isdisjoint(path.rsplit("/", count)[0] for count in range(1, path.count("/") + 1)):
            raise UsageError("would be inside another file of the same commit", where=printable(path))


def require_before(change: Change, now: bytes | None) -> None:
    """Raise :class:`ConflictError` where ``now``, what is there, is not what ``change`` says must be."""
    if change.before is ...:
        return
    if change.before is None:
        if now is not None:
            raise ConflictError(change.path, "is there already")
    elif now is None:
        raise ConflictError(change.path, "is not there any more")
    elif content_digest(now) != change.before:
        raise ConflictError(change.path, "was changed meanwhile")


def explain_not_checked_out(path: str, *, missing: bool) -> UsageError:
    if missing:
        return UsageError(
            "is in the repository but not checked out here (sparse checkout, or skip-worktree)",
            where=printable(path),
            hint="get it first: git sparse-checkout add FOLDER, or git update-index --no-skip-worktree -- "
            + quoted(path),
        )
    return UsageError(
        "has local changes that git was told to ignore (assume-unchanged or skip-worktree)",
        where=printable(path),
        hint="run: git update-index --no-assume-unchanged --no-skip-worktree -- " + quoted(path),
    )


def blob_bytes(path: str, content: bytes) -> bytes:
    # What `memories/** text eol=lf` commits; receipts and keyrings are bytes (`.memfs/** -text`).
    return content.replace(b"\r\n", b"\n") if path.startswith("memories/") else content


def disk_bytes(path: str, content: bytes, now: bytes | None) -> bytes:
    plain = blob_bytes(path, content)
    had_crlf = now is not None and b"\r\n" in now and now.count(b"\r\n") == now.count(b"\n")
    if had_crlf and b"\r" not in plain and not path.startswith(".memfs/"):
        return plain.replace(b"\n", b"\r\n")
    return plain


def quoted(path: str) -> str:
    return printable(shlex.quote(path))
