"""What memfs makes of a commit without git is what git itself would make of it."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import git

from memfs.disk.worktree import WorkTree
from memfs.errors import UsageError
from memfs.git.commit import Change, commit_changes
from memfs.git.objects import read_old_blobs
from memfs.git.writing import Folders, IndexUpdate, WritingGit, format_commit, object_id, store_objects

NAMES = st.text(string.ascii_lowercase + "-.0é ", min_size=1, max_size=4).filter(lambda name: name.strip(". ") == name)
PATHS = st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8)


def is_one_tree(paths: set[str]) -> bool:
    return not any(other.startswith(path + "/") for path in paths for other in paths)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=PATHS.filter(is_one_tree), second=PATHS)
def test_a_tree_with_files_added_and_taken_is_the_tree_that_git_writes(
    tree: WorkTree, tmp_path: Path, first: set[str], second: set[str]
) -> None:
    writing = WritingGit(tree)
    blob = writing.blob_id(b"x")
    store_objects(writing, [("blob", b"x")])
    root, trees = Folders.read(writing, None, first).trees_with([IndexUpdate(path, "100644", blob) for path in first])
    commit = format_commit(root, None, "m\n", writing.configuration(), seconds=1, zone="+0000")
    store_objects(writing, [*(("tree", raw) for raw in trees.values()), ("commit", commit)])
    name = object_id("commit", commit, algorithm=writing.algorithm)
    git(tree.root, "fsck", "--strict", "--no-dangling", name)
    taken = [IndexUpdate(path, "100644", None) for path in first & second]
    added = [IndexUpdate(path, "100644", blob) for path in second - first if is_one_tree(first | {path})]
    if not is_one_tree({update.path for update in added}):
        return
    made, _ = Folders.read(writing, name, first | second).trees_with([*taken, *added])
    index = tmp_path / "index"
    index.unlink(missing_ok=True)
    environment = {"GIT_INDEX_FILE": str(index), "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(tmp_path)}
    git(tree.root, "read-tree", name, env=environment)
    for update in [*taken, *added]:
        how = ["--force-remove", "--"] if update.oid is None else ["--add", "--cacheinfo", "100644", blob]
        git(tree.root, "update-index", *how, update.path, env=environment)
    assert made == git(tree.root, "write-tree", "--missing-ok", env=environment)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("Alice Example", "alice@example.com"),
        (" .A <B>; ", "<a@b>"),
        ('Zoë "Z" O\'Neil', "z@example.com"),
        ("x,", "y."),
    ],
)
def test_a_commit_is_byte_for_byte_the_one_that_git_makes(tree: WorkTree, name: str, address: str) -> None:
    git(tree.root, "config", "user.name", name)
    git(tree.root, "config", "user.email", address)
    root = git(tree.root, "rev-parse", "HEAD^{tree}")
    import os

    made = git(tree.root, "commit-tree", root, "-m", "message", env={
        **os.environ, "GIT_AUTHOR_DATE": "1700000000 +0130", "GIT_COMMITTER_DATE": "1700000000 +0130",
    })  # fmt: skip
    configuration = WritingGit(tree).configuration()
    ours = format_commit(root, None, "message\n", configuration, seconds=1700000000, zone="+0130")
    assert object_id("commit", ours, algorithm="sha1") == made


def test_a_file_where_a_folder_is_needed_is_refused_before_anything_is_stored(tree: WorkTree) -> None:
    commit_changes(tree, [Change(path="memories/x", content=b"1\n")], "x")
    writing = WritingGit(tree)
    for path in ("memories/x/a.md", "memories"):
        with pytest.raises(UsageError, match="where a folder is needed"):
            Folders.read(writing, "HEAD", [path]).trees_with([IndexUpdate(path, "100644", "0" * 40)])


def test_a_file_alone_in_its_folder_takes_the_folder_with_it(tree: WorkTree) -> None:
    commit_changes(tree, [Change(path="memories/team/a.md", content=b"1\n")], "one")
    commit_changes(tree, [Change(path="memories/team/a.md", content=None)], "two")
    assert git(tree.root, "ls-tree", "-r", "--name-only", "HEAD") == ".gitattributes\nREADME.md"


@pytest.mark.parametrize("packed", [False, True])
def test_old_texts_are_read_loose_or_packed_and_what_is_not_here_is_left_out(tree: WorkTree, packed: bool) -> None:
    names = [git(tree.root, "hash-object", "-w", "--stdin", input=text) for text in ("one\n", "two\n")]
    if packed:
        git(tree.root, "commit", "-q", "--allow-empty", "-m", "x")
        (tree.root / "a").write_text("one\n")
        git(tree.root, "add", "a")
        git(tree.root, "commit", "-qm", "a")
        git(tree.root, "gc", "-q")
    found = dict(read_old_blobs(tree, [names[0], "f" * 40, git(tree.root, "rev-parse", "HEAD")]))
    assert found == {names[0]: b"one\n"}


def test_a_damaged_object_gives_no_text(tree: WorkTree) -> None:
    name = git(tree.root, "hash-object", "-w", "--stdin", input="one\n")
    path = tree.root / ".git/objects" / name[:2] / name[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-9])
    assert list(read_old_blobs(tree, [name])) == []
