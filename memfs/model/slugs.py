"""Ids of memories, and an id from a title (DESIGN 3). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from unicodedata import combining, normalize

from memfs.errors import InvalidMemoryError

ID = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
MAX_ID = 64

_MAX_SLUG = 56  # room for "-2" … "-9999999" in the id
_SHORTEST_CUT = 32
# Letters that NFKD leaves whole and that have one usual spelling in ASCII.
_SPELT = str.maketrans({"ß": "ss", "ı": "i", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th"})
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

    Letters are spelt in ASCII where Unicode says how (NFKD); a title that leaves nothing gets
    ``memory-`` and 8 hex of its SHA-256. A name in use gets ``-2``, ``-3`` and so on.
    """
    text = normalize("NFKD", normalize("NFKD", title).casefold()).translate(_SPELT)
    text = "".join(character for character in text if not combining(character))
    slug = re.sub(r"[^a-z0-9]+", "-", text).strip("-")
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
