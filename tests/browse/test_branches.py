"""Which branches the pages show: every one that touches a memory or what a memory rests on, however old."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import STATEMENT, TODAY, commit, put, write
from people import Person, found_team, sees_all
from support import git

from memfs.browse.export import export_site
from memfs.browse.site import find_branches
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.model.scope import Caller
from memfs.repository.repository import Repository


@pytest.fixture
def crowded(repo: Path, places: Places, key: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two old branches of memories among fifty younger ones of code."""
    team = found_team(repo, places, [Person("alice", key)])
    write(repo, "retry.py", "MAX = 3\n")
    blob = git(repo, "hash-object", "-w", "retry.py")
    put(repo, "retry", "A charge is retried three times.", evidence=f"retry.py@blob:{blob}")
    team.commit("retry")
    team.approve(Person("alice", key), "retry")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2021-01-01T00:00:00Z")
    git(repo, "switch", "-qc", "old-proposal")
    put(repo, "new", STATEMENT.replace("Friday", "Monday"))
    commit(repo, "propose new")
    git(repo, "switch", "-qc", "old-code", "main")
    write(repo, "retry.py", "MAX = 5\n")
    commit(repo, "five")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    git(repo, "switch", "-q", "main")
    for number in range(50):
        git(repo, "switch", "-qc", f"code-{number}", "main")
        write(repo, f"other-{number}.py", "x = 1\n")
        commit(repo, f"code {number}")
    git(repo, "switch", "-q", "main")
    return repo


def test_old_branches_are_found_among_many_younger_ones_of_code(crowded: Path) -> None:
    main, branches = find_branches(find_work_tree(crowded), sees_all)
    assert main == "main"
    assert {branch.name: branch.note for branch in branches} == {
        "old-code": "1 commit on files that memories rest on, last on 2021-01-01",
        "old-proposal": "1 commit, last on 2021-01-01",
    }


def test_the_export_says_what_a_branch_of_code_does_to_a_memory(crowded: Path, places: Places, tmp_path: Path) -> None:
    repository = Repository.open(crowded, places=places, today=TODAY)
    export_site(repository, Caller(), tmp_path / "site", name="shop", about="")
    pages = {path.name: path.read_text() for path in (tmp_path / "site").glob("review-*.html")}
    assert len(pages) == 2
    stale = next(text for text in pages.values() if "retry must be looked at again" in text)
    assert "A charge is retried three times." in stale
    assert "memfs verify retry" in stale
    assert 'href="review-1.html"' in (tmp_path / "site/review.html").read_text()
