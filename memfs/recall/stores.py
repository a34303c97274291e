"""The repositories that one recall looks into, opened for one caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from memfs.disk.files import UnreadableFile, read_file
from memfs.errors import MemfsError
from memfs.model.codepoints import escape_hidden
from memfs.model.reader import read_memory
from memfs.model.scope import Caller
from memfs.recall.query import Query
from memfs.recall.usage import Usage, read_usage
from memfs.sight import Sight, open_sight
from memfs.standing.assess import RECALL_PATIENCE, Assessor
from memfs.standing.background import open_recall_index

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.index.opening import Opened
    from memfs.index.text import TextIndex
    from memfs.model.memory import MemoryFile
    from memfs.standing.assess import Assessment


class Store:
    """One store, opened for one query."""

    __slots__ = ("assessor", "index", "name", "opened", "sight", "tree", "usage")

    def __init__(self, name: str, tree: WorkTree, opened: Opened, assessor: Assessor, sight: Sight) -> None:
        self.name = name
        self.tree = tree
        self.opened = opened
        self.index: TextIndex = opened.index
        self.assessor = assessor
        self.sight = sight
        self.usage: Mapping[str, Usage] = {}

    @property
    def has_feedback(self) -> bool:
        return any(usage.helped or usage.misled for usage in self.usage.values())

    @property
    def is_here(self) -> bool:
        """Whether the store is files of this machine."""
        return True

    def prepare(self, candidates: Sequence[Candidate]) -> list[str]:  # noqa: ARG002 - files are read one by one
        """Bring what is needed to read the best of ``candidates``; return what a reader should know about it."""
        return []

    def read(self, path: str, query: Query) -> MemoryFile | None:
        """Return the file at ``path`` as it is now; None where it is gone or this caller may not see it."""
        # Whatever the index says about this path, its folder decides who sees it.
        if not self.sight.sees_path(query.caller, path):
            return None
        try:
            file = read_memory(path, read_file(self.tree, path))
        except UnreadableFile:
            return None
        return file if file.document is not None else None

    def label(self, file: MemoryFile) -> str:  # noqa: ARG002
        """Return where a hit says that ``file`` is from."""
        return self.name

    def assess_many(self, files: Sequence[MemoryFile]) -> list[Assessment]:
        """Return ``files`` with all that is known of them."""
        return self.assessor.assess_many(files)

    def seer(self, caller: Caller) -> Callable[[str | None], bool]:
        """Return which scopes ``caller`` sees here."""
        return partial(self.sight.sees, caller)


class Candidate:
    """A row that may become a hit, and what speaks for it."""

    __slots__ = ("parts", "path", "score", "store")

    def __init__(self, store: Store, path: str, score: float, parts: dict[str, float]) -> None:
        self.store = store
        self.path = path
        self.score = score
        self.parts = parts


def open_stores(
    stores: Sequence[tuple[str, WorkTree]], places: Places, query: Query, today: date, notices: list[str]
) -> list[Store]:
    """Return the stores that can be opened; what a reader should know about the rest goes to ``notices``."""
    found: list[Store] = []
    for name, tree in stores:
        try:
            opened = open_recall_index(tree, places)
            sight = open_sight(tree, places)
            assessor = Assessor(
                tree,
                places,
                today,
                opened=opened,
                on=query.on,
                patience=RECALL_PATIENCE,
                sees_path=partial(sight.sees_path, query.caller),
            )
            store = Store(name, tree, opened, assessor, sight)
        except (MemfsError, OSError) as error:
            notices.append(f"store {escape_hidden(name, single_line=True)} is left out: {error}")
            continue
        store.usage = read_usage(tree, places)
        notices += opened.notices
        if opened.behind:
            notices.append(f"{opened.behind} changed files are not indexed yet; the index is being refreshed")
        absent = sum(sight.sees_path(query.caller, path) for path in store.assessor.not_checked_out())
        if absent:
            notices.append(f"{absent} memories are not checked out here (sparse checkout) and were not searched")
        found.append(store)
    return found


def within_limits(query: Query, stores: Sequence[Store]) -> tuple[int, int | None]:
    """Return the number of hits and of bytes that ``query`` may have: the narrowest repository decides."""
    settings = [store.sight.settings for store in stores if store.sight.settings is not None]
    if not settings:
        return query.limit, query.budget_bytes
    from memfs.disk.settings import MAX_CONTEXT_BYTES

    narrow = [one.context_bytes for one in settings if one.context_bytes < MAX_CONTEXT_BYTES]
    if narrow and query.budget_bytes is not None:
        narrow.append(query.budget_bytes)
    budget = min(narrow) if narrow else query.budget_bytes
    return min([query.limit, *(one.results for one in settings)]), budget
