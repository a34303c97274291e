"""History is read by position, whatever the people who committed chose as names, subjects and messages."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import git

from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.git.log import find_addresses, find_boundary, first_commits, read_commits, read_messages

TEXT = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\n\r"), min_size=1, max_size=20
).filter(lambda text: text.strip() == text)


def commit_raw(repo: Path, message: bytes) -> str:
    """Make an empty commit with exactly these bytes as its message."""
    parent, tree = git(repo, "rev-parse", "HEAD", "HEAD^{tree}").split("\n")
    head = f"tree {tree}\nparent {parent}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\n"
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=repo, input=head.encode() + message, capture_output=True, check=True,
    )  # fmt: skip
    name = done.stdout.decode().strip()
    git(repo, "update-ref", "HEAD", name)
    return name


def test_a_file_is_followed_from_the_commit_that_brought_it_to_the_one_that_took_it(repo: Path, tree: WorkTree) -> None:
    (repo / "memories/a.md").write_text("one\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "add")
    added = git(repo, "rev-parse", "HEAD")
    git(repo, "rm", "-q", "memories/a.md")
    git(repo, "commit", "-qm", "take")
    found = read_commits(tree, "HEAD", ["memories"])
    assert [(commit.subject, file.letter, file.path) for commit in found for file in commit.files] == [
        ("take", "D", "memories/a.md"), ("add", "A", "memories/a.md"),
    ]  # fmt: skip
    assert (found[1].author, found[1].address) == ("Alice Example", "alice@example.com")
    blob = git(repo, "rev-parse", f"{added}:memories/a.md")
    assert first_commits(tree, "HEAD", ["memories"])["memories/a.md", blob] == added
    assert read_commits(tree, "HEAD", ["memories"], since=added)[-1].subject == "take"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=TEXT, subject=TEXT, file=st.text("ab\x01\x02 :\tDMA\n", min_size=1, max_size=12))
def test_no_name_subject_or_path_shifts_what_is_read(repo: Path, name: str, subject: str, file: str) -> None:
    tree = find_work_tree(repo)
    before = len(read_commits(tree, "HEAD", ["memories"]))
    (repo / "memories" / file).write_text(f"{before}")
    git(repo, "add", "-A")
    git(repo, "-c", "user.name=x" + name, "commit", "-qm", "s" + subject, "--allow-empty")
    commits = read_commits(tree, "HEAD", ["memories"])
    assert len(commits) == before + 1
    assert commits[0].subject == git(repo, "log", "-1", "--format=%s")
    assert [touched.path for touched in commits[0].files] == [f"memories/{file}"]


def test_a_subject_with_the_marks_of_the_format_is_a_subject(repo: Path, tree: WorkTree) -> None:
    (repo / "memories/a.md").write_text("one\n")
    git(repo, "add", "-A")
    forged = f"x \x01{'0' * 40} y"
    git(repo, "commit", "-qm", forged)
    (commit,) = read_commits(tree, "HEAD", ["memories"])
    assert commit.subject == forged


def test_a_message_with_a_nul_hides_nothing_that_follows(repo: Path, tree: WorkTree) -> None:
    first = commit_raw(repo, b"before\0Memory-Approval: after\n")
    second = commit_raw(repo, b"plain\n")
    found = read_messages(tree, ["HEAD"])
    assert found[0] == (second, b"plain\n")
    assert (first, b"before") in [(name, part.rstrip(b"\n")) for name, part in found]


def test_messages_are_chosen_by_a_word_a_start_and_what_is_known(repo: Path, tree: WorkTree) -> None:
    begin = git(repo, "rev-parse", "HEAD")
    one = commit_raw(repo, b"one [x]\n")
    two = commit_raw(repo, b"two\n")
    assert [name for name, _ in read_messages(tree, ["HEAD"], since=begin)] == [two, one]
    assert [name for name, _ in read_messages(tree, ["HEAD"], known=[one, "f" * 40])] == [two]
    assert [name for name, _ in read_messages(tree, ["HEAD"], word="[x]")] == [one]


def test_a_merge_shows_what_it_changed_against_each_parent(repo: Path, tree: WorkTree) -> None:
    git(repo, "checkout", "-qb", "side")
    (repo / "memories/a.md").write_text("one\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "side")
    git(repo, "checkout", "-q", "-")
    git(repo, "merge", "-q", "--no-ff", "-m", "merge", "side")
    assert [commit.subject for commit in read_commits(tree, "HEAD", ["memories"])] == ["side"]
    assert "merge" in [commit.subject for commit in read_commits(tree, "HEAD", ["memories"], merges=True)]


def test_everybody_who_committed_is_known_by_address(repo: Path, tree: WorkTree) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "x", "--author=Bob <bob@example.com>")
    assert find_addresses(tree, "HEAD") == {"alice@example.com", "bob@example.com"}


def test_a_shallow_clone_knows_where_its_history_ends(repo: Path, tmp_path: Path) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    git(tmp_path, "clone", "-q", "--depth", "1", repo.as_uri(), "shallow")
    assert find_boundary(find_work_tree(tmp_path / "shallow")) == {git(repo, "rev-parse", "HEAD")}
    assert find_boundary(find_work_tree(repo)) == frozenset()
