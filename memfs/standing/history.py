"""When memories came into a history, and what a path was then: asked of git once for many (DESIGN 3)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from memfs.disk.worktree import WorkTree
from memfs.git.log import first_commits
from memfs.git.read import read_git

_LISTED_PATHS = 50  # more are asked for as the whole folder


def arrivals(tree: WorkTree, tips: Sequence[str], paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return memory path → blob → the oldest commit in the histories of ``tips`` that brought it there."""
    asked = paths if len(paths) <= _LISTED_PATHS else ("memories",)
    found: dict[str, dict[str, str]] = {}
    for (path, blob), commit in first_commits(tree, tips[0], asked, beside=tips[1:]).items():
        found.setdefault(path, {})[blob] = commit
    return found


def lost_commits(tree: WorkTree, tips: Sequence[str], commits: Collection[str]) -> bool:
    """Return whether one of ``commits`` is in the history of none of ``tips``."""
    names = sorted(set(commits))
    asked = "".join(f"{name}\n" for name in [*names, *(f"^{tip}" for tip in tips)]).encode()
    return bool(read_git(tree, "rev-list", "--max-count=1", "--stdin", input=asked, check=False).strip())


def known_commits(tree: WorkTree, names: Iterable[str]) -> Mapping[str, str | None]:
    """Return the full name of each commit that ``names`` (hex, perhaps shortened) stand for; None where not here."""
    wanted = sorted(set(names))
    if not wanted or tree.git_dir is None:
        return dict.fromkeys(wanted)
    asked = "".join(f"{name}^{{commit}}\n" for name in wanted).encode()
    raw = read_git(tree, "cat-file", "--batch-check=%(objectname) %(objecttype)", input=asked)
    found: dict[str, str | None] = {}
    for name, line in zip(wanted, raw.decode("ascii", "replace").split("\n"), strict=False):
        words = line.split(" ")
        found[name] = words[0] if len(words) == 2 and words[1] == "commit" else None
    return found


def history_mark(tree: WorkTree, tips: Sequence[str]) -> str:
    """Return something that changes when the histories of ``tips`` are other ones, or when objects arrive."""
    marks = list(tips)
    for name in ("FETCH_HEAD", "objects/pack", "packed-refs", "shallow"):
        try:
            marks.append(str(os.stat(os.path.join(tree.common_dir or "", name)).st_mtime_ns))
        except OSError:
            marks.append("")
    return " ".join(marks)
