"""What a range of commits means for the memories, judged by the keyring and policy of its base.

Every sentence is a result of ``memfs check --base``; a review orders them by memory and adds the difference.
Commits are read as objects, nothing is checked out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date

from memfs.check.change import Between, MemoryChange
from memfs.check.results import Report, Result
from memfs.check.run import Check, check_repository
from memfs.check.states import Target
from memfs.check.words import memories, names_of, who_sees
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.git.snapshot import require_commit
from memfs.model.codepoints import plain
from memfs.model.memory import MemoryFile
from memfs.model.reader import id_of_path
from memfs.model.values import dataclass, replace
from memfs.review.notes import Approvals, Note, Tone, loudest, note_of, order_of
from memfs.review.words import MAX_WORK, Row, compare_words

MANY_ALIKE = 20
"""A sentence that so many memories share is told once."""

_MINE = ("memories/", ".memfs/", "evals/", ".gitattributes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One memory that the range adds, changes, moves or removes."""

    what: str  # "added" | "changed" | "moved" | "removed" | "approvals" (its text stays)
    id: str
    path: str
    path_before: str | None
    scope: str
    scope_before: str | None
    kind: str
    origin: str
    author: str
    seen_by: str
    trusted: bool
    reason: str | None
    approvals: Approvals
    notes: tuple[Note, ...]
    rows: tuple[Row, ...]

    @property
    def tone(self) -> Tone:
        """The loudest of its notes."""
        return loudest(self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Everything that a reviewer is told. ``alarms`` are about the repository, or about many memories."""

    base: str
    head: str
    since: str
    base_name: str
    head_name: str
    judged_by: str
    changes: tuple[Change, ...]
    alarms: tuple[Note, ...]
    notices: tuple[str, ...]
    other_files: int
    report: Report

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self.alarms, *(note for change in self.changes for note in change.notes))

    @property
    def stops(self) -> int:
        return sum(note.tone is Tone.STOP for note in self.notes)

    @property
    def stops_for_others(self) -> int:
        """How many of the stops no approval settles."""
        return sum(note.tone is Tone.STOP and not note.by_approval for note in self.notes)

    @property
    def unapproved(self) -> tuple[Change, ...]:
        """The changes that are in place, and that an approval would make trusted."""
        return tuple(
            change
            for change in self.changes
            if not change.trusted and change.approvals.missing and (change.what != "approvals" or change.approvals.lost)
        )


def review_range(
    tree: WorkTree,
    places: Places | None,
    base_name: str,
    head_name: str,
    *,
    today: date,
    pin: str | None = None,
    identities: Collection[str] = (),
    fail_on: str | None = None,
    require_approval: bool = False,
    sees: Callable[[str], bool] | None = None,
) -> Review:
    """Return what the commits from ``base_name`` to ``head_name`` change, as far as the reader ``sees`` the paths.

    Raises :class:`UsageError` for names that are not commits, and for a pin that is not one;
    :class:`SetupError` where the two histories do not meet.
    """
    base, head = require_commit(tree, base_name), require_commit(tree, head_name)
    target = Target(base=base, commit=head, pin=pin, fail_on=fail_on, require_approval=require_approval)
    check = check_repository(tree, places, target, today=today, identities=identities, sees=sees)
    between = check.between
    assert between is not None
    at_path: dict[str, list[Result]] = {}
    for result in check.report.results:
        at_path.setdefault(result.path, []).append(result)
    work = max(50_000, min(MAX_WORK, 20 * MAX_WORK // max(1, len(between.changed))))
    paths_of: dict[str, list[str]] = {}
    for path in dict.fromkeys((*between.base.memories()[0], *between.now.memories()[0])):
        paths_of.setdefault(id_of_path(path), []).append(path)

    def notes_at(results: Iterable[Result]) -> list[Note]:
        return [note_of(result, check.report, paths_of) for result in results]

    changes = [_change(between, one, notes_at(at_path.pop(one.path, ())), work=work) for one in between.memories]
    changes, gathered = gather_notes(changes if sees is None else _leave_seen(changes, sees))
    alarms = [*notes_at(result for results in at_path.values() for result in results), *gathered]
    return Review(
        base=base,
        head=head,
        since=between.states.since or base,
        base_name=plain(base_name),
        head_name=plain(head_name),
        judged_by=_judged_by(check),
        changes=tuple(sorted(changes, key=lambda change: (list(Tone).index(change.tone), change.path))),
        alarms=tuple(sorted(alarms, key=order_of)),
        notices=check.report.notices,
        other_files=_count_others(between, at_path),
        report=check.report,
    )


def _leave_seen(changes: Sequence[Change], sees: Callable[[str], bool]) -> list[Change]:
    """Return the changes of files that the reader sees, without the words of a text that was hidden before."""
    found = []
    for change in changes:
        if not sees(change.path):
            continue
        if change.path_before is None or sees(change.path_before):
            found.append(change)
            continue
        rows = tuple(replace(row, before=None, line_before=None) for row in change.rows if row.after is not None)
        found.append(replace(change, rows=rows))
    return found


def gather_notes(changes: Sequence[Change]) -> tuple[list[Change], list[Note]]:
    """Return ``changes`` without the sentences that many of them share, and each of those once.

    What must be settled stays at its memory.
    """
    by_text: dict[tuple[Tone, str, str], list[Change]] = {}
    for change in changes:
        for note in change.notes:
            if note.tone in (Tone.LOOK, Tone.PLAIN):
                by_text.setdefault((note.tone, note.about, note.text), []).append(change)
    many = {key: found for key, found in by_text.items() if len(found) >= MANY_ALIKE}
    gathered = [
        Note(
            tone=tone,
            about=about,
            text=f"{memories(len(found))}: {text} ({names_of(change.id or change.path for change in found)})",
            others=tuple(path for one in found for note in one.notes if note.text == text for path in note.others),
        )
        for (tone, about, text), found in many.items()
    ]
    left = [
        replace(one, notes=tuple(note for note in one.notes if (note.tone, note.about, note.text) not in many))
        for one in changes
    ]
    return left, gathered


def _judged_by(check: Check) -> str:
    view = check.view
    if view is None:
        return "no keyring: nothing can be approved yet"
    if view.keyring is None:
        return "nothing: the base's keyring " + ("is not pinned here" if check.unpinned else "does not count")
    pinned = "pinned" if view.pinned else "not pinned"
    return f"keyring {view.keyring.version} of the base, repository {(view.repository_id or '')[:12]} ({pinned})"


def _count_others(between: Between, at_path: Mapping[str, Sequence[Result]]) -> int:
    """Return how many changed files neither are memfs's own nor have a sentence of their own."""
    return sum(not path.startswith(_MINE) and path not in at_path for path in between.paths)


def _change(between: Between, change: MemoryChange, notes: list[Note], *, work: int) -> Change:
    memory = change.file.memory
    if change.is_trusted and change.what != "removed":
        text = f"Approved by {names_of(change.has)}: exactly these words."
        notes.append(Note(tone=Tone.FINE, about="approval", text=text))
    after = "" if change.what == "removed" else _text(change.new)
    return Change(
        what=change.what,
        id=change.id,
        path=change.path,
        path_before=change.old.path if change.old is not None else None,
        scope=change.scope,
        scope_before=change.scope_before,
        kind=memory.kind.value if memory else "",
        origin=memory.origin.value if memory else "",
        author=(memory.author or "") if memory else "",
        seen_by="nobody: it is gone" if change.what == "removed" else who_sees(change.scope, between.settings),
        trusted=change.is_trusted and change.what != "removed",
        reason=str(change.after.reason) if change.after is not None and change.after.reason is not None else None,
        approvals=_approvals(between, change),
        notes=tuple(sorted(dict.fromkeys(notes), key=order_of)),
        rows=() if change.what == "approvals" else compare_words(_text(change.old), after, work=work),
    )


def _approvals(between: Between, change: MemoryChange) -> Approvals:
    view = between.view
    has = () if change.what == "removed" else change.has
    need = view.need(change.scope) if view is not None and change.what != "removed" else 0
    return Approvals(
        people=has,
        lost=tuple(person for person in change.had if person not in has),
        gained=tuple(person for person in has if person not in change.had),
        need=need,
        missing=0 if change.is_trusted else max(0, need - len(has)),
        may=tuple(person for person in view.approvers(change.scope) if person not in has) if need and view else (),
    )


def _text(file: MemoryFile | None) -> str:
    return file.raw.decode("utf-8", "replace") if file is not None else ""
