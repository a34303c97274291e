"""Which repository is meant: found by reading files, never by starting git (DESIGN 7)."""

from __future__ import annotations

import os
from pathlib import Path

from memfs.disk.gitfiles import is_true, parse_config, parse_git_file, read_small
from memfs.errors import UsageError
from memfs.model.codepoints import one_line
from memfs.model.values import dataclass


class NoWorkTreeError(UsageError):
    """No repository is here at all, as against one that is broken or has no work tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """One checked-out tree. ``git_dir`` is this work tree's own git directory, ``common_dir`` the
    one it shares with its siblings (the same where there are none); both are None for files that
    came without git (a ZIP, ``git archive``), which can be read but not written."""

    root: Path
    git_dir: Path | None
    common_dir: Path | None

    @property
    def memories(self) -> Path:
        return self.root / "memories"

    @property
    def memfs(self) -> Path:
        return self.root / ".memfs"


def find_work_tree(start: Path) -> WorkTree:
    """Return the work tree that contains the folder ``start``.

    The nearest ``.git`` decides, as for git; one that leads nowhere is an error and not the
    parent's business. Without any, a folder that holds ``.memfs/`` (or ``memories/``, when
    ``start`` is that folder or below it) is a work tree without git.
    Raises :class:`UsageError` where there is no work tree.
    """
    try:
        here = os.path.realpath(start, strict=True)
    except (OSError, ValueError) as error:
        raise UsageError("there is no such folder", where=printable(start)) from error
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    plain: str | None = None
    folder = here
    while True:
        git_path = os.path.join(folder, ".git")
        if os.path.lexists(git_path):
            return _open_git(folder, git_path)
        if _is_git_dir(folder):
            raise _no_work_tree(folder, "is inside a git directory, which has no work tree")
        if plain is None and _is_plain_tree(folder, here):
            plain = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    if plain is not None:
        return WorkTree(root=Path(plain), git_dir=None, common_dir=None)
    raise NoWorkTreeError(
        "this is not a git repository, nor a folder inside one",
        where=printable(here),
        hint="go to a memory repository, or make one here with: memfs init",
    )


def identify(tree: WorkTree) -> str:
    """Return 32 hex digits that stand for the work tree's real path on this machine."""
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(tree.root))).hexdigest()[:32]


def folder_below(tree: WorkTree, start: Path) -> str:
    """Return the folder ``start`` relative to the root of ``tree``; "" for the root and for what lies outside."""
    try:
        relative = os.path.relpath(os.path.realpath(start), os.path.realpath(tree.root))
    except (OSError, ValueError):
        return ""
    return "" if relative == "." or relative.startswith("..") else relative


def read_git_config(tree: WorkTree) -> dict[str, str | None]:
    """Return the variables of the repository's own config file, without its includes."""
    if tree.common_dir is None:
        return {}
    return parse_config(read_small(os.path.join(tree.common_dir, "config")) or b"")


def operation_under_way(tree: WorkTree) -> str | None:
    """Return what git is in the middle of here (``merge``, ``rebase``, ``am``, ``cherry-pick``,
    ``revert``, ``bisect``), or None."""
    if tree.git_dir is None:
        return None

    def has(name: str) -> bool:
        return os.path.lexists(os.path.join(str(tree.git_dir), name))

    # A rebase that stopped on a conflict leaves CHERRY_PICK_HEAD or MERGE_HEAD too: outermost first.
    if has("rebase-apply/applying"):
        return "am"
    if has("rebase-merge") or has("rebase-apply"):
        return "rebase"
    for marker, operation in (
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("BISECT_LOG", "bisect"),
        ("BISECT_START", "bisect"),
    ):
        if has(marker):
            return operation
    if has("sequencer"):
        todo = read_small(os.path.join(tree.git_dir, "sequencer", "todo")) or b""
        return "revert" if todo.lstrip().startswith(b"revert") else "cherry-pick"
    return None


def printable(path: str | Path) -> str:
    """Return ``path`` as it may stand in a message: one line, everything hidden or undecodable escaped."""
    return one_line(os.fsencode(path).decode("utf-8", "backslashreplace"))


def _open_git(folder: str, git_path: str) -> WorkTree:
    if os.path.isdir(git_path):
        git_dir = git_path
    else:
        target = parse_git_file(read_small(git_path) or b"")
        if target is None:
            raise _broken(folder, "its .git is neither a git directory nor a file that names one")
        git_dir = os.path.normpath(os.path.join(folder, target))
    if not _is_git_dir(git_dir):
        if os.path.isdir(git_dir):
            raise _broken(folder, "its .git leads to a folder that is not a git directory")
        raise _broken(folder, "its .git leads to a folder that is not there")
    git_dir = os.path.realpath(git_dir)
    common = _common_dir(git_dir)
    if common == git_dir:
        # A linked work tree has a folder of its own whatever the shared config says.
        config = parse_config(read_small(os.path.join(common, "config")) or b"")
        if "core.bare" in config and is_true(config["core.bare"]):
            raise _no_work_tree(folder, "is a bare repository, which has no work tree")
    return WorkTree(root=Path(folder), git_dir=Path(git_dir), common_dir=Path(common))


def _common_dir(git_dir: str) -> str:
    raw = read_small(os.path.join(git_dir, "commondir"))
    if raw is None:
        return git_dir
    return os.path.realpath(os.path.join(git_dir, os.fsdecode(raw.rstrip(b"\r\n"))))


def _is_git_dir(folder: str) -> bool:
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    common = _common_dir(folder)
    return os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(os.path.join(common, "refs"))


def _is_plain_tree(folder: str, here: str) -> bool:
    if os.path.isdir(os.path.join(folder, ".memfs")):
        return True
    memories = os.path.join(folder, "memories")
    return os.path.isdir(memories) and (here == folder or (here + os.sep).startswith(memories + os.sep))


def _no_work_tree(folder: str, message: str) -> UsageError:
    return UsageError(
        message,
        where=printable(folder),
        hint="go to one of its work trees; `git worktree list` names them, `git worktree add` makes one",
    )


def _broken(folder: str, message: str) -> UsageError:
    return UsageError(
        f"this repository is broken: {message}",
        where=printable(folder),
        hint="if a work tree was moved, run `git worktree repair` in its main repository; otherwise clone it again",
    )
