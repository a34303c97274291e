"""Every repository that recall looks into: the project's own and those of the user's settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.disk.worktree import NoWorkTreeError, WorkTree, find_work_tree, printable
from memfs.errors import MemfsError, NotFoundError, SetupError, UsageError
from memfs.git.owner import require_ours
from memfs.model.values import dataclass, replace
from memfs.repository.named import PERSONAL, PROJECT, own_settings

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import SharedStore
    from memfs.model.memory import MemoryFile
    from memfs.model.scope import Caller
    from memfs.recall.search import Query, Result
    from memfs.repository.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The files of one id in one store, and what a reader should know beside them."""

    store: str
    repository: Repository
    files: tuple[MemoryFile, ...]
    notices: tuple[str, ...] = ()

    @property
    def file(self) -> MemoryFile:
        """The file; raises :class:`UsageError` where there are two."""
        from memfs.repository.find import require_one

        return require_one(self.files)


class OffError(UsageError):
    """The user wants nothing of memfs in this project."""

    def __init__(self) -> None:
        super().__init__("memfs is off in this project, as your settings say", hint="memfs off --end")


class Stores:
    """The stores that one caller's answers come from, the project's first."""

    def __init__(
        self,
        stores: Sequence[tuple[str, WorkTree]],
        *,
        places: Places,
        today: date,
        notices: Sequence[str] = (),
        missing: UsageError | SetupError | None = None,
        shared: Sequence[SharedStore] = (),
    ) -> None:
        self.stores = tuple(stores)
        self.shared = tuple(shared)  # indexes of an organisation
        self.missing = missing  # why the place itself is not a store
        self.places = places
        self.today = today
        self.notices = tuple(notices)

    @classmethod
    def open(cls, start: Path, *, places: Places, today: date) -> Stores:
        """Return the stores as seen from ``start``. A missing or broken one costs only itself.

        Opening starts no process and reads the user's settings only.
        """
        found: list[tuple[str, WorkTree]] = []
        notices: list[str] = []
        missing: UsageError | SetupError | None = None
        settings = own_settings(places, notices)
        if settings is not None and settings.off and settings.is_off(start):
            return cls((), places=places, today=today, missing=OffError())
        try:
            tree = find_work_tree(start)
            require_ours(tree)
            found.append((PROJECT, tree))
        except (UsageError, SetupError) as error:  # the user's own stores still answer
            missing = error
            if not isinstance(error, NoWorkTreeError):
                notices.append(str(error))
        for store in settings.stores if settings is not None else ():
            if not store.recall:
                continue
            try:
                tree = find_work_tree(store.path)
                require_ours(tree)
            except (MemfsError, OSError) as error:
                notices.append(f"store {store.name} is left out: {error}")
                continue
            if all(tree.root != other.root for _, other in found):
                found.append((store.name, tree))
        shared = [store for store in settings.shared if store.recall] if settings is not None else []
        return cls(found, places=places, today=today, notices=notices, missing=missing, shared=shared)

    def recall(self, query: Query) -> Result:
        """Return what all stores know about ``query`` in one ranking."""
        from memfs.recall.search import recall

        result = recall(self.stores, self.places, query, today=self.today, shared=self.shared)
        return replace(result, notices=(*self.notices, *result.notices))

    def repositories(self) -> list[tuple[str, Repository]]:
        """Return each store opened, with its name."""
        from memfs.repository.repository import Repository  # a recall does without

        return [
            (name, Repository(tree, places=self.places, today=self.today, is_elsewhere=name != PROJECT))
            for name, tree in self.stores
        ]

    def find(self, name: str, caller: Caller) -> Found:
        """Return the files of ``name`` in the first store that has it for ``caller``; a notice names the others."""
        from memfs.repository.find import two_files, unknown

        found: list[Found] = []
        repositories = self.repositories()
        for store, repository in repositories:
            try:
                files = repository.find_all(name, caller)
            except NotFoundError:
                continue
            found.append(Found(store=store, repository=repository, files=files))
        if not found:
            raise unknown(
                name,
                (one for _, repository in repositories for one in repository.ids(caller)),
            )
        first = found[0]
        notices = [f"the store {printable(other.store)} has a memory of that id too" for other in found[1:]]
        if len(first.files) > 1:
            notices.insert(0, two_files(first.files))
        return replace(first, notices=tuple(notices))


def open_personal(places: Places, today: date) -> Repository | None:
    """Return the user's own store, which ``memfs init --personal`` makes; None without one that can be used."""
    from memfs.repository.repository import Repository

    settings = own_settings(places, [])
    store = next((one for one in settings.stores if one.name == PERSONAL), None) if settings is not None else None
    if store is None:
        return None
    tree = find_work_tree(store.path)
    require_ours(tree)
    return Repository(tree, places=places, today=today, is_elsewhere=True)
