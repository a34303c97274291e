"""What a merge of two commits would be, as files. Nothing is checked out, and nothing is written to the repository.

git merges in a folder of its own that borrows the objects: it has none of the repository's settings, attributes
or merge programs. Source: git-merge-tree(1), gitrepository-layout(5).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.git.process import Completed, run
from memfs.git.read import READ_SWITCHES, READ_TIMEOUT, git_environment, object_format
from memfs.git.snapshot import GitFiles, parse_blobs, parse_tree
from memfs.model.values import dataclass

_MAX_MERGED = 64 * 1024 * 1024  # bytes of files that git joined from two sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The files after a merge; ``conflicts`` are the paths that git cannot join, and then ``files`` is None."""

    files: GitFiles | None
    conflicts: tuple[str, ...] = ()


def merge_commits(tree: WorkTree, base: str, head: str) -> Merged:
    """Return the files that a merge of ``head`` into ``base`` gives.

    Without a result and without conflicts where git cannot tell (an older git, objects that are not here).
    """
    with tempfile.TemporaryDirectory(prefix="memfs-merge-") as folder:
        try:
            make_repository(Path(folder), tree)
            return _merge(Path(folder), tree, base, head)
        except (MemfsError, OSError, ValueError):
            return Merged(files=None)


def _merge(folder: Path, tree: WorkTree, base: str, head: str) -> Merged:
    done = run_in(
        folder, tree, "merge-tree", "--write-tree", "--allow-unrelated-histories", "--name-only", "-z", base, head
    )
    if done.returncode not in (0, 1):
        return Merged(files=None)
    name, _, rest = done.stdout.partition(b"\0")
    if done.returncode == 1:
        paths = rest.split(b"\0\0", 1)[0].split(b"\0")
        return Merged(files=None, conflicts=tuple(sorted({os.fsdecode(path) for path in paths if path})))
    listing = run_in(folder, tree, "ls-tree", "-r", "-l", "-z", "--full-tree", name.strip().decode("ascii")).stdout
    made = [f"{place.parent.name}{place.name}" for place in (folder / "objects").glob("??/*")]
    asked = "".join(f"{blob}\n" for blob in made).encode()
    raw = run_in(folder, tree, "cat-file", "--batch", input=asked).stdout if made else b""
    if len(raw) > _MAX_MERGED:
        return Merged(files=None)
    # What git joined is kept here: no object of the repository has it.
    return Merged(files=GitFiles(tree, None, entries=parse_tree(listing), contents=dict(parse_blobs(raw))))


def make_repository(folder: Path, tree: WorkTree) -> None:
    """Make an empty bare repository in ``folder`` that borrows the objects of ``tree``."""
    for name in ("objects/info", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    extensions = f"[extensions]\n\tobjectFormat = {object_format(tree)}\n"
    (folder / "config").write_text(f"[core]\n\trepositoryformatversion = 1\n\tbare = true\n{extensions}")
    objects = os.path.join(str(tree.common_dir), "objects")
    (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
    shallow = os.path.join(str(tree.common_dir), "shallow")
    if os.path.isfile(shallow):
        (folder / "shallow").write_bytes(Path(shallow).read_bytes())


def run_in(folder: Path, tree: WorkTree, *args: str, input: bytes | None = None) -> Completed:  # noqa: A002
    """Return how a git in ``folder`` ended: without any setting of the repository, the user or the machine."""
    environment = git_environment(os.environ) | {"GIT_DIR": str(folder), "GIT_ATTR_NOSYSTEM": "1"}
    argv = ["git", *READ_SWITCHES, "-c", "core.attributesFile=/dev/null", *args]
    return run(argv, cwd=tree.root, env=environment, input=input, timeout=READ_TIMEOUT, check=False)
