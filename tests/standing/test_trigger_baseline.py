"""`when PATH changes`: against what the path is held, and that nobody can quietly move that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git

PATH = "memories/team/two-workers.md"


@pytest.fixture
def fired(repo: Path, memfs: Callable[..., Run]) -> Path:
    """Return a repository whose memory's trigger has fired."""
    (repo / "support.md").write_text("Two workers.\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "support")
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    run = memfs(
        "remember", "Deploys need two workers.", "--id", "two-workers", "--kind", "decision", "--scope", "team",
        "--origin", "owner", "--evidence", "https://example.com/x", "--review", "when support.md changes", cwd=repo,
    )  # fmt: skip
    assert run.code == 0, run.err
    (repo / "support.md").write_text("One worker.\n")
    git(repo, "commit", "-qam", "one worker")
    return repo


@pytest.fixture
def state_of(memfs: Callable[..., Run], tmp_path: Path) -> Callable[[Path], tuple[str, str]]:
    """Return a function that asks for the memory's state with a home (and cache) of its own each time."""
    asked = 0

    def ask(where: Path) -> tuple[str, str]:
        nonlocal asked
        asked += 1
        home = tmp_path / f"home-{asked}"
        home.mkdir()
        memory = memfs("show", "two-workers", "--json", cwd=where, home=home).json["memory"]
        return memory["state"], "; ".join(memory["state_reasons"])

    return ask


def test_a_changed_path_makes_the_memory_due(fired: Path, state_of: Callable[[Path], tuple[str, str]]) -> None:
    assert state_of(fired)[0] == "recheck"


def test_a_change_of_mode_does_not_make_a_fired_trigger_quiet(
    fired: Path, state_of: Callable[[Path], tuple[str, str]]
) -> None:
    git(fired, "update-index", "--chmod=+x", PATH)
    git(fired, "commit", "-qm", "mode")
    assert state_of(fired)[0] == "recheck"


def test_taking_the_memory_out_and_putting_it_back_does_not_make_a_fired_trigger_quiet(
    fired: Path, state_of: Callable[[Path], tuple[str, str]]
) -> None:
    text = (fired / PATH).read_text()
    git(fired, "rm", "-q", PATH)
    git(fired, "commit", "-qm", "out")
    (fired / PATH).parent.mkdir(parents=True, exist_ok=True)
    (fired / PATH).write_text(text)
    git(fired, "add", PATH)
    git(fired, "commit", "-qm", "in")
    assert state_of(fired)[0] == "recheck"


def test_an_uncommitted_edit_does_not_make_a_fired_trigger_quiet(
    fired: Path, state_of: Callable[[Path], tuple[str, str]]
) -> None:
    (fired / PATH).write_text((fired / PATH).read_text().replace("two workers.", "three workers."))
    assert state_of(fired)[0] == "recheck"


def test_a_committed_edit_starts_anew(
    fired: Path, memfs: Callable[..., Run], state_of: Callable[[Path], tuple[str, str]]
) -> None:
    assert memfs("edit", "two-workers", "Deploys need one worker.", cwd=fired).code == 0
    assert state_of(fired)[0] == "current"
    (fired / "support.md").write_text("No worker.\n")
    assert state_of(fired)[0] == "recheck"


def test_a_shallow_clone_that_cannot_tell_says_so(
    fired: Path, tmp_path: Path, state_of: Callable[[Path], tuple[str, str]]
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{fired}", "shallow")
    state, reasons = state_of(tmp_path / "shallow")
    assert state == "unknown"
    assert "cannot be told" in reasons
    assert "git fetch --unshallow" in reasons
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert "support.md changed since" in state_of(tmp_path / "shallow")[1]


def test_a_merge_keeps_the_first_commit_of_the_text(fired: Path, state_of: Callable[[Path], tuple[str, str]]) -> None:
    git(fired, "checkout", "-qb", "side", "HEAD~1")
    (fired / "other.md").write_text("x\n")
    git(fired, "add", "other.md")
    git(fired, "commit", "-qm", "side")
    git(fired, "checkout", "-q", "main")
    git(fired, "merge", "-q", "--no-edit", "side")
    assert state_of(fired)[0] == "recheck"
