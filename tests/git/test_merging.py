"""The merge of two commits as files: nothing is written, and no program of a repository runs."""

from __future__ import annotations

from pathlib import Path

from making import commit, write
from support import git

from memfs.disk.worktree import find_work_tree
from memfs.git.attributes import find_attributes
from memfs.git.merging import merge_commits


def _branches(repo: Path) -> None:
    write(repo, "both.txt", "".join(f"line {number}\n" for number in range(20)))
    commit(repo, "begin")
    git(repo, "switch", "-qc", "work")
    write(repo, "both.txt", (repo / "both.txt").read_text().replace("line 2\n", "line two\n"))
    write(repo, "ours.txt", "ours\n")
    commit(repo, "work")
    git(repo, "switch", "-q", "main")
    write(repo, "both.txt", (repo / "both.txt").read_text().replace("line 17\n", "line seventeen\n"))
    write(repo, "theirs.txt", "theirs\n")
    commit(repo, "main")


def test_the_merged_files_have_what_both_sides_brought(repo: Path) -> None:
    _branches(repo)
    before = sorted(path for path in (repo / ".git" / "objects").rglob("*"))
    merged = merge_commits(find_work_tree(repo), git(repo, "rev-parse", "main"), git(repo, "rev-parse", "work"))
    assert merged.files is not None
    found = dict(merged.files.read_many(["both.txt", "ours.txt", "theirs.txt"]))
    assert b"line two\n" in found["both.txt"] and b"line seventeen\n" in found["both.txt"]  # type: ignore[operator]  # noqa: PT018
    assert (found["ours.txt"], found["theirs.txt"]) == (b"ours\n", b"theirs\n")
    assert sorted(path for path in (repo / ".git" / "objects").rglob("*")) == before, "nothing is written"


def test_a_conflict_is_named_and_gives_no_files(repo: Path) -> None:
    _branches(repo)
    write(repo, "both.txt", (repo / "both.txt").read_text().replace("line 2\n", "line 2.0\n"))
    commit(repo, "again")
    merged = merge_commits(find_work_tree(repo), git(repo, "rev-parse", "main"), git(repo, "rev-parse", "work"))
    assert merged.files is None
    assert merged.conflicts == ("both.txt",)


def test_a_merge_program_of_the_repository_is_not_run(repo: Path, tmp_path: Path) -> None:
    write(repo, ".gitattributes", "*.txt merge=evil\n")
    git(repo, "config", "merge.evil.driver", f"touch {tmp_path}/ran; true")
    _branches(repo)
    merge_commits(find_work_tree(repo), git(repo, "rev-parse", "main"), git(repo, "rev-parse", "work"))
    assert not (tmp_path / "ran").exists()


def test_attributes_are_those_of_the_files_alone(repo: Path) -> None:
    write(repo, ".git/info/attributes", "* -diff\n")
    files = {
        ".gitattributes": b"memories/** text eol=lf\n",
        "memories/team/.gitattributes": b"*.md linguist-generated\n",
    }
    found = find_attributes(find_work_tree(repo), files, ["memories/team/x.md", "x.md"])
    assert found == {
        ("memories/team/x.md", "text"): "set",
        ("memories/team/x.md", "eol"): "lf",
        ("memories/team/x.md", "linguist-generated"): "set",
    }
