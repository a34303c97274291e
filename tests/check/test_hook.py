"""What a pre-commit run is about: the staged change, a pushed range, or everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import STATEMENT, commit, put, write
from people import Person, found_team
from support import git

from memfs.disk.places import Places


def test_nothing_staged_means_everything(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    write(repo, "memories/team/bad.md", "broken\n")
    commit(repo, "bad")
    assert memfs("check", "--hook", cwd=repo).code == 1
    assert memfs("check", "--staged", cwd=repo).code == 0, "an unchanged index alone says nothing"


def test_a_range_is_what_pre_commit_names(repo: Path, memfs, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    write(repo, "memories/team/bad.md", "broken\n")
    commit(repo, "bad")
    put(repo, "good")
    commit(repo, "good")
    for since, tip, code in (("HEAD~2", "HEAD~1", 1), ("HEAD~1", "HEAD", 0)):
        monkeypatch.setenv("PRE_COMMIT_FROM_REF", git(repo, "rev-parse", since))
        monkeypatch.setenv("PRE_COMMIT_TO_REF", git(repo, "rev-parse", tip))
        assert memfs("check", "--hook", cwd=repo).code == code


def test_a_staged_deletion_of_a_receipt_fails(repo: Path, places: Places, key: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    team = found_team(repo, places, [Person("alice", key)])
    git(repo, "rm", "-q", f".memfs/approvals/{team.receipts()[0]}")
    done = memfs("check", "--hook", cwd=repo)
    assert done.code == 1
    assert "the receipt is deleted" in done.out


def test_two_histories_that_do_not_meet_are_refused(repo: Path, tmp_path: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one")
    commit(repo, "one")
    git(repo, "switch", "-qc", "pr")
    put(repo, "two", STATEMENT.replace("Friday", "Monday").replace("billing", "search"))
    commit(repo, "two")
    git(repo, "switch", "-q", "main")
    put(repo, "three", "A third matter of quite another kind.")
    commit(repo, "three")
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repo}", "shallow")
    for command in (("review", "origin/main..origin/pr"), ("check", "--base", "origin/main", "--commit", "origin/pr")):
        done = memfs(*command, cwd=tmp_path / "shallow")
        assert done.code == 3
        assert "this clone is shallow" in done.err
        assert "git fetch --unshallow" in done.err


def test_an_odd_file_that_was_there_before_is_not_part_of_a_change(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one")
    (repo / "memories/team/link.md").symlink_to("one.md")
    commit(repo, "base")
    write(repo, "README.md", "x\n")
    commit(repo, "readme")
    done = memfs("review", "HEAD~1..HEAD", cwd=repo)
    assert done.code == 0
    assert "no memory changed" in done.out


def test_only_gits_own_index_of_a_commit_counts(
    repo: Path, memfs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one")
    commit(repo, "one")
    write(repo, "memories/team/bad.md", "broken\n")
    git(repo, "add", "-A")
    index = repo / ".git/index"
    for place in (tmp_path / "next-index-1.lock", repo / ".git/other", repo / ".git/next-index-9.lock"):
        monkeypatch.setenv("GIT_INDEX_FILE", str(place))
        assert memfs("check", "--staged", cwd=repo).code == 1, "no such file: the usual index"
    monkeypatch.delenv("GIT_INDEX_FILE")
    git(repo, "reset", "-q")
    for place, code in (
        (tmp_path / "next-index-1.lock", 0),
        (repo / ".git/other", 0),
        (repo / ".git/next-index-9.lock", 1),
        (repo / ".git/index.lock", 1),
    ):
        monkeypatch.setenv("GIT_INDEX_FILE", str(place))
        git(repo, "read-tree", "HEAD")
        git(repo, "add", "-A")
        assert memfs("check", "--staged", cwd=repo).code == code, place
        place.unlink()
    assert index.is_file()
