"""Patterns that compile when they are first used.

A recall judges a handful of short notes in a fresh process; compiling every pattern of the rules there
would cost more than the recall itself.
"""

from __future__ import annotations

import re
from typing import Any


class _Lazy:
    """Each method of ``re.Pattern`` is taken from the compiled pattern when it is first asked for."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        self.__dict__[name] = value
        return value


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled at its first use."""
    return _Lazy(pattern, flags)  # type: ignore[return-value]
