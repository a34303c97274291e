"""Ids of memories, and an id from a title (DESIGN 3). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from unicodedata import normalize

from memfs.errors import InvalidMemoryError

ID = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
_MAX_SLUG = 48  # room for "-2" … "-9999999" in the id
_SHORTEST_CUT = 24
MAX_WORDS = 5
_READ = 1_000  # characters of a title
_SMALL = frozenset("a an the of to in on at by for and or is are was be it that with as".split())
# Windows refuses these with any extension; a readme in the folder is for people.
_RESERVED = r"con|prn|aux|nul|com[0-9]|lpt[0-9]|readme"


def is_id(text: str) -> bool:
    """Return whether ``text`` is a memory's id."""
    return re.fullmatch(ID, text) is not None


def require_id(text: str) -> str:
    """Return ``text`` when it is a memory's id; raise :class:`InvalidMemoryError` otherwise."""
    if not is_id(text):
        raise InvalidMemoryError(
            "must be an id: 1 to 64 lower-case letters, digits and dashes, no dash at the ends", where="id"
        )
    return text


def slug_of_title(title: str, *, taken: Collection[str]) -> str:
    """Return an id for a new memory of that title, other than those ``taken`` (also ignoring case).

    It has at most five words; of more, small ones such as *the* are left out first. Other scripts are spelt in
    Latin letters; a title that leaves nothing gets ``memory-`` and 8 hex of its SHA-256. A name in use gets ``-2``,
    ``-3`` and so on.
    """
    text = normalize("NFKC", title[:_READ])
    if not text.isascii():
        from anyascii import anyascii

        text = anyascii(text)
    words = [word for word in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])'(?=[a-z])", "", text.casefold())) if word]
    telling = [word for word in words if word not in _SMALL]
    slug = "-".join((telling if len(words) > MAX_WORDS else words)[:MAX_WORDS])
    if len(slug) > _MAX_SLUG:
        cut = slug.rfind("-", _SHORTEST_CUT, _MAX_SLUG + 1)
        slug = slug[: cut if cut > 0 else _MAX_SLUG].strip("-")
    if not slug:
        from hashlib import sha256

        slug = "memory-" + sha256(title.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    elif re.fullmatch(_RESERVED, slug):
        slug = f"memory-{slug}"
    used = {name.casefold() for name in taken}
    candidate, number = slug, 1
    while candidate in used:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate
