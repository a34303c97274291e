"""What is asked and what is answered: the values of a recall."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from memfs.model.scope import Caller
from memfs.model.values import dataclass, field

if TYPE_CHECKING:
    from memfs.standing.assess import Assessment


class Advice(str):
    """A notice about how memfs is set up, which a person needs once a day and not with each answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question. ``work_path`` and ``topics`` say what the caller is working on.

    ``prompt`` says that nobody asked memfs: the text is what a person told an agent. Then a shell command
    finds nothing, and hits far below the best are not shown. ``brief`` asks for what a session should begin
    with: approved and current memories only. ``budget_bytes`` bounds what is shown, in whole memories.
    ``record`` notes what was shown. ``on`` is the day for which states are judged, where it is not today.
    """

    text: str
    caller: Caller = field(default_factory=Caller)
    limit: int = 5
    work_path: str | None = None
    topics: tuple[str, ...] = ()
    mode: str = "auto"  # "auto", "lexical", "hybrid"
    floor: bool = True
    prompt: bool = False
    brief: bool = False
    budget_bytes: int | None = None
    explain: bool = False
    record: bool = True
    on: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result. ``parts`` says how the score came about; the score is their fusion and factors.

    ``differs_from`` is the id of another current memory in the answer that is about the same and is older.
    """

    assessment: Assessment
    score: float
    parts: Mapping[str, float]
    store: str
    differs_from: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know beside the memory."""
        return (f"newer than {self.differs_from}, which is about the same",) if self.differs_from else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer, best first. ``unreadable`` counts files that this caller would see if they could be
    read, ``left_out`` hits that the budget cut off (of a brief, approved memories beyond the limit),
    ``others`` what a brief does not show because it is not approved or not current, ``withheld`` memories
    that match and that the read-time gate stops, ``strays`` files that match and are not memories,
    ``unsearched``, where nothing was found, the withheld memories that this caller may see."""

    hits: tuple[Hit, ...]
    unreadable: int = 0
    notices: tuple[str, ...] = ()
    left_out: int = 0
    others: int = 0
    withheld: int = 0
    strays: int = 0
    unsearched: int = 0
    mode: str = "lexical"

    def remarks(self) -> list[str]:
        """Return what the reader must know about memories that are not shown, one sentence each."""
        said = []
        if self.withheld:
            what = "memory matches and is" if self.withheld == 1 else "memories match and are"
            said.append(f"{self.withheld} {what} withheld; `memfs check` says why")
        if self.strays:
            what = "file matches and is not a memory" if self.strays == 1 else "files match and are not memories"
            said.append(f"{self.strays} {what}; `memfs check` says why")
        if self.unsearched and not self.hits and not self.withheld:
            what = "memory is" if self.unsearched == 1 else "memories are"
            said.append(f"{self.unsearched} {what} withheld and searched by id only; `memfs check` says why")
        return said
