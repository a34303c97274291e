"""The state of a memory follows from facts alone."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.strategies import memories

from memfs.model.memory import (
    CommitEvidence,
    Evidence,
    EvidenceStatus,
    Kind,
    Memory,
    Origin,
    PathEvidence,
    SaidEvidence,
    State,
    Trigger,
    UrlEvidence,
)
from memfs.model.state import StateFacts, judge_state
from memfs.model.triggers import parse_trigger

TODAY = date(2027, 6, 1)
UNKNOWN = "evidence docs/adr.md cannot be verified: it is not known here at bf3c8fd"
ADR = PathEvidence(path="docs/adr.md", commit="bf3c8fd")


def memory(*evidence: Evidence, trigger: str | Trigger = "if ever", expires: date | None = None) -> Memory:
    return Memory(
        id="rule",
        path="memories/team/rule.md",
        kind=Kind.DECISION,
        origin=Origin.OWNER,
        scope="team",
        evidence=evidence or (CommitEvidence(commit="bf3c8fd"),),
        recorded=date(2027, 2, 11),
        review_trigger=parse_trigger(trigger) if isinstance(trigger, str) else trigger,
        statement="A rule.",
        body="A rule.\n",
        expires=expires,
    )


def judged(value: Memory, **facts: Any) -> tuple[State, tuple[str, ...]]:
    report = judge_state(value, StateFacts(**{"today": TODAY, **facts}))
    return report.state, report.reasons


def test_unchanged_evidence_keeps_a_memory_current() -> None:
    facts = StateFacts(today=TODAY, recorded_blobs={("docs/adr.md", "bf3c8fd"): "1"}, blobs_now={"docs/adr.md": "1"})
    report = judge_state(memory(ADR), facts)
    assert (report.state, report.reasons) == (State.CURRENT, ())
    assert [(piece.text, piece.status) for piece in report.evidence] == [
        ("docs/adr.md@bf3c8fd", EvidenceStatus.UNCHANGED)
    ]


@pytest.mark.parametrize(
    ("then", "now", "status", "reason"),
    [
        ("1", "2", EvidenceStatus.CHANGED, "evidence docs/adr.md changed since bf3c8fd"),
        ("1", None, EvidenceStatus.MISSING, "evidence docs/adr.md is missing"),
        (
            None,
            "1",
            EvidenceStatus.UNVERIFIABLE,
            UNKNOWN,
        ),
        (
            None,
            None,
            EvidenceStatus.UNVERIFIABLE,
            UNKNOWN,
        ),
    ],
)
def test_any_other_path_evidence_asks_for_a_recheck(
    then: str | None, now: str | None, status: EvidenceStatus, reason: str
) -> None:
    facts = StateFacts(
        today=TODAY,
        recorded_blobs={("docs/adr.md", "bf3c8fd"): then},
        blobs_now={"docs/adr.md": now},
        lines_now={"docs/adr.md": "the line now"},
    )
    report = judge_state(memory(ADR, UrlEvidence(url="https://example.com")), facts)
    assert (report.state, report.reasons) == (State.RECHECK, (reason,))
    assert report.evidence[0].status is status
    assert report.evidence[0].line_now == ("the line now" if status is EvidenceStatus.CHANGED else None)


def test_one_drifted_piece_is_enough() -> None:
    other = PathEvidence(path="b", commit="bf3c8fd", repo="billing")
    blobs = {("docs/adr.md", "bf3c8fd"): "1", ("billing:b", "bf3c8fd"): "2"}
    assert (
        judged(memory(ADR, other), recorded_blobs=blobs, blobs_now={"docs/adr.md": "1", "billing:b": "2"})[0]
        is State.CURRENT
    )
    state, reasons = judged(memory(ADR, other), recorded_blobs=blobs, blobs_now={"docs/adr.md": "1", "b": "2"})
    assert state is State.RECHECK
    assert reasons == ("evidence billing:b cannot be verified: it is not known here at bf3c8fd",)


def test_evidence_without_a_path_is_not_compared_and_does_not_drift() -> None:
    said = SaidEvidence(person="Ana", on=date(2027, 1, 1))
    report = judge_state(
        memory(UrlEvidence(url="https://x.y"), CommitEvidence(commit="bf3c8fd"), said), StateFacts(today=TODAY)
    )
    assert report.state is State.CURRENT
    assert {piece.status for piece in report.evidence} == {EvidenceStatus.UNVERIFIABLE}


def test_a_date_fires_from_that_day_on() -> None:
    value = memory(trigger="on 2027-06-01")
    assert judged(value, today=date(2027, 5, 31)) == (State.CURRENT, ())
    assert judged(value) == (State.RECHECK, ("due for review since 2027-06-01",))


@pytest.mark.parametrize(
    ("then", "now", "state", "reason"),
    [
        ("1", "1", State.CURRENT, ()),
        ("1", "2", State.RECHECK, ("docs/support.md changed since 2027-02-11",)),
        ("1", None, State.RECHECK, ("docs/support.md changed since 2027-02-11",)),
        (None, "1", State.RECHECK, ("docs/support.md changed since 2027-02-11",)),
        (None, None, State.CURRENT, ("docs/support.md is not here, so its change cannot be noticed",)),
    ],
)
def test_a_watched_path_fires_when_its_content_is_another(
    then: str | None, now: str | None, state: State, reason: tuple[str, ...]
) -> None:
    value = memory(trigger="when docs/support.md changes")
    facts = {"baseline_blobs": {"docs/support.md": then}, "blobs_now": {"docs/support.md": now}}
    assert judged(value, **facts) == (state, reason)


def test_a_version_fires_when_the_project_reaches_it() -> None:
    value = memory(trigger="when sqlalchemy >= 2.1")
    assert judged(value, versions={"sqlalchemy": "2.0.48"}) == (State.CURRENT, ())
    assert judged(value, versions={"sqlalchemy": "2.1rc1"}) == (State.CURRENT, ())
    assert judged(value, versions={"sqlalchemy": "2.10"}) == (State.RECHECK, ("sqlalchemy is 2.10 now",))
    assert judged(value)[0] is State.CURRENT
    assert judged(value)[1] == ("no manifest here names sqlalchemy, so its version cannot be noticed",)


def test_another_memory_being_superseded_fires() -> None:
    value = memory(trigger="when base-rule is superseded")
    assert judged(value, superseded_by={"other": "x"}) == (State.CURRENT, ())
    assert judged(value, superseded_by={"base-rule": "new-rule"}) == (
        State.RECHECK,
        ("base-rule is superseded by new-rule",),
    )


def test_superseded_goes_before_expired_before_recheck_and_all_reasons_are_told() -> None:
    value = memory(trigger="on 2027-01-01", expires=date(2027, 6, 1))
    assert judged(value, superseded_by={"rule": "new-rule"}) == (
        State.SUPERSEDED,
        ("superseded by new-rule", "expired on 2027-06-01", "due for review since 2027-01-01"),
    )
    assert judged(value)[0] is State.EXPIRED
    assert judged(value, today=date(2027, 5, 31))[0] is State.RECHECK


def test_reasons_hold_no_raw_text_of_the_repository() -> None:
    report = judge_state(
        memory(PathEvidence(path="a\u3000b", commit="bf3c8fd"), trigger="when x changes"),
        StateFacts(today=TODAY, superseded_by={"rule": "\u202ex\ny"}),
    )
    assert all(reason.isprintable() or "\u3000" in reason for reason in report.reasons)
    assert not any("\u202e" in reason or "\n" in reason for reason in report.reasons)


@settings(deadline=None)
@given(value=memories(), today=st.dates())
def test_without_facts_only_dates_and_unknown_paths_count(value: Memory, today: date) -> None:
    report = judge_state(value, StateFacts(today=today))
    assert len(report.evidence) == len(value.evidence)
    if any(isinstance(piece, PathEvidence) for piece in value.evidence):
        assert report.state is not State.CURRENT
    assert (report.state is State.EXPIRED) == (value.expires is not None and today >= value.expires)
