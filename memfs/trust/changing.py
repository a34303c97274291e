"""Making and changing keyrings, and pinning a repository. The rules are in ``keyring``."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from memfs.disk.files import UnreadableFile, read_file
from memfs.disk.settings import read_repository_settings
from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError, UsageError
from memfs.model.values import dataclass, replace
from memfs.trust import keyring as keyring_format
from memfs.trust import sshsig
from memfs.trust.keyring import (
    APPROVE,
    FOLDER,
    MAX_KEYRING_BYTES,
    RETIRED,
    ROOT,
    Chain,
    Key,
    Keyring,
    KeyringError,
    SignedKeyring,
    check_keyring,
    format_body,
    format_file,
    missing_signers,
    parse_file,
)
from memfs.trust.signing import Signer
from memfs.trust.sshsig import PublicKey

if TYPE_CHECKING:
    from memfs.git.commit import Change  # imports GitPython, so only where something is written

PROPOSAL = f"{FOLDER}/keyring.proposed"
"""Where a keyring waits for signatures. It is not a version, so nothing in it counts."""


def new_keyring(signer: Signer, principal: str, *, salt: str | None = None) -> SignedKeyring:
    """Return the first version of a keyring: one person, who is root and approves.

    Raises :class:`UsageError` for a principal that the keyring has no words for.
    """
    key = Key(principal=principal, roles=(ROOT, APPROVE), public=signer.public)
    keyring = Keyring(
        version=1,
        previous=None,
        salt=salt or secrets.token_hex(16),
        root=1,
        approve=1,
        needs=(),
        keys=(key,),
    )
    return sign_keyring(keyring, [signer])


def keyring_change(signed: SignedKeyring) -> Change:
    """Return the change that writes ``signed`` as its version's file."""
    from memfs.git.commit import Change

    path = f"{FOLDER}/keyring.{signed.keyring.version}"
    return Change(path=path, content=format_file(signed.body, signed.signatures), before=None)


def sign_keyring(keyring: Keyring, signers: Iterable[Signer], *, signatures: Sequence[bytes] = ()) -> SignedKeyring:
    """Return ``keyring`` with the signatures it has and those of ``signers``.

    Raises :class:`UsageError` for a keyring that could not be read back.
    """
    body = require_body(keyring)
    added = [signer.sign(keyring_format.NAMESPACE, body) for signer in signers]
    return SignedKeyring(keyring=keyring, body=body, signatures=(*signatures, *added))


def require_body(keyring: Keyring) -> bytes:
    """Return the body of ``keyring``; raise :class:`UsageError` when the strict reader refuses it."""
    try:
        check_keyring(keyring, where="keyring")
        body = format_body(keyring)
        if keyring_format.parse_body(body, where="keyring") != keyring:
            raise UsageError("the keyring does not come back from its text")
    except KeyringError as error:
        raise UsageError(f"such a keyring would be refused: {error.message}") from None
    except UnicodeEncodeError:
        raise UsageError("a keyring is plain ASCII: principals are lower-case addresses") from None
    return body


def next_keyring(chain: Chain, **changes: object) -> Keyring:
    """Return the keyring that follows ``chain``, with ``changes`` to its fields."""
    newest = chain.newest
    return replace(
        newest.keyring,
        version=newest.keyring.version + 1,
        previous=newest.digest,
        salt=None,
        **changes,
    )


def add_key(keyring: Keyring, key: Key) -> tuple[Key, ...]:
    """Return the keys with ``key`` at the end. Raises :class:`UsageError` when it is listed already."""
    if keyring.find_key(key.public.blob) is not None:
        raise UsageError("this key is in the keyring already", where=key.public.fingerprint)
    return (*keyring.keys, key)


def retire_keys(keyring: Keyring, chosen: Sequence[Key]) -> tuple[Key, ...]:
    """Return the keys with ``chosen`` retired: they may only take away, and only in their scopes."""
    blobs = {key.public.blob for key in chosen}
    return tuple(
        replace(key, roles=(RETIRED,), touch=False, after=None, before=None) if key.public.blob in blobs else key
        for key in keyring.keys
    )


def set_keys(
    keyring: Keyring,
    chosen: Sequence[Key],
    *,
    roles: tuple[str, ...] | None = None,
    scopes: tuple[str, ...] | None = None,
    after: date | None = None,
    before: date | None = None,
    touch: bool | None = None,
) -> tuple[Key, ...]:
    """Return the keys with what is named changed in ``chosen``; an empty tuple of scopes is every scope.

    Raises :class:`UsageError` for a change that says nothing, and for a touch that no security key gives.
    """
    named = {"roles": roles, "scopes": scopes, "after": after, "before": before, "touch": touch}
    changes = {name: value for name, value in named.items() if value is not None}
    if not changes:
        raise UsageError("say what to change: --role, --scope, --after, --before or --touch")
    if touch and not all(key.public.is_security_key for key in chosen):
        raise UsageError("only a security key can require a touch", where="--touch")
    blobs = {key.public.blob for key in chosen}
    return tuple(replace(key, **changes) if key.public.blob in blobs else key for key in keyring.keys)


def require_roots_left(keyring: Keyring, keys: Sequence[Key], *, who: str) -> None:
    """Raise :class:`UsageError` where ``keys`` leave fewer root people than must sign the next keyring."""
    left = {key.principal for key in keys if key.is_root}
    if len(left) < keyring.root:
        raise UsageError(
            f"nobody could change the keyring any more: it takes {keyring.root} root people, {len(left)} would be left",
            where=who,
            hint="list another one first: memfs keys add ADDRESS PUBLIC_KEY --role root,approve",
        )


def order_needs(needs: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return needs by scope in the order in which the first match is the narrowest one."""
    return tuple(sorted(needs.items(), key=lambda item: (item[0].endswith("*"), -len(item[0]), item[0])))


def remove_keys(keyring: Keyring, chosen: Sequence[Key]) -> tuple[Key, ...]:
    """Return the keys without ``chosen``: as if they had never been, their withdrawals too."""
    blobs = {key.public.blob for key in chosen}
    return tuple(key for key in keyring.keys if key.public.blob not in blobs)


def choose_keys(keyring: Keyring, name: str) -> tuple[Key, ...]:
    """Return the keys of a principal, or the one with a fingerprint that starts with ``name``.

    Raises :class:`UsageError` when there is none, or the fingerprint fits several.
    """
    of_person = tuple(key for key in keyring.keys if key.principal == name and not key.is_retired)
    if of_person:
        return of_person
    prefix = name if name.startswith("SHA256:") else f"SHA256:{name}"
    found = tuple(key for key in keyring.keys if key.public.fingerprint.startswith(prefix))
    if len(found) != 1:
        raise UsageError(
            "the keyring has no such person or key" if not found else "several keys fit",
            where=name.encode("ascii", "backslashreplace").decode(),
            hint="`memfs keys` lists them",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a keyring is from counting: people still missing of the version before and of its own."""

    signed: SignedKeyring
    missing_before: int
    missing_own: int

    @property
    def complete(self) -> bool:
        return not self.missing_before and not self.missing_own


def standing_of(signed: SignedKeyring, chain: Chain | None) -> Standing:
    """Return who must still sign. Raises :class:`KeyringError` for a signature that does not fit."""
    before = chain.keyring if chain else None
    old, new = missing_signers(signed, before, sshsig.verify, where=PROPOSAL)
    return Standing(signed=signed, missing_before=old, missing_own=new)


def read_proposal(tree: WorkTree, chain: Chain) -> SignedKeyring | None:
    """Return the keyring that waits for signatures, or None.

    Raises :class:`KeyringError` when it does not follow the newest version or cannot be read.
    """
    try:
        raw = read_file(tree, PROPOSAL, limit=MAX_KEYRING_BYTES)
    except UnreadableFile as error:
        if error.reason == "missing":
            return None
        raise KeyringError(f"the proposal {error.message}", where=PROPOSAL) from None
    signed = parse_file(raw, where=PROPOSAL)
    if signed.keyring.version != len(chain.versions) + 1 or signed.keyring.previous != chain.newest.digest:
        raise KeyringError(
            "the proposal does not follow the newest version of the keyring",
            where=PROPOSAL,
            hint="delete it and make the change again",
        )
    return signed


def save_keyring(
    tree: WorkTree, standing: Standing, subject: str, *, had_proposal: bool, more: Sequence[Change] = ()
) -> str:
    """Commit a keyring: as its version when enough people signed, as a proposal otherwise."""
    from memfs.git.commit import Change, commit_changes

    changes: list[Change] = [*more]
    if standing.complete:
        changes.append(keyring_change(standing.signed))
        if had_proposal:
            changes.append(Change(path=PROPOSAL, content=None))
    else:
        changes.append(Change(path=PROPOSAL, content=format_file(standing.signed.body, standing.signed.signatures)))
        subject = f"Propose: {subject}"
    return commit_changes(tree, changes, read_repository_settings(tree).message(subject))


def key_for(public: PublicKey, keyring: Keyring) -> Key:
    """Return the keyring's line of ``public``; raise :class:`SetupError` when there is none."""
    key = keyring.find_key(public.blob)
    if key is None:
        raise SetupError("the keyring does not list this key", where=public.fingerprint)
    return key
