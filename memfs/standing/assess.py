"""One memory file with everything a reader must know beside it: state, verdict, gate.

Used by recall, show, list, status and due. Facts that cannot change (a blob at a commit, the gate's
answer about a text) come from the index's cache; the files of the work tree are hashed in this
process; git is started only for what is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from memfs.admission.gate import Decision, Outcome, settle_reading
from memfs.disk.files import UnreadableFile, read_file
from memfs.git.read import head_commit, memories_not_checked_out
from memfs.git.snapshot import WorkFiles
from memfs.index.facts import FactCache
from memfs.index.opening import find_successors
from memfs.model.evidence import parse_evidence
from memfs.model.memory import (
    BlobEvidence,
    EvidenceReport,
    EvidenceStatus,
    MemoryFile,
    PathEvidence,
    State,
    StateReport,
)
from memfs.model.reader import read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass, replace
from memfs.standing.background import KeptGate, open_recall_index
from memfs.standing.facts import Facts, Subject
from memfs.standing.lines import line_now
from memfs.standing.successors import find_superseding

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.index.opening import Opened
    from memfs.trust.judge import Verdict
    from memfs.trust.view import TrustView

RECALL_PATIENCE = 0.7
"""Seconds that a recall waits for a long history; a process of its own reads on meanwhile."""

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
        self._sees_path = sees_path  # of the caller
        self._places = places
        self._today = today
        # States may be asked for another day. Trust never: it remembers the latest day that it saw.
        self._state_day = on or today
        self._opened = opened
        self._patience = patience  # seconds that reading a history may take
        self._kept = FactCache(tree, places)
        self._gate = KeptGate(self._kept)
        self._facts = Facts(WorkFiles(tree), self._kept, tips=(head_commit(tree),), sees_path=sees_path)
        self._view: TrustView | None = None
        self._successors: Mapping[str, Sequence[str]] | None = None

    @property
    def notices(self) -> tuple[str, ...]:
        """What the reader should know about all answers so far (git missing, keyring broken)."""
        own = self._view.notices if self._view is not None else ()
        return (*self._facts.notices, *own)

    def assess(self, file: MemoryFile) -> Assessment:
        """Return ``file`` with its state, verdict and read-time gate. Never raises for its content."""
        return self.assess_many([file])[0]

    def assess_many(self, files: Sequence[MemoryFile]) -> list[Assessment]:
        """Return the assessments of ``files`` in their order; asks git once for all of them."""
        verdicts = {file.path: self._open_view().verdict(file) for file in files}
        states = self._judge(files, verdicts)
        found = [
            Assessment(
                file=file,
                state=states.get(file.path, _NO_MEMORY),
                verdict=verdicts[file.path],
                gate=settle_reading(self._gate.judge(file), file, trusted=verdicts[file.path].trusted),
                visible_in_scope=scope_of_path(file.path),
            )
            for file in files
        ]
        self._kept.save()
        return found

    def ids_with_receipts(self) -> frozenset[str]:
        """Return the ids that can be trusted at all: those that some receipt speaks of."""
        return self._open_view().ids_with_receipts()

    def repository_id(self) -> str | None:
        """Return the id of this repository's keyring; None without a sound one."""
        return self._open_view().repository_id

    def not_checked_out(self) -> tuple[str, ...]:
        """Return the memories that git has and that are meant not to be in this work tree."""
        return memories_not_checked_out(self._tree)

    def _open_view(self) -> TrustView:
        if self._view is None:
            from memfs.trust.opening import HISTORY_SECONDS, open_view

            patience = HISTORY_SECONDS if self._patience is None else self._patience
            self._view = open_view(self._tree, self._places, today=self._today, patience=patience)
        return self._view

    def _judge(self, files: Sequence[MemoryFile], verdicts: Mapping[str, Verdict]) -> dict[str, StateReport]:
        subjects = [
            Subject(path=file.path, digest=file.digest, memory=file.memory) for file in files if file.memory is not None
        ]
        if self._successors is None:
            opened = self._opened if self._opened is not None else open_recall_index(self._tree, self._places)
            self._successors = find_successors(self._tree, opened)
        superseding = {
            one.path: find_superseding(
                one.memory,
                self._successors,
                trusted=verdicts[one.path].trusted,
                is_trusted=self._is_trusted,
                sees_path=self._sees_path,
            )
            for one in subjects
        }
        reports = self._facts.judge(subjects, self._state_day, superseding)
        return {one.path: self._with_lines(one, reports[one.path]) for one in subjects}

    def _is_trusted(self, path: str) -> bool:
        try:
            file = read_memory(path, read_file(self._tree, path))
        except UnreadableFile:
            return False
        return self._open_view().verdict(file).trusted

    def _with_lines(self, subject: Subject, report: StateReport) -> StateReport:
        """Return ``report`` with the line now of each piece of evidence that changed."""
        if all(one.status is not EvidenceStatus.CHANGED for one in report.evidence):
            return report
        return replace(report, evidence=tuple(self._with_line(subject, one) for one in report.evidence))

    def _with_line(self, subject: Subject, report: EvidenceReport) -> EvidenceReport:
        if report.status is not EvidenceStatus.CHANGED:
            return report
        piece = parse_evidence(report.text)
        before = piece.blob if isinstance(piece, BlobEvidence) else None
        if isinstance(piece, PathEvidence):
            before = self._facts.recorded_blob(subject, piece)
        if before is None or not isinstance(piece, BlobEvidence | PathEvidence):
            return report
        return replace(report, line_now=line_now(self._facts.snapshot, self._kept, subject.digest, piece.path, before))
