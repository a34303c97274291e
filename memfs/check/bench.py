"""How evidence and triggers stand in one state of the repository, for many memories at once.

git is asked a fixed number of times, however many memories there are: one question for every blob
that is not known yet, one for the commits, one pass over the history for the triggers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property

from memfs.check.across import find_successors
from memfs.check.cache import Cache
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.single import Known
from memfs.errors import MemfsError
from memfs.git.log import find_boundary, first_commits
from memfs.git.read import blobs_at, read_git
from memfs.git.snapshot import Snapshot, is_shallow
from memfs.model.codepoints import plain
from memfs.model.memory import (
    CommitEvidence,
    EvidenceStatus,
    Memory,
    PathEvidence,
    State,
    StateReport,
    Trigger,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
)
from memfs.model.scope import is_seen_with
from memfs.model.state import StateFacts, fact_path, judge_state
from memfs.model.values import dataclass
from memfs.model.versions import MANIFESTS, find_version, parse_manifest

UNTIED = "0000000"
"""The commit that the template's examples name until `memfs init` ties them to a real one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One memory: its state, and what to say about its evidence and trigger."""

    report: StateReport
    results: tuple[Result, ...]


class Bench:
    """Answers about commits and blobs, each found once. ``tip`` is the commit that history is read from;
    ``safe`` the one whose history survives a squash (the base of a change), None where there is none."""

    def __init__(self, snapshot: Snapshot, cache: Cache, *, tip: str | None, safe: str | None, today: date) -> None:
        self._snapshot = snapshot
        self._tree = snapshot.tree
        self._cache = cache
        self._tip = tip
        self._safe = safe
        self._today = today
        self._blobs: dict[tuple[str, str], str | None] = {}
        self._commits: dict[str, str | None] = {}
        self._baselines: dict[str, str | None] = {}
        self._trusted: Mapping[str, bool] = {}
        self.notices: dict[str, None] = {}

    def judge(
        self,
        files: Sequence[Known],
        memories: Mapping[str, Memory],
        every: Sequence[Known],
        *,
        trusted: Mapping[str, bool],
    ) -> dict[str, Standing]:
        """Return path → standing of each of ``memories``, which are those of ``files``; ``every`` are all
        files, for supersession.

        ``trusted`` says of the paths that were judged whether their text is approved: what is approved
        is not put out of force by what is not.
        """
        self._trusted = trusted
        self._find_blobs(memories.values())
        self._find_commits(memories.values())
        self._find_baselines([(file, memories[file.path]) for file in files if file.path in memories])
        successors = find_successors(every)
        ids = {file.id for file in every}
        return {
            file.path: self._stand(file, memories[file.path], successors, ids)
            for file in files
            if file.path in memories
        }

    def _stand(
        self, file: Known, memory: Memory, successors: Mapping[str, Sequence[Known]], ids: Collection[str]
    ) -> Standing:
        paths = [piece for piece in memory.evidence if isinstance(piece, PathEvidence)]
        recorded = {(fact_path(piece), piece.commit): self._blobs.get((piece.path, piece.commit)) for piece in paths}
        now = {
            piece.path: self._snapshot.blob_of(piece.path, like=recorded[piece.path, piece.commit])
            for piece in paths
            if piece.repo is None
        }
        baselines: dict[str, str | None] = {}
        trigger = memory.review_trigger
        if isinstance(trigger, WhenPathChanges):
            baselines[trigger.path] = self._baselines.get(file.path)
            now[trigger.path] = self._snapshot.blob_of(trigger.path, like=baselines[trigger.path])
        versions: dict[str, str | None] = {}
        if isinstance(trigger, WhenVersion):
            versions[trigger.name] = find_version(trigger.name, self._manifests)
        wanted = [file.id, trigger.id] if isinstance(trigger, WhenSuperseded) else [file.id]
        report = judge_state(
            memory,
            StateFacts(
                today=self._today,
                recorded_blobs=recorded,
                blobs_now=now,
                baseline_blobs=baselines,
                versions=versions,
                superseded_by={
                    old: heir.id
                    for old in wanted
                    for heir in reversed(successors.get(old, ()))
                    if heir.path != file.path
                    and is_seen_with(heir.scope, file.scope)
                    and (self._trusted.get(heir.path, True) or not self._trusted.get(file.path, False))
                },
            ),
        )
        results = [
            *self._evidence_results(file, memory, report),
            *_trigger_results(file, report),
            *self._blindness(file, trigger, versions, now, ids=ids),
        ]
        return Standing(report=report, results=tuple(results))

    def _evidence_results(self, file: Known, memory: Memory, report: StateReport) -> Iterator[Result]:
        line = file.evidence_line

        def say(rule: str, message: str, *, level: Level | None = None) -> Result:
            return make_result(rule, message, path=file.path, line=line, column=line and 1, level=level)

        for piece, stands in zip(memory.evidence, report.evidence, strict=True):
            shown = plain(stands.text)
            if isinstance(piece, PathEvidence | CommitEvidence) and getattr(piece, "repo", None) is None:
                full = self._commits.get(piece.commit)
                if piece.commit == UNTIED:
                    yield say("evidence-untied", f"{shown} is tied to no commit yet.")
                    continue
                if full is None:
                    words, level = "is not in this repository", None
                    if self._tree.git_dir is None or is_shallow(self._tree):
                        kind = "copy without git" if self._tree.git_dir is None else "shallow clone"
                        words, level = f"cannot be looked up in this {kind}", Level.NOTE
                    yield say("evidence-no-commit", f"{shown}: commit {piece.commit[:12]} {words}.", level=level)
                    continue
                if isinstance(piece, PathEvidence) and self._blobs.get((piece.path, piece.commit)) is None:
                    yield say("evidence-no-path", f"{shown}: that commit holds no file of this path.")
                    continue
                if full not in self._lasting:
                    yield say(
                        "evidence-may-vanish", f"{shown}: the commit is only on this branch; a squash merge loses it."
                    )
            if stands.status is EvidenceStatus.CHANGED:
                yield say("evidence-changed", f"{shown} has changed since.")
            elif stands.status is EvidenceStatus.MISSING:
                yield say("evidence-gone", f"{shown} is no longer in the repository.")

    def _blindness(
        self,
        file: Known,
        trigger: Trigger,
        versions: Mapping[str, str | None],
        now: Mapping[str, str | None],
        *,
        ids: Collection[str],
    ) -> Iterator[Result]:
        message, level = "", None
        if isinstance(trigger, WhenPathChanges):
            if now.get(trigger.path) is None and not self._baselines.get(file.path):
                message = f"{plain(trigger.path)} is not in this repository, so it cannot change."
        elif isinstance(trigger, WhenVersion):
            if versions.get(trigger.name) is None:
                message, level = f"No manifest here names {plain(trigger.name)}.", Level.NOTE
        elif isinstance(trigger, WhenSuperseded) and trigger.id not in ids:
            message = f"There is no memory {plain(trigger.id)} that could be superseded."
        if message:
            line = file.trigger_line
            yield make_result("trigger-blind", message, path=file.path, line=line, column=line and 1, level=level)

    @cached_property
    def _manifests(self) -> list[dict[str, str]]:
        return [
            parse_manifest(path, raw.decode("utf-8", "replace"))
            for path, raw in self._snapshot.read_many(MANIFESTS)
            if isinstance(raw, bytes)
        ]

    @cached_property
    def _lasting(self) -> frozenset[str]:
        """The commits that stay: those of the base's history, else those of the tip's."""
        start = self._safe or self._tip
        if start is None:
            return frozenset()
        raw = read_git(self._tree, "rev-list", start)
        return frozenset(raw.decode("ascii").split())

    def _find_blobs(self, memories: Iterable[Memory]) -> None:
        unknown: list[tuple[str, str]] = []
        for memory in memories:
            for piece in memory.evidence:
                if isinstance(piece, PathEvidence) and piece.repo is None and piece.commit != UNTIED:
                    kept = self._cache.find_blob(piece.commit, piece.path)
                    if kept is not None:
                        self._blobs[piece.path, piece.commit] = kept
                    else:
                        unknown.append((piece.path, piece.commit))
        for (path, commit), blob in blobs_at(self._tree, unknown).items() if unknown else ():
            self._blobs[path, commit] = blob
            if blob is not None:  # "not here" can change with the next fetch
                self._cache.keep_blob(commit, path, blob)

    def _find_commits(self, memories: Iterable[Memory]) -> None:
        names = sorted(
            {
                piece.commit
                for memory in memories
                for piece in memory.evidence
                if isinstance(piece, PathEvidence | CommitEvidence) and getattr(piece, "repo", None) is None
            }
        )
        if not names or self._tree.git_dir is None:
            return
        asked = "".join(f"{name}^{{commit}}\n" for name in names).encode()
        raw = read_git(self._tree, "cat-file", "--batch-check=%(objectname) %(objecttype)", input=asked)
        for name, line in zip(names, raw.decode("ascii", "replace").split("\n"), strict=False):
            words = line.split(" ")
            self._commits[name] = words[0] if len(words) == 2 and words[1] == "commit" else None

    def _find_baselines(self, pairs: Sequence[tuple[Known, Memory]]) -> None:
        """Find, for ``when PATH changes``, the blob of PATH when the memory got its present content."""
        wanted: dict[str, tuple[Known, str]] = {}
        for file, memory in pairs:
            trigger = memory.review_trigger
            if isinstance(trigger, WhenPathChanges):
                kept = self._cache.find_blob(f"base:{file.digest}", trigger.path)
                if kept is not None:
                    self._baselines[file.path] = kept
                else:
                    wanted[file.path] = (file, trigger.path)
        if not wanted or self._tip is None:
            return
        try:
            first: dict[str, dict[str, str]] = {}
            for (path, brought_blob), commit_name in first_commits(self._tree, self._tip, ["memories"]).items():
                first.setdefault(path, {})[brought_blob] = commit_name
            at_tip = blobs_at(self._tree, [(path, self._tip) for path in wanted])
            found: dict[str, tuple[str, bool]] = {}  # memory → the commit that counts, and whether it stays so
            for path in wanted:
                brought = first.get(path, {})
                own = next((blob for blob in brought if self._snapshot.blob_of(path, like=blob) == blob), None)
                # What is not committed yet goes on from what the tip holds under its name.
                blob = own if own is not None else at_tip[path, self._tip]
                commit = self._tip if blob is None else brought.get(blob)
                # What a shallow clone cannot tell is left out, and so is never taken for unchanged.
                if commit is not None and commit not in find_boundary(self._tree):
                    found[path] = (commit, own is not None)
            blobs = blobs_at(self._tree, [(wanted[path][1], commit) for path, (commit, _) in found.items()])
        except MemfsError as error:
            self.notices[f"review triggers were not checked: {error}"] = None
            return
        for path, (commit, stays) in found.items():
            file, trigger_path = wanted[path]
            self._baselines[path] = blob = blobs[trigger_path, commit]
            if blob is not None and stays:
                self._cache.keep_blob(f"base:{file.digest}", trigger_path, blob)


def _trigger_results(file: Known, report: StateReport) -> Iterator[Result]:
    for reason in report.reasons if report.state is not State.SUPERSEDED else ():
        if reason.startswith("expired on"):
            yield make_result("expired", f"It {reason}.", path=file.path)
        elif not reason.startswith("evidence ") and not reason.endswith("be noticed"):
            line = file.trigger_line
            yield make_result(
                "due", f"The review trigger fired: {reason}.", path=file.path, line=line, column=line and 1
            )
