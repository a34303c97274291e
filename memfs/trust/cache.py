"""Signatures that verified before, so that a warm reader needs no cryptography (TRUST 8).

Successes only, and only "these bytes verify under this key in this namespace": a fact that no later
keyring can change. Verdicts are never kept.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress

from memfs.disk.places import Places, require_private_folder
from memfs.errors import SetupError
from memfs.trust import sshsig
from memfs.trust.sshsig import PublicKey, Signature

MAX_BYTES = 64 * 1024 * 1024
_FILE = "verified"


class SignatureCache:
    """``verify`` with a memory on the disk. Without a usable folder it checks every time."""

    def __init__(self, places: Places | None) -> None:
        self.notice: str | None = None
        self._folder = None
        self._fd: int | None = None
        self._known: set[bytes] = set()
        if places is None:
            return
        try:
            self._folder = require_private_folder(places.cache / "trust")
            self._known = self._read()
        except SetupError as error:
            self._folder = None
            self.notice = f"signatures are checked without a cache ({error})"

    def verify(self, key: PublicKey, signature: Signature, message: bytes) -> bool:
        """Return whether ``signature`` is ``key``'s over ``message``."""
        entry = _name(key, signature, message)
        if entry in self._known:
            return True
        if not sshsig.verify(key, signature, message):
            return False
        self._known.add(entry)
        self._write(entry)
        return True

    def _read(self) -> set[bytes]:
        assert self._folder is not None
        try:
            fd = os.open(self._folder / _FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return set()
        try:
            status = os.fstat(fd)
            if status.st_uid != os.geteuid() or status.st_mode & 0o077 or status.st_size > MAX_BYTES:
                raise SetupError("the file is too large or not the user's alone", where=str(self._folder / _FILE))
            return set(os.read(fd, status.st_size).split(b"\n")) if stat.S_ISREG(status.st_mode) else set()
        finally:
            os.close(fd)

    def _write(self, entry: bytes) -> None:
        if self._folder is None:
            return
        with suppress(OSError):  # nothing is lost but time
            if self._fd is None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                self._fd = os.open(self._folder / _FILE, flags, 0o600)
            # One write of one whole line; a line torn by a full disk matches nothing.
            os.write(self._fd, entry + b"\n")

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)


def _name(key: PublicKey, signature: Signature, message: bytes) -> bytes:
    digest = hashlib.sha256()
    parts = (
        key.blob,
        signature.namespace.encode(),
        signature.hash_name.encode(),
        signature.scheme.encode(),
        bytes([signature.flags]) + signature.counter.to_bytes(4, "big"),
        signature.raw,
        message,
    )
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest().encode()
