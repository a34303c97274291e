"""Whether a memory applies to what somebody works on: ``applies_to`` against a path and topics. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

_MAX_PARTS = 64


def applies(applies_to: Sequence[str], path: str | None, topics: Collection[str] = ()) -> bool:
    """Return whether one of ``applies_to`` matches ``path`` (relative, POSIX) or is one of ``topics``.

    A glob is matched a folder at a time: ``*`` and ``?`` stay inside one name, ``**`` stands for any
    number of folders, and a glob without ``/`` matches at any depth, as in ``.gitignore``.
    """
    return matcher(path, topics)(applies_to)


def matcher(path: str | None, topics: Collection[str] = ()) -> Callable[[Sequence[str]], bool]:
    """Return :func:`applies` for one path and its topics: a tool hook asks every memory the same."""
    wanted = frozenset(topic.casefold() for topic in topics)
    below = f"{path}/"

    def matches(applies_to: Sequence[str]) -> bool:
        for place in applies_to:
            if place.casefold() in wanted:
                return True
            if path is None:
                continue
            # Most globs name other folders; what stands before their first * or ? says so.
            folder = place.lstrip("/").partition("*")[0].partition("?")[0].rpartition("/")[0]
            if (not folder or below.startswith(f"{folder}/")) and _matches_path(place, path):
                return True
        return False

    return matches


def topics_of_path(path: str) -> tuple[str, ...]:
    """Return the words that the folders and the name of ``path`` give as topics."""
    words = (word for part in path.split("/") for word in (part, *re.split(r"[._-]", part)))
    return tuple(dict.fromkeys(word.casefold() for word in words if word))


def _matches_path(glob: str, path: str) -> bool:
    parts = path.split("/")
    pattern = glob.strip("/").split("/")
    if len(parts) > _MAX_PARTS or len(pattern) > _MAX_PARTS:
        return False
    if "/" not in glob.rstrip("/"):
        pattern = ["**", *pattern]
    # A folder named without a glob means everything below it.
    rows = [True, *[False] * len(parts)]  # rows[n]: the pattern so far matches the first n parts
    for part in pattern:
        if part == "**":
            reached = False
            rows = [reached := reached or old for old in rows]
        else:
            rows = [False, *(rows[n] and _matches_name(part, name) for n, name in enumerate(parts))]
    return rows[-1] or ("*" not in pattern[-1] and any(rows[1:]))


def _matches_name(glob: str, name: str) -> bool:
    """Match one name by ``*`` and ``?``, in time linear in the product of both lengths."""
    at = star = mark = 0
    has_star = False
    place = 0
    while place < len(name):
        if at < len(glob) and glob[at] == "*":
            has_star, star, mark = True, at, place
            at += 1
        elif at < len(glob) and glob[at] in ("?", name[place]):
            at += 1
            place += 1
        elif has_star:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return glob[at:].strip("*") == ""
