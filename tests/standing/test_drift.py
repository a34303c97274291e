"""What a change of other files does to memories: told by state, at the changed line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from indexes import write_memory
from support import git

from memfs.disk.worktree import find_work_tree
from memfs.git.snapshot import GitFiles, WorkFiles
from memfs.model.memory import MemoryFile
from memfs.standing.drift import Drift, find_drift
from memfs.standing.tie import Knot

TODAY = date(2027, 3, 1)
RETRY = "import time\n\n\ndef charge(card):\n    for attempt in range(3):\n        time.sleep(attempt)\n"


@pytest.fixture
def shop(repo: Path) -> Path:
    """Return a repository with code and its main branch."""
    for path, text in {
        "src/retry.py": RETRY,
        "docs/guide.md": "# Guide\n\n## Windows\n\nTuesdays.\n\n## Other\n\nText.\n",
        "package.json": '{\n  "dependencies": {\n    "left-pad": "^1.0.0"\n  }\n}\n',
        "docs/my notes.md": "Notes.\n",
    }.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "code")
    return repo


def keep(root: Path, memory_id: str, *evidence: str, **more: str) -> None:
    """Write a memory that rests on ``evidence``, and commit it."""
    knot = Knot(find_work_tree(root), scope="team")
    tied = ", ".join(f'"{knot.tie(text).text}"' for text in evidence or ("https://example.com/x",))
    write_memory(root, memory_id, f"The statement of {memory_id}.", evidence=f"[{tied}]", **more)
    git(root, "add", "-A")
    git(root, "commit", "-qm", memory_id)


def approvers(file: MemoryFile) -> tuple[str, ...] | None:
    return ("alice",) if file.id != "unapproved" else None


def drift(root: Path, *, work: bool = False, since: str = "main") -> Sequence[Drift]:
    tree = find_work_tree(root)
    base, head = git(root, "rev-parse", since), git(root, "rev-parse", "HEAD")
    now = WorkFiles(tree) if work else GitFiles(tree, head)
    return find_drift(GitFiles(tree, base), now, tips=(base, head), today=TODAY, people=approvers)


def change(root: Path, path: str, text: str | None) -> None:
    if git(root, "branch", "--show-current") == "main":
        git(root, "switch", "-qc", "work")
    if text is None:
        (root / path).unlink()
    else:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change")


def told(found: Sequence[Drift]) -> list[tuple[str, str, str, int | None]]:
    return [(one.turn.value, one.memory_id, one.changed, one.line) for one in found]


def test_changed_code_names_the_memory_its_approver_its_line_and_the_command(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py", review_trigger="when src/retry.py changes")
    change(shop, "src/retry.py", RETRY.replace("range(3)", "range(5)"))
    (one,) = drift(shop)
    assert told([one]) == [("makes-stale", "retries", "src/retry.py", 5)]
    assert (one.statement, one.people, one.command) == (
        "The statement of retries.", ("alice",), "memfs verify retries",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        RETRY.replace("    for", "    # as the contract says\n    for"),
        RETRY.replace("range(3)", "range( 3 )"),
        "import os\n" + RETRY,
        RETRY + "\n\ndef other():\n    pass\n",
    ],
)
def test_comments_blanks_and_work_elsewhere_are_silent_for_a_part(shop: Path, text: str) -> None:
    keep(shop, "retries", "src/retry.py#L4-L6", review_trigger="when src/retry.py changes")
    change(shop, "src/retry.py", text)
    assert drift(shop) == ()


def test_a_changed_part_is_told_at_the_line_that_changed(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py#L4-L6")
    keep(shop, "windows", "docs/guide.md#Windows")
    change(shop, "src/retry.py", "import os\n" + RETRY.replace("range(3)", "range(5)"))
    change(shop, "docs/guide.md", "# Guide\n\n## Windows\n\nFridays.\n\n## Other\n\nText.\n")
    assert told(drift(shop)) == [
        ("makes-stale", "windows", "docs/guide.md", 5),
        ("makes-stale", "retries", "src/retry.py", 6),
    ]


def test_a_deleted_file_is_gone_and_a_renamed_one_has_moved(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py")
    keep(shop, "windows", "docs/guide.md")
    change(shop, "src/retry.py", None)
    git(shop, "mv", "docs/guide.md", "docs/handbook.md")
    git(shop, "commit", "-qm", "move")
    found = drift(shop)
    assert told(found) == [("moved", "windows", "docs/handbook.md", 1), ("gone", "retries", "src/retry.py", None)]
    assert found[0].moved_to == "docs/handbook.md"


def test_a_file_that_moved_and_then_changes_is_gone(shop: Path) -> None:
    keep(shop, "windows", "docs/guide.md")
    git(shop, "mv", "docs/guide.md", "docs/handbook.md")
    git(shop, "commit", "-qm", "move")
    change(shop, "docs/handbook.md", "Other.\n")
    assert told(drift(shop)) == [("gone", "windows", "docs/handbook.md", 1)]


def test_a_change_that_restores_what_was_recorded_heals(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py")
    (shop / "src/retry.py").write_text("broken\n")
    git(shop, "commit", "-qam", "break")
    change(shop, "src/retry.py", RETRY)
    assert told(drift(shop)) == [("heals", "retries", "src/retry.py", 1)]


def test_a_memory_that_was_due_already_is_no_news(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py", review_trigger="on 2027-01-01")
    change(shop, "src/retry.py", "other\n")
    assert drift(shop) == ()


def test_a_version_that_is_reached_fires_at_the_line_of_the_manifest(shop: Path) -> None:
    keep(shop, "padding", review_trigger="when left-pad >= 2")
    change(shop, "package.json", '{\n  "dependencies": {\n    "left-pad": "^2.0.0"\n  }\n}\n')
    assert told(drift(shop)) == [("trigger-fires", "padding", "package.json", 3)]


def test_an_approved_memory_that_applies_to_a_touched_file_is_shown(shop: Path) -> None:
    keep(shop, "ledger", applies_to='["services/ledger/**"]')
    keep(shop, "unapproved", applies_to='["services/ledger/**"]')
    change(shop, "services/ledger/rows.py", "def update(): ...\n")
    found = drift(shop)
    assert told(found) == [("applies-here", "ledger", "services/ledger/rows.py", 1)]
    assert found[0].command == ""


def test_memories_that_the_change_edits_or_that_are_superseded_are_left_to_the_other_rules(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py")
    keep(shop, "old", "src/retry.py")
    keep(shop, "new", supersedes="[old]")
    change(shop, "src/retry.py", "other\n")
    keep(shop, "retries", "src/retry.py")
    assert drift(shop) == ()


def test_an_unapproved_successor_does_not_hide_what_happens_to_an_approved_memory(shop: Path) -> None:
    keep(shop, "old", "src/retry.py")
    keep(shop, "unapproved", supersedes="[old]")
    change(shop, "src/retry.py", "other\n")
    assert [one[1] for one in told(drift(shop))] == ["old"]


def test_a_path_with_blanks_is_found(shop: Path) -> None:
    keep(shop, "notes", "docs/my notes.md")
    change(shop, "docs/my notes.md", "Other.\n")
    assert told(drift(shop)) == [("makes-stale", "notes", "docs/my notes.md", 1)]


def test_the_work_tree_can_be_the_head(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py")
    (shop / "src/retry.py").write_text(RETRY.replace("3", "5"))
    assert told(drift(shop, work=True)) == [("makes-stale", "retries", "src/retry.py", 5)]


def test_who_may_not_see_a_memory_is_not_told_of_it(shop: Path) -> None:
    keep(shop, "retries", "src/retry.py")
    change(shop, "src/retry.py", "other\n")
    tree = find_work_tree(shop)
    base, head = git(shop, "rev-parse", "main"), git(shop, "rev-parse", "HEAD")
    found = find_drift(
        GitFiles(tree, base), GitFiles(tree, head), tips=(base, head), today=TODAY, people=approvers,
        sees_path=lambda _path: False,
    )  # fmt: skip
    assert found == ()
