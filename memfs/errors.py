"""What can go wrong, one tree. Each class carries the exit code of the command line.

Errors carry data (what, where, what to do); only surfaces print them and exit.
"""

from __future__ import annotations

EXIT_YES = 0
EXIT_NO = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_INVALID_MEMORY = 4
EXIT_REFUSED = 5
EXIT_TRUST = 6
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class MemfsError(Exception):
    """Anything memfs refuses or cannot do.

    ``message`` is one plain sentence without the final stop's context; ``where`` names the place
    (a path, ``path:line:column``, a field); ``hint`` is the one thing to do about it. Text that
    came from a repository must be escaped before it is put into any of them.
    """

    exit_code = EXIT_BUG
    draft = ""
    """The name under which the text that was refused is kept as a draft."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class NotFoundError(MemfsError):
    """The answer is no: nothing of that name is here for this caller."""

    exit_code = EXIT_NO


class UsageError(MemfsError):
    """The command was called in a way that it cannot carry out."""

    exit_code = EXIT_USAGE


class SetupError(MemfsError):
    """The machine, git, a key or a lock does not let the command run."""

    exit_code = EXIT_ENVIRONMENT


class InvalidMemoryError(MemfsError):
    """A memory file or a draft does not have the form of DESIGN 3; ``reasons`` names each thing that is wrong."""

    exit_code = EXIT_INVALID_MEMORY

    def __init__(self, message: str, *, reasons: tuple[str, ...] = (), **context: str | None) -> None:
        super().__init__(message, **context)
        self.reasons = reasons


class RefusedError(MemfsError):
    """Admission rejected or held a draft; ``findings`` says by which rules, never the value."""

    exit_code = EXIT_REFUSED

    def __init__(self, message: str, *, findings: tuple[object, ...] = (), **context: str | None) -> None:
        super().__init__(message, **context)
        self.findings = findings


class TrustError(MemfsError):
    """An approval, keyring or pin does not hold; ``reason`` is a stable word of TRUST 6."""

    exit_code = EXIT_TRUST

    def __init__(self, message: str, *, reason: str | None = None, **context: str | None) -> None:
        super().__init__(message, **context)
        self.reason = reason
