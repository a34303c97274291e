"""Where keyrings and receipts are read from: a work tree, or files that a caller has in hand."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Protocol

from memfs.disk.files import UnreadableFile, list_folder, read_file
from memfs.disk.worktree import WorkTree
from memfs.git.snapshot import Snapshot
from memfs.model.memory import MemoryFile
from memfs.trust.keyring import FOLDER, MAX_KEYRING_BYTES, KeyringError, version_of_name
from memfs.trust.record import MAX_RECORD_BYTES

APPROVALS = f"{FOLDER}/approvals"


class Carrier(Protocol):
    """What a view reads from."""

    def keyrings(self) -> Mapping[int, bytes]: ...
    def receipt_names(self) -> Iterable[str]: ...
    def receipt(self, name: str) -> bytes | None: ...
    def has_twin(self, file: MemoryFile) -> bool: ...


class TreeCarrier:
    """The files of a work tree. No symlink is followed and nothing but regular files is opened."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._approvals = os.path.join(str(tree.root), *APPROVALS.split("/"))
        self._scopes: list[str] | None = None

    def keyrings(self) -> Mapping[int, bytes]:
        """Return the keyring files by version. Raises :class:`KeyringError` for one that cannot be read."""
        found: dict[int, bytes] = {}
        for name in list_folder(self._tree, FOLDER):
            version = version_of_name(name)
            if version is not None:
                try:
                    found[version] = read_file(self._tree, f"{FOLDER}/{name}", limit=MAX_KEYRING_BYTES)
                except UnreadableFile as error:
                    raise KeyringError(f"the keyring {error.message}", where=f"{FOLDER}/{name}") from None
        return found

    def receipt_names(self) -> Iterable[str]:
        return list_folder(self._tree, APPROVALS)

    def receipt(self, name: str) -> bytes | None:
        # Of the folders, `receipt_names` saw that none is a symlink. A receipt proves itself, so a
        # race for the path could only bring another one.
        try:
            fd = os.open(f"{self._approvals}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > 2 * MAX_RECORD_BYTES:
                return None
            return os.read(fd, status.st_size)
        except OSError:
            return None
        finally:
            os.close(fd)

    def has_twin(self, file: MemoryFile) -> bool:
        """Return whether another folder of a scope contains a file of the same name."""
        if self._scopes is None:
            self._scopes = ["memories/personal", "memories/team"]
            for parent in ("memories/team", "memories/restricted"):
                self._scopes += [f"{parent}/{name}" for name in list_folder(self._tree, parent) if "." not in name]
        name = file.path.rsplit("/", 1)[-1]
        paths = (f"{folder}/{name}" for folder in self._scopes)
        return any(path != file.path and os.path.lexists(f"{self._tree.root}/{path}") for path in paths)


class FilesCarrier:
    """Keyrings and receipts as bytes by path, for a reviewer who checks nothing out."""

    def __init__(self, keyrings: Mapping[str, bytes], receipts: Mapping[str, bytes]) -> None:
        self._keyrings = keyrings
        start = f"{APPROVALS}/"
        self._receipts = {path.removeprefix(start): raw for path, raw in receipts.items() if path.startswith(start)}

    def keyrings(self) -> Mapping[int, bytes]:
        named = ((version_of_name(path.removeprefix(f"{FOLDER}/")), raw) for path, raw in self._keyrings.items())
        return {version: raw for version, raw in named if version is not None}

    def receipt_names(self) -> Iterable[str]:
        return self._receipts

    def receipt(self, name: str) -> bytes | None:
        return self._receipts.get(name)

    def has_twin(self, file: MemoryFile) -> bool:  # noqa: ARG002 - the reviewer reports double ids itself
        return False


def read_keyrings(snapshot: Snapshot) -> dict[str, bytes]:
    """Return the keyring files of a snapshot by path. What is there and cannot be read (a symlink, a
    FIFO, a folder) counts as empty: then the keyring is refused, not missing."""
    names = set(snapshot.folder(FOLDER))
    names |= {path.removeprefix(f"{FOLDER}/") for path in snapshot.oddities(FOLDER)}
    paths = [f"{FOLDER}/{name}" for name in sorted(names) if version_of_name(name) is not None]
    return {path: raw if isinstance(raw, bytes) else b"" for path, raw in snapshot.read_many(paths)}
