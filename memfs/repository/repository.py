"""What every surface uses: one repository opened, wired and asked. No printing, no clock, no environment.

Writing goes one way: draft → text → gate → file and commit. Reading goes one way: bytes read once →
values → state, trust and gate joined (``recall.assess``) → a surface shows it through ``render``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree, find_work_tree, folder_below
from memfs.errors import InvalidMemoryError, NotFoundError
from memfs.git.owner import require_ours
from memfs.model.memory import MemoryFile, Origin
from memfs.model.reader import id_of_path, read_memory
from memfs.model.scope import Caller
from memfs.model.values import replace
from memfs.repository.draft import ONE_COMMIT
from memfs.repository.find import find_files, require_one
from memfs.repository.offers import offer_evidence
from memfs.sight import OWNER, Sight, open_sight, own_addresses

if TYPE_CHECKING:
    from memfs.disk.settings import RepositorySettings
    from memfs.repository.draft import Commit, DraftText, Recorded
    from memfs.repository.history import Event
    from memfs.repository.writing import Writer
    from memfs.standing.assess import Assessment, Assessor


class Repository:
    """One memory repository. Opening starts no process and reads no memory."""

    def __init__(
        self, tree: WorkTree, *, places: Places, today: date, folder: str = "", is_elsewhere: bool = False
    ) -> None:
        self.tree = tree
        self.places = places
        self.today = today
        self._folder = folder  # where its user is, below the root
        self.is_elsewhere = is_elsewhere  # a store that its user is not in
        self._assessors: dict[Caller, Assessor] = {}
        self._sight: Sight | None = None
        self._configuration: Mapping[str, str | None] | None = None
        self._settings: RepositorySettings | None = None

    @property
    def settings(self) -> RepositorySettings:
        """What the repository says about itself; it can only narrow (DESIGN 4)."""
        if self._settings is None:
            from memfs.disk.settings import read_repository_settings

            self._settings = read_repository_settings(self.tree)
        return self._settings

    @property
    def sight(self) -> Sight:
        """Who may see what here."""
        if self._sight is None:
            self._sight = open_sight(self.tree, self.places, settings=self._settings)
        return self._sight

    def sees(self, caller: Caller, scope: str | None) -> bool:
        """Return whether ``caller`` may see memories of ``scope`` in this repository."""
        return self.sight.sees(caller, scope)

    @classmethod
    def open(cls, start: Path, *, places: Places, today: date) -> Repository:
        """Return the repository that ``start`` lies in.

        Raises :class:`UsageError` where there is none, or none that can be worked in.
        """
        tree = find_work_tree(start)
        require_ours(tree)
        return cls(tree, places=places, today=today, folder=folder_below(tree, start))

    # -- reading ---------------------------------------------------------------------------------

    def read(self, path: str) -> MemoryFile:
        """Return the file at ``path`` (relative to the work tree), read once. Never raises for what
        the file holds; raises :class:`InvalidMemoryError` where it cannot be opened safely."""
        return read_memory(path, read_file(self.tree, path))

    def files(self) -> tuple[list[MemoryFile], list[tuple[str, str]]]:
        """Return every file under ``memories/``, and (path, reason) for those that were not opened."""
        scan = scan_memories(self.tree)
        skipped = list(scan.skipped)
        found: list[MemoryFile] = []
        for entry in scan.entries:
            try:
                found.append(self.read(entry.path))
            except InvalidMemoryError as error:
                skipped.append((entry.path, error.message))
        return found, skipped

    @property
    def is_made(self) -> bool:
        """Whether this is a memory repository already, and not just one of git."""
        return self.tree.memfs.is_dir() or self.tree.memories.is_dir()

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader should know beside the answers so far: a broken keyring, git missing."""
        return tuple(dict.fromkeys(notice for one in self._assessors.values() for notice in one.notices))

    def assess(self, file: MemoryFile, caller: Caller) -> Assessment:
        """Return ``file`` with its state, verdict and read-time gate, as far as ``caller`` may see what it rests on."""
        return self._open_assessor(caller).assess(file)

    def assess_all(self, caller: Caller) -> tuple[list[Assessment], list[tuple[str, str]]]:
        """Return what ``caller`` may see, assessed, and (path, reason) of files that were not opened.

        The caller's scopes are applied first: a hidden memory is never assessed (ADMISSION 7).
        """
        files, skipped = self.files()
        visible = [file for file in files if self.sight.sees_path(caller, file.path)]
        return self._open_assessor(caller).assess_many(visible), [
            (path, reason) for path, reason in skipped if self.sight.sees_path(caller, path)
        ]

    def ids(self, caller: Caller) -> list[str]:
        """Return the ids of the memories that ``caller`` may see, by the names of their files."""
        sees = self.sight.for_caller(caller)
        return [id_of_path(entry.path) for entry in scan_memories(self.tree).entries if sees(entry.path)]

    def find_all(self, name: str, caller: Caller) -> tuple[MemoryFile, ...]:
        """Return every file of the id or path ``name``, for readers; see :mod:`memfs.repository.find`."""
        return find_files(self.tree, self.sight, name, caller)

    def has(self, name: str, caller: Caller) -> bool:
        """Return whether a memory is called ``name`` here for ``caller``."""
        try:
            return bool(self.find_all(name, caller))
        except (NotFoundError, InvalidMemoryError):
            return False

    def find(self, name: str, caller: Caller) -> MemoryFile:
        """Return the file of the id or path ``name``, for writers. Raises :class:`UsageError` where two have it."""
        return require_one(self.find_all(name, caller))

    def history(self, memory_id: str, caller: Caller) -> list[Event]:
        """Return the commits that touched a memory or its approvals, newest first; of a deleted one too."""
        from memfs.repository.history import read_history

        return read_history(self.tree, self.sight, memory_id, caller)

    # -- writing ---------------------------------------------------------------------------------

    def require_writable(self, origin: Origin) -> None:
        """Raise unless something can be written here now; asked before a person types anything."""
        from memfs.repository.may_write import require_writable

        require_writable(self.tree, self.places, self.settings, origin, configuration=self.configuration)

    def writer(self, caller: Caller = OWNER) -> Writer:
        """Return what writes here on behalf of ``caller``. Every write passes the gate and is one commit."""
        from memfs.repository.writing import Writer

        return Writer(
            tree=self.tree,
            places=self.places,
            today=self.today,
            settings=self.settings,
            identities=self.identities(),
            sight=self.sight,
            configuration=self.configuration,
            caller=caller,
            folder=self._folder,
            is_elsewhere=self.is_elsewhere,
        )

    def offer_evidence(self) -> list[str]:
        """Return the files that a new memory may well rest on: those changed in the work tree, else by HEAD."""
        return offer_evidence(self.tree, self.sight)

    def remember(
        self,
        draft: DraftText,
        *,
        by: Caller = OWNER,
        name: str = "",
        dry_run: bool = False,
        again: bool = False,
        commit: Commit = ONE_COMMIT,
    ) -> Recorded:
        """Write a new memory and commit it; see :meth:`Writer.remember` for what is refused.

        A refused text is kept as a draft; ``name`` is the draft that it was.
        """
        if dry_run:
            return self.writer(by).remember(draft, dry_run=True, again=again)
        from memfs.repository.drafting import remember_or_keep

        return remember_or_keep(self.writer(by), draft, name=name, again=again, commit=commit)

    def edit(self, memory_id: str, caller: Caller, *, by: Caller = OWNER, **given: Any) -> Recorded:
        """Change a memory that ``caller`` sees; see :meth:`Writer.edit` for what may be given."""
        return self.writer(by).edit(self.find(memory_id, caller), **given)

    def supersede(
        self,
        old_ids: Sequence[str],
        draft: DraftText,
        caller: Caller,
        *,
        by: Caller = OWNER,
        **given: Any,
    ) -> Recorded:
        """Write a new memory that replaces ``old_ids``. The old files stay, marked by the new one."""
        front = {**draft.front, "supersedes": tuple(self.find(name, caller).id for name in old_ids)}
        return self.remember(replace(draft, front=front), by=by, **given)

    def forget(self, memory_id: str, caller: Caller) -> str:
        """Delete a memory that ``caller`` sees, in one commit whose name is returned."""
        return self.writer().forget(self.find(memory_id, caller))

    def identities(self) -> tuple[str, ...]:
        """Return the addresses that are the author's own (ADMISSION 3)."""
        return own_addresses(self.tree, self.places, configuration=self.configuration)

    @property
    def configuration(self) -> Mapping[str, str | None] | None:
        """git's configuration, read once; None where there is no git to ask."""
        if self._configuration is None and self.tree.git_dir is not None:
            from memfs.git.writing import WritingGit

            self._configuration = WritingGit(self.tree).configuration()
        return self._configuration

    def _open_assessor(self, caller: Caller) -> Assessor:
        if caller not in self._assessors:
            from memfs.standing.assess import Assessor

            self._assessors[caller] = Assessor(
                self.tree, self.places, self.today, sees_path=self.sight.for_caller(caller)
            )
        return self._assessors[caller]
