"""The keys of the HTTP endpoint: each one says for whom, which scopes, and whether writing is allowed.

They are kept as digests in the user's settings folder. A key is random, so a plain digest is enough.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from memfs.disk.places import Places
from memfs.disk.private import read_decisive, replace_decisive
from memfs.errors import NotFoundError, SetupError, UsageError
from memfs.model.scope import Caller, require_scope
from memfs.model.values import dataclass

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_MARK = "memfs_"
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key, without its secret."""

    name: str
    digest: str
    scopes: tuple[str, ...]
    write: bool
    made: date

    @property
    def caller(self) -> Caller:
        return Caller(scopes=self.scopes, person=self.name)


def keys_path(places: Places) -> Path:
    """Return where the keys are kept."""
    return places.config / "mcp-keys.json"


def read_keys(places: Places) -> tuple[Key, ...]:
    """Return all keys. Raises :class:`SetupError` when others may write the file or it is damaged."""
    path = keys_path(places)
    raw = read_decisive(path, "your keys", limit=_MAX_BYTES)
    if raw is None:
        return ()
    try:
        return tuple(_parse_key(fields) for fields in json.loads(raw)["keys"])
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError("the keys are damaged", where=str(path), hint="delete the file and make new keys") from error


def find_key(places: Places, secret: str) -> Key | None:
    """Return the key whose secret this is, or None."""
    given = _digest(secret)
    found = None
    for key in read_keys(places):
        if compare_digest(key.digest, given):
            found = key
    return found


def add_key(places: Places, name: str, *, scopes: Sequence[str], write: bool, today: date) -> str:
    """Make the key ``name`` and return its secret, which is kept nowhere."""
    if _NAME.fullmatch(name) is None:
        raise UsageError("a key's name has lower-case letters, digits, dots and dashes", where="--add-key")
    keys = read_keys(places)
    if any(key.name == name for key in keys):
        raise UsageError("there is a key of that name", where=name, hint=f"`memfs mcp --remove-key {name}` first")
    secret = _MARK + secrets.token_urlsafe(32)
    new = Key(name=name, digest=_digest(secret), scopes=tuple(map(require_scope, scopes)), write=write, made=today)
    _write_keys(places, (*keys, new))
    return secret


def remove_key(places: Places, name: str) -> None:
    """Make the key ``name`` worthless. Raises :class:`NotFoundError`."""
    keys = read_keys(places)
    left = tuple(key for key in keys if key.name != name)
    if len(left) == len(keys):
        raise NotFoundError("there is no key of that name", where=name)
    _write_keys(places, left)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _parse_key(fields: dict[str, object]) -> Key:
    scopes = fields["scopes"]
    if not isinstance(scopes, list):
        raise TypeError("scopes must be a list")
    return Key(
        name=str(fields["name"]),
        digest=str(fields["sha256"]),
        scopes=tuple(require_scope(str(scope)) for scope in scopes),
        write=fields["write"] is True,
        made=date.fromisoformat(str(fields["made"])),
    )


def _write_keys(places: Places, keys: Sequence[Key]) -> None:
    path = keys_path(places)
    rows = [
        {
            "name": key.name,
            "sha256": key.digest,
            "scopes": list(key.scopes),
            "write": key.write,
            "made": key.made.isoformat(),
        }
        for key in keys
    ]
    replace_decisive(places, path, (json.dumps({"keys": rows}, indent=2) + "\n").encode("ascii"), "your keys")
