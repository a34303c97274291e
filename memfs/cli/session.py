"""What one run of a command has in hand: places, clock, streams, and how it speaks.

stdout is the answer, stderr everything else; ``--json`` prints one ASCII document with a
``schema`` field.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from memfs.disk.places import Places
from memfs.disk.told import is_news
from memfs.disk.worktree import printable
from memfs.errors import InvalidMemoryError, NotFoundError, UsageError
from memfs.model.values import dataclass, field

if TYPE_CHECKING:
    from datetime import datetime

    from memfs.model.scope import Caller
    from memfs.repository.repository import Repository


@dataclass(slots=True, kw_only=True)
class Session:
    """One run of a command. Only this object reads the clock and the standard streams."""

    places: Places
    cwd: Path
    today: date
    environ: Mapping[str, str]
    interactive: bool = False  # a person at a terminal answers questions
    color: bool = False
    terminal: bool = False  # a person sees what is written to stdout
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)

    @property
    def draws(self) -> bool:
        """Whether a person sees the answer on a terminal that can be drawn on."""
        return self.terminal and self.environ.get("TERM") != "dumb"

    @property
    def agent_home(self) -> Path:
        """The home in which coding agents look for their settings: ``$HOME``, as they do. No pin is there."""
        home = self.environ.get("HOME", "")
        return Path(home) if os.path.isabs(home) and os.path.isdir(home) else self.places.home

    def say(self, text: str = "") -> None:
        """Write one piece of the answer to stdout."""
        print(text, file=self.out)

    def note(self, text: str) -> None:
        """Write something that is not the answer to stderr, after what was answered so far."""
        self.out.flush()
        print(text, file=self.err)

    def advise(self, text: str) -> None:
        """Write a note about how memfs is set up: once a day for a person, each time for a program."""
        if not self.interactive or is_news(self.places, text, self.today):
            self.note(text)

    def emit(self, schema: str, payload: Mapping[str, Any]) -> None:
        """Write ``payload`` as one ASCII JSON document whose ``schema`` is ``memfs/SCHEMA/1``."""
        import json

        document = {"schema": f"memfs/{schema}/1", **payload}
        print(json.dumps(document, ensure_ascii=True, allow_nan=False, indent=2), file=self.out)

    def read_stdin(self) -> bytes:
        """Return all of standard input as bytes."""
        return sys.stdin.buffer.read()

    def now(self) -> datetime:
        """Return the time of day in UTC, for what is only information (a record's `at`)."""
        from datetime import UTC, datetime

        return datetime.now(UTC)

    def ask(self, question: str) -> str:
        """Return a person's answer to ``question``; empty at end of input."""
        print(question, end=" ", file=self.err, flush=True)
        return sys.stdin.readline().strip()

    def draw_nonce(self) -> str:
        """Return 16 random hexadecimal digits, which mark one bundle of recalled text (ADMISSION 6)."""
        return os.urandom(8).hex()  # what secrets.token_hex does, without its imports

    def open_repository(self) -> Repository:
        """Return the repository of the working directory. Raises UsageError where there is none."""
        from memfs.repository.repository import Repository

        repository = Repository.open(self.cwd, places=self.places, today=self.today)
        if not repository.is_made:
            self.note("this repository keeps no memories yet; `memfs init` makes it one")
        return repository

    def open_home(self, scope: str | None) -> Repository:
        """Return where a new memory of ``scope`` goes: a personal one into the user's own store, which is said."""
        from memfs.repository.named import PERSONAL
        from memfs.repository.stores import open_personal

        store = open_personal(self.places, self.today) if scope == PERSONAL else None
        if store is None or Path(os.path.realpath(self.cwd)).is_relative_to(os.path.realpath(store.tree.root)):
            return self.open_repository()
        self.note(f"into your personal store, {printable(str(store.tree.root))}")
        return store

    def open_each(self, names: Sequence[str], caller: Caller) -> list[tuple[Repository, list[str]]]:
        """Return each repository that has some of the memories ``names``, with those; without names, this one."""
        try:
            own = self.open_repository()
        except UsageError:
            if not names:
                raise
            own = None
        found: dict[Path, tuple[Repository, list[str]]] = {}
        for name in names:
            repository = own if own is not None and own.has(name, caller) else self.open_with(name, caller)
            found.setdefault(repository.tree.root, (repository, []))[1].append(name)
        if own is not None and not names:
            return [(own, [])]
        return list(found.values())

    def open_with(self, name: str, caller: Caller) -> Repository:
        """Return the repository that has the memory ``name``: this one, else the first of the user's stores, which is
        said."""
        from memfs.repository.named import PROJECT
        from memfs.repository.stores import Stores

        try:
            found = Stores.open(self.cwd, places=self.places, today=self.today).find(name, caller)
        except (NotFoundError, InvalidMemoryError):
            return self.open_repository()  # which says what is wrong with the name
        if found.store == PROJECT:
            return self.open_repository()
        self.note(f"from your store {printable(found.store)}, {printable(str(found.repository.tree.root))}")
        return found.repository
