"""What git's attributes say about paths of one state, without checking anything out (gitattributes(5)).

git reads the attribute files from an index in a folder of its own: neither the repository's settings nor
``info/attributes`` of this machine count.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.git.merging import make_repository, run_in


def find_attributes(
    tree: WorkTree, files: Mapping[str, bytes], paths: Iterable[str]
) -> dict[tuple[str, str], str] | None:
    """Return (path, attribute) → value, where ``files`` are the ``.gitattributes`` by path.

    Unspecified attributes are left out. None where git cannot answer.
    """
    with tempfile.TemporaryDirectory(prefix="memfs-attributes-") as name:
        folder = Path(name)
        try:
            make_repository(folder, tree)
            lines = []
            for path, raw in files.items():
                blob = run_in(folder, tree, "hash-object", "-w", "--stdin", input=raw).stdout.strip()
                lines.append(b"100644 " + blob + b"\t" + path.encode("utf-8", "surrogateescape") + b"\0")
            run_in(folder, tree, "update-index", "-z", "--index-info", input=b"".join(lines))
            asked = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
            done = run_in(folder, tree, "check-attr", "--cached", "-z", "--stdin", "-a", input=asked)
        except (MemfsError, OSError):
            return None
    if done.returncode != 0:
        return None
    words = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return {(path, name): value for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=False)}
