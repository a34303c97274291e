"""The values of writing: what is to be remembered, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memfs.errors import RefusedError
from memfs.model.memory import FrontValue, MemoryFile, Origin
from memfs.model.values import dataclass, field

if TYPE_CHECKING:
    from memfs.admission.gate import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftText:
    """What a person or an agent wants remembered, as text, before anything is checked.

    ``front`` contains the fields of the memory format except ``origin`` and ``author``: those come
    from the command's caller (ADMISSION 1). ``at_hand`` says that whoever gave the text still has it (an
    argument of a command, a tool call): a wrong field is then an error, and no draft is kept for it.
    """

    body: str
    origin: Origin
    front: Mapping[str, FrontValue] = field(default_factory=dict)
    author: str | None = None
    id: str | None = None
    allow: Mapping[str, str] = field(default_factory=dict)
    at_hand: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A written memory: the file as it is now, the commit that contains it, what the gate warned of."""

    file: MemoryFile
    commit: str | None
    decision: Decision
    notices: tuple[str, ...] = ()
    similar: tuple[tuple[str, str], ...] = ()  # id, "same" | "near" | "contradicts"


class HeldError(RefusedError):
    """The gate keeps a draft back: it may be kept as a draft with its author, not in the repository."""


class TwiceError(RefusedError):
    """A memory of the same scope says the same already."""

    def __init__(self, other: str) -> None:
        super().__init__(
            "this memory says the same already; nothing was written",
            where=other,
            hint=f"`memfs show {other}` prints it, `memfs edit {other}` changes it, --again records the text twice",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """How a change is committed: under which ``subject`` ("": memfs's own), or not at all."""

    subject: str = ""
    wanted: bool = True


ONE_COMMIT = Commit()
"""A commit with the subject that memfs gives it."""
