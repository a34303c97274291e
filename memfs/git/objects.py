"""Old texts, read from the object database in this process by GitPython: the one door to it.

Where many versions of one file are compared, as when an approver is shown what changed since the last
approval, a process for each would take longer. Nothing is believed that does not hash to its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memfs.errors import SetupError
from memfs.git.process import find_program
from memfs.git.read import blob_id, object_format, read_blob

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree

MAX_OLD_TEXT = 16 * 1024 * 1024


def read_old_blobs(tree: WorkTree, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of those blobs of ``names`` that are here and not too large."""
    database = _open_database(tree)
    for name in names:
        raw = _read(database, name) if database is not None else None
        if raw is None:  # SHA-256, or packed in a way that GitPython does not read
            try:
                raw = read_blob(tree, name, limit=MAX_OLD_TEXT)
            except SetupError:
                continue
        yield name, raw


def _open_database(tree: WorkTree) -> Any:
    if tree.common_dir is None or object_format(tree) != "sha1":
        return None
    program = find_program("git")
    if program is None:
        return None
    # GitPython asks git for its version when it is loaded, with the program and variables that it finds.
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GIT_")}
    os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = program
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"
    try:
        from git.db import GitDB
    except ImportError:
        return None
    finally:
        del os.environ["GIT_PYTHON_GIT_EXECUTABLE"], os.environ["GIT_PYTHON_REFRESH"]
        os.environ.update(kept)
    return GitDB(str(tree.common_dir / "objects"))


def _read(database: Any, name: str) -> bytes | None:
    try:
        stream = database.stream(bytes.fromhex(name))
        if stream.type != b"blob" or stream.size > MAX_OLD_TEXT:
            return None
        raw = bytes(stream.read())
    except Exception:  # noqa: BLE001 - a damaged or unknown object: git itself is asked
        return None
    return raw if blob_id(raw) == name else None
