"""Words that several rules use: lists of names, counts, who sees a scope. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from memfs.disk.settings import RepositorySettings
from memfs.model.codepoints import plain

MAX_NAMES = 6


def names_of(names: Iterable[str], *, joiner: str = "and") -> str:
    """Return names as a list in a sentence; more than six are counted."""
    shown = [plain(name, limit=80) for name in dict.fromkeys(names)]
    if len(shown) > MAX_NAMES:
        shown = [*shown[:MAX_NAMES], f"{len(shown) - MAX_NAMES:,} more"]
    if len(shown) < 2:
        return shown[0] if shown else "nobody"
    return f"{', '.join(shown[:-1])} {joiner} {shown[-1]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def memories(number: int) -> str:
    return counted(number, "memory", "memories")


def who_sees(scope: str, settings: RepositorySettings) -> str:
    """Return in words on whose behalf a memory of ``scope`` is recalled."""
    words = {
        "personal": "only the owner of this repository",
        "team": "everybody on the team",
        "": "nobody: the folder is not a scope",
    }.get(scope)
    if words is None:
        words = f"those with the scope {scope}" + (" and the whole team" if scope.startswith("team/") else " alone")
    readers = settings.readers.get(scope)
    return f"{words}, limited to {names_of(readers)}" if readers is not None else words
