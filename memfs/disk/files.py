"""The files of a work tree: scan, read, write, and the one lock (DESIGN 4).

Reading follows no symlink, waits on no FIFO and takes no lock. Writing replaces whole files, so
that a reader sees the old one or the new one.
"""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from memfs.disk.worktree import WorkTree, printable
from memfs.errors import InvalidMemoryError, SetupError, UsageError

READ_LIMIT = 256 * 1024
"""Largest file that is read by default: `MAX_MEMORY_BYTES` of the model, which is slow to import."""

LOCK_TIMEOUT = 30.0
"""Seconds that a writer waits for another one."""

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_REMAINS = re.compile(r"\.memfs-[0-9a-f]{12}\.tmp")
_MAX_DEPTH = 8  # folders below memories/; a scope has three at most


class Entry(NamedTuple):
    """One file of the scan: enough to see that it changed. A tuple, because a scan makes thousands."""

    path: str  # posix, relative to the work tree
    size: int
    mtime_ns: int
    inode: int


class Scan(NamedTuple):
    """All ``*.md`` files below ``memories/``, and what was passed over with the reason."""

    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...]


class Stamps(NamedTuple):
    """The same as a :class:`Scan`, one text a file, which is made and compared in a third of the time."""

    lines: list[str]  # "MTIME_NS SIZE INODE PATH", sorted
    skipped: tuple[tuple[str, str], ...]
    folders: list[str]  # "MTIME_NS INODE PATH", sorted: another file in one of them gives it another time

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(map(parse_stamp, self.lines))


class UnreadableFile(InvalidMemoryError):
    """A file that is not read; ``reason`` is a stable word: ``missing``, ``symlink``, ``not-a-file``,
    ``too-large``, ``bad-path``, ``no-permission`` or ``unreadable``."""

    def __init__(self, message: str, *, reason: str, where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.reason = reason


def scan_memories(tree: WorkTree) -> Scan:
    """Return every memory file of ``tree`` by path, and what was skipped.

    Passed over, and named with a reason: symlinks, anything but a regular file, nested
    repositories, names that are not UTF-8 or hold control characters, folders that cannot be
    opened. Passed over in silence: hidden names and files that are not ``*.md``.
    """
    found = scan_stamps(tree)
    return Scan(tuple(sorted(found.entries)), found.skipped)


def scan_stamps(tree: WorkTree) -> Stamps:
    """Return the stamp of every memory file of ``tree``, for comparing with an earlier scan."""
    lines: list[str] = []
    skipped: list[tuple[str, str]] = []
    folders: list[str] = []
    try:
        top = os.open(os.path.join(str(tree.root), "memories"), _OPEN_FOLDER | os.O_NOFOLLOW)
    except FileNotFoundError:
        pass
    except OSError:
        reason = "symlink" if os.path.islink(os.path.join(str(tree.root), "memories")) else "unreadable-folder"
        skipped.append(("memories", reason))
    else:
        try:
            _scan_folder(top, "memories/", Stamps(lines, (), folders), skipped)
        finally:
            os.close(top)
    return Stamps(sorted(lines), tuple(sorted(skipped)), sorted(folders))


def stamp_folders(tree: WorkTree, paths: Sequence[str]) -> list[str]:
    """Return the stamps of the folders ``paths`` as they are now, sorted; a missing one has none."""
    found = []
    for path in paths:
        with suppress(OSError):
            found.append(_folder_stamp(path, os.stat(os.path.join(tree.root, path), follow_symlinks=False)))
    return sorted(found)


def _folder_stamp(path: str, status: os.stat_result) -> str:
    return f"{status.st_mtime_ns} {status.st_ino} {path}"


def parse_stamp(line: str) -> Entry:
    """Return the entry that one line of :class:`Stamps` stands for."""
    mtime, size, inode, path = line.split(" ", 3)
    return Entry(path, int(size), int(mtime), int(inode))


def _scan_folder(folder: int, prefix: str, found: Stamps, skipped: list[tuple[str, str]]) -> None:
    # Every recall comes through here once for each memory: no pathlib, a file is asked for below its open folder
    # (less work than the whole path), and names are cheaper than the entries of scandir.
    found.folders.append(_folder_stamp(prefix, os.fstat(folder)))
    try:
        names = os.listdir(folder)
    except OSError:
        skipped.append((printable(prefix[:-1]), "unreadable-folder"))
        return
    depth = prefix.count("/") - 1
    if depth and ".git" in names:
        skipped.append((printable(prefix[:-1]), "nested-repository"))
        return
    for name in names:
        if name[0] == ".":
            continue
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            kind = stat.S_IFMT(status.st_mode)
            if name.endswith(".md"):
                if kind != stat.S_IFREG:
                    skipped.append((printable(prefix + name), "symlink" if kind == stat.S_IFLNK else "not-a-file"))
                elif not name.isprintable():
                    skipped.append((printable(prefix + name), "bad-name"))
                else:
                    stamp = f"{status.st_mtime_ns} {status.st_size} {status.st_ino} {prefix}{name}"
                    found.lines.append(stamp)
            elif kind == stat.S_IFLNK:
                skipped.append((printable(prefix + name), "symlink"))
            elif kind == stat.S_IFDIR:
                if not name.isprintable():
                    skipped.append((printable(prefix + name), "bad-name"))
                elif depth >= _MAX_DEPTH:
                    skipped.append((printable(prefix + name), "too-deep"))
                else:
                    below = os.open(name, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                    try:
                        _scan_folder(below, f"{prefix}{name}/", found, skipped)
                    finally:
                        os.close(below)
        except FileNotFoundError:
            continue  # deleted while the folder was listed
        except OSError:
            skipped.append((printable(prefix + name), "unreadable"))


def read_file(tree: WorkTree, path: str, *, limit: int = READ_LIMIT) -> bytes:
    """Return the bytes of the regular file ``path`` of ``tree``, which no part of leads through a symlink.

    Raises :class:`UnreadableFile` for anything else, and for more than ``limit`` bytes.
    """
    parts = split_path(path)
    folder = _open_folder(tree.root, parts[:-1], path)
    try:
        fd = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise _unreadable(error, path, parts[-1], folder) from error
    finally:
        os.close(folder)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFile("is not a regular file", reason="not-a-file", where=printable(path))
        if status.st_size > limit:
            raise UnreadableFile(f"is larger than {limit} bytes", reason="too-large", where=printable(path))
        chunks = []
        left = limit + 1
        while left > 0 and (chunk := os.read(fd, min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
        if left <= 0:
            raise UnreadableFile(f"is larger than {limit} bytes", reason="too-large", where=printable(path))
        return b"".join(chunks)
    except OSError as error:
        raise UnreadableFile("cannot be read", reason="unreadable", where=printable(path)) from error
    finally:
        os.close(fd)


def read_if_there(tree: WorkTree, path: str, *, limit: int = READ_LIMIT) -> bytes | None:
    """Return what :func:`read_file` does, and None where nothing is at ``path``."""
    try:
        return read_file(tree, path, limit=limit)
    except UnreadableFile as error:
        if error.reason == "missing":
            return None
        raise


def list_folder(tree: WorkTree, path: str) -> list[str]:
    """Return the names of what lies in the folder ``path`` of ``tree``, sorted; empty where there is
    no such folder or a part of it is a symlink."""
    parts = split_path(path)
    try:
        folder = _open_folder(tree.root, parts, path)
    except UnreadableFile:
        return []
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
    finally:
        os.close(folder)


def split_path(path: str) -> list[str]:
    """Return the parts of a path relative to the work tree.

    Raises :class:`UnreadableFile` for an absolute one, one that could leave the tree, and one
    that names a git directory.
    """
    parts = path.split("/")
    if (
        not path
        or "\0" in path
        or any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts)
        or any(len(os.fsencode(part)) > 255 for part in parts)
    ):
        raise UnreadableFile("is not a path inside the work tree", reason="bad-path", where=printable(path))
    return parts


def write_atomic(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write ``content`` as the file ``path``: whole and on the disk, or not at all.

    An existing file keeps its mode, a new one gets ``mode``. The folder must be there. A symlink
    at ``path`` itself is replaced, not followed.
    """
    folder = os.open(path.parent, _OPEN_FOLDER)
    try:
        _write_at(folder, path.name, content, mode)
    finally:
        os.close(folder)


def write_in_tree(tree: WorkTree, path: str, content: bytes, *, mode: int = 0o644) -> None:
    """Write ``content`` as the file ``path`` of ``tree``, making folders, following no symlink.

    Raises :class:`UnreadableFile` where a part of the path is a symlink or no folder.
    """
    parts = split_path(path)
    folder = _open_folder(tree.root, parts[:-1], path, make=True)
    try:
        _write_at(folder, parts[-1], content, mode)
    finally:
        os.close(folder)


def delete_in_tree(tree: WorkTree, path: str) -> None:
    """Delete the file ``path`` of ``tree``, following no symlink; it may be gone already."""
    parts = split_path(path)
    try:
        folder = _open_folder(tree.root, parts[:-1], path)
    except UnreadableFile as error:
        if error.reason == "missing":
            return
        raise
    try:
        os.unlink(parts[-1], dir_fd=folder)
        os.fsync(folder)
    except FileNotFoundError:
        pass
    finally:
        os.close(folder)


def remove_remains(tree: WorkTree, path: str) -> None:
    """Remove what a killed writer left half written beside ``path``. Only for the holder of the lock."""
    parts = split_path(path)
    try:
        folder = _open_folder(tree.root, parts[:-1], path)
    except UnreadableFile:
        return
    try:
        with os.scandir(folder) as listing:
            remains = [item.name for item in listing if _REMAINS.fullmatch(item.name)]
        for name in remains:
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    finally:
        os.close(folder)


_held: dict[tuple[str, int], int] = {}  # lock's path and thread → its descriptor: its holder may take it again


@contextmanager
def lock(tree: WorkTree, *, timeout: float = LOCK_TIMEOUT) -> Iterator[int]:
    """Take the one lock for writing into ``tree``; its own holder may take it again.

    It lies in the work tree's git directory and is a ``flock``: the system takes it from a process
    that dies, so no dead lock is ever left. A child that is given the file descriptor (what the
    context gives) keeps it until it has ended too. Raises :class:`SetupError`, naming the holder,
    after ``timeout`` seconds, and :class:`UsageError` where there is no git directory.
    """
    if tree.git_dir is None:
        raise UsageError(
            "these files are not a git repository, so nothing can be written here",
            where=printable(tree.root),
            hint="clone the repository instead of unpacking a copy of it",
        )
    path = os.path.join(tree.git_dir, "memfs.lock")
    holder = path, threading.get_ident()
    if holder in _held:
        yield _held[holder]
        return
    fd = _held[holder] = _flock(path, timeout)
    try:
        yield fd
    finally:
        del _held[holder]
        os.close(fd)


def _flock(path: str, timeout: float) -> int:
    import fcntl
    import time

    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise SetupError(
            f"the lock for writing cannot be made: {error.strerror}",
            where=printable(path),
            hint="check who may write there",
        ) from error
    deadline = time.monotonic() + timeout
    pause = 0.005
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise SetupError(
                        f"another memfs has been writing here for {timeout:g} seconds ({_holder(fd)})",
                        where=printable(path),
                        hint="wait for it, or end that process; the lock ends with it",
                    ) from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.05)
        os.ftruncate(fd, 0)
        os.pwrite(fd, b"process %d\n" % os.getpid(), 0)
    except OSError as error:
        os.close(fd)
        raise SetupError(f"the lock for writing cannot be held: {error.strerror}", where=printable(path)) from error
    except BaseException:
        os.close(fd)
        raise
    return fd


def _holder(fd: int) -> str:
    text = os.pread(fd, 64, 0).decode("ascii", "replace").strip()
    name = text.removeprefix("process ")
    return text if text.startswith("process ") and name.isdecimal() else "an unknown process"


def _open_folder(root: Path, parts: list[str], path: str, *, make: bool = False) -> int:
    folder = os.open(root, _OPEN_FOLDER)
    for part in parts:
        try:
            try:
                below = os.open(part, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(part, 0o777, dir_fd=folder)
                below = os.open(part, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            unreadable = _unreadable(error, path, part, folder)
            os.close(folder)
            raise unreadable from error
        os.close(folder)
        folder = below
    return folder


def _write_at(folder: int, name: str, content: bytes, mode: int) -> None:
    import secrets

    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kept = stat.S_IMODE(status.st_mode) if stat.S_ISREG(status.st_mode) else None
    except FileNotFoundError:
        kept = None
    # Hidden, and no *.md: no scan takes it for a memory, whenever this process ends.
    temporary = f".memfs-{secrets.token_hex(6)}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    try:
        try:
            if kept is not None:
                os.fchmod(fd, kept)
            view = memoryview(content)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def _unreadable(error: OSError, path: str, part: str, folder: int) -> UnreadableFile:
    try:
        is_link = stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        is_link = False
    where = printable(path)
    if is_link:
        return UnreadableFile("leads through a symlink", reason="symlink", where=where)
    if isinstance(error, FileNotFoundError):
        return UnreadableFile("is not there", reason="missing", where=where)
    if isinstance(error, PermissionError):
        return UnreadableFile("may not be read", reason="no-permission", where=where)
    if isinstance(error, NotADirectoryError | IsADirectoryError) or error.errno is not None:
        return UnreadableFile("is not a regular file", reason="not-a-file", where=where)
    return UnreadableFile("cannot be read", reason="unreadable", where=where)
