"""What ``memfs check`` found: levels, results, the report. Pure.

Messages and paths are memfs's own words plus escaped text of the repository: whoever makes a
:class:`Result` escapes first (:func:`plain`), and every form escapes again for its own syntax.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256

from memfs.model.values import dataclass

MAX_MESSAGE = 500
"""Longest message in characters; text of a repository inside one is cut to fit."""


class Level(StrEnum):
    """How much a result matters: an ``error`` fails the check, a ``warning`` only with ``--strict``."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One broken rule at one place. ``path`` is posix and relative; empty for the whole repository."""

    rule: str
    level: Level
    message: str
    path: str = ""
    line: int | None = None  # 1-based
    column: int | None = None  # 1-based, characters
    fix: str | None = None  # the one thing to do, for this place
    fixable: bool = False  # `memfs check --fix` does it
    ids: tuple[str, ...] = ()  # the memories that it is about, where they are not the one at ``path``
    others: tuple[str, ...] = ()  # paths of other memories that the message names

    @property
    def text(self) -> str:
        """The message, and what to do about it."""
        return f"{self.message} {self.fix}" if self.fix else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that one run of ``memfs check`` has to say."""

    results: tuple[Result, ...]
    files: int  # memory files that were looked at
    cached: int = 0  # of those, files whose own result was known from an earlier run
    fixed: tuple[str, ...] = ()  # paths that --fix rewrote
    notices: tuple[str, ...] = ()  # what the reader must know about how it was judged
    fail_on: Level = Level.ERROR
    withheld: tuple[Level, ...] = ()  # of results about memories that this user may not read

    def count(self, level: Level) -> int:
        """Return how many results have ``level``."""
        return sum(result.level is level for result in self.results)

    def passed(self, *, strict: bool = False) -> bool:
        """Return whether nothing failed, what is withheld included; with ``strict`` a warning fails too."""
        levels = (*self.withheld, *(result.level for result in self.results))
        return not any(self._fails(level) or (strict and level is Level.WARNING) for level in levels)

    def fails(self, result: Result) -> bool:
        """Return whether a result of this level fails the run."""
        return self._fails(result.level)

    def _fails(self, level: Level) -> bool:
        order = list(Level)
        return order.index(level) <= order.index(self.fail_on)


def fingerprint(result: Result) -> str:
    """Return a name of the result that stays while the text round it changes: without line and column."""
    named = "\0".join((result.rule, result.path, result.message))
    return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def sort_results(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return ``results`` without repeats, by path, place and rule; the whole repository first."""
    unique = dict.fromkeys(results)
    return tuple(sorted(unique, key=lambda r: (r.path, r.line or 0, r.column or 0, r.rule, r.message)))
