"""The facts of a change: which memories differ, and what their approvals are before and after. No rule is here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from memfs.check.judging import Judging
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.single import Known
from memfs.check.states import States, changed_paths
from memfs.disk.settings import REPOSITORY_FILE, RepositorySettings, parse_repository_settings
from memfs.git.log import read_commits
from memfs.git.snapshot import GitFiles, Snapshot, read_folder
from memfs.model.memory import MemoryFile
from memfs.model.reader import read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass
from memfs.trust.carriers import APPROVALS, read_keyrings
from memfs.trust.judge import Reason, Verdict
from memfs.trust.record import Record, find_records
from memfs.trust.view import TrustView

_ADDRESS = re.compile(r"<([^<>\s]{1,254})>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who a commit says its author is, through the base's .mailmap; anybody can write anything there."""

    name: str
    address: str

    @property
    def is_robot(self) -> bool:
        return "[bot]" in self.name or "[bot]" in self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """One memory that differs. ``what`` is ``added``, ``changed``, ``moved``, ``removed``, or ``approvals``
    where its text stays. ``before`` and ``after`` are its verdicts under the base's keyring."""

    what: str
    path: str
    old: MemoryFile | None
    new: MemoryFile | None
    before: Verdict | None
    after: Verdict | None

    @property
    def file(self) -> MemoryFile:
        """The file after the change; before it where it is removed."""
        file = self.new if self.new is not None else self.old
        assert file is not None
        return file

    @property
    def id(self) -> str:
        return self.file.id

    @property
    def scope(self) -> str:
        return scope_of_path(self.path) or ""

    @property
    def scope_before(self) -> str | None:
        return scope_of_path(self.old.path) if self.old is not None else None

    @property
    def had(self) -> tuple[str, ...]:
        """Whose approval counted before."""
        return self.before.people if self.before is not None and self.before.trusted else ()

    @property
    def has(self) -> tuple[str, ...]:
        """Whose approval counts after it, also where more people are needed."""
        after = self.after
        return after.people if after is not None and after.reason in (None, Reason.NOT_ENOUGH_PEOPLE) else ()

    @property
    def is_trusted(self) -> bool:
        return self.after is not None and self.after.trusted

    @property
    def is_lost(self) -> bool:
        """Whether the base's text was approved, and the one after the change is not."""
        return bool(self.had) and not self.is_trusted


def say(change: MemoryChange, rule: str, message: str, *, fix: str | None = None, level: Level | None = None) -> Result:
    """Return a result about a changed memory."""
    return make_result(rule, message, path=change.path, ids=(change.id,), fix=fix or None, level=level)


class Between:
    """A change, seen from both sides. Everything is found once, when it is first asked for."""

    def __init__(
        self,
        states: States,
        judging: Judging,
        *,
        changed: Mapping[str, str | None],
        files: Mapping[str, Known],
        verdicts: Mapping[str, Verdict],
    ) -> None:
        assert states.base is not None
        assert states.theirs is not None
        self.states = states
        self.base = states.base
        self.theirs = states.theirs
        self.now: Snapshot = states.now
        self.tree = states.now.tree
        self.judging = judging
        self.changed = changed
        self.files = files
        self.verdicts = verdicts

    @property
    def view(self) -> TrustView | None:
        """The base's keyring over the receipts of the change; None where no keyring counts."""
        view = self.judging.view
        return view if view is not None and view.keyring is not None else None

    @property
    def view_before(self) -> TrustView | None:
        """The base's keyring over the base's receipts."""
        view = self.judging.before
        return view if view is not None and view.keyring is not None else None

    @cached_property
    def settings(self) -> RepositorySettings:
        """The base's settings of today."""
        return read_settings(self.theirs)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Every changed path of the repository."""
        return changed_paths(self.states)

    @cached_property
    def listing(self) -> GitFiles:
        """The files after the change as git lists them: of a work tree, those of the index."""
        return self.now if isinstance(self.now, GitFiles) else GitFiles(self.tree, None)

    @cached_property
    def keyrings_before(self) -> dict[str, bytes]:
        return read_keyrings(self.base)

    @cached_property
    def keyrings_after(self) -> dict[str, bytes]:
        return read_keyrings(self.now)

    @cached_property
    def receipts_before(self) -> dict[str, bytes]:
        return read_folder(self.base, APPROVALS)

    @property
    def receipts_after(self) -> Mapping[str, bytes]:
        return self.judging.receipts

    @cached_property
    def receipts_changed(self) -> tuple[str, ...]:
        """The receipts that one side alone has, or that differ."""
        old, new = self.receipts_before, self.receipts_after
        return tuple(sorted(path for path in {*old, *new} if old.get(path) != new.get(path)))

    @cached_property
    def new_records(self) -> tuple[Record, ...]:
        """The records that the change brings as receipts."""
        new = (self.receipts_after.get(path) for path in self.receipts_changed)
        return tuple(record for raw in new if raw is not None for record in find_records(raw))

    @cached_property
    def memories(self) -> tuple[MemoryChange, ...]:
        """Every memory that the change touches, by path."""
        gone = sorted(set(self.base.memories()[0]) - set(self.now.memories()[0]) - set(self.changed.values()))
        old = dict(self.base.read_many([*filter(None, self.changed.values()), *gone]))
        new = dict(self.now.read_many(self.changed))
        found = [self._one(path, before, old, new.get(path)) for path, before in self.changed.items()]
        found += [self._removed(path, old.get(path)) for path in gone]
        found += self._approvals({*self.changed, *gone})
        return tuple(sorted(found, key=lambda change: change.path))

    def _one(
        self, path: str, before: str | None, old: Mapping[str, bytes | str], raw: bytes | str | None
    ) -> MemoryChange:
        was = _read(before, old.get(before)) if before else None
        return MemoryChange(
            what="added" if was is None else "moved" if before != path else "changed",
            path=path,
            old=was,
            new=_read(path, raw),
            before=self.view_before.verdict(was) if self.view_before is not None and was is not None else None,
            after=self.verdicts.get(path),
        )

    def _removed(self, path: str, raw: bytes | str | None) -> MemoryChange:
        old = _read(path, raw)
        before = self.view_before.verdict(old) if self.view_before is not None else None
        after = self.view.verdict(old) if self.view is not None else None
        return MemoryChange(what="removed", path=path, old=old, new=None, before=before, after=after)

    def _approvals(self, others: Collection[str]) -> Iterator[MemoryChange]:
        """Yield the memories whose text stays, and whose approvals the change adds or takes away."""
        if self.view is None or self.view_before is None:
            return
        sides = (self.receipts_before, self.receipts_after)
        records = (
            record for path in self.receipts_changed for side in sides for record in find_records(side.get(path) or b"")
        )
        ids = {item.id for record in records for item in record.statement.items}
        paths = [
            p for p in self.now.memories()[0] if p not in others and p.rpartition("/")[2].removesuffix(".md") in ids
        ]
        for path, raw in self.now.read_many(paths):
            file = _read(path, raw)
            before, after = self.view_before.verdict(file), self.view.verdict(file)
            if (before.level, before.people) != (after.level, after.people):
                yield MemoryChange(what="approvals", path=path, old=file, new=file, before=before, after=after)

    @cached_property
    def writers(self) -> dict[str, tuple[Writer, ...]]:
        """Path → the authors of the commits of the change that touched it."""
        if self.states.since is None or self.states.tip is None:
            return {}
        return find_writers(self)

    def find_approved_successor(self, memory_id: str) -> str | None:
        """Return the id of an approved memory after the change that supersedes ``memory_id``."""
        for path, known in self.files.items():
            if memory_id in known.supersedes:
                verdict = self.verdicts.get(path)
                if verdict is None and self.view is not None:
                    verdict = next((self.view.verdict(_read(path, raw)) for _, raw in self.now.read_many([path])), None)
                if verdict is not None and verdict.trusted:
                    return known.id
        return None


def find_writers(between: Between) -> dict[str, tuple[Writer, ...]]:
    """Return path → the authors of the commits between two commits that touched it."""
    same_person = parse_mailmap(dict(between.theirs.read_many([".mailmap"]))[".mailmap"])
    found: dict[str, dict[Writer, None]] = {}
    for commit in read_commits(between.tree, between.states.tip or "HEAD", ["memories"], since=between.states.since):
        address = same_person.get(commit.address.casefold(), commit.address)
        for file in commit.files:
            found.setdefault(file.path, {})[Writer(name=commit.author, address=address)] = None
    return {path: tuple(writers) for path, writers in found.items()}


def parse_mailmap(raw: bytes | str) -> dict[str, str]:
    """Return committed address → proper address, both without case. Source: gitmailmap(5)."""
    if isinstance(raw, str):
        return {}
    found: dict[str, str] = {}
    for line in raw.decode("utf-8", "replace").split("\n"):
        addresses = _ADDRESS.findall(line.split("#", 1)[0])
        if len(addresses) == 2:
            found[addresses[1].casefold()] = addresses[0].casefold()
    return found


def read_settings(files: Snapshot) -> RepositorySettings:
    """Return the settings that a state of the repository contains."""
    raw = dict(files.read_many([REPOSITORY_FILE]))[REPOSITORY_FILE]
    return parse_repository_settings(raw) if isinstance(raw, bytes) else RepositorySettings()


def _read(path: str, raw: bytes | str | None) -> MemoryFile:
    return read_memory(path, raw if isinstance(raw, bytes) else b"")
