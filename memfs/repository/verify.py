"""Saying that a memory is still true: what it rests on is tied to what is there now (DESIGN 3).

A person looks at each memory, at the old and the new text of what changed. Nothing is verified in bulk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from memfs.errors import InvalidMemoryError, MemfsError, UsageError
from memfs.git.log import read_commits
from memfs.git.read import head_commit, read_git
from memfs.git.snapshot import WorkFiles
from memfs.model.codepoints import plain
from memfs.model.evidence import format_part, place_of
from memfs.model.memory import (
    BlobEvidence,
    Cause,
    EvidenceReport,
    EvidenceStatus,
    FileEvidence,
    FrontValue,
    Memory,
    OnDate,
    PartEvidence,
    PathEvidence,
    State,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
    Why,
)
from memfs.model.parts import MAX_BYTES, PartedText
from memfs.model.scope import Caller
from memfs.model.triggers import format_trigger
from memfs.model.values import dataclass
from memfs.model.versions import find_version, is_at_least
from memfs.repository.repository import Repository
from memfs.sight import OWNER
from memfs.standing.assess import Assessment
from memfs.standing.manifests import read_manifests
from memfs.standing.tie import Knot

_SHORTEST, _LONGEST = timedelta(days=30), timedelta(days=365)
_MOST_VERSIONS = 60  # of a file, among which the text of a part is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One thing to look at: evidence, or the trigger. ``old`` and ``new`` are texts of the repository; None
    where the text is not in this clone, or not anywhere."""

    about: str
    status: str
    tied: str  # what it becomes
    old: str | None = None
    new: str | None = None
    first: int = 1  # the line that ``new`` begins at


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What has to be looked at before a memory counts as true again, and what is written then."""

    assessment: Assessment
    looks: tuple[Look, ...]
    changes: Mapping[str, FrontValue]

    @property
    def memory(self) -> Memory:
        """The memory that is verified."""
        assert self.assessment.file.memory is not None
        return self.assessment.file.memory


def plan_verification(
    repository: Repository, assessment: Assessment, *, review: str | None = None, caller: Caller = OWNER
) -> Verification:
    """Return what ``caller`` has to look at for ``assessment``. ``review`` is the next trigger, where the old one
    does not go on.

    Raises :class:`InvalidMemoryError` for a memory that cannot be verified: it is not one, or its evidence is
    gone; :class:`UsageError` where only ``review`` can say when to look again.
    """
    memory = assessment.file.memory
    if memory is None:
        raise InvalidMemoryError("this is not a well-formed memory", where=plain(assessment.file.path))
    if assessment.state.state is State.SUPERSEDED:
        raise UsageError(f"{memory.id} is superseded, so there is nothing to verify")
    if assessment.state.state is State.EXPIRED:
        raise UsageError(
            f"{memory.id} has expired", hint=f"memfs edit {memory.id} --expires DATE, or memfs forget {memory.id}"
        )
    knot = Knot(repository.tree, scope=memory.scope, sees_path=lambda path: repository.sight.sees_path(caller, path))
    looks: list[Look] = []
    evidence: list[str] = []
    for piece, report in zip(memory.evidence, assessment.state.evidence, strict=True):
        look = _look_at(repository, knot, memory, piece, report) if isinstance(piece, FileEvidence) else None
        if look is not None:
            looks.append(look)
        evidence.append(look.tied if look is not None else report.text)
    trigger, watched = _next_trigger(repository, knot, memory, assessment, review)
    if watched is not None and watched not in evidence:
        evidence.append(watched)
        looks.append(Look(about=f"what {plain(trigger)} looks at", status="changed", tied=watched))
    changes: dict[str, FrontValue] = {}
    if evidence != [report.text for report in assessment.state.evidence]:
        changes["evidence"] = tuple(evidence)
    if trigger != format_trigger(memory.review_trigger):
        changes["review_trigger"] = trigger
        looks.append(Look(about=f"review {format_trigger(memory.review_trigger)}", status="due", tied=trigger))
    return Verification(assessment=assessment, looks=tuple(looks), changes=changes)


def _look_at(
    repository: Repository, knot: Knot, memory: Memory, piece: FileEvidence, report: EvidenceReport
) -> Look | None:
    """Return what to look at of one piece of evidence; None where it is what it was, or cannot be told here."""
    match report.status:
        case EvidenceStatus.UNCHANGED if not report.by_arrival:
            return None
        case EvidenceStatus.UNVERIFIABLE if report.why not in (Why.NO_COMMIT, Why.NO_PATH):
            return None
        case EvidenceStatus.MISSING:
            raise InvalidMemoryError(
                f"evidence {plain(place_of(piece))} is gone",
                where=memory.id,
                hint=f"memfs edit {memory.id} --evidence PATH names what it rests on now",
            )
        case _:
            pass
    path = report.moved_to or piece.path
    typed = f"{path}#{format_part(piece.part)}" if isinstance(piece, PartEvidence) else path
    tied = knot.tie(typed).text
    old, new = _old_text(repository, piece), _new_text(repository, piece, path)
    return Look(
        about=report.text,
        status=report.status.value,
        tied=tied,
        old=old,
        new=new[0] if new is not None else None,
        first=new[1] if new is not None else 1,
    )


def _new_text(repository: Repository, piece: FileEvidence, path: str) -> tuple[str, int] | None:
    raw = WorkFiles(repository.tree).content_of(path, limit=MAX_BYTES)
    if raw is None:
        return None
    if not isinstance(piece, PartEvidence):
        return raw.decode("utf-8", "replace"), 1
    text = PartedText(path, raw)
    place = text.place(piece.part)
    if place is None:
        return None
    return "\n".join(text.lines[place.first - 1 : place.last]), place.first


def _old_text(repository: Repository, piece: FileEvidence) -> str | None:
    for raw in _old_contents(repository, piece):
        if not isinstance(piece, PartEvidence):
            return raw.decode("utf-8", "replace")
        text = PartedText(piece.path, raw)
        found = text.find(piece.part, piece.text)
        if found is not None and found.same:
            return "\n".join(text.lines[found.lines.first - 1 : found.lines.last])
    return None


def _old_contents(repository: Repository, piece: FileEvidence) -> Iterator[bytes]:
    """Yield the recorded content; for a part, what its file was, newest first: one of them has it."""
    tree = repository.tree
    head = head_commit(tree)
    names: list[str] = []
    try:
        if isinstance(piece, BlobEvidence):
            names = [piece.blob]
        elif isinstance(piece, PathEvidence):
            names = [f"{piece.commit}:{piece.path}"]
        elif head is not None:
            commits = read_commits(tree, head, [piece.path])[:_MOST_VERSIONS]
            names = [file.blob for commit in commits for file in commit.files if file.letter != "D"]
        for name in names:
            raw = read_git(tree, "cat-file", "blob", name)
            if len(raw) <= MAX_BYTES:
                yield raw
    except MemfsError:
        return  # it was never committed, or is not in this clone


def _next_trigger(
    repository: Repository, knot: Knot, memory: Memory, assessment: Assessment, review: str | None
) -> tuple[str, str | None]:
    """Return the trigger after the verification, and evidence to add so that it starts anew."""
    old = format_trigger(memory.review_trigger)
    if review is not None:
        return knot.tie_trigger(review), None
    match memory.review_trigger:
        case OnDate(on=on) if on <= repository.today:
            span = min(max(on - memory.recorded, _SHORTEST), _LONGEST)
            return f"on {(repository.today + span).isoformat()}", None
        case WhenVersion(name=name, version=version):
            now = find_version(name, read_manifests(WorkFiles(repository.tree)))
            if now is not None and is_at_least(now, version):
                major = int("".join(char if char.isdigit() else " " for char in now).split()[0])
                return f"when {name} >= {major + 1}", None
        case WhenSuperseded(id=other) if _fired(assessment):
            raise UsageError(
                f"{other}, which it watches, is superseded", hint=f'memfs verify {memory.id} --review "when … changes"'
            )
        case WhenPathChanges(path=path) if _fired(assessment):
            tied = [one for one in memory.evidence if isinstance(one, FileEvidence) and one.path == path]
            # The trigger compares with the evidence that ties its path; a path without any is tied now.
            return old, None if any(not isinstance(one, PathEvidence) for one in tied) else _tie(knot, path)
        case _:
            pass
    return old, None


def _tie(knot: Knot, path: str) -> str | None:
    try:
        return knot.tie(path).text
    except InvalidMemoryError:
        return None


def _fired(assessment: Assessment) -> tuple[str, ...]:
    return assessment.state.reasons_of(Cause.TRIGGER)
