"""Where memfs keeps what is the user's own: settings, state and cache (TRUST 8).

The home comes from the password database, never from ``$HOME`` or ``$XDG_*``: a project's settings
can set those for an agent's hooks. Surfaces make one :class:`Places` and pass it down.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

from memfs.errors import SetupError
from memfs.model.values import dataclass


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


def require_private_folder(folder: Path) -> Path:
    """Return ``folder``, made owner-only when it is missing (TRUST 8).

    Raises :class:`SetupError` when it is a symlink, another user's, or open to others: what lies in
    it could then be somebody else's word.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(folder)
    except OSError as error:
        raise SetupError(f"the folder cannot be used: {error.strerror}", where=str(folder)) from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise SetupError(
            "the folder is not the user's alone", where=str(folder), hint=f"run: chmod 700 {folder}, or delete it"
        )
    return folder
