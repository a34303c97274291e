"""Which project a server on standard input and output serves. Agents start servers in many folders.

Looked at, in this order: what the client filled into ``--project``, Cursor's ``WORKSPACE_FOLDER_PATHS``, Claude
Code's ``CLAUDE_PROJECT_DIR``, the roots that the client names when it is asked, the folder of the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memfs.disk.worktree import find_work_tree
from memfs.errors import MemfsError

_PLUGIN_ROOTS = ("COPILOT_PLUGIN_ROOT", "PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")


def find_start(
    cwd: Path, environ: Mapping[str, str], *, given: str | None = None, roots: Sequence[str] = (), client: str = ""
) -> Path:
    """Return the first folder with memories, else the first inside a repository, else ``cwd``."""
    folders = list(dict.fromkeys(_candidates(cwd, environ, given=given, roots=roots, client=client)))
    found = next((folder for folder in folders if has_memories(folder)), None)
    return found or next((folder for folder in folders if _root(folder) is not None), cwd)


def has_memories(folder: Path) -> bool:
    """Return whether ``folder`` is in a repository that has memories or is set up for them."""
    root = _root(folder)
    return root is not None and ((root / "memories").is_dir() or (root / ".memfs").is_dir())


def _candidates(
    cwd: Path, environ: Mapping[str, str], *, given: str | None, roots: Sequence[str], client: str
) -> Iterator[Path]:
    # A variable that the client did not fill in is no folder.
    named = [given or "", *environ.get("WORKSPACE_FOLDER_PATHS", "").split(",")]
    if client in ("", "claude-code"):  # others inherit it from a Claude Code that they were started by
        named.append(environ.get("CLAUDE_PROJECT_DIR", ""))
    named += [folder for root in roots if (folder := _path_of(root))]
    yield from (Path(folder) for folder in map(str.strip, named) if os.path.isabs(folder))
    yield cwd
    if str(cwd) in {environ.get(name) for name in _PLUGIN_ROOTS}:
        # Copilot starts a plugin's server in the plugin's own folder and says nowhere which project it is in;
        # its own working directory does, where the system shows that.
        try:
            yield Path(os.readlink(f"/proc/{os.getppid()}/cwd"))
        except OSError:
            return


def _path_of(root: str) -> str:
    parts = urlsplit(root)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else ""


def _root(folder: Path) -> Path | None:
    try:
        return find_work_tree(folder).root
    except (MemfsError, OSError):
        return None
