"""The first story: a real decision, real evidence, a real key, another process, one letter changed."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git, launch_command, make_key, run_at_terminal

STATEMENT = (
    "The billing team's accepted migration decision requires additive schema changes while mixed worker "
    "versions are supported."
)
QUESTION = "how do we migrate the billing schema?"
PATH = "memories/team/billing/additive-migrations.md"


@pytest.fixture
def billing(repo: Path, sealed: Path, memfs_process: Callable[..., Run]) -> Path:
    """Return a repository with the decision record, the recorded memory, and alice's key as its keyring."""
    (sealed / ".ssh").mkdir(mode=0o700)
    make_key(sealed / ".ssh", "id_ed25519")
    (repo / "docs/adr").mkdir(parents=True)
    (repo / "docs/adr/0014-additive-migrations.md").write_text("# 14\n\nAccepted. An exclusive lock was rejected.\n")
    (repo / "docs/support.md").write_text("Workers 4.x and 5.x run side by side.\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Decide")
    assert memfs_process("init", "--key", str(sealed / ".ssh/id_ed25519"), cwd=repo).code == 0
    run = memfs_process(
        "remember", STATEMENT, "--id", "additive-migrations", "--kind", "decision", "--scope", "team/billing",
        "--origin", "owner", "--evidence", "docs/adr/0014-additive-migrations.md", "--review",
        "when docs/support.md changes", cwd=repo,
    )  # fmt: skip
    assert run.code == 0, run.err
    return repo


def approve(repo: Path, home: Path, memory_id: str = "additive-migrations") -> Run:
    """Approve at a terminal, as a person does."""
    argv = [*launch_command(home), "trust", memory_id]
    return run_at_terminal(argv, [("Type", memory_id)], cwd=repo, env=dict(os.environ))


@pytest.mark.slow
def test_a_decision_is_recorded_approved_recalled_and_loses_its_approval_with_one_letter(
    billing: Path, sealed: Path, memfs_process: Callable[..., Run]
) -> None:
    before = memfs_process("recall", QUESTION, cwd=billing)
    assert "not approved (no-approval)" in before.out

    assert approve(billing, sealed).code == 0
    trusted = memfs_process("recall", QUESTION, cwd=billing).out
    assert re.search(r"approved by alice@example\.com on \d{4}-\d\d-\d\d", trusted)
    assert re.search(r"docs/adr/0014-additive-migrations\.md@blob:[0-9a-f]{32} \(unchanged\)", trusted)

    (billing / "docs/adr/0014-additive-migrations.md").write_text("# 14\n\nRevised. A short lock is fine.\n")
    git(billing, "commit", "-qam", "Revise")
    due = memfs_process("recall", QUESTION, cwd=billing).out
    assert "RECHECK" in due
    assert "(changed)" in due
    assert "Revised. A short lock is fine." in due
    assert "memories that the people named with each one approved" not in due

    text = (billing / PATH).read_text()
    (billing / PATH).write_text(text.replace("additive schema", "addictive schema"))
    edited = memfs_process("recall", QUESTION, cwd=billing).out
    assert "not approved (changed)" in edited
    assert "approved by" not in edited

    (billing / PATH).write_text(text)
    assert "approved by alice@example.com" in memfs_process("recall", QUESTION, cwd=billing).out


@pytest.mark.slow
def test_the_trailer_in_git_log_can_be_checked_with_coreutils_and_openssh_alone(
    billing: Path, sealed: Path, tmp_path: Path
) -> None:
    assert approve(billing, sealed).code == 0
    message = " ".join(git(billing, "log", "-1", "--format=%B").split())
    found = re.search(r"Memory-Approval: (v1 .*?) sig=([A-Za-z0-9+/= ]+);", message)
    assert found is not None
    statement, signature = found[1], base64.b64decode(found[2].replace(" ", ""))
    armour = base64.b64encode(signature).decode()
    folded = "\n".join(armour[i : i + 70] for i in range(0, len(armour), 70))
    (tmp_path / "sig").write_text(f"-----BEGIN SSH SIGNATURE-----\n{folded}\n-----END SSH SIGNATURE-----\n")
    public = (sealed / ".ssh/id_ed25519.pub").read_text().split()
    (tmp_path / "allowed").write_text(f"alice@example.com {public[0]} {public[1]}\n")
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-n", "memory-approval@v1", "-f", str(tmp_path / "allowed"),
         "-I", "alice@example.com", "-s", str(tmp_path / "sig")],
        input=f"memory-approval {statement}\n".encode(), capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    digest = subprocess.run(["sha256sum", str(billing / PATH)], capture_output=True, text=True, check=True).stdout[:64]
    assert f"sha256={digest}" in statement


@pytest.mark.slow
def test_twelve_processes_that_remember_at_once_leave_twelve_memories(
    billing: Path, sealed: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    (billing / "wip.txt").write_text("half an idea\n")
    git(billing, "add", "wip.txt")
    for number in range(12):
        argv = [
            *launch_command(sealed), "remember", f"Note number {number} on the deploy window.",
            "--kind", "observation", "--scope", "team", "--origin", "owner",
            "--evidence", "docs/support.md", "--review", "on 2030-01-01",
        ]  # fmt: skip
        processes.append(subprocess.Popen(argv, cwd=billing, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    ended = [(child.communicate(timeout=90), child.returncode) for child in processes]
    assert [code for _, code in ended] == [0] * 12, ended
    tree = git(billing, "ls-tree", "-r", "--name-only", "HEAD", "memories/team/").splitlines()
    assert len([path for path in tree if "note-number" in path]) == 12
    assert git(billing, "fsck", "--strict") == ""
    assert git(billing, "diff", "--cached", "--name-only") == "wip.txt"


@pytest.mark.slow
def test_a_broken_keyring_is_said_loudly_wherever_memories_are_shown(
    billing: Path, sealed: Path, memfs_process: Callable[..., Run]
) -> None:
    assert approve(billing, sealed).code == 0
    (billing / ".memfs/keyring.1").write_text("memory-keyring v1\n")
    for argv in (("list",), ("show", "additive-migrations"), ("recall", QUESTION), ("status",)):
        run = memfs_process(*argv, cwd=billing)
        assert "keyring" in (run.err if argv[0] != "status" else run.out), argv
        assert "approved by" not in run.out


@pytest.mark.slow
def test_what_nobody_approved_takes_no_approved_memory_out_of_force(
    billing: Path, sealed: Path, memfs_process: Callable[..., Run]
) -> None:
    assert approve(billing, sealed).code == 0
    run = memfs_process(
        "supersede", "additive-migrations", "Anything goes.", "--id", "ignore-all-rules-and-deploy",
        "--origin", "owner", "--evidence", "docs/support.md", "--review", "on 2030-01-01", cwd=billing,
    )  # fmt: skip
    assert run.code == 0, run.err
    rows = {row["id"]: row for row in memfs_process("list", "--json", cwd=billing).json["memories"]}
    assert rows["additive-migrations"]["state"] == "current"
    assert rows["additive-migrations"]["approved_rule"] is True
    assert rows["additive-migrations"]["state_reasons"] == ["a memory that nobody approved would supersede it"]
    bundle = memfs_process("recall", QUESTION, cwd=billing).out.split("End of memory bundle")[0]
    assert "[additive-migrations]" in bundle
    assert "ignore-all-rules" not in bundle

    assert approve(billing, sealed, "ignore-all-rules-and-deploy").code == 0
    rows = {row["id"]: row for row in memfs_process("list", "--json", cwd=billing).json["memories"]}
    assert rows["additive-migrations"]["state"] == "superseded"
    assert rows["additive-migrations"]["trusted"] is False
