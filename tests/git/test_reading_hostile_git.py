"""Reading and writing where the repository's own configuration is an attacker's (TRUST 7, cases 74 to 92).

What is trusted is not judged here; here it is that no program of the repository's ever runs and that
no configuration, variable or object store changes what is read.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support import git

from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.errors import SetupError, UsageError
from memfs.git.commit import Change, commit_changes
from memfs.git.process import ProgramError
from memfs.git.read import (
    author_address,
    blob_at,
    blob_id,
    blobs_at,
    call_git,
    git_environment,
    head_commit,
    object_format,
    read_blob,
    read_git,
    user_git_setting,
)

PATH = "memories/team/a.md"

_PROGRAMS = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.sshCommand",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "pager.log",
    "pager.cat-file",
    "pager.ls-files",
    "pager.config",
    "pager.var",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "merge.tool",
    "interactive.diffFilter",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.x509.program",
    "gpg.openpgp.program",
    "credential.helper",
    "sequence.editor",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "remote.origin.proxy",
    "trailer.x.command",
    "trailer.x.cmd",
    "browser.x.cmd",
    "man.x.cmd",
]


_HOOKS = ["pre-commit", "post-commit", "reference-transaction", "post-index-change", "pre-auto-gc", "post-checkout"]


@pytest.fixture
def evil(tree: WorkTree, tmp_path: Path) -> Path:
    """Arm ``tree`` with every program that a configuration can name; return the file that any of them writes."""
    commit_changes(tree, [Change(path=PATH, content=b"text\n")], "Remember a")
    (tree.root / "wip.txt").write_text("wip")
    git(tree.root, "add", "wip.txt")
    ran = tmp_path / "ran"
    program = tree.root / "evil"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> "{ran}"\nexit 1\n')
    program.chmod(0o755)
    hooks = tree.root / "hooks"
    hooks.mkdir()
    for name in _HOOKS:
        os.link(program, hooks / name)
        os.link(program, tree.root / ".git/hooks" / name)
    with (tree.root / ".git/config").open("a") as config:
        for name in _PROGRAMS:
            section, _, variable = name.rpartition(".")
            top, _, sub = section.partition(".")
            config.write(f'[{top} "{sub}"]\n' if sub else f"[{top}]\n")
            config.write(f"\t{variable} = {program}\n")
        config.write(
            f"[core]\n\thooksPath = {hooks}\n[log]\n\tshowSignature = true\n[alias]\n"
            + "".join(
                f"\t{name} = !{program}\n" for name in ("log", "cat-file", "ls-files", "var", "config", "update-ref")
            )
            + "[include]\n\tpath = ../gitcfg\n[gpg]\n\tformat = ssh\n[i18n]\n\tlogOutputEncoding = UTF-16\n"
        )
    (tree.root / "gitcfg").write_text(
        f"[core]\n\tpager = {program}\n\tfsmonitor = {program}\n[log]\n\tshowSignature = true\n"
    )
    (tree.root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (tree.root / ".git/info/attributes").write_text("* filter=evil diff=evil merge=evil\n")
    return ran


def test_no_configured_program_runs_when_memfs_reads(tree: WorkTree, evil: Path) -> None:
    head = head_commit(tree)
    assert head is not None
    (tree.root / PATH).write_text("changed\n")  # what a monitor or a filter would be asked about
    log = read_git(
        tree, "log", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "--format=%H%x00%B%x00", "HEAD"
    )
    assert log.startswith(head.encode())
    assert b"Remember a" in log
    for arguments in (
        ("log", "-p", "--format=%H"),
        ("show", "--format=%H", "HEAD"),
        ("diff-tree", "-p", "HEAD~1", "HEAD"),
        ("cat-file", "-p", f"HEAD:{PATH}"),
        ("ls-files", "-s", "-z"),
        ("ls-tree", "-r", "-l", "-z", "HEAD"),
        ("rev-list", "--objects", "HEAD"),
        ("merge-base", "HEAD", "HEAD~1"),
        ("for-each-ref",),
    ):
        assert call_git(tree, *arguments).returncode == 0, arguments
    assert blob_at(tree, "HEAD", PATH) == blob_id(b"text\n")
    assert read_blob(tree, blob_id(b"text\n")) == b"text\n"
    assert author_address(tree) == "alice@example.com"
    assert not evil.exists(), evil.read_text()


@pytest.mark.parametrize("command", ["status", "diff", "verify-commit", "add", "fetch", "gc", "submodule"])
def test_what_is_no_plain_read_is_not_run_at_all(tree: WorkTree, command: str) -> None:
    with pytest.raises(ValueError, match="not for reading"):
        read_git(tree, command)


def test_no_configured_program_runs_when_memfs_commits(tree: WorkTree, evil: Path) -> None:
    change = Change(path="memories/team/refused.md", content=b"x\n")
    with pytest.raises(UsageError, match="filter=evil"):
        commit_changes(tree, [change], "x")
    for file in (tree.root / ".gitattributes", tree.root / ".git/info/attributes"):
        file.write_text("* filter=evil diff=evil merge=evil\nmemories/** -filter\n")
    (tree.root / "wip.txt").write_text("wop")
    commit_changes(tree, [Change(path=PATH, content=b"other\n")], "Edit a")
    commit_changes(
        tree, [Change(path="memories/team/b.md", content=b"b\n")], "b", branch="memory/b", start=head_commit(tree)
    )
    assert not evil.exists(), evil.read_text()


def test_the_armed_repository_does_run_them_under_plain_git(tree: WorkTree, evil: Path) -> None:
    # The proof that the two tests above would notice.
    subprocess.run(["git", "status"], cwd=tree.root, capture_output=True, stdin=subprocess.DEVNULL)
    assert evil.exists()


def test_a_missing_object_is_not_fetched(tree: WorkTree, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "upload"
    program.write_text(f"#!/bin/sh\necho ran > {ran}\n")
    program.chmod(0o755)
    commit_changes(tree, [Change(path=PATH, content=b"text\n")], "a")
    oid = blob_id(b"text\n")
    for url in (str(tree.root), f"ext::{program}", "ssh://example.com/x", f"file://{tree.root}"):
        with (tree.root / ".git/config").open("a") as config:
            config.write(
                f"[core]\n\trepositoryFormatVersion = 1\n\tsshCommand = {program}\n"
                "[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n"
                f'[remote "origin"]\n\turl = {url}\n\tpromisor = true\n\tuploadpack = {program}\n'
            )
        (tree.root / f".git/objects/{oid[:2]}/{oid[2:]}").unlink(missing_ok=True)
        assert blob_at(tree, "HEAD", PATH) is None
        with pytest.raises(SetupError, match="holds no blob"):
            read_blob(tree, oid)
        commit_changes(tree, [Change(path="memories/team/b.md", content=url.encode())], "b")
        assert not ran.exists(), url


def test_replaced_objects_and_grafts_change_nothing(tree: WorkTree) -> None:
    good = commit_changes(tree, [Change(path=PATH, content=b"good\n")], "good")
    evil_blob = git(tree.root, "hash-object", "-w", "--stdin", input="evil\n")
    evil_commit = git(tree.root, "commit-tree", f"{good}^{{tree}}", "-m", "evil")
    git(tree.root, "replace", blob_id(b"good\n"), evil_blob)
    git(tree.root, "replace", good, evil_commit)
    (tree.root / ".git/info/grafts").write_text(good + "\n")
    assert git(tree.root, "log", "--format=%s") == "evil"
    assert read_blob(tree, blob_id(b"good\n")) == b"good\n"
    assert read_git(tree, "log", "--format=%s").decode().split() == ["good", "begin"]
    new = commit_changes(tree, [Change(path="memories/team/b.md", content=b"b\n")], "next")
    raw = git(tree.root, "--no-replace-objects", "cat-file", "commit", new)
    assert f"parent {good}\n" in raw
    stored = git(tree.root, "--no-replace-objects", "rev-parse", f"{new}:{PATH}")
    assert stored == blob_id(b"good\n")


def test_every_git_variable_is_without_effect(tree: WorkTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_changes(tree, [Change(path=PATH, content=b"text\n")], "a")
    head = git(tree.root, "rev-parse", "HEAD")
    foreign = tmp_path / "foreign"
    git(tmp_path, "init", "-q", "foreign")
    stray = str(foreign / ".git")
    for name, value in {
        "GIT_DIR": stray, "GIT_WORK_TREE": str(foreign), "GIT_INDEX_FILE": stray + "/index", "GIT_COMMON_DIR": stray,
        "GIT_OBJECT_DIRECTORY": stray + "/objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": stray + "/objects",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_PARAMETERS": "'core.bare'='true'", "GIT_CONFIG": stray + "/config", "GIT_EXEC_PATH": str(tmp_path),
        "GIT_REPLACE_REF_BASE": "refs/evil/", "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_TRACE2": str(tmp_path / "trace2"), "GIT_TRACE2_EVENT": str(tmp_path / "trace3"), "GIT_NAMESPACE": "evil",
        "GIT_CEILING_DIRECTORIES": str(tree.root),
        "GIT_SHALLOW_FILE": str(tmp_path / "shallow"), "GIT_GRAFT_FILE": str(tmp_path / "grafts"), "GIT_PREFIX": "x/",
        "GIT_EXTERNAL_DIFF": "false", "GIT_PAGER": "false", "GIT_SSH_COMMAND": "false", "GIT_DEFAULT_HASH": "sha256",
        "GIT_LITERAL_PATHSPECS": "0", "GIT_GLOB_PATHSPECS": "1", "GIT_ATTR_SOURCE": "HEAD", "GIT_PROTOCOL": "x",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert head_commit(find_work_tree(tree.root)) == head
    assert read_git(tree, "rev-parse", "HEAD").decode().strip() == head
    assert read_git(tree, "ls-files", "-z").split(b"\0")[:-1] == [b".gitattributes", b"README.md", PATH.encode()]
    assert blob_at(tree, "HEAD", PATH) == blob_id(b"text\n")
    assert object_format(tree) == "sha1"
    assert user_git_setting("user.email") == "alice@example.com"
    assert sorted(os.listdir(tmp_path)) == ["foreign", "project"]


def test_the_environment_of_a_reading_git_holds_what_trust_7_says() -> None:
    environment = git_environment({"PATH": "/bin", "GIT_DIR": "/x", "GIT_ANYTHING_NEW": "1", "SSH_AUTH_SOCK": "/s"})
    assert environment == {
        "PATH": "/bin", "SSH_AUTH_SOCK": "/s", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null", "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
    }  # fmt: skip


def test_a_git_in_the_working_directory_is_not_taken_for_git(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tree.root / "ran"
    (tree.root / "git").write_text(f"#!/bin/sh\necho ran > {ran}\n")
    (tree.root / "git").chmod(0o755)
    (tree.root / "git.py").write_text(f"open({str(ran)!r}, 'w')\n")
    monkeypatch.chdir(tree.root)
    for path in (".", "", "./", "../project"):
        monkeypatch.setenv("PATH", path + os.pathsep + os.environ["PATH"])
    read_git(tree, "rev-parse", "HEAD")
    commit_changes(tree, [Change(path=PATH, content=b"x\n")], "x")
    assert not ran.exists()


def test_a_tag_of_the_branch_s_name_and_a_branch_like_an_option_are_no_trap(tree: WorkTree) -> None:
    first = git(tree.root, "rev-parse", "HEAD")
    git(tree.root, "tag", "main")
    git(tree.root, "tag", "HEAD")
    new = commit_changes(tree, [Change(path=PATH, content=b"x\n")], "x")
    assert git(tree.root, "rev-parse", "refs/heads/main", "refs/tags/main").split() == [new, first]
    git(tree.root, "update-ref", "refs/heads/-x", new)
    git(tree.root, "symbolic-ref", "HEAD", "refs/heads/-x")
    newer = commit_changes(tree, [Change(path=PATH, content=b"y\n")], "y")
    assert head_commit(tree) == newer
    assert git(tree.root, "rev-parse", "refs/heads/-x") == newer
    assert blobs_at(tree, [(PATH, "-x"), (PATH, "refs/heads/-x"), (PATH, "--batch-all-objects")]) == {
        (PATH, "-x"): None, (PATH, "refs/heads/-x"): blob_id(b"y\n"), (PATH, "--batch-all-objects"): None,
    }  # fmt: skip


def test_a_path_cannot_ask_a_second_question(tree: WorkTree) -> None:
    commit_changes(tree, [Change(path=PATH, content=b"text\n")], "a")
    paths = [
        f"x\nHEAD:{PATH}",
        f"x\r\n{PATH}",
        "",
        "x\0",
        "memories",
        "memories/",
        f"./{PATH}",
        f"../{PATH}",
        f"/{PATH}",
        "a b",
    ]
    found = blobs_at(tree, [(path, "HEAD") for path in [*paths, PATH]])
    assert found.pop((PATH, "HEAD")) == blob_id(b"text\n")
    assert set(found.values()) == {None}
    oid = blob_id(b"text\n")
    assert blob_at(tree, f"HEAD:{PATH} ", "x") is None
    assert blob_at(tree, oid, PATH) is None  # a blob, no commit


_quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_quick
@given(
    st.lists(
        st.tuples(st.text(max_size=20), st.text(alphabet="0123456789abcdefHEAD:^~@{}-/ \n", max_size=12)), max_size=6
    )
)
@example([("../../x", "HEAD"), (":(top)x", "HEAD"), ("x", "HEAD^{/x}"), (":0:x", "HEAD"), ("x" * 5000, "HEAD")])
def test_no_question_about_evidence_breaks_or_moves_an_answer(tree: WorkTree, pairs: list[tuple[str, str]]) -> None:
    head = git(tree.root, "rev-parse", "HEAD")
    asked = [*pairs[:3], ("README.md", head), *pairs[3:]]
    found = blobs_at(tree, asked)
    assert set(found) == set(asked)
    assert found["README.md", head] == blob_id(b"# A project\n")


@given(st.binary(max_size=2000))
def test_the_name_of_a_blob_is_git_s(raw: bytes) -> None:
    import hashlib

    assert blob_id(raw) == hashlib.sha1(b"blob " + str(len(raw)).encode() + b"\0" + raw).hexdigest()
    assert len(blob_id(raw, algorithm="sha256")) == 64


def test_a_question_that_git_dies_of_costs_the_others_nothing(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    from memfs.git import read as module

    monkeypatch.setattr(module, "_is_askable", lambda path: "\n" not in path)
    pairs = [
        ("README.md", "HEAD"),
        ("../x", "HEAD"),
        (".gitattributes", "HEAD"),
        ("../y", "HEAD"),
        ("README.md", "refs/heads/main"),
    ]
    found = blobs_at(tree, pairs)
    assert [found[pair] is None for pair in pairs] == [False, True, False, True, False]


def test_the_name_of_a_blob_agrees_with_git_itself(tree: WorkTree) -> None:
    for raw in (b"", b"x", b"a\r\nb\0\xff"):
        done = subprocess.run(
            ["git", "hash-object", "--stdin"], input=raw, cwd=tree.root, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == blob_id(raw)


def test_a_blob_is_given_whole_or_refused(tree: WorkTree) -> None:
    commit_changes(tree, [Change(path=PATH, content=b"x" * 1000)], "a")
    oid = blob_id(b"x" * 1000)
    assert read_blob(tree, oid, limit=1000) == b"x" * 1000
    with pytest.raises(SetupError, match="larger than 999 bytes"):
        read_blob(tree, oid, limit=999)
    with pytest.raises(SetupError, match="holds no blob"):
        read_blob(tree, git(tree.root, "rev-parse", "HEAD"))
    for name in ("HEAD", "-x", oid[:10], oid + "\nHEAD"):
        with pytest.raises(SetupError, match="not a name of a git object"):
            read_blob(tree, name)


def test_thousands_of_objects_pass_through_one_process(tree: WorkTree) -> None:
    oid = blob_id(b"# A project\n")
    answer = read_git(tree, "cat-file", "--batch", input=(oid + "\n").encode() * 10_000)
    assert answer.count(b"# A project\n") == 10_000


def test_without_git_or_history_evidence_is_unknown_and_nothing_fails(
    tree: WorkTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unpacked/.memfs").mkdir(parents=True)
    unpacked = find_work_tree(tmp_path / "unpacked")
    assert blob_at(unpacked, "HEAD", PATH) is None
    with pytest.raises(UsageError, match="no git here"):
        read_git(unpacked, "log")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert head_commit(tree) is not None
    assert blob_at(tree, "HEAD", "README.md") is None
    with pytest.raises(SetupError, match="git is not installed"):
        read_git(tree, "log")
    with pytest.raises(SetupError, match="git is not installed"):
        commit_changes(tree, [Change(path=PATH, content=b"x")], "x")
    assert not (tree.root / "memories/team").exists()


def test_what_git_says_when_it_fails_is_one_safe_line(tree: WorkTree) -> None:
    with pytest.raises(ProgramError) as caught:
        read_git(tree, "cat-file", "-p", "\x1b[2K\u202enothing\nhere")
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert read_git(tree, "cat-file", "-p", "nothing", check=False) == b""


def test_somebody_else_s_repository_is_read_once_the_user_has_listed_it(tree: WorkTree) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to somebody else")
    head = head_commit(tree)
    for path in (tree.root, tree.root / ".git"):
        os.chown(path, 12345, 12345)
    assert head_commit(tree) == head
    assert blob_at(tree, "HEAD", "README.md") is None
    with pytest.raises(SetupError, match="belongs to another user") as caught:
        read_git(tree, "log")
    assert "git config --global --add safe.directory" in str(caught.value.hint)
    git(tree.root, "config", "--global", "--add", "safe.directory", "/elsewhere")
    with pytest.raises(SetupError, match="belongs to another user"):
        read_git(tree, "log")
    git(tree.root, "config", "--global", "--add", "safe.directory", str(tree.root))
    assert read_git(tree, "log", "--format=%H").decode().strip() == head
    assert blob_at(tree, "HEAD", "README.md") == blob_id(b"# A project\n")


def test_a_broken_git_directory_is_not_read_from_the_parent(tree: WorkTree) -> None:
    inner = tree.root / "inner"
    git(tree.root, "init", "-q", "inner")
    found = find_work_tree(inner)
    (inner / ".git/HEAD").write_text("nonsense")
    assert call_git(found, "rev-parse", "--show-toplevel").returncode != 0
    assert blob_at(found, "HEAD", "README.md") is None


def test_an_embedded_bare_repository_is_no_work_tree_and_changes_nothing(tree: WorkTree) -> None:
    git(tree.root, "init", "-q", "--bare", "docs")
    with pytest.raises(UsageError, match="no work tree"):
        find_work_tree(tree.root / "docs")
    assert find_work_tree(tree.root).root == tree.root
    for name in ("HEAD", "config", "objects", "refs"):
        (tree.root / "docs" / name).rename(tree.root / name)
    assert find_work_tree(tree.root) == tree
    assert read_git(tree, "rev-parse", "HEAD").decode().strip() == head_commit(tree)


def test_alternates_of_another_repository_do_no_harm(tree: WorkTree, tmp_path: Path) -> None:
    head = head_commit(tree)
    alternates = tree.root / ".git/objects/info/alternates"
    for line in ("/nowhere/at/all\n", f"{tmp_path}\n", "\0\n", "../../..\n"):
        alternates.write_text(line)
        assert read_git(tree, "log", "--format=%H").decode().strip() == head
        assert blob_at(tree, "HEAD", "README.md") == blob_id(b"# A project\n")


def test_reading_writes_nothing_into_the_repository(tree: WorkTree) -> None:
    (tree.root / "README.md").write_text("# A project\n")  # stat data of the index is out of date now
    before = {path: path.stat().st_mtime_ns for path in (tree.root / ".git").rglob("*")}
    read_git(tree, "ls-files", "-m")
    read_git(tree, "log")
    blob_at(tree, "HEAD", "README.md")
    assert {path: path.stat().st_mtime_ns for path in (tree.root / ".git").rglob("*")} == before
