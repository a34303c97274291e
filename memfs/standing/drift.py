"""What a change of other files does to memories that it leaves alone: each one's state before and after.

States are compared, not paths: work that changes nothing of what a memory rests on is silent, and so is a
memory that was due already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from difflib import SequenceMatcher
from enum import StrEnum

from memfs.git.snapshot import GitFiles, Snapshot
from memfs.model.applies import matcher
from memfs.model.codepoints import plain
from memfs.model.evidence import place_of
from memfs.model.memory import (
    Cause,
    EvidenceReport,
    EvidenceStatus,
    FileEvidence,
    Lines,
    MemoryFile,
    PartEvidence,
    State,
    StateReport,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
)
from memfs.model.parts import MAX_BYTES, PartedText
from memfs.model.reader import read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass, replace
from memfs.model.versions import MANIFESTS, normal_name
from memfs.standing.facts import Facts, Forgetful, Kept, Subject
from memfs.standing.successors import find_superseding

People = Callable[[MemoryFile], tuple[str, ...] | None]
"""Who approved a file's text; None where it is not approved."""

_SPLIT = re.compile(rb"[\s\"'#@,\[\]:]+")
_TIES = re.compile(rb"@(?:blob|text):")
_FRONT = 16 * 1024
_MOST_LINES = 3_000  # of a file whose changed lines are looked for within a part
_WELL = (EvidenceStatus.UNCHANGED, EvidenceStatus.MOVED)


class Turn(StrEnum):
    """What happens to a memory; each is a rule of ``memfs check``."""

    MAKES_STALE = "makes-stale"
    GONE = "gone"
    MOVED = "moved"
    HEALS = "heals"
    TRIGGER_FIRES = "trigger-fires"
    APPLIES_HERE = "applies-here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One memory and what the change does to it. ``statement`` is text of the repository."""

    turn: Turn
    memory_id: str
    path: str  # the memory's file
    scope: str
    statement: str
    people: tuple[str, ...]  # who approved it; nobody where it is not approved
    changed: str  # the file whose change does it
    line: int | None  # its first changed line; None where the file is gone
    reason: str  # memfs's own sentence
    moved_to: str = ""
    command: str = ""  # what to run when the memory is still true


def find_drift(
    base: Snapshot,
    head: Snapshot,
    *,
    tips: tuple[str | None, str | None],
    today: date,
    people: People,
    keep: Kept | None = None,
    sees_path: Callable[[str], bool] = lambda _path: True,
) -> tuple[Drift, ...]:
    """Return what the change from ``base`` to ``head`` does to memories, by the changed file.

    ``tips`` are the commits whose histories count for each. Memories that the change itself adds or edits,
    and those that are superseded, are left out.
    """
    change = _Change(base, head)
    files = [file for file in change.candidates() if sees_path(file.path)]
    kept: Kept = keep if keep is not None else Forgetful()
    facts = (Facts(base, kept, tips=tips[:1]), Facts(head, kept, tips=(tips[1], tips[0])))
    subjects = [Subject(path=one.path, digest=one.digest, memory=one.memory) for one in files if one.memory is not None]
    newer = {}
    for file in files:
        if file.memory is not None:
            newer[file.path] = find_superseding(
                file.memory,
                change.successors,
                trusted=people(file) is not None,
                is_trusted=lambda path: people(change.read(path)) is not None,
            )
    before, after = facts[0].judge(subjects, today), facts[1].judge(subjects, today, newer)
    found: list[Drift] = []
    for file in files:
        if file.memory is not None:
            turns = _turns(file, before[file.path], after[file.path], change)
            found += [one for one in turns if one.turn is not Turn.APPLIES_HERE or people(file) is not None]
    return tuple(
        sorted(
            (_with_people(one, people(change.read(one.path))) for one in found),
            key=lambda one: (one.changed, one.line or 0, one.turn.value, one.memory_id),
        )
    )


class _Change:
    """Two snapshots, and what differs between them."""

    def __init__(self, base: Snapshot, head: Snapshot) -> None:
        self.base = base
        self.head = head
        self._old, self._new = base.tracked(), head.tracked()
        self._differs: dict[str, bool] = {}
        self._raw: dict[str, bytes] = {}
        self.successors: dict[str, list[str]] = {}
        self._every = self._old.keys() | self._new.keys()
        self.changed = sorted(filter(self._is_listed_anew, self._every))

    def _is_listed_anew(self, path: str) -> bool:
        old, new = self._old.get(path), self._new.get(path)
        return old is None or new is None or old.blob != new.blob

    def differs(self, path: str) -> bool:
        """Return whether the content of ``path`` is another one."""
        if path not in self._differs:
            old = self.base.blob_of(path)
            self._differs[path] = old != self.head.blob_of(path, like=old)
        return self._differs[path]

    def read(self, path: str) -> MemoryFile:
        """Return a memory file as it is after the change."""
        if path not in self._raw:
            self._raw[path] = next((raw for _, raw in self.head.read_many([path]) if isinstance(raw, bytes)), b"")
        return read_memory(path, self._raw[path])

    def candidates(self) -> list[MemoryFile]:
        """Return the memories that the change leaves alone and may do something to."""
        paths, _ = self.head.memories()
        self._raw = {path: raw for path, raw in self.head.read_many(paths) if isinstance(raw, bytes)}
        others = [path for path in self.changed if not path.startswith(("memories/", ".memfs/"))]
        plain_paths: set[bytes] = set()
        odd: list[bytes] = []
        for path in self._every:
            raw = path.encode("utf-8", "surrogateescape")
            if _SPLIT.search(raw) is None:
                plain_paths.add(raw)
            elif self._is_listed_anew(path):
                odd.append(raw)
        manifests = any(path.rsplit("/", 1)[-1] in MANIFESTS for path in others)
        found = []
        for path, raw in self._raw.items():
            front = raw[:_FRONT].partition(b"\n---")[0]
            if b"supersedes" in front:
                memory = read_memory(path, raw).memory
                for old in memory.supersedes if memory is not None else ():
                    self.successors.setdefault(old, []).append(path)
            asked = (b"applies_to",) * bool(others) + (b" >= ",) * manifests + (b" is superseded",)
            may_matter = any(word in front for word in asked) or self._names_a_change(front, plain_paths, odd)
            if may_matter and not self.differs(path):
                found.append(read_memory(path, raw))
        if isinstance(self.base, GitFiles):
            self.base.keep_contents(others[:2_000])
        return found

    def _names_a_change(self, front: bytes, paths: set[bytes], odd: Sequence[bytes]) -> bool:
        named = paths.intersection(_SPLIT.split(front))
        if any(self.differs(raw.decode("utf-8", "surrogateescape")) for raw in named):
            return True
        # What it rests on may be at a path that neither side has: there it may have moved, or come back.
        return any(raw in front for raw in odd) or (bool(self.changed) and len(_TIES.findall(front)) > len(named))

    def first_line(self, path: str, piece: PartEvidence | None = None) -> int | None:
        """Return the first changed line of ``path`` (of the part that ``piece`` names), None where it is gone."""
        new = self.head.content_of(path)
        if new is None:
            return None
        old = self.base.content_of(path) or b""
        if piece is not None and len(new) <= MAX_BYTES and len(old) <= MAX_BYTES:
            then, now = PartedText(path, old), PartedText(path, new)
            was = then.find(piece.part, piece.text)
            if was is not None and (line := _changed_within(then.lines, now.lines, was.lines)):
                return line
        one, two = old.decode("utf-8", "replace").split("\n"), new.decode("utf-8", "replace").split("\n")
        return min(_first_difference(one, two) + 1, len(two))

    def line_of_name(self, path: str, name: str) -> int | None:
        """Return the line of a manifest that names a package, else its first changed one."""
        lines = (self.head.content_of(path) or b"").decode("utf-8", "replace").split("\n")
        wanted = normal_name(name)
        return next((n for n, line in enumerate(lines, 1) if wanted in normal_name(line)), self.first_line(path))


def _changed_within(one: Sequence[str], two: Sequence[str], lines: Lines) -> int | None:
    """Return the line of ``two`` where the first change within ``lines`` of ``one`` is."""
    if max(len(one), len(two)) > _MOST_LINES:
        return None
    for kind, start, end, there, _ in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind != "equal" and end >= lines.first and start < lines.last:
            return min(there + 1, len(two))
    return None


def _first_difference(one: Sequence[str], two: Sequence[str]) -> int:
    place = 0
    while place < min(len(one), len(two)) and one[place].rstrip("\r") == two[place].rstrip("\r"):
        place += 1
    return place


def _turns(file: MemoryFile, before: StateReport, after: StateReport, change: _Change) -> Iterator[Drift]:
    memory = file.memory
    assert memory is not None
    if after.state is State.SUPERSEDED or State.EXPIRED in (before.state, after.state):
        return
    if before.state is State.RECHECK:
        if after.state is State.CURRENT:
            path = _healed_by(file, before, after, change)
            yield _drift(file, Turn.HEALS, path, change.first_line(path), "what it rests on is again what it was")
        return
    told: set[str] = set()
    for piece, was, now in zip(memory.evidence, before.evidence, after.evidence, strict=True):
        if isinstance(piece, FileEvidence) and was.status in _WELL and now.status is not was.status:
            turn = _turn_of_evidence(file, piece, was, now, change)
            if turn is not None:
                told.add(piece.path)
                yield turn
    fired = set(after.reasons_of(Cause.TRIGGER)) - set(before.reasons_of(Cause.TRIGGER))
    if fired and after.watched is not EvidenceStatus.UNVERIFIABLE:
        path, line = _fired_by(file, change)
        if path not in told and path:
            yield _drift(file, Turn.TRIGGER_FIRES, path, line, sorted(fired)[0])
            told.add(path)
    if not told and after.state is State.CURRENT and memory.applies_to:
        for path in change.changed:
            if not path.startswith(("memories/", ".memfs/")) and matcher(path)(memory.applies_to):
                yield _drift(file, Turn.APPLIES_HERE, path, change.first_line(path), "it applies to this file")
                break


def _turn_of_evidence(
    file: MemoryFile, piece: FileEvidence, was: EvidenceReport, now: EvidenceReport, change: _Change
) -> Drift | None:
    part = piece if isinstance(piece, PartEvidence) else None
    place, told_of = plain(place_of(piece)), was.moved_to or piece.path
    match now.status:
        case EvidenceStatus.CHANGED:
            line = change.first_line(piece.path, part)
            return _drift(file, Turn.MAKES_STALE, piece.path, line, f"it rests on {place}")
        case EvidenceStatus.MISSING:
            line = change.first_line(told_of)
            return _drift(file, Turn.GONE, told_of, line, f"it rests on {place}, which is gone")
        case EvidenceStatus.MOVED:
            to = now.moved_to or ""
            return _drift(file, Turn.MOVED, to, 1, f"it rests on {place}, which is at {plain(to)} now", moved_to=to)
        case _:
            return None


def _drift(file: MemoryFile, turn: Turn, changed: str, line: int | None, reason: str, *, moved_to: str = "") -> Drift:
    memory = file.memory
    assert memory is not None
    return Drift(
        turn=turn,
        memory_id=memory.id,
        path=file.path,
        scope=scope_of_path(file.path) or memory.scope,
        statement=memory.statement,
        people=(),
        changed=changed,
        line=line,
        reason=reason,
        moved_to=moved_to,
        command="" if turn is Turn.APPLIES_HERE else f"memfs verify {memory.id}",
    )


def _healed_by(file: MemoryFile, before: StateReport, after: StateReport, change: _Change) -> str:
    memory = file.memory
    assert memory is not None
    for piece, was, now in zip(memory.evidence, before.evidence, after.evidence, strict=True):
        if isinstance(piece, FileEvidence) and was.status not in _WELL and now.status in _WELL:
            return now.moved_to or piece.path
    return _fired_by(file, change)[0]


def _fired_by(file: MemoryFile, change: _Change) -> tuple[str, int | None]:
    """Return the changed file, and its line, that made the trigger of ``file`` fire."""
    memory = file.memory
    assert memory is not None
    match memory.review_trigger:
        case WhenPathChanges(path=path):
            return path, change.first_line(path)
        case WhenVersion(name=name):
            for path in change.changed:
                if path.rsplit("/", 1)[-1] in MANIFESTS and change.line_of_name(path, name) is not None:
                    return path, change.line_of_name(path, name)
        case WhenSuperseded(id=old):
            return next(iter(change.successors.get(old, ())), ""), 1
        case _:
            pass
    return "", None


def _with_people(drift: Drift, people: tuple[str, ...] | None) -> Drift:
    return replace(drift, people=people or ())
