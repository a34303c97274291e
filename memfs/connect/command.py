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

from memfs.connect.agents import AGENTS, AUTO
from memfs.errors import SetupError

_NO_PATH = "PYTHONPATH="
"""Empties the variable: a project may set it, and Python would import the project's files."""

_OURS = re.compile(
    r"(?:^|/|'|\"|\s)memfs['\"]? hook [a-z-]+(?: \|\| true)?$"
    r"|^(?:PYTHONPATH= )?(?:'(?:[^']|'\"'\"')*'|[^\s'\"]+) hook [a-z-]+ \|\| true$"
)


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


def own_scripts(prefix: Path, started_as: Path) -> frozenset[str]:
    """Return the real paths of the scripts that are this very memfs.

    ``prefix`` is the Python environment, ``started_as`` the first word of this process, which counts only as an
    absolute path: a relative one could name a file of the folder that the user is in.
    """
    scripts = [prefix / "bin" / "memfs", prefix / "bin" / "memfs-git", started_as]
    return frozenset(os.path.realpath(script) for script in scripts if script.is_absolute() and is_script(script))


def split_hook(command: str) -> tuple[str, str] | None:
    """Return (program, agent) of a command that has exactly the form which :func:`hook_command` writes, else None."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    words = words[1:] if words[:1] == [_NO_PATH] else words
    if len(words) < 3 or words[3:] not in ([], ["||", "true"]) or words[1] != "hook" or words[2] not in (*AGENTS, AUTO):
        return None
    return words[0], words[2]


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
    return f"{_NO_PATH} {shlex.quote(script)} hook {agent} || true"


def is_hook_command(command: object, known: Sequence[str] = ()) -> bool:
    """Return whether ``command`` is a hook of memfs: by its shape, or one that was written before."""
    return isinstance(command, str) and (command in known or _OURS.search(command) is not None)
