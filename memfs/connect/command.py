"""The command line that an agent is given for memfs: which script, quoted how.

The environment's own script is named, never a bare ``memfs``: the agent's shell may have another
PATH, and a pyenv shim costs a tenth of a second a call.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from memfs.errors import SetupError

_OURS = re.compile(r"(?:^|/|'|\")memfs['\"]? hook [a-z-]+(?: \|\| true)?$")


def find_script(prefix: Path, started_as: Path) -> Path:
    """Return the script to name: the one of the environment at ``prefix``, else what was started.

    Raises :class:`SetupError` where neither can be run by itself.
    """
    for script in (prefix / "bin" / "memfs", Path(os.path.abspath(started_as))):
        if is_script(script) and script.stem != "__main__":
            return script
    raise SetupError(
        "this memfs has no script of its own that an agent could run",
        where=str(started_as),
        hint="install it (`pip install memfs-git`, `uv tool install memfs-git`), or name one with --command",
    )


def is_script(path: Path) -> bool:
    """Return whether ``path`` is a file that its user can run."""
    try:
        return stat.S_ISREG(path.stat().st_mode) and os.access(path, os.X_OK)
    except OSError:
        return False


def find_script_problem(script: Path) -> str | None:
    """Return what is unwise about naming ``script`` in settings that stay, or None."""
    parts = script.parts
    if "shims" in parts and (".pyenv" in parts or ".asdf" in parts or "mise" in parts):
        return "it is a version manager's shim: a tenth of a second a call, and another program in another folder"
    if ".cache" in parts or "Caches" in parts or parts[:2] == ("/", "tmp"):
        return "it lies in a folder that is cleaned up"
    return None


def hook_command(script: str, agent: str) -> str:
    """Return the shell command of a hook. It ends well when the script has gone away."""
    return f"{shlex.quote(script)} hook {agent} || true"


def is_hook_command(command: object, known: Sequence[str] = ()) -> bool:
    """Return whether ``command`` is a hook of memfs: by its shape, or one that was written before."""
    return isinstance(command, str) and (command in known or _OURS.search(command) is not None)
