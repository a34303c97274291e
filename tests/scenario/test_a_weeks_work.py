"""A team's week: what memories rest on lives through every way that work reaches the main branch.

Two people and a bare repository, by the commands that they type. No memory asks to be looked at again
before something that it rests on has really changed, and an approval given on a branch counts on main.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from people import approving
from scenario.test_two_people import Machine, join, two  # noqa: F401 - the fixture
from support import git

pytestmark = pytest.mark.slow

RETRY = """\
import time


def charge(card):
    for attempt in range(3):
        time.sleep(attempt)
"""
NEW = RETRY.replace("range(3)", "range(4)")


@pytest.fixture
def team(two: tuple[Machine, Machine]) -> tuple[Machine, Machine]:  # noqa: F811 - the fixture
    """Return Alice and Bob, who may both approve, and code on main that a release branch has too."""
    alice, bob = two
    join(alice, bob)
    (alice.root / "src").mkdir()
    (alice.root / "src/retry.py").write_text(RETRY)
    (alice.root / "docs/guide.md").write_text("# Guide\n\n## Deploy windows\n\nTuesdays.\n")
    alice.git("add", "-A")
    alice.git("commit", "-qm", "code")
    alice.git("branch", "release")
    alice.push()
    alice.git("push", "-q", "origin", "release")
    bob.pull()
    bob.git("fetch", "-q")
    return alice, bob


def remember_on_a_branch(alice: Machine) -> None:
    """Change code, remember what it says before it is committed, approve, and push the branch."""
    alice.git("switch", "-qc", "work")
    (alice.root / "src/retry.py").write_text(NEW)
    for memory_id, text, evidence, review in (
        ("retries", "A charge is tried four times, since the bank asked for it.", "src/retry.py",
         "when src/retry.py changes"),
        ("loop", "Waiting grows with each attempt; jitter was refused by operations.", "src/retry.py#L4-L6",
         "when src/retry.py changes"),
        ("windows", "The shop is released on Tuesdays only.", "docs/guide.md#Deploy windows", "on 2030-01-01"),
    ):  # fmt: skip
        alice.run(
            "remember", text, "--id", memory_id, "--kind", "decision",
            "--scope", "team", "--origin", "owner", "--evidence", evidence, "--review", review,
        )  # fmt: skip
    alice.git("add", "-A")
    alice.git("commit", "-qm", "Try four times")
    alice.trust("retries", "loop", "windows")
    alice.git("push", "-q", "origin", "work")


def fresh(machine: Machine, name: str, *options: str) -> Machine:
    """Return ``machine`` in a clone that has only what the server gives."""
    clone = Machine.__new__(Machine)
    clone.name, clone.home, clone.env = machine.name, machine.home, machine.env
    clone.root = machine.home / name
    shutil.rmtree(clone.root, ignore_errors=True)
    server = f"file://{machine.git('remote', 'get-url', 'origin')}"
    git(machine.home, "clone", "-q", *options, server, str(clone.root), env=machine.env)
    return clone


def says(machine: Machine) -> dict[str, tuple[str, bool]]:
    """Return state and approval of the three memories, as list tells them."""
    rows = machine.run("list", "--json").json["memories"]
    return {row["id"]: (row["state"], row["trusted"]) for row in rows if row["id"] in ("retries", "loop", "windows")}


GOOD = {"retries": ("current", True), "loop": ("current", True), "windows": ("current", True)}


def require_quiet(machine: Machine) -> None:
    """Require that every command says so: approved, current, nothing due, nothing to warn of."""
    assert says(machine) == GOOD
    assert json.loads(machine.run("due", "--json", code=1).out)["memories"] == []
    found = machine.run("check", "--json").json["results"]
    ours = [row for row in found if Path(row["path"]).stem in GOOD]
    assert [row for row in ours if row["level"] != "note"] == []
    bundle = machine.run("recall", "how often is a charge tried?").out
    assert "RECHECK" not in bundle


def merge(bob: Machine) -> None:
    bob.git("merge", "-q", "--no-ff", "-m", "Merge", "origin/work")


def squash(bob: Machine) -> None:
    bob.git("merge", "-q", "--squash", "origin/work")
    bob.git("commit", "-qm", "Try four times (#1)")


def rebase(bob: Machine) -> None:
    (bob.root / "other.txt").write_text("somebody was faster\n")
    bob.git("add", "-A")
    bob.git("commit", "-qm", "other")
    bob.git("switch", "-qc", "theirs", "origin/work")
    bob.git("rebase", "-q", "main")
    bob.git("switch", "-q", "main")
    bob.git("merge", "-q", "--ff-only", "theirs")
    bob.git("branch", "-qD", "theirs")


@pytest.mark.parametrize("way", [merge, squash, rebase])
def test_a_week_passes_without_one_false_alarm(team: tuple[Machine, Machine], way: Callable[[Machine], None]) -> None:
    alice, bob = team
    remember_on_a_branch(alice)
    require_quiet(alice)

    bob.git("fetch", "-q")
    bob.run("check", "--base", "main", "--commit", "origin/work")
    way(bob)
    bob.push()
    bob.git("push", "-q", "origin", ":work")
    require_quiet(fresh(bob, "after-the-merge"))

    # A release branch takes the work over.
    picked = bob.git("rev-list", "--reverse", "--no-merges", "origin/release..main", "--", "src", "memories", ".memfs")
    bob.git("switch", "-qc", "release", "origin/release")
    bob.git("cherry-pick", "--allow-empty", *picked.split())
    bob.git("push", "-q", "origin", "release")
    require_quiet(fresh(bob, "released", "--branch", "release"))
    bob.git("switch", "-q", "main")

    # CI has one commit, and a work tree has only some folders.
    require_quiet(fresh(bob, "shallow", "--depth", "1"))
    sparse = fresh(bob, "sparse", "--sparse")
    sparse.git("sparse-checkout", "set", "memories", ".memfs")
    assert not (sparse.root / "src").exists()
    require_quiet(sparse)

    # The file moves; nobody has to look at anything.
    bob.git("mv", "src/retry.py", "src/charging.py")
    bob.git("commit", "-qm", "Move")
    bob.push()
    moved = fresh(bob, "moved")
    require_quiet(moved)
    reasons = moved.run("show", "retries", "--json").json["memory"]["state_reasons"]
    assert "evidence src/retry.py moved to src/charging.py" in reasons


def test_a_person_says_that_a_memory_is_still_true_and_approves_it_in_one_go(team: tuple[Machine, Machine]) -> None:
    alice, bob = team
    remember_on_a_branch(alice)
    alice.git("switch", "-q", "main")
    alice.git("merge", "-q", "work")
    alice.push()
    bob.pull()
    bob.git("mv", "docs/guide.md", "docs/handbook.md")
    (bob.root / "src/retry.py").write_text(NEW.replace("range(4)", "range(5)"))
    bob.git("commit", "-qam", "Five times")
    assert {name: state for name, (state, _) in says(bob).items()} == {
        "retries": "recheck", "loop": "recheck", "windows": "current",
    }  # fmt: skip
    due = bob.run("due")
    assert "memfs verify ID" in due.err
    assert bob.run("due", "--ids").out.split() == ["loop", "retries"]

    shown = bob.type(
        "verify", "retries", "loop", "windows",
        answers=[
            ("Is retries still true?", "y"), ("Is loop still true?", "y"), ("Is windows still true?", "y"),
            *approving("retries", "loop", "windows"),
        ],
    )  # fmt: skip
    assert "range(4)" in shown
    assert "range(5)" in shown
    assert "docs/handbook.md#Deploy windows@text:" in shown
    bob.push()
    require_quiet(fresh(bob, "verified"))


def test_an_agent_that_verifies_prepares_a_branch_and_changes_nothing(team: tuple[Machine, Machine]) -> None:
    alice, _ = team
    remember_on_a_branch(alice)
    (alice.root / "src/retry.py").write_text(NEW.replace("range(4)", "range(5)"))
    alice.git("commit", "-qam", "Five times")
    alice.push()
    before = alice.git("rev-parse", "HEAD"), alice.git("status", "--porcelain")
    answer = alice.run("verify", "retries", "--json").json
    assert (alice.git("rev-parse", "HEAD"), alice.git("status", "--porcelain")) == before
    text = alice.git("show", f"{answer['branch']}:memories/team/retries.md")
    assert alice.git("rev-parse", "HEAD:src/retry.py")[:32] in text
    assert says(alice)["retries"] == ("recheck", True)


def test_blame_names_what_rests_on_a_file_before_it_is_changed(team: tuple[Machine, Machine]) -> None:
    alice, _ = team
    remember_on_a_branch(alice)
    lines = alice.run("blame", "src/retry.py").out.splitlines()
    assert lines[0].split() == ["L4-L6", "loop", "current,", "approved"]
    assert lines[1].strip() == "Waiting grows with each attempt; jitter was refused by operations."
    assert "rests on it" in lines[2]
    found = alice.run("blame", "src/retry.py", "--json").json["memories"]
    assert [(row["how"], row["lines"], row["memory"]["id"]) for row in found] == [
        ("rests-on", [4, 6], "loop"), ("rests-on", None, "retries"),
    ]  # fmt: skip
    alice.run("blame", "README.md", code=1)
