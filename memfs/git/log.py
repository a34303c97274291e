"""What history says: the one place that asks ``git log`` and reads its answer (TRUST 7).

Whoever commits chooses names, subjects and messages, so a field is never recognised by what is in it. Fields
end with NUL, which neither a path nor a subject contains, and come in a fixed number and order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError
from memfs.git.read import READ_TIMEOUT, read_git
from memfs.model.values import dataclass

MAX_KNOWN = 64
"""Most tips whose history is left out of one question."""

_ALWAYS = ("--no-show-signature", "--no-mailmap", "--no-notes", "--no-color", "--no-decorate", "--encoding=UTF-8")
_FIELDS = "%x01%H%x00%aI%x00%an%x00%ae%x00%s"
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_START = re.compile(rb"\n?\x01([0-9a-f]{40}(?:[0-9a-f]{24})?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """One file of a commit: the letter that git gives the change (A, M, D, T), and its content after it."""

    letter: str
    path: str
    blob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit and the files that it touched, among those that were asked for."""

    name: str
    on: str  # the author's time in ISO form with its zone
    author: str
    address: str
    subject: str
    files: tuple[Touched, ...]


def read_commits(
    tree: WorkTree,
    tip: str,
    paths: Sequence[str],
    *,
    since: str | None = None,
    merges: bool = False,
    beside: Sequence[str] = (),
) -> list[Commit]:
    """Return the commits of ``tip`` (and of the tips ``beside`` it) that touched ``paths``, newest first;
    ``since`` and its history are left out.

    With ``merges`` a merge is compared with each of its parents and comes once for each, and a side of it that
    was passed over is read too.
    """
    switches = [
        "--no-renames",
        "--raw",
        "--no-abbrev",
        "-z",
        f"--format={_FIELDS}",
        *(["-m", "--full-history"] if merges else []),
    ]
    return list(_parse(_ask(tree, *switches, tip if since is None else f"{since}..{tip}", *beside, "--", *paths)))


def first_commits(
    tree: WorkTree, tip: str, paths: Sequence[str], *, beside: Sequence[str] = ()
) -> dict[tuple[str, str], str]:
    """Return for each (path, blob) in the history of ``tip`` (and of the tips ``beside`` it) the oldest commit
    that brought it there.

    The oldest counts: neither a change of mode nor taking a text out and putting it back is a new text.
    """
    return {
        (file.path, file.blob): commit.name
        for commit in read_commits(tree, tip, paths, merges=True, beside=beside)
        for file in commit.files
    }


def read_messages(
    tree: WorkTree,
    tips: Sequence[str],
    *,
    since: str | None = None,
    known: Sequence[str] = (),
    word: str | None = None,
    timeout: float = READ_TIMEOUT,
) -> list[tuple[str, bytes]]:
    """Return (commit, message) for the history of ``tips``, newest first.

    ``since`` is one commit whose history is left out; of ``known`` those that are not here are passed over.
    With ``word`` only messages that contain it are returned. A message that contains a NUL comes in parts.
    """
    left_out = [f"^{tip}" for tip in known if _OBJECT_ID.fullmatch(tip)][:MAX_KNOWN]
    chosen = ["--fixed-strings", f"--grep={word}"] if word else []
    revisions = [*tips, *([f"^{since}"] if since else []), *left_out]
    raw = _ask(
        tree, "--no-patch", "--ignore-missing", *chosen, "--format=%x01%H%x00%B%x00", *revisions, timeout=timeout
    )
    found = []
    commit = ""
    for part in raw.split(b"\0"):
        start = _START.fullmatch(part)
        if start is not None:
            commit = start[1].decode()
        elif part.strip(b"\n"):
            found.append((commit, part))
    return found


def find_addresses(tree: WorkTree, tip: str) -> frozenset[str]:
    """Return the addresses of everybody who wrote or made a commit in the history of ``tip``."""
    raw = _ask(tree, "--no-patch", "--format=%ae%x00%ce%x00", tip)
    return frozenset(part.strip("\n") for part in raw.decode("utf-8", "replace").split("\0")) - {""}


def find_boundary(tree: WorkTree) -> frozenset[str]:
    """Return the commits at which the history of a shallow clone was cut off."""
    try:
        with open(os.path.join(tree.common_dir or "", "shallow"), encoding="ascii") as file:
            return frozenset(file.read().split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def committed_at(tree: WorkTree, commit: str) -> datetime:
    """Return when ``commit`` was made, by its committer's clock."""
    return datetime.fromisoformat(_ask(tree, "--no-walk", "--format=%cI", commit, "--").decode("ascii").strip())


def _ask(tree: WorkTree, *arguments: str, timeout: float = READ_TIMEOUT) -> bytes:
    return read_git(tree, "log", *_ALWAYS, *arguments, timeout=timeout)


def _parse(raw: bytes) -> Iterator[Commit]:
    fields = iter(raw.split(b"\0"))
    field = next(fields, None)
    while field:
        start = _START.fullmatch(field)
        if start is None:
            raise SetupError("git log answered in a form that memfs does not know")
        on, author, address, subject = (next(fields, b"").decode("utf-8", "replace") for _ in range(4))
        files = []
        field = next(fields, None)
        while field and (facts := field.lstrip(b"\n")).startswith(b":"):
            words = facts.decode("ascii", "replace").split(" ")
            files.append(Touched(letter=words[4][:1], path=os.fsdecode(next(fields, b"")), blob=words[3]))
            field = next(fields, None)
        yield Commit(name=start[1].decode(), on=on, author=author, address=address, subject=subject, files=tuple(files))
