"""SSHSIG: reading and verifying SSH signatures in process (OpenSSH's PROTOCOL.sshsig).

The keys that TRUST 5 accepts: Ed25519, ECDSA on the three NIST curves, RSA from 3072 bits, and the
two security-key types. Strict where OpenSSH is lenient: exact lengths, nothing after the end, no
weak keys. Pure; ``cryptography`` is imported when a signature is really checked.
"""

from __future__ import annotations

import hashlib
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

from memfs.model.values import dataclass

MAGIC = b"SSHSIG"
HASHES = {"sha512": hashlib.sha512, "sha256": hashlib.sha256}
MIN_RSA_BITS, MAX_RSA_BITS = 3072, 16384
MAX_BLOB_BYTES = 16 * 1024

ED25519 = "ssh-ed25519"
SK_ED25519 = "sk-ssh-ed25519@openssh.com"
SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"
RSA = "ssh-rsa"
_CURVES = {
    "ecdsa-sha2-nistp256": ("nistp256", 32),
    "ecdsa-sha2-nistp384": ("nistp384", 48),
    "ecdsa-sha2-nistp521": ("nistp521", 66),
}
KEY_TYPES = (ED25519, *_CURVES, RSA, SK_ED25519, SK_ECDSA)

_P = 2**255 - 19
# The y coordinates of all eight points whose order divides 8: a public key among them lets one
# constant signature verify for every message tried, in OpenSSH and in `cryptography` alike (TRUST 5).
_SMALL_ORDER_Y = frozenset(
    {
        0,
        1,
        _P - 1,
        2707385501144840649318225287225658788936804267575313519463743609750303402022,
        _P - 2707385501144840649318225287225658788936804267575313519463743609750303402022,
    }
)


class SignatureError(ValueError):
    """A key or a signature does not have the one form that is accepted. ``str()`` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A public key that is strong enough to be listed."""

    type: str
    blob: bytes

    @property
    def text(self) -> str:
        """Return the key as it is in a ``.pub`` file, without the comment."""
        return f"{self.type} {b2a_base64(self.blob, newline=False).decode('ascii')}"

    @property
    def fingerprint(self) -> str:
        """Return what ``ssh-keygen -l`` shows for the key."""
        digest = b2a_base64(hashlib.sha256(self.blob).digest(), newline=False).decode("ascii")
        return f"SHA256:{digest.rstrip('=')}"

    @property
    def is_security_key(self) -> bool:
        return self.type in (SK_ED25519, SK_ECDSA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A parsed SSHSIG blob. Nothing in it has been verified."""

    key_blob: bytes
    namespace: str
    hash_name: str
    scheme: str
    raw: bytes
    flags: int = 0  # security keys: bit 0 says that a person touched it
    counter: int = 0

    @property
    def touched(self) -> bool:
        return bool(self.flags & 1)


class _Reader:
    """Length-prefixed fields of RFC 4251, exact to the last byte."""

    __slots__ = ("_place", "_raw")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._place = 0

    def take(self, size: int) -> bytes:
        end = self._place + size
        if end > len(self._raw):
            raise SignatureError("a field ends early")
        piece = self._raw[self._place : end]
        self._place = end
        return piece

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        start = self._place + 4
        end = start + int.from_bytes(self._raw[self._place : start], "big")
        if end > len(self._raw):
            raise SignatureError("a field ends early")
        self._place = end
        return self._raw[start:end]

    def name(self) -> str:
        try:
            return self.string().decode("ascii")
        except UnicodeDecodeError:
            raise SignatureError("a name is not ASCII") from None

    def positive(self) -> int:
        """Return a positive mpint in its shortest form."""
        raw = self.string()
        if not raw or raw[0] & 0x80 or (raw[0] == 0 and not (len(raw) > 1 and raw[1] & 0x80)):
            raise SignatureError("a number is not positive or not in its shortest form")
        return int.from_bytes(raw, "big")

    def end(self) -> None:
        if self._place != len(self._raw):
            raise SignatureError("there are bytes after the end")


def parse_public_key(text: str) -> PublicKey:
    """Return the key of ``TYPE BASE64``. Raises :class:`SignatureError` for a weak or unknown one."""
    words = text.split(" ")
    if len(words) != 2:
        raise SignatureError("a key is its type and its base64 text")
    key_type, encoded = words
    if key_type not in KEY_TYPES:
        raise SignatureError("keys of this type are not accepted")
    try:
        blob = a2b_base64(encoded, strict_mode=True)
    except (Base64Error, ValueError):
        raise SignatureError("the key is not base64") from None
    key = PublicKey(type=key_type, blob=blob)
    if len(blob) > MAX_BLOB_BYTES or key.text != text:
        raise SignatureError("the key is not written the one way")
    _check_key(key)
    return key


def parse_signature(blob: bytes) -> Signature:
    """Return the parts of an SSHSIG blob. Raises :class:`SignatureError` for any other bytes."""
    if len(blob) > MAX_BLOB_BYTES or not blob.startswith(MAGIC):
        raise SignatureError("not an SSHSIG blob")
    outer = _Reader(blob[len(MAGIC) :])
    if outer.number() != 1:
        raise SignatureError("not version 1 of SSHSIG")
    key_blob = outer.string()
    namespace = outer.name()
    if outer.string():
        raise SignatureError("the reserved field is not empty")
    hash_name = outer.name()
    if hash_name not in HASHES:
        raise SignatureError("the hash is neither sha512 nor sha256")
    inner = _Reader(outer.string())
    outer.end()
    scheme = inner.name()
    raw = inner.string()
    flags = counter = 0
    if scheme in (SK_ED25519, SK_ECDSA):
        flags = inner.take(1)[0]
        counter = inner.number()
    inner.end()
    return Signature(
        key_blob=key_blob,
        namespace=namespace,
        hash_name=hash_name,
        scheme=scheme,
        raw=raw,
        flags=flags,
        counter=counter,
    )


def private_key_public(raw: bytes) -> PublicKey:
    """Return the public key of an OpenSSH private key file, which is in it unencrypted
    (OpenSSH's PROTOCOL.key). Raises :class:`SignatureError`."""
    body = b"".join(line.strip() for line in raw.split(b"\n") if line.strip() and not line.startswith(b"-----"))
    try:
        decoded = a2b_base64(body, strict_mode=True)
    except (Base64Error, ValueError):
        raise SignatureError("the private key is not base64") from None
    magic = b"openssh-key-v1\0"
    if not decoded.startswith(magic):
        raise SignatureError("not an OpenSSH private key")
    reader = _Reader(decoded[len(magic) :])
    for _ in range(3):  # cipher, kdf, kdf options
        reader.string()
    if reader.number() != 1:
        raise SignatureError("not exactly one key in the file")
    blob = reader.string()
    key_type = _Reader(blob).name()
    return parse_public_key(f"{key_type} {b2a_base64(blob, newline=False).decode('ascii')}")


def parse_armored(text: str) -> bytes:
    """Return the blob of what ``ssh-keygen -Y sign`` writes. Raises :class:`SignatureError`."""
    lines = text.strip().splitlines()
    if len(lines) < 3 or lines[0] != "-----BEGIN SSH SIGNATURE-----" or lines[-1] != "-----END SSH SIGNATURE-----":
        raise SignatureError("not an armored SSH signature")
    try:
        return a2b_base64("".join(lines[1:-1]), strict_mode=True)
    except (Base64Error, ValueError):
        raise SignatureError("the signature is not base64") from None


def format_armored(blob: bytes) -> str:
    """Return ``blob`` in the form that ``ssh-keygen -Y verify`` reads."""
    encoded = b2a_base64(blob, newline=False).decode("ascii")
    lines = [encoded[place : place + 70] for place in range(0, len(encoded), 70)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----"]) + "\n"


def verify(key: PublicKey, signature: Signature, message: bytes) -> bool:
    """Return whether ``signature`` is ``key``'s over ``message``, in the signature's own namespace.

    The caller compares the namespace and asks for the touch flag.
    """
    if signature.key_blob != key.blob:
        return False
    digest = HASHES[signature.hash_name](message).digest()
    signed = MAGIC + b"".join(
        map(_string, (signature.namespace.encode("ascii"), b"", signature.hash_name.encode("ascii"), digest))
    )
    return _verify_raw(key, signature, signed)


def _string(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


def _check_key(key: PublicKey) -> None:
    """Raise :class:`SignatureError` for a blob that is not exactly one strong key of its type."""
    reader = _Reader(key.blob)
    if reader.name() != key.type:
        raise SignatureError("the key's blob is of another type")
    if key.type in (ED25519, SK_ED25519):
        _check_ed25519(reader.string())
    elif key.type == RSA:
        exponent, modulus = reader.positive(), reader.positive()
        if not MIN_RSA_BITS <= modulus.bit_length() <= MAX_RSA_BITS:
            raise SignatureError("an RSA key needs 3072 to 16384 bits")
        # An exponent of 1 makes everybody a signer.
        if modulus % 2 == 0 or exponent % 2 == 0 or not 3 <= exponent < 2**64:
            raise SignatureError("the RSA key's numbers are not those of a real key")
    else:
        curve, size = ("nistp256", 32) if key.type == SK_ECDSA else _CURVES[key.type]
        if reader.name() != curve:
            raise SignatureError("the key's curve does not fit its type")
        point = reader.string()
        if len(point) != 1 + 2 * size or point[0] != 4:
            raise SignatureError("the key's point is not an uncompressed point of its curve")
    if key.is_security_key:
        reader.name()  # the application, "ssh:" as a rule; it is part of what the key signs
    reader.end()


def _check_ed25519(point: bytes) -> None:
    if len(point) != 32:
        raise SignatureError("an Ed25519 key has 32 bytes")
    y = int.from_bytes(point, "little") & (2**255 - 1)
    if y >= _P:
        raise SignatureError("the Ed25519 point is not in its one form")
    if y in _SMALL_ORDER_Y:
        raise SignatureError("the Ed25519 point has a small order: one signature would fit every text")


def _verify_raw(key: PublicKey, signature: Signature, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    reader = _Reader(key.blob)
    reader.name()
    try:
        if key.is_security_key:
            signed = _security_key_bytes(key, signature, signed)
        if key.type in (ED25519, SK_ED25519):
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

            if signature.scheme != key.type or len(signature.raw) != 64:
                return False
            Ed25519PublicKey.from_public_bytes(reader.string()).verify(signature.raw, signed)
        elif key.type == RSA:
            _verify_rsa(reader, signature, signed)
        else:
            _verify_ecdsa(key, reader, signature, signed)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):  # SignatureError is a ValueError
        return False
    return True


def _security_key_bytes(key: PublicKey, signature: Signature, signed: bytes) -> bytes:
    """Return what a security key signs (OpenSSH's PROTOCOL.u2f)."""
    reader = _Reader(key.blob)
    reader.name()
    reader.string()
    if key.type == SK_ECDSA:
        reader.string()
    application = reader.string()
    return (
        hashlib.sha256(application).digest()
        + bytes([signature.flags])
        + signature.counter.to_bytes(4, "big")
        + hashlib.sha256(signed).digest()
    )


def _verify_rsa(reader: _Reader, signature: Signature, signed: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    chosen: dict[str, hashes.HashAlgorithm] = {"rsa-sha2-512": hashes.SHA512(), "rsa-sha2-256": hashes.SHA256()}
    if signature.scheme not in chosen:  # "ssh-rsa" is SHA-1
        raise SignatureError("the signature's scheme does not fit an RSA key")
    exponent, modulus = reader.positive(), reader.positive()
    key = RSAPublicNumbers(exponent, modulus).public_key()
    key.verify(signature.raw, signed, padding.PKCS1v15(), chosen[signature.scheme])


def _verify_ecdsa(key: PublicKey, reader: _Reader, signature: Signature, signed: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    chosen: dict[str, tuple[ec.EllipticCurve, hashes.HashAlgorithm]] = {
        "nistp256": (ec.SECP256R1(), hashes.SHA256()),
        "nistp384": (ec.SECP384R1(), hashes.SHA384()),
        "nistp521": (ec.SECP521R1(), hashes.SHA512()),
    }
    if signature.scheme != key.type:
        raise SignatureError("the signature's scheme does not fit the key")
    curve, hash_algorithm = chosen[reader.name()]
    numbers = _Reader(signature.raw)
    r, s = numbers.positive(), numbers.positive()
    numbers.end()
    public = ec.EllipticCurvePublicKey.from_encoded_point(curve, reader.string())
    public.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hash_algorithm))
