"""Commits of a user who has them signed: no wait for a passphrase, no lost file (case 16)."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from support import git

from memfs.disk.worktree import find_work_tree
from memfs.errors import SetupError
from memfs.git.commit import Change, UncommittedError, commit_changes

PATH = "memories/team/signed.md"


def _remember(root: Path, **more: float) -> str:
    return commit_changes(find_work_tree(root), [Change(path=PATH, content=b"x\n", before=None)], "Remember", **more)


def _is_signed(root: Path) -> bool:
    return "\ngpgsig " in git(root, "cat-file", "commit", "HEAD")


def test_a_commit_is_signed_where_the_user_has_them_signed(make_case) -> None:
    case = make_case("16")
    _remember(case / "plain")
    assert _is_signed(case / "plain")
    signers = f"gpg.ssh.allowedSignersFile={case / 'signers.good'}"
    git(case / "plain", "-c", signers, "verify-commit", "HEAD")
    git(case / "plain", "config", "commit.gpgsign", "false")
    commit_changes(find_work_tree(case / "plain"), [Change(path="memories/team/b.md", content=b"b")], "b")
    assert not _is_signed(case / "plain")


def test_a_key_that_cannot_sign_is_named_with_its_cause_and_the_file_stays(make_case) -> None:
    case = make_case("16")
    causes = {
        "locked": "incorrect passphrase", "locked-pub": "incorrect passphrase", "missing": "No such file",
        "literal": "No private key found", "perms": "Permissions 0644", "gpg-no-tty": "",
    }  # fmt: skip
    for name, cause in causes.items():
        root = case / name
        head, staged = git(root, "rev-parse", "HEAD"), git(root, "diff", "--cached", "--name-status")
        start = time.monotonic()
        with pytest.raises(UncommittedError, match="could not be signed with the key") as caught:
            _remember(root)
        assert time.monotonic() - start < 5, name
        assert cause in str(caught.value), name
        assert f"written but not committed: {PATH}" in str(caught.value), name
        assert caught.value.paths == (PATH,)
        assert "\n" not in str(caught.value)
        assert (root / PATH).read_bytes() == b"x\n"
        assert git(root, "rev-parse", "HEAD") == head, name
        assert git(root, "diff", "--cached", "--name-status") == staged, name
        assert not list((root / ".git").glob("*index*.lock")), name


def test_a_second_run_commits_once_when_the_cause_is_gone(make_case) -> None:
    root = make_case("16") / "locked"
    with pytest.raises(UncommittedError):
        _remember(root)
    git(root, "config", "user.signingkey", git(root.parent / "plain", "config", "user.signingkey"))
    _remember(root)
    assert _is_signed(root)
    assert git(root, "show", "--format=", "--name-status", "HEAD") == f"A\t{PATH}"
    assert _remember_again_is_nothing(root)


def _remember_again_is_nothing(root: Path) -> bool:
    head = git(root, "rev-parse", "HEAD")
    return commit_changes(find_work_tree(root), [Change(path=PATH, content=b"x\n")], "again") == head


def test_a_signer_that_hangs_is_ended_with_its_children(make_case) -> None:
    case = make_case("16")
    mark = case / "pid"
    (case / "keys/slow").write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {mark}\nwait\n")
    # Whose program signs is for the user's own configuration to say, not for the repository's.
    git(case, "config", "--global", "gpg.ssh.program", str(case / "keys/slow"))
    start = time.monotonic()
    with pytest.raises(UncommittedError, match="did not end within 1 seconds"):
        _remember(case / "signer-hangs", signing_timeout=1.0)
    assert time.monotonic() - start < 5
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _is_alive(int(mark.read_text())):
        time.sleep(0.05)
    assert not _is_alive(int(mark.read_text()))
    assert not (case / "signer-hangs/.git/index.lock").exists()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_agent_s_key_signs_and_its_socket_is_passed_on(make_case, monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case("16")
    started = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True).stdout
    values = dict(part.split("=", 1) for part in started.replace("\n", "").split(";") if "=" in part)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", values["SSH_AUTH_SOCK"])
        subprocess.run(["ssh-add", "-q", str(case / "keys/plain")], check=True, stdin=subprocess.DEVNULL)
        _remember(case / "literal")
    finally:
        os.kill(int(values["SSH_AGENT_PID"]), 15)
    assert _is_signed(case / "literal")


def test_a_signer_never_reads_the_standard_input_of_memfs(make_case) -> None:
    case = make_case("16")
    code = (
        "import sys; from pathlib import Path; from memfs.disk.worktree import find_work_tree\n"
        "from memfs.git.commit import Change, commit_changes, UncommittedError\n"
        "tree = find_work_tree(Path(sys.argv[1]))\n"
        "try: commit_changes(tree, [Change(path='memories/team/x.md', content=b'x')], 'x')\n"
        "except UncommittedError: print('left:', sys.stdin.readline())\n"
    )
    import sys

    argv = [sys.executable, "-c", code, str(case / "locked")]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        out, _ = child.communicate('{"jsonrpc": "2.0"}\n', timeout=20)
    assert out.strip() == 'left: {"jsonrpc": "2.0"}'


def test_no_configuration_of_a_repository_names_the_program_that_signs(repo: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/PWNED\nexit 1\n")
    evil.chmod(0o755)
    for name in (
        "gpg.program",
        "gpg.openpgp.program",
        "gpg.x509.program",
        "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand",
    ):
        git(repo, "config", name, str(evil))
    git(repo, "config", "commit.gpgSign", "true")
    for form in ("ssh", "openpgp", "x509"):
        git(repo, "config", "gpg.format", form)
        for key in ("x", None):
            if key:
                git(repo, "config", "user.signingkey", key)
            else:
                git(repo, "config", "--unset", "user.signingkey")
            change = Change(path=f"memories/team/{form}-{key}.md", content=b"x\n", before=None)
            with pytest.raises(UncommittedError):
                commit_changes(find_work_tree(repo), [change], "x")
    assert not (tmp_path / "PWNED").exists()


def test_a_deletion_that_cannot_be_committed_is_put_back(repo: Path) -> None:
    tree = find_work_tree(repo)
    commit_changes(tree, [Change(path="memories/team/x.md", content=b"x\n", before=None)], "x")
    git(repo, "config", "commit.gpgSign", "true")
    git(repo, "config", "gpg.format", "ssh")
    git(repo, "config", "user.signingkey", "no-such-key")
    with pytest.raises(SetupError, match="nothing was changed"):
        commit_changes(tree, [Change(path="memories/team/x.md", content=None)], "forget")
    assert (repo / "memories/team/x.md").read_text() == "x\n"
    assert git(repo, "status", "--porcelain") == ""


def test_a_home_that_the_environment_moves_names_no_signing_program(
    repo: Path, sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's settings can set $HOME for an agent's commands, and put it into the repository."""
    from memfs.git.read import user_git_setting
    from memfs.git.writing import signing_programs

    moved = repo / "home"
    (moved / ".config" / "git").mkdir(parents=True)
    for file in (moved / ".gitconfig", moved / ".config" / "git" / "config"):
        file.write_text('[gpg "ssh"]\n\tprogram = /evil\n[gpg]\n\tprogram = /evil\n')
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("HOME", str(moved))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(moved / ".config"))
    assert not [switch for switch in signing_programs() if "/evil" in switch]
    (sealed / ".gitconfig").write_text('[gpg "ssh"]\n\tprogram = /mine\n')
    assert user_git_setting("gpg.ssh.program") == "/mine"
