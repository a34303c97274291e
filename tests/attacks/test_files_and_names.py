"""Threat: bytes, names and kinds of file that two readers could see differently (trust cases 62-73)."""

from __future__ import annotations

import os
import shutil
import socket
import unicodedata
from pathlib import Path

import pytest
from people import Person, Team, make_record, memory_text, sees_all
from support import git

from memfs.errors import MemfsError, TrustError
from memfs.model.reader import content_digest, read_memory
from memfs.trust.plan import plan_approval


def test_crlf_is_the_one_difference_that_is_forgiven(team: Team) -> None:
    raw = team.path("a").read_bytes()
    team.path("a").write_bytes(raw.replace(b"\n", b"\r\n"))
    assert team.says() == "trusted"
    for changed in (
        raw.replace(b"\n", b"\r"),
        raw.replace(b"additive", b"addi\rtive"),
        b"\xef\xbb\xbf" + raw,
        raw[:-1] + b" \n",
        raw[:-1],
        raw + b"\n",
        raw.replace(b"additive", "add\u00edtive".encode()),
    ):
        team.path("a").write_bytes(changed)
        assert team.says() in ("changed", "bad-file")


def test_another_normal_form_of_the_same_letters_is_another_text(team: Team, alice: Person) -> None:
    composed = memory_text("Caf\u00e9 first.")
    team.write("b", composed)
    team.approve(alice, "b")
    assert team.says("b") == "trusted"
    team.write("b", unicodedata.normalize("NFD", composed))
    assert team.says("b") in ("changed", "bad-file")


HIDDEN = [
    "\u202e",
    "\u200b",
    "\U000e0069",
    "\x1b[2K",
    "\x00",
    "\x07",
    "\x7f",
    "\x9b",
    "\u2066",
    "\u200f",
    "\ue000",
    "\u00ad",
    "\u2060",
    "\ufeff",
    "\u2028",
    "\u115f",
    "\ufe00",
    "\r",
]


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda text: f"U+{ord(text[0]):04X}")
def test_text_with_hidden_characters_can_be_neither_approved_nor_trusted(
    team: Team, alice: Person, hidden: str
) -> None:
    team.write("b", memory_text(f"Plain {hidden} words."))
    with pytest.raises(TrustError) as caught:
        team.approve(alice, "b")
    assert caught.value.reason == "bad-file"
    # Even with a real signature over exactly these bytes.
    team.put_receipt(make_record(alice, team, "b", content_digest(team.path("b").read_bytes())))
    assert team.says("b") == "bad-file"


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f4bb",
        "\u2764\ufe0f",
        "Gr\u00fc\u00dfe",
    ],
)
def test_real_spelling_is_approved(team: Team, alice: Person, text: str) -> None:
    team.write("b", memory_text(f"{text} stays."))
    team.approve(alice, "b")
    assert team.says("b") == "trusted"


def test_what_is_not_utf8_is_not_trusted(team: Team, alice: Person) -> None:
    for tail in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf"):
        team.path("b").write_bytes(memory_text("Words.").encode() + tail + b"\n")
        team.put_receipt(make_record(alice, team, "b", content_digest(team.path("b").read_bytes())))
        assert team.says("b") == "bad-file"


@pytest.mark.parametrize(
    "name", ["Upper", "dash-", "-dash", "under_score", "two words", "a" * 65, "n\u043eva", "dot.dot", "ﬁ"]
)
def test_a_name_that_is_no_id_is_no_memory(team: Team, name: str) -> None:
    path = team.root / "memories" / "team" / f"{name}.md"
    path.write_bytes(team.path("a").read_bytes())
    file = read_memory(f"memories/team/{name}.md", path.read_bytes())
    verdict = team.view().verdict(file)
    assert not verdict.trusted
    assert verdict.reason == "bad-file"


@pytest.mark.parametrize(
    "front",
    [
        "kind: decision\nkind: preference\n",
        "kind: &a decision\n",
        "kind: *a\n",
        "<<: {kind: decision}\n",
        "kind: !!python/object/apply:os.system [id]\n",
        "kind: !!str decision\n",
        "kind: {a: b}\n",
        "kind: |\n  decision\n",
        "kind: >\n  decision\n",
        "kind:\n  nested: decision\n",
        '"kind": decision\n"kind": preference\n',
        "kind: decision\n---\nkind: preference\n",
        "kind: decision\n...\n",
        "? kind\n: decision\n",
    ],
)
def test_front_matter_that_readers_could_read_differently_is_not_trusted(team: Team, alice: Person, front: str) -> None:
    text = memory_text("Words.").replace("kind: decision\n", front)
    team.write("b", text)
    team.put_receipt(make_record(alice, team, "b", content_digest(team.path("b").read_bytes())))
    assert team.says("b") == "bad-file"


@pytest.mark.parametrize("field", ["kind", "origin", "scope", "evidence", "recorded", "review_trigger"])
def test_a_memory_without_a_required_field_is_not_trusted(team: Team, alice: Person, field: str) -> None:
    lines = memory_text("Words.").split("\n")
    kept = [
        line
        for line in lines
        if not line.startswith(f"{field}:") and not (field == "evidence" and line.startswith("  - "))
    ]
    team.write("b", "\n".join(kept))
    team.put_receipt(make_record(alice, team, "b", content_digest(team.path("b").read_bytes())))
    assert team.says("b") == "bad-file"


def test_a_file_in_the_folder_of_another_scope_is_not_trusted(team: Team) -> None:
    for folder in ("team/x", "personal", "restricted/x"):
        moved = team.path("a", folder)
        moved.parent.mkdir(parents=True, exist_ok=True)
        moved.write_bytes(team.path("a").read_bytes())
        assert team.says("a", folder) == "bad-file"


def test_a_renamed_memory_is_not_trusted(team: Team) -> None:
    team.git("mv", "memories/team/a.md", "memories/team/b.md")
    assert team.says("b") == "no-approval"


def test_conflict_markers_cost_the_approval(team: Team, alice: Person) -> None:
    text = memory_text("<<<<<<< HEAD\nOne.\n=======\nTwo.\n>>>>>>> other")
    team.write("a", text)
    assert team.says() in ("changed", "bad-file")
    team.write("b", text)
    with pytest.raises(TrustError):
        team.approve(alice, "b")


def test_two_files_of_one_id(team: Team, alice: Person) -> None:
    team.write("a", memory_text("Another text.", scope="team/x"), scope="team/x")
    assert team.says("a") == "trusted"
    assert team.says("a", "team/x") == "duplicate-id"
    with pytest.raises(TrustError) as caught:
        team.approve(alice, "a")
    assert caught.value.reason == "duplicate-id"


def test_a_copy_under_another_name_is_not_approved(team: Team) -> None:
    shutil.copy(team.path("a"), team.path("copy"))
    assert team.says("copy") == "no-approval"
    assert team.says("a") == "trusted"


def test_a_symlinked_receipt_or_folder_is_not_read(team: Team, tmp_path: Path) -> None:
    folder = team.root / ".memfs/approvals"
    name = team.receipts()[0]
    outside = tmp_path / "outside"
    shutil.copytree(folder, outside)
    (folder / name).unlink()
    (folder / name).symlink_to(outside / name)
    assert team.says() == "no-approval"
    shutil.rmtree(folder)
    folder.symlink_to(outside)
    assert team.says() == "no-approval"
    folder.unlink()
    shutil.copytree(outside, folder)
    assert team.says() == "trusted"
    (team.root / ".memfs").rename(team.root / "elsewhere")
    (team.root / ".memfs").symlink_to("elsewhere")
    assert team.says() == "keyring-broken"


def test_a_fifo_a_socket_or_a_folder_for_a_receipt_does_not_hang(team: Team) -> None:
    folder = team.root / ".memfs/approvals"
    name = team.receipts()[0]
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert team.says() == "no-approval"
    (folder / name).unlink()
    (folder / name).mkdir()
    assert team.says() == "no-approval"
    (folder / name).rmdir()
    here = os.getcwd()
    os.chdir(folder)
    try:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(name)
    finally:
        os.chdir(here)
    assert team.says() == "no-approval"
    listener.close()


def test_a_fifo_for_a_keyring_does_not_hang(team: Team) -> None:
    os.mkfifo(team.root / ".memfs/keyring.2")
    assert team.says() == "keyring-broken"


def test_a_symlinked_memory_cannot_be_approved(team: Team, alice: Person, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(memory_text("Outside."))
    team.path("b").symlink_to(outside)
    with pytest.raises(MemfsError):
        team.approve(alice, "b")


def test_a_memory_inside_a_nested_repository_cannot_be_approved(team: Team, alice: Person) -> None:
    nested = team.root / "memories" / "team" / "x"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "b.md").write_text(memory_text("Nested.", scope="team/x"))
    with pytest.raises(MemfsError):
        team.approve(alice, "b")


def test_an_edit_that_keeps_size_and_time_is_seen(team: Team) -> None:
    """`git status` says clean; the bytes are read and hashed all the same."""
    path = team.path("a")
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"additive", b"negative"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert team.says() == "changed"
    team.git("update-index", "--skip-worktree", "memories/team/a.md")
    assert team.git("status", "--porcelain") == ""
    assert team.says() == "changed"


def test_a_memory_over_256_kib_is_not_trusted(team: Team, alice: Person) -> None:
    team.write("b", memory_text("x " * 150_000))
    raw = team.path("b").read_bytes()
    team.put_receipt(make_record(alice, team, "b", content_digest(raw)))
    assert team.view().verdict(read_memory("memories/team/b.md", raw)).reason == "bad-file"


def test_a_huge_receipt_is_not_read(team: Team) -> None:
    folder = team.root / ".memfs/approvals"
    name = team.receipts()[0]
    with (folder / name).open("ab") as file:
        file.write(b" " * 1_000_000)
    assert team.says() == "no-approval"


def test_thousands_of_junk_receipts_cost_little(team: Team) -> None:
    import time

    folder = team.root / ".memfs/approvals"
    for number in range(3000):
        (folder / f"junk.{number + 1}.00000000.txt").write_text("junk")
    start = time.process_time()
    assert team.says() == "trusted"
    assert time.process_time() - start < 0.5


def test_a_file_that_changes_between_showing_and_signing_is_refused(team: Team, alice: Person) -> None:
    from memfs.trust.approve import approve

    team.write("b", memory_text("Shown to Alice."))
    before = team.git("rev-parse", "HEAD")
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    team.write("b", memory_text("Never shown to anybody."))
    with pytest.raises(MemfsError, match="changed meanwhile"):
        approve(plan, alice.signer, now=team.now())
    assert team.git("rev-parse", "HEAD") == before
    assert team.says("b") == "no-approval"


def test_a_file_that_changes_right_after_signing_is_reported(team: Team, alice: Person) -> None:
    """A formatter that runs after the commit costs the approval, and that is said, not hidden."""
    team.write("b", memory_text("As shown."))
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    import memfs.trust.approve as module

    real = module.commit_changes

    def and_reformat(*arguments: object, **options: object) -> str:
        made = real(*arguments, **options)  # type: ignore[arg-type]
        team.write("b", memory_text("As  shown."))
        return made

    module.commit_changes = and_reformat  # type: ignore[assignment]
    try:
        done = module.approve(plan, alice.signer, now=team.now())
    finally:
        module.commit_changes = real
    assert not done.verdicts["b"].trusted
    assert done.verdicts["b"].reason == "changed"


def test_a_pre_commit_hook_that_reformats_does_not_run(team: Team, alice: Person) -> None:
    hook = team.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nsed -i 's/shown/SHOWN/' memories/team/b.md; git add -A\n")
    hook.chmod(0o755)
    team.write("b", memory_text("As shown."))
    done = team.approve(alice, "b")
    assert done.verdicts["b"].trusted
    assert team.says("b") == "trusted"


def test_the_verdict_is_about_the_bytes_in_hand_and_not_about_a_digest_that_is_claimed(team: Team) -> None:
    from memfs.model.values import replace

    real = team.read("a")
    other = team.path("a").read_bytes().replace(b"additive", b"destructive")
    lie = replace(read_memory("memories/team/a.md", other), digest=real.digest)
    assert team.view().verdict(lie).reason == "changed"
    assert team.view().verdict(real, bad_file=True).reason == "bad-file"
