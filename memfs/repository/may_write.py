"""May something be written here, now, on this caller's behalf? The one question of every writer.

It is asked before an editor opens and before a person is asked for fields, so that nobody types what cannot
be recorded. The commit asks again, under the lock, what can change in between.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memfs.disk.worktree import printable
from memfs.errors import RefusedError, SetupError, UsageError
from memfs.git.branches import require_target
from memfs.git.change import require_no_conflict
from memfs.git.conversion import refuse_filtered
from memfs.git.locks import wait_for_lock
from memfs.git.read import require_identity
from memfs.git.writing import WritingGit
from memfs.model.memory import Origin
from memfs.repository.named import store_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.disk.places import Places
    from memfs.disk.settings import RepositorySettings
    from memfs.disk.worktree import WorkTree


def require_writable(
    tree: WorkTree,
    places: Places,
    settings: RepositorySettings,
    origin: Origin,
    *,
    configuration: Mapping[str, str | None] | None,
) -> None:
    """Raise unless a memory can be recorded here now. ``configuration`` is git's.

    :class:`UsageError` while git is in the middle of something, without a branch, with conflicts left, where a
    filter would change the file, or without git; :class:`SetupError` without an identity, with a lock that
    stays, or where the folder may not be written; :class:`RefusedError` where the user's settings let no agent
    write.
    """
    require_agents_welcome(places, tree, origin)
    git = WritingGit(tree, configuration=configuration)
    require_target(tree, None, None)
    if not settings.sound:
        raise UsageError(
            f"this repository's settings cannot be read, so nothing is recorded: {settings.problems[0]}",
            hint="mend .memfs/config.yaml first",
        )
    for folder in (git.git_dir, tree.root):
        if not os.access(folder, os.W_OK):
            raise SetupError("this folder may not be written, so nothing is recorded", where=printable(folder))
    wait_for_lock(git.git_dir / "index.lock")
    require_no_conflict(git.read_index(())[1])
    require_identity(git.configuration())
    refuse_filtered(tree, ["memories/team/any.md"], read=lambda *args, **given: git.run(*args, **given).stdout)


def require_agents_welcome(places: Places, tree: WorkTree, origin: Origin) -> None:
    """Raise :class:`RefusedError` where an agent writes into a store that the user's settings close to agents."""
    if origin is not Origin.AGENT:
        return
    store = store_of(places, tree)
    if store is not None and not store.write:
        raise RefusedError(
            "your settings let no agent write into this store; nothing was written",
            where=printable(store.name),
            hint=f"a person can allow it: `write: true` for this store in {printable(places.config / 'config.yaml')}",
        )
