"""What git would convert on the way into the repository, memfs refuses: its commits run no filter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from people import Person, Team, memory_text
from support import Run, git

from memfs.disk.worktree import find_work_tree
from memfs.errors import UsageError
from memfs.git.commit import Change, commit_changes

SECRET = "The hiring budget is frozen until spring."
REMEMBER = (
    "--id", "budget", "--kind", "observation", "--scope", "team", "--origin", "owner", "--evidence",
    "https://example.com/x", "--review", "on 2030-01-01",
)  # fmt: skip


def objects_of(repo: Path) -> str:
    return git(repo, "cat-file", "--batch-all-objects", "--batch", errors="replace")


@pytest.fixture
def encrypted(repo: Path) -> Path:
    """Return a repository whose memories are encrypted by a filter, as git-crypt and transcrypt do it."""
    for name, value in (("clean", "sed s/^/ENC/"), ("smudge", "sed s/^ENC//"), ("required", "true")):
        git(repo, "config", f"filter.crypt.{name}", value)
    (repo / ".gitattributes").write_text("memories/** text eol=lf filter=crypt\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "encrypt")
    return repo


@pytest.mark.parametrize("attribute", ["filter=crypt", "filter=lfs", "working-tree-encoding=UTF-16", "ident"])
@pytest.mark.parametrize("place", [".gitattributes", "memories/.gitattributes", ".git/info/attributes", "global"])
def test_a_converted_path_is_refused_before_anything_is_written(
    *, repo: Path, sealed: Path, attribute: str, place: str
) -> None:
    file = sealed / ".config" / "git" / "attributes" if place == "global" else repo / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"*.md {attribute}\n")
    before = git(repo, "status", "--porcelain", "--untracked-files=all"), git(repo, "rev-parse", "HEAD")
    with pytest.raises(UsageError, match="run no filter") as caught:
        commit_changes(find_work_tree(repo), [Change(path="memories/team/a.md", content=b"x\n")], "memory: add a")
    assert attribute in str(caught.value)
    assert not (repo / "memories" / "team").exists()
    assert (git(repo, "status", "--porcelain", "--untracked-files=all"), git(repo, "rev-parse", "HEAD")) == before


def test_an_attribute_that_is_taken_off_again_is_none(repo: Path) -> None:
    (repo / ".gitattributes").write_text("*.md filter=crypt ident\nmemories/** -filter !ident\n")
    commit_changes(find_work_tree(repo), [Change(path="memories/team/a.md", content=b"x\n")], "memory: add a")


def test_a_converted_file_may_be_deleted(encrypted: Path) -> None:
    path = encrypted / "memories" / "team" / "a.md"
    path.parent.mkdir()
    path.write_text("gone soon\n")
    git(encrypted, "add", "-A")
    git(encrypted, "commit", "-qm", "a")
    commit_changes(find_work_tree(encrypted), [Change(path="memories/team/a.md", content=None)], "memory: forget a")
    assert not path.exists()


def test_the_plain_text_of_an_encrypted_folder_gets_into_no_object(encrypted: Path, memfs: Callable[..., Run]) -> None:
    said = memfs("remember", SECRET, *REMEMBER, cwd=encrypted)
    assert said.code == 2
    assert "filter=crypt" in said.err
    objects = objects_of(encrypted)
    assert SECRET not in objects
    assert SECRET not in git(encrypted, "log", "--all", "-p")


@pytest.mark.parametrize("branch", [None, "other"])
def test_every_commit_goes_through_the_same_door(encrypted: Path, branch: str | None) -> None:
    with pytest.raises(UsageError, match="filter=crypt"):
        commit_changes(
            find_work_tree(encrypted),
            [Change(path="memories/team/a.md", content=memory_text(SECRET).encode())],
            "memory: add a",
            branch=branch,
        )
    assert SECRET not in objects_of(encrypted)


def test_a_receipt_that_git_would_convert_is_refused_too(team: Team, bob: Person) -> None:
    (team.root / ".git" / "info" / "attributes").write_text(".memfs/** filter=crypt\n")
    with pytest.raises(UsageError, match="filter=crypt"):
        commit_changes(
            find_work_tree(team.root), [Change(path=".memfs/approvals/x", content=b"x\n")], "trust: approve a"
        )


def test_check_names_the_attribute(encrypted: Path, memfs: Callable[..., Run]) -> None:
    said = memfs("check", "--json", cwd=encrypted)
    found = [result for result in said.json["results"] if result["rule"] == "attributes"]
    assert [("filter" in result["message"], result["level"]) for result in found if "filter" in result["message"]] == [
        (True, "error")
    ]
    assert said.code == 1
