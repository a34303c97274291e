"""Everything that the pages show, read in one go and read again when the repository has changed.

One run of the checks gives state, trust and findings of all memories; pages are made from that. What a
caller may not see never enters the catalogue (ADMISSION 7).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import date

from memfs.browse.items import EvidenceLine, Item
from memfs.browse.pages import TimelineEvent
from memfs.check.across import find_successors
from memfs.check.cache import REJECTED
from memfs.check.results import Level, Result
from memfs.check.run import Check, check_repository
from memfs.check.single import Known
from memfs.check.states import Target
from memfs.disk.drafts import list_drafts
from memfs.disk.files import scan_memories
from memfs.errors import MemfsError
from memfs.git.log import read_commits
from memfs.git.read import head_commit
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile, OnDate
from memfs.model.reader import read_memory
from memfs.model.scope import Caller, is_seen_with, scope_of_path
from memfs.model.triggers import parse_trigger
from memfs.model.values import dataclass, field
from memfs.propose.remote import Forge, find_main_branch, find_remote, parse_remote
from memfs.repository.repository import Repository
from memfs.trust.check import describe_keyring
from memfs.trust.judge import Level as TrustLevel
from memfs.trust.opening import HERE
from memfs.trust.view import TrustView

REFRESH_SECONDS = 2.0
"""How old an answer about the files may be before they are looked at again."""

_TRUST = {
    TrustLevel.TRUSTED: "approved",
    TrustLevel.UNTRUSTED: "not approved",
    TrustLevel.WITHDRAWN: "withdrawn",
    TrustLevel.DENIED: "denied",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The commits that touched each memory, by id; newest first."""

    by_id: Mapping[str, Sequence[TimelineEvent]]
    head: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """One reading of a repository, for one caller."""

    items: tuple[Item, ...]
    by_key: Mapping[str, Item]
    raw: Mapping[str, bytes]  # by key
    view: TrustView | None
    events: Events
    successors: Mapping[str, Sequence[Known]]
    notices: tuple[str, ...] = ()
    findings: tuple[Result, ...] = ()
    people: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    main: str | None = None  # the branch of a remote that changes go to, for instance "origin/main"
    forge: Forge | None = None
    mark: tuple[object, ...] = field(default=())

    def keys_of(self, memory_id: str) -> list[str]:
        """Return the keys of the items with this id."""
        return [item.key for item in self.items if item.id == memory_id]

    def read(self, key: str) -> MemoryFile:
        """Return the file of ``key`` from the bytes that its item was made from."""
        return read_memory(f"memories/{key}.md", self.raw[key])


class Shelf:
    """The newest catalogue; looks for changes at most every two seconds, and reads anew beside the
    pages that are being served."""

    def __init__(self, repository: Repository, caller: Caller, *, pin: str | None = None) -> None:
        self.repository = repository
        self.caller = caller
        self.pin = pin
        self.lock = threading.Lock()
        self._working: threading.Thread | None = None
        self._looked = time.monotonic()
        self.catalogue = self._read()

    def current(self) -> Catalogue:
        """Return the catalogue; start reading anew when something has changed."""
        now = time.monotonic()
        with self.lock:
            is_idle = self._working is None or not self._working.is_alive()
            if now - self._looked < REFRESH_SECONDS or not is_idle:
                return self.catalogue
            self._looked = now
            self._working = threading.Thread(target=self._read_anew, daemon=True)
            self._working.start()
        return self.catalogue

    def wait(self) -> None:
        """Wait for a reading that is under way."""
        if self._working is not None:
            self._working.join()

    def _read_anew(self) -> None:
        if self._mark() == self.catalogue.mark:
            return
        catalogue = self._read()
        with self.lock:
            self.catalogue = catalogue

    def _read(self) -> Catalogue:
        return read_catalogue(self.repository, self.caller, mark=self._mark(), pin=self.pin)

    def _mark(self) -> tuple[object, ...]:
        """Return something that changes with every memory, receipt, keyring and commit."""
        tree = self.repository.tree
        scan = scan_memories(tree)
        times = []
        for name in (".memfs", ".memfs/approvals", ".memfs/config.yaml"):
            try:
                times.append(os.stat(tree.root / name).st_mtime_ns)
            except OSError:
                times.append(0)
        return (hash(scan.entries), len(scan.entries), hash(scan.skipped), *times, head_commit(tree))


def read_catalogue(
    repository: Repository, caller: Caller, *, mark: tuple[object, ...] = (), pin: str | None = None
) -> Catalogue:
    """Return everything that ``caller`` may see, judged today."""
    tree, sees = repository.tree, repository.sight.for_caller(caller)
    check = check_repository(
        tree,
        repository.places,
        Target(pin=pin),
        today=repository.today,
        identities=repository.identities(),
        keep_raw=True,
        sees=sees,
    )
    files = {path: known for path, known in check.files.items() if sees(path)}
    successors = find_successors(list(files.values()))
    items = [_item(known, check, successors) for known in files.values()]
    notices = list(check.report.notices)
    if check.unpinned:
        notices.append(
            "Nothing here is pinned on this machine, so nothing counts as approved; `memfs pin` changes that."
        )
    elif pin != HERE and check.view is None:
        notices.append("This repository has no keyring yet, so nothing can be approved.")
    return Catalogue(
        items=tuple(items),
        by_key={item.key: item for item in items},
        raw={_key(path): check.raw[path] for path in files if path in check.raw},
        view=None if check.unpinned else check.view,
        events=read_events(repository),
        successors=successors,
        notices=tuple(notices),
        findings=tuple(r for r in check.report.results if r.level is not Level.NOTE and (not r.path or sees(r.path))),
        people=describe_keyring(check.view.keyring) if check.view is not None and check.view.keyring else (),
        drafts=tuple(held.name for held in list_drafts(tree, repository.places)),
        main=find_main_branch(tree) if tree.git_dir is not None else None,
        forge=_find_forge(repository),
        mark=mark,
    )


def _find_forge(repository: Repository) -> Forge | None:
    try:
        return parse_remote(find_remote(repository.tree)[1])
    except MemfsError:
        return None


def _item(known: Known, check: Check, successors: Mapping[str, Sequence[Known]]) -> Item:
    scope = scope_of_path(known.path) or known.path.removeprefix("memories/").rpartition("/")[0]
    results = [result for result in check.report.results if result.path == known.path] if not known.is_memory else ()
    placeholder = _placeholder(known, [result.message for result in results])
    standing = check.standings.get(known.path)
    verdict = check.verdicts.get(known.path)
    heirs = [heir.id for heir in successors.get(known.id, ()) if known.is_memory and is_seen_with(heir.scope, scope)]
    title = known.title or " ".join(known.statement.split())
    raw = check.raw.get(known.path, b"")
    due: date | None = None
    if known.is_memory:
        trigger = parse_trigger(known.trigger)
        days = [date.fromisoformat(known.expires)] if known.expires else []
        days += [trigger.on] if isinstance(trigger, OnDate) else []
        due = min(days, default=None)
    shown = placeholder is None
    return Item(
        key=_key(known.path),
        id=known.id or known.path.rsplit("/", 1)[-1].removesuffix(".md"),
        title=title if shown else "(withheld)",
        scope=scope,
        kind=known.kind or "no memory",
        origin=known.origin,
        state=standing.report.state.value if standing is not None and shown else "withheld",
        trust=_TRUST[verdict.level] if verdict is not None else "not approved",
        author=known.author if shown else None,
        recorded=date.fromisoformat(known.recorded) if known.recorded else None,
        reasons=standing.report.reasons if standing is not None and shown else (),
        reason=str(verdict.reason) if verdict is not None and verdict.reason is not None else None,
        detail=verdict.detail if verdict is not None else None,
        people=verdict.people if verdict is not None else (),
        approved_on=verdict.on if verdict is not None else None,
        trigger=known.trigger if shown else None,
        due=due,
        topics=known.topics if shown else (),
        evidence=tuple(
            EvidenceLine(text=line.text, status=line.status.value, line_now=line.line_now)
            for line in (standing.report.evidence if standing is not None and shown else ())
        ),
        supersedes=known.supersedes if shown else (),
        superseded_by=tuple(heirs),
        placeholder=placeholder,
        text=f"{known.id}\n{raw.decode('utf-8', 'replace').lower()}" if shown else known.id,
    )


def _placeholder(known: Known, messages: Sequence[str]) -> str | None:
    """Return why a file's text must not be shown, or None (ADMISSION 1: the gate at read time)."""
    if not known.is_memory:
        return f"It is not a well-formed memory: {' '.join(messages) or 'see `memfs check`'}"
    stopped = [r for r in known.results if r.rule in REJECTED and r.level is Level.ERROR]
    if stopped:
        places = ", ".join(f"line {result.line}" for result in stopped if result.line)
        rules = ", ".join(dict.fromkeys(result.rule for result in stopped))
        return f"Admission stops its text ({rules}{'; ' + places if places else ''})."
    return None


def _key(path: str) -> str:
    return path.removeprefix("memories/").removesuffix(".md")


def read_events(repository: Repository) -> Events:
    """Return the commits by the memory that they touched, in one pass over the history."""
    tree = repository.tree
    head = head_commit(tree)
    if head is None:
        return Events(by_id={}, head=None)
    found: dict[str, list[TimelineEvent]] = {}
    words = {"A": "Added by", "M": "Changed by", "D": "Deleted by", "T": "Changed by"}
    for commit in read_commits(tree, head, ["memories"]):
        seen: set[str] = set()
        for file in commit.files:
            memory_id = file.path.rsplit("/", 1)[-1].removesuffix(".md")
            events = found.setdefault(memory_id, [])
            what = words.get(file.letter, "Changed by")
            if memory_id in seen:  # deleted in one folder and added in another
                del events[-1]
                what = "Moved by"
            seen.add(memory_id)
            events.append(
                TimelineEvent(
                    what=what, who=commit.author, on=commit.on[:10], where=commit.name[:10], detail=commit.subject
                )
            )
    return Events(by_id=found, head=head)


def approval_events(view: TrustView | None, file: MemoryFile) -> list[TimelineEvent]:
    """Return the approvals and withdrawals of one memory, as the records say them."""
    if view is None or view.keyring is None or not file.id:
        return []
    scope = file.memory.scope if file.memory is not None else None
    found = []
    for one in view.approvals(file.id, scope=scope):
        record = one.checked
        if not record.approves:
            what, tone, detail = "Approval withdrawn by", "bad", "No older approval counts after this."
        elif record.item.digest != file.digest:
            what, tone, detail = "Approved by", "warn", "Other words than those here now."
        elif one.grants:
            what, tone, detail = "Approved by", "good", "Exactly these words."
        else:
            what, tone, detail = "Approved by", "warn", f"It does not count: {one.reason or 'overtaken'}."
        if not record.is_receipt:
            detail += " Its receipt is not in the tree."
        found.append(
            TimelineEvent(
                what=what,
                who=record.person,
                on=record.on.isoformat(),
                where=f"seq {record.item.seq}",
                detail=detail,
                tone=tone,
            )
        )
    return found


def timeline(catalogue: Catalogue, file: MemoryFile) -> list[TimelineEvent]:
    """Return approvals and commits of one memory, newest first."""
    events = [*approval_events(catalogue.view, file), *catalogue.events.by_id.get(file.id, ())]
    return sorted(events, key=lambda event: str(event.on or ""), reverse=True)


def trust_sentence(verdict_reason: str | None, detail: str | None, people: Sequence[str]) -> str:
    """Return in a sentence why a memory is not the team's word."""
    words = {
        None: "Nobody has approved these words.",
        "no-approval": "Nobody has approved these words.",
        "changed": "The text has changed since it was approved.",
        "older-text": "A newer text was approved after this one.",
        "withdrawn": "Its approval was withdrawn.",
        "denied": "The keyring forbids this text.",
        "not-enough-people": "It needs more people's approval.",
        "not-pinned": "Nothing is pinned on this machine, so no approval was judged.",
    }
    sentence = words.get(verdict_reason) or f"Its approval does not count ({verdict_reason})."
    if verdict_reason in ("withdrawn", "not-enough-people") and people:
        sentence += f" By {', '.join(people)}."
    elif detail and verdict_reason not in (None, "no-approval", "changed"):
        sentence += f" {escape_hidden(detail, single_line=True)}."
    return f"Not the team's word. {sentence}"
