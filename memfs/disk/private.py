"""The folders and files that are memfs's own: settings, state and cache of one person (TRUST 8).

The one way to make, read, append to and replace them. Every level from memfs's own folder down belongs to the user
alone (mode 0700): one that is the user's and too open is closed, any other is refused with its path. No symlink is
followed and no FIFO is waited for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from memfs.disk.files import write_atomic
from memfs.disk.places import Places
from memfs.errors import SetupError

Kind = Literal["config", "state", "cache", "share"]
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_folder(places: Places, kind: Kind, *names: str) -> Path:
    """Return the folder ``names`` below the user's ``kind`` folder, made where it is missing.

    A cache that others could write into is emptied before it is used: what lies in it could be theirs.
    Raises :class:`SetupError`, which names the level at fault.
    """
    if places.is_off:
        raise SetupError("this user has no home folder in the password database", where=f"uid {os.getuid()}")
    base: Path = getattr(places, kind)
    path = str(base)
    if not os.path.lexists(path):
        _make_above(places, base)
    _require_level(path, disposable=kind == "cache")
    for name in names:
        path = os.path.join(path, name)
        _require_level(path, disposable=kind == "cache")
    return Path(path)


def find_folder(places: Places, kind: Kind, *names: str) -> Path | None:
    """Return the folder that :func:`make_folder` would make, or None where it, or one above it, is missing.

    Its levels are closed and refused as there; nothing is made.
    """
    if places.is_off or not os.path.lexists(getattr(places, kind).joinpath(*names)):
        return None
    return make_folder(places, kind, *names)


def mend_folders(places: Places) -> list[SetupError]:
    """Close every folder of memfs's own that is too open; return what cannot be used, one error each."""
    faults = []
    kinds: tuple[Kind, ...] = ("config", "state", "cache", "share")
    for kind in kinds:
        base: Path = getattr(places, kind)
        if not os.path.lexists(base):
            continue
        try:
            make_folder(places, kind)
            for name in sorted(os.listdir(base)):
                if stat.S_ISDIR(os.lstat(base / name).st_mode) and not os.path.lexists(base / name / ".git"):
                    make_folder(places, kind, name)
        except SetupError as error:
            faults.append(error)
        except OSError as error:
            faults.append(_unusable(str(base), error))
    return faults


def read_own(path: str | Path, *, limit: int) -> bytes | None:
    """Return the bytes of a file that memfs itself wrote, or None where it is missing.

    Raises :class:`SetupError` for a symlink, for anything but a regular file of at most ``limit`` bytes, and for a
    file that another user owns or may write.
    """
    try:
        fd = os.open(path, _READ | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, error) from None
    try:
        status = _require_regular(fd, path, limit)
        if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE:
            raise SetupError("this file is not the user's alone", where=str(path), hint="delete it")
        return _read_all(fd, limit)
    except OSError as error:
        raise _unusable(path, error) from None
    finally:
        os.close(fd)


def append_own(path: str | Path, content: bytes) -> int:
    """Append ``content``, in one write, to a file of memfs's own; make the file where it is missing; return its size.

    The folder must be there (:func:`make_folder`). Raises :class:`SetupError`.
    """
    try:
        fd = os.open(path, _APPEND, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise SetupError("this is not a regular file", where=str(path), hint="delete it")
            os.write(fd, content)
            return os.fstat(fd).st_size
        finally:
            os.close(fd)
    except OSError as error:
        raise _unusable(path, error) from None


def replace_own(path: str | Path, content: bytes) -> None:
    """Write ``content`` as a file of memfs's own: whole, or not at all; readable by nobody else.

    The folder must be there (:func:`make_folder`). Raises :class:`SetupError`.
    """
    try:
        write_atomic(Path(path), content, mode=0o600)
    except OSError as error:
        raise _unusable(path, error) from None


@contextmanager
def own_lock(path: str | Path, *, wait: bool) -> Iterator[bool]:
    """Take the lock file ``path``, made where it is missing; give False, without it, when another process has it and
    ``wait`` is false. Readers never take one. Raises :class:`OSError`."""
    import fcntl

    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(fd)


def read_decisive(path: Path, what: str, *, limit: int) -> bytes | None:
    """Return the bytes of a file by which the user decides (settings, pins), or None where it is missing.

    A person may keep it as a link to another place of their own. Raises :class:`SetupError` unless file and folder
    belong to the user (or root), nobody else may write them, and they lie outside every git work tree: a checkout
    could change it otherwise. ``what`` names it in messages, as in "your settings".
    """
    try:
        fd = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SetupError(f"{what} cannot be read: {error.strerror}", where=str(path)) from None
    try:
        _require_decided_by_user(path, _require_regular(fd, path, limit), what)
        return _read_all(fd, limit)
    except OSError as error:
        raise SetupError(f"{what} cannot be read: {error.strerror}", where=str(path)) from None
    finally:
        os.close(fd)


def replace_decisive(places: Places, path: Path, content: bytes, what: str) -> None:
    """Write a file by which the user decides; it must then be one that :func:`read_decisive` takes."""
    make_folder(places, "config")
    replace_own(path, content)
    _require_decided_by_user(path, os.stat(path), what)


def _make_above(places: Places, base: Path) -> None:
    """Make the folders between the home and ``base``; those of the system's own layout stay as they are."""
    path = str(places.home)
    if not os.path.isdir(path):
        raise SetupError("the home folder is not there, so memfs keeps nothing", where=path)
    for part in base.relative_to(places.home).parts[:-1]:
        path = os.path.join(path, part)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise SetupError("a folder is needed here", where=path) from None
        except OSError as error:
            raise _unusable(path, error) from None


def _require_level(path: str, *, disposable: bool) -> None:
    try:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            with suppress(FileExistsError):  # another memfs may have made it meanwhile
                os.mkdir(path, 0o700)
            status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            raise SetupError("a folder is needed here", where=path, hint="delete it")
        if status.st_uid != os.geteuid():
            raise SetupError("this folder belongs to another user", where=path, hint="delete it, or rename it")
        if status.st_mode & _OTHERS:
            _close(path, empty=disposable and bool(status.st_mode & _OTHERS_WRITE))
    except OSError as error:
        raise _unusable(path, error) from None


def _close(path: str, *, empty: bool) -> None:
    fd = os.open(path, _OPEN_FOLDER)
    try:
        os.fchmod(fd, 0o700)
    finally:
        os.close(fd)
    if empty:
        import shutil

        for name in os.listdir(path):
            below = os.path.join(path, name)
            if stat.S_ISDIR(os.lstat(below).st_mode):
                shutil.rmtree(below)
            else:
                os.unlink(below)


def _require_regular(fd: int, path: str | Path, limit: int) -> os.stat_result:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
        raise SetupError(f"this is not a regular file of at most {limit} bytes", where=str(path))
    return status


def _read_all(fd: int, limit: int) -> bytes:
    with os.fdopen(os.dup(fd), "rb") as file:
        return file.read(limit)


def _require_decided_by_user(path: Path, status: os.stat_result, what: str) -> None:
    real = os.path.realpath(path)
    above = os.path.dirname(real)
    folder = os.stat(above)
    for owner, mode in ((status.st_uid, status.st_mode), (folder.st_uid, folder.st_mode)):
        if owner not in (0, os.geteuid()) or mode & _OTHERS_WRITE:
            raise SetupError(f"others may write {what}", where=str(path), hint=f"run: chmod go-w {real} {above}")
    while True:
        if os.path.lexists(os.path.join(above, ".git")):
            raise SetupError(
                f"{what} lie in a git work tree",
                where=str(path),
                hint="a checkout could change them there: keep the file outside repositories",
            )
        if above == os.path.dirname(above):
            return
        above = os.path.dirname(above)


def _unusable(path: str | Path, error: OSError) -> SetupError:
    return SetupError(f"this cannot be used: {error.strerror or error}", where=str(path))
