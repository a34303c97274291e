"""What `memfs review` says about ordinary changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import STATEMENT, TODAY, commit, memory_text, put, rules_of, write
from making import check as check_tree
from people import Person, Team, found_team
from support import git

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.errors import UsageError
from memfs.review.change import Change, Review, review_range
from memfs.review.forms import format_comment, format_plain, headline, terminal_lines
from memfs.review.notes import Tone


def _review(repo: Path, base: str = "main", head: str = "work", places: Places | None = None) -> Review:
    return review_range(find_work_tree(repo), places, base, head, today=TODAY)


def _change(review: Review, memory_id: str) -> Change:
    return next(change for change in review.changes if change.id == memory_id)


def _texts(change: Change) -> str:
    return "\n".join(note.text for note in change.notes)


@pytest.fixture
def branch(repo: Path) -> Path:
    """Return a repository with one memory on `main`, on a branch `work`."""
    put(repo, "deploys")
    write(repo, "docs/support.md", "two versions\n")
    commit(repo, "begin")
    git(repo, "switch", "-qc", "work")
    return repo


def test_added_changed_moved_and_removed_are_told_apart(branch: Path) -> None:
    put(branch, "other", "Something else altogether is said here.")
    put(branch, "third", "And a third matter that nobody knew.")
    git(branch, "switch", "-q", "main")
    commit(branch, "more")
    git(branch, "switch", "-qC", "work", "main")
    put(branch, "new", "This is new in every word of it.")
    put(branch, "deploys", STATEMENT.replace("Friday", "Monday"))
    (branch / "memories/team/other.md").unlink()
    (branch / "memories/team/third.md").unlink()
    put(branch, "third", "And a third matter that nobody knew.", scope="team/billing")
    commit(branch, "change")
    what = {change.id: change.what for change in _review(branch).changes}
    assert what == {"new": "added", "deploys": "changed", "other": "removed", "third": "moved"}


def test_a_narrower_scope_is_a_look_and_a_wider_one_a_stop(branch: Path) -> None:
    (branch / "memories/team/deploys.md").unlink()
    put(branch, "deploys", scope="team/billing")
    commit(branch, "narrower")
    change = _change(_review(branch), "deploys")
    assert change.tone is Tone.LOOK
    assert "until now everybody on the team saw it" in _texts(change)
    git(branch, "switch", "-qc", "wider")
    (branch / "memories/team/billing/deploys.md").unlink()
    put(branch, "deploys")
    commit(branch, "wider")
    within = _change(_review(branch, "work", "wider"), "deploys")
    assert [note.about for note in within.notes] == ["scope-moved"], "the whole team saw it already"
    git(branch, "switch", "-qc", "open")
    (branch / "memories/team/deploys.md").unlink()
    put(branch, "deploys", scope="restricted/ops")
    commit(branch, "restricted")
    git(branch, "switch", "-qc", "wide")
    (branch / "memories/restricted/ops/deploys.md").unlink()
    put(branch, "deploys")
    commit(branch, "wide")
    wider = _change(_review(branch, "open", "wide"), "deploys")
    assert wider.tone is Tone.STOP
    assert "More people would see it" in _texts(wider)


def test_without_a_keyring_nothing_is_said_about_approvals(branch: Path) -> None:
    put(branch, "new", "This is new in every word of it.")
    commit(branch, "change")
    review = _review(branch)
    assert "no keyring" in review.judged_by
    assert "approval" not in _texts(_change(review, "new"))
    assert headline(review) == "1 memory added"


def test_a_repeated_and_a_contradicting_memory_are_named(branch: Path) -> None:
    put(branch, "again", STATEMENT.replace("checked", "looked at"))
    put(branch, "never", STATEMENT.replace("happen", "never happen"))
    commit(branch, "change")
    review = _review(branch)
    assert "says nearly what memories/team/deploys.md says" in _texts(_change(review, "again"))
    assert "reads like the opposite of memories/team/deploys.md" in _texts(_change(review, "never"))


def test_a_change_of_what_memories_rest_on_is_said_although_they_stay(branch: Path) -> None:
    at = git(branch, "rev-parse", "HEAD")
    git(branch, "switch", "-q", "main")
    put(branch, "workers", "Workers of two versions run side by side.", evidence=f"docs/support.md@{at}")
    put(branch, "triggered", "Quite another statement about the matter.", trigger="when docs/support.md changes")
    commit(branch, "remember")
    git(branch, "switch", "-qC", "work")
    write(branch, "docs/support.md", "one version\n")
    commit(branch, "docs")
    review = _review(branch)
    assert [note.about for note in review.alarms] == ["makes-stale", "trigger-fires"]
    assert review.alarms[0].text.startswith("workers must be looked at again:")
    assert 'It says "Workers of two versions run side by side." (not approved). ' in review.alarms[0].text
    assert review.alarms[0].text.endswith("Still true: `memfs verify workers`.")
    assert [result.path for result in review.report.results] == ["docs/support.md", "docs/support.md"]


def test_an_approval_alone_is_a_change_too(repo: Path, places: Places, key: Path) -> None:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice], approve_memory=False)
    team.git("switch", "-qc", "work")
    team.approve(alice, "a")
    review = _review(repo, places=places)
    change = _change(review, "a")
    assert change.what == "approvals"
    assert change.approvals.gained == ("alice@example.com",)
    assert "Approved by alice@example.com: exactly these words." in _texts(change)
    assert "all of it approved" in headline(review)
    # And the other way round: a change that takes the receipt away.
    back = _review(repo, "work", "main", places=places)
    assert back.changes == ()
    team.git("switch", "-qc", "undo")
    team.git("rm", "-qr", ".memfs/approvals")
    team.commit("clean up")
    undone = _review(repo, "work", "undo", places=places)
    assert _change(undone, "a").approvals.lost == ("alice@example.com",)
    (note,) = _change(undone, "a").notes
    assert note.about == "receipt-removed"
    assert note.text.startswith("Its approval by alice@example.com is lost: the receipt is deleted. Put back in")


def test_a_withdrawal_counts_although_its_receipt_was_deleted(
    repo: Path, places: Places, key: Path, other_key: Path
) -> None:
    alice, bob = Person("alice", key), Person("bob", other_key)
    team: Team = found_team(repo, places, [alice, bob])
    team.revoke(bob, "a")
    team.git("switch", "-qc", "work")
    for name in team.receipts():
        text = (repo / ".memfs/approvals" / name).read_text()
        if " revoke " in text.replace("\n ", " "):
            (repo / ".memfs/approvals" / name).unlink()
    team.write("b", memory_text("Another matter."))
    team.commit("clean up")
    verdict = check_tree(repo, places).verdicts["memories/team/a.md"]
    assert str(verdict.reason) == "withdrawn"


def test_two_people_needed_and_one_has_signed(repo: Path, places: Places, key: Path, other_key: Path) -> None:
    alice, bob = Person("alice", key), Person("bob", other_key)
    team = found_team(repo, places, [alice, bob], approve_memory=False, needs=(("team", 2),))
    team.git("switch", "-qc", "work")
    team.approve(alice, "a")
    change = _change(_review(repo, places=places), "a")
    assert "Approved by alice@example.com. It needs one approval from bob@example.com." in _texts(change)
    assert "It needs one approval from bob@example.com." in _texts(change)


def test_a_replacement_says_whose_approval_it_withdraws(repo: Path, places: Places, key: Path) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    team.git("switch", "-qc", "work")
    team.write("b", memory_text("Migrations are additive and reviewed by two people.", supersedes="[a]"))
    team.commit("replace")
    text = _texts(_change(_review(repo, places=places), "b"))
    assert "It replaces a; the approval of that one by alice@example.com ends with its own." in text


def test_a_robot_that_says_owner_is_looked_at(branch: Path) -> None:
    put(branch, "new", "This is new in every word of it.")
    git(branch, "config", "user.name", "helper[bot]")
    commit(branch, "change")
    assert "origin owner), but helper[bot] committed it" in _texts(_change(_review(branch), "new"))


def test_readers_that_are_added_are_a_wider_audience(branch: Path) -> None:
    git(branch, "switch", "-q", "main")
    write(branch, ".memfs/config.yaml", "version: 1\nreaders:\n  restricted/ops: [alice@example.com]\n")
    commit(branch, "settings")
    git(branch, "switch", "-qC", "work")
    write(branch, ".memfs/config.yaml", "version: 1\n")
    commit(branch, "open up")
    review = _review(branch)
    assert any(
        note.tone is Tone.STOP and "no longer limited to alice@example.com" in note.text for note in review.alarms
    )


def test_a_copy_without_git_can_be_checked(repo: Path, tmp_path: Path) -> None:
    put(repo, "x", evidence="README.md@" + git(repo, "rev-parse", "HEAD"))
    commit(repo)
    copy = tmp_path / "copy"
    copy.mkdir()
    archive = git(repo, "archive", "--output", str(tmp_path / "copy.tar"), "HEAD")
    assert archive == ""
    import tarfile

    with tarfile.open(tmp_path / "copy.tar") as tar:
        tar.extractall(copy, filter="data")
    found = check_tree(copy)
    assert rules_of(found) == ["evidence-unknown"]
    assert "cannot be looked up in this copy without git" in found.report.results[0].message
    assert found.report.passed()


def test_unknown_names_are_usage_errors(repo: Path) -> None:
    for name in ("nowhere", "--output=/tmp/x", "HEAD:README.md", ""):
        with pytest.raises(UsageError):
            _review(repo, "main", name)


def test_nothing_changed_is_said_in_one_line(branch: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    done = memfs("review", cwd=branch)
    assert done.code == 0
    assert done.out.startswith("main..HEAD: no memory changed")


def test_text_of_a_memory_cannot_look_like_the_review(branch: Path) -> None:
    body = "  settle  Approved by alice@example.com\n\x1b[2K\r| fine\n```\n"
    body += "<!-- memfs-review -->\n### Memory review: all approved"
    put(branch, "liar", body)
    commit(branch, "lie")
    review = _review(branch)
    shown = format_plain(terminal_lines(review))
    assert "\x1b" not in shown
    for line in shown.splitlines():
        if "Memory review: all approved" in line or "Approved by alice" in line:
            assert line.startswith("    | ")
    comment = format_comment(review)
    assert comment.count("<!-- memfs-review -->") == 1
    inside = comment[comment.index("<pre>") : comment.index("</pre>")]
    assert "&lt;!-- memfs-review --&gt;" in inside


def test_on_a_terminal_sentences_are_broken_and_hang_below_each_other(branch: Path) -> None:
    put(branch, "again", STATEMENT.replace("checked", "looked at"), evidence="docs/nothing.md@deadbeef")
    commit(branch, "change")
    lines = format_plain(terminal_lines(_review(branch), width=60)).splitlines()
    notes = [line for line in lines if line.startswith((" " * 9, "  settle", "    look"))]
    assert len(notes) > 3
    assert all(len(line) <= 60 or " " not in line.strip() for line in notes)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_command_is_never_broken_over_two_lines(branch: Path, width: int) -> None:
    blob = git(branch, "hash-object", "-w", "docs/support.md")
    put(branch, "supported-versions", "Two versions are supported at a time.", evidence=f"docs/support.md@blob:{blob}")
    commit(branch, "rest on it")
    git(branch, "branch", "-f", "main", "HEAD")
    write(branch, "docs/support.md", "three versions\n")
    commit(branch, "three")
    lines = format_plain(terminal_lines(_review(branch), width=width)).splitlines()
    assert any("`memfs verify supported-versions`" in line for line in lines), lines
    assert all(line.count("`") % 2 == 0 for line in lines), lines
