"""Signatures that were verified before, so that a warm reader needs no cryptography (TRUST 8).

Kept is only "these bytes verify under this key in this namespace", or that they do not: facts that no later
keyring can change. Verdicts are never kept. Failures have a file of their own, read when one is met: whoever
plants thousands of receipts makes each of them cost once.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress

from memfs.disk.places import Places
from memfs.disk.private import append_own, make_folder, read_own
from memfs.errors import SetupError
from memfs.trust import sshsig
from memfs.trust.sshsig import PublicKey, Signature

MAX_BYTES = 64 * 1024 * 1024
_FILE = "verified"
_FAILED = "failed"
_MAX_FAILED_BYTES = 8 * 1024 * 1024


class SignatureCache:
    """``verify`` with a memory on the disk. Without a usable folder it checks every time."""

    def __init__(self, places: Places | None) -> None:
        self.notice: str | None = None
        self._folder = None
        self._known: set[bytes] = set()
        self._failed: set[bytes] | None = None
        if places is None:
            return
        try:
            self._folder = make_folder(places, "cache", "trust")
            self._known = self._read(_FILE, MAX_BYTES)
        except SetupError as error:
            self._folder = None
            self.notice = f"signatures are checked without a cache ({error})"

    def verify(self, key: PublicKey, signature: Signature, message: bytes) -> bool:
        """Return whether ``signature`` is ``key``'s over ``message``."""
        entry = _name(key, signature, message)
        if entry in self._known:
            return True
        if self._failed is None:
            self._failed = self._read(_FAILED, _MAX_FAILED_BYTES)
        if entry in self._failed:
            return False
        is_good = sshsig.verify(key, signature, message)
        known, name = (self._known, _FILE) if is_good else (self._failed, _FAILED)
        known.add(entry)
        if is_good or len(known) * (len(entry) + 1) < _MAX_FAILED_BYTES:
            self._write(name, entry)
        return is_good

    def _read(self, name: str, limit: int) -> set[bytes]:
        try:
            raw = read_own(self._folder / name, limit=limit) if self._folder is not None else None
        except SetupError:
            if name == _FILE:
                raise
            raw = None
        return set((raw or b"").split(b"\n"))

    def _write(self, name: str, entry: bytes) -> None:
        if self._folder is None:
            return
        with suppress(SetupError):  # nothing is lost but time
            # One write of one whole line; a line torn by a full disk matches nothing.
            append_own(self._folder / name, entry + b"\n")


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
