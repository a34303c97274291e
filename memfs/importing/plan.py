"""What an import would do, piece by piece, and doing it: one commit of imported texts that nobody has approved.

A source is known again by the evidence of the memory that it became: the same place with the same content changes
nothing, other content is an edit, the same content at another place follows it.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from memfs.disk.files import UnreadableFile
from memfs.errors import MemfsError, RefusedError, UsageError
from memfs.git.log import read_commits
from memfs.git.read import blob_id, head_commit, object_format
from memfs.importing.kinds import KINDS, Source, find_kind
from memfs.importing.source import Candidate, LeftOut, why_never
from memfs.model.codepoints import folded, plain
from memfs.model.evidence import DIGITS, format_evidence, format_same, place_of
from memfs.model.lenient import MAX_FOREIGN_BYTES
from memfs.model.memory import BlobEvidence, FrontValue, Lines, MemoryFile, Origin, Part, PartEvidence
from memfs.model.parts import PartedText
from memfs.model.slugs import slug_of_title
from memfs.model.values import dataclass, replace
from memfs.repository.draft import DraftText, HeldError
from memfs.repository.repository import Repository
from memfs.repository.writing import blind_id
from memfs.sight import OWNER

MAX_FILES = 20_000
_DATABASE = re.compile(r"\.(db|sqlite3?)$", re.IGNORECASE)
_LINK = re.compile(
    r"\[\[([^\[\]|#\n]{1,200})(?:#([^\[\]|\n]{1,200}))?(?:\|([^\[\]\n]{1,200}))?\]\]"
    r"|(?<!!)\[([^\[\]\n]{1,200})\]\(([^():\s]{1,300}\.md)(?:#[^()\s]{0,200})?\)"
)
"""A link of a vault, ``[[Note#Part|text]]``, or of Markdown to another note, ``[text](note.md)``."""

_CODE_OR_LINK = re.compile(rf"(?s:```.*?(?:```|\Z))|`[^`\n]*`|(?:{_LINK.pattern})")

_HIDDEN = frozenset({".claude", ".cursor", ".windsurf", ".github", ".serena", ".clinerules"})

Progress = Callable[[int, int], None]
Content = BlobEvidence | PartEvidence
Place = tuple[str, str, str]  # label of what lies outside, path, part


class Outcome(StrEnum):
    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    MOVED = "moved"
    HELD = "held"
    REFUSED = "refused"
    LEFT_OUT = "left-out"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one piece of a source becomes. ``file`` is the memory as it would be written, ``before`` the one that it
    replaces. ``path`` and ``reason`` are safe to print."""

    outcome: Outcome
    path: str
    kind: str
    line: int | None = None
    id: str = ""
    reason: str = ""
    file: MemoryFile | None = None
    before: MemoryFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All entries, in the order of the sources."""

    entries: tuple[Entry, ...]

    def of(self, *outcomes: Outcome) -> list[Entry]:
        return [entry for entry in self.entries if entry.outcome in outcomes]

    @property
    def writes(self) -> list[Entry]:
        """The entries that change a file."""
        return self.of(Outcome.NEW, Outcome.CHANGED, Outcome.MOVED)


def make_plan(
    repository: Repository,
    roots: Sequence[Path],
    *,
    kind: str | None = None,
    fields: Mapping[str, FrontValue] | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Plan:
    """Return what importing ``roots`` would do. Nothing is written, and one bad file never takes others down.

    ``kind`` is a name of :data:`KINDS`, for files whose kind is not to be guessed; ``fields`` go before what a source
    says of itself.
    """
    planner = _Planner(repository, kind, fields or {})
    found = [one for root in roots for one in _find(root)]
    for number, (root, place) in enumerate(found, 1):
        planner.read(root, place)
        progress(number, len(found))
    planner.map_links()
    return Plan(entries=tuple(planner.entries))


def carry_out(repository: Repository, plan: Plan) -> str | None:
    """Write what ``plan`` says in one commit and return its name; None where there is nothing to write."""
    changes: list[tuple[str, bytes | None, str | None]] = []
    for entry in plan.writes:
        assert entry.file is not None
        changes.append((entry.file.path, entry.file.raw, entry.before.digest if entry.before is not None else None))
    if not changes:
        return None
    count = "a memory" if len(changes) == 1 else f"{len(changes)} memories"
    return repository.writer().write(changes, f"Import {count}")


def _find(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (root, file) of every regular file below ``root``, sorted; links are never followed."""
    if _is_behind_a_link(root):
        raise UsageError(
            "this is a link, or lies behind one; nothing was read",
            where=plain(str(root)),
            hint="name the folder that it leads to",
        )
    if root.is_file():
        yield root.parent, root
        return
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if (not name.startswith(".") or name in _HIDDEN)
            and name not in ("node_modules", "__pycache__")
            and not os.path.islink(os.path.join(folder, name))
        )
        for name in sorted(names):
            place = Path(folder, name)
            if not place.is_symlink() and place.is_file() and count < MAX_FILES:
                count += 1
                yield root, place


def _is_behind_a_link(root: Path) -> bool:
    """Return whether ``root`` is a link, or is reached through one inside a repository: that is its owner's word."""
    path = Path(os.path.abspath(root))
    if path.is_symlink():
        return True
    above = [path, *path.parents]
    top = next((place for place, one in enumerate(above) if os.path.lexists(one / ".git")), None)
    return top is not None and any(one.is_symlink() for one in above[:top])


class _Planner:
    def __init__(self, repository: Repository, kind: str | None, fields: Mapping[str, FrontValue]) -> None:
        self.repository = repository
        self.tree = repository.tree
        self.root = Path(os.path.realpath(self.tree.root))
        self.writer = repository.writer()
        self.kind = next((one for one in KINDS if one.name == kind), None)
        self.fields = fields
        self.entries: list[Entry] = []
        every, _ = repository.files()
        sees = repository.sight.for_caller(OWNER)
        files = [file for file in every if sees(file.path)]
        self.is_blind = len(files) < len(every)
        self.taken = {file.id.lower() for file in files if file.id}
        self.texts = {
            _folded(file.memory.body, file.memory.applies_to): file.id for file in files if file.memory is not None
        }
        self.by_place: dict[Place, MemoryFile] = {}
        self.by_digest: dict[str, MemoryFile] = {}
        for file in files:
            if file.memory is not None and file.memory.origin is Origin.IMPORTED:
                self.by_place.update((_place(one), file) for one in _contents(file))
                self.by_digest.update((_digest(one), file) for one in _contents(file))
        self.algorithm = object_format(self.tree) if self.tree.git_dir is not None else "sha1"
        self._dates: dict[str, str] | None = None
        self.names: dict[str, str] = {}  # what a link may call a source, in small letters → the id that it became
        # Texts with links: their place in entries, path and text, and what makes the memory's file of another text.
        self.linked: list[tuple[int, str, str, Callable[[str], MemoryFile]]] = []

    def read(self, root: Path, place: Path) -> None:
        """Add the entries of one file."""
        full = Path(os.path.realpath(place))
        inside = full.is_relative_to(self.root)
        path = (full.relative_to(self.root) if inside else place.relative_to(root)).as_posix()
        if inside and path.startswith(("memories/", ".memfs/", ".git/")):
            return
        known = self.kind.name if self.kind is not None else ""
        if self.kind is None and not any(kind.paths.search(path) for kind in KINDS):
            return
        if (reason := why_never(path)) is not None and self.kind is None:
            self._add(Outcome.LEFT_OUT, path, known or "notes", reason=reason)
            return
        try:
            raw = b"" if _DATABASE.search(path) else _read(place)
            kind = self.kind or find_kind(path, raw.decode("utf-8", "replace"))
            if kind is None:
                return
            known = kind.name
            text = cache(lambda: PartedText(path, raw))  # only where a piece is a part of the file, and then once
            for piece in kind.read(Source(path=path, place=full, raw=raw)):
                if isinstance(piece, LeftOut):
                    self._add(Outcome.LEFT_OUT, path, known, line=piece.line, reason=piece.reason)
                else:
                    self._plan(piece, known, raw, text, label="" if inside else _label(root))
        except (MemfsError, OSError, ValueError, RecursionError) as error:
            self._add(Outcome.UNREADABLE, path, known or "notes", reason=str(error))

    def _plan(self, piece: Candidate, kind: str, raw: bytes, text: Callable[[], PartedText], *, label: str) -> None:
        evidence = self._evidence(piece, raw, text, label)
        if evidence is not None:
            before = self.by_place.get(_place(evidence))
            if before is not None:
                self._name(piece, before.id)
            if before is not None and _digest(evidence) in map(_digest, _contents(before)):
                self._add(Outcome.SAME, piece.path, kind, line=piece.line, id=before.id)
                return
            moved = self.by_digest.get(_digest(evidence))
            if before is None and moved is not None:
                self._follow(piece, kind, moved, evidence)
                return
            if before is not None:
                self._edit(piece, kind, before, evidence, is_moved=False)
                return
        same = self.texts.get(_folded(piece.body, piece.fields.get("applies_to", ())))
        if same is not None:
            self._add(Outcome.LEFT_OUT, piece.path, kind, line=piece.line, reason=f"{same} says the same")
            return
        self._new(piece, kind, evidence, label)

    def _follow(self, piece: Candidate, kind: str, moved: MemoryFile, evidence: Content) -> None:
        """A source at another place: where the old one is still there it is a double, else it was renamed."""
        if evidence.repo is not None or any(
            (self.root / one.path).exists() for one in _contents(moved) if one.repo is None
        ):
            self._add(Outcome.LEFT_OUT, piece.path, kind, line=piece.line, reason=f"{moved.id} says the same")
        else:
            self._edit(piece, kind, moved, evidence, is_moved=True)

    def _edit(self, piece: Candidate, kind: str, before: MemoryFile, evidence: Content, *, is_moved: bool) -> None:
        changes: dict[str, FrontValue | None] = {"evidence": (format_evidence(evidence),)}
        text = None if is_moved else f"{piece.body}\n"
        outcome = Outcome.MOVED if is_moved else Outcome.CHANGED

        def make(body: str | None) -> MemoryFile:
            return self.writer.edit(before, changes=changes, body=body, origin=Origin.IMPORTED, dry_run=True).file

        try:
            file = make(text)
        except MemfsError as error:
            self._refused(error, piece, kind)
            return
        if text is not None and _LINK.search(piece.body):
            self.linked.append((len(self.entries), piece.path, text, make))
        self._add(outcome, piece.path, kind, line=piece.line, id=before.id, file=file, before=before)

    def _new(self, piece: Candidate, kind: str, evidence: Content | None, label: str) -> None:
        scope = str(self.fields.get("scope") or piece.fields.get("scope") or "")
        if scope == "personal" and "personal" not in self.repository.settings.scopes and "scope" not in self.fields:
            reason = "it is about a person: import it into your own store"
            self._add(Outcome.LEFT_OUT, piece.path, kind, line=piece.line, reason=reason)
            return
        front: dict[str, FrontValue] = {**piece.fields, **self.fields, "title": piece.title[:200]}
        if evidence is not None:
            front["evidence"] = (format_evidence(evidence),)
            if evidence.repo is None:
                front.setdefault("review_trigger", f"when {evidence.path} changes")
        front.setdefault("recorded", self._first_day(piece.path) if not label else "")
        front.setdefault("evidence", (f"said by {label or 'import'} on {front['recorded'] or self.repository.today}",))
        memory_id = self._choose_id(piece)
        draft = DraftText(body=piece.body, origin=Origin.IMPORTED, front=front, id=memory_id)
        try:
            file = self.writer.make_new(draft)
        except MemfsError as error:
            self._refused(error, piece, kind)
            return
        self.taken.add(memory_id)
        self._name(piece, memory_id)
        if _LINK.search(piece.body):
            make = self.writer.make_new
            self.linked.append(
                (len(self.entries), piece.path, piece.body, lambda body: make(replace(draft, body=body)))
            )
        self.texts[_folded(piece.body, piece.fields.get("applies_to", ()))] = memory_id
        self._add(Outcome.NEW, piece.path, kind, line=piece.line, id=memory_id, file=file)

    def _name(self, piece: Candidate, memory_id: str) -> None:
        """Keep by which names links in other notes may mean this one; a part of a file has its heading."""
        stem = piece.path.rpartition("/")[2].rpartition(".")[0]
        aliases = piece.fields.get("aliases", ())
        names = [stem, piece.path] if piece.part is None else [f"{stem}#{piece.part.title}", piece.part.title]
        for name in {*names, piece.title, *((aliases,) if isinstance(aliases, str) else aliases)}:
            known = self.names.setdefault(name.casefold(), memory_id)
            if known != memory_id:
                self.names[name.casefold()] = ""  # two are called so: a link to it stays as it is

    def map_links(self) -> None:
        """Write the ids of memories in the place of links between sources that both came in; other links stay."""
        for place, path, text, make in self.linked:
            body = _CODE_OR_LINK.sub(partial(self._target, path), text)
            if body == text:
                continue
            try:
                file = make(body)
            except MemfsError:
                continue  # with its ids it is too long, or not admissible: as it was, it is
            self.entries[place] = replace(self.entries[place], file=file)

    def _target(self, base: str, link: re.Match[str]) -> str:
        """Return what stands for a link of the note at ``base``; code, and what leads nowhere, stays as it is."""
        if link[0].startswith("`"):
            return link[0]
        wiki, part, shown, text, path = link.groups()
        name = wiki.strip() if wiki else posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(path)))
        found = self.names.get(f"{name}#{part}".casefold()) if part else None
        found = found or self.names.get(name.casefold())
        return f"{(shown or text or name).strip()} (`{found}`)" if found else link[0]

    def _choose_id(self, piece: Candidate) -> str:
        """Return a free id: of the title, else with the folder's name behind it."""
        memory_id = slug_of_title(piece.title, taken=())
        if self.is_blind:  # as where one memory is recorded: whether an id is taken would tell of a hidden one
            return blind_id(memory_id, piece.body, taken=self.taken)
        if memory_id in self.taken:
            folder = piece.path.rpartition("/")[0].rpartition("/")[2]
            memory_id = slug_of_title(f"{memory_id} {folder}", taken=self.taken)
        return memory_id

    def _refused(self, error: MemfsError, piece: Candidate, kind: str) -> None:
        outcome = Outcome.HELD if isinstance(error, HeldError) else Outcome.REFUSED
        findings = error.findings if isinstance(error, RefusedError) else ()
        line = piece.line
        reason = str(error)
        for finding in findings[:1]:
            line += (finding.line or 1) - 1 if finding.field == "body" else 0  # type: ignore[attr-defined]
            reason = f"{finding.rule}: {finding.message}"  # type: ignore[attr-defined]
        self._add(outcome, piece.path, kind, line=line, reason=reason)

    def _evidence(self, piece: Candidate, raw: bytes, text: Callable[[], PartedText], label: str) -> Content | None:
        """Return the source by content, None where its path cannot be written as evidence."""
        repo = label or None
        part: Part | None = piece.part
        if part is None and piece.path.endswith((".jsonl", ".json")):
            part = Lines(first=piece.line, last=piece.line)
        found: Content | None = None
        if part is not None and raw and "#" not in piece.path:
            lines = text().place(part)
            digest = text().digest(lines) if lines is not None else None
            if digest is not None:
                found = PartEvidence(repo=repo, path=piece.path, part=part, text=digest[:DIGITS])
        if found is None:
            content = raw or piece.body.encode("utf-8", "surrogateescape")
            found = BlobEvidence(repo=repo, path=piece.path, blob=blob_id(content, algorithm=self.algorithm)[:DIGITS])
        return found if format_same(found) is not None else None

    def _first_day(self, path: str) -> str:
        """Return the day on which git got ``path`` first, "" where it does not have it."""
        if self._dates is None:
            self._dates = {}
            if self.tree.git_dir is not None and head_commit(self.tree) is not None:
                for commit in read_commits(self.tree, "HEAD", []):
                    self._dates.update((file.path, commit.on[:10]) for file in commit.files)
        return self._dates.get(path, "")

    def _add(self, outcome: Outcome, path: str, kind: str, *, reason: str = "", **more: Any) -> None:
        path, reason = plain(path, limit=200), plain(reason, limit=200)
        self.entries.append(Entry(outcome=outcome, path=path, kind=kind, reason=reason, **more))


def _read(place: Path) -> bytes:
    with open(place, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as source:
        raw = source.read(64 * MAX_FOREIGN_BYTES)
    if b"\0" in raw[:4096]:
        raise UnreadableFile("is not text", reason="not-text")
    return raw


def _label(root: Path) -> str:
    """Return what evidence outside this repository is called: the name of the folder that was imported."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", root.name or "import").strip("-._")[-20:].strip("-._")
    return name or "import"


def _place(one: Content) -> Place:
    return one.repo or "", one.path, place_of(one) if isinstance(one, PartEvidence) else ""


def _digest(one: Content) -> str:
    return one.text[:16] if isinstance(one, PartEvidence) else one.blob[:16]


def _contents(file: MemoryFile) -> list[Content]:
    pieces = file.memory.evidence if file.memory is not None else ()
    return [one for one in pieces if isinstance(one, BlobEvidence | PartEvidence)]


def _folded(body: str, applies_to: FrontValue) -> tuple[str, FrontValue]:
    return folded(body), applies_to
