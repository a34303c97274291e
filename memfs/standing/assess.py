"""One memory file with everything a reader must know beside it: state, verdict, gate.

Used by recall, show, list, status and review alike, so that they never disagree. Facts that cannot
change (a blob at a commit, the gate's answer about a text) come from the index's cache; the files of
the work tree are hashed in this process; git is started only for what is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from memfs.admission.gate import (
    GATE_VERSION,
    Decision,
    Outcome,
    judge_text,
    settle_reading,
)
from memfs.disk.files import UnreadableFile, read_file
from memfs.errors import MemfsError
from memfs.git.log import find_boundary, first_commits
from memfs.index.facts import FactCache
from memfs.model.memory import (
    MemoryFile,
    PathEvidence,
    State,
    StateReport,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
)
from memfs.model.reader import id_of_path, read_memory
from memfs.model.scope import is_seen_with, scope_of_path
from memfs.model.state import StateFacts, judge_state
from memfs.model.values import dataclass
from memfs.standing.background import KeptGate, open_recall_index

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.index.refresh import Opened
    from memfs.trust.judge import Verdict
    from memfs.trust.view import TrustView

_MAX_LINE = 300  # characters of a line that is shown

MAX_EVIDENCE_BYTES = 16 * 1024 * 1024
"""A larger evidence file cannot be compared and counts as unverifiable."""

RECALL_PATIENCE = 0.7
"""Seconds that a recall waits for a long history; a process of its own reads on meanwhile."""

WITHHELD_LINE = "(withheld: admission stops this line)"

_LISTED_PATHS = 50  # more are asked for as the whole folder

_NO_MEMORY = StateReport(state=State.RECHECK, reasons=("not a well-formed memory",), evidence=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A file, and what holds about it today. ``visible_in_scope`` is the scope of its folder."""

    file: MemoryFile
    state: StateReport
    verdict: Verdict
    gate: Decision
    visible_in_scope: str | None

    @property
    def approved(self) -> bool:
        """Whether this may be shown as what the team approved: trusted, current and admissible."""
        return (
            self.verdict.trusted
            and self.state.state is State.CURRENT
            and self.file.memory is not None
            and self.gate.outcome is not Outcome.REJECT
        )


class Assessor:
    """Assesses the files of one work tree; keeps what it found out for the next file."""

    def __init__(
        self,
        tree: WorkTree,
        places: Places,
        today: date,
        *,
        opened: Opened | None = None,
        on: date | None = None,
        patience: float | None = None,
        sees_path: Callable[[str], bool] = lambda _path: True,
    ) -> None:
        self._tree = tree
        self._sees_path = sees_path  # of the caller: another memory is evidence only for those who may see it
        self._places = places
        self._today = today
        # States may be asked for another day. Trust never: it remembers the latest day that it saw.
        self._state_day = on or today
        self._opened = opened
        self._patience = patience  # seconds that reading a history may take
        self._facts = FactCache(tree, places)
        self._gate = KeptGate(self._facts)
        self._view: TrustView | None = None
        self._now: dict[str, tuple[str, bytes] | None] = {}
        self._manifests: list[dict[str, str]] | None = None
        self._successors: Mapping[str, Sequence[str]] | None = None
        self._mark: str | None = None
        self._notices: dict[str, None] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """What the reader should know about all answers so far (git missing, keyring broken)."""
        own = self._view.notices if self._view is not None else ()
        return (*self._notices, *own)

    def assess(self, file: MemoryFile) -> Assessment:
        """Return ``file`` with its state, verdict and read-time gate. Never raises for its content."""
        return self.assess_many([file])[0]

    def assess_many(self, files: Sequence[MemoryFile]) -> list[Assessment]:
        """Return the assessments of ``files`` in their order; asks git once for all of them."""
        blobs, baselines = self._ask_git(files)
        found = [self._assess(file, blobs, baselines) for file in files]
        self._facts.save()
        return found

    def _assess(
        self,
        file: MemoryFile,
        blobs: Mapping[tuple[str, str], str | None],
        baselines: Mapping[tuple[str, str], str | None],
    ) -> Assessment:
        verdict = self._open_view().verdict(file)
        return Assessment(
            file=file,
            state=self._state(file, blobs, baselines, trusted=verdict.trusted),
            verdict=verdict,
            gate=settle_reading(self._gate.judge(file), file, trusted=verdict.trusted),
            visible_in_scope=scope_of_path(file.path),
        )

    def _open_view(self) -> TrustView:
        if self._view is None:
            from memfs.trust.view import HISTORY_SECONDS, open_view

            patience = HISTORY_SECONDS if self._patience is None else self._patience
            self._view = open_view(self._tree, self._places, today=self._today, patience=patience)
        return self._view

    def ids_with_receipts(self) -> frozenset[str]:
        """Return the ids that can be trusted at all: those that some receipt speaks of."""
        return self._open_view().ids_with_receipts()

    def repository_id(self) -> str | None:
        """Return the id of this repository's keyring; None without a sound one."""
        return self._open_view().repository_id

    def not_checked_out(self) -> tuple[str, ...]:
        """Return the memories that git has and that are meant not to be in this work tree."""
        from memfs.git.read import memories_not_checked_out

        return memories_not_checked_out(self._tree)

    # -- state -----------------------------------------------------------------------------------

    def _state(
        self,
        file: MemoryFile,
        blobs: Mapping[tuple[str, str], str | None],
        baselines: Mapping[tuple[str, str], str | None],
        *,
        trusted: bool,
    ) -> StateReport:
        memory = file.memory
        if memory is None:
            return _NO_MEMORY
        pairs = _evidence_pairs(file)
        recorded = {pair: blobs.get(pair) if self._sees_path(pair[0]) else None for pair in pairs}
        blobs_now: dict[str, str | None] = {}
        lines_now: dict[str, str | None] = {}
        baseline_blobs: dict[str, str | None] = {}
        trigger = memory.review_trigger
        if isinstance(trigger, WhenPathChanges):
            before = baselines.get((file.digest, trigger.path))
            if not self._sees_path(trigger.path):
                baseline_blobs[trigger.path] = None
            else:
                if (file.digest, trigger.path) in baselines:
                    baseline_blobs[trigger.path] = before
                blobs_now[trigger.path] = self._blob_now(trigger.path, like=before)
        for path, commit in pairs:
            if not self._sees_path(path):
                continue
            before = recorded[path, commit]
            blobs_now[path] = now = self._blob_now(path, like=before)
            if before is not None and now is not None and now != before:
                lines_now[path] = self._line_now(file.digest, path, before, now)
        superseded_by, passed_over = self._superseded_by(file, trusted=trusted)
        facts = StateFacts(
            today=self._state_day,
            recorded_blobs=recorded,
            blobs_now=blobs_now,
            lines_now=lines_now,
            baseline_blobs=baseline_blobs,
            versions=self._find_versions([trigger.name]) if isinstance(trigger, WhenVersion) else {},
            superseded_by=superseded_by,
            passed_over=passed_over,
        )
        return judge_state(memory, facts)

    def _blob_now(self, path: str, *, like: str | None) -> str | None:
        """Return the blob id that ``path`` has in the work tree, in the form that ``like`` has.

        git may have changed line ends or replaced an LFS pointer on checkout: if the file as git
        would store it is ``like``, that is what it is.
        """
        from memfs.git.read import blob_id

        if path not in self._now:
            self._now[path] = self._read_now(path)
        found = self._now[path]
        if found is None:
            return None
        blob, raw = found
        if like is None or blob == like:
            return blob
        algorithm = "sha256" if len(blob) == 64 else "sha1"
        for stored in (raw.replace(b"\r\n", b"\n"), _lfs_pointer(raw)):
            if blob_id(stored, algorithm=algorithm) == like:
                return like
        return blob

    def _read_now(self, path: str) -> tuple[str, bytes] | None:
        from memfs.git.read import blob_id, object_format

        try:
            raw = read_file(self._tree, path, limit=MAX_EVIDENCE_BYTES)
        except UnreadableFile:
            return self._read_from_head(path) if self._is_sparse() else None
        return blob_id(raw, algorithm=object_format(self._tree)), raw

    def _is_sparse(self) -> bool:
        import os

        git_dir = self._tree.git_dir
        return git_dir is not None and os.path.exists(os.path.join(git_dir, "info", "sparse-checkout"))

    def _read_from_head(self, path: str) -> tuple[str, bytes] | None:
        # A path outside the cone of a sparse checkout is not missing: git has it as it is in HEAD.
        from memfs.git.read import blob_at, read_blob

        try:
            blob = blob_at(self._tree, "HEAD", path)
            return None if blob is None else (blob, read_blob(self._tree, blob))
        except MemfsError:
            return None

    def _line_now(self, digest: str, path: str, before: str, now: str) -> str | None:
        """Return the first line of the file now that the recorded one did not have.

        It may be a line of any tracked file, so the gate looks at it. What is kept is which line it is and
        what the gate said; the text comes from the file each time.
        """
        found = self._now[path]
        lines = found[1].splitlines() if found is not None else []
        key = f"line:{GATE_VERSION}:{before}:{now}"
        kept = self._facts.get(digest).get(key)
        if not (isinstance(kept, list) and len(kept) == 2 and isinstance(kept[0], int) and kept[0] < len(lines)):
            kept = self._choose_line(before, lines)
            if kept is None:
                return None
            self._facts.put(digest, key, kept)
        number, rule = kept
        if number < 0:
            return None
        return f"[withheld: {rule}]" if rule else lines[number].decode("utf-8", "replace").strip()[:_MAX_LINE]

    def _choose_line(self, before: str, lines: Sequence[bytes]) -> list[Any] | None:
        from memfs.git.read import read_blob

        try:
            old = set(read_blob(self._tree, before).splitlines())
        except MemfsError:
            return None
        number = next((place for place, line in enumerate(lines) if line.strip() and line not in old), -1)
        if number < 0:
            return [number, ""]
        decision = judge_text(lines[number].decode("utf-8", "replace").strip()[:_MAX_LINE])
        rules = [finding.rule for finding in decision.findings if decision.outcome is Outcome.REJECT]
        return [number, rules[0] if rules else ""]

    def _find_versions(self, names: Iterable[str]) -> Mapping[str, str | None]:
        from memfs.model.versions import find_version

        manifests = self._read_manifests()
        return {name: find_version(name, manifests) for name in names}

    def _read_manifests(self) -> list[dict[str, str]]:
        from memfs.model.versions import MANIFESTS, MAX_MANIFEST_BYTES, parse_manifest

        if self._manifests is None:
            self._manifests = []
            for name in MANIFESTS:
                try:
                    raw = read_file(self._tree, name, limit=MAX_MANIFEST_BYTES)
                except UnreadableFile:
                    continue
                self._manifests.append(parse_manifest(name, raw.decode("utf-8", "replace")))
        return self._manifests

    def _superseded_by(self, file: MemoryFile, *, trusted: bool) -> tuple[Mapping[str, str], int]:
        """Return the superseded ids that ``file`` has to do with, and how many successors do not count.

        What people approved is taken out of force only by what people approved: otherwise anybody who
        may write a file could switch a rule off and put words of his own, as an id, beside it.
        """
        if self._successors is None:
            from memfs.index.refresh import find_successors

            opened = self._opened if self._opened is not None else open_recall_index(self._tree, self._places)
            self._successors = find_successors(self._tree, opened)
        scope = scope_of_path(file.path)
        wanted = [file.id]
        if file.memory is not None and isinstance(file.memory.review_trigger, WhenSuperseded):
            wanted.append(file.memory.review_trigger.id)
        found: dict[str, str] = {}
        passed_over = 0
        for old in wanted:
            for path in self._successors.get(old, ()):
                # A memory is superseded only by one that each of its readers can read too (ADMISSION 7).
                if path == file.path or not is_seen_with(scope_of_path(path), scope) or not self._sees_path(path):
                    continue
                if trusted and not self._is_trusted(path):
                    passed_over += old == file.id
                    continue
                found.setdefault(old, id_of_path(path))
        return found, passed_over

    def _is_trusted(self, path: str) -> bool:
        try:
            file = read_memory(path, read_file(self._tree, path))
        except UnreadableFile:
            return False
        return self._open_view().verdict(file).trusted

    # -- git -------------------------------------------------------------------------------------

    def _ask_git(
        self, files: Sequence[MemoryFile]
    ) -> tuple[dict[tuple[str, str], str | None], dict[tuple[str, str], str | None]]:
        """Return the recorded blobs by (path, commit) and the baselines by (digest, path)."""
        blobs: dict[tuple[str, str], str | None] = {}
        baselines: dict[tuple[str, str], str | None] = {}
        if self._tree.git_dir is None:
            return blobs, baselines
        unknown: dict[tuple[str, str], list[str]] = {}
        untold: list[MemoryFile] = []
        for file in files:
            entry = self._facts.get(file.digest)
            for pair in _evidence_pairs(file):
                kept = entry.get(f"blob:{pair[0]}@{pair[1]}")
                if isinstance(kept, str):
                    blobs[pair] = kept
                elif isinstance(kept, list) and kept == [self._repository_mark()]:
                    blobs[pair] = None
                else:
                    unknown.setdefault(pair, []).append(file.digest)
            path = _trigger_path(file)
            if path is not None:
                kept = entry.get(f"base:{path}")
                if isinstance(kept, str):
                    baselines[file.digest, path] = kept
                elif isinstance(kept, list) and kept[:1] == [self._repository_mark()]:
                    baselines[file.digest, path] = kept[1] if len(kept) == 2 else None
                else:
                    untold.append(file)
        if untold:
            self._find_baselines(untold, baselines)
        if unknown:
            self._find_blobs(unknown, blobs)
        return blobs, baselines

    def _find_blobs(
        self, unknown: Mapping[tuple[str, str], Sequence[str]], blobs: dict[tuple[str, str], str | None]
    ) -> None:
        from memfs.git.read import blobs_at

        try:
            found = blobs_at(self._tree, unknown)
        except MemfsError as error:
            self._notices[f"evidence was not checked: {error}"] = None
            return
        for (path, commit), digests in unknown.items():
            blob = found.get((path, commit))
            blobs[path, commit] = blob
            # "Not there" can change with the next fetch, so it is kept for this state of the repository only.
            value = [self._repository_mark()] if blob is None else blob
            for digest in digests:
                self._facts.put(digest, f"blob:{path}@{commit}", value)

    def _find_baselines(self, files: Sequence[MemoryFile], baselines: dict[tuple[str, str], str | None]) -> None:
        """Add the blob that each file's trigger path had when the file first got its present content.

        The first commit counts, so that neither a change of mode nor taking the text out and putting it
        back makes a fired trigger quiet again. For content that is not committed yet, what HEAD holds
        under that name counts, and HEAD itself for a new file. What a shallow clone cannot tell is left
        out, and so is never taken for unchanged.
        """
        from memfs.git.read import blob_id, blobs_at, head_commit, object_format

        try:
            head = head_commit(self._tree)
            if head is None:
                return
            algorithm = object_format(self._tree)
            at_head = blobs_at(self._tree, [(file.path, head) for file in files])
            paths = [file.path for file in files]
            first = first_commits(self._tree, "HEAD", paths if len(paths) <= _LISTED_PATHS else ["memories"])
            boundary = find_boundary(self._tree)
            wanted: dict[tuple[str, str], list[MemoryFile]] = {}
            settled: set[str] = set()  # the digests of what is committed
            for file in files:
                own = blob_id(file.raw.replace(b"\r\n", b"\n"), algorithm=algorithm)
                if (file.path, own) in first:
                    settled.add(file.digest)
                committed = own if file.digest in settled else at_head[file.path, head]
                commit = head if committed is None else first.get((file.path, committed))
                path = _trigger_path(file)
                if commit is not None and commit not in boundary and path is not None:
                    wanted.setdefault((path, commit), []).append(file)
            found = blobs_at(self._tree, wanted)
        except MemfsError as error:
            self._notices[f"review triggers were not checked: {error}"] = None
            return
        for (path, commit), of in wanted.items():
            blob = found[path, commit]
            for file in of:
                baselines[file.digest, path] = blob
                # What is not committed yet has its first commit still before it: until the next commit only.
                if blob is not None and file.digest in settled:
                    self._facts.put(file.digest, f"base:{path}", blob)
                else:
                    self._facts.put(file.digest, f"base:{path}", [self._repository_mark(), blob])

    def _repository_mark(self) -> str:
        """Return something that changes when the repository gets new commits or objects."""
        import os

        from memfs.git.read import head_commit

        if self._mark is None:
            marks = [head_commit(self._tree) or ""]
            for name in ("FETCH_HEAD", "objects/pack", "packed-refs", "shallow"):
                try:
                    marks.append(str(os.stat(os.path.join(self._tree.common_dir or "", name)).st_mtime_ns))
                except OSError:
                    marks.append("")
            self._mark = " ".join(marks)
        return self._mark


def _evidence_pairs(file: MemoryFile) -> list[tuple[str, str]]:
    memory = file.memory
    if memory is None:
        return []
    return [
        (item.path, item.commit) for item in memory.evidence if isinstance(item, PathEvidence) and item.repo is None
    ]


def _trigger_path(file: MemoryFile) -> str | None:
    memory = file.memory
    if memory is None or not isinstance(memory.review_trigger, WhenPathChanges):
        return None
    return memory.review_trigger.path


def _lfs_pointer(raw: bytes) -> bytes:
    """Return the pointer that git-lfs stores instead of ``raw`` (its specification, version 1)."""
    from hashlib import sha256

    oid = sha256(raw).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(raw)}\n".encode("ascii")
