"""Reading and verifying SSH signatures, with ``ssh-keygen -Y verify`` as the oracle."""

from __future__ import annotations

import random
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest
from people import ssh_verifies
from security_key import SecurityKey, ssh_number, ssh_string

from memfs.trust.sshsig import (
    SK_ECDSA,
    SK_ED25519,
    PublicKey,
    SignatureError,
    format_armored,
    parse_armored,
    parse_public_key,
    parse_signature,
    private_key_public,
    verify,
)

NAMESPACE = "memory-approval@v1"
MESSAGE = b"memory-approval v1 approve\n"
KINDS = ["ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-3072"]


def make_signed(folder: Path, kind: str) -> tuple[PublicKey, bytes]:
    """Return a real key of ``kind`` and its signature over MESSAGE."""
    if kind.startswith("sk-"):
        key = SecurityKey(kind)
        return key.public, key.sign(NAMESPACE, MESSAGE)
    name, _, bits = kind.partition("-")
    path = folder / "key"
    size = ["-b", bits] if bits else []
    subprocess.run(["ssh-keygen", "-q", "-t", name, *size, "-N", "", "-f", str(path)], check=True)
    (folder / "text").write_bytes(MESSAGE)
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(path), str(folder / "text")],
        check=True,
        capture_output=True,
    )
    public = parse_public_key(" ".join(path.with_suffix(".pub").read_text().split()[:2]))
    return public, parse_armored((folder / "text.sig").read_text())


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[PublicKey, bytes]]:
    return {kind: make_signed(tmp_path_factory.mktemp("key"), kind) for kind in [*KINDS, SK_ED25519, SK_ECDSA]}


def accepts(key: PublicKey, blob: bytes, message: bytes = MESSAGE) -> bool:
    try:
        signature = parse_signature(blob)
    except SignatureError:
        return False
    return signature.namespace == NAMESPACE and verify(key, signature, message)


@pytest.mark.parametrize("kind", [*KINDS, SK_ED25519, SK_ECDSA])
def test_every_accepted_kind_of_key_verifies_here_and_in_ssh_keygen(
    signed: dict[str, tuple[PublicKey, bytes]], kind: str, tmp_path: Path
) -> None:
    key, blob = signed[kind]
    assert accepts(key, blob)
    assert ssh_verifies(key.text, MESSAGE, format_armored(blob), tmp_path)
    assert not accepts(key, blob, MESSAGE + b" ")


@pytest.mark.parametrize("kind", [*KINDS, SK_ED25519, SK_ECDSA])
def test_another_key_of_the_same_kind_does_not_verify(
    signed: dict[str, tuple[PublicKey, bytes]], kind: str, tmp_path: Path
) -> None:
    key, blob = signed[kind]
    other, _ = make_signed(tmp_path, kind)
    assert not accepts(other, blob)
    # The other key's blob put into the signature, so that only the arithmetic can object.
    swapped = blob.replace(ssh_string(key.blob), ssh_string(other.blob))
    assert not accepts(other, swapped)


def _mutate(blob: bytes, random_source: random.Random) -> bytes:
    raw = bytearray(blob)
    how = random_source.randrange(6)
    place = random_source.randrange(len(raw))
    if how <= 2:
        raw[place] ^= 1 << random_source.randrange(8)
    elif how == 3:
        del raw[place : place + random_source.randrange(1, 9)]
    elif how == 4:
        raw[place:place] = random_source.randbytes(random_source.randrange(1, 9))
    else:
        raw += random_source.randbytes(random_source.randrange(1, 5))
    return bytes(raw)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa-256", "rsa-3072", SK_ED25519, SK_ECDSA])
def test_mutated_signatures_are_judged_as_ssh_keygen_judges_them(
    signed: dict[str, tuple[PublicKey, bytes]], kind: str, tmp_path: Path
) -> None:
    """Two hundred mutations of each of five kinds: a thousand (trust case 17)."""
    key, blob = signed[kind]
    source = random.Random(f"mutations of {kind}")
    disagreed = []
    for _ in range(200):
        mutated = _mutate(blob, source)
        ours = accepts(key, mutated)
        theirs = ssh_verifies(key.text, MESSAGE, format_armored(mutated), tmp_path)
        if ours != theirs:
            disagreed.append((mutated.hex(), ours, theirs))
    # We may be stricter (bytes after the end, numbers in a longer form), never more lenient.
    assert [case for case in disagreed if case[1]] == []
    assert len(disagreed) <= 4, disagreed


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa-256", "rsa-3072", SK_ED25519])
def test_no_single_flipped_bit_verifies(signed: dict[str, tuple[PublicKey, bytes]], kind: str) -> None:
    key, blob = signed[kind]
    step = 1 if kind == "ed25519" else 7
    for bit in range(0, len(blob) * 8, step):
        raw = bytearray(blob)
        raw[bit // 8] ^= 1 << (bit % 8)
        assert not accepts(key, bytes(raw)), f"bit {bit}"


def test_bytes_after_the_end_are_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    for kind, (_, blob) in signed.items():
        with pytest.raises(SignatureError, match="after the end"):
            parse_signature(blob + b"\0")
        with pytest.raises(SignatureError):
            parse_signature(blob[:-1])
        assert parse_signature(blob).key_blob, kind


def test_bytes_after_the_inner_signature_are_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    for kind, (_, blob) in signed.items():
        at = blob.index(ssh_string(b"sha512")) + len(ssh_string(b"sha512"))
        inner = blob[at + 4 :]
        assert blob[at : at + 4] == len(inner).to_bytes(4, "big"), kind
        for tail in (b"\0", b"\1\0\0\0\7", b"\0\0\0\0"):
            with pytest.raises(SignatureError, match="after the end"):
                parse_signature(blob[:at] + ssh_string(inner + tail))


def test_a_touch_is_a_flag_that_is_signed(tmp_path: Path) -> None:
    key = SecurityKey(SK_ED25519)
    touched = parse_signature(key.sign(NAMESPACE, MESSAGE))
    key.touched = False
    blob = key.sign(NAMESPACE, MESSAGE)
    assert touched.touched
    assert not parse_signature(blob).touched
    # ssh-keygen does not look at it (TRUST 5), which is why memfs does.
    assert ssh_verifies(key.public.text, MESSAGE, format_armored(blob), tmp_path)
    raw = bytearray(blob)
    raw[-5] = 1
    assert parse_signature(bytes(raw)).touched
    assert not accepts(key.public, bytes(raw))


def test_a_sha1_signature_by_an_rsa_key_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    key, blob = signed["rsa-3072"]
    forged = blob.replace(ssh_string(b"rsa-sha2-512"), ssh_string(b"ssh-rsa"))
    size = len(ssh_string(b"rsa-sha2-512")) - len(ssh_string(b"ssh-rsa"))
    at = forged.rindex(ssh_string(b"ssh-rsa")) - 4
    old = int.from_bytes(forged[at : at + 4], "big")
    forged = forged[:at] + (old - size).to_bytes(4, "big") + forged[at + 4 :]
    assert parse_signature(forged).scheme == "ssh-rsa"
    assert not accepts(key, forged)


def test_an_ed25519_signature_under_an_ecdsa_key_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    ed25519, blob = signed["ed25519"]
    ecdsa, _ = signed["ecdsa-256"]
    mixed = blob.replace(ssh_string(ed25519.blob), ssh_string(ecdsa.blob))
    assert parse_signature(mixed).scheme == "ssh-ed25519"
    assert not accepts(ecdsa, mixed)


def test_a_security_key_scheme_under_a_plain_key_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    plain, _ = signed["ed25519"]
    security, blob = signed[SK_ED25519]
    assert not accepts(plain, blob.replace(ssh_string(security.blob), ssh_string(plain.blob)))
    plain_blob = signed["ed25519"][1]
    assert not accepts(security, plain_blob.replace(ssh_string(plain.blob), ssh_string(security.blob)))


def test_sha256_hashes_are_accepted_and_others_are_not(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    _, blob = signed["ed25519"]
    for name in (b"sha1", b"md5", b"sha384", b"SHA512", b""):
        with pytest.raises(SignatureError, match="hash"):
            parse_signature(blob.replace(ssh_string(b"sha512"), ssh_string(name)))
    assert parse_signature(blob.replace(ssh_string(b"sha512"), ssh_string(b"sha256"))).hash_name == "sha256"


def test_a_sha256_signature_verifies(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(MESSAGE)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-O", "hashalg=sha256", "-n", NAMESPACE, "-f", "key", "text"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    key = parse_public_key(" ".join((tmp_path / "key.pub").read_text().split()[:2]))
    assert accepts(key, parse_armored((tmp_path / "text.sig").read_text()))


def test_a_reserved_field_with_something_in_it_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    _, blob = signed["ed25519"]
    at = blob.index(ssh_string(b"sha512"))
    with pytest.raises(SignatureError, match="reserved"):
        parse_signature(blob[: at - 4] + ssh_string(b"x") + blob[at:])


def test_version_two_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    _, blob = signed["ed25519"]
    with pytest.raises(SignatureError, match="version 1"):
        parse_signature(blob[:6] + b"\0\0\0\2" + blob[10:])


def _ed25519_text(point: bytes) -> str:
    blob = ssh_string(b"ssh-ed25519") + ssh_string(point)
    return f"ssh-ed25519 {b64encode(blob).decode()}"


P = 2**255 - 19
Y8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
SMALL = [0, 1, P - 1, Y8, P - Y8]
ENCODINGS = sorted(
    {
        (y | sign << 255).to_bytes(32, "little")
        for y in [*SMALL, P, P + 1]  # P and P + 1 are 0 and 1 written another way
        for sign in (0, 1)
    }
)


def test_there_are_fourteen_encodings_of_small_order() -> None:
    assert len(ENCODINGS) == 14


@pytest.mark.parametrize("point", ENCODINGS, ids=lambda point: point.hex()[:8])
def test_ed25519_points_of_small_order_are_refused(point: bytes) -> None:
    with pytest.raises(SignatureError, match=r"small order|one form"):
        parse_public_key(_ed25519_text(point))


def test_one_constant_signature_would_verify_for_every_text_under_such_a_point(tmp_path: Path) -> None:
    """Why they are refused: the arithmetic itself says yes, here and in ssh-keygen."""
    point = (1).to_bytes(32, "little")
    public = PublicKey(type="ssh-ed25519", blob=ssh_string(b"ssh-ed25519") + ssh_string(point))
    constant = point + bytes(32)
    head = ssh_string(NAMESPACE.encode()) + ssh_string(b"") + ssh_string(b"sha512")
    inner = ssh_string(b"ssh-ed25519") + ssh_string(constant)
    blob = b"SSHSIG" + b"\0\0\0\1" + ssh_string(public.blob) + head + ssh_string(inner)
    for text in (b"one", b"two", b"three"):
        assert verify(public, parse_signature(blob), text)
        assert ssh_verifies(public.text, text, format_armored(blob), tmp_path)


@pytest.mark.parametrize("y", [P + 2, P + 18, 2**255 - 1])
def test_ed25519_points_in_another_form_are_refused(y: int) -> None:
    with pytest.raises(SignatureError, match="one form"):
        parse_public_key(_ed25519_text(y.to_bytes(32, "little")))


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_ed25519_points_of_another_length_are_refused(size: int) -> None:
    with pytest.raises(SignatureError, match="32 bytes"):
        parse_public_key(_ed25519_text(b"\7" * size))


def _rsa_text(modulus: int, exponent: int = 65537) -> str:
    blob = ssh_string(b"ssh-rsa") + ssh_number(exponent) + ssh_number(modulus)
    return f"ssh-rsa {b64encode(blob).decode()}"


@pytest.mark.parametrize("bits", [1024, 2048, 3071, 16385])
def test_rsa_keys_outside_the_sizes_are_refused(bits: int) -> None:
    with pytest.raises(SignatureError, match="3072"):
        parse_public_key(_rsa_text((1 << (bits - 1)) | 1))


@pytest.mark.parametrize("exponent", [1, 2, 65536, 2**64 + 1])
def test_rsa_exponents_that_sign_for_everybody_or_cost_too_much_are_refused(exponent: int) -> None:
    with pytest.raises(SignatureError, match="numbers"):
        parse_public_key(_rsa_text((1 << 3071) | 1, exponent))


def test_an_even_rsa_modulus_is_refused() -> None:
    with pytest.raises(SignatureError, match="numbers"):
        parse_public_key(_rsa_text(1 << 3071))


@pytest.mark.parametrize(
    "key_type",
    [
        "ssh-dss",
        "ssh-ed25519-cert-v01@openssh.com",
        "ssh-rsa-cert-v01@openssh.com",
        "sk-ssh-ed25519-cert-v01@openssh.com",
        "webauthn-sk-ecdsa-sha2-nistp256@openssh.com",
        "rsa-sha2-512",
        "ssh-ed448",
        "",
    ],
)
def test_other_types_of_key_are_refused(signed: dict[str, tuple[PublicKey, bytes]], key_type: str) -> None:
    encoded = signed["ed25519"][0].text.split(" ")[1]
    with pytest.raises(SignatureError):
        parse_public_key(f"{key_type} {encoded}")


def test_a_key_in_another_spelling_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    text = signed["ed25519"][0].text
    name, encoded = text.split(" ")
    for other in (
        f"{text} comment",
        f"{name}  {encoded}",
        f"{name} {encoded}=",
        f"{name} {encoded[:-1]}",
        f" {text}",
        text + "\n",
    ):
        with pytest.raises(SignatureError):
            parse_public_key(other)


def test_trailing_bytes_in_a_key_are_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    for key, _ in signed.values():
        with pytest.raises(SignatureError):
            parse_public_key(f"{key.type} {b64encode(key.blob + bytes(3)).decode()}")


def test_a_curve_that_does_not_fit_its_type_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    key, _ = signed["ecdsa-256"]
    blob = key.blob.replace(ssh_string(b"nistp256"), ssh_string(b"nistp384"))
    with pytest.raises(SignatureError, match="curve"):
        parse_public_key(f"{key.type} {b64encode(blob).decode()}")


def test_a_compressed_point_is_refused(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    blob = ssh_string(b"ecdsa-sha2-nistp256") + ssh_string(b"nistp256") + ssh_string(b"\2" + bytes(32))
    with pytest.raises(SignatureError, match="uncompressed"):
        parse_public_key(f"ecdsa-sha2-nistp256 {b64encode(blob).decode()}")


def test_a_point_off_its_curve_never_verifies(signed: dict[str, tuple[PublicKey, bytes]]) -> None:
    key, blob = signed["ecdsa-256"]
    raw = bytearray(key.blob)
    raw[-1] ^= 1
    off = parse_public_key(f"{key.type} {b64encode(bytes(raw)).decode()}")
    assert not accepts(off, blob.replace(ssh_string(key.blob), ssh_string(off.blob)))


def test_the_public_half_of_a_private_key_is_read_without_its_passphrase(tmp_path: Path) -> None:
    path = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f", str(path)], check=True)
    public = parse_public_key(" ".join(path.with_suffix(".pub").read_text().split()[:2]))
    assert private_key_public(path.read_bytes()) == public


def test_a_fingerprint_is_what_ssh_keygen_shows(tmp_path: Path) -> None:
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    shown = subprocess.run(["ssh-keygen", "-lf", str(path)], check=True, capture_output=True, text=True).stdout
    assert private_key_public(path.read_bytes()).fingerprint == shown.split()[1]
