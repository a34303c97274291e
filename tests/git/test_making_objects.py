"""What memfs makes of a commit is what git itself would make of it."""

from __future__ import annotations

import os
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
from memfs.git.writing import IndexUpdate, WritingGit

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
    blob = git(tree.root, "hash-object", "-w", "--stdin", input="x")
    contents = dict.fromkeys(first | second, b"x")
    start = [IndexUpdate(path, "100644", blob) for path in sorted(first)]
    name = writing.store_commit(None, start, contents, "m\n")
    git(tree.root, "fsck", "--strict", "--no-dangling", name)
    assert git(tree.root, "ls-tree", "-r", "-z", "--name-only", name).split("\0")[:-1] == sorted(first, key=os.fsencode)
    taken = [IndexUpdate(path, "100644", None) for path in first & second]
    added = [IndexUpdate(path, "100644", blob) for path in second - first if is_one_tree(first | {path})]
    if not is_one_tree({update.path for update in added}):
        return
    made = writing.store_commit(name, [*taken, *added], contents, "m\n")
    index = tmp_path / "index"
    index.unlink(missing_ok=True)
    environment = {"GIT_INDEX_FILE": str(index), "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(tmp_path)}
    git(tree.root, "read-tree", name, env=environment)
    for update in [*taken, *added]:
        how = ["--force-remove", "--"] if update.oid is None else ["--add", "--cacheinfo", "100644", blob]
        git(tree.root, "update-index", *how, update.path, env=environment)
    assert git(tree.root, "rev-parse", f"{made}^{{tree}}") == git(tree.root, "write-tree", env=environment)
    assert git(tree.root, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


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
    ours = WritingGit(tree).store_commit(None, [IndexUpdate("a", "100644", "")], {"a": b"x"}, "message\n")
    when = git(tree.root, "show", "-s", "--format=%ad", "--date=raw", ours)
    made = git(tree.root, "commit-tree", f"{ours}^{{tree}}", "-m", "message", env={
        **os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when,
    })  # fmt: skip
    assert ours == made


@pytest.mark.parametrize("path", ['"quoted".md', "back\\slash.md", "ü b.md", "\udcff.md"])
def test_a_path_of_any_bytes_is_stored_as_it_is(tree: WorkTree, path: str) -> None:
    writing = WritingGit(tree)
    made = writing.store_commit("HEAD", [IndexUpdate(path, "100755", "")], {path: b"data 3\n"}, "m\n")
    found = writing.read_tree(made, [path])
    assert found[path].mode == "100755"
    assert writing.read_blob(found[path].oid) == b"data 3\n"


def test_a_file_where_a_folder_is_needed_is_refused_before_anything_is_stored(tree: WorkTree) -> None:
    commit_changes(tree, [Change(path="memories/x", content=b"1\n")], "x")
    (tree.root / "memories/x").unlink()
    head = git(tree.root, "rev-parse", "HEAD")
    with pytest.raises(UsageError, match="where a folder is needed"):
        commit_changes(tree, [Change(path="memories/x/a.md", content=b"2\n")], "y")
    with pytest.raises(UsageError, match="is not a plain file"):
        commit_changes(tree, [Change(path="memories", content=b"2\n")], "y")
    assert git(tree.root, "rev-parse", "HEAD") == head
    assert git(tree.root, "status", "--porcelain") == " D memories/x"


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
