"""The values that a memory file is parsed to (DESIGN 3). Pure; no parsing here.

``frontmatter`` reads and writes the text form, ``reader`` puts the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum

from memfs.model.values import dataclass, field

MAX_MEMORY_BYTES = 256 * 1024
"""Largest memory that can be read as one or approved (TRUST 3)."""


class Kind(StrEnum):
    PREFERENCE = "preference"
    DECISION = "decision"
    PROCEDURE = "procedure"
    OBSERVATION = "observation"
    PROPOSAL = "proposal"
    HANDOFF = "handoff"


class Origin(StrEnum):
    """Who wrote the text; declared by the writing command, never trust."""

    OWNER = "owner"
    AGENT = "agent"
    IMPORTED = "imported"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a file's form. ``message`` never holds unescaped text of the file."""

    rule: str  # stable slug, for instance "missing-field", "duplicate-key", "conflict-markers"
    message: str
    field: str | None = None
    line: int | None = None  # 1-based
    column: int | None = None  # 1-based
    fatal: bool = True  # a fatal problem makes the file no memory; others are reported only

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class PathEvidence:
    """``[REPO:]PATH@COMMIT``: the file as it was at a commit."""

    path: str
    commit: str
    repo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobEvidence:
    """``[REPO:]PATH@blob:HEX``: a file with this content; HEX is the start of git's name for it."""

    path: str
    blob: str
    repo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A section of a Markdown file: from its heading to the next one that is not below it."""

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Lines of a file, both ends included, counted from 1."""

    first: int
    last: int


Part = Heading | Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEvidence:
    """``[REPO:]PATH#PART@text:HEX``: a part of a file; HEX is the start of the SHA-256 of its normal form."""

    path: str
    part: Part
    text: str
    repo: str | None = None


FileEvidence = PathEvidence | BlobEvidence | PartEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEvidence:
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlEvidence:
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidEvidence:
    """``said by PERSON on DATE``."""

    person: str
    on: date


Evidence = FileEvidence | CommitEvidence | UrlEvidence | SaidEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDate:
    on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenPathChanges:
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenVersion:
    """``when NAME >= VERSION``, read from the project's own manifests."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenSuperseded:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IfText:
    """``if free text``: shown to people, never evaluated."""

    text: str


Trigger = OnDate | WhenPathChanges | WhenVersion | WhenSuperseded | IfText


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One admitted, well-formed memory. All text is exactly what the file holds (LF line ends)."""

    id: str
    path: str  # posix, relative to the work tree: "memories/team/billing/some-id.md"
    kind: Kind
    origin: Origin
    scope: str  # "personal" | "team" | "team/name" | "restricted/name"; equals the folder
    evidence: tuple[Evidence, ...]
    recorded: date
    review_trigger: Trigger
    statement: str  # first paragraph of the body
    body: str  # whole text after the front matter
    title: str | None = None
    author: str | None = None
    tags: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # admission rules that a person let pass; counts only where the file is trusted
    expires: date | None = None


FrontValue = str | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A readable file, before any rule about memories: flat front matter as text, and the body."""

    front: Mapping[str, FrontValue]  # in the file's order; scalars as the text that was written
    lines: Mapping[str, int] = field(default_factory=dict)  # 1-based line of each key
    body: str = ""
    has_front: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """What one reading of one file gave. ``raw`` was read once; everything else comes from it.

    ``document`` is None when the file cannot be read as text with front matter, ``memory`` is None
    when it is not a well-formed memory; ``problems`` says why, all of them.
    """

    id: str  # the stem; "" where the stem is no id
    path: str
    raw: bytes
    digest: str  # hex SHA-256 of raw with CRLF replaced by LF (TRUST 3)
    document: Document | None
    memory: Memory | None
    problems: tuple[Problem, ...] = ()


class State(StrEnum):
    CURRENT = "current"
    RECHECK = "recheck"
    UNKNOWN = "unknown"
    """Whether it still holds cannot be told here."""
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class EvidenceStatus(StrEnum):
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    MISSING = "missing"
    MOVED = "moved"
    """The path is gone, and the same content lies at another one."""
    UNVERIFIABLE = "unverifiable"


class Why(StrEnum):
    """Why a file's content cannot be compared here."""

    NO_GIT = "no-git"
    NO_COMMIT = "no-commit"
    NO_PATH = "no-path"
    """The commit is here, and the path was not in it."""
    SHALLOW = "shallow"
    ELSEWHERE = "elsewhere"
    """The file belongs to another repository."""
    SUBMODULE = "submodule"
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    HIDDEN = "hidden"
    """The file is a memory that this caller may not see."""


class Cause(StrEnum):
    """What a reason of a state report is about."""

    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    EVIDENCE = "evidence"
    TRIGGER = "trigger"
    NOTE = "note"
    """Said beside the state, and no reason for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceReport:
    """How one piece of evidence compares today; ``line_now`` is the line now, where it changed.

    ``by_arrival``: the commit that it names is not here, so the path was compared with what it was at
    the commit that brought the memory.
    """

    text: str  # the evidence as written
    status: EvidenceStatus
    line_now: str | None = None
    moved_to: str | None = None
    why: Why | None = None
    by_arrival: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReport:
    """A state, every reason for it, and beside each reason its cause."""

    state: State
    reasons: tuple[str, ...]  # memfs's own sentences; text of a repository escaped
    evidence: tuple[EvidenceReport, ...]
    causes: tuple[Cause, ...] = ()
    watched: EvidenceStatus | None = None  # of the path of `when PATH changes`

    def reasons_of(self, cause: Cause) -> tuple[str, ...]:
        """Return the reasons that have this cause."""
        return tuple(text for text, of in zip(self.reasons, self.causes, strict=False) if of is cause)
