"""Scopes and callers (DESIGN 2, ADMISSION 7). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memfs.errors import InvalidMemoryError, UsageError
from memfs.model.values import dataclass

_SCOPE = re.compile(
    r"personal|team(?:/[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)?|restricted/[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
)


def is_scope(text: str) -> bool:
    """Return whether ``text`` is ``personal``, ``team``, ``team/NAME`` or ``restricted/NAME``."""
    return _SCOPE.fullmatch(text) is not None


def require_scope(text: str) -> str:
    """Return ``text`` when it is a scope; raise :class:`InvalidMemoryError` otherwise."""
    if not is_scope(text):
        raise InvalidMemoryError(
            "scope must be personal, team, team/NAME or restricted/NAME",
            where="scope",
            hint="use lower-case letters, digits and dashes in the name",
        )
    return text


def scope_of_path(path: str) -> str | None:
    """Return the scope that the folder of ``memories/<scope>/<id>.md`` names, or None."""
    parts = path.split("/")
    if len(parts) < 3 or parts[0] != "memories":
        return None
    folder = "/".join(parts[1:-1])
    return folder if is_scope(folder) else None


def is_wider(new: str, old: str) -> bool:
    """Return whether more callers see ``new`` than ``old`` (``team`` > ``team/x`` > the others)."""
    rank = {"team": 2, "restricted": 0, "personal": 0}
    r_new = rank[new.split("/", 1)[0]] - ("/" in new and new.startswith("team"))
    r_old = rank[old.split("/", 1)[0]] - ("/" in old and old.startswith("team"))
    return r_new > r_old


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf something is recalled.

    ``scopes`` are the grants: ``personal``, ``team`` (the whole team and every ``team/NAME``),
    ``team/NAME`` (that one and ``team``), ``restricted/NAME`` (that one alone).
    """

    scopes: tuple[str, ...] = ("personal", "team")
    person: str | None = None


def is_granted(grants: Iterable[str], scope: str) -> bool:
    """Return whether one of ``grants`` covers ``scope``. Who may see what is asked of :mod:`memfs.sight`."""
    return fits_any(scope, granted_patterns(grants))


def granted_patterns(grants: Iterable[str]) -> tuple[str, ...]:
    """Return what ``grants`` cover as patterns: a scope, or ``PREFIX/*`` for every scope below."""
    found: dict[str, None] = {}
    for grant in grants:
        found[grant] = None
        if grant in ("team", "restricted"):
            found[f"{grant}/*"] = None
        elif grant.startswith("team/"):
            found["team"] = None
    return tuple(found)


def fits_any(scope: str, patterns: Iterable[str]) -> bool:
    """Return whether ``scope`` is one of ``patterns``, or below one that ends in ``/*``."""
    return any(scope == one or (one.endswith("/*") and scope.startswith(one[:-1])) for one in patterns)


def is_seen_with(scope: str | None, other: str | None) -> bool:
    """Return whether everybody whose scopes cover ``other`` is covered for ``scope`` too."""
    return scope == other or (scope == "team" and other is not None and other.startswith("team/"))


def parse_caller(text: str, *, person: str | None = None) -> Caller:
    """Return the caller whose grants ``text`` lists, separated by commas.

    Raises :class:`UsageError` on anything that is not a scope.
    """
    scopes = tuple(part.strip() for part in text.split(",") if part.strip())
    if not scopes:
        raise UsageError("a caller needs at least one scope", where="--as")
    for scope in scopes:
        if not is_scope(scope):
            raise UsageError("a caller's scopes are personal, team, team/NAME or restricted/NAME", where="--as")
    return Caller(scopes=scopes, person=person)
