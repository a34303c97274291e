"""What the tests of the store share: the handed cases, made anew, and a work tree by its path."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.store.worktree import WorkTree, find_work_tree


@pytest.fixture
def make_case(shared: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a handed case in a new folder and returns the folder."""

    def make(name: str) -> Path:
        (script,) = (shared / "cases").glob(f"{name}-*/make.sh")
        folder = tmp_path / f"case{name}"
        subprocess.run(["bash", str(script), str(folder)], check=True, capture_output=True, stdin=subprocess.DEVNULL)
        return folder

    return make


@pytest.fixture
def tree(repo: Path) -> WorkTree:
    """Return the work tree of ``repo``."""
    return find_work_tree(repo)
