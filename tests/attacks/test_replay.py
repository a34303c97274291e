"""Threat: text or approvals that were taken back are brought back (trust cases 22-23, 30-40)."""

from __future__ import annotations

import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest
from people import Person, Team, make_record, memory_text

from memfs.model.reader import content_digest
from memfs.model.values import replace
from memfs.trust.record import Verb


def forget(team: Team) -> None:
    """Make this machine forget everything it has seen."""
    shutil.rmtree(team.places.state, ignore_errors=True)
    shutil.rmtree(team.places.cache, ignore_errors=True)


def test_an_older_approved_text_is_not_approved_today(team: Team, bob: Person) -> None:
    team.write("a", memory_text("Second version."))
    team.approve(bob, "a")
    team.git("checkout", "-q", "HEAD~1", "--", "memories/team/a.md")
    assert team.says() == "older-text"
    team.git("rm", "-q", "--cached", f".memfs/approvals/{team.receipts()[-1]}")
    team.git("checkout", "-q", "HEAD~1", "--", ".memfs/approvals")
    assert team.says() == "older-text"


def test_an_older_text_with_the_newer_receipt_deleted_is_stopped_by_history_alone(team: Team, bob: Person) -> None:
    team.write("a", memory_text("Second version."))
    team.approve(bob, "a")
    newest = next(name for name in team.receipts() if name.startswith("a.2."))
    (team.root / ".memfs/approvals" / newest).unlink()
    team.git("checkout", "-q", "HEAD~1", "--", "memories/team/a.md")
    forget(team)
    assert team.says() == "older-text"


def test_reverting_the_approval_commit_takes_it_away_at_once(team: Team) -> None:
    team.git("revert", "--no-edit", "HEAD")
    assert team.says() == "no-approval"


def test_deleting_the_receipt_takes_the_approval_away_and_putting_it_back_gives_it(team: Team) -> None:
    team.git("rm", "-q", f".memfs/approvals/{team.receipts()[0]}")
    assert team.says() == "no-approval"
    assert "--sync" in (team.verdict().detail or "")
    team.git("reset", "-q", "--hard")
    assert team.says() == "trusted"


def test_a_withdrawn_text_stays_withdrawn_when_its_receipt_comes_back(team: Team, alice: Person) -> None:
    before = team.git("rev-parse", "HEAD")
    team.revoke(alice, "a")
    assert team.says() == "withdrawn"
    assert team.verdict().people == ("alice@example.com",)
    for name in team.receipts():
        if name.startswith("a.2."):
            (team.root / ".memfs/approvals" / name).unlink()
    team.git("checkout", "-q", before, "--", ".memfs/approvals", "memories")
    assert team.says() == "withdrawn"  # the trailer in history
    forget(team)
    assert team.says() == "withdrawn"


def test_a_dropped_withdrawal_is_remembered_where_it_was_seen(team: Team, alice: Person) -> None:
    before = team.git("rev-parse", "HEAD")
    team.revoke(alice, "a")
    assert team.says() == "withdrawn"
    team.git("reset", "-q", "--hard", before)
    assert team.says() == "withdrawn"
    # The known limit, stated in the design: where it was never seen, it cannot be missed.
    forget(team)
    team.pin()
    assert team.says() == "trusted"


def test_a_withdrawal_seen_in_another_clone_of_the_same_machine_counts(
    team: Team, alice: Person, tmp_path: Path
) -> None:
    clone = team.clone(tmp_path / "clone")
    team.revoke(alice, "a")
    assert team.says() == "withdrawn"
    assert clone.says() == "withdrawn"


def test_a_tombstone_outlasts_the_deleted_memory(team: Team, alice: Person) -> None:
    before = team.git("rev-parse", "HEAD")
    team.path("a").unlink()
    team.commit("delete")
    team.revoke(alice, "a")
    forget(team)
    team.pin()
    team.git("checkout", "-q", before, "--", "memories", f".memfs/approvals/{team.receipts()[0]}")
    assert team.says() == "withdrawn"


def test_a_withdrawal_can_be_answered_by_a_new_approval(team: Team, alice: Person, bob: Person) -> None:
    team.revoke(bob, "a")
    assert team.says() == "withdrawn"
    team.approve(alice, "a")
    assert team.says() == "trusted"
    assert sorted(name[:4] for name in team.receipts()) == ["a.1.", "a.2.", "a.3."]


def test_a_newer_approval_by_a_key_that_expired_still_blocks_the_older_text(
    team: Team, alice: Person, bob: Person
) -> None:
    old = team.path("a").read_bytes()
    team.write("a", memory_text("Second version."))
    team.approve(bob, "a")
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], before=date(2026, 12, 1))))
    assert team.says() == "trusted"
    team.today = date(2026, 12, 1)
    assert team.says() == "key-expired"
    team.path("a").write_bytes(old)
    assert team.says() == "older-text"


def test_a_newer_approval_that_ran_out_still_blocks_the_older_text(team: Team, bob: Person) -> None:
    old = team.path("a").read_bytes()
    team.write("a", memory_text("Second version."))
    team.approve(bob, "a", until=team.today)
    assert team.says() == "trusted"
    tomorrow = team.today + timedelta(days=1)
    assert team.says(today=tomorrow) == "key-expired"
    team.path("a").write_bytes(old)
    assert team.says(today=tomorrow) == "older-text"


def test_who_leaves_as_retired_leaves_their_withdrawals_behind(team: Team, alice: Person, bob: Person) -> None:
    team.write("b", memory_text("Bob's own."))
    team.approve(bob, "b")
    team.revoke(bob, "a")
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], roles=("retired",))))
    assert team.says("a") == "withdrawn"
    assert team.says("b") == "key-retired"
    assert team.verdict("b").detail == "the key that bob@example.com signed with is retired"


def test_who_is_removed_was_never_there(team: Team, alice: Person, bob: Person) -> None:
    team.write("b", memory_text("Bob's own."))
    team.approve(bob, "b")
    team.revoke(bob, "a")
    team.change_keyring([alice], keys=team.keys()[:1])
    assert team.says("b") == "key-unknown"
    assert team.says("a") == "trusted"


def test_a_retired_key_can_still_withdraw_and_not_approve(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], roles=("retired",))))
    team.write("b", memory_text("New."))
    team.put_receipt(make_record(bob, team, "b", content_digest(team.path("b").read_bytes())))
    assert team.says("b") == "key-retired"
    team.put_receipt(make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW))
    assert team.says("a") == "withdrawn"


def test_superseding_withdraws_the_old_memory_in_the_same_approval(team: Team, alice: Person) -> None:
    team.write("b", memory_text("The new rule.", extra={"supersedes": "[a]"}))
    done = team.approve(alice, "b")
    assert [record.statement.verb for record in done.records] == ["approve", "revoke"]
    assert team.git("rev-list", "--count", "HEAD") == "4"
    assert team.says("a") == "withdrawn"
    assert team.says("b") == "trusted"
    # Damaging the new rule does not bring the old one back.
    team.write("b", "damaged")
    assert team.says("a") == "withdrawn"
    team.path("b").unlink()
    assert team.says("a") == "withdrawn"


def test_a_memory_that_claims_to_supersede_withdraws_nothing_until_it_is_approved(team: Team) -> None:
    team.write("b", memory_text("The new rule.", extra={"supersedes": "[a]"}), commit=True)
    assert team.says("a") == "trusted"


def test_what_only_this_machine_remembers_never_grants(team: Team) -> None:
    assert team.says() == "trusted"
    team.git("reset", "-q", "--hard", "HEAD~1")
    team.git("reflog", "expire", "--expire=now", "--all")
    team.git("gc", "-q", "--prune=now")
    assert team.says() == "no-approval"


def test_an_approval_only_in_history_never_grants(team: Team) -> None:
    shutil.rmtree(team.root / ".memfs/approvals")
    verdict = team.verdict()
    assert verdict.reason == "no-approval"
    assert "memfs trust --sync" in (verdict.detail or "")


def test_a_clock_that_is_set_back_does_not_revive_what_ran_out(team: Team, alice: Person) -> None:
    team.write("b", memory_text("For a while."))
    team.approve(alice, "b", until=date(2026, 12, 31))
    assert team.says("b") == "trusted"
    assert team.says("b", today=date(2027, 6, 1)) == "key-expired"
    back = team.view(today=date(2026, 6, 1))
    assert back.verdict(team.read("b")).reason == "key-expired"
    assert back.today == date(2027, 6, 1)
    assert any("2027-06-01 was seen before" in notice for notice in back.notices)


def test_a_last_date_that_is_nonsense_is_ignored(team: Team) -> None:
    team.verdict()
    for nonsense in ("", "yesterday", "9999-99-99", "\u0662\u0660\u0662\u0666-01-01"):
        (team.places.state / "last-date").write_text(nonsense)
        assert team.says() == "trusted"


def test_back_dating_a_record_does_not_help_an_expired_key(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], before=date(2026, 11, 1))))
    team.write("b", memory_text("Back-dated."))
    for at in ("2026-10-01T00:00:00Z", "2001-01-01T00:00:00Z", "2026-11-30T03:11:00Z", "2099-01-01T00:00:00Z"):
        path = team.put_receipt(make_record(bob, team, "b", content_digest(team.path("b").read_bytes()), at=at))
        assert team.says("b") == "key-expired"
        path.unlink()


def test_the_last_day_of_a_key_and_of_an_approval(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    limited = replace(lines[1], after=date(2026, 12, 5), before=date(2026, 12, 10))
    team.change_keyring([alice], keys=(lines[0], limited))
    team.write("b", memory_text("Limited."))
    record = make_record(bob, team, "b", content_digest(team.path("b").read_bytes()), until=date(2026, 12, 8))
    team.put_receipt(record)
    expected = {4: "key-expired", 5: "trusted", 8: "trusted", 9: "key-expired", 10: "key-expired"}
    assert {day: team.says("b", today=date(2026, 12, day)) for day in sorted(expected)} == expected


def test_a_key_that_may_approve_from_tomorrow_on_does_not_today(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], after=team.today + timedelta(days=1))))
    team.write("b", memory_text("Too early."))
    team.put_receipt(make_record(bob, team, "b", content_digest(team.path("b").read_bytes())))
    assert team.says("b") == "key-expired"


def test_sync_does_not_undo_a_revert(team: Team, alice: Person) -> None:
    from memfs.trust.receipts import find_missing_receipts

    team.git("revert", "--no-edit", "HEAD")
    assert find_missing_receipts(team.tree, team.view()) == ()
    named = find_missing_receipts(team.tree, team.view(), ids=["a"])
    assert [record.statement.by for record in named] == ["alice@example.com"]


def test_sync_never_brings_back_what_was_withdrawn(team: Team, alice: Person) -> None:
    from memfs.trust.receipts import find_missing_receipts, write_receipts

    team.revoke(alice, "a")
    shutil.rmtree(team.root / ".memfs/approvals")
    team.git("rm", "-rq", "--cached", ".memfs/approvals")
    team.git("commit", "-qm", "drop")
    found = find_missing_receipts(team.tree, team.view(), ids=["a"])
    assert [record.statement.verb for record in found] == ["revoke"]
    write_receipts(team.tree, found)
    forget(team)
    team.pin()
    assert team.says() == "withdrawn"


@pytest.mark.parametrize("seq", [3, 999_999_999])
def test_a_stranger_cannot_block_a_text_by_a_high_counter(team: Team, mallory: Person, seq: int) -> None:
    team.put_receipt(make_record(mallory, team, "a", "0" * 64, seq=seq, by="alice@example.com"))
    team.put_receipt(make_record(mallory, team, "a", "0" * 64, seq=seq, verb=Verb.WITHDRAW))
    assert team.says() == "trusted"


def test_a_withdrawal_whose_trailer_a_squash_dropped_is_remembered_from_its_receipt(team: Team, bob: Person) -> None:
    revoke = make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    path = team.put_receipt(revoke)
    team.commit("squashed (#7)")
    assert "Memory-Approval" not in team.git("log", "-1", "--format=%B")
    assert team.says() == "withdrawn"
    path.unlink()
    team.commit("drop the receipt")
    assert team.says() == "withdrawn"
    assert team.says(history=False) == "withdrawn"


def test_a_newer_approval_whose_trailer_a_squash_dropped_is_remembered_from_its_receipt(
    team: Team, bob: Person
) -> None:
    old = team.path("a").read_bytes()
    team.write("a", memory_text("Second version."))
    path = team.put_receipt(make_record(bob, team, "a", content_digest(team.path("a").read_bytes()), seq=2))
    team.commit("squashed (#8)")
    assert team.says() == "trusted"
    team.path("a").write_bytes(old)
    path.unlink()
    team.commit("back")
    assert team.says() == "older-text"


def test_a_withdrawal_by_somebody_whom_a_later_keyring_lists_is_found_when_it_does(
    team: Team, alice: Person, carol: Person
) -> None:
    from memfs.trust.record import format_record

    revoke = make_record(carol, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    team.git("commit", "-q", "--allow-empty", "-m", f"Carol objects\n\n{format_record(revoke)}")
    assert team.says() == "trusted"  # nobody knows Carol
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line()))
    assert team.says() == "withdrawn"
