"""Threat: somebody without an approver's key makes text look approved (trust cases 1-17)."""

from __future__ import annotations

import time
from datetime import date

import pytest
from people import Person, Team, make_record, memory_text, sign_statement

from memfs.model.reader import content_digest
from memfs.model.values import replace
from memfs.trust.record import Item, Record, Statement, Verb, format_record, format_statement, parse_statement


def digest(team: Team, memory_id: str) -> str:
    return content_digest(team.path(memory_id).read_bytes())


def test_the_signature_of_the_commit_is_irrelevant(team: Team) -> None:
    assert "gpgsig" not in team.git("cat-file", "commit", "HEAD")
    assert team.says() == "trusted"
    verdict = team.verdict()
    assert verdict.people == ("alice@example.com",)
    assert verdict.on == date(2026, 11, 30)


def _forged_line(team: Team, memory_id: str, signature: str = "AAAA") -> str:
    return (
        f"Memory-Approval: v1 approve repo={team.repository_id} by=alice@example.com at=2026-11-30T03:11:00Z"
        f" id={memory_id} seq=9 sha256={digest(team, memory_id)} sig={signature};"
    )


def test_a_line_in_a_commit_message_with_a_made_up_signature_is_not_believed(team: Team) -> None:
    team.write("b", memory_text("Never reviewed."), commit=True)
    team.git("commit", "-q", "--allow-empty", "-m", "x", "-m", _forged_line(team, "b"))
    assert team.says("b") == "bad-signature"
    assert team.says("a") == "trusted"


def test_a_receipt_with_a_made_up_signature_is_not_believed(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Never reviewed."))
    real = make_record(alice, team, "b", "0" * 64)
    text = make_record(alice, team, "b", digest(team, "b"), seq=9).text
    for signature in (b"\0\0\0", b"SSHSIG", real.signature, real.signature[:-1] + b"\0"):
        team.put_receipt(Record(statement=parse_statement(text), text=text, signature=signature))
        assert team.says("b") == "bad-signature"


def test_a_commit_signed_by_an_approver_does_not_carry_a_forged_line(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Never reviewed."), commit=True)
    team.git("config", "gpg.format", "ssh")
    team.git("config", "user.signingkey", str(alice.key))
    team.git("commit", "-qS", "--allow-empty", "-m", "x", "-m", _forged_line(team, "b"))
    assert "gpgsig" in team.git("cat-file", "commit", "HEAD")
    assert team.says("b") == "bad-signature"


def test_a_stranger_cannot_borrow_a_reviewers_name(team: Team, mallory: Person) -> None:
    team.write("b", memory_text("Never reviewed."))
    team.put_receipt(make_record(mallory, team, "b", digest(team, "b"), by="alice@example.com"))
    assert team.says("b") == "key-unknown"


def test_a_stranger_cannot_sign_under_a_name_of_their_own(team: Team, mallory: Person) -> None:
    team.write("b", memory_text("Never reviewed."))
    team.put_receipt(make_record(mallory, team, "b", digest(team, "b")))
    assert team.says("b") == "key-unknown"


def test_one_approver_cannot_sign_as_another(team: Team, bob: Person) -> None:
    team.write("b", memory_text("Never reviewed."))
    team.put_receipt(make_record(bob, team, "b", digest(team, "b"), by="alice@example.com"))
    assert team.says("b") == "key-unknown"
    team.put_receipt(make_record(bob, team, "b", digest(team, "b")))
    assert team.says("b") == "trusted"


def test_an_approval_made_for_another_repository_is_not_one_for_this(
    team: Team, tmp_path_factory: pytest.TempPathFactory, alice: Person
) -> None:
    team.write("b", memory_text("Approved elsewhere."))
    team.put_receipt(make_record(alice, team, "b", digest(team, "b"), repo="0" * 32))
    assert team.says("b") == "wrong-repository"


def test_a_signature_made_for_another_purpose_is_no_approval(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Never reviewed."))
    text = make_record(alice, team, "b", digest(team, "b")).text
    for namespace in ("memory-keyring@v1", "git", "file", "memory-approval@v2", "memory-approval"):
        record = sign_statement(alice, text, namespace=namespace)
        path = team.put_receipt(record)
        assert team.says("b") == "wrong-namespace"
        path.unlink()


def test_the_same_text_under_another_id_is_not_approved(team: Team) -> None:
    team.path("b").write_bytes(team.path("a").read_bytes())
    assert team.says("b") == "no-approval"
    assert team.says("a") == "trusted"


def test_a_receipt_copied_to_another_id_is_not_read_for_it(team: Team) -> None:
    team.path("b").write_bytes(team.path("a").read_bytes())
    folder = team.root / ".memfs/approvals"
    name = team.receipts()[0]
    (folder / name.replace("a.", "b.", 1)).write_bytes((folder / name).read_bytes())
    assert team.says("b") == "no-approval"


def test_an_approval_of_another_id_over_the_same_digest_does_not_count(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Same words."))
    team.put_receipt(make_record(alice, team, "c", digest(team, "b")))
    assert team.says("b") == "no-approval"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("additive.", "addictive."),
        ("scope: team", "scope: team/x"),
        ("origin: owner", "origin: agent"),
        ("origin: owner\n", ""),
        ("kind: decision", "kind: preference"),
        ("review_trigger: on 2027-11-30", "review_trigger: on 2037-11-30"),
        ("review_trigger:", "expires: 2030-01-01\nreview_trigger:"),
        ("said by alice", "said by bob"),
        ("additive.\n", "additive.\n\n"),
        ("additive.\n", "additive."),
        ("additive.\n", "additive. \n"),
        ("Migrations", "migrations"),
    ],
)
def test_any_edit_after_the_approval_costs_it(team: Team, old: str, new: str) -> None:
    text = team.path("a").read_text()
    assert old in text
    team.write("a", text.replace(old, new, 1))
    assert team.says() in ("changed", "bad-file")
    team.write("a", text)
    assert team.says() == "trusted"


def _resign_nothing(record: Record, **changes: object) -> Record:
    """Return ``record`` with a changed statement and the old signature."""
    statement = replace(record.statement, **changes)
    return Record(statement=statement, text=format_statement(statement), signature=record.signature)


def test_a_statement_changed_after_signing_does_not_verify(team: Team, bob: Person) -> None:
    team.write("b", memory_text("Reviewed once."))
    real = make_record(bob, team, "b", digest(team, "b"))
    item = real.statement.items[0]
    changed = [
        _resign_nothing(real, items=(replace(item, seq=2),)),
        _resign_nothing(real, until=date(2099, 1, 1)),
        _resign_nothing(real, at="2026-11-30T03:11:01Z"),
        _resign_nothing(real, verb=Verb.WITHDRAW),
        _resign_nothing(real, items=(item, Item(id="z", seq=1, digest="0" * 64))),
        _resign_nothing(real, items=(replace(item, id="b2"),)),
    ]
    for record in changed[:5]:
        path = team.put_receipt(record)
        assert team.says("b") == "bad-signature"
        path.unlink()
    team.put_receipt(real)
    assert team.says("b") == "trusted"


def test_re_wrapped_receipts_still_count(team: Team, bob: Person) -> None:
    team.write("b", memory_text("Reviewed."))
    record = make_record(bob, team, "b", digest(team, "b"))
    path = team.put_receipt(record)
    for text in (
        record.line,
        format_record(record).replace(" by=", "  by="),
        format_record(record).replace("\n", "\r\n"),
        "> " + format_record(record).rstrip().replace("\n", "\n> "),
    ):
        path.write_text(text, newline="")
        assert team.says("b") == "trusted"
    for text in (
        record.line.replace("seq=1", "seq=\t1"),
        record.line.replace("seq=1 ", "seq=1 seq=1 "),
        record.line.replace(record.statement.items[0].digest, record.statement.items[0].digest.upper()),
        record.line.rstrip(";"),
        f"{record.line}\n{record.line}",
    ):
        path.write_text(text)
        assert team.says("b") == "no-approval"


def test_a_record_inside_a_memory_or_a_readme_is_not_read(team: Team, bob: Person) -> None:
    team.write("b", memory_text("Never approved."))
    record = make_record(bob, team, "b", digest(team, "b"))
    (team.root / "README.md").write_text(format_record(record))
    team.write("c", memory_text("x") + "\n" + format_record(record))
    (team.root / ".memfs" / record.receipt_name).write_text(format_record(record))
    (team.root / "memories" / record.receipt_name).write_text(format_record(record))
    team.commit()
    assert team.says("b") == "no-approval"


def test_a_record_in_the_subject_line_of_a_commit_only_informs(team: Team, bob: Person) -> None:
    team.write("b", memory_text("Never approved."))
    record = make_record(bob, team, "b", digest(team, "b"))
    team.git("commit", "-q", "--allow-empty", "-m", record.line)
    verdict = team.verdict("b")
    assert verdict.reason == "no-approval"
    assert "--sync" in (verdict.detail or "")


def test_twenty_thousand_forged_records_in_one_message_cost_no_time(team: Team) -> None:
    team.write("b", memory_text("Never approved."), commit=True)
    team.verdict("b")
    (team.root / "message").write_text("x\n\n" + f"{_forged_line(team, 'b', 'AAAABBBB')}\n" * 20_000)
    team.git("commit", "-q", "--allow-empty", "-F", "message")
    view_start = time.process_time()
    assert team.says("b") == "bad-signature"
    assert time.process_time() - view_start < 0.2


def test_a_batch_approves_each_of_its_texts_under_its_own_id(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Second."))
    team.write("c", memory_text("Third."))
    team.approve(alice, "b", "c")
    assert [team.says(name) for name in "abc"] == ["trusted"] * 3
    b, c = team.path("b").read_bytes(), team.path("c").read_bytes()
    team.path("b").write_bytes(c)
    team.path("c").write_bytes(b)
    assert [team.says(name) for name in "bc"] == ["changed"] * 2


def test_a_batch_receipt_under_the_name_of_a_single_one_is_not_read(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Second."))
    team.write("c", memory_text("Third."))
    team.approve(alice, "b", "c")
    folder = team.root / ".memfs/approvals"
    batch = next(name for name in team.receipts() if name.startswith("batch."))
    (folder / batch).rename(folder / batch.replace("batch.", "b.1."))
    assert team.says("b") == "no-approval"


def test_key_owners_who_only_sign_keyrings_approve_nothing(team: Team, alice: Person, carol: Person) -> None:
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line("root")))
    team.write("b", memory_text("Approved by a root key."))
    team.put_receipt(make_record(carol, team, "b", digest(team, "b")))
    assert team.says("b") == "key-unknown"


def test_a_statement_must_name_the_verb_it_was_signed_with(team: Team, alice: Person) -> None:
    """A withdrawal rewritten as an approval is neither."""
    statement = Statement(
        verb=Verb.WITHDRAW,
        repo=team.repository_id,
        by=alice.principal,
        at="2026-11-30T03:11:00Z",
        items=(Item(id="b", seq=1, digest="0" * 64),),
    )
    team.write("b", memory_text("Text."))
    revoke = sign_statement(
        alice, format_statement(replace(statement, items=(Item(id="b", seq=1, digest=digest(team, "b")),)))
    )
    team.put_receipt(_resign_nothing(revoke, verb=Verb.APPROVE))
    assert team.says("b") == "bad-signature"
