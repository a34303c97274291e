"""Threat: a key that cannot or must not sign makes the command hang, lie or half-write
(TRUST 10, trust cases 93-99)."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from people import Person, Team, Terminal, memory_text, sees_all
from security_key import Agent, SecurityKey
from support import launch_command, make_key

from memfs.disk.places import Places
from memfs.errors import SetupError
from memfs.trust import signing
from memfs.trust.approve import approve
from memfs.trust.changing import new_keyring
from memfs.trust.keyring import Key
from memfs.trust.plan import plan_approval
from memfs.trust.signing import SshSigner, explain_failure, find_signing_key, load_key

ENVIRON = {"PATH": os.environ["PATH"]}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Path]:
    """Return the socket of a real ssh-agent that holds nothing."""
    path = tmp_path / "s"
    child = subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL)
    for _ in range(100):
        if path.exists():
            break
        time.sleep(0.02)
    yield path
    child.kill()
    child.wait()


def unchanged(team: Team, signer: SshSigner, match: str, hint: str) -> None:
    """Approve with ``signer``; see it refused with these words and nothing written."""
    team.write("b", memory_text("To be approved."))
    before, receipts = team.git("rev-parse", "HEAD"), team.receipts()
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    with pytest.raises(SetupError, match=match) as caught:
        approve(plan, signer, now=team.now())
    assert caught.value.exit_code == 3
    assert hint in (caught.value.hint or "")
    assert team.git("rev-parse", "HEAD") == before
    assert team.receipts() == receipts
    assert team.says("b") == "no-approval"
    assert not (team.root / ".git/memfs.lock.tmp").exists()


def test_no_key_at_all(places: Places) -> None:
    with pytest.raises(SetupError, match="no SSH key to sign with") as caught:
        find_signing_key(places=places, environ=ENVIRON)
    assert "ssh-keygen -t ed25519" in (caught.value.hint or "")


def test_a_key_that_is_not_there(places: Places, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no private key of that name") as caught:
        find_signing_key(places=places, environ=ENVIRON, key=str(tmp_path / "none"))
    assert "--key FILE" in (caught.value.hint or "")


def test_a_key_that_the_keyring_does_not_list(team: Team, mallory: Person) -> None:
    keyring = team.view().keyring
    with pytest.raises(SetupError, match="lists no key of yours") as caught:
        find_signing_key(places=team.places, environ=ENVIRON, keyring=keyring, key=str(mallory.key))
    assert mallory.signer.public.fingerprint in str(caught.value)
    assert "memfs keys add" in (caught.value.hint or "")


def test_a_passphrase_without_a_terminal_is_not_waited_for(team: Team, alice: Person, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.write_bytes(alice.key.read_bytes())
    locked.chmod(0o600)
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-f", str(locked), "-P", "", "-N", "hunter2 pass"], check=True, capture_output=True
    )
    start = time.monotonic()
    unchanged(team, load_key(locked, environ=ENVIRON), "needs its passphrase", f"ssh-add {locked}")
    assert time.monotonic() - start < 10


def test_a_passphrase_is_asked_for_at_a_terminal(team: Team, alice: Person, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.write_bytes(alice.key.read_bytes())
    locked.chmod(0o600)
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-f", str(locked), "-P", "", "-N", "hunter2 pass"], check=True, capture_output=True
    )
    team.write("b", memory_text("To be approved."))
    terminal = Terminal(
        [*launch_command(team.places.home), "trust", "b", "--key", str(locked)], cwd=team.root, env=dict(os.environ)
    )
    code, shown = terminal.answer(("to approve exactly this text", "b"), ("passphrase", "hunter2 pass"))
    assert code == 0, shown
    assert "hunter2" not in shown
    assert team.says("b") == "trusted"


def test_a_wrong_passphrase_at_a_terminal_writes_nothing(team: Team, alice: Person, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.write_bytes(alice.key.read_bytes())
    locked.chmod(0o600)
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-f", str(locked), "-P", "", "-N", "hunter2 pass"], check=True, capture_output=True
    )
    team.write("b", memory_text("To be approved."))
    terminal = Terminal(
        [*launch_command(team.places.home), "trust", "b", "--key", str(locked)], cwd=team.root, env=dict(os.environ)
    )
    code, shown = terminal.answer(("to approve exactly this text", "b"), ("passphrase", "wrong"))
    assert code == 3, shown
    assert "needs its passphrase" in shown
    assert team.says("b") == "no-approval"


def test_a_locked_key_does_not_swallow_what_waits_on_a_pipe(team: Team, alice: Person, tmp_path: Path) -> None:
    """The next request of a server on standard input must not be read as a passphrase."""
    locked = tmp_path / "locked"
    locked.write_bytes(alice.key.read_bytes())
    locked.chmod(0o600)
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-f", str(locked), "-P", "", "-N", "hunter2 pass"], check=True, capture_output=True
    )
    script = (
        "import sys, os; from pathlib import Path; from memfs.trust.signing import load_key\n"
        "try: load_key(Path(sys.argv[1]), environ=dict(os.environ)).sign('memory-approval@v1', b'x')\n"
        "except Exception as error: print(error)\n"
        "print(sys.stdin.readline())\n"
    )
    import sys

    done = subprocess.run(
        [sys.executable, "-I", "-c", script, str(locked)],
        input=b"hunter2 pass\n",
        capture_output=True,
        start_new_session=True,
        timeout=20,
    )
    assert b"needs its passphrase" in done.stdout
    assert b"hunter2 pass" in done.stdout


def test_a_private_key_that_others_may_read(team: Team, alice: Person, tmp_path: Path) -> None:
    loose = tmp_path / "loose"
    loose.write_bytes(alice.key.read_bytes())
    loose.chmod(0o644)
    unchanged(team, load_key(loose, environ=ENVIRON), "others may read the private key", f"chmod 600 {loose}")


def test_a_public_key_whose_private_half_is_nowhere(team: Team, alice: Person, tmp_path: Path) -> None:
    public = tmp_path / "only.pub"
    public.write_text(alice.signer.public.text + " comment\n")
    unchanged(team, load_key(public, environ=ENVIRON), "no private key", "")


def test_an_agent_that_does_not_hold_the_key(team: Team, alice: Person, agent: Path) -> None:
    signer = SshSigner(public=alice.signer.public, path=None, environ={**ENVIRON, "SSH_AUTH_SOCK": str(agent)})
    unchanged(team, signer, "no private key", "")


def test_a_dead_agent(team: Team, alice: Person, tmp_path: Path) -> None:
    signer = SshSigner(
        public=alice.signer.public, path=None, environ={**ENVIRON, "SSH_AUTH_SOCK": str(tmp_path / "gone")}
    )
    unchanged(team, signer, "no private key", "")
    with pytest.raises(SetupError, match="no SSH key"):
        find_signing_key(places=team.places, environ={**ENVIRON, "SSH_AUTH_SOCK": str(tmp_path / "gone")})


def test_a_key_in_a_real_agent_signs(team: Team, alice: Person, agent: Path) -> None:
    environ = {**ENVIRON, "SSH_AUTH_SOCK": str(agent)}
    subprocess.run(["ssh-add", "-q", str(alice.key)], env=environ, check=True)
    signer = find_signing_key(places=team.places, environ=environ, keyring=team.view().keyring)
    assert signer.path is None
    team.write("b", memory_text("By the agent."))
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    approve(plan, signer, now=team.now())
    assert team.says("b") == "trusted"


def test_the_agents_key_that_the_keyring_lists_is_taken(
    team: Team, alice: Person, mallory: Person, agent: Path
) -> None:
    environ = {**ENVIRON, "SSH_AUTH_SOCK": str(agent)}
    subprocess.run(["ssh-add", "-q", str(mallory.key)], env=environ, check=True)
    subprocess.run(["ssh-add", "-q", str(alice.key)], env=environ, check=True)
    signer = find_signing_key(places=team.places, environ=environ, keyring=team.view().keyring)
    assert signer.public == alice.signer.public


def test_a_security_key_in_an_agent_signs_and_its_touch_is_seen(team: Team, alice: Person, tmp_path: Path) -> None:
    security = SecurityKey()
    agent = Agent(tmp_path, security)
    line = Key(principal="dave@example.com", roles=("approve",), public=security.public, touch=True)
    team.change_keyring([alice], keys=(*team.keys(), line))
    environ = {**ENVIRON, "SSH_AUTH_SOCK": _short(agent.path)}
    signer = find_signing_key(places=team.places, environ=environ, keyring=team.view().keyring)
    assert signer.public == security.public
    team.write("b", memory_text("Touched."))
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    approve(plan, signer, now=team.now())
    assert team.says("b") == "trusted"
    agent.close()


def _short(path: Path) -> str:
    """Return another name of a socket, short enough for a socket's address."""
    import tempfile

    link = Path(tempfile.mkdtemp(prefix="memfs-")) / "s"
    link.symlink_to(path)
    return str(link)


def test_an_agent_that_refuses(team: Team, alice: Person, tmp_path: Path) -> None:
    security = SecurityKey()
    agent = Agent(tmp_path, security, refuses=True)
    line = Key(principal="dave@example.com", roles=("approve",), public=security.public)
    team.change_keyring([alice], keys=(*team.keys(), line))
    environ = {**ENVIRON, "SSH_AUTH_SOCK": _short(agent.path)}
    signer = SshSigner(public=security.public, path=None, environ=environ)
    unchanged(team, signer, "agent refused to sign", "touch the key")
    agent.close()


def test_a_signer_that_hangs_is_cut_off_and_its_child_ended(
    team: Team, alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    security = SecurityKey()
    agent = Agent(tmp_path, security, hangs=True)
    line = Key(principal="dave@example.com", roles=("approve",), public=security.public)
    team.change_keyring([alice], keys=(*team.keys(), line))
    monkeypatch.setattr(signing, "ALONE_SECONDS", 0.5)
    environ = {**ENVIRON, "SSH_AUTH_SOCK": _short(agent.path)}
    signer = SshSigner(public=security.public, path=None, environ=environ)
    start = time.monotonic()
    unchanged(team, signer, "did not sign within", "touch the security key")
    assert time.monotonic() - start < 8
    agent.close()


def test_ssh_keygen_is_missing(team: Team, alice: Person, tmp_path: Path) -> None:
    unchanged(team, load_key(alice.key, environ={"PATH": str(tmp_path)}), "ssh-keygen is not installed", "install")


def test_a_file_that_is_no_key(places: Places, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    for text in (
        "",
        "hello\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
        "\x00\xff",
    ):
        path.write_text(text)
        with pytest.raises(SetupError, match="cannot approve") as caught:
            find_signing_key(places=places, environ=ENVIRON, key=str(path))
        assert caught.value.exit_code == 3


def test_a_weak_key_is_refused_by_name(places: Places, tmp_path: Path) -> None:
    weak = tmp_path / "weak"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", str(weak)], check=True)
    with pytest.raises(SetupError, match="3072"):
        find_signing_key(places=places, environ=ENVIRON, key=str(weak))


def test_a_public_file_that_belongs_to_another_key_is_noticed(
    team: Team, alice: Person, bob: Person, tmp_path: Path
) -> None:
    """memfs reads the public half from the private file; a .pub beside it that differs cannot mislead it."""
    mixed = tmp_path / "mixed"
    mixed.write_bytes(alice.key.read_bytes())
    mixed.chmod(0o600)
    (tmp_path / "mixed.pub").write_text(bob.signer.public.text + "\n")
    unchanged(team, load_key(mixed, environ=ENVIRON), "belongs to another key", "ssh-keygen -y")


def test_the_order_of_keys(
    places: Places, tmp_path: Path, alice: Person, bob: Person, carol: Person, agent: Path
) -> None:
    ssh = places.home / ".ssh"
    ssh.mkdir(mode=0o700)
    (ssh / "id_ed25519").write_bytes(alice.key.read_bytes())
    (ssh / "id_ed25519").chmod(0o600)

    def chosen(**options: str) -> object:
        environ = {**ENVIRON, **({"SSH_AUTH_SOCK": str(agent)} if "agent" in options else {})}
        options.pop("agent", None)
        return find_signing_key(places=places, environ=environ, **options).public  # type: ignore[arg-type]

    assert chosen() == alice.signer.public
    subprocess.run(["ssh-add", "-q", str(bob.key)], env={**ENVIRON, "SSH_AUTH_SOCK": str(agent)}, check=True)
    assert chosen(agent="1") == bob.signer.public
    config = places.home / ".gitconfig"
    config.write_text(f"[user]\n\tsigningkey = {carol.key}.pub\n")
    assert chosen(agent="1") == bob.signer.public  # gpg.format is not ssh
    config.write_text(f"[user]\n\tsigningkey = {carol.key}.pub\n[gpg]\n\tformat = ssh\n")
    assert chosen(agent="1") == carol.signer.public
    config.write_text(f"[user]\n\tsigningkey = key::{carol.signer.public.text}\n[gpg]\n\tformat = ssh\n")
    assert chosen(agent="1") == carol.signer.public
    (places.home / "included").write_text(f"[user]\n\tsigningkey = {bob.key}\n")
    config.write_text("[gpg]\n\tformat = ssh\n[include]\n\tpath = included\n")
    assert chosen() == bob.signer.public
    assert chosen(configured=str(alice.key)) == alice.signer.public
    assert chosen(configured="~/.ssh/id_ed25519") == alice.signer.public
    assert chosen(configured=str(alice.key), key=str(bob.key)) == bob.signer.public


def test_two_people_at_once_leave_both_approvals(team: Team, alice: Person, bob: Person) -> None:
    team.write("b", memory_text("Two at once."), commit=True)
    team.change_keyring([alice], approve=2)
    failures: list[BaseException] = []

    def go(person: Person) -> None:
        try:
            team.approve(person, "b")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=go, args=(person,)) for person in (alice, bob)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len([name for name in team.receipts() if name.startswith("b.")]) == 2
    assert team.says("b") in ("trusted", "not-enough-people")
    if team.says("b") == "not-enough-people":  # one counted after the other: the first signs again
        team.approve(alice, "b")
        team.approve(bob, "b")
    assert team.says("b") == "trusted"


SAID = [
    (b"@@@ WARNING: UNPROTECTED PRIVATE KEY FILE! @@@", "others may read", "chmod 600"),
    (b'Load key "/k": incorrect passphrase supplied to decrypt private key', "needs its passphrase", "ssh-add"),
    (b"Public key /k doesn't match private /k", "belongs to another key", "ssh-keygen -y"),
    (b"Couldn't sign message: device not found", "not plugged in", "plug it in"),
    (b"Couldn't sign message (signer): agent refused operation", "agent refused", "unlock it"),
    (b"Couldn't get agent socket?", "no private key belongs", "ssh-add"),
    (b"No private key found for public key", "no private key belongs", "ssh-add"),
    (b"Couldn't load public key /k: No such file or directory", "no private key of that name", "--key"),
    (b'Load key "/k": invalid format', "not an SSH key that", "--key"),
    (b'Load key "/k": error in libcrypto', "not an SSH key that", "--key"),
    (b'Load key "/k": Permission denied', "may not be read", "who owns"),
    (b"Enter PIN for ED25519-SK key", "wants its PIN", "terminal"),
]


@pytest.mark.parametrize(("said", "message", "hint"), SAID)
def test_each_complaint_of_the_signer_becomes_one_sentence_and_one_thing_to_do(
    said: bytes, message: str, hint: str
) -> None:
    error = explain_failure(said, "/k")
    assert message in error.message
    assert hint in (error.hint or "")
    assert error.exit_code == 3


def test_an_unknown_complaint_is_passed_on_escaped() -> None:
    error = explain_failure("something new \u202e\x1b[2K happened".encode(), "/k")
    assert "something new" in error.message
    assert "\x1b" not in error.message
    assert "\u202e" not in error.message


def test_a_principal_that_a_keyring_cannot_hold_is_refused(alice: Person) -> None:
    from memfs.errors import UsageError

    for principal in (
        "*",
        "Alice@example.com",
        "alice",
        "alice@example.com,bob@example.com",
        "a b@example.com",
        "\u0430@example.com",
        "x@y\nroot 1",
    ):
        with pytest.raises(UsageError):
            new_keyring(alice.signer, principal)


def test_other_kinds_of_key_approve_as_well(team: Team, alice: Person, tmp_path: Path) -> None:
    for kind, options in (("ecdsa", ["-b", "384"]), ("rsa", ["-b", "3072"])):
        path = tmp_path / kind
        subprocess.run(["ssh-keygen", "-q", "-t", kind, *options, "-N", "", "-f", str(path)], check=True)
        person = Person(kind, path)
        team.change_keyring([alice], keys=(*team.keys(), person.key_line()))
        team.write(kind, memory_text(f"By {kind}."))
        team.approve(person, kind)
        assert team.says(kind) == "trusted"
    old = make_key(tmp_path, "pem")
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-m", "PEM", "-f", str(tmp_path / "rsa"), "-P", "", "-N", ""],
        check=True,
        capture_output=True,
    )
    assert load_key(tmp_path / "rsa", environ=ENVIRON).sign("memory-approval@v1", b"x")
    assert old.exists()


@pytest.mark.skipif(shutil.which("gpg-agent") is None, reason="gpg-agent is not installed")
def test_a_key_in_gpg_agents_ssh_mode_signs(team: Team, alice: Person) -> None:
    home = Path(tempfile.mkdtemp(prefix="gpg-"))  # a socket's path is short
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]
    try:
        (home / "gpg-agent.conf").write_text("enable-ssh-support\nallow-loopback-pinentry\n")
        subprocess.run([*gpg, "--quick-gen-key", "alice", "ed25519", "sign", "never"], check=True, capture_output=True)
        listed = subprocess.run(
            [*gpg, "--with-colons", "--with-keygrip", "-K"], check=True, capture_output=True, text=True
        ).stdout
        grip = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("grp"))
        (home / "sshcontrol").write_text(f"{grip} 0\n")
        socket = subprocess.run(
            ["gpgconf", "--homedir", str(home), "--list-dirs", "agent-ssh-socket"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        subprocess.run(["gpgconf", "--homedir", str(home), "--launch", "gpg-agent"], check=True, capture_output=True)
        environ = {**ENVIRON, "SSH_AUTH_SOCK": socket}
        signer = find_signing_key(places=team.places, environ=environ)
        line = Key(principal="dave@example.com", roles=("approve",), public=signer.public)
        team.change_keyring([alice], keys=(*team.keys(), line))
        team.write("b", memory_text("Signed through gpg-agent."))
        approve(plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today), signer, now=team.now())
        assert team.says("b") == "trusted"
    finally:
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "gpg-agent"], capture_output=True)
        shutil.rmtree(home, ignore_errors=True)


def password_manager(places: Places, tmp_path: Path, person: Person, *, ends: str = "") -> Path:
    """Let the user's git configuration name a program that alone has the private key, as 1Password's is set up."""
    program = tmp_path / "op-ssh-sign"
    swap = f'set -- -Y sign -n "$4" -f {person.key} "$7"'
    program.write_text(f'#!/bin/sh\n{ends}\ntest "$1 $2 $5" = "-Y sign -f" || exit 9\n{swap}\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    config = places.home / ".gitconfig"
    config.write_text(
        f"{config.read_text()}[user]\n\tsigningkey = {person.signer.public.text}\n[gpg]\n\tformat = ssh\n"
        f'[gpg "ssh"]\n\tprogram = {program}\n'
    )
    return program


def test_the_signing_program_of_the_users_own_git_configuration_signs(
    team: Team, alice: Person, tmp_path: Path
) -> None:
    program = password_manager(team.places, tmp_path, alice)
    signer = find_signing_key(places=team.places, environ=ENVIRON, keyring=team.view().keyring)
    assert (signer.path, signer.program) == (None, str(program))
    assert str(program) in signer.name
    team.write("b", memory_text("By a password manager."))
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    approve(plan, signer, now=team.now())
    assert team.says("b") == "trusted"


def test_a_signing_program_that_refuses_says_so(team: Team, alice: Person, tmp_path: Path) -> None:
    password_manager(team.places, tmp_path, alice, ends="echo 'the vault is locked' >&2; exit 1")
    signer = find_signing_key(places=team.places, environ=ENVIRON, keyring=team.view().keyring)
    with pytest.raises(SetupError, match="the vault is locked"):
        signer.sign("memfs", b"x")


def test_no_repository_names_the_signing_program(team: Team, alice: Person, tmp_path: Path) -> None:
    team.git("config", "gpg.ssh.program", "/evil")
    team.git("config", "gpg.format", "ssh")
    (team.places.home / ".gitconfig").write_text(f"[user]\n\tsigningkey = {alice.key}\n[gpg]\n\tformat = ssh\n")
    assert find_signing_key(places=team.places, environ=ENVIRON).program == "ssh-keygen"


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("IdentityAgent {agent}\n", True),
        ('Host *\n  IdentityAgent "{agent}"\n', True),
        ("identityagent={agent}\n", True),
        ("Host github.com\n  IdentityAgent {agent}\n", False),
        ("Match exec true\n  IdentityAgent {agent}\n", False),
        ("IdentityAgent none\nIdentityAgent {agent}\n", False),
        ("IdentityAgent $OTHER\n", True),
        ("Host a\n  User x\nHost *\n  IdentityAgent {agent}\n", True),
    ],
)
def test_the_agent_that_ssh_is_told_of_is_asked(
    *, places: Places, alice: Person, agent: Path, config: str, found: bool
) -> None:
    subprocess.run(["ssh-add", "-q", str(alice.key)], env={**ENVIRON, "SSH_AUTH_SOCK": str(agent)}, check=True)
    (places.home / ".ssh").mkdir(mode=0o700)
    (places.home / ".ssh" / "config").write_text(config.format(agent=agent))
    environ = {**ENVIRON, "OTHER": str(agent)}
    if not found:
        with pytest.raises(SetupError, match="no SSH key"):
            find_signing_key(places=places, environ=environ)
        return
    signer = find_signing_key(places=places, environ=environ)
    assert signer.public == alice.signer.public
    assert signer.sign("memfs", b"x")
    (places.home / ".gitconfig").write_text(
        f"[user]\n\tsigningkey = {alice.signer.public.text}\n[gpg]\n\tformat = ssh\n"
    )
    assert find_signing_key(places=places, environ=environ).sign("memfs", b"x")
