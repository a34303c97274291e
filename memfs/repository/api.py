"""What every surface uses: one repository opened, wired and asked. No printing, no clock, no environment.

Writing goes one way: draft → text → gate → file and commit. Reading goes one way: bytes read once →
values → state, trust and gate joined (``recall.assess``) → a surface shows it through ``render``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.worktree import NoWorkTreeError, WorkTree, find_work_tree, folder_below
from memfs.errors import InvalidMemoryError, MemfsError, NotFoundError, SetupError, UsageError
from memfs.git.log import read_commits
from memfs.git.owner import require_ours
from memfs.git.read import head_commit
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile
from memfs.model.reader import id_of_path, read_memory
from memfs.model.scope import Caller
from memfs.model.values import dataclass, replace
from memfs.sight import OWNER, Sight, open_sight, own_addresses

if TYPE_CHECKING:
    from memfs.disk.settings import RepositorySettings
    from memfs.recall.search import Query, Result
    from memfs.render.frame import DrawNonce
    from memfs.render.views import Detail, Shown
    from memfs.repository.writing import DraftText, Recorded, Writer
    from memfs.standing.assess import Assessment, Assessor

PROJECT = "project"
"""What the store of the working directory is called; a hit from it needs no store beside it."""

_DONE = {"added": "Remember", "changed": "Edit", "deleted": "Forget", "moved": "Move", "approval": "Approve"}
_UNKNOWN = "no memory of that id is here for this caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What needs attention in a repository, for one caller."""

    assessments: tuple[Assessment, ...]
    approved: tuple[Assessment, ...]
    lost: tuple[Assessment, ...]  # were approved in another form, or by somebody who no longer can
    unapproved: tuple[Assessment, ...]
    due: tuple[Assessment, ...]
    uncommitted: tuple[str, ...]
    bad: tuple[tuple[str, str], ...]  # path, why it is no memory
    under_way: str | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One commit in the life of a memory. ``what`` is added, changed, moved, deleted or approval."""

    commit: str
    on: str  # ISO time with zone, as git has it
    author: str
    what: str
    path: str
    subject: str


class Repository:
    """One memory repository. Opening starts no process and reads no memory."""

    def __init__(self, tree: WorkTree, *, places: Places, today: date, folder: str = "") -> None:
        self.tree = tree
        self.places = places
        self.today = today
        self._folder = folder  # where its user is, below the root
        self._assessors: dict[Caller, Assessor] = {}
        self._notices: dict[str, None] = {}
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

    def find(self, memory_id: str, caller: Caller) -> MemoryFile:
        """Return the file of ``memory_id``.

        Raises :class:`NotFoundError` with the same words whether the id is unknown or hidden.
        """
        candidates = [
            entry.path
            for entry in scan_memories(self.tree).entries
            if entry.path.rsplit("/", 1)[-1] == f"{memory_id}.md"
        ]
        seen = [self.read(path) for path in sorted(candidates) if self.sight.sees_path(caller, path)]
        if not seen:
            raise NotFoundError(
                _UNKNOWN, where=escape_hidden(memory_id, single_line=True), hint="`memfs list` shows what there is"
            )
        return seen[0]

    def recall(self, query: Query) -> Result:
        """Return what this repository and no other knows about ``query``."""
        from memfs.recall.search import recall

        return recall([("", self.tree)], self.places, query, today=self.today)

    def history(self, memory_id: str, caller: Caller) -> list[Event]:
        """Return the commits that touched a memory or its approvals, newest first; of a deleted one too.

        Raises :class:`NotFoundError` where neither the files nor the history hold it for ``caller``.
        """
        if self.tree.git_dir is None or head_commit(self.tree) is None:
            every: list[Event] = []
        else:
            every = _read_events(self.tree)
        events = [event for event in every if _is_about(event.path, memory_id)]
        visible = [event for event in events if event.what != "approval" and self.sight.sees_path(caller, event.path)]
        if not visible:
            self.find(memory_id, caller)  # known but not committed yet, or unknown and hidden alike
        hidden = self._hidden_commits(every, caller)
        theirs = {event.commit for event in events if event.what != "approval"} - {event.commit for event in visible}
        return [
            replace(event, subject=f"{_DONE[event.what]} {memory_id}") if event.commit in hidden else event
            for event in events
            if event in visible or (event.what == "approval" and event.commit not in theirs)
        ]

    def _hidden_commits(self, events: Sequence[Event], caller: Caller) -> set[str]:
        """Return the commits whose subjects may name a memory that ``caller`` does not see."""
        open_ids: set[str] = set()
        hidden_ids: set[str] = set()
        for event in events:
            if event.what != "approval":
                ids = open_ids if self.sight.sees_path(caller, event.path) else hidden_ids
                ids.add(id_of_path(event.path))
        return {
            event.commit
            for event in events
            if (
                event.path.rsplit("/", 1)[-1].split(".")[0] in hidden_ids - open_ids
                if event.what == "approval"
                else not self.sight.sees_path(caller, event.path)
            )
        }

    def status(self, caller: Caller) -> Status:
        """Return what needs attention. Reads every memory that ``caller`` may see."""
        from memfs.disk.worktree import operation_under_way
        from memfs.model.memory import State

        files, skipped = self.assess_all(caller)
        good = tuple(item for item in files if item.file.memory is not None)
        bad = [(item.file.path, str(item.file.problems[0])) for item in files if item.file.memory is None]
        unapproved = [item for item in good if not item.verdict.trusted]
        lost = tuple(item for item in unapproved if item.verdict.reason not in (None, "no-approval", "not-pinned"))
        return Status(
            assessments=good,
            approved=tuple(item for item in good if item.verdict.trusted),
            lost=lost,
            unapproved=tuple(item for item in unapproved if item not in lost),
            due=tuple(item for item in good if item.state.state in (State.RECHECK, State.EXPIRED)),
            uncommitted=self._uncommitted([item.file for item in files], caller),
            bad=(*bad, *skipped),
            under_way=operation_under_way(self.tree),
            notices=self.notices,
        )

    def _uncommitted(self, files: Sequence[MemoryFile], caller: Caller) -> tuple[str, ...]:
        """Return the paths that are not as in the last commit, deleted ones too, as far as ``caller`` sees.

        Compares bytes with the commit's tree; git is never asked about the work tree.
        """
        from memfs.git.read import blob_id, head_commit, memories_not_checked_out, object_format, read_git

        if self.tree.git_dir is None:
            return ()
        if head_commit(self.tree) is None:
            return tuple(file.path for file in files)
        raw = read_git(self.tree, "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", "memories")
        committed: dict[str, str] = {}
        for record in raw.decode("utf-8", "surrogateescape").split("\0"):
            head, _, path = record.partition("\t")
            if path.endswith(".md"):
                committed[path] = head.split(" ")[2]
        algorithm = object_format(self.tree)
        changed = {
            file.path
            for file in files
            if committed.get(file.path) != blob_id(file.raw.replace(b"\r\n", b"\n"), algorithm=algorithm)
        }
        elsewhere = set(memories_not_checked_out(self.tree))
        gone = {
            path
            for path in committed.keys() - elsewhere
            if not os.path.lexists(self.tree.root / path) and self.sight.sees_path(caller, path)
        }
        return tuple(sorted(changed | gone))

    # -- writing ---------------------------------------------------------------------------------

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
        )

    def remember(self, draft: DraftText, *, by: Caller = OWNER, dry_run: bool = False) -> Recorded:
        """Write a new memory and commit it; see :meth:`Writer.remember` for what is refused."""
        if dry_run:
            return self.writer(by).remember(draft, dry_run=True)
        from memfs.repository.drafting import remember_or_keep

        return remember_or_keep(self.writer(by), draft)

    def edit(self, memory_id: str, caller: Caller, *, by: Caller = OWNER, **given: Any) -> Recorded:
        """Change a memory that ``caller`` sees; see :meth:`Writer.edit` for what may be given."""
        return self.writer(by).edit(self.find(memory_id, caller), **given)

    def supersede(
        self, old_ids: Sequence[str], draft: DraftText, caller: Caller, *, by: Caller = OWNER, dry_run: bool = False
    ) -> Recorded:
        """Write a new memory that replaces ``old_ids``. The old files stay, marked by the new one."""
        for memory_id in old_ids:
            self.find(memory_id, caller)
        front = {**draft.front, "supersedes": tuple(old_ids)}
        return self.remember(replace(draft, front=front), by=by, dry_run=dry_run)

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
                self.tree, self.places, self.today, sees_path=partial(self.sight.sees_path, caller)
            )
        return self._assessors[caller]


def shown_of(
    assessment: Assessment, *, store: str | None = None, score: float | None = None, notes: tuple[str, ...] = ()
) -> Shown:
    """Return what ``render`` needs of an assessed file: verdict and gate turned into words."""
    from memfs.render.views import Shown
    from memfs.render.words import trust_words

    file, verdict = assessment.file, assessment.verdict
    placeholder = None
    if file.memory is None:
        placeholder = _what_is_wrong(file)
    elif assessment.gate.outcome.value == "reject":
        rules = dict.fromkeys(finding.rule for finding in assessment.gate.findings)
        placeholder = f"admission stops it ({', '.join(rules)})"
    return Shown(
        file=file,
        state=assessment.state,
        trusted=verdict.trusted,
        trust_words=trust_words(
            trusted=verdict.trusted,
            level=verdict.level.value,
            reason=verdict.reason.value if verdict.reason else None,
            people=verdict.people,
            on=verdict.on,
        ),
        placeholder=placeholder,
        store=store,
        score=score,
        notes=notes,
    )


def _what_is_wrong(file: MemoryFile) -> str:
    """Return the fatal problems of a file in one line, fields with the same problem together."""
    fields: dict[str, list[str]] = {}
    for problem in file.problems:
        if problem.fatal:
            fields.setdefault(problem.message, []).extend([problem.field] if problem.field else [])
    said = [f"{', '.join(dict.fromkeys(names))}: {message}" if names else message for message, names in fields.items()]
    return "; ".join(said) or "not a well-formed memory"


def render_hits(
    result: Result, *, draw_nonce: DrawNonce, limit_bytes: int | None = None, detail: Detail | None = None
) -> str:
    """Return the hits of a recall in their frames, approved ones first; "" when there are none."""
    from memfs.render.views import Detail, render_bundle

    shown = [
        shown_of(hit.assessment, store=None if hit.store == PROJECT else hit.store, score=hit.score, notes=hit.notes)
        for hit in result.hits
    ]
    return render_bundle(
        shown,
        draw_nonce=draw_nonce,
        limit_bytes=limit_bytes,
        left_out=result.left_out,
        detail=Detail.BRIEF if detail is None else detail,
    )


def _is_about(path: str, memory_id: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name == f"{memory_id}.md" or (path.startswith(".memfs/approvals/") and name.split(".")[0] == memory_id)


def _read_events(tree: WorkTree) -> list[Event]:
    names = {"A": "added", "M": "changed", "D": "deleted", "T": "changed"}
    return [
        Event(
            commit=commit.name,
            on=commit.on,
            author=f"{commit.author} <{commit.address}>",
            what="approval" if file.path.startswith(".memfs/") else names.get(file.letter, "changed"),
            path=file.path,
            subject=commit.subject,
        )
        for commit in read_commits(tree, "HEAD", ["memories", ".memfs/approvals"])
        for file in commit.files
    ]


class Stores:
    """Every repository that recall looks into: the project's own and those of the user's settings."""

    def __init__(
        self,
        stores: Sequence[tuple[str, WorkTree]],
        *,
        places: Places,
        today: date,
        notices: Sequence[str] = (),
        missing: UsageError | SetupError | None = None,
    ) -> None:
        self.stores = tuple(stores)
        self.missing = missing  # why the place itself is no store
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
        try:
            tree = find_work_tree(start)
            require_ours(tree)
            found.append((PROJECT, tree))
        except (UsageError, SetupError) as error:  # the user's own stores still answer
            missing = error
            if not isinstance(error, NoWorkTreeError):
                notices.append(str(error))
        if places.has_settings():
            from memfs.disk.settings import read_user_settings

            try:
                settings = read_user_settings(places)
            except MemfsError as error:
                notices.append(f"your settings cannot be used: {error}")
            else:
                for store in settings.stores:
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
        return cls(found, places=places, today=today, notices=notices, missing=missing)

    def recall(self, query: Query) -> Result:
        """Return what all stores know about ``query`` in one ranking."""
        from memfs.recall.search import recall

        result = recall(self.stores, self.places, query, today=self.today)
        return replace(result, notices=(*self.notices, *result.notices))

    def repositories(self) -> list[tuple[str, Repository]]:
        """Return each store opened, with its name."""
        return [(name, Repository(tree, places=self.places, today=self.today)) for name, tree in self.stores]

    def find(self, memory_id: str, caller: Caller) -> tuple[str, Repository, MemoryFile]:
        """Return the first store that has ``memory_id`` for ``caller``; NotFoundError otherwise."""
        for name, repository in self.repositories():
            try:
                return name, repository, repository.find(memory_id, caller)
            except NotFoundError:
                continue
        raise NotFoundError(_UNKNOWN, where=escape_hidden(memory_id, single_line=True))
