"""Signatures that verified before, so that a warm reader needs no cryptography (TRUST 8).

Successes only, and only "these bytes verify under this key in this namespace": a fact that no later
keyring can change. Verdicts are never kept.
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


class SignatureCache:
    """``verify`` with a memory on the disk. Without a usable folder it checks every time."""

    def __init__(self, places: Places | None) -> None:
        self.notice: str | None = None
        self._folder = None
        self._known: set[bytes] = set()
        if places is None:
            return
        try:
            self._folder = make_folder(places, "cache", "trust")
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
        return set((read_own(self._folder / _FILE, limit=MAX_BYTES) or b"").split(b"\n"))

    def _write(self, entry: bytes) -> None:
        if self._folder is None:
            return
        with suppress(SetupError):  # nothing is lost but time
            # One write of one whole line; a line torn by a full disk matches nothing.
            append_own(self._folder / _FILE, entry + b"\n")


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
