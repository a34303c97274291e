"""Where memfs keeps what is the user's own: settings, state and cache (TRUST 8).

The home comes from the password database, never from ``$HOME`` or ``$XDG_*``: a project's settings
can set those for an agent's hooks. Surfaces make one :class:`Places` and pass it down.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The user's folders. None of them is created by being named."""

    home: Path

    @property
    def config(self) -> Path:
        return self.home / ".config" / "memfs"

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "memfs"

    @property
    def cache(self) -> Path:
        return self.home / ".cache" / "memfs"

    @property
    def share(self) -> Path:
        return self.home / ".local" / "share" / "memfs"


def find_places() -> Places:
    """Return the places of the user who runs this process, from the password database."""
    return Places(home=Path(pwd.getpwuid(os.getuid()).pw_dir))
