"""Which file has this id: the one place that answers (DESIGN 3).

An id may be given as the path of its file, from any folder above it, or as the title that it was made from.
Files that a caller may not see are not found, and not spoken of. Two files of one id are never chosen between
in silence: who reads is shown all of them, and who writes is asked for the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from memfs.disk.files import read_file, scan_memories
from memfs.errors import InvalidMemoryError, NotFoundError, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile
from memfs.model.reader import id_of_path, read_memory
from memfs.model.scope import is_seen_with, scope_of_path
from memfs.model.slugs import is_id, slug_of_title
from memfs.render.escape import show_name

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree
    from memfs.model.scope import Caller
    from memfs.sight import Sight


def find_files(tree: WorkTree, sight: Sight, name: str, caller: Caller) -> tuple[MemoryFile, ...]:
    """Return the files of the id or path ``name`` that ``caller`` may see: those in a scope's folder first.

    Raises :class:`NotFoundError` with the same words whether there is none or none for this caller.
    """
    paths = sorted(
        find_paths(tree, name, sight.for_caller(caller)),
        key=lambda path: (scope_of_path(path) is None, path),
    )
    found = []
    for path in paths:
        try:
            found.append(read_memory(path, read_file(tree, path)))
        except InvalidMemoryError:
            if len(paths) == 1:
                raise
    if not found:
        visible = (entry.path for entry in scan_memories(tree).entries if sight.sees_path(caller, entry.path))
        raise unknown(name, map(id_of_path, visible))
    return tuple(found)


def find_paths(tree: WorkTree, name: str, sees: Callable[[str], bool]) -> list[str]:
    """Return the paths of the memory files whose id, path or title is ``name``, of those that ``sees`` allows."""
    wanted = name.removeprefix("./").removesuffix(".md")
    paths = [entry.path for entry in scan_memories(tree).entries if sees(entry.path)]
    found = [path for path in paths if path == name or f"/{path}".endswith(f"/{wanted}.md")]
    if not found and not is_id(wanted) and "/" not in wanted and wanted.strip():
        slug = slug_of_title(wanted, taken=())
        found = [path for path in paths if id_of_path(path) == slug]
    return found


def find_ids(tree: WorkTree, names: Iterable[str], sees: Callable[[str], bool]) -> list[str]:
    """Return the id that each of ``names`` (ids, paths or titles) means; one that no file has stays as it is, for
    the approval of a deleted file can be withdrawn too."""
    return [
        next(iter({id_of_path(path) for path in find_paths(tree, name, sees)}), name) if not is_id(name) else name
        for name in names
    ]


def require_one(files: Sequence[MemoryFile]) -> MemoryFile:
    """Return the only one of ``files``. Raises :class:`UsageError` that names both where there are two."""
    if len(files) > 1:
        raise UsageError(two_files(files), hint="give the path in place of the id, or `memfs rename PATH NEW-ID`")
    return files[0]


def require_heir(tree: WorkTree, scope: str, old_ids: Iterable[str], sees: Callable[[str], bool]) -> None:
    """Raise :class:`InvalidMemoryError` unless all readers of the memories ``old_ids`` see one of ``scope``.

    A file for which ``sees`` is false is not spoken of.
    """
    for path in (path for old in old_ids for path in find_paths(tree, old, sees)):
        was = scope_of_path(path)
        if was is not None and not is_seen_with(scope, was):
            raise InvalidMemoryError(
                f"a memory for {scope} cannot replace {_shown(path)}: not everybody who sees that one would see it",
                where="supersedes",
                hint=f"give it the scope {was}, or let it replace nothing",
            )


def two_files(files: Sequence[MemoryFile]) -> str:
    """Say that several files have one id."""
    return f"{len(files)} files have this id: {', '.join(map(_shown_path, (file.path for file in files)))}"


def unknown(name: str, visible: Iterable[str] = ()) -> NotFoundError:
    """Return the error for an id that is not here, or not for this caller; ``visible`` are the ids that are."""
    from difflib import get_close_matches

    near = get_close_matches(name[:100], [one for one in visible if one], n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "`memfs list` shows what there is"
    if "/" in name and not name.startswith("memories/"):
        hint = "a memory is named by its id; `memfs blame PATH` lists those that rest on a file"
    return NotFoundError("no memory of that id is here for this caller", where=_shown(name), hint=hint)


def _shown_path(path: str) -> str:
    return path if scope_of_path(path) is not None else show_name(path)


def _shown(text: str) -> str:
    return escape_hidden(text, single_line=True)
