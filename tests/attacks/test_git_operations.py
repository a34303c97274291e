"""Twenty-six ordinary git operations between an approval and its reader: the approval lives through
all of them (TRUST 1, trust cases 18-29), and through none that changes the text."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from people import Person, Team, memory_text, sees_all
from support import git

Operation = Callable[[Team, Path], Team]
MESSAGE = "Write b"


@pytest.fixture
def topic(team: Team, bob: Person) -> Team:
    """Return the team on main, with a branch ``topic`` that adds and approves b."""
    team.git("switch", "-qc", "topic")
    team.write("b", memory_text("Written on a branch."))
    team.commit(MESSAGE)
    team.approve(bob, "b")
    team.git("switch", "-q", "main")
    return team


def move_main(team: Team) -> None:
    (team.root / "other.txt").write_text("work\n")
    team.commit("other work")


def fast_forward(team: Team, _: Path) -> Team:
    team.git("merge", "-q", "--ff-only", "topic")
    return team


def merge_commit(team: Team, _: Path) -> Team:
    move_main(team)
    team.git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    return team


def squash_default_message(team: Team, _: Path) -> Team:
    team.git("merge", "-q", "--squash", "topic")
    team.git("commit", "-q", "--no-edit")
    return team


def squash_title_only(team: Team, _: Path) -> Team:
    team.git("merge", "-q", "--squash", "topic")
    team.git("commit", "-qm", "Add b (#7)")
    return team


def squash_title_and_commits(team: Team, _: Path) -> Team:
    listed = team.git("log", "--reverse", "--format=* %s%n%n%b", "main..topic")
    team.git("merge", "-q", "--squash", "topic")
    team.git("commit", "-qm", f"Add b (#7)\n\n{listed}\n\nCo-authored-by: Somebody <s@example.com>")
    return team


def squash_title_and_description(team: Team, _: Path) -> Team:
    team.git("merge", "-q", "--squash", "topic")
    team.git("commit", "-qm", "Add b (#7)\n\nA description that says nothing of approvals.")
    return team


def rebase(team: Team, _: Path) -> Team:
    move_main(team)
    team.git("switch", "-q", "topic")
    team.git("rebase", "-q", "main")
    return team


def rebase_into_one(team: Team, _: Path) -> Team:
    team.git("switch", "-q", "topic")
    environ = {**os.environ, "GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/fixup/'"}
    team.git("rebase", "-q", "-i", "main", env=environ)
    return team


def rebase_onto(team: Team, _: Path) -> Team:
    move_main(team)
    team.git("rebase", "-q", "--onto", "main", "main~1", "topic")
    return team


def cherry_pick(team: Team, _: Path) -> Team:
    move_main(team)
    team.git("cherry-pick", "main..topic")
    return team


def cherry_pick_noting_the_source(team: Team, _: Path) -> Team:
    move_main(team)
    team.git("cherry-pick", "-x", "main..topic")
    return team


def cherry_pick_without_commit(team: Team, _: Path) -> Team:
    team.git("cherry-pick", "-n", "topic~1", "topic")
    team.git("commit", "-qm", "b, by hand")
    return team


def amend_message(team: Team, _: Path) -> Team:
    team.git("switch", "-q", "topic")
    team.git("commit", "-q", "--amend", "-m", "Another message")
    return team


def amend_with_other_files(team: Team, _: Path) -> Team:
    team.git("switch", "-q", "topic")
    (team.root / "other.txt").write_text("work\n")
    team.git("add", "-A")
    team.git("commit", "-q", "--amend", "--no-edit", "--reset-author")
    return team


def mail(team: Team, folder: Path) -> Team:
    move_main(team)
    team.git("format-patch", "-q", "-o", str(folder), "main~1..topic")
    team.git("am", "-q", *sorted(map(str, folder.glob("*.patch"))))
    return team


def mail_signed_off(team: Team, folder: Path) -> Team:
    team.git("format-patch", "-q", "-o", str(folder), "main..topic")
    team.git("am", "-q", "-3", "--signoff", *sorted(map(str, folder.glob("*.patch"))))
    return team


def patch_by_hand(team: Team, folder: Path) -> Team:
    (folder / "diff").write_text(team.git("diff", "--binary", "main", "topic") + "\n")
    team.git("apply", str(folder / "diff"))
    team.commit("applied")
    return team


def revert_of_a_revert(team: Team, _: Path) -> Team:
    team.git("merge", "-q", "--ff-only", "topic")
    team.git("revert", "--no-edit", "HEAD")
    team.git("revert", "--no-edit", "HEAD")
    return team


def filter_messages(team: Team, _: Path) -> Team:
    team.git("switch", "-q", "topic")
    team.git(
        "filter-branch",
        "-f",
        "--msg-filter",
        "echo rewritten",
        "topic",
        env={**os.environ, "FILTER_BRANCH_SQUELCH_WARNING": "1"},
    )
    return team


def filter_authors(team: Team, _: Path) -> Team:
    team.git("switch", "-q", "topic")
    script = "export GIT_AUTHOR_EMAIL=x@example.com GIT_COMMITTER_NAME=X"
    team.git(
        "filter-branch", "-f", "--env-filter", script, "topic", env={**os.environ, "FILTER_BRANCH_SQUELCH_WARNING": "1"}
    )
    return team


def export_and_import(team: Team, folder: Path) -> Team:
    stream = subprocess.run(["git", "fast-export", "--all"], cwd=team.root, capture_output=True, check=True).stdout
    other = folder / "imported"
    other.mkdir()
    git(other, "init", "-q")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=other, input=stream, check=True)
    git(other, "checkout", "-q", "topic")
    return Team(root=other, places=team.places)


def shallow_clone(team: Team, folder: Path) -> Team:
    git(folder, "clone", "-q", "--depth", "1", "--branch", "topic", f"file://{team.root}", "shallow")
    return Team(root=folder / "shallow", places=team.places)


def archive(team: Team, folder: Path) -> Team:
    packed = subprocess.run(["git", "archive", "topic"], cwd=team.root, capture_output=True, check=True).stdout
    (folder / "zip").mkdir()
    subprocess.run(["tar", "x"], cwd=folder / "zip", input=packed, check=True)
    return Team(root=folder / "zip", places=team.places)


def bundle(team: Team, folder: Path) -> Team:
    team.git("bundle", "create", "-q", str(folder / "bundle"), "--all")
    git(folder, "clone", "-q", "--branch", "topic", "bundle", "unbundled")
    return Team(root=folder / "unbundled", places=team.places)


def stash_and_pop(team: Team, _: Path) -> Team:
    team.git("cherry-pick", "-n", "topic~1", "topic")
    team.git("stash", "-q", "-u")
    move_main(team)
    team.git("stash", "pop", "-q")
    return team


def octopus(team: Team, _: Path) -> Team:
    for name in ("one", "two"):
        team.git("switch", "-qc", name, "main")
        (team.root / name).write_text(name)
        team.commit(name)
    team.git("switch", "-q", "main")
    team.git("merge", "-q", "-m", "octopus", "one", "two", "topic")
    return team


OPERATIONS: list[Operation] = [
    fast_forward, merge_commit, squash_default_message, squash_title_only, squash_title_and_commits,
    squash_title_and_description, rebase, rebase_into_one, rebase_onto, cherry_pick, cherry_pick_noting_the_source,
    cherry_pick_without_commit, amend_message, amend_with_other_files, mail, mail_signed_off, patch_by_hand,
    revert_of_a_revert, filter_messages, filter_authors, export_and_import, shallow_clone, archive, bundle,
    stash_and_pop, octopus,
]  # fmt: skip


def test_there_are_twenty_six_of_them() -> None:
    assert len(OPERATIONS) == 26


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_an_approval_lives_through(topic: Team, tmp_path: Path, operation: Operation) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    after = operation(topic, folder)
    assert after.says("b") == "trusted"
    assert after.verdict("b").people == ("bob@example.com",)
    assert after.says("a") == "trusted"
    # It is the receipt that carried it: without it the text is not approved.
    for path in (after.root / ".memfs/approvals").glob("b.*"):
        path.unlink()
    assert after.says("b") == "no-approval"


@pytest.mark.parametrize(
    "operation",
    [squash_default_message, squash_title_and_commits, merge_commit, rebase, cherry_pick, mail, amend_with_other_files],
    ids=lambda operation: operation.__name__,
)
def test_the_trailer_rebuilds_a_lost_receipt_after(topic: Team, tmp_path: Path, operation: Operation) -> None:
    from memfs.trust.receipts import find_missing_receipts, write_receipts

    folder = tmp_path / "work"
    folder.mkdir()
    after = operation(topic, folder)
    for path in (after.root / ".memfs/approvals").glob("b.*"):
        path.unlink()
    shutil.rmtree(after.places.state)
    found = find_missing_receipts(after.tree, after.view(), ids=["b"])
    assert [record.statement.by for record in found] == ["bob@example.com"]
    write_receipts(after.tree, found)
    assert after.says("b") == "trusted"


def test_a_trailer_without_a_receipt_is_brought_in_by_sync(team: Team, bob: Person) -> None:
    from memfs.trust.approve import approve, make_records
    from memfs.trust.plan import plan_approval
    from memfs.trust.receipts import find_missing_receipts, write_receipts
    from memfs.trust.record import format_record

    assert approve
    team.write("b", memory_text("By mail."), commit=True)
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    (record,) = make_records(plan, bob.signer, now=team.now())
    team.git("commit", "-q", "--allow-empty", "-m", f"Reviewed\n\n{format_record(record)}")
    assert team.says("b") == "no-approval"
    write_receipts(team.tree, find_missing_receipts(team.tree, team.view()))
    assert team.says("b") == "trusted"


def test_an_orphan_branch_carries_what_it_holds(team: Team) -> None:
    team.git("switch", "-q", "--orphan", "orphan")
    team.git("checkout", "-q", "main", "--", ".memfs", "memories", ".gitattributes")
    team.commit("orphan")
    assert team.says() == "trusted"
    shutil.rmtree(team.root / ".memfs/approvals")
    assert team.says() == "no-approval"


def test_three_branches_that_edit_one_memory_leave_no_approval(team: Team, alice: Person, bob: Person) -> None:
    base = team.path("a").read_text()
    for number, name in enumerate(("one", "two", "three")):
        team.git("switch", "-qc", name, "main")
        team.write("a", base.replace("Migrations", f"Migrations {number}"), commit=True)
        team.approve(bob, "a")
    team.git("switch", "-q", "main")
    subprocess.run(["git", "merge", "-q", "one", "two", "three"], cwd=team.root, capture_output=True)
    subprocess.run(["git", "checkout", "-q", "-f", "HEAD"], cwd=team.root, capture_output=True)
    team.write("a", base.replace("Migrations", "Migrations 0 1 2"))
    for name in ("one", "two", "three"):
        team.git("checkout", "-q", name, "--", ".memfs/approvals")
    assert team.says() == "changed"


def test_two_approvers_on_two_branches_do_not_conflict(team: Team, alice: Person, bob: Person) -> None:
    team.write("b", memory_text("For two."), commit=True)
    team.change_keyring([alice], approve=2)
    for person, name in ((alice, "one"), (bob, "two")):
        team.git("switch", "-qc", name, "main")
        team.approve(person, "b")
    team.git("switch", "-q", "main")
    team.git("merge", "-q", "one")
    team.git("merge", "-q", "-m", "both", "two")
    assert len([name for name in team.receipts() if name.startswith("b.1.")]) == 2
    assert team.says("b") == "trusted"
    assert team.verdict("b").people == ("alice@example.com", "bob@example.com")


def test_a_windows_checkout_keeps_its_approvals(team: Team, tmp_path: Path) -> None:
    (team.root / ".gitattributes").write_text("")
    team.commit("no attributes")
    git(tmp_path, "-c", "core.autocrlf=true", "-c", "core.eol=crlf", "clone", "-q", str(team.root), "windows")
    other = Team(root=tmp_path / "windows", places=team.places)
    assert b"\r\n" in other.path("a").read_bytes()
    # The keyring is refused with CRLF; `.gitattributes` is what keeps it as it was signed.
    assert other.says() == "keyring-broken"
    (team.root / ".gitattributes").write_text("memories/** text\n.memfs/** -text\n")
    team.commit("attributes")
    git(tmp_path, "-c", "core.autocrlf=true", "-c", "core.eol=crlf", "clone", "-q", str(team.root), "windows2")
    other = Team(root=tmp_path / "windows2", places=team.places)
    assert b"\r\n" in other.path("a").read_bytes()
    assert other.says() == "trusted"


def test_an_approval_leaves_the_staged_work_of_its_person_alone(team: Team, alice: Person) -> None:
    (team.root / "other.txt").write_text("staged\n")
    team.git("add", "other.txt")
    team.write("b", memory_text("Approve me."))
    team.approve(alice, "b")
    assert team.git("diff", "--cached", "--name-only") == "other.txt"
    assert team.git("show", "--stat", "--format=", "HEAD").count("|") == 2


def test_an_approval_is_refused_in_the_middle_of_a_merge(team: Team, alice: Person) -> None:
    from memfs.errors import UsageError

    team.git("switch", "-qc", "topic")
    (team.root / "other.txt").write_text("topic\n")
    team.commit("topic")
    team.git("switch", "-q", "main")
    move_main(team)
    subprocess.run(["git", "merge", "-q", "topic"], cwd=team.root, capture_output=True)
    team.write("b", memory_text("Approve me."))
    with pytest.raises(UsageError, match="merge"):
        team.approve(alice, "b")
    assert team.says("b") == "no-approval"
