"""Who may see what: the one place that answers (DESIGN 2, ADMISSION 7).

Every reader and every writer asks here before text, or the mere existence, of a memory reaches a caller:
recall, show, list, due, evidence, review triggers, ids, histories, and writes through MCP and HTTP. A
memory is seen by a caller whose scopes contain its folder's, unless the repository names the readers of
that scope and the caller's person is not one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from memfs.disk.files import UnreadableFile, read_file
from memfs.errors import MemfsError, RefusedError
from memfs.model.scope import Caller, is_granted, scope_of_path

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import RepositorySettings
    from memfs.disk.worktree import WorkTree

OWNER = Caller(scopes=("personal", "team", "restricted"))
"""A person at their own work tree: every scope, as far as the repository's readers let them."""

_PLAIN_SETTINGS = re.compile(
    rb"(?:[ \t]*(?:#[ -~]*)?\r?\n|version:[ \t]*1[ \t]*\r?\n|name:[ \t]*[A-Za-z0-9][\w .-]*\r?\n"
    rb"|scopes:[ \t]*\r?\n(?:[ \t]*-[ \t]*[a-z0-9/*-]+[ \t]*\r?\n)*)*"
)
_HIDDEN = "restricted"  # of a path below memories/restricted/ whose folder is not a scope: only OWNER sees it


class Sight:
    """What callers may see of one repository. The person is looked up once, and only where readers are named."""

    def __init__(self, settings: RepositorySettings | None, find_people: Callable[[], tuple[str, ...]]) -> None:
        self.settings = settings  # None: the repository narrows nothing
        self._find_people = find_people
        self._people: tuple[str, ...] | None = None

    def sees(self, caller: Caller, scope: str | None) -> bool:
        """Return whether ``caller`` may see memories of ``scope``; None is a file in no scope's folder and
        counts as personal."""
        wanted = "personal" if scope is None else scope
        if not is_granted(caller.scopes, wanted):
            return False
        if self.settings is None:
            return True
        if not self.settings.sound and wanted.startswith("restricted"):
            return False  # whom the broken file restricted is not known
        named = self.settings.readers.get(wanted)
        if named is None:
            return True
        return not {person.lower() for person in self._people_of(caller)}.isdisjoint(map(str.lower, named))

    def sees_path(self, caller: Caller, path: str) -> bool:
        """Return whether ``caller`` may see the file at ``path``: every file outside ``memories/`` is seen."""
        folder = path.split("/", 1)[0].lower()
        return folder != "memories" or self.sees(caller, scope_to_see(path))

    def is_own(self, caller: Caller) -> bool:
        """Return whether ``caller`` is a person at their own work tree, with git and its branches at hand."""
        return is_granted(caller.scopes, "personal") and is_granted(caller.scopes, "restricted/any")

    def for_caller(self, caller: Caller) -> Callable[[str], bool]:
        """Return :meth:`sees_path` for this caller."""
        return partial(self.sees_path, caller)

    def require_writable(self, caller: Caller, scope: str) -> None:
        """Raise :class:`RefusedError` unless ``caller`` sees ``scope``: nobody writes what they cannot read."""
        if not self.sees(caller, scope):
            raise RefusedError(
                "this caller may not write memories of this scope; nothing was written",
                where="scope",
                hint=f"this caller writes to: {', '.join(caller.scopes)}",
            )

    def _people_of(self, caller: Caller) -> tuple[str, ...]:
        if caller.person is not None:
            return (caller.person,)
        if self._people is None:
            self._people = self._find_people()
        return self._people


def open_sight(tree: WorkTree, places: Places, *, settings: RepositorySettings | None = None) -> Sight:
    """Return the sight of the repository at ``tree``. Starts no process until readers must be compared."""
    narrowing = _read_narrowing(tree) if settings is None else settings
    return Sight(narrowing, lambda: own_addresses(tree, places))


def _read_narrowing(tree: WorkTree) -> RepositorySettings | None:
    """Return the settings that narrow what is read here; None where the file says nothing of that.

    The file that ``memfs init`` writes is recognised without reading YAML, which takes longer than
    the search.
    """
    try:
        raw = read_file(tree, ".memfs/config.yaml")
    except UnreadableFile as error:
        if error.reason == "missing":
            return None
        raw = b"?"
    if _PLAIN_SETTINGS.fullmatch(raw):
        return None
    from memfs.disk.settings import read_repository_settings

    return read_repository_settings(tree)


def own_addresses(
    tree: WorkTree, places: Places, *, configuration: Mapping[str, str | None] | None = None
) -> tuple[str, ...]:
    """Return the addresses of the person at this machine: git's, and those of their settings.

    ``configuration`` is git's, where it has been read already.
    """
    from memfs.disk.settings import read_user_settings
    from memfs.git.read import author_address

    try:
        own = author_address(tree, configuration)
    except MemfsError:
        own = None
    try:
        more = read_user_settings(places).identities
    except MemfsError:
        more = ()
    return (*((own,) if own else ()), *more)


def scope_to_see(path: str) -> str | None:
    """Return the scope that decides who sees the file at ``path``, however deep it lies in its folder."""
    scope = scope_of_path(path)
    parts = path.split("/")
    if scope is not None or [part.lower() for part in parts[:2]] != ["memories", "restricted"]:
        return scope
    return scope_of_path("/".join((*parts[:3], "any.md"))) or _HIDDEN
