"""Threat: a crafted tree makes the judge fall over, so that a caller falls back to something weaker.
Whatever lies in a repository or in the user's folders, a view opens and every verdict is given."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from people import Person, Team, make_record, memory_text

from memfs.model.memory import MemoryFile
from memfs.model.reader import content_digest, read_memory
from memfs.trust.judge import Level
from memfs.trust.record import Verb, format_record, parse_statement


def every_path(team: Team) -> list[Path]:
    own = [path for path in (team.root / ".memfs").rglob("*") if path.is_file()]
    home = [path for path in team.places.home.rglob("*") if path.is_file() and ".ssh" not in path.parts]
    return sorted(own + home)


def test_any_one_file_damaged_costs_trust_at_most(team: Team) -> None:
    """Every file of the repository's and the user's is damaged in turn, in a dozen ways: the text that
    was never approved is never trusted, and nothing raises."""
    team.says()
    team.write("b", memory_text("Never approved."))
    source = random.Random("damage")
    for path in every_path(team):
        good = path.read_bytes()
        damaged = [
            b"", b"\0", b"\xff" * 50, good[: len(good) // 2], good + b"x", good * 2, good.replace(b"\n", b"\r\n"),
            bytes(source.randrange(256) for _ in range(300)), good[::-1], b"\n" * 1000, b"{" * 5000, good.upper(),
        ]  # fmt: skip
        for raw in damaged:
            path.write_bytes(raw)
            view = team.view()
            assert view.verdict(team.read("a")).level in (Level.TRUSTED, Level.UNTRUSTED)
            assert not view.verdict(team.read("b")).trusted
        path.write_bytes(good)
    assert team.says() == "trusted"


@pytest.mark.parametrize("kind", ["folder", "fifo", "link to itself", "link to nowhere", "unreadable", "gone"])
def test_any_one_file_of_another_kind_costs_trust_at_most(team: Team, kind: str) -> None:
    team.says()
    for path in every_path(team):
        good, mode = path.read_bytes(), path.stat().st_mode
        path.unlink()
        if kind == "folder":
            path.mkdir(mode=0o700)
        elif kind == "fifo":
            os.mkfifo(path, 0o600)
        elif kind == "link to itself":
            path.symlink_to(path.name)
        elif kind == "link to nowhere":
            path.symlink_to("nowhere")
        elif kind == "unreadable":
            path.write_bytes(good)
            path.chmod(0)
        view = team.view()
        assert view.verdict(team.read("a")).level in (Level.TRUSTED, Level.UNTRUSTED)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.is_symlink() or path.exists():
            path.unlink()
        path.write_bytes(good)
        path.chmod(mode)
    shutil.rmtree(team.places.state, ignore_errors=True)
    assert team.says() == "trusted"


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    raw=st.binary(max_size=400),
    path=st.text(max_size=80),
    name=st.text(max_size=70),
    receipt=st.binary(max_size=600),
    message=st.binary(max_size=300),
)
def test_any_bytes_anywhere_get_a_verdict(
    team: Team, raw: bytes, path: str, name: str, receipt: bytes, message: bytes
) -> None:
    keyring = {".memfs/keyring.1": receipt, f".memfs/{name}": raw}
    view = team.view_of(keyring, {f".memfs/approvals/{name}": receipt}, messages=(message,))
    assert not view.verdict(read_memory(path, raw)).trusted
    lie = MemoryFile(id=name, path=path, raw=raw, digest="0" * 64, document=None, memory=None)
    assert not view.verdict(lie).trusted


def test_many_valid_records_of_one_id_are_judged_in_good_time(team: Team, alice: Person) -> None:
    import time

    digest = content_digest(team.path("a").read_bytes())
    for number in range(60):
        team.put_receipt(make_record(alice, team, "a", digest, at=f"2026-11-30T03:{number:02}:00Z"))
    start = time.process_time()
    assert team.says() == "trusted"
    assert time.process_time() - start < 1.0


def test_a_record_that_is_folded_inside_a_withdrawal_does_not_hide_it(team: Team, bob: Person, alice: Person) -> None:
    """Text between a record's words is no record; text after its `;` is read on."""
    revoke = make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    decoy = make_record(alice, team, "z", "0" * 64)
    text = format_record(decoy).rstrip("\n").removesuffix(";") + "\n" + format_record(revoke)
    team.git("commit", "-q", "--allow-empty", "-m", f"x\n\n{text}")
    assert team.says() == "withdrawn"


def test_a_message_with_two_hundred_decoys_hides_only_what_no_receipt_says(team: Team, bob: Person) -> None:
    """The stated limit: history is a witness, the receipt in the tree is the word."""
    revoke = make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    decoys = "Memory-Approval: v1;\n" * 200
    team.git("commit", "-q", "--allow-empty", "-m", f"x\n\n{decoys}{format_record(revoke)}")
    assert team.says() == "trusted"
    team.put_receipt(revoke)
    assert team.says() == "withdrawn"


def test_an_approval_of_a_text_that_names_itself_differently_inside(team: Team, alice: Person) -> None:
    """An id stands in the file name alone; a field of the file that claims another changes nothing."""
    team.write("b", memory_text("Approved.", extra={"id": "a"}))
    team.approve(alice, "b")
    assert team.says("b") == "trusted"
    shutil.copy(team.path("b"), team.path("a"))
    assert team.says("a") == "changed"


def test_a_batch_statement_cannot_name_one_id_twice(team: Team, alice: Person) -> None:
    text = (
        f"v1 approve repo={team.repository_id} by={alice.principal} at=2026-11-30T03:11:00Z"
        f" id=a seq=1 sha256={'0' * 64} id=a seq=2 sha256={'1' * 64}"
    )
    with pytest.raises(ValueError, match="twice"):
        parse_statement(text)


def test_receipts_in_folders_below_or_with_other_endings_are_not_read(team: Team, bob: Person) -> None:
    team.write("b", memory_text("Never."))
    record = make_record(bob, team, "b", content_digest(team.path("b").read_bytes()))
    folder = team.root / ".memfs/approvals"
    (folder / "more").mkdir()
    (folder / "more" / record.receipt_name).write_text(format_record(record))
    for name in (record.receipt_name + ".bak", record.receipt_name.replace(".txt", ".md"), "." + record.receipt_name):
        (folder / name).write_text(format_record(record))
    assert team.says("b") == "no-approval"


def test_the_same_text_approved_under_two_scopes_is_two_texts(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Same words.", scope="team/x"), scope="team/x")
    team.approve(alice, "b")
    text = team.path("b", "team/x").read_text().replace("scope: team/x", "scope: team")
    team.path("b", "team/x").unlink()
    team.write("b", text)
    assert team.says("b") == "changed"
