"""A security key in software, and an ssh-agent that holds it: OpenSSH's PROTOCOL.u2f and PROTOCOL.agent.

``ssh-keygen -Y sign`` talks to the agent as to any other, and ``ssh-keygen -Y verify`` is the oracle
for what comes back; only the touch is pretended.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from base64 import b64encode
from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from memfs.trust.sshsig import MAGIC, SK_ECDSA, SK_ED25519, PublicKey, parse_public_key

APPLICATION = b"ssh:"


def ssh_string(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


def ssh_number(number: int) -> bytes:
    return ssh_string(number.to_bytes(number.bit_length() // 8 + 1, "big"))


class SecurityKey:
    """A FIDO key: signs application, flags, counter and hash, touched or not."""

    def __init__(self, kind: str = SK_ED25519) -> None:
        self.kind = kind
        self.touched = True
        self.counter = 7
        self._ed25519 = Ed25519PrivateKey.generate()
        self._ecdsa = ec.generate_private_key(ec.SECP256R1())
        if kind == SK_ED25519:
            raw = self._ed25519.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
            blob = ssh_string(kind.encode()) + ssh_string(raw) + ssh_string(APPLICATION)
        else:
            point = self._ecdsa.public_key().public_bytes(
                serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
            )
            blob = ssh_string(kind.encode()) + ssh_string(b"nistp256") + ssh_string(point) + ssh_string(APPLICATION)
        self.public: PublicKey = parse_public_key(f"{kind} {b64encode(blob).decode()}")

    @property
    def name(self) -> str:
        return "a security key"

    def sign_raw(self, text: bytes) -> bytes:
        """Return the inner signature over ``text``: type, signature, flags, counter."""
        self.counter += 1
        tail = bytes([1 if self.touched else 0]) + self.counter.to_bytes(4, "big")
        signed = hashlib.sha256(APPLICATION).digest() + tail + hashlib.sha256(text).digest()
        if self.kind == SK_ED25519:
            raw = self._ed25519.sign(signed)
        else:
            r, s = decode_dss_signature(self._ecdsa.sign(signed, ec.ECDSA(hashes.SHA256())))
            raw = ssh_number(r) + ssh_number(s)
        return ssh_string(self.kind.encode()) + ssh_string(raw) + tail

    def sign(self, namespace: str, message: bytes) -> bytes:
        """Return an SSHSIG blob, as a signer of memfs does."""
        head = ssh_string(namespace.encode()) + ssh_string(b"") + ssh_string(b"sha512")
        inner = self.sign_raw(MAGIC + head + ssh_string(hashlib.sha512(message).digest()))
        return MAGIC + (1).to_bytes(4, "big") + ssh_string(self.public.blob) + head + ssh_string(inner)


assert SK_ECDSA  # the other kind that SecurityKey takes


class Agent:
    """An ssh-agent on a socket of its own that holds security keys. ``refuses`` makes it say no,
    ``hangs`` makes it never answer a request to sign."""

    def __init__(self, folder: Path, *keys: SecurityKey, refuses: bool = False, hangs: bool = False) -> None:
        self.path = folder / "agent.sock"
        self._keys = keys
        self._refuses = refuses
        self._hangs = hangs
        self._listener = socket.socket(socket.AF_UNIX)
        # A socket's path is short; the folder of a test may be long.
        here = os.open(folder, os.O_RDONLY)
        try:
            self._listener.bind(f"/proc/self/fd/{here}/{self.path.name}")
        finally:
            os.close(here)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while True:
                head = connection.recv(4, socket.MSG_WAITALL)
                if len(head) < 4:
                    return
                body = connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
                reply = self._reply(body)
                if reply is None:
                    threading.Event().wait(60)
                    return
                connection.sendall(ssh_string(reply))

    def _reply(self, body: bytes) -> bytes | None:
        if body[0] == 11:  # SSH_AGENTC_REQUEST_IDENTITIES
            listed = b"".join(ssh_string(key.public.blob) + ssh_string(b"a key") for key in self._keys)
            return b"\x0c" + len(self._keys).to_bytes(4, "big") + listed
        if body[0] == 13:  # SSH_AGENTC_SIGN_REQUEST
            if self._hangs:
                return None
            size = int.from_bytes(body[1:5], "big")
            blob = body[5 : 5 + size]
            text_size = int.from_bytes(body[5 + size : 9 + size], "big")
            text = body[9 + size : 9 + size + text_size]
            for key in self._keys:
                if key.public.blob == blob and not self._refuses:
                    return b"\x0e" + ssh_string(key.sign_raw(text))
        return b"\x05"
