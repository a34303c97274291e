"""git's own lock files: waiting for them, and holding ``index.lock`` for the length of a publication.

git makes ``X.lock`` beside ``X`` and has no way to tell a living owner from a dead one. memfs marks
the ones it makes; because it makes them only under its own ``flock``, whoever holds that lock knows
that a marked one has no owner left and takes it away. Anybody else's is never removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memfs.disk.gitfiles import read_small
from memfs.errors import SetupError
from memfs.model.codepoints import escape_hidden

GIT_LOCK_TIMEOUT = 20.0
"""Seconds that memfs waits for a lock of git's."""

_ABANDONED_AGE = 600.0  # a lock this old is reported at once: nobody waits for it to go away
_MARK = b"memfs "
_LOCK_PREFIX = "memfs-index-lock."
FOLDER_PREFIX = "memfs-commit-"
"""How the name of a folder starts that a commit is prepared in, inside the git directory."""


def wait_for_lock(path: Path, *, timeout: float = GIT_LOCK_TIMEOUT) -> None:
    """Return once git's lock file ``path`` is gone.

    Raises :class:`SetupError`, with its age and the command that removes it, after ``timeout``
    seconds, and at once for one that is more than ten minutes old.
    """
    deadline = time.monotonic() + timeout
    while (age := _age(path)) is not None:
        if age > _ABANDONED_AGE or time.monotonic() >= deadline:
            raise locked(path)
        time.sleep(0.05)


def locked(path: Path) -> SetupError:
    """Return the error for a lock of git's that does not go away."""
    import shlex

    age = _age(path) or 0.0
    return SetupError(
        f"git's lock file has been there for {_format_age(age)}",
        where=escape_hidden(str(path), single_line=True),
        hint="if no git command is running here, remove it: rm "
        + escape_hidden(shlex.quote(str(path)), single_line=True),
    )


@contextmanager
def hold_index_lock(git_dir: Path, *, timeout: float = GIT_LOCK_TIMEOUT) -> Iterator[None]:
    """Hold ``index.lock``, so that no git command changes index, HEAD or work tree meanwhile."""
    path = git_dir / "index.lock"
    deadline = time.monotonic() + timeout
    while not _make_lock(path):
        left = deadline - time.monotonic()
        if left <= 0:
            raise locked(path)
        wait_for_lock(path, timeout=left)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def holds_dead_lock(git_dir: Path) -> bool:
    """Return whether a killed memfs holds ``index.lock``. Only for the holder of memfs's own lock."""
    return (read_small(str(git_dir / "index.lock"), limit=256) or b"").startswith(_MARK)


def remove_dead_remains(git_dir: Path) -> None:
    """Remove what a killed memfs left in ``git_dir``. Only for the holder of memfs's own lock."""
    import shutil

    if holds_dead_lock(git_dir):
        (git_dir / "index.lock").unlink(missing_ok=True)
    for name in os.listdir(git_dir):
        if name.startswith(FOLDER_PREFIX):
            shutil.rmtree(git_dir / name, ignore_errors=True)
        elif name.startswith(_LOCK_PREFIX):
            (git_dir / name).unlink(missing_ok=True)


def _make_lock(path: Path) -> bool:
    marked = path.with_name(f"{_LOCK_PREFIX}{os.getpid()}")
    fd = os.open(marked, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        os.write(fd, _MARK + b"process %d\n" % os.getpid())
    finally:
        os.close(fd)
    try:
        os.link(marked, path)  # appears with its mark already in it
    except FileExistsError:
        return False
    except OSError:
        return _make_unlinked(path)
    finally:
        marked.unlink()
    return True


def _make_unlinked(path: Path) -> bool:
    # A file system without hard links: for a moment the lock is there without its mark.
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    try:
        os.write(fd, _MARK + b"process %d\n" % os.getpid())
    finally:
        os.close(fd)
    return True


def _age(path: Path) -> float | None:
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except FileNotFoundError:
        return None


def _format_age(seconds: float) -> str:
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a second"
