"""Making and changing keyrings, and pinning a repository. The rules are in ``keyring``."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from memfs.disk.files import UnreadableFile, read_if_there
from memfs.disk.places import Places
from memfs.disk.settings import read_repository_settings
from memfs.disk.worktree import WorkTree
from memfs.errors import UsageError
from memfs.git.commit import Change, commit_changes
from memfs.model.values import dataclass, replace
from memfs.trust import keyring as keyring_format
from memfs.trust import sshsig
from memfs.trust.check import find_new_shortages
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
from memfs.trust.opening import open_view
from memfs.trust.signing import Signer
from memfs.trust.sshsig import PublicKey

PROPOSAL = f"{FOLDER}/keyring.proposed"
"""Where a keyring waits for signatures. It is not a version, so nothing in it counts."""
_RETIRED = {"roles": (RETIRED,), "touch": False, "after": None, "before": None}


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
    _require_touchable([key])
    return (*keyring.keys, key)


def set_keys(keyring: Keyring, who: str, changes: Mapping[str, object]) -> tuple[Key, ...]:
    """Return the keys with ``changes`` to the fields of those that :func:`choose_keys` gives for ``who``.

    Raises :class:`UsageError` for no change, for a touch that no security key gives, and where nobody could change
    the keyring any more.
    """
    chosen = choose_keys(keyring, who)
    if not changes:
        raise UsageError("say what to change: --role, --scope, --after, --before or --touch")
    changed = {key.public.blob: replace(key, **changes) for key in chosen}
    if changes.get("touch"):
        _require_touchable(changed.values())
    return _require_roots_left(keyring, [changed.get(key.public.blob, key) for key in keyring.keys], who)


def retire_keys(keyring: Keyring, who: str) -> tuple[Key, ...]:
    """Return the keys with those of ``who`` retired: they may only take away, and only in their scopes."""
    return set_keys(keyring, who, _RETIRED)


def remove_keys(keyring: Keyring, who: str) -> tuple[Key, ...]:
    """Return the keys without those of ``who``: as if they had never been, their withdrawals too."""
    chosen = choose_keys(keyring, who)
    return _require_roots_left(keyring, [key for key in keyring.keys if key not in chosen], who)


def rotate_key(keyring: Keyring, old: Key, public: PublicKey, *, touch: bool) -> tuple[Key, ...]:
    """Return the keys with ``old`` retired, and ``public`` at the end in its place."""
    added = replace(old, public=public, touch=touch or (old.touch and public.is_security_key))
    keys = add_key(keyring, added)
    return tuple(replace(key, **_RETIRED) if key == old else key for key in keys)


def set_thresholds(
    keyring: Keyring, *, root: int | None, approve: int | None, needs: Mapping[str, int]
) -> dict[str, object]:
    """Return the changed fields of ``keyring``; a need of 0 removes that scope's.

    Raises :class:`UsageError` for no change, and where nobody's approval could count any more.
    """
    changes: dict[str, object] = {}
    if root is not None:
        changes["root"] = root
    if approve is not None:
        changes["approve"] = approve
    if needs:
        left = {scope: count for scope, count in {**dict(keyring.needs), **needs}.items() if count}
        # The first match counts, so the narrowest scope goes first.
        changes["needs"] = tuple(sorted(left.items(), key=lambda item: (item[0].endswith("*"), -len(item[0]), item[0])))
    if not changes:
        raise UsageError("say which: --root N, --approve N or --need SCOPE=N")
    changed = replace(keyring, **changes)
    require_body(changed)
    shortages = find_new_shortages(keyring, changed)
    if shortages:
        raise UsageError(
            f"nobody's approval could count any more: {shortages[0]}", hint="list more people first: `memfs keys add`"
        )
    return changes


def _require_touchable(keys: Iterable[Key]) -> None:
    if any(key.touch and not key.public.is_security_key for key in keys):
        raise UsageError("only a security key can require a touch", where="--touch")


def _require_roots_left(keyring: Keyring, keys: Sequence[Key], who: str) -> tuple[Key, ...]:
    """Return ``keys``, unless they leave fewer root people than must sign the next keyring."""
    left = {key.principal for key in keys if key.is_root}
    if len(left) < keyring.root:
        raise UsageError(
            f"nobody could change the keyring any more: it takes {keyring.root} root people, {len(left)} would be left",
            where=_one_word(who),
            hint="list another one first: memfs keys add ADDRESS PUBLIC_KEY --role root,approve",
        )
    return tuple(keys)


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


def read_proposal(tree: WorkTree, chain: Chain) -> SignedKeyring | None:
    """Return the keyring that waits for signatures, or None.

    Raises :class:`KeyringError` when it does not follow the newest version or cannot be read.
    """
    try:
        raw = read_if_there(tree, PROPOSAL, limit=MAX_KEYRING_BYTES)
    except UnreadableFile as error:
        raise KeyringError(f"the proposal {error.message}", where=PROPOSAL) from None
    if raw is None:
        return None
    signed = parse_file(raw, where=PROPOSAL)
    if signed.keyring.version != len(chain.versions) + 1 or signed.keyring.previous != chain.newest.digest:
        raise KeyringError(
            "the proposal does not follow the newest version of the keyring",
            where=PROPOSAL,
            hint="delete it and make the change again",
        )
    return signed


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A keyring that was committed, and how many people of the version before and of its own must still sign."""

    commit: str
    missing_before: int
    missing_own: int

    @property
    def complete(self) -> bool:
        return not self.missing_before and not self.missing_own


def save_keyring(
    tree: WorkTree, places: Places, signed: SignedKeyring, subject: str, *, before: Keyring, today: date
) -> Saved:
    """Commit ``signed``: as its version when enough people of it and of ``before`` signed, as a proposal otherwise.

    This machine remembers it at once. Raises :class:`KeyringError` for a signature that does not fit.
    """
    missing_before, missing_own = missing_signers(signed, before, sshsig.verify, where=PROPOSAL)
    if missing_before or missing_own:
        changes = [Change(path=PROPOSAL, content=format_file(signed.body, signed.signatures))]
        subject = f"Propose: {subject}"
    else:
        changes = [keyring_change(signed)]
        if os.path.lexists(tree.root / PROPOSAL):
            changes.append(Change(path=PROPOSAL, content=None))
    commit = commit_changes(tree, changes, read_repository_settings(tree).message(subject))
    open_view(tree, places, today=today)
    return Saved(commit=commit, missing_before=missing_before, missing_own=missing_own)


def _one_word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9@.:+/_-]", "?", text)
