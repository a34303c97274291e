"""What a range of commits means for the memories, judged by the keyring and policy of its base.

Facts are read as objects, nothing is checked out. Sentences are for a tired reviewer: what is
different, for whom, and what to do; text of the repository is escaped before it enters one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date

from memfs.check.judging import approval_messages, judging_view, read_folder, read_keyrings
from memfs.check.results import Report
from memfs.check.run import Check, check_repository
from memfs.check.states import Target, find_changes
from memfs.disk.places import Places
from memfs.disk.settings import REPOSITORY_FILE, RepositorySettings, parse_repository_settings
from memfs.disk.worktree import WorkTree
from memfs.git.read import read_git
from memfs.git.snapshot import GitFiles, merge_base, require_commit
from memfs.model.codepoints import plain
from memfs.model.memory import MemoryFile
from memfs.model.reader import read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass
from memfs.review.notes import (
    MAX_PEOPLE,
    Approvals,
    Note,
    Tone,
    Writer,
    is_told,
    loudest,
    names_of,
    note_of,
    notes_on_approval,
    notes_on_origin,
    notes_on_scope,
    notes_on_supersession,
    who_sees,
)
from memfs.review.words import MAX_WORK, Row, compare_words
from memfs.trust.check import check_keyring, describe_keyring_change
from memfs.trust.judge import Reason, Verdict
from memfs.trust.keyring import KeyringError, parse_file
from memfs.trust.record import Verb, find_records, read_receipt
from memfs.trust.view import APPROVALS, Approval, TrustView

HOUSE_RULES = (".github/", ".gitlab", ".gitattributes", ".pre-commit", "CODEOWNERS", "docs/CODEOWNERS")
"""Paths that decide how memories are stored, checked and reviewed."""


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
    """Everything that a reviewer is told. ``alarms`` are about the repository, not about one memory."""

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
    def stops(self) -> int:
        notes = [*self.alarms, *(note for change in self.changes for note in change.notes)]
        return sum(note.tone is Tone.STOP for note in notes)

    @property
    def unapproved(self) -> tuple[Change, ...]:
        """The changes that are in place and not trusted."""
        return tuple(change for change in self.changes if change.what != "removed" and not change.trusted)


def review_range(
    tree: WorkTree,
    places: Places | None,
    base_name: str,
    head_name: str,
    *,
    today: date,
    pin: str | None = None,
    identities: Collection[str] = (),
) -> Review:
    """Return what the commits from ``base_name`` to ``head_name`` change.

    Raises :class:`UsageError` for names that are no commits, and for a pin that is none.
    """
    base, head = require_commit(tree, base_name), require_commit(tree, head_name)
    target = Target(base=base, commit=head, pin=pin)
    check = check_repository(tree, places, target, today=today, identities=identities)
    since = merge_base(tree, base, head) or base
    parted = GitFiles(tree, since)
    theirs = parted if base == since else GitFiles(tree, base)
    reviewing = _Reviewing(tree, places, check, parted, GitFiles(tree, head), theirs=theirs, today=today, pin=pin)
    changes, alarms = reviewing.changes(since, head), reviewing.alarms()
    settled = {change.path for change in changes}
    alarms += [note_of(result) for result in check.report.results if result.path not in settled | reviewing.told]
    view = check.view
    judged_by = "no keyring: nothing can be approved yet"
    if view is not None and view.keyring is not None:
        pinned = "pinned" if view.pinned else "not pinned"
        judged_by = (
            f"keyring {view.keyring.version} of the base, repository {(view.repository_id or '')[:12]} ({pinned})"
        )
    elif view is not None:
        judged_by = "nothing: the base's keyring is not in force"
    return Review(
        base=base,
        head=head,
        since=since,
        base_name=plain(base_name),
        head_name=plain(head_name),
        judged_by=judged_by,
        changes=tuple(changes),
        alarms=tuple(sorted(alarms, key=lambda note: list(Tone).index(note.tone))),
        notices=check.report.notices,
        other_files=reviewing.other_files(),
        report=check.report,
    )


class _Reviewing:
    """The facts of one review, each read once."""

    def __init__(
        self,
        tree: WorkTree,
        places: Places | None,
        check: Check,
        base: GitFiles,
        head: GitFiles,
        *,
        theirs: GitFiles,
        today: date,
        pin: str | None,
    ) -> None:
        self.tree = tree
        self.check = check
        self.base = base
        self.head = head
        self.told: set[str] = set()  # paths whose results of `check` the alarms speak of already
        self.view = check.view
        self.theirs = theirs
        self.keyrings = read_keyrings(base)
        self.before_view: TrustView | None = None
        if self.keyrings:
            messages = approval_messages(tree, [theirs.commit or ""])
            receipts = read_folder(theirs, APPROVALS)
            self.before_view, _ = judging_view(
                read_keyrings(theirs), receipts, places, today=today, pin=pin, messages=messages
            )
        raw = dict(theirs.read_many([REPOSITORY_FILE]))[REPOSITORY_FILE]
        self.settings = parse_repository_settings(raw) if isinstance(raw, bytes) else RepositorySettings()

    # -- memories --------------------------------------------------------------------------------

    def changes(self, since: str, head: str) -> list[Change]:
        """Return every memory that differs, the loud ones first."""
        changed = find_changes(self.base, self.head)
        gone = sorted(set(self.base.memories()[0]) - set(self.head.memories()[0]) - set(changed.values()))
        before = dict(self.base.read_many([*filter(None, changed.values()), *gone]))
        after = dict(self.head.read_many(changed))
        writers = find_writers(self.tree, since, head)
        work = max(50_000, min(MAX_WORK, 20 * MAX_WORK // max(1, len(changed))))
        found: list[Change] = []
        for path, old_path in changed.items():
            old = before.get(old_path) if old_path else None
            found.append(
                self._change(
                    _read(old_path, old) if old_path else None,
                    _read(path, after.get(path)),
                    writers=writers.get(path, ()),
                    work=work,
                )
            )
        found += [self._removal(_read(path, before.get(path))) for path in gone]
        found += self._only_approvals(set(changed))
        order = list(Tone)
        return sorted(found, key=lambda change: (order.index(change.tone), change.path))

    def _change(self, old: MemoryFile | None, new: MemoryFile, *, writers: Sequence[Writer], work: int) -> Change:
        memory = new.memory
        scope = scope_of_path(new.path) or ""
        scope_before = scope_of_path(old.path) if old is not None else None
        before = self.before_view.verdict(old) if self.before_view is not None and old is not None else None
        after = self.check.verdicts.get(new.path)
        approvals = self._approvals(scope, before, after)
        notes = [
            *notes_on_approval(
                approvals,
                after,
                self._approved(new.id, scope),
                changed_fields=_changed_fields(old, new),
                has_keyring=self.view is not None,
            ),
            *notes_on_scope(scope, scope_before, approvals, self.settings, trusted=after is not None and after.trusted),
            *notes_on_origin(old.memory if old is not None else None, memory, writers),
            *notes_on_supersession(memory, self.view),
            *(
                note_of(result)
                for result in self.check.report.results
                if result.path == new.path and not is_told(result)
            ),
        ]
        return Change(
            what="added" if old is None else "moved" if old.path != new.path else "changed",
            id=new.id,
            path=new.path,
            path_before=old.path if old is not None else None,
            scope=scope,
            scope_before=scope_before,
            kind=memory.kind.value if memory else "",
            origin=memory.origin.value if memory else "",
            author=(memory.author or "") if memory else "",
            seen_by=who_sees(scope, self.settings),
            trusted=after is not None and after.trusted,
            reason=str(after.reason) if after is not None and after.reason is not None else None,
            approvals=approvals,
            notes=tuple(sorted(notes, key=lambda note: list(Tone).index(note.tone))),
            rows=compare_words(_text(old), _text(new), work=work),
        )

    def _only_approvals(self, changed: Collection[str]) -> list[Change]:
        """Return memories whose text stays, and whose approvals the change adds or takes away."""
        old = read_folder(self.base, APPROVALS)
        new = read_folder(self.head, APPROVALS)
        differing = [
            raw for path in {*old, *new} if old.get(path) != new.get(path) for raw in (old.get(path), new.get(path))
        ]
        ids = {item.id for raw in differing if raw for record in find_records(raw) for item in record.statement.items}
        paths = [
            path
            for path in self.head.memories()[0]
            if path not in changed and path.rsplit("/", 1)[-1].removesuffix(".md") in ids
        ]
        found = []
        for path, raw in self.head.read_many(paths):
            file = _read(path, raw)
            before = self.before_view.verdict(file) if self.before_view is not None else None
            after = self.view.verdict(file) if self.view is not None and self.view.keyring is not None else None
            if before is None or after is None or (before.level, before.people) == (after.level, after.people):
                continue
            scope = scope_of_path(path) or ""
            approvals = self._approvals(scope, before, after)
            notes = notes_on_approval(approvals, after, self._approved(file.id, scope), has_keyring=True)
            found.append(self._plain_change("approvals", file, after, approvals, tuple(notes)))
        return found

    def _plain_change(
        self, what: str, file: MemoryFile, verdict: Verdict | None, approvals: Approvals, notes: tuple[Note, ...]
    ) -> Change:
        """Return the change of a memory whose text has no second version."""
        scope = scope_of_path(file.path) or ""
        memory = file.memory
        return Change(
            what=what,
            id=file.id,
            path=file.path,
            path_before=file.path,
            scope=scope,
            scope_before=scope,
            kind=memory.kind.value if memory else "",
            origin=memory.origin.value if memory else "",
            author=(memory.author or "") if memory else "",
            seen_by="nobody: it is gone" if what == "removed" else who_sees(scope, self.settings),
            trusted=verdict is not None and verdict.trusted,
            reason=str(verdict.reason) if verdict is not None and verdict.reason is not None else None,
            approvals=approvals,
            notes=notes,
            rows=compare_words(_text(file), "") if what == "removed" else (),
        )

    def _removal(self, old: MemoryFile) -> Change:
        before = self.before_view.verdict(old) if self.before_view is not None else None
        people = before.people if before is not None and before.trusted else ()
        text = f"It is removed; {names_of(people)} had approved it." if people else "It is removed."
        note = Note(tone=Tone.LOOK if people else Tone.PLAIN, about="removed", text=text)
        approvals = Approvals(people=(), lost=people, gained=(), need=0, missing=0, may=())
        return self._plain_change("removed", old, None, approvals, (note,))

    def _approvals(self, scope: str, before: Verdict | None, after: Verdict | None) -> Approvals:
        had = before.people if before is not None and before.trusted else ()
        has = after.people if after is not None and after.reason in (None, Reason.NOT_ENOUGH_PEOPLE) else ()
        need = self.view.need(scope) if self.view is not None and self.view.keyring is not None else 0
        may = tuple(person for person in self.view.approvers(scope) if person not in has) if self.view else ()
        return Approvals(
            people=has,
            lost=tuple(person for person in had if person not in has),
            gained=tuple(person for person in has if person not in had),
            need=need,
            missing=max(0, need - len(has)),
            may=may,
        )

    def _approved(self, memory_id: str, scope: str) -> tuple[Approval, ...]:
        if self.view is None or self.view.keyring is None or not memory_id:
            return ()
        return self.view.approvals(memory_id, scope=scope or None)

    # -- the repository --------------------------------------------------------------------------

    def alarms(self) -> list[Note]:
        """Return what the change does to the keyring, the receipts, the settings and the house rules."""
        return [*self._keyring(), *self._receipts(), *self._settings(), *self._house_rules(), *self._drift()]

    def other_files(self) -> int:
        """Return how many changed files are none of memfs's business."""
        mine = ("memories/", ".memfs/", "evals/", *HOUSE_RULES)
        return sum(not path.startswith(mine) for path in self._changed_paths())

    def _changed_paths(self) -> list[str]:
        old, new = self.base.entries, self.head.entries
        return sorted(
            path
            for path in {*old, *new}
            if (old[path].blob if path in old else None) != (new[path].blob if path in new else None)
        )

    def _keyring(self) -> Iterator[Note]:
        new = read_keyrings(self.head)
        self.told.update(new)
        for path in sorted(self.keyrings):
            if path not in new:
                yield Note(
                    tone=Tone.STOP,
                    about="keyring",
                    text=f"It deletes {path}: without it no approval in this repository would count.",
                )
            elif new[path] != self.keyrings[path]:
                yield Note(
                    tone=Tone.STOP,
                    about="keyring",
                    text=f"It rewrites {path}, which everybody's pin stands on. "
                    "A keyring is never edited; a new version is added.",
                )
        added = sorted(set(new) - set(self.keyrings))
        if not added:
            return
        old = self.view.keyring if self.view is not None else None
        problems = check_keyring(new)
        tone = Tone.STOP if problems else Tone.LOOK
        meanwhile = read_keyrings(self.theirs)
        for path in added:
            if path in meanwhile and meanwhile[path] != new[path]:
                text = f"The base has got another {path} meanwhile"
                yield Note(tone=Tone.STOP, about="keyring", text=f"{text}: this one follows a keyring of before.")
            try:
                keyring = parse_file(new[path], where=path).keyring
            except KeyringError as error:
                yield Note(
                    tone=Tone.STOP, about="keyring", text=f"It adds a keyring that cannot be read: {plain(str(error))}."
                )
                continue
            for sentence in describe_keyring_change(old, keyring):
                yield Note(tone=tone, about="keyring", text=f"The new {path} {plain(sentence, limit=400)}.")
            old = keyring
        if problems:
            yield Note(
                tone=Tone.STOP,
                about="keyring",
                text=f"The new keyring does not hold ({plain(problems[0].message, limit=300)}). "
                "Its key has no say, and merging it would make everything here untrusted.",
            )
        elif self.keyrings:
            yield Note(
                tone=Tone.LOOK,
                about="keyring",
                text="The new keyring is signed as the base's demands. Who may approve changes with this merge.",
            )

    def _receipts(self) -> Iterator[Note]:
        old = read_folder(self.base, APPROVALS)
        new = read_folder(self.head, APPROVALS)
        for path, raw in sorted(old.items()):
            if new.get(path) == raw:
                continue
            record = read_receipt(path.rsplit("/", 1)[-1], raw)
            if record is None:
                continue
            ids = ", ".join(item.id for item in record.statement.items[:MAX_PEOPLE])
            if record.statement.verb is Verb.REVOKE:
                text = f"It removes the record that {record.statement.by} withdrew the approval of {ids}"
                yield Note(tone=Tone.STOP, about="receipt-removed", text=f"{text}: an old text could come back.")
            else:
                text = f"It removes the receipt of {record.statement.by}'s approval of {ids}."
                yield Note(tone=Tone.LOOK, about="receipt-removed", text=text)

    def _settings(self) -> Iterator[Note]:
        if self.base.blob_of(REPOSITORY_FILE) == self.head.blob_of(REPOSITORY_FILE):
            return
        raw = dict(self.head.read_many([REPOSITORY_FILE]))[REPOSITORY_FILE]
        new = parse_repository_settings(raw) if isinstance(raw, bytes) else RepositorySettings()
        yield Note(tone=Tone.LOOK, about="settings", text=f"It changes {REPOSITORY_FILE}.")
        for scope, readers in self.settings.readers.items():
            added = [person for person in new.readers.get(scope, ()) if person not in readers]
            if scope not in new.readers:
                text = f"{plain(scope)} is no longer limited to {names_of(readers)}: more people would see it."
                yield Note(tone=Tone.STOP, about="scope-wider", text=text)
            elif added:
                yield Note(tone=Tone.LOOK, about="scope-wider", text=f"{names_of(added)} would see {plain(scope)} too.")

    def _drift(self) -> Iterator[Note]:
        """Yield changed files that memories rest on which the change itself leaves alone."""
        changed = set(self._changed_paths())
        resting: dict[str, list[str]] = {}
        for path, known in self.check.files.items():
            if path not in changed:
                for other in known.rests_on:
                    if other in changed:
                        resting.setdefault(other, []).append(known.id)
        for other, ids in sorted(resting.items()):
            verb = "rests" if len(ids) == 1 else "rest"
            text = f"It changes {plain(other)}, on which {names_of(sorted(ids))} {verb}: to be looked at again."
            yield Note(tone=Tone.LOOK, about="evidence-drift", text=text)

    def _house_rules(self) -> Iterator[Note]:
        for path in self._changed_paths():
            if path.startswith(HOUSE_RULES) or path.endswith("/.gitattributes"):
                text = f"It changes {plain(path)}, which decides how memories are stored, checked or reviewed."
                yield Note(tone=Tone.LOOK, about="house-rules", text=text)
        if any(path.startswith("evals/") for path in self._changed_paths()):
            yield Note(
                tone=Tone.PLAIN, about="evals", text="It changes the questions that recall must answer (evals/)."
            )


# -- facts -------------------------------------------------------------------------------------------


def find_writers(tree: WorkTree, since: str, head: str) -> dict[str, tuple[Writer, ...]]:
    """Return path → the authors of the commits between two commits that touched it."""
    switches = ("--no-show-signature", "--no-mailmap", "--no-renames", "--encoding=UTF-8", "--name-only", "-z")
    raw = read_git(tree, "log", *switches, "--format=%x01%an%x02%ae", f"{since}..{head}", "--", "memories")
    found: dict[str, dict[Writer, None]] = {}
    writer = Writer(name="", address="")
    for part in raw.decode("utf-8", "surrogateescape").split("\0"):
        text = part.lstrip("\n")
        if text.startswith("\x01"):
            name, _, address = text[1:].partition("\x02")
            writer = Writer(name=name, address=address)
        elif text:
            found.setdefault(text, {})[writer] = None
    return {path: tuple(writers) for path, writers in found.items()}


def _read(path: str, raw: bytes | str | None) -> MemoryFile:
    return read_memory(path, raw if isinstance(raw, bytes) else b"")


def _changed_fields(old: MemoryFile | None, new: MemoryFile) -> tuple[str, ...]:
    """Return the keys whose values differ, where the text below the front matter is the same."""
    if old is None or old.document is None or new.document is None or old.document.body != new.document.body:
        return ()
    before, after = old.document.front, new.document.front
    return tuple(sorted(key for key in {*before, *after} if before.get(key) != after.get(key)))


def _text(file: MemoryFile | None) -> str:
    return file.raw.decode("utf-8", "replace") if file is not None else ""
