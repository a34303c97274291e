"""Two people, two machines, one repository: everything that the how-tos tell, by the commands they tell it with.

Alice and Bob have a key pair, a home and a clone each; a bare repository stands for the server.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from people import Terminal, approving
from support import Run, git, launch_command, make_key

from memfs.trust.judge import Reason

pytestmark = pytest.mark.slow


class Machine:
    """One person's machine: a home with a key and git's settings, and a clone of the team's repository."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.home = folder / name
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        make_key(self.home / ".ssh", "id_ed25519")
        (self.home / ".gitconfig").write_text(
            f"[user]\n\tname = {name.title()}\n\temail = {name}@example.com\n[init]\n\tdefaultBranch = main\n"
            "[pull]\n\trebase = false\n[advice]\n\tdetachedHead = false\n"
        )
        self.root = self.home / "memories-of-the-team"
        self.env = {**os.environ, "HOME": str(self.home), "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig")}

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments, env=self.env)

    def run(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> Run:
        """Run a command without a terminal."""
        done = subprocess.run(
            [*launch_command(self.home), *arguments], cwd=self.root, env=self.env, input=stdin, capture_output=True
        )
        run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert run.code == code, f"memfs {' '.join(arguments)}\n{run.out}\n{run.err}"
        return run

    def type(self, *arguments: str, answers: list[tuple[str, str]], code: int = 0) -> str:
        """Type a command at a terminal, and the answers to what it asks."""
        terminal = Terminal([*launch_command(self.home), *arguments], cwd=self.root, env=self.env)
        ended, shown = terminal.answer(*answers)
        assert ended == code, f"memfs {' '.join(arguments)}\n{shown}"
        return shown

    def trust(self, *ids: str, code: int = 0) -> str:
        return self.type("trust", *ids, answers=approving(*ids), code=code)

    def says(self, memory_id: str) -> str:
        """Return how this machine shows a memory: "trusted" or the reason."""
        memory = self.run("show", memory_id, "--json").json["memory"]
        if memory["trusted"]:
            return "trusted"
        return next(str(reason) for reason in Reason if str(reason) in memory["trust"])

    def remember(self, memory_id: str, text: str) -> None:
        self.run(
            "remember", text, "--id", memory_id, "--kind", "decision", "--scope", "team", "--origin", "owner",
            "--evidence", f"said by {self.name}@example.com on 2026-11-01", "--review", "on 2030-01-01",
        )  # fmt: skip

    def push(self, *options: str) -> None:
        self.git("push", "-q", *options, "origin", self.git("branch", "--show-current"))

    def pull(self) -> None:
        self.git("pull", "-q", "origin", "main")


@pytest.fixture
def two(tmp_path: Path) -> tuple[Machine, Machine]:
    """Return Alice, whose repository is founded and pinned, and Bob, who cloned it."""
    alice, bob = Machine(tmp_path, "alice"), Machine(tmp_path, "bob")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "server.git")
    alice.root.mkdir()
    run = alice.run("init")
    assert "pinned on this machine: memfs1:" in run.out
    alice.git("remote", "add", "origin", str(tmp_path / "server.git"))
    alice.push()
    git(bob.home, "clone", "-q", str(tmp_path / "server.git"), str(bob.root), env=bob.env)
    return alice, bob


def pin_of(machine: Machine) -> str:
    return str(machine.run("pin", "--json").json["newest"])


def join(alice: Machine, bob: Machine) -> None:
    """Bob pins what Alice read to him; Alice lists Bob's key."""
    pin = pin_of(alice)
    bob.run("pin", code=1)
    shown = bob.type("pin", answers=[("first 8 characters", pin.split(":")[1][:8])])
    assert f"Its pin is {pin}" in shown
    (alice.home / "bob.pub").write_text((bob.home / ".ssh/id_ed25519.pub").read_text())
    alice.type("keys", "add", "bob@example.com", str(alice.home / "bob.pub"), answers=[("Type keyring.2", "keyring.2")])
    alice.push()
    bob.pull()
    bob.type("pin", "--move", answers=[("Type keyring.2", "keyring.2")])
    assert pin_of(bob) == pin_of(alice)


STYLES = {
    "title-only": "Add {id} (#1)",
    "title-and-description": "Add {id} (#1)\n\nA description without any record.",
    "title-and-commits": "Add {id} (#1)\n\n{log}",
}


def test_a_team_from_the_first_key_to_a_threshold_of_two(two: tuple[Machine, Machine]) -> None:
    alice, bob = two
    join(alice, bob)

    # Bob proposes on a branch, Alice approves on the branch, the server squashes with each style.
    for style, message in STYLES.items():
        bob.git("switch", "-qc", style)
        bob.remember(style, f"A decision that was squashed with the style {style}.")
        bob.push()
        alice.git("fetch", "-q", "origin", style)
        alice.git("switch", "-q", "-c", style, f"origin/{style}")
        assert alice.says(style) == "no-approval"
        shown = alice.trust(style)
        assert "A decision that was squashed" in shown
        alice.push()
        log = alice.git("log", "--format=* %s%n%n%b", f"main..{style}")
        alice.git("switch", "-q", "main")
        alice.git("merge", "-q", "--squash", style)
        alice.git("commit", "-qm", message.format(id=style, log=log))
        alice.push()
        bob.git("switch", "-q", "main")
        bob.pull()
        for machine in two:
            assert machine.says(style) == "trusted", style
        recalled = bob.run("recall", f"squashed style {style}").out
        assert "A decision that was squashed" in recalled

    # Somebody edits: untrusted on both, and status says which and why.
    path = bob.root / "memories/team/title-only.md"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"A decision", b"No decision"))
    bob.git("commit", "-qam", "a small edit")
    bob.push()
    alice.pull()
    for machine in two:
        assert machine.says("title-only") == "changed"
        assert {"id": "title-only", "reason": "changed"} in machine.run("status", "--json").json["lost"]
    path.write_bytes(before)
    bob.git("commit", "-qam", "put it back")
    bob.push()
    alice.pull()
    assert {alice.says("title-only"), bob.says("title-only")} == {"trusted"}

    # Alice withdraws; a force-push that drops the withdrawal does not bring the approval back where it was seen.
    kept = alice.git("rev-parse", "HEAD")
    alice.type("untrust", "title-only", answers=[("Type title-only to withdraw", "title-only")])
    alice.push()
    bob.pull()
    assert {alice.says("title-only"), bob.says("title-only")} == {"withdrawn"}
    alice.git("reset", "-q", "--hard", kept)
    alice.push("--force")
    bob.git("fetch", "-q", "origin")
    bob.git("reset", "-q", "--hard", "origin/main")
    assert {alice.says("title-only"), bob.says("title-only")} == {"withdrawn"}
    assert alice.says("title-and-commits") == "trusted"

    # Alice's key is rotated: what she approved is approved again in the same go, for Bob too.
    new = make_key(alice.home / ".ssh", "id_new")
    shown = alice.type("keys", "rotate", str(new), answers=[("Type keyring.3", "keyring.3")])
    assert "approved again with the new key: title-and-commits, title-and-description" in shown
    alice.push()
    bob.pull()
    for machine in two:
        assert machine.says("title-and-commits") == "trusted"
    for end in ("", ".pub"):
        (alice.home / f".ssh/id_ed25519{end}").rename(alice.home / f".ssh/id_old{end}")
        (alice.home / f".ssh/id_new{end}").rename(alice.home / f".ssh/id_ed25519{end}")

    # Two people from now on.
    alice.type("keys", "threshold", "--approve", "2", answers=[("Type keyring.4", "keyring.4")])
    alice.push()
    bob.pull()
    for machine in two:
        assert machine.says("title-and-commits") == "not-enough-people"
    bob.trust("title-and-commits")
    bob.push()
    alice.pull()
    for machine in two:
        assert machine.says("title-and-commits") == "trusted"
        assert machine.says("title-and-description") == "not-enough-people"


def test_no_push_right_the_record_is_pasted_and_anybody_brings_it_in(two: tuple[Machine, Machine]) -> None:
    alice, bob = two
    join(alice, bob)
    alice.remember("pasted", "A decision that Bob approves from afar.")
    alice.push()
    bob.pull()
    shown = bob.type("trust", "pasted", "--print", answers=[("Type pasted to approve", "pasted")])
    comment = "Looks right to me:\n\n" + "\n".join(
        f"> {line}" for line in shown[shown.index("Memory-Approval:") :].split("\n")
    )
    assert bob.git("status", "--porcelain") == ""
    (alice.home / "comment.txt").write_text(comment)
    alice.run("trust", "--sync", "--from", str(alice.home / "comment.txt"))
    assert alice.says("pasted") == "trusted"
    alice.push()
    bob.pull()
    assert bob.says("pasted") == "trusted"


def test_a_lost_key_is_replaced_by_another_root_person(two: tuple[Machine, Machine]) -> None:
    alice, bob = two
    join(alice, bob)
    public = str(alice.home / "bob.pub")
    alice.type("keys", "remove", "bob@example.com", answers=[("Type keyring.3", "keyring.3")])
    alice.type(
        "keys", "add", "bob@example.com", public, "--role", "root,approve", answers=[("Type keyring.4", "keyring.4")]
    )
    alice.remember("old", "A decision that Alice approved before she lost her key.")
    alice.trust("old")
    alice.push()
    bob.pull()
    assert bob.says("old") == "trusted"
    # Alice loses her key. Bob retires it and lists her new one; Alice approves again what she held.
    (alice.home / ".ssh/id_ed25519").unlink()
    (alice.home / ".ssh/id_ed25519.pub").unlink()
    make_key(alice.home / ".ssh", "id_ed25519")
    (bob.home / "alice.pub").write_text((alice.home / ".ssh/id_ed25519.pub").read_text())
    bob.type("keys", "retire", "alice@example.com", answers=[("Type keyring.5", "keyring.5")])
    bob.type("keys", "add", "alice@example.com", str(bob.home / "alice.pub"), answers=[("Type keyring.6", "keyring.6")])
    bob.push()
    alice.pull()
    assert {alice.says("old"), bob.says("old")} == {"key-retired"}
    alice.type("trust", "--renew", answers=[("Type old to approve", "old")])
    alice.push()
    bob.pull()
    assert {alice.says("old"), bob.says("old")} == {"trusted"}


def test_everything_that_a_branch_adds_is_one_signature(two: tuple[Machine, Machine]) -> None:
    alice, bob = two
    join(alice, bob)
    bob.git("switch", "-qc", "many")
    for number in range(3):
        bob.remember(
            f"many-{number}", f"Decision number {number} about the queue, the cache and the ledger of {number}."
        )
    bob.push()
    alice.git("fetch", "-q", "origin", "many")
    alice.git("switch", "-qc", "many", "origin/many")
    ids = [f"many-{number}" for number in range(3)]
    alice.type("trust", "--since", "main", answers=approving(*ids))
    assert alice.git("log", "-1", "--format=%B").count("sig=") == 1
    alice.push()
    bob.git("pull", "-q", "origin", "many")
    assert [bob.says(name) for name in ids] == ["trusted"] * 3
