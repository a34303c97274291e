"""On whose behalf a call is made, and what it is answered with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from memfs.disk.places import Places
from memfs.errors import UsageError
from memfs.model.scope import Caller
from memfs.model.values import dataclass, field
from memfs.render.escape import show_line
from memfs.repository.named import own_settings
from memfs.repository.repository import Repository
from memfs.repository.stores import OffError, Stores

STDIO = "stdio"
"""The name, in place of a key's, of the one user of a server on standard input and output."""

_CLIENT = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """On whose behalf a call is made, and what may be done for them."""

    places: Places
    start: Path  # the folder that the stores are looked for from
    today: Callable[[], date]
    caller: Caller = field(default_factory=Caller)
    write: bool = False
    key: str = STDIO  # the name of the key that was shown, for the audit log
    environ: Mapping[str, str] = field(default_factory=dict)  # of the user, for pushing a proposal

    @property
    def is_shared(self) -> bool:
        """Whether the call comes with a key over HTTP, from somebody who has no work tree here."""
        return self.key != STDIO

    def stores(self) -> Stores:
        """Return all stores. Raises :class:`UsageError` where there is none to look into."""
        stores = Stores.open(self.start, places=self.places, today=self.today())
        if isinstance(stores.missing, OffError):
            raise stores.missing
        if not stores.stores:
            raise UsageError(
                f"there is no memory repository at {show_line(str(self.start))}, so nothing could be looked up",
                hint="start the server in the project: memfs mcp --project FOLDER, with the client's own variable",
            )
        return stores

    def repository(self) -> Repository:
        """Return the project's own repository. Raises :class:`UsageError` where there is none, or memfs is off."""
        settings = own_settings(self.places, [])
        if settings is not None and settings.is_off(self.start):
            raise OffError
        return Repository.open(self.start, places=self.places, today=self.today())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call is answered with. ``data`` has the same framed text, and facts without text."""

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False

    @property
    def data(self) -> dict[str, Any]:
        return {"text": self.text, **self.facts}


def client_name(name: str | None) -> str:
    """Return a client's own name for itself as an author: a few safe letters, whatever it sent."""
    return _CLIENT.sub("-", name or "")[:40].strip("-.") or "unknown-client"
