"""The verdict as a pure function: each step of TRUST 6 and each reason, on records with real signatures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from typing import Any

import pytest
from people import MEMORY, Person
from security_key import SecurityKey
from support import TODAY

from memfs.model.memory import Problem
from memfs.model.reader import read_memory
from memfs.model.values import replace
from memfs.trust import sshsig
from memfs.trust.judge import (
    CheckedRecord,
    Facts,
    Level,
    Reason,
    Verdict,
    check_records,
    find_fault,
    find_lapse,
    judge,
    newest_of,
)
from memfs.trust.keyring import Key, Keyring
from memfs.trust.record import NAMESPACE, Item, Record, Statement, Verb, format_statement, signed_bytes

REPO = "a" * 32
DIGEST, OTHER = "1" * 64, "2" * 64
Make = Callable[..., Record]


@pytest.fixture(scope="module")
def make() -> Make:
    """Return a maker of signed records; each is signed once for the whole module."""

    @cache
    def sign(person: Any, text: str, namespace: str) -> bytes:
        return (
            person.sign(namespace, signed_bytes(text))
            if hasattr(person, "sign")
            else person.signer.sign(namespace, signed_bytes(text))
        )

    def build(
        person: Any, digest: str = DIGEST, seq: int = 1, *, verb: Verb = Verb.APPROVE, by: str | None = None,
        repo: str = REPO, until: date | None = None, memory_id: str = "a", at: str = "2026-11-30T03:11:00Z",
        namespace: str = NAMESPACE,
    ) -> Record:  # fmt: skip
        statement = Statement(
            verb=verb, repo=repo, by=by or person.principal, at=at, until=until,
            items=(Item(id=memory_id, seq=seq, digest=digest),),
        )  # fmt: skip
        text = format_statement(statement)
        return Record(statement=statement, text=text, signature=sign(person, text, namespace))

    return build


@pytest.fixture
def ring(alice: Person, bob: Person) -> Keyring:
    return Keyring(
        version=1, previous=None, salt="0" * 32, root=1, approve=1, needs=(),
        keys=(alice.key_line("root", "approve"), bob.key_line("approve")),
    )  # fmt: skip


def listen(keyring: Keyring, *records: Record, receipts: bool = True) -> tuple[CheckedRecord, ...]:
    named = [(record, receipts) for record in records]
    return tuple(check_records(named, "a", keyring=keyring, repository_id=REPO, verify=sshsig.verify))


def decide(
    keyring: Keyring, *records: Record, digest: str = DIGEST, scope: str = "team", today: date = TODAY,
    history: tuple[Record, ...] = (), **more: Any,
) -> Verdict:  # fmt: skip
    found = listen(keyring, *records) + listen(keyring, *history, receipts=False)
    return judge(Facts(digest=digest, scope=scope, records=found, **more), keyring, today)


def test_nothing_is_known(ring: Keyring) -> None:
    assert decide(ring) == Verdict(level=Level.UNTRUSTED, reason=Reason.NO_APPROVAL)


def test_one_approval_of_this_text(ring: Keyring, make: Make, alice: Person) -> None:
    verdict = decide(ring, make(alice))
    assert verdict == Verdict(level=Level.TRUSTED, people=("alice@example.com",), on=date(2026, 11, 30))
    assert verdict.trusted


def test_the_newest_date_is_reported(ring: Keyring, make: Make, alice: Person, bob: Person) -> None:
    verdict = decide(ring, make(alice, at="2026-11-01T00:00:00Z"), make(bob, at="2026-11-20T00:00:00Z"))
    assert verdict.on == date(2026, 11, 20)
    assert verdict.people == ("alice@example.com", "bob@example.com")


def test_an_approval_of_another_text(ring: Keyring, make: Make, alice: Person) -> None:
    verdict = decide(ring, make(alice, OTHER))
    assert verdict.reason == Reason.CHANGED
    assert not verdict.trusted


def test_a_newer_text_was_approved(ring: Keyring, make: Make, alice: Person) -> None:
    assert decide(ring, make(alice, seq=1), make(alice, OTHER, seq=2)).reason == Reason.OLDER_TEXT
    assert decide(ring, make(alice, seq=1), make(alice, OTHER, seq=2), digest=OTHER).trusted
    assert decide(ring, make(alice, seq=1), history=(make(alice, OTHER, seq=2),)).reason == Reason.OLDER_TEXT


def test_two_texts_at_one_counter_are_neither_approved_until_somebody_approves_again(
    ring: Keyring, make: Make, alice: Person, bob: Person
) -> None:
    one, other = make(alice, DIGEST, 2), make(bob, OTHER, 2)
    for digest in (DIGEST, OTHER):
        for verdict in (
            decide(ring, one, other, digest=digest),
            decide(ring, one, history=(other,), digest=digest),
            decide(replace(ring, approve=2), one, other, digest=digest),
            decide(replace(ring, keys=(ring.keys[0], replace(ring.keys[1], roles=("retired",)))), one, other),
        ):
            assert verdict.level == Level.UNTRUSTED
            assert verdict.reason == Reason.TWO_TEXTS
            assert "alice@example.com, bob@example.com" in (verdict.detail or "")
    assert decide(ring, one, other, digest="3" * 64).reason == Reason.CHANGED
    assert decide(ring, make(alice, "3" * 64, 1), one, other, digest="3" * 64).reason == Reason.OLDER_TEXT
    assert decide(ring, one, other, make(bob, DIGEST, 3)).trusted
    assert decide(ring, one, other, make(bob, DIGEST, 3), digest=OTHER).reason == Reason.OLDER_TEXT
    assert decide(ring, one, make(bob, DIGEST, 2)).trusted
    assert decide(ring, one, other, make(bob, OTHER, 2, verb=Verb.WITHDRAW)).reason == Reason.WITHDRAWN


def test_a_key_with_scopes_has_no_say_elsewhere(ring: Keyring, make: Make, alice: Person, bob: Person) -> None:
    keyring = replace(ring, keys=(ring.keys[0], replace(ring.keys[1], scopes=("team/x",))))
    for mine in (make(bob, seq=2, verb=Verb.WITHDRAW), make(bob, OTHER, seq=2), make(bob, OTHER, seq=1)):
        assert decide(keyring, make(alice), mine).trusted
    withdrawal = make(bob, seq=2, verb=Verb.WITHDRAW)
    assert decide(keyring, make(alice), withdrawal, scope="team/x").reason == Reason.WITHDRAWN
    assert decide(keyring, make(alice), make(bob, OTHER, seq=2), scope="team/x").reason == Reason.OLDER_TEXT
    retired = replace(keyring, keys=(keyring.keys[0], replace(keyring.keys[1], roles=("retired",), scopes=())))
    assert decide(retired, make(alice), withdrawal).reason == Reason.WITHDRAWN


def test_a_revoke_at_the_top_withdraws_whoever_else_approved(
    ring: Keyring, make: Make, alice: Person, bob: Person
) -> None:
    revoke = make(bob, seq=2, verb=Verb.WITHDRAW, at="2026-11-15T00:00:00Z")
    for records in ((make(alice), revoke), (make(alice, seq=2), revoke), (revoke,)):
        verdict = decide(ring, *records)
        assert verdict == Verdict(
            level=Level.WITHDRAWN, reason=Reason.WITHDRAWN, people=("bob@example.com",), on=date(2026, 11, 15)
        )
    remembered = decide(ring, make(alice, seq=2), history=(revoke,))
    assert remembered.reason == Reason.WITHDRAWN
    assert "seen before" in (remembered.detail or "")
    assert decide(ring, make(alice, seq=3), revoke).trusted
    assert decide(ring, make(alice, seq=2), make(bob, seq=1, verb=Verb.WITHDRAW)).trusted


def test_a_revoke_of_another_text_withdraws_as_well(ring: Keyring, make: Make, alice: Person, bob: Person) -> None:
    assert decide(ring, make(alice), make(bob, OTHER, seq=2, verb=Verb.WITHDRAW)).reason == Reason.WITHDRAWN


def test_only_receipts_grant(ring: Keyring, make: Make, alice: Person, bob: Person) -> None:
    verdict = decide(ring, history=(make(alice),))
    assert verdict.reason == Reason.NO_APPROVAL
    assert "--sync" in (verdict.detail or "")
    two = replace(ring, approve=2)
    verdict = decide(two, make(alice), history=(make(bob),))
    assert verdict.reason == Reason.NOT_ENOUGH_PEOPLE
    assert verdict.people == ("alice@example.com",)


def test_thresholds(ring: Keyring, make: Make, alice: Person, bob: Person) -> None:
    two = replace(ring, needs=(("team/security", 2),))
    one, both = (make(alice),), (make(alice), make(bob))
    assert decide(two, *one).trusted
    lacking = decide(two, *one, scope="team/security")
    assert lacking.reason == Reason.NOT_ENOUGH_PEOPLE
    assert lacking.level == Level.UNTRUSTED
    assert lacking.detail == "1 of 2 people approved this text"
    assert lacking.on == date(2026, 11, 30)
    assert decide(two, *both, scope="team/security").trusted
    assert decide(replace(ring, approve=3), *both).reason == Reason.NOT_ENOUGH_PEOPLE


def test_one_person_with_two_keys_counts_once(ring: Keyring, make: Make, alice: Person, carol: Person) -> None:
    second = replace(carol.key_line("approve"), principal=alice.principal)
    two = replace(ring, keys=(*ring.keys, second), approve=2)
    assert decide(two, make(alice), make(carol, by=alice.principal)).reason == Reason.NOT_ENOUGH_PEOPLE
    assert decide(replace(two, approve=1), make(carol, by=alice.principal)).trusted


def test_a_denied_text_is_denied_before_anything_else(ring: Keyring, make: Make, alice: Person) -> None:
    denied = replace(ring, denied=(DIGEST,))
    for more in ({}, {"fault": "broken"}, {"has_twin": True}):
        verdict = decide(denied, make(alice), **more)
        assert verdict.level == Level.DENIED
        assert verdict.reason == Reason.DENIED
    assert decide(denied, make(alice, OTHER), digest=OTHER).trusted
    assert decide(denied, make(alice, verb=Verb.WITHDRAW)).reason == Reason.DENIED


def test_a_file_with_a_fault_is_not_trusted_whatever_its_receipts_say(ring: Keyring, make: Make, alice: Person) -> None:
    verdict = decide(ring, make(alice), fault="the file is broken")
    assert verdict == Verdict(level=Level.UNTRUSTED, reason=Reason.BAD_FILE, detail="the file is broken")
    assert decide(ring, make(alice, verb=Verb.WITHDRAW), fault="broken").reason == Reason.BAD_FILE


def test_a_twin_is_named_where_no_approval_fits(ring: Keyring, make: Make, alice: Person) -> None:
    assert decide(ring, make(alice), has_twin=True).trusted
    assert decide(ring, make(alice, OTHER), has_twin=True).reason == Reason.DUPLICATE_ID
    assert decide(ring, has_twin=True).reason == Reason.DUPLICATE_ID
    assert decide(ring, make(alice), make(alice, OTHER, seq=2), has_twin=True).reason == Reason.OLDER_TEXT


@pytest.mark.parametrize(
    ("changes", "reason", "word"),
    [
        ({"roles": ("retired",)}, Reason.KEY_RETIRED, "retired"),
        ({"before": TODAY}, Reason.KEY_EXPIRED, "before"),
        ({"before": TODAY + timedelta(days=1)}, None, ""),
        ({"after": TODAY}, None, ""),
        ({"after": TODAY + timedelta(days=1)}, Reason.KEY_EXPIRED, "from"),
        ({"scopes": ("team/*",)}, Reason.NOT_ENOUGH_PEOPLE, "may not approve for team"),
        ({"scopes": ("team/*", "team")}, None, ""),
        ({"roles": ("root",)}, Reason.KEY_UNKNOWN, "does not list"),
        ({"principal": "robert@example.com"}, Reason.KEY_UNKNOWN, "does not list"),
    ],
)
def test_what_a_key_may_do_today(
    ring: Keyring, make: Make, bob: Person, changes: dict[str, Any], reason: Reason | None, word: str
) -> None:
    keyring = replace(ring, keys=(ring.keys[0], replace(ring.keys[1], **changes)))
    verdict = decide(keyring, make(bob))
    assert verdict.reason == reason
    assert verdict.trusted == (reason is None)
    assert word in (verdict.detail or "")


def test_a_lapsed_approval_beside_a_good_one_does_no_harm(
    ring: Keyring, make: Make, alice: Person, bob: Person
) -> None:
    keyring = replace(ring, keys=(ring.keys[0], replace(ring.keys[1], roles=("retired",))))
    assert decide(keyring, make(alice), make(bob)).people == ("alice@example.com",)
    assert decide(replace(keyring, approve=2), make(alice), make(bob)).reason == Reason.NOT_ENOUGH_PEOPLE


@pytest.mark.parametrize("change", [{"roles": ("retired",)}, {"before": date(2026, 1, 1)}, {"after": date(2027, 1, 1)}])
def test_a_lapsed_newer_approval_still_blocks_the_older_text(
    ring: Keyring, make: Make, alice: Person, bob: Person, change: dict[str, Any]
) -> None:
    keyring = replace(ring, keys=(ring.keys[0], replace(ring.keys[1], **change)))
    assert decide(keyring, make(alice), make(bob, OTHER, seq=2)).reason == Reason.OLDER_TEXT
    assert decide(keyring, make(alice), make(bob, seq=2, verb=Verb.WITHDRAW)).reason == Reason.WITHDRAWN


def test_until_is_the_last_day(ring: Keyring, make: Make, alice: Person) -> None:
    record = make(alice, until=TODAY)
    assert decide(ring, record).trusted
    verdict = decide(ring, record, today=TODAY + timedelta(days=1))
    assert verdict.reason == Reason.KEY_EXPIRED
    assert "ran out" in (verdict.detail or "")
    renewed = make(alice)
    assert decide(ring, record, renewed, today=TODAY + timedelta(days=1)).trusted


def test_a_withdrawal_does_not_run_out(ring: Keyring, make: Make, alice: Person) -> None:
    revoke = make(alice, seq=2, verb=Verb.WITHDRAW, until=TODAY - timedelta(days=9))
    assert decide(ring, make(alice), revoke).reason == Reason.WITHDRAWN


def test_the_reason_of_a_lapse_is_that_of_the_newest_receipt(
    ring: Keyring, make: Make, alice: Person, bob: Person
) -> None:
    keyring = replace(
        ring, keys=(replace(ring.keys[0], before=date(2026, 1, 1)), replace(ring.keys[1], roles=("retired",)))
    )
    early, late = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
    assert decide(keyring, make(alice, at=early), make(bob, at=late)).reason == Reason.KEY_RETIRED
    assert decide(keyring, make(alice, at=late), make(bob, at=early)).reason == Reason.KEY_EXPIRED


def test_records_that_do_not_verify_count_for_nothing(
    ring: Keyring, make: Make, alice: Person, bob: Person, mallory: Person
) -> None:
    good = make(alice)
    bad = {
        Reason.KEY_UNKNOWN: [
            make(mallory, seq=5),
            make(mallory, seq=5, by="alice@example.com"),
            make(bob, seq=5, by="alice@example.com"),
        ],
        Reason.WRONG_REPOSITORY: [make(alice, seq=5, repo="b" * 32)],
        Reason.WRONG_NAMESPACE: [make(alice, seq=5, namespace="file")],
        Reason.BAD_SIGNATURE: [
            replace(make(alice, seq=5), signature=make(alice, seq=6).signature),
            replace(make(alice, seq=5), signature=b"junk"),
        ],
    }  # fmt: skip
    for reason, records in bad.items():
        for record in records:
            verdict = decide(ring, record)
            assert verdict.reason == reason
            assert verdict.level == Level.UNTRUSTED
            assert verdict.detail
            assert decide(ring, good, record).trusted
            assert decide(ring, good, replace(record, statement=replace(record.statement, verb=Verb.WITHDRAW))).trusted


def test_a_failed_record_of_this_text_says_more_than_that_it_changed(
    ring: Keyring, make: Make, alice: Person, mallory: Person
) -> None:
    assert decide(ring, make(alice, OTHER), make(mallory, seq=2)).reason == Reason.KEY_UNKNOWN
    assert decide(ring, make(alice, OTHER), make(mallory, "9" * 64, seq=2)).reason == Reason.CHANGED
    assert decide(ring, make(mallory, "9" * 64)).reason == Reason.KEY_UNKNOWN


def test_a_failed_receipt_says_more_than_a_failed_line_of_history(
    ring: Keyring, make: Make, alice: Person, mallory: Person
) -> None:
    strange = make(alice, repo="b" * 32)
    assert decide(ring, strange, history=(make(mallory, seq=9),)).reason == Reason.WRONG_REPOSITORY


def test_the_newest_failed_record_gives_the_reason(ring: Keyring, make: Make, alice: Person, mallory: Person) -> None:
    early, late = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
    high, low = make(mallory, seq=9, at=early), make(alice, seq=2, repo="b" * 32, at=late)
    assert decide(ring, high, low).reason == Reason.KEY_UNKNOWN


def test_a_withdrawal_of_this_text_long_ago_is_no_approval_of_it(
    ring: Keyring, make: Make, alice: Person, bob: Person
) -> None:
    assert decide(ring, make(bob, verb=Verb.WITHDRAW), make(alice, OTHER, seq=2)).reason == Reason.CHANGED


def test_only_the_level_makes_a_verdict_trusted() -> None:
    assert [level for level in Level if Verdict(level=level).trusted] == [Level.TRUSTED]


def test_a_touch_that_is_required(ring: Keyring, make: Make) -> None:
    security = SecurityKey()
    line = Key(principal="dave@example.com", roles=("approve",), public=security.public, touch=True)
    strict = replace(ring, keys=(*ring.keys, line))
    lax = replace(ring, keys=(*ring.keys, replace(line, touch=False)))
    security.touched = False
    untouched = make(security, by="dave@example.com", at="2026-11-30T03:12:00Z")
    security.touched = True
    touched = make(security, by="dave@example.com")
    assert decide(strict, untouched).reason == Reason.NO_TOUCH
    assert decide(lax, untouched).trusted
    assert decide(strict, touched).trusted


def test_a_record_about_another_id_is_not_heard(ring: Keyring, make: Make, alice: Person) -> None:
    assert listen(ring, make(alice, memory_id="b")) == ()


def test_the_top_is_made_of_verified_records_only(ring: Keyring, make: Make, alice: Person, mallory: Person) -> None:
    records = listen(ring, make(alice, seq=3), make(mallory, seq=9), make(alice, OTHER, seq=2))
    assert [one.item.seq for one in newest_of(records)] == [3]
    assert newest_of(()) == ()


def test_a_lapse_needs_a_verified_record(ring: Keyring, make: Make, mallory: Person, alice: Person) -> None:
    (one,) = listen(ring, make(mallory))
    assert find_lapse(one, "team", TODAY) == (Reason.KEY_UNKNOWN, "the record does not verify")
    (good,) = listen(ring, make(alice))
    assert find_lapse(good, None, TODAY) is None


def _file(raw: bytes, path: str = "memories/team/a.md") -> Any:
    return read_memory(path, raw)


GOOD = MEMORY.format(scope="team", statement="Fine.").encode()


def test_a_well_formed_file_has_no_fault() -> None:
    assert find_fault(_file(GOOD)) is None
    assert find_fault(_file(GOOD.replace(b"\n", b"\r\n"))) is None
    assert find_fault(_file(GOOD.replace(b"Fine.", "Grüße, 你好.".encode()))) is None
    assert find_fault(_file(GOOD.replace(b"Fine.", b"Fine.\tYes."))) is None


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (GOOD + b"x" * 300_000, "256 KiB"),
        (GOOD + b"\xff\n", "UTF-8"),
        (GOOD + b"\x07\n", "U+0007"),
        (GOOD + "é\u202e\n".encode(), "line 11 contains U+202E"),
        (GOOD.replace(b"\nFine", b"\rFine"), "U+000D"),
        (b"no front matter\n", ""),
    ],
)
def test_faults_are_named(raw: bytes, word: str) -> None:
    fault = find_fault(_file(raw))
    assert fault is not None
    assert word in fault


def test_the_problem_that_makes_it_no_memory_is_named() -> None:
    file = _file(GOOD.replace(b"kind: decision\n", b"unknown: x\n"))
    remark = Problem(rule="unknown-key", message="only a remark", fatal=False)
    fault = find_fault(replace(file, problems=(remark, *file.problems)))
    assert fault is not None
    assert fault != "only a remark"


def test_a_name_that_is_no_id_is_a_fault() -> None:
    assert find_fault(_file(GOOD, "memories/team/Not-An-Id.md")) == "the file's name is not an id"


def test_the_most_that_a_memory_may_hold() -> None:
    room = 256 * 1024 - len(GOOD)
    assert find_fault(_file(GOOD + b"x" * (room - 1) + b"\n")) is None
    assert find_fault(_file(GOOD + b"x" * room + b"\n")) == "the file is over 256 KiB"
