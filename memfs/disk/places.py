"""Where memfs keeps what is the user's own: settings, state and cache (TRUST 8).

The home comes from the password database, never from ``$HOME`` or ``$XDG_*``: a project's settings
can set those for an agent's hooks. Surfaces make one :class:`Places` and pass it down.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from memfs.model.values import dataclass

_NOWHERE = Path(os.devnull)  # nothing can be below it: every read finds nothing, every write is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The user's folders. None of them is created by being named."""

    home: Path

    @property
    def is_off(self) -> bool:
        """Whether this user has no home folder, so that nothing of memfs's own can be kept."""
        return self.home == _NOWHERE

    def has_settings(self) -> bool:
        """Return whether there may be a settings file; one that cannot be looked at is one."""
        try:
            os.stat(self.config / "config.yaml")
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            pass
        return True

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
    """Return the places of the user who runs this process, from the password database.

    A user without a home folder there (a number that a container was started with) has places that are off: nothing
    is kept for them, no pin and no setting is read, and everything else works.
    """
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        home = ""
    return Places(home=Path(home) if os.path.isabs(home) else _NOWHERE)
