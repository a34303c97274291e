"""Threat: the repository's git itself lies or runs programs (trust cases 74-92)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from people import Person, Team, found_team, make_record, memory_text, sees_all
from support import git, launch_command

from memfs.disk.places import Places
from memfs.errors import UsageError
from memfs.trust.record import Verb, format_record


def forget(team: Team) -> None:
    shutil.rmtree(team.places.state, ignore_errors=True)
    shutil.rmtree(team.places.cache, ignore_errors=True)


@pytest.fixture
def withdrawn(team: Team, bob: Person) -> Team:
    """Return the team after a withdrawal of which only the trailer in history is left."""
    team.revoke(bob, "a")
    for name in team.receipts():
        if name.startswith("a.2."):
            (team.root / ".memfs/approvals" / name).unlink()
    team.commit("drop the receipt")
    forget(team)
    assert team.says() == "withdrawn"
    forget(team)
    return team


def test_a_replaced_blob_does_not_change_the_bytes_that_are_judged(team: Team) -> None:
    good = team.git("rev-parse", "HEAD:memories/team/a.md")
    (team.root / "evil").write_text(memory_text("Evil."))
    evil = team.git("hash-object", "-w", "evil")
    team.git("replace", good, evil)
    assert team.says() == "trusted"
    team.path("a").unlink()
    team.git("checkout", "-q", "--", "memories/team/a.md")
    assert "Evil." in team.path("a").read_text()
    assert team.says() == "changed"


def test_a_replaced_commit_does_not_hide_a_withdrawal(withdrawn: Team) -> None:
    team = withdrawn
    revoke, before = team.git("rev-parse", "HEAD~1"), team.git("rev-parse", "HEAD~2")
    team.git("replace", revoke, before)
    assert "revoke" not in team.git("log", "--format=%B")
    assert team.says() == "withdrawn"


def test_grafts_do_not_hide_a_withdrawal(withdrawn: Team) -> None:
    team = withdrawn
    head, start = team.git("rev-parse", "HEAD"), team.git("rev-parse", "HEAD~3")
    (team.root / ".git/info").mkdir(exist_ok=True)
    (team.root / ".git/info/grafts").write_text(f"{head} {start}\n")
    assert "revoke" not in team.git("log", "--format=%B")
    assert team.says() == "withdrawn"


def test_a_doctored_commit_graph_does_not_hide_a_withdrawal(withdrawn: Team) -> None:
    team = withdrawn
    team.git("replace", "--graft", "HEAD", "HEAD~3")
    team.git("commit-graph", "write", "--reachable")
    graph = team.root / ".git/objects/info/commit-graph"
    if graph.exists():
        raw = bytearray(graph.read_bytes())
        raw[-40:-20] = bytes(20)
        graph.chmod(0o644)
        graph.write_bytes(bytes(raw))
    assert team.says() == "withdrawn"


EVIL = "#!/bin/sh\ntouch {mark}\nexit 0\n"


@pytest.fixture
def evil(team: Team) -> tuple[Path, Path]:
    """Return a program that leaves a mark when it runs, and the mark."""
    mark = team.root.parent / "it-ran"
    program = team.root / "evil.sh"
    program.write_text(EVIL.format(mark=mark))
    program.chmod(0o755)
    return program, mark


CONFIGS = [
    ("log.showSignature", "true"),
    ("gpg.ssh.program", "{evil}"),
    ("gpg.program", "{evil}"),
    ("gpg.format", "ssh"),
    ("core.fsmonitor", "{evil}"),
    ("core.pager", "{evil}"),
    ("pager.log", "{evil}"),
    ("diff.external", "{evil}"),
    ("core.sshCommand", "{evil}"),
    ("core.hooksPath", "."),
    ("core.editor", "{evil}"),
    ("core.askPass", "{evil}"),
    ("filter.x.clean", "{evil}"),
    ("filter.x.smudge", "{evil}"),
    ("filter.x.process", "{evil}"),
    ("diff.x.textconv", "{evil}"),
    ("diff.x.command", "{evil}"),
    ("merge.x.driver", "{evil}"),
    ("credential.helper", "{evil}"),
    ("core.gitProxy", "{evil}"),
    ("uploadpack.packObjectsHook", "{evil}"),
    ("alias.log", "!{evil}"),
    ("extensions.partialClone", "origin"),
    ("remote.origin.promisor", "true"),
    ("remote.origin.url", "ext::{evil}"),
    ("core.alternateRefsCommand", "{evil}"),
    ("trailer.x.command", "{evil}"),
    ("trailer.x.cmd", "{evil}"),
    ("interactive.diffFilter", "{evil}"),
    ("sequence.editor", "{evil}"),
    ("mailmap.file", "{evil}"),
    ("submodule.recurse", "true"),
    ("protocol.ext.allow", "always"),
]


def test_no_program_that_the_repository_names_is_run_by_judging(
    team: Team, evil: tuple[Path, Path], alice: Person
) -> None:
    program, mark = evil
    team.git("config", "gpg.format", "ssh")
    team.git("config", "user.signingkey", str(alice.key))
    team.git("commit", "-qS", "--allow-empty", "-m", "signed")
    for name, value in CONFIGS:
        team.git("config", name, value.format(evil=program))
    (team.root / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    (team.root / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (team.root / ".git/hooks" / hook).write_text(EVIL.format(mark=mark))
        (team.root / ".git/hooks" / hook).chmod(0o755)
    included = team.root / "gitcfg"
    included.write_text(f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n")
    team.git("config", "include.path", "../gitcfg")
    mark.unlink(missing_ok=True)
    forget(team)
    assert team.says() == "trusted"
    assert not mark.exists()


def test_no_program_that_the_repository_names_is_run_by_approving(
    team: Team, evil: tuple[Path, Path], alice: Person
) -> None:
    program, mark = evil
    for name, value in CONFIGS:
        if not name.startswith(("gpg.", "extensions.", "remote.")):
            team.git("config", name, value.format(evil=program))
    team.write("a", memory_text("Second version."))
    (team.root / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    mark.unlink(missing_ok=True)
    with pytest.raises(UsageError, match="filter=x"):
        team.approve(alice, "a")
    assert not mark.exists()
    (team.root / ".gitattributes").write_text("* diff=x merge=x\n")
    team.approve(alice, "a")
    assert team.says() == "trusted"
    assert not mark.exists()


def test_the_repositorys_config_does_not_choose_the_key(team: Team, evil: tuple[Path, Path], mallory: Person) -> None:
    from memfs.errors import SetupError
    from memfs.trust.signing import find_signing_key

    team.git("config", "gpg.format", "ssh")
    team.git("config", "user.signingkey", str(mallory.key))
    with pytest.raises(SetupError, match="there is no SSH key"):
        find_signing_key(places=team.places, environ={"PATH": os.environ["PATH"], "PWD": str(team.root)})


GIT_VARIABLES = {
    "GIT_DIR": "{other}/.git",
    "GIT_WORK_TREE": "{other}",
    "GIT_INDEX_FILE": "{other}/.git/index",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{other}/.git/objects",
    "GIT_COMMON_DIR": "{other}/.git",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "{evil}",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor={evil}'",
    "GIT_CONFIG_GLOBAL": "{other}/config",
    "GIT_CONFIG_SYSTEM": "{other}/config",
    "GIT_EXEC_PATH": "{other}",
    "GIT_REPLACE_REF_BASE": "refs/evil/",
    "GIT_GRAFT_FILE": "{other}/grafts",
    "GIT_SHALLOW_FILE": "{other}/shallow",
    "GIT_TRACE": "{other}/trace",
    "GIT_TRACE_SETUP": "1",
    "GIT_NAMESPACE": "evil",
    "GIT_PAGER": "{evil}",
    "GIT_EXTERNAL_DIFF": "{evil}",
    "GIT_SSH_COMMAND": "{evil}",
    "GIT_ASKPASS": "{evil}",
    "GIT_CEILING_DIRECTORIES": "/",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "0",
    "GIT_LITERAL_PATHSPECS": "0",
    "GIT_GLOB_PATHSPECS": "1",
    "GIT_ICASE_PATHSPECS": "1",
    "GIT_PROTOCOL": "evil",
    "GIT_QUARANTINE_PATH": "{other}",
    "GIT_ATTR_SOURCE": "evil",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_FLUSH": "0",
    "GIT_REF_PARANOIA": "1",
    "GIT_PREFIX": "evil/",
    "GIT_REFLOG_ACTION": "evil",
}


def test_variables_that_a_hook_inherits_have_no_effect(
    withdrawn: Team, tmp_path: Path, places: Places, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = withdrawn
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "other")
    program = other / "evil.sh"
    mark = tmp_path / "it-ran"
    program.write_text(EVIL.format(mark=mark))
    program.chmod(0o755)
    for name, value in GIT_VARIABLES.items():
        monkeypatch.setenv(name, value.format(other=other, evil=program))
    assert team.view().verdict(team.read("a")).reason == "withdrawn"
    assert not mark.exists()
    assert not (other / "trace").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("i18n.logOutputEncoding", "UTF-16"),
        ("i18n.commitEncoding", "ISO-8859-1"),
        ("trailer.separators", "#"),
        ("core.commentChar", "M"),
        ("log.mailmap", "true"),
        ("log.follow", "true"),
        ("log.showRoot", "false"),
        ("format.pretty", "oneline"),
        ("format.notes", "*"),
        ("log.decorate", "full"),
        ("log.date", "raw"),
        ("log.diffMerges", "separate"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("log.excludeDecoration", "refs/*"),
        ("log.initialDecorationSet", "all"),
        ("log.abbrevCommit", "true"),
        ("core.abbrev", "4"),
    ],
)
def test_settings_of_the_repository_do_not_hide_a_withdrawal(withdrawn: Team, name: str, value: str) -> None:
    withdrawn.git("config", name, value)
    assert withdrawn.says() == "withdrawn"


def test_an_encoding_header_does_not_hide_a_withdrawal(team: Team, bob: Person) -> None:
    record = make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    (team.root / "message").write_bytes("Gr\u00fc\u00dfe\n\n".encode("latin-1") + format_record(record).encode())
    team.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F", "message")
    assert b"encoding ISO-8859-1" in subprocess.check_output(["git", "cat-file", "commit", "HEAD"], cwd=team.root)
    assert team.says() == "withdrawn"


def _commit_object(team: Team, message: bytes) -> str:
    """Write a commit with any bytes for a message, and put HEAD on it."""
    tree, parent = team.git("rev-parse", "HEAD^{tree}"), team.git("rev-parse", "HEAD")
    raw = (
        f"tree {tree}\nparent {parent}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\n"
    ).encode() + message
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=team.root,
        input=raw,
        capture_output=True,
        check=True,
    )
    commit = done.stdout.decode().strip()
    team.git("update-ref", "HEAD", commit)
    return commit


@pytest.mark.parametrize(
    "message",
    [
        b"one\0two\n",
        b"\0",
        b"\0" * 7,
        b"0123456789012345678901234567890123456789\0x",
        b"\xff\xfe\x00\x01",
        b"",
        b"\n" * 1000,
        b"x" * 100_000,
        b"Memory-Approval: \0;",
    ],
    ids=range(9),
)
def test_odd_bytes_in_a_message_hide_nothing_and_break_nothing(team: Team, bob: Person, message: bytes) -> None:
    record = make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    _commit_object(team, b"before\n\n" + format_record(record).encode())
    _commit_object(team, message)
    _commit_object(team, message + format_record(record).encode())
    assert team.says() == "withdrawn"


def test_doubled_signature_headers_are_never_looked_at(team: Team) -> None:
    tree, parent = team.git("rev-parse", "HEAD^{tree}"), team.git("rev-parse", "HEAD")
    raw = (
        f"tree {tree}\nparent {parent}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n"
        "gpgsig -----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----\ngpgsig y\ngpgsig-sha256 z\n\nx\n"
    ).encode()
    commit = (
        subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
            cwd=team.root,
            input=raw,
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    team.git("update-ref", "HEAD", commit)
    assert team.says() == "trusted"


def test_alternates_that_point_elsewhere_have_no_effect(team: Team, tmp_path: Path) -> None:
    (team.root / ".git/objects/info").mkdir(exist_ok=True)
    for target in (tmp_path / "nowhere", tmp_path):
        (team.root / ".git/objects/info/alternates").write_text(f"{target}\n")
        assert team.says() == "trusted"


def test_a_repository_without_git_gives_the_same_verdict(team: Team) -> None:
    shutil.rmtree(team.root / ".git")
    assert team.says() == "trusted"
    team.write("a", memory_text("Changed."))
    assert team.says() == "changed"


def test_a_machine_without_git_gives_the_same_verdict(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.commit("move HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    view = team.view()
    assert view.verdict(team.read("a")).trusted
    assert any("history was not read" in notice for notice in view.notices)


def test_a_broken_object_store_costs_the_history_and_not_the_verdict(team: Team) -> None:
    team.commit("move HEAD")
    for path in (team.root / ".git/objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"junk")
    view = team.view()
    assert view.verdict(team.read("a")).trusted
    assert any("history was not read" in notice for notice in view.notices)


def test_a_git_that_hangs_costs_its_time_limit_and_not_the_verdict(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.commit("move HEAD")
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\nsleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    view = team.view(patience=0.3)
    assert view.verdict(team.read("a")).trusted
    assert any("history was not read" in notice for notice in view.notices)


def test_a_linked_work_tree_and_a_submodule_are_judged_like_any_other(team: Team, tmp_path: Path) -> None:
    team.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "topic")
    linked = Team(root=tmp_path / "linked", places=team.places)
    assert linked.says() == "trusted"
    linked.write("a", memory_text("Changed."))
    assert linked.says() == "changed"
    outer = tmp_path / "super"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(team.root), "mem")
    assert Team(root=outer / "mem", places=team.places).says() == "trusted"


def test_a_sha256_repository_is_judged_like_any_other(
    tmp_path: Path, places: Places, alice: Person, bob: Person
) -> None:
    root = tmp_path / "sha256"
    root.mkdir()
    git(root, "init", "-q", "--object-format=sha256")
    team = found_team(root, places, [alice, bob])
    assert team.says() == "trusted"
    assert len(team.git("rev-parse", "HEAD")) == 64
    team.revoke(bob, "a")
    shutil.rmtree(root / ".memfs/approvals")
    forget(team)
    assert team.says() == "withdrawn"


def test_an_embedded_bare_repository_is_ignored(team: Team) -> None:
    bare = team.root / "embedded"
    bare.mkdir()
    git(bare, "init", "-q", "--bare")
    (bare / "config").write_text("[core]\n\tfsmonitor = /bin/false\n\tbare = true\n")
    assert team.says() == "trusted"
    (team.root / "HEAD").write_text("ref: refs/heads/main\n")
    (team.root / "objects").mkdir()
    (team.root / "refs").mkdir()
    assert team.says() == "trusted"


@pytest.mark.parametrize("name", ["-x", "--output=evil", "--all", "HEAD", "refs/heads/main"])
def test_names_of_refs_are_never_options(withdrawn: Team, name: str) -> None:
    head = withdrawn.git("rev-parse", "HEAD~3")
    packed = withdrawn.root / ".git/packed-refs"
    packed.write_text(f"{head} refs/tags/{name}\n{head} refs/heads/{name}\n")
    assert withdrawn.says() == "withdrawn"
    assert not (withdrawn.root / "evil").exists()


def test_a_tag_named_like_the_branch_does_not_stand_in_for_it(withdrawn: Team) -> None:
    withdrawn.git("tag", "main", "HEAD~3")
    withdrawn.git("tag", "HEAD", "HEAD~3")
    assert withdrawn.says() == "withdrawn"


def test_the_bases_that_a_person_names_are_never_options(team: Team) -> None:
    from memfs.errors import UsageError
    from memfs.trust.texts import ids_since

    for name in ("--output=evil", "-x", "nowhere", "", "HEAD~99"):
        with pytest.raises(UsageError):
            ids_since(team.tree, name, sees_all)
    assert not (team.root / "evil").exists()
    team.git("switch", "-qc", "topic")
    team.write("b", commit=True)
    assert ids_since(team.tree, "main", sees_all) == ["b"]


def test_the_repositorys_own_lists_of_signers_are_never_read(team: Team, mallory: Person, tmp_path: Path) -> None:
    from memfs.model.reader import content_digest

    allowed = tmp_path / "allowed"
    allowed.write_text(f"alice@example.com {mallory.signer.public.text}\n")
    team.git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    revoked = tmp_path / "revoked"
    revoked.write_text(team.keys()[0].public.text + "\n")
    team.git("config", "gpg.ssh.revocationFile", str(revoked))
    assert team.says("a") == "trusted"
    team.write("b", memory_text("By Mallory."))
    team.put_receipt(
        make_record(mallory, team, "b", content_digest(team.path("b").read_bytes()), by="alice@example.com")
    )
    assert team.says("b") == "key-unknown"


def test_modules_that_lie_in_the_repository_are_not_imported(team: Team, tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    for name in ("yaml", "cryptography", "sitecustomize", "usercustomize", "re", "hashlib", "memfs"):
        (team.root / name).mkdir()
        (team.root / name / "__init__.py").write_text(
            f"open({str(mark)!r}, 'w').write({name!r})\nraise SystemExit(9)\n"
        )
        (team.root / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').write({name!r})\nraise SystemExit(9)\n")
    done = subprocess.run([*launch_command(team.places.home), "pin"], cwd=team.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()


def test_a_shallow_file_cannot_turn_a_receipt_into_a_withdrawal_or_back(withdrawn: Team) -> None:
    """Cutting history short by hand hides what is in it (the same as a shallow clone), never grants more
    than the receipts in the tree do, and a machine that saw the withdrawal keeps it."""
    assert withdrawn.says() == "withdrawn"
    (withdrawn.root / ".git/shallow").write_text(withdrawn.git("rev-parse", "HEAD") + "\n")
    assert withdrawn.says() == "withdrawn"


def test_a_history_that_takes_too_long_is_read_by_another_process_meanwhile(
    team: Team, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    team.revoke(bob, "a")
    shutil.rmtree(team.root / ".memfs/approvals")
    forget(team)
    real = shutil.which("git")
    slow = tmp_path / "git"
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec {real} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    view = team.view(patience=0.2)
    assert view.verdict(team.read("a")).reason == "no-approval"
    assert any("history was not read" in notice for notice in view.notices)
    deadline = time.monotonic() + 20
    while team.view(history=False).verdict(team.read("a")).reason != "withdrawn":
        assert time.monotonic() < deadline
        time.sleep(0.1)
