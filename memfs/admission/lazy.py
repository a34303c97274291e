"""Patterns that compile when they are first used.

A recall judges a handful of short notes in a fresh process; compiling every pattern of the rules there
would cost more than the recall itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator


class LazyPattern:
    """A regular expression that is compiled at its first use; the methods are those of ``re.Pattern``."""

    __slots__ = ("_compiled", "_flags", "pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        return self._compiled

    def search(self, text: str) -> re.Match[str] | None:
        return (self._compiled or self.compiled()).search(text)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        return (self._compiled or self.compiled()).match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return (self._compiled or self.compiled()).fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return (self._compiled or self.compiled()).finditer(text)

    def findall(self, text: str) -> list[str]:
        """Return what the pattern matches; without groups, ``re`` answers the same by itself."""
        pattern = self._compiled or self.compiled()
        return [match.group() for match in pattern.finditer(text)] if pattern.groups else pattern.findall(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        return (self._compiled or self.compiled()).sub(new, text)

    def split(self, text: str) -> list[str]:
        return (self._compiled or self.compiled()).split(text)
