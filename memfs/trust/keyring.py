"""The keyring of TRUST 5: who may approve what, version after version, signed from a pinned root.

One text form only: what :func:`format_body` would not write is refused, so no second reader can see
another keyring. Pure.
"""

from __future__ import annotations

import hashlib
import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Mapping
from datetime import date

from memfs.errors import TrustError
from memfs.model.values import dataclass
from memfs.trust.record import PRINCIPAL_PATTERN
from memfs.trust.sshsig import PublicKey, Signature, SignatureError, parse_public_key, parse_signature

NAMESPACE = "memory-keyring@v1"
FOLDER = ".memfs"
MAX_KEYRING_BYTES = 256 * 1024
MAX_VERSIONS = 10_000
ROOT, APPROVE, RETIRED = "root", "approve", "retired"

_HEADER = "memory-keyring v1"
_MARK = "--signatures"
_PRINCIPAL = re.compile(PRINCIPAL_PATTERN)
_PATTERN = re.compile(
    r"\*|personal|team(?:/(?:\*|[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?))?|restricted/(?:\*|[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)"
)
_COUNT = re.compile(r"[1-9][0-9]?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[1-9][0-9]{0,4}")
_FILE_NAME = re.compile(r"keyring\.([1-9][0-9]{0,4})")

Verify = Callable[[PublicKey, Signature, bytes], bool]
"""Whether a parsed signature is the key's over the bytes: ``sshsig.verify``, or a cache before it."""


class KeyringError(TrustError):
    """The keyring is refused; nothing is trusted until it is repaired."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(
            message,
            reason="keyring-broken",
            where=where,
            hint=hint or "restore .memfs/ from a commit that your team trusts",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One line ``key PRINCIPAL ROLES TYPE BASE64 [OPTIONS]``."""

    principal: str
    roles: tuple[str, ...]  # in the order root, approve; or retired alone
    public: PublicKey
    touch: bool = False
    after: date | None = None
    before: date | None = None
    scopes: tuple[str, ...] = ()  # patterns; none is every scope

    @property
    def is_root(self) -> bool:
        return ROOT in self.roles

    @property
    def is_retired(self) -> bool:
        return RETIRED in self.roles

    @property
    def counts(self) -> bool:
        """Return whether records of this key count at all; a key for keyrings only has no say."""
        return APPROVE in self.roles or RETIRED in self.roles

    def approves_on(self, day: date) -> bool:
        """Return whether this key may approve anything on ``day``."""
        in_time = (self.after is None or day >= self.after) and (self.before is None or day < self.before)
        return APPROVE in self.roles and in_time

    def covers(self, scope: str) -> bool:
        return not self.scopes or any(scope_matches(pattern, scope) for pattern in self.scopes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyring:
    """The body of one version."""

    version: int
    previous: str | None  # digest of the body before; None in version 1
    salt: str | None  # version 1 only
    root: int
    approve: int
    needs: tuple[tuple[str, int], ...]
    keys: tuple[Key, ...]
    denied: tuple[str, ...] = ()

    def need(self, scope: str) -> int:
        """Return how many people a memory of ``scope`` needs: the first line that matches."""
        for pattern, count in self.needs:
            if scope_matches(pattern, scope):
                return count
        return self.approve

    def find_key(self, blob: bytes) -> Key | None:
        for key in self.keys:
            if key.public.blob == blob:
                return key
        return None

    def principals(self, role: str) -> tuple[str, ...]:
        """Return the people who hold ``role``, each once, in the keyring's order."""
        return tuple(dict.fromkeys(key.principal for key in self.keys if role in key.roles))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedKeyring:
    """One file ``.memfs/keyring.N``: a body and the signatures over it."""

    keyring: Keyring
    body: bytes
    signatures: tuple[bytes, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Every version from 1 on, each signed by the people that the one before names."""

    versions: tuple[SignedKeyring, ...]

    @property
    def repository_id(self) -> str:
        """Return what a person pins: the start of the digest of the first body."""
        return self.versions[0].digest[:32]

    @property
    def newest(self) -> SignedKeyring:
        return self.versions[-1]

    @property
    def keyring(self) -> Keyring:
        return self.versions[-1].keyring


def scope_matches(pattern: str, scope: str) -> bool:
    """Return whether ``pattern`` (a scope, ``PREFIX/*`` or ``*``) covers ``scope``."""
    if pattern == "*":
        return True
    if pattern.endswith("/*"):
        return scope.startswith(pattern[:-1])
    return scope == pattern


def version_of_name(name: str) -> int | None:
    """Return N for the file name ``keyring.N``, None for any other name."""
    match = _FILE_NAME.fullmatch(name)
    return int(match[1]) if match else None


def format_body(keyring: Keyring) -> bytes:
    """Return the one text of ``keyring``: what is hashed and signed."""
    lines = [_HEADER, f"version {keyring.version}", f"prev {keyring.previous or 'none'}"]
    if keyring.salt is not None:
        lines.append(f"salt {keyring.salt}")
    lines += [f"root {keyring.root}", f"approve {keyring.approve}"]
    lines += [f"need {pattern} {count}" for pattern, count in keyring.needs]
    lines += [_format_key(key) for key in keyring.keys]
    lines += [f"deny {digest}" for digest in keyring.denied]
    return ("\n".join(lines) + "\n").encode("ascii")


def format_file(body: bytes, signatures: Iterable[bytes]) -> bytes:
    """Return the bytes of ``.memfs/keyring.N``."""
    lines = [b2a_base64(blob, newline=False).decode("ascii") for blob in signatures]
    return body + ("\n".join([_MARK, *lines]) + "\n").encode("ascii")


def parse_file(raw: bytes, *, where: str) -> SignedKeyring:
    """Return the keyring in ``raw``; its signatures are read but not verified.

    Raises :class:`KeyringError` with the line for anything that :func:`format_body` and
    :func:`format_file` would not have written (TRUST 5).
    """
    if len(raw) > MAX_KEYRING_BYTES:
        raise KeyringError("the keyring is over 256 KiB", where=where)
    if b"\r" in raw or not raw.isascii():
        raise KeyringError("the keyring is not plain ASCII with LF line ends", where=where)
    if not raw.endswith(b"\n"):
        raise KeyringError("the keyring does not end with a line end", where=where)
    lines = raw.decode("ascii").split("\n")[:-1]
    if lines.count(_MARK) != 1:
        raise KeyringError(f"the keyring needs one line {_MARK}", where=where)
    at = lines.index(_MARK)
    keyring = _parse_body(lines[:at], where)
    body = format_body(keyring)
    if not raw.startswith(body + _MARK.encode() + b"\n"):
        raise KeyringError("the keyring is not written in its one form", where=where)
    signatures = tuple(
        _parse_signature_line(line, f"{where}:{number}") for number, line in enumerate(lines[at + 1 :], at + 2)
    )
    return SignedKeyring(keyring=keyring, body=body, signatures=signatures)


def parse_body(raw: bytes, *, where: str) -> Keyring:
    """Return the keyring of a body alone, as a proposal carries it. Raises :class:`KeyringError`."""
    return parse_file(format_file(raw, ()), where=where).keyring


def check_chain(files: Mapping[int, bytes], verify: Verify) -> Chain:
    """Return the chain of ``files`` (version → bytes), every rule of TRUST 5 checked.

    Raises :class:`KeyringError` naming the first version that does not hold: all of 1…N must be
    there, each ``prev`` must fit, and each must be signed by enough people of the version before
    **and** of itself. One bad version means that there is no keyring.
    """
    if not files:
        raise KeyringError("there is no keyring", where=f"{FOLDER}/keyring.1", hint="`memfs keys create` makes one")
    if len(files) > MAX_VERSIONS:
        raise KeyringError("there are too many versions of the keyring", where=FOLDER)
    versions: list[SignedKeyring] = []
    for number in range(1, max(files) + 1):
        where = f"{FOLDER}/keyring.{number}"
        if number not in files:
            raise KeyringError("this version of the keyring is missing", where=where)
        signed = parse_file(files[number], where=where)
        before = versions[-1] if versions else None
        _check_link(signed, before, number, where)
        check_signatures(signed, before.keyring if before else None, verify, where=where)
        versions.append(signed)
    return Chain(versions=tuple(versions))


def missing_signers(signed: SignedKeyring, before: Keyring | None, verify: Verify, *, where: str) -> tuple[int, int]:
    """Return how many more people of the version before and of this one must sign.

    Raises :class:`KeyringError` for a signature that is not a root key's over this body.
    """
    old_people: set[str] = set()
    new_people: set[str] = set()
    for blob in signed.signatures:
        try:
            signature = parse_signature(blob)
        except SignatureError as error:
            raise KeyringError(f"a signature cannot be read: {error}", where=where) from None
        in_old = _root_key(before, signature) if before else None
        in_new = _root_key(signed.keyring, signature)
        key = in_new or in_old
        if key is None:
            raise KeyringError("a signature is by a key that may not sign keyrings", where=where)
        if signature.namespace != NAMESPACE or not verify(key.public, signature, signed.body):
            raise KeyringError("a signature does not fit the keyring", where=where)
        if in_old is not None and (signature.touched or not in_old.touch):
            old_people.add(in_old.principal)
        if in_new is not None and (signature.touched or not in_new.touch):
            new_people.add(in_new.principal)
    of_before = max(0, before.root - len(old_people)) if before else 0
    return of_before, max(0, signed.keyring.root - len(new_people))


def check_signatures(signed: SignedKeyring, before: Keyring | None, verify: Verify, *, where: str) -> None:
    """Raise :class:`KeyringError` unless enough people signed."""
    old, new = missing_signers(signed, before, verify, where=where)
    if old:
        raise KeyringError("not enough people of the version before signed this keyring", where=where)
    if new:
        raise KeyringError("not enough of its own root people signed this keyring", where=where)


def format_allowed_signers(keyring: Keyring) -> str:
    """Return the keyring as an OpenSSH allowed-signers file, for checks by hand.

    Scopes, thresholds, touch and denied texts have no words there.
    """
    lines = []
    for key in keyring.keys:
        if key.is_retired:
            continue
        spaces = [NAMESPACE] * key.is_root + ["memory-approval@v1"] * (APPROVE in key.roles)
        options = f'namespaces="{",".join(spaces)}"'
        if key.after:
            options += f',valid-after="{key.after:%Y%m%d}"'
        if key.before:
            options += f',valid-before="{key.before:%Y%m%d}"'
        lines.append(f"{key.principal} {options} {key.public.text}\n")
    return "".join(lines)


def _root_key(keyring: Keyring, signature: Signature) -> Key | None:
    key = keyring.find_key(signature.key_blob)
    return key if key is not None and key.is_root else None


def _check_link(signed: SignedKeyring, before: SignedKeyring | None, number: int, where: str) -> None:
    keyring = signed.keyring
    if keyring.version != number:
        raise KeyringError(f"the file says version {keyring.version}", where=where)
    if before is None:
        if keyring.previous is not None or keyring.salt is None:
            raise KeyringError("the first version has `prev none` and a salt", where=where)
    elif keyring.previous != before.digest or keyring.salt is not None:
        raise KeyringError("the version does not follow the one before", where=where)


def _format_key(key: Key) -> str:
    words = ["key", key.principal, ",".join(key.roles), key.public.text]
    if key.touch:
        words.append("touch=required")
    if key.after:
        words.append(f"after={key.after.isoformat()}")
    if key.before:
        words.append(f"before={key.before.isoformat()}")
    words += [f"scope={pattern}" for pattern in key.scopes]
    return " ".join(words)


def _parse_body(lines: list[str], where: str) -> Keyring:
    rest = _Lines(lines, where)
    rest.literal(_HEADER)
    version = int(rest.value("version", _VERSION))
    prev = rest.value("prev", re.compile(r"none|[0-9a-f]{64}"))
    salt = rest.value("salt", re.compile(r"[0-9a-f]{32}")) if rest.is_next("salt") else None
    root = int(rest.value("root", _COUNT))
    approve = int(rest.value("approve", _COUNT))
    needs: list[tuple[str, int]] = []
    while rest.is_next("need"):
        words = rest.words("need", 2)
        if not _PATTERN.fullmatch(words[0]) or not _COUNT.fullmatch(words[1]):
            raise rest.error("a need is a scope, PREFIX/* or *, and a number of people")
        needs.append((words[0], int(words[1])))
    keys: list[Key] = []
    while rest.is_next("key"):
        keys.append(_parse_key(rest))
    denied: list[str] = []
    while rest.is_next("deny"):
        denied.append(rest.value("deny", _DIGEST))
    rest.end()
    keyring = Keyring(
        version=version,
        previous=None if prev == "none" else prev,
        salt=salt,
        root=root,
        approve=approve,
        needs=tuple(needs),
        keys=tuple(keys),
        denied=tuple(denied),
    )
    check_keyring(keyring, where=where)
    return keyring


def check_keyring(keyring: Keyring, *, where: str) -> None:
    """Raise :class:`KeyringError` for what no single line shows: shared keys, too few root people."""
    blobs = [key.public.blob for key in keyring.keys]
    if len(set(blobs)) != len(blobs):
        raise KeyringError("one key is in the keyring twice", where=where)
    if len(keyring.principals(ROOT)) < keyring.root:
        raise KeyringError("fewer root people than must sign the next keyring", where=where)
    if len(set(keyring.denied)) != len(keyring.denied):
        raise KeyringError("one text is denied twice", where=where)
    patterns = [pattern for pattern, _ in keyring.needs]
    if len(set(patterns)) != len(patterns):
        raise KeyringError("one scope has two needs", where=where)


def _parse_key(rest: _Lines) -> Key:
    words = rest.words("key", None)
    if len(words) < 4:
        raise rest.error("a key line is: key PRINCIPAL ROLES TYPE BASE64 [OPTIONS]")
    principal, roles, key_type, encoded, *options = words
    if not _PRINCIPAL.fullmatch(principal):
        raise rest.error("a principal is one lower-case address without wildcards")
    if roles not in (ROOT, APPROVE, f"{ROOT},{APPROVE}", RETIRED):
        raise rest.error("roles are root, approve, root,approve or retired")
    try:
        public = parse_public_key(f"{key_type} {encoded}")
    except SignatureError as error:
        raise rest.error(str(error)) from None
    touch, after, before, scopes = False, None, None, []
    for option in options:
        name, _, value = option.partition("=")
        if option == "touch=required" and public.is_security_key:
            touch = True
        elif name in ("after", "before"):
            day = rest.day(value)
            after, before = (day, before) if name == "after" else (after, day)
        elif name == "scope" and _PATTERN.fullmatch(value):
            scopes.append(value)
        else:
            raise rest.error("a key's options are touch=required (security keys), after=, before= and scope=")
    return Key(
        principal=principal,
        roles=tuple(roles.split(",")),
        public=public,
        touch=touch,
        after=after,
        before=before,
        scopes=tuple(scopes),
    )


def _parse_signature_line(line: str, where: str) -> bytes:
    try:
        blob = a2b_base64(line, strict_mode=True)
    except (Base64Error, ValueError):
        raise KeyringError("only base64 signatures may follow the body", where=where) from None
    if not blob or b2a_base64(blob, newline=False).decode("ascii") != line:
        raise KeyringError("only base64 signatures may follow the body", where=where)
    return blob


class _Lines:
    """The lines of a body, taken one after the other; errors carry the line's number."""

    __slots__ = ("_lines", "_place", "_where")

    def __init__(self, lines: list[str], where: str) -> None:
        self._lines = lines
        self._place = 0
        self._where = where

    def error(self, message: str) -> KeyringError:
        return KeyringError(message, where=f"{self._where}:{self._place}")

    def is_next(self, keyword: str) -> bool:
        return self._place < len(self._lines) and self._lines[self._place].split(" ")[0] == keyword

    def literal(self, line: str) -> None:
        if self._take() != line:
            raise self.error(f"expected the line {line!r}")

    def words(self, keyword: str, count: int | None) -> list[str]:
        found, *words = self._take().split(" ")
        if found != keyword or (count is not None and len(words) != count):
            raise self.error(f"expected a line that starts with {keyword!r}")
        return words

    def value(self, keyword: str, pattern: re.Pattern[str]) -> str:
        (value,) = self.words(keyword, 1)
        if not pattern.fullmatch(value):
            raise self.error(f"the value of {keyword!r} does not have its form")
        return value

    def day(self, text: str) -> date:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise self.error("a day is written YYYY-MM-DD") from None
        if day.isoformat() != text:
            raise self.error("a day is written YYYY-MM-DD")
        return day

    def end(self) -> None:
        if self._place < len(self._lines):
            self._place += 1
            raise self.error("this line has no place here (unknown keyword, or out of order)")

    def _take(self) -> str:
        if self._place >= len(self._lines):
            self._place += 1
            raise self.error("the keyring ends early")
        line = self._lines[self._place]
        self._place += 1
        return line
