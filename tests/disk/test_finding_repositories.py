"""Where is the repository? Found from files alone, as git would find it (case 10)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import git

from memfs.disk.files import scan_memories
from memfs.disk.worktree import NoWorkTreeError, find_work_tree, identify, operation_under_way
from memfs.errors import UsageError
from memfs.git.commit import Change, commit_changes
from memfs.git.read import branch_name, head_commit, object_format

WORK_TREES = ["proj/main-wt", "proj/topic-wt", "wt-of-bare", "super/mem", "sepdir-wt", "inner-outer/nested", "unborn"]
NO_WORK_TREE = ["proj", "plain.git", "seed/.git", "seed/.git/hooks", "sepdir.git"]


def _listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_every_kind_of_work_tree_is_found_and_read_as_git_reads_it(make_case) -> None:
    case = make_case("10")
    for name in WORK_TREES:
        tree = find_work_tree(case / name)
        assert tree.root == case / name
        assert str(tree.git_dir) == os.path.realpath(git(tree.root, "rev-parse", "--absolute-git-dir")), name
        common = tree.root / git(tree.root, "rev-parse", "--git-common-dir")
        assert str(tree.common_dir) == os.path.realpath(common), name
        assert branch_name(tree) == git(tree.root, "symbolic-ref", "--short", "HEAD"), name
        head = None if name == "unborn" else git(tree.root, "rev-parse", "HEAD")
        assert head_commit(tree) == head, name


def test_a_folder_inside_a_work_tree_leads_to_its_root(make_case) -> None:
    case = make_case("10")
    assert find_work_tree(case / "inner-outer/nested/memories").root == case / "inner-outer/nested"
    assert find_work_tree(case / "seed/memories").root == case / "seed"


def test_where_there_is_no_work_tree_nothing_is_made_and_the_way_out_is_named(make_case) -> None:
    case = make_case("10")
    for name in NO_WORK_TREE:
        before = _listing(case)
        with pytest.raises(UsageError, match="which has no work tree") as caught:
            find_work_tree(case / name)
        assert "git worktree" in str(caught.value.hint), name
        assert _listing(case) == before, name


def test_files_without_git_are_read_and_never_written(make_case) -> None:
    case = make_case("10")
    tree = find_work_tree(case / "not-a-repo")
    assert tree.git_dir is None
    assert [entry.path for entry in scan_memories(tree).entries] == ["memories/x.md"]
    assert head_commit(tree) is None
    assert operation_under_way(tree) is None
    with pytest.raises(UsageError, match="not a git repository, so nothing can be written"):
        commit_changes(tree, [Change(path="memories/team/a.md", content=b"x\n")], "x")
    assert _listing(case / "not-a-repo") == ["memories", "memories/x.md"]


def test_a_broken_repository_is_not_taken_for_its_parent(make_case) -> None:
    case = make_case("10")
    git(case, "init", "-q")
    with pytest.raises(UsageError, match=r"broken: its \.git leads to a folder that is not there"):
        find_work_tree(case / "broken")
    (case / "empty" / ".git").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"broken: its \.git leads to a folder that is not a git directory"):
        find_work_tree(case / "empty")


def test_each_work_tree_commits_to_its_own_branch_and_no_other(make_case) -> None:
    case = make_case("10")
    super_before = git(case / "super", "rev-parse", "HEAD"), git(case / "super", "ls-files", "--stage")
    seed_before = git(case / "seed", "rev-parse", "HEAD")
    for name in WORK_TREES:
        tree = find_work_tree(case / name)
        branches = git(tree.root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        new = commit_changes(tree, [Change(path=f"memories/team/{name.replace('/', '-')}.md", content=b"x\n")], name)
        assert git(tree.root, "rev-parse", "HEAD") == new
        after = git(tree.root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        moved = {line.split()[0] for line in set(after) - set(branches)}
        assert moved == {git(tree.root, "symbolic-ref", "HEAD")}
        assert git(tree.root, "status", "--porcelain") == ""
        assert git(tree.root, "fsck", "--strict") == ""
    assert (git(case / "super", "rev-parse", "HEAD"), git(case / "super", "ls-files", "--stage")) == super_before
    assert git(case / "seed", "rev-parse", "HEAD") == seed_before


def test_locks_and_identities_are_each_work_tree_s_own(make_case) -> None:
    case = make_case("10")
    trees = [find_work_tree(case / name) for name in WORK_TREES]
    assert len({identify(tree) for tree in trees}) == len(trees)
    assert len({tree.git_dir for tree in trees}) == len(trees)
    for tree in trees:
        commit_changes(tree, [Change(path="memories/team/a.md", content=b"x\n")], "a")
        assert (Path(str(tree.git_dir)) / "memfs.lock").is_file()
    for name in ("proj", "plain.git", "super"):
        assert not (case / name / "memfs.lock").exists()


def test_a_folder_called_memories_somewhere_above_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "work").mkdir()
    with pytest.raises(NoWorkTreeError, match="not a git repository"):
        find_work_tree(tmp_path / "work")
    assert find_work_tree(tmp_path / "memories").root == tmp_path
    (tmp_path / ".memfs").mkdir()
    assert find_work_tree(tmp_path / "work").root == tmp_path


def test_a_missing_folder_is_named_with_its_hidden_characters_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder") as caught:
        find_work_tree(tmp_path / "x\u202ey\n")
    assert "\u202e" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_repository_that_somebody_made_bare_says_so(repo: Path) -> None:
    git(repo, "config", "core.bare", "true")
    with pytest.raises(UsageError, match="is a bare repository"):
        find_work_tree(repo)


@pytest.mark.parametrize("packed", [False, True])
def test_the_head_is_read_from_loose_and_packed_refs(repo: Path, packed: bool) -> None:
    git(repo, "switch", "-qc", "topic/with.dots-and_ü")
    git(repo, "tag", "main-2")
    if packed:
        git(repo, "pack-refs", "--all")
    tree = find_work_tree(repo)
    assert branch_name(tree) == "topic/with.dots-and_ü"
    assert head_commit(tree) == git(repo, "rev-parse", "HEAD")
    git(repo, "switch", "-q", "--detach")
    assert branch_name(tree) is None
    assert head_commit(tree) == git(repo, "rev-parse", "HEAD")


def test_a_symbolic_branch_is_followed_and_a_circle_is_none(repo: Path) -> None:
    git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(repo, "symbolic-ref", "HEAD", "refs/heads/alias")
    tree = find_work_tree(repo)
    assert head_commit(tree) == git(repo, "rev-parse", "main")
    (repo / ".git/refs/heads/alias").write_text("ref: refs/heads/alias\n")
    assert head_commit(tree) is None


def test_a_head_that_leaves_the_git_directory_is_not_followed(repo: Path) -> None:
    secret = repo.parent / "secret"
    secret.write_text("a" * 40)
    (repo / ".git/HEAD").write_text("ref: refs/../../../secret\n")
    tree = find_work_tree(repo)
    assert head_commit(tree) is None
    assert branch_name(tree) is None


def test_git_files_that_are_fifos_never_hang(repo: Path) -> None:
    tree = find_work_tree(repo)
    (repo / ".git/refs/heads/main").unlink()
    os.mkfifo(repo / ".git/refs/heads/main")
    os.mkfifo(repo / ".git/packed-refs")
    assert head_commit(tree) is None
    (repo / ".git/config").unlink()
    os.mkfifo(repo / ".git/config")
    assert find_work_tree(repo).root == repo


def test_a_sha256_repository_works_throughout(tmp_path: Path) -> None:
    root = tmp_path / "long"
    git(tmp_path, "init", "-q", "--object-format=sha256", str(root))
    tree = find_work_tree(root)
    assert object_format(tree) == "sha256"
    new = commit_changes(tree, [Change(path="memories/team/a.md", content=b"a\n")], "first")
    assert len(new) == 64
    assert head_commit(tree) == new
    assert git(root, "status", "--porcelain") == ""


def test_refs_kept_in_another_way_are_asked_of_git(repo: Path) -> None:
    # git 2.39 cannot make a reftable repository; what its files look like is enough to see the way taken.
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "config", "extensions.refStorage", "files")
    tree = find_work_tree(repo)
    assert head_commit(tree) == head
    (repo / ".git/HEAD").unlink()
    os.symlink("refs/heads/main", repo / ".git/HEAD")
    assert head_commit(tree) == head
    assert branch_name(tree) == "main"
    with (repo / ".git/config").open("a") as config:
        config.write("[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\trefStorage = reftable\n")
    assert head_commit(tree) in (None, head)
    assert branch_name(tree) in (None, "main")


def test_finding_and_reading_the_head_starts_no_process(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    git(repo, "pack-refs", "--all")
    monkeypatch.setattr(subprocess, "Popen", None)
    tree = find_work_tree(repo / "memories")
    assert head_commit(tree) is not None
    assert branch_name(tree) == "main"
    assert operation_under_way(tree) is None
    scan_memories(tree)
