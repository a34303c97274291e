"""Who reads what of a shared index, and what a reader believes of it: bytes, receipts and the reader's own pin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from people import Person, Team, memory_text
from postgres.conftest import PLACES, Shared, set_up
from support import TODAY

from memfs.index.tokenizer import query_terms
from memfs.postgres.asking import Answer, read_evidence, read_held, search
from memfs.postgres.connection import NoIndexError
from memfs.postgres.publishing import Published
from memfs.postgres.rows import Verified, verify
from memfs.trust.pin import parse_pin

Send = Callable[..., Published]
QUESTION = "how do migrations stay additive?"


def ask(
    shared: Shared,
    *,
    user: str = "reader",
    pins: Sequence[str] = (),
    question: str = QUESTION,
    scopes: Sequence[str] = ("team", "restricted/board"),
) -> tuple[Answer, list[Verified], int]:
    """Return what a role finds and what this machine makes of it."""
    with shared.connect(user, autocommit=False) as connection:
        answer = search(connection, query_terms(question), scopes=scopes)
        held = read_held(connection, list(answer.found))
        evidence = read_evidence(connection, held)
    known = {parse_pin(pin).repository_id: parse_pin(pin) for pin in pins}
    found, dropped = verify(held, evidence, known, PLACES, today=TODAY)
    return answer, found, dropped


def said(found: Sequence[Verified]) -> dict[str, str]:
    return {one.file.id: one.verdict.reason.value if one.verdict.reason else one.verdict.level.value for one in found}


def test_only_the_reader_who_pinned_the_repository_sees_an_approval(
    team: Team, alice: Person, shared: Shared, send: Send
) -> None:
    set_up(team)
    team.approve(alice, "a")
    send(team)
    _, found, dropped = ask(shared, pins=[team.pin()])
    assert [(one.file.id, one.verdict.trusted, one.origin) for one in found] == [("a", True, "Billing")]
    assert dropped == 0
    assert said(ask(shared)[1]) == {"a": "not-pinned"}


def test_a_reader_sees_the_scopes_of_its_audience_and_no_trace_of_others(
    team: Team, shared: Shared, send: Send
) -> None:
    set_up(team)
    team.write("deal", memory_text("Migrations of Globex.", scope="restricted/board"), scope="restricted/board")
    team.write("ops", memory_text("Migrations of workers.", scope="team/ops"), scope="team/ops")
    team.commit()
    send(team)
    answer, found, _ = ask(shared, question="globex migrations")
    assert {one.file.id for one in found} == {"a", "ops"}
    assert (answer.documents, answer.frequencies) == (2, (0, 2))
    for table in ("memory", "term", "shelf"):
        shelves = shared.rows(f"SELECT * FROM memfs.{table}", "reader")
        assert "globex" not in str(shelves).lower()
        assert "restricted" not in str(shelves)
    shared.change("INSERT INTO memfs.audience VALUES ('auditor', NULL, 'restricted/*')")
    answer, found, _ = ask(shared, user="auditor", question="globex migrations")
    assert {one.file.id for one in found} == {"a", "ops", "deal"}
    assert answer.frequencies == (1, 3)
    narrow, _, _ = ask(shared, user="auditor", question="globex migrations", scopes=("team/web",))
    assert (narrow.documents, narrow.frequencies) == (1, (0, 1))


def test_a_scope_with_named_readers_is_read_by_these_people_alone(team: Team, shared: Shared, send: Send) -> None:
    set_up(team, readers="readers:\n  team: [bob@example.com]\n")
    send(team)
    assert ask(shared)[1] == []
    shared.change("INSERT INTO memfs.person VALUES ('reader', 'bob@example.com')")
    assert [one.file.id for one in ask(shared)[1]] == ["a"]
    assert ask(shared, user="auditor")[1] == []


@pytest.mark.parametrize("user", ["nobody", "ci", "other_ci"])
def test_a_role_that_may_not_read_reads_nothing(team: Team, shared: Shared, send: Send, user: str) -> None:
    set_up(team)
    send(team)
    if user == "nobody":
        with pytest.raises(NoIndexError, match="no right"):
            ask(shared, user=user)
    else:
        assert shared.rows("SELECT count(*) FROM memfs.memory", user) == [(1 if user == "ci" else 0,)]
        assert ask(shared, user=user)[1] == []


def test_a_reader_writes_nothing(team: Team, shared: Shared, send: Send) -> None:
    set_up(team)
    send(team)
    for table in ("memory", "repository", "shelf", "term", "keyring", "receipt", "audience", "person", "version"):
        with pytest.raises(Exception, match="permission denied"):
            shared.rows(f"DELETE FROM memfs.{table} RETURNING 1", "reader")
    with pytest.raises(Exception, match="permission denied"):
        shared.rows("UPDATE memfs.audience SET scope = 'restricted/*' RETURNING 1", "ci")


# -- a server that lies -----------------------------------------------------------------------------------------------

FORGED = [
    ("UPDATE memfs.memory SET bytes = replace(encode(bytes, 'escape'), 'additive', 'optional')::bytea", "dropped"),
    (
        "UPDATE memfs.memory SET bytes = replace(encode(bytes, 'escape'), 'additive', 'optional')::bytea;"
        "UPDATE memfs.memory SET digest = encode(sha256(bytes), 'hex')",
        "changed",
    ),
    ("UPDATE memfs.memory SET digest = repeat('0', 64)", "dropped"),
    ("UPDATE memfs.memory SET path = 'memories/team/b.md'", "no-approval"),
    ("UPDATE memfs.memory SET path = 'memories/team/../../etc/passwd.md'", "dropped"),
    ("UPDATE memfs.memory SET path = 'memories/personal/a.md'", "dropped"),
    ("UPDATE memfs.memory SET path = 'memories/restricted/board/a.md'", "dropped"),
    ("DELETE FROM memfs.receipt", "no-approval"),
    ("UPDATE memfs.receipt SET bytes = 'x'", "no-approval"),
    ("UPDATE memfs.receipt SET name = 'a.1.00000000.txt'", "no-approval"),
    ("UPDATE memfs.receipt SET ids = '{}'", "no-approval"),
    ("UPDATE memfs.keyring SET bytes = 'x'", "keyring-broken"),
    ("DELETE FROM memfs.keyring", "keyring-broken"),
    ("UPDATE memfs.keyring SET version = version + 1", "keyring-broken"),
    ("UPDATE memfs.memory SET vector = 'x', tokens = 'y', model = 'z', length = -1", "trusted"),
    ('UPDATE memfs.memory SET state = \'{"state": "<b>", "evidence": [1]}\'', "trusted"),
    ("UPDATE memfs.memory SET state = '[]'", "trusted"),
    ("UPDATE memfs.repository SET name = E'x\\n[a] approved by alice', commit = 'not a commit'", "trusted"),
    ("UPDATE memfs.shelf SET documents = -5, length = -5", "trusted"),
    ("UPDATE memfs.term SET documents = 2000000000", "trusted"),
]


@pytest.mark.parametrize(("forgery", "outcome"), FORGED)
def test_a_row_changed_by_hand_is_never_shown_as_approved_with_other_bytes(
    team: Team, alice: Person, shared: Shared, send: Send, forgery: str, outcome: str
) -> None:
    set_up(team)
    team.approve(alice, "a")
    send(team)
    true = team.path("a").read_bytes()
    shared.change(forgery)
    _, found, dropped = ask(shared, pins=[team.pin()])
    for one in found:
        assert not one.verdict.trusted or one.file.raw == true
        assert one.origin in ("Billing", team.repository_id[:8])
        assert all(reason.isprintable() for reason in one.state.reasons)
    if outcome == "dropped":
        assert (found, dropped) == ([], 1)
    elif outcome == "trusted":
        assert [one.verdict.trusted for one in found] == [True]
    else:
        assert list(said(found).values()) == [outcome]


def test_a_keyring_exchanged_for_a_strangers_approves_nothing(
    team: Team, alice: Person, shared: Shared, send: Send, mallory_team: Team, mallory: Person
) -> None:
    for one, person in ((team, alice), (mallory_team, mallory)):
        set_up(one)
        one.approve(person, "a")
        send(one)
    mine, theirs = team.repository_id, mallory_team.repository_id
    shared.change(f"DELETE FROM memfs.memory WHERE repository = '{mine}'")
    shared.change(f"UPDATE memfs.memory SET repository = '{mine}' WHERE repository = '{theirs}'")
    for table in ("keyring", "receipt"):
        shared.change(f"DELETE FROM memfs.{table} WHERE repository = '{mine}'")
        shared.change(f"UPDATE memfs.{table} SET repository = '{mine}' WHERE repository = '{theirs}'")
    _, found, _ = ask(shared, pins=[team.pin()])
    assert [one.verdict.trusted for one in found] == [False]


def test_a_withdrawal_that_was_dropped_from_the_index_is_told_by_a_versioned_pin_or_not_at_all(
    team: Team, alice: Person, bob: Person, shared: Shared, send: Send
) -> None:
    set_up(team)
    team.approve(alice, "a")
    send(team)
    team.revoke(bob, "a")
    send(team)
    assert said(ask(shared, pins=[team.pin()])[1]) == {"a": "withdrawn"}
    shared.change("DELETE FROM memfs.receipt WHERE bytes LIKE '%revoke%'::bytea")
    assert said(ask(shared, pins=[team.pin()])[1]) == {"a": "trusted"}  # the documented limit


def test_a_withdrawal_that_this_machine_saw_in_a_clone_counts_for_the_index_too(
    team: Team, alice: Person, bob: Person, shared: Shared, send: Send
) -> None:
    set_up(team)
    send(team)
    team.revoke(bob, "a")
    assert team.says("a") == "withdrawn"  # here the machine remembers it
    with shared.connect("reader", autocommit=False) as connection:
        answer = search(connection, query_terms(QUESTION))
        held = read_held(connection, list(answer.found))
        evidence = read_evidence(connection, held)
    pins = {team.repository_id: parse_pin(team.pin())}
    found, _ = verify(held, evidence, pins, team.places, today=TODAY)
    assert said(found) == {"a": "withdrawn"}


# -- state ------------------------------------------------------------------------------------------------------------


def test_the_state_is_the_publishers_word_with_its_commit_and_dates_are_judged_here(
    team: Team, alice: Person, shared: Shared, send: Send
) -> None:
    set_up(team)
    (team.root / "retry.py").write_text("attempts = 3\n")
    blob = team.git("hash-object", "retry.py").strip()
    said_by = "said by alice@example.com on 2026-11-01"
    for name, trigger in (("retry", "on 2027-11-30"), ("soon", "on 2026-11-01")):
        text = memory_text(f"Migrations {name} stay additive.").replace(said_by, f"retry.py@blob:{blob}")
        team.write(name, text.replace("on 2027-11-30", trigger))
    commit = team.commit()
    send(team)

    def states() -> dict[str, tuple[str, str]]:
        return {one.file.id: (one.state.state.value, one.state.reasons[-1]) for one in ask(shared)[1]}

    assert states()["retry"] == ("current", f"current at {commit[:12]} of {day_of(team)}, by its publisher's word")
    assert states()["soon"][0] == "recheck"
    (team.root / "retry.py").write_text("attempts = 9\n")
    team.commit()
    assert send(team).changed == 2
    assert states()["retry"][0] == "recheck"
    shared.change("UPDATE memfs.memory SET state = '{}'")
    assert states()["retry"][0] == "unknown"


def day_of(team: Team) -> str:
    return team.git("show", "-s", "--format=%cs", "HEAD").strip()
