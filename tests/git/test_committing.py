"""One commit beside the user's own work (cases 09, 13; DESIGN 4)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import git

from memfs.disk.files import UnreadableFile
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.errors import SetupError, UsageError
from memfs.git.commit import Change, ConflictError, UncommittedError, commit_changes

PATH = "memories/team/a.md"


def _remember(tree: WorkTree, path: str = PATH, content: bytes | None = b"text\n", **more: object) -> str:
    return commit_changes(tree, [Change(path=path, content=content, **more)], f"Remember {path}")


def _files_of(root: Path, commit: str = "HEAD") -> list[str]:
    return git(root, "show", "--format=", "--name-status", commit).splitlines()


def _blob(tree: WorkTree, path: str) -> bytes:
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=tree.root, capture_output=True, check=True).stdout


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


# What a commit is


def test_a_memory_becomes_one_clean_commit_by_the_user(tree: WorkTree) -> None:
    before = git(tree.root, "rev-parse", "HEAD")
    message = "Remember a\n\nWhy: ü and # stay.\n# so does this\n\nMemory-Approval: v1 x;"
    new = commit_changes(tree, [Change(path=PATH, content="ü\n".encode(), before=None)], message)
    assert git(tree.root, "rev-parse", "HEAD", "HEAD^").split() == [new, before]
    assert (
        git(tree.root, "log", "-1", "--format=%an <%ae> %cn%n%B").rstrip()
        == f"Alice Example <alice@example.com> Alice Example\n{message}"
    )
    assert _files_of(tree.root) == [f"A\t{PATH}"]
    assert git(tree.root, "cat-file", "blob", f"HEAD:{PATH}") == "ü"
    assert (tree.root / PATH).read_text() == "ü\n"
    assert git(tree.root, "status", "--porcelain") == ""
    assert git(tree.root, "fsck", "--strict") == ""
    assert git(tree.root, "reflog", "-1", "--format=%gs") == "commit (memfs): Remember a"
    assert [name for name in os.listdir(str(tree.git_dir)) if "memfs" in name] == ["memfs.lock"]


def test_one_commit_adds_changes_and_deletes(tree: WorkTree) -> None:
    _remember(tree, "memories/team/old.md")
    _remember(tree, "memories/team/edited.md", b"one\n")
    changes = [
        Change(path="memories/team/old.md", content=None, before=_digest(b"text\n")),
        Change(path="memories/team/edited.md", content=b"two\n", before=_digest(b"one\n")),
        Change(path=".memfs/approvals/a.1.0123abcd.txt", content=b"exactly\r\nthese bytes", before=None),
    ]
    commit_changes(tree, changes, "three at once")
    assert _files_of(tree.root) == [
        "A\t.memfs/approvals/a.1.0123abcd.txt", "M\tmemories/team/edited.md", "D\tmemories/team/old.md",
    ]  # fmt: skip
    assert not (tree.root / "memories/team/old.md").exists()
    assert git(tree.root, "status", "--porcelain") == ""
    stored = subprocess.run(
        ["git", "show", "HEAD:.memfs/approvals/a.1.0123abcd.txt"], cwd=tree.root, capture_output=True
    )
    assert stored.stdout == b"exactly\r\nthese bytes"


def test_nothing_new_makes_no_commit(tree: WorkTree) -> None:
    first = _remember(tree)
    assert _remember(tree) == first
    assert git(tree.root, "rev-list", "--count", "HEAD") == "2"


def test_the_first_commit_of_a_repository_is_made(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "new")
    tree = find_work_tree(tmp_path / "new")
    new = _remember(tree)
    assert git(tree.root, "rev-list", "--all") == new
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(UsageError, match="nothing to delete"):
        _remember(find_work_tree(tmp_path / "empty"), content=None)
    assert git(tree.root, "status", "--porcelain") == ""


def test_a_mode_that_the_file_has_is_kept(tree: WorkTree) -> None:
    _remember(tree)
    (tree.root / PATH).chmod(0o755)
    git(tree.root, "commit", "-qam", "executable")
    _remember(tree, content=b"other\n")
    assert git(tree.root, "ls-tree", "HEAD", PATH).startswith("100755 ")
    assert git(tree.root, "status", "--porcelain") == ""


# The user's own work


def test_what_the_user_staged_and_half_edited_stays_as_it_was(make_case) -> None:
    tree = find_work_tree(make_case("19") / "user-staged")
    git(tree.root, "add", "-N", "memories/second.md")
    (tree.root / "untracked.txt").write_text("mine")
    diff = git(tree.root, "diff")
    _remember(tree)
    assert _files_of(tree.root) == [f"A\t{PATH}"]
    assert git(tree.root, "status", "--porcelain").splitlines() == [
        " M memories/second.md",
        "A  wip.txt",
        "?? untracked.txt",
    ]
    assert git(tree.root, "diff") == diff
    assert git(tree.root, "diff", "--cached", "--name-only") == "wip.txt"


def test_a_memory_that_the_user_staged_by_hand_may_be_committed_as_it_is(tree: WorkTree) -> None:
    (tree.root / "memories/team").mkdir()
    (tree.root / PATH).write_text("by hand\n")
    git(tree.root, "add", PATH)
    _remember(tree, content=b"by hand\n", before=_digest(b"by hand\n"))
    assert git(tree.root, "status", "--porcelain") == ""
    (tree.root / PATH).write_text("edited\n")
    git(tree.root, "add", PATH)
    _remember(tree, content=b"edited more\n", before=_digest(b"edited\n"))
    assert git(tree.root, "status", "--porcelain") == ""


def test_something_else_that_is_staged_for_the_file_stops_the_commit(tree: WorkTree) -> None:
    _remember(tree)
    (tree.root / PATH).write_text("staged\n")
    git(tree.root, "add", PATH)
    (tree.root / PATH).write_text("worked on\n")
    with pytest.raises(UsageError, match="something else is staged for this file") as caught:
        _remember(tree, content=b"new\n")
    assert caught.value.hint is not None
    assert f"git restore --staged -- {PATH}" in caught.value.hint
    assert (tree.root / PATH).read_text() == "worked on\n"
    assert git(tree.root, "status", "--porcelain") == f"MM {PATH}"


def test_a_staged_deletion_stops_the_commit_too(tree: WorkTree) -> None:
    _remember(tree)
    git(tree.root, "rm", "-q", "--cached", PATH)
    with pytest.raises(UsageError, match="something else is staged"):
        _remember(tree, content=b"new\n")
    assert git(tree.root, "status", "--porcelain").splitlines() == [f"D  {PATH}", "?? memories/"]


def test_hooks_filters_and_monitors_of_other_tools_do_not_run(tree: WorkTree, tmp_path: Path) -> None:
    log = tmp_path / "ran"
    names = [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ]
    script = f"#!/bin/sh\necho $0 >> {log}\nexit 1\n"
    for name in names:
        (tree.root / ".git/hooks" / name).write_text(script)
        (tree.root / ".git/hooks" / name).chmod(0o755)
    (tmp_path / "program").write_text(script)
    (tmp_path / "program").chmod(0o755)
    for setting in (
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.process",
        "core.editor",
        "core.pager",
        "diff.external",
    ):
        git(tree.root, "config", setting, str(tmp_path / "program"))
    (tree.root / ".git/info/attributes").write_text("* filter=x\n")
    with pytest.raises(UsageError, match="filter=x"):
        _remember(tree)
    (tree.root / ".git/info/attributes").write_text("* filter=x\nmemories/** -filter\n")
    _remember(tree)
    assert not log.exists(), log.read_text()


# Sparse, CRLF, LFS, flags (case 13)


@pytest.mark.parametrize("name", ["sparse", "skipwt", "assume", "autocrlf", "eolattr"])
def test_a_commit_holds_one_file_whatever_the_work_tree_lacks(make_case, name: str) -> None:
    tree = find_work_tree(make_case("13") / name)
    _remember(tree)
    assert _files_of(tree.root) == [f"M\t{PATH}"]
    assert git(tree.root, "status", "--porcelain") == ""
    tracked = git(tree.root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert {"memories/ops/b.md", "memories/first.md", "memories/lfs.md"} <= set(tracked)
    assert "local only" not in git(tree.root, "show", "HEAD:memories/first.md")


def test_a_file_that_is_not_checked_out_is_not_written(make_case) -> None:
    case = make_case("13")
    for name in ("sparse", "skipwt"):
        tree = find_work_tree(case / name)
        head = git(tree.root, "rev-parse", "HEAD")
        for content in (b"x\n", None):
            with pytest.raises(UsageError, match="not checked out here"):
                commit_changes(tree, [Change(path="memories/ops/b.md", content=content)], "x")
        assert not (tree.root / "memories/ops/b.md").exists()
        assert git(tree.root, "rev-parse", "HEAD") == head
        with pytest.raises(ConflictError, match="is there already"):
            _remember(tree, "memories/ops/b.md", before=None)


def test_a_local_line_that_git_was_told_to_ignore_is_not_committed(make_case) -> None:
    tree = find_work_tree(make_case("13") / "assume")
    local = (tree.root / "memories/first.md").read_bytes()
    with pytest.raises(UsageError, match="told to ignore") as caught:
        _remember(tree, "memories/first.md", local + b"and more\n", before=_digest(local))
    assert "--no-assume-unchanged" in str(caught.value.hint)
    assert (tree.root / "memories/first.md").read_bytes() == local


@pytest.mark.parametrize("name", ["autocrlf", "eolattr"])
def test_crlf_stays_on_the_disk_and_lf_is_committed(make_case, name: str) -> None:
    tree = find_work_tree(make_case("13") / name)
    before = (tree.root / "memories/first.md").read_bytes()
    assert b"\r\n" in before
    plain = before.replace(b"\r\n", b"\n")
    _remember(tree, "memories/first.md", plain + b"more\n", before=_digest(plain))
    assert (tree.root / "memories/first.md").read_bytes() == before + b"more\r\n"
    assert _blob(tree, "memories/first.md") == plain + b"more\n"
    _remember(tree, "memories/first.md", before + b"two\r\n")
    assert _blob(tree, "memories/first.md") == plain + b"two\n"
    assert git(tree.root, "status", "--porcelain") == ""
    clone = tree.root.parent / "clone"
    git(tree.root.parent, "clone", "-q", "-c", "core.autocrlf=false", str(tree.root), str(clone))
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.parametrize("setting", ["core.splitIndex", "index.sparse", "core.untrackedCache", "index.skipHash"])
def test_every_form_of_the_user_s_index_survives(tree: WorkTree, setting: str) -> None:
    git(tree.root, "config", setting, "true")
    git(tree.root, "status")
    (tree.root / "wip.txt").write_text("wip")
    git(tree.root, "add", "wip.txt")
    for number in range(3):
        _remember(tree, f"memories/team/n{number}.md")
    assert git(tree.root, "status", "--porcelain") == "A  wip.txt"
    assert git(tree.root, "fsck") == ""


# Somebody else was there first


def test_a_file_that_changed_meanwhile_is_a_conflict_and_stays(tree: WorkTree) -> None:
    _remember(tree)
    (tree.root / PATH).write_text("theirs\n")
    with pytest.raises(ConflictError, match="was changed meanwhile") as caught:
        _remember(tree, content=b"ours\n", before=_digest(b"text\n"))
    assert caught.value.path == PATH
    assert (tree.root / PATH).read_text() == "theirs\n"
    with pytest.raises(ConflictError, match="is there already"):
        _remember(tree, content=b"ours\n", before=None)
    (tree.root / PATH).unlink()
    with pytest.raises(ConflictError, match="is not there any more"):
        _remember(tree, content=b"ours\n", before=_digest(b"text\n"))
    with pytest.raises(ConflictError, match="is there already"):
        _remember(tree, content=b"ours\n", before=None)


def test_the_file_of_a_run_that_was_cut_short_is_committed_by_the_next(tree: WorkTree) -> None:
    (tree.root / "memories/team").mkdir()
    (tree.root / PATH).write_text("text\n")
    _remember(tree, before=None)
    assert _files_of(tree.root) == [f"A\t{PATH}"]


@pytest.mark.parametrize(("path", "conflict"), [("other.txt", False), (PATH, True)])
def test_another_commit_in_between_is_kept_or_is_a_conflict(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch, path: str, conflict: bool
) -> None:
    from memfs.git import commit as module

    original = module._Commit._store_commit
    raced: list[int] = []

    def race(self: object, *arguments: object) -> str:
        new = original(self, *arguments)  # type: ignore[arg-type]
        if not raced:  # a plain git commit by somebody else, between our commit object and the branch
            raced.append(1)
            blob = git(tree.root, "hash-object", "-w", "--stdin", input="theirs\n")
            env = {**os.environ, "GIT_INDEX_FILE": str(tree.root.parent / "their-index")}
            git(tree.root, "read-tree", "HEAD", env=env)
            git(tree.root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=env)
            theirs = git(tree.root, "commit-tree", git(tree.root, "write-tree", env=env), "-p", "HEAD", "-m", "theirs")
            git(tree.root, "update-ref", "refs/heads/main", theirs)
        return new

    monkeypatch.setattr(module._Commit, "_store_commit", race)
    if conflict:
        with pytest.raises(ConflictError, match="another commit changed it"):
            _remember(tree)
        assert not (tree.root / PATH).exists()
        assert git(tree.root, "log", "-1", "--format=%s") == "theirs"
    else:
        _remember(tree)
        assert git(tree.root, "log", "--format=%s").splitlines() == [f"Remember {PATH}", "theirs", "begin"]
        assert _files_of(tree.root) == [f"A\t{PATH}"]
    assert git(tree.root, "fsck", "--no-dangling") == ""
    assert not (tree.root / ".git/index.lock").exists()


# Another branch


def test_a_proposal_is_committed_on_its_own_branch_and_nothing_else_moves(tree: WorkTree) -> None:
    (tree.root / "wip.txt").write_text("wip")
    git(tree.root, "add", "wip.txt")
    head = git(tree.root, "rev-parse", "HEAD")
    index = (tree.root / ".git/index").read_bytes()
    change = Change(path=PATH, content=b"text\n", before=None)
    new = commit_changes(tree, [change], "propose", branch="memory/a", start=head)
    assert git(tree.root, "rev-parse", "memory/a", "memory/a^").split() == [new, head]
    assert git(tree.root, "rev-parse", "HEAD") == head
    assert (tree.root / ".git/index").read_bytes() == index
    assert not (tree.root / PATH).exists()
    with pytest.raises(UsageError, match="exists already"):
        commit_changes(tree, [change], "propose", branch="memory/a", start=head)
    with pytest.raises(ConflictError, match="is there already"):
        commit_changes(tree, [change], "propose", branch="memory/a")
    second = Change(path=PATH, content=b"more\n", before=_digest(b"text\n"))
    newer = commit_changes(tree, [second], "propose more", branch="memory/a")
    assert git(tree.root, "rev-parse", "memory/a^") == new
    assert git(tree.root, "show", f"{newer}:{PATH}") == "more"


def test_a_proposal_needs_no_branch_and_minds_no_merge(make_case) -> None:
    tree = find_work_tree(make_case("11") / "merge")
    status = git(tree.root, "status", "--porcelain")
    start = git(tree.root, "rev-parse", "main")
    commit_changes(tree, [Change(path=PATH, content=b"x\n")], "x", branch="memory/a", start=start)
    assert git(tree.root, "status", "--porcelain") == status
    assert git(tree.root, "rev-parse", "memory/a^") == start


@pytest.mark.parametrize("name", ["-x", "a..b", "a b", "../x", "x.lock", "", "a\nb"])
def test_what_is_no_branch_name_is_refused(tree: WorkTree, name: str) -> None:
    with pytest.raises(UsageError, match="not a name for a branch"):
        commit_changes(tree, [Change(path=PATH, content=b"x\n")], "x", branch=name)


def test_a_branch_that_another_work_tree_has_checked_out_is_left_alone(make_case) -> None:
    case = make_case("10")
    tree = find_work_tree(case / "proj/topic-wt")
    with pytest.raises(UsageError, match="checked out in another work tree"):
        commit_changes(tree, [Change(path=PATH, content=b"x\n")], "x", branch="main")


# Variables of a hook (case 09)


def test_a_hook_in_a_linked_work_tree_writes_into_the_memory_repository_alone(make_case, tmp_path: Path) -> None:
    case = make_case("09")
    script = tmp_path / "remember.py"
    script.write_text(
        "from pathlib import Path\nfrom memfs.disk.worktree import find_work_tree\n"
        "from memfs.git.commit import Change, commit_changes\n"
        f"tree = find_work_tree(Path({str(case / 'memrepo')!r}))\n"
        "raw = (tree.root / 'memories/third.md').read_bytes()\n"
        "print(commit_changes(tree, [Change(path='memories/third.md', content=raw)], 'third'))\n"
    )
    environment = {
        **os.environ,
        "MEMFS_CMD": f"{sys.executable} {script}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run([str(case / "run.sh")], env=environment, capture_output=True, text=True)
    assert "commit rc 0" in done.stdout, done.stdout + done.stderr
    assert "GIT_INDEX_FILE" in (case / "hook-env.txt").read_text()
    assert git(case / "linked", "ls-tree", "-r", "--name-only", "HEAD").splitlines() == ["src/a.txt", "src/b.txt"]
    assert git(case / "linked", "status", "--porcelain") == ""
    assert git(case / "linked", "fsck") == ""
    assert git(case / "memrepo", "log", "-1", "--format=%s") == "third"
    assert git(case / "memrepo", "status", "--porcelain") == ""
    assert git(case / "code", "config", "--bool", "core.bare") == "false"


def test_no_git_variable_of_the_environment_reaches_a_commit(
    tree: WorkTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "other")
    for name, value in {
        "GIT_DIR": str(tmp_path / "other/.git"),
        "GIT_WORK_TREE": str(tmp_path / "other"),
        "GIT_INDEX_FILE": str(tmp_path / "stray-index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "stray-objects"),
        "GIT_COMMON_DIR": str(tmp_path / "other/.git"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Mallory",
        "GIT_AUTHOR_NAME": "Mallory",
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00",
        "GIT_EXEC_PATH": str(tmp_path),
        "GIT_PYTHON_GIT_EXECUTABLE": "/bin/false",
        "GIT_NAMESPACE": "stray",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_CEILING_DIRECTORIES": str(tree.root),
    }.items():
        monkeypatch.setenv(name, value)
    kept = dict(os.environ)
    new = _remember(tree)
    assert dict(os.environ) == kept
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG_GLOBAL" not in name]:
        monkeypatch.delenv(name)
    assert git(tree.root, "rev-parse", "HEAD") == new
    assert git(tree.root, "log", "-1", "--format=%an") == "Alice Example"
    assert not git(tree.root, "log", "-1", "--format=%ad").startswith("Mon Jan 1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "project"]
    assert not (tmp_path / "other/memories").exists()


# Arguments


@pytest.mark.parametrize("path", ["../x.md", "/tmp/x.md", "memories/../x", ".git/hooks/x", "memories/.git/config", ""])
def test_a_path_outside_the_tree_is_refused(tree: WorkTree, path: str) -> None:
    with pytest.raises(UnreadableFile, match="not a path inside the work tree"):
        _remember(tree, path)


def test_a_path_that_leads_through_a_symlink_is_refused_unwritten(tree: WorkTree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tree.root / "memories/team").symlink_to(tmp_path / "outside")
    with pytest.raises(UnreadableFile, match="symlink"):
        _remember(tree)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_symlink_or_a_submodule_of_the_repository_is_not_written_over(tree: WorkTree, make_case) -> None:
    blob = git(tree.root, "hash-object", "-w", "--stdin", input="target")
    git(tree.root, "update-index", "--add", "--cacheinfo", f"120000,{blob},{PATH}")
    git(tree.root, "commit", "-qm", "link")
    with pytest.raises(UsageError, match="not a plain file"):
        _remember(tree)
    outer = find_work_tree(make_case("10") / "super")
    with pytest.raises(UsageError, match="lies in another repository"):
        _remember(outer, "mem/a.md")
    assert git(outer.root, "status", "--porcelain") == ""


def test_a_file_in_the_place_of_a_folder_is_refused_with_nothing_written(tree: WorkTree) -> None:
    _remember(tree, "memories/team/a.md")
    head = git(tree.root, "rev-parse", "HEAD")
    with pytest.raises(UnreadableFile, match="not a regular file"):
        _remember(tree, "memories/team/a.md/b.md")
    with pytest.raises(UsageError, match="not a plain file"):
        _remember(tree, "memories/team")
    assert git(tree.root, "rev-parse", "HEAD") == head
    assert git(tree.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("message", ["", " \n", "a\0b", "a\ud800"])
def test_a_message_that_says_nothing_or_is_no_text_is_refused(tree: WorkTree, message: str) -> None:
    with pytest.raises(UsageError, match="needs a message"):
        commit_changes(tree, [Change(path=PATH, content=b"x")], message)


def test_the_same_file_twice_or_no_file_is_refused(tree: WorkTree) -> None:
    with pytest.raises(UsageError, match="same file twice"):
        commit_changes(tree, [Change(path=PATH, content=b"1"), Change(path=PATH, content=b"2")], "x")
    with pytest.raises(UsageError, match="inside another file"):
        commit_changes(
            tree, [Change(path="memories/a.md", content=b"1"), Change(path="memories/a.md/b.md", content=b"2")], "x"
        )
    with pytest.raises(UsageError, match="nothing to commit"):
        commit_changes(tree, [], "x")


def test_a_work_tree_that_cannot_be_written_loses_nothing(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    _remember(tree)
    from memfs.git import commit as module

    write = module.write_in_tree

    def full(tree: WorkTree, path: str, content: bytes) -> None:
        if path.endswith("b.md"):
            raise OSError(28, "No space left on device")
        write(tree, path, content)

    monkeypatch.setattr(module, "write_in_tree", full)
    changes = [Change(path=PATH, content=b"new\n"), Change(path="memories/team/b.md", content=b"b\n")]
    with pytest.raises(SetupError, match="nothing was changed: No space left"):
        commit_changes(tree, changes, "two")
    assert (tree.root / PATH).read_text() == "text\n"
    assert git(tree.root, "status", "--porcelain") == ""


def test_an_edit_of_the_index_s_own_second_is_not_hidden_from_git(tree: WorkTree) -> None:
    # git tells such an edit from the index's time, so the copy that is published must have kept it.
    second = 1_700_000_000
    for setting in ("core.checkStat minimal", "core.trustctime false"):
        git(tree.root, "config", *setting.split())
    (tree.root / "code.txt").write_text("large\n")
    os.utime(tree.root / "code.txt", (second, second))
    git(tree.root, "add", "code.txt")
    git(tree.root, "commit", "-qm", "code")
    os.utime(tree.root / ".git/index", (second, second))
    (tree.root / "code.txt").write_text("other\n")
    os.utime(tree.root / "code.txt", (second, second))
    _remember(tree)
    assert git(tree.root, "status", "--porcelain") == " M code.txt"


def _meanwhile(monkeypatch: pytest.MonkeyPatch, *command: str, cwd: Path) -> None:
    """Have git do ``command`` between the making of our commit and its publication."""
    from memfs.git import commit as module

    original = module._Commit._store_commit

    def made(self: object, *arguments: object) -> str:
        new = original(self, *arguments)  # type: ignore[arg-type]
        git(cwd, *command)
        return new

    monkeypatch.setattr(module._Commit, "_store_commit", made)


def test_what_is_staged_while_the_commit_is_made_is_not_lost(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    _remember(tree)
    blob = git(tree.root, "hash-object", "-w", "--stdin", input="staged\n")
    _meanwhile(monkeypatch, "update-index", "--cacheinfo", f"100644,{blob},{PATH}", cwd=tree.root)
    head = git(tree.root, "rev-parse", "HEAD")
    with pytest.raises(UncommittedError, match="something else was staged for it"):
        _remember(tree, content=b"ours\n")
    assert git(tree.root, "rev-parse", "HEAD") == head
    assert git(tree.root, "show", f":{PATH}") == "staged"


def test_what_is_staged_elsewhere_meanwhile_stays_staged(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree.root / "wip.txt").write_text("wip")
    _meanwhile(monkeypatch, "add", "wip.txt", cwd=tree.root)
    _remember(tree)
    assert git(tree.root, "status", "--porcelain") == "A  wip.txt"


@pytest.mark.parametrize("command", ["symbolic-ref HEAD refs/heads/other", "update-ref --no-deref HEAD HEAD~0"])
def test_a_branch_that_is_left_meanwhile_is_not_moved(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    git(tree.root, "branch", "other")
    head = git(tree.root, "rev-parse", "HEAD")
    _meanwhile(monkeypatch, *command.split(), cwd=tree.root)
    with pytest.raises(UncommittedError, match="the branch was left"):
        _remember(tree)
    assert set(git(tree.root, "rev-parse", "main", "other", "HEAD").split()) == {head}
    assert (tree.root / PATH).read_text() == "text\n"


def test_the_message_is_utf_8_whatever_the_configuration_says(tree: WorkTree) -> None:
    git(tree.root, "config", "i18n.commitEncoding", "ISO-8859-1")
    commit_changes(tree, [Change(path=PATH, content=b"x")], "Grün")
    raw = subprocess.run(["git", "cat-file", "commit", "HEAD"], cwd=tree.root, capture_output=True).stdout
    assert "Grün".encode() in raw
    assert b"\nencoding " not in raw


def test_a_work_tree_that_the_configuration_puts_elsewhere_stays_where_it_is(tree: WorkTree, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    git(tree.root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    _remember(find_work_tree(tree.root))
    assert (tree.root / PATH).read_text() == "text\n"
    assert list((tmp_path / "elsewhere").iterdir()) == []
    git(tree.root, "config", "--unset", "core.worktree")
    assert git(tree.root, "status", "--porcelain") == ""


def test_a_file_that_a_filter_cleans_shows_no_change_after_a_commit(tree: WorkTree) -> None:
    git(tree.root, "config", "filter.upper.clean", "tr a-z A-Z")
    git(tree.root, "config", "filter.upper.required", "true")
    (tree.root / ".git/info/attributes").write_text("*.dat filter=upper\n")
    (tree.root / "big.dat").write_text("large\n")
    git(tree.root, "add", "big.dat")
    _remember(tree)
    assert git(tree.root, "show", ":big.dat") == "LARGE"
    assert git(tree.root, "status", "--porcelain") == "A  big.dat"
    git(tree.root, "commit", "-qm", "big")
    (tree.root / "big.dat").write_text("other\n")
    _remember(tree, content=b"again\n")
    assert git(tree.root, "status", "--porcelain") == " M big.dat"


def test_git_s_folder_that_is_full_loses_nothing(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    from memfs.git import commit as module

    def full(*arguments: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryDirectory", full)
        with pytest.raises(SetupError, match="so nothing was changed: No space left"):
            _remember(tree)
    assert not (tree.root / PATH).exists()
    with monkeypatch.context() as patch:
        patch.setattr(module._Commit, "_prepared_index", full)
        with pytest.raises(UncommittedError, match="No space left on device; written but not committed"):
            _remember(tree)
    assert not (tree.root / ".git/index.lock").exists()
    assert git(tree.root, "status", "--porcelain") == "?? memories/"
    _remember(tree, before=None)


def test_a_submodule_that_is_not_checked_out_is_not_written_into(tree: WorkTree) -> None:
    head = git(tree.root, "rev-parse", "HEAD")
    git(tree.root, "update-index", "--add", "--cacheinfo", f"160000,{head},memories/sub")
    git(tree.root, "commit", "-qm", "submodule")
    (tree.root / "memories/sub").mkdir(exist_ok=True)
    with pytest.raises(UsageError, match="is where a folder is needed"):
        _remember(tree, "memories/sub/a.md")
    assert git(tree.root, "ls-tree", "HEAD", "memories/sub").startswith("160000 ")
    assert list((tree.root / "memories/sub").iterdir()) == []
    git(tree.root, "rm", "-q", "--cached", "memories/sub")
    git(tree.root, "commit", "-qm", "no submodule")
    git(tree.root, "update-index", "--add", "--cacheinfo", f"160000,{head},memories/sub")  # staged only
    with pytest.raises(UsageError, match="is where a folder is needed"):
        _remember(tree, "memories/sub/a.md")
    assert git(tree.root, "diff", "--cached", "--name-status") == "A\tmemories/sub"
    assert list((tree.root / "memories/sub").iterdir()) == []


def test_many_files_are_one_commit(tree: WorkTree) -> None:
    changes = [Change(path=f"memories/team/n{number}.md", content=b"%d\n" % number) for number in range(1203)]
    commit_changes(tree, changes, "many")
    assert len(git(tree.root, "show", "--format=", "--name-only", "HEAD").splitlines()) == 1203
    commit_changes(tree, [Change(path=change.path, content=None) for change in changes[:700]], "fewer")
    assert len(git(tree.root, "ls-files", "memories").splitlines()) == 503
    assert git(tree.root, "status", "--porcelain") == ""


def test_a_user_s_index_that_is_missing_is_left_to_git(tree: WorkTree) -> None:
    clone = tree.root.parent / "clone"
    git(tree.root.parent, "clone", "-q", "--no-checkout", str(tree.root), str(clone))
    _remember(find_work_tree(clone))
    assert git(clone, "show", "--format=", "--name-status", "HEAD") == f"A\t{PATH}"
    assert (clone / PATH).read_text() == "text\n"
