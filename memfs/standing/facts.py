"""The facts about evidence and triggers, for many memories, in one state of the repository (DESIGN 3).

Recall, list, status, due, show, check, review and browse all ask here, so that they never disagree.
Content is compared with content: git is started only for evidence that names a commit, for triggers on
paths that no evidence ties, and for what is not where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any, Protocol

from memfs.errors import MemfsError
from memfs.git.log import find_boundary
from memfs.git.read import blobs_at
from memfs.git.snapshot import GitFiles, Snapshot
from memfs.model.memory import (
    BlobEvidence,
    Evidence,
    EvidenceStatus,
    FileEvidence,
    IfText,
    Memory,
    OnDate,
    PartEvidence,
    PathEvidence,
    StateReport,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
    Why,
)
from memfs.model.scope import is_seen_with, scope_of_path
from memfs.model.state import UNKNOWN_FILE, FileFact, StateFacts, judge_state
from memfs.model.values import dataclass, replace
from memfs.model.versions import find_version
from memfs.standing.history import arrivals, history_mark, known_commits, lost_commits
from memfs.standing.moves import Moves


class Kept(Protocol):
    """Where answers that cost a process are kept, by the digest of the memory that they belong to."""

    def get(self, digest: str) -> Mapping[str, Any]: ...

    def put(self, digest: str, key: str, value: object) -> None: ...


class Forgetful:
    """Keeps answers for this run only."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Any]] = {}

    def get(self, digest: str) -> Mapping[str, Any]:
        return self._kept.get(digest, {})

    def put(self, digest: str, key: str, value: object) -> None:
        self._kept.setdefault(digest, {})[key] = value

    def save(self) -> None:
        """Do nothing: nothing is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A memory whose state is asked for: its path, the digest of its bytes, and what it says."""

    path: str
    digest: str
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseding:
    """What supersedes what, as far as one memory has to do with it: :class:`StateFacts` has the words."""

    by: Mapping[str, str]
    passed_over: int = 0


NOTHING_NEWER = Superseding(by={})


class Facts:
    """Answers about one snapshot. ``tips`` are the commits whose histories count, the snapshot's own first;
    none where nothing is committed. ``sees_path``: what the caller may see; another memory is evidence only
    for those who may see it."""

    def __init__(
        self,
        snapshot: Snapshot,
        kept: Kept,
        *,
        tips: Sequence[str | None],
        sees_path: Callable[[str], bool] = lambda _path: True,
    ) -> None:
        self.snapshot = snapshot
        self.notices: dict[str, None] = {}
        self._tree = snapshot.tree
        self._sees_path = sees_path
        self._kept = kept
        self._tips = tuple(dict.fromkeys(tip for tip in tips if tip is not None))
        self._blobs: dict[tuple[str, str], str | None] = {}  # (path, commit) → blob
        self._commits: dict[str, str | None] = {}
        self._arrivals: dict[tuple[str, str], str | None] = {}  # (digest, path) → blob; None: it was not there
        self._unsure: dict[tuple[str, str], Why] = {}
        self._moves = Moves(snapshot)
        self._found: dict[tuple[str, Evidence], FileFact] = {}

    def judge(
        self,
        subjects: Sequence[Subject],
        day: date,
        superseding: Mapping[str, Superseding] | None = None,
    ) -> dict[str, StateReport]:
        """Return path → state of ``subjects`` on ``day``; asks git once for all of them."""
        self._ask_git(subjects)
        newer = superseding or {}
        return {one.path: self._judge(one, day, newer.get(one.path, NOTHING_NEWER)) for one in subjects}

    def look(self, subject: Subject) -> tuple[FileFact, ...]:
        """Return what is found of each piece of the memory's evidence; after :meth:`judge`."""
        return tuple(self._look(subject, piece) for piece in subject.memory.evidence)

    def find_version(self, name: str) -> str | None:
        """Return the version that the manifests of the workspace have for ``name``."""
        return find_version(name, self._manifests)

    def recorded_blob(self, subject: Subject, piece: PathEvidence) -> str | None:
        """Return the blob that ``piece`` is compared with; after :meth:`judge`."""
        recorded = self._blobs.get((piece.path, piece.commit))
        return recorded if recorded is not None else self._arrivals.get((subject.digest, piece.path))

    def look_up(self, names: Iterable[str]) -> None:
        """Ask for many commits at once, for :meth:`knows_commit`."""
        self._commits.update(known_commits(self._tree, set(names) - self._commits.keys()))

    @property
    def why_no_commit(self) -> Why:
        """Why a commit that is not here is not."""
        return Why.NO_GIT if self._tree.git_dir is None else Why.SHALLOW if self._boundary else Why.NO_COMMIT

    def knows_commit(self, name: str) -> bool:
        """Return whether the commit ``name`` is here."""
        if name not in self._commits:
            self._commits.update(known_commits(self._tree, [name]))
        return self._commits[name] is not None

    def _judge(self, subject: Subject, day: date, newer: Superseding) -> StateReport:
        trigger = subject.memory.review_trigger
        return judge_state(
            subject.memory,
            StateFacts(
                today=day,
                evidence=self.look(subject),
                watched=self._watch(subject, trigger) if isinstance(trigger, WhenPathChanges) else UNKNOWN_FILE,
                version=self.find_version(trigger.name) if isinstance(trigger, WhenVersion) else None,
                superseded_by=newer.by,
                passed_over=newer.passed_over,
            ),
        )

    @cached_property
    def _manifests(self) -> list[dict[str, str]]:
        from memfs.standing.manifests import read_manifests  # for the few triggers that ask for a version

        return read_manifests(self.snapshot)

    # -- files -----------------------------------------------------------------------------------

    def _look(self, subject: Subject, piece: Evidence) -> FileFact:
        if not isinstance(piece, FileEvidence):
            return UNKNOWN_FILE
        if piece.repo is not None:
            return _unknown(Why.ELSEWHERE)
        if not self._sees_path(piece.path):
            return _unknown(Why.HIDDEN)
        # What a commit that is not here stands for depends on the memory; everything else on the piece alone.
        key = (subject.digest if isinstance(piece, PathEvidence) else "", piece)
        if key not in self._found:
            self._found[key] = self._find(subject, piece)
        return self._found[key]

    def _find(self, subject: Subject, piece: FileEvidence) -> FileFact:
        match piece:
            case BlobEvidence(path=path, blob=blob):
                return self._compare(path, blob)
            case PartEvidence():
                return self._compare_part(piece)
            case PathEvidence(path=path, commit=commit):
                then = self._blobs.get((path, commit))
                if then is not None:
                    return self._compare(path, then)
                then = self._arrivals.get((subject.digest, path))
                if then is not None and not self.knows_commit(commit):
                    return replace(self._compare(path, then), by_arrival=True)
                return _unknown(self._why_no_commit(subject, piece))

    def _why_no_commit(self, subject: Subject, piece: PathEvidence) -> Why:
        if self.knows_commit(piece.commit):
            return Why.NO_PATH
        return self._unsure.get((subject.digest, piece.path), self.why_no_commit)

    def _watch(self, subject: Subject, trigger: WhenPathChanges) -> FileFact:
        """Return how the path of a trigger compares: with the evidence that ties it, else with what it was
        when the memory came."""
        if not self._sees_path(trigger.path):
            return FileFact(status=EvidenceStatus.MISSING)
        tied = [
            piece
            for piece in subject.memory.evidence
            if isinstance(piece, BlobEvidence | PartEvidence) and piece.repo is None and piece.path == trigger.path
        ]
        if tied:
            return max((self._look(subject, piece) for piece in tied), key=lambda fact: _GRAVITY.index(fact.status))
        key = (subject.digest, trigger.path)
        if key not in self._arrivals:
            why = self.why_no_commit
            return _unknown(self._unsure.get(key, None if why is Why.NO_COMMIT else why))
        then = self._arrivals[key]
        if then is not None:
            fact = self._compare(trigger.path, then)
            return replace(fact, status=EvidenceStatus.CHANGED) if fact.status is EvidenceStatus.MISSING else fact
        is_here = self.snapshot.blob_of(trigger.path) is not None
        return FileFact(status=EvidenceStatus.CHANGED if is_here else EvidenceStatus.MISSING)

    def _compare(self, path: str, then: str) -> FileFact:
        now = self.snapshot.blob_of(path, like=then)
        if now is None:
            why = self.snapshot.why_not(path)
            if why is not None:
                return _unknown(why)
            moved = self._moves.find(path, then)
            return _moved(moved) if moved else FileFact(status=EvidenceStatus.MISSING)
        return FileFact(status=EvidenceStatus.UNCHANGED if now.startswith(then) else EvidenceStatus.CHANGED)

    def _compare_part(self, piece: PartEvidence) -> FileFact:
        text = self._moves.text(piece.path)
        if text is not None:
            found = text.find(piece.part, piece.text)
            if found is None:
                return FileFact(status=EvidenceStatus.MISSING)
            return FileFact(status=EvidenceStatus.UNCHANGED if found.same else EvidenceStatus.CHANGED)
        why = self.snapshot.why_not(piece.path)
        if why is not None or self.snapshot.blob_of(piece.path) is not None:
            return _unknown(why or Why.TOO_LARGE)
        moved = self._moves.find_part(piece)
        return _moved(moved) if moved else FileFact(status=EvidenceStatus.MISSING)

    # -- git -------------------------------------------------------------------------------------

    @cached_property
    def _boundary(self) -> frozenset[str]:
        return find_boundary(self._tree)

    @cached_property
    def _mark(self) -> str:
        return history_mark(self._tree, self._tips)

    def _ask_git(self, subjects: Sequence[Subject]) -> None:
        if self._tree.git_dir is None:
            return
        pairs: dict[tuple[str, str], list[str]] = {}
        for one in subjects:
            kept = self._kept.get(one.digest)
            for piece in one.memory.evidence:
                if isinstance(piece, PathEvidence) and piece.repo is None:
                    pair = (piece.path, piece.commit)
                    if pair in self._blobs:
                        continue
                    known = kept.get(f"blob:{piece.path}@{piece.commit}")
                    if isinstance(known, str):
                        self._blobs[pair] = known
                    elif isinstance(known, list) and len(known) == 2 and known[0] == self._mark:
                        self._blobs[pair] = None
                        self._commits.setdefault(piece.commit, known[1])
                    else:
                        pairs.setdefault(pair, []).append(one.digest)
        if pairs:
            self._find_blobs(pairs)
        wanted: list[tuple[Subject, str]] = []
        for one in subjects:
            for path in self._asked_of_history(one):
                if (one.digest, path) not in self._arrivals:
                    wanted.append((one, path))
        wanted = self._recall_arrivals(wanted)
        if wanted and self._tips:
            self._find_arrivals(wanted)
        if isinstance(self.snapshot, GitFiles):
            self._read_ahead(subjects, self.snapshot)

    def _find_blobs(self, pairs: Mapping[tuple[str, str], Sequence[str]]) -> None:
        try:
            found = blobs_at(self._tree, pairs)
            missing = {commit for (_, commit), blob in found.items() if blob is None}
            self._commits.update(known_commits(self._tree, missing - self._commits.keys()))
        except MemfsError as error:
            self.notices[f"evidence was not checked: {error}"] = None
            return
        for (path, commit), digests in pairs.items():
            blob = self._blobs[path, commit] = found.get((path, commit))
            # "Not there" can change with the next fetch, so it is kept for this state of the repository only.
            for digest in digests:
                value = [self._mark, self._commits.get(commit)] if blob is None else blob
                self._kept.put(digest, f"blob:{path}@{commit}", value)

    def _asked_of_history(self, subject: Subject) -> list[str]:
        """Return the paths whose content at the memory's arrival counts."""
        memory = subject.memory
        paths = [
            piece.path
            for piece in memory.evidence
            if isinstance(piece, PathEvidence)
            and piece.repo is None
            and self._blobs.get((piece.path, piece.commit)) is None
            and self._commits.get(piece.commit) is None
        ]
        trigger = memory.review_trigger
        if isinstance(trigger, WhenPathChanges):
            ties = (BlobEvidence, PartEvidence)
            if not any(isinstance(one, ties) and one.path == trigger.path and not one.repo for one in memory.evidence):
                paths.append(trigger.path)
        return list(dict.fromkeys(paths))

    def _recall_arrivals(self, wanted: Sequence[tuple[Subject, str]]) -> list[tuple[Subject, str]]:
        """Take what earlier runs found out, and return what must be asked again.

        A kept answer names the commit that brought the memory. In another history than the one it was
        found in, it counts as long as that commit is there too.
        """
        left: list[tuple[Subject, str]] = []
        older: list[tuple[Subject, str, str, str | None]] = []
        for one, path in wanted:
            kept = self._kept.get(one.digest).get(f"base:{path}")
            if not (isinstance(kept, list) and len(kept) == 3):
                left.append((one, path))
                continue
            mark, commit, blob = kept
            if mark == self._mark:
                self._arrivals[one.digest, path] = blob
            elif isinstance(commit, str) and commit:
                older.append((one, path, commit, blob))
            else:
                left.append((one, path))
        if older and self._tips:
            if lost_commits(self._tree, self._tips, [commit for _, _, commit, _ in older]):
                return left + [(one, path) for one, path, _, _ in older]
            for one, path, commit, blob in older:
                self._arrivals[one.digest, path] = blob
                self._kept.put(one.digest, f"base:{path}", [self._mark, commit, blob])
        return left

    def _find_arrivals(self, wanted: Sequence[tuple[Subject, str]]) -> None:
        """Find the blob that a path had when the memory's present content first came.

        Content that is not committed yet goes on from what the tip has under its name; a new file goes on
        from the tip itself, but only for its trigger: evidence has to name something that is here. What a
        shallow clone cannot tell is left out, and so is never taken for unchanged.
        """
        paths = sorted({one.path for one, _ in wanted})
        tip = self._tips[0]
        try:
            first = arrivals(self._tree, self._tips, paths)
            at_tip = blobs_at(self._tree, [(path, tip) for path in paths])
            places: dict[tuple[str, str], tuple[str, bool]] = {}
            for one, path in wanted:
                brought = first.get(one.path, {})
                own = next((blob for blob in brought if self.snapshot.blob_of(one.path, like=blob) == blob), None)
                blob = own if own is not None else at_tip[one.path, tip]
                commit = tip if blob is None else brought.get(blob)
                if blob is None and not self._is_watched(one, path):
                    continue
                if commit is None or commit in self._boundary:
                    self._unsure[one.digest, path] = Why.SHALLOW
                else:
                    places[one.digest, path] = (commit, own is not None)
            blobs = blobs_at(self._tree, [(path, commit) for (_, path), (commit, _) in places.items()])
        except MemfsError as error:
            self.notices[f"review triggers were not checked: {error}"] = None
            return
        for (digest, path), (commit, stays) in places.items():
            blob = self._arrivals[digest, path] = blobs[path, commit]
            # What is not committed yet has its first commit still before it: until the next commit only.
            lasting = commit if stays and blob is not None else ""
            self._kept.put(digest, f"base:{path}", [self._mark, lasting, blob])

    def _is_watched(self, subject: Subject, path: str) -> bool:
        trigger = subject.memory.review_trigger
        return isinstance(trigger, WhenPathChanges) and trigger.path == path

    def _read_ahead(self, subjects: Sequence[Subject], files: GitFiles) -> None:
        """Read what differs, and files whose parts are asked for, in few processes."""
        wanted: dict[str, None] = {}
        for one in subjects:
            for piece in one.memory.evidence:
                if isinstance(piece, PartEvidence):
                    wanted[piece.path] = None
                elif isinstance(piece, BlobEvidence):
                    entry = files.entries.get(piece.path)
                    if entry is not None and not entry.blob.startswith(piece.blob):
                        wanted[piece.path] = None
        files.keep_contents(wanted)


_GRAVITY = (
    EvidenceStatus.UNCHANGED,
    EvidenceStatus.MOVED,
    EvidenceStatus.UNVERIFIABLE,
    EvidenceStatus.CHANGED,
    EvidenceStatus.MISSING,
)


def judge_dates(memory: Memory, day: date) -> StateReport:
    """Return the state of ``memory`` as far as its own dates tell, for text whose repository is elsewhere."""
    trigger = memory.review_trigger if isinstance(memory.review_trigger, OnDate) else IfText(text="-")
    return judge_state(replace(memory, evidence=(), review_trigger=trigger), StateFacts(today=day))


def may_rest_on(path: str, scope: str | None) -> bool:
    """Return whether a memory of ``scope`` may rest on ``path``: a memory only where each reader sees both."""
    if not path.casefold().startswith("memories/"):
        return True
    other = scope_of_path(path)
    return is_seen_with(other, scope)


def asked_of_others(memory: Memory) -> tuple[str, ...]:
    """Return the ids whose successors matter to ``memory``: its own, and the one that its trigger watches."""
    trigger = memory.review_trigger
    return (memory.id, trigger.id) if isinstance(trigger, WhenSuperseded) else (memory.id,)


def _unknown(why: Why | None) -> FileFact:
    return FileFact(status=EvidenceStatus.UNVERIFIABLE, why=why)


def _moved(path: str) -> FileFact:
    return FileFact(status=EvidenceStatus.MOVED, moved_to=path)
