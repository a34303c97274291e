"""What the states of memories mean for ``memfs check``: results about their evidence and triggers.

The states come from ``standing``, as everywhere; here they only become rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date

from memfs.check.across import find_successors
from memfs.check.cache import Cache
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.single import Known
from memfs.git.snapshot import Snapshot
from memfs.model.codepoints import plain
from memfs.model.memory import (
    Cause,
    CommitEvidence,
    EvidenceReport,
    EvidenceStatus,
    FileEvidence,
    Memory,
    State,
    StateReport,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
    Why,
)
from memfs.model.values import dataclass
from memfs.standing.facts import Facts, Subject, may_rest_on
from memfs.standing.history import lost_commits
from memfs.standing.successors import find_superseding


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One memory: its state, and what to say about its evidence and trigger."""

    report: StateReport
    results: tuple[Result, ...]


class Bench:
    """Judges the memories of one snapshot. ``tip`` is the commit that history is read from; ``safe`` the
    one whose history survives a squash (the base of a change), None where there is none."""

    def __init__(self, snapshot: Snapshot, cache: Cache, *, tip: str | None, safe: str | None, today: date) -> None:
        self._tree = snapshot.tree
        self._facts = Facts(snapshot, cache.facts, tips=(tip, safe))
        self._tip = tip
        self._safe = safe
        self._today = today

    @property
    def notices(self) -> Mapping[str, None]:
        """What the reader must know about how it was judged."""
        return self._facts.notices

    def judge(
        self,
        files: Sequence[Known],
        memories: Mapping[str, Memory],
        every: Sequence[Known],
        *,
        is_trusted: Callable[[str], bool],
    ) -> dict[str, Standing]:
        """Return path → standing of each of ``memories``, which are those of ``files``; ``every`` are all
        files, for supersession.

        ``is_trusted`` says of a path whether its text is approved: what is not approved does not supersede
        what is.
        """
        successors = {old: [heir.path for heir in heirs] for old, heirs in find_successors(every).items()}
        subjects = [
            Subject(path=file.path, digest=file.digest, memory=memories[file.path])
            for file in files
            if file.path in memories
        ]
        superseding = {
            one.path: find_superseding(
                one.memory,
                successors,
                trusted=is_trusted(one.path),
                is_trusted=is_trusted,
            )
            for one in subjects
        }
        self._facts.look_up(
            piece.commit for one in subjects for piece in one.memory.evidence if isinstance(piece, CommitEvidence)
        )
        reports = self._facts.judge(subjects, self._today, superseding)
        ids = {file.id for file in every}
        return {
            file.path: Standing(
                report=reports[file.path], results=tuple(self._say(file, memories[file.path], reports[file.path], ids))
            )
            for file in files
            if file.path in memories
        }

    def _say(self, file: Known, memory: Memory, report: StateReport, ids: Collection[str]) -> Iterator[Result]:
        for piece, about in zip(memory.evidence, report.evidence, strict=True):
            found = self._of_commit(piece) if isinstance(piece, CommitEvidence) else self._of_file(about)
            if isinstance(piece, FileEvidence) and not may_rest_on(piece.path, file.scope):
                message = f"{plain(about.text)} is a memory that not every reader of this one may see."
                yield _result("evidence-narrower", message, file, line=file.evidence_line)
            for rule, words, level in found:
                message = f"{plain(about.text)} {words}" if words else ""
                yield _result(rule, message, file, line=file.evidence_line, level=level)
        if report.state is not State.SUPERSEDED:
            for reason in report.reasons_of(Cause.EXPIRED):
                yield make_result("expired", f"It {reason}.", path=file.path)
            for reason in report.reasons_of(Cause.TRIGGER):
                if report.watched is EvidenceStatus.UNVERIFIABLE:
                    yield _result("trigger-unknown", _sentence(reason), file, line=file.trigger_line)
                elif not _is_said(memory, report):
                    yield _result("due", f"The review trigger fired: {reason}.", file, line=file.trigger_line)
        yield from self._blindness(file, memory, report, ids)

    def _of_file(self, about: EvidenceReport) -> Iterator[tuple[str, str, Level | None]]:
        if about.by_arrival:
            words = "names a commit that is not here; it was compared with what the path was when the memory came."
            # In a change, whoever adds the memory can still name what is there.
            yield "evidence-no-commit", words, Level.WARNING if self._safe else Level.NOTE
        match about.status:
            case EvidenceStatus.CHANGED:
                yield "evidence-changed", "has changed since.", None
            case EvidenceStatus.MISSING:
                yield "evidence-gone", "is no longer in the repository.", None
            case EvidenceStatus.MOVED:
                yield "evidence-moved", f"has the same content at {plain(about.moved_to or '')}.", None
            case EvidenceStatus.UNVERIFIABLE:
                if about.why in _RULES:
                    yield _RULES[about.why]
            case EvidenceStatus.UNCHANGED:
                pass

    def _of_commit(self, piece: CommitEvidence) -> Iterator[tuple[str, str, Level | None]]:
        if not self._facts.knows_commit(piece.commit):
            yield _RULES[self._facts.why_no_commit]
        elif self._safe is not None and lost_commits(self._tree, [self._safe], [piece.commit]):
            yield "evidence-may-vanish", "is only on this branch; a squash merge loses it.", None

    def _blindness(self, file: Known, memory: Memory, report: StateReport, ids: Collection[str]) -> Iterator[Result]:
        trigger = memory.review_trigger
        message, level = "", None
        if isinstance(trigger, WhenPathChanges):
            if report.watched is EvidenceStatus.MISSING:
                message = f"{plain(trigger.path)} is not in this repository, so it cannot change."
        elif isinstance(trigger, WhenVersion):
            if self._facts.find_version(trigger.name) is None:
                message, level = f"No manifest here names {plain(trigger.name)}.", Level.NOTE
        elif isinstance(trigger, WhenSuperseded) and trigger.id not in ids:
            message = f"No memory is called {plain(trigger.id)} that could be superseded."
        if message:
            yield _result("trigger-blind", message, file, line=file.trigger_line, level=level)


_RULES: Mapping[Why | None, tuple[str, str, Level | None]] = {
    Why.NO_COMMIT: ("evidence-no-commit", "names a commit that is not in this repository.", None),
    Why.NO_PATH: ("evidence-no-path", "names a commit that contains no file of this path.", None),
    Why.SHALLOW: (
        "evidence-unknown",
        "cannot be looked up in this shallow clone; `git fetch --unshallow` brings the commit.",
        None,
    ),
    Why.NO_GIT: ("evidence-unknown", "cannot be looked up in this copy without git.", None),
    Why.SUBMODULE: ("evidence-unknown", "belongs to a submodule, which is another repository.", None),
    Why.TOO_LARGE: ("evidence-unknown", "is too large to be compared.", None),
    Why.UNREADABLE: ("evidence-unknown", "cannot be read here.", None),
}


def _result(rule: str, message: str, file: Known, *, line: int | None, level: Level | None = None) -> Result:
    return make_result(rule, message, path=file.path, line=line, column=line and 1, level=level)


def _is_said(memory: Memory, report: StateReport) -> bool:
    """Return whether the evidence that changed is the very path that the trigger waits for: one cause, one line."""
    trigger = memory.review_trigger
    pairs = zip(memory.evidence, report.evidence, strict=True)
    return isinstance(trigger, WhenPathChanges) and any(
        isinstance(piece, FileEvidence)
        and (piece.repo, piece.path) == (None, trigger.path)
        and about.status in (EvidenceStatus.CHANGED, EvidenceStatus.MISSING)
        for piece, about in pairs
    )


def _sentence(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."
