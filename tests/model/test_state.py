"""Facts in, state out: every state, every reason, and nothing of a repository unescaped."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.strategies import dates, memories

from memfs.model.memory import (
    BlobEvidence,
    Cause,
    CommitEvidence,
    Evidence,
    EvidenceStatus,
    FileEvidence,
    Heading,
    Kind,
    Memory,
    Origin,
    PartEvidence,
    PathEvidence,
    SaidEvidence,
    State,
    UrlEvidence,
    Why,
)
from memfs.model.state import FileFact, StateFacts, judge_state
from memfs.model.triggers import parse_trigger

TODAY = date(2027, 6, 1)
ADR = PathEvidence(path="docs/adr.md", commit="bf3c8fd")
SAME = FileFact(status=EvidenceStatus.UNCHANGED)
CHANGED = FileFact(status=EvidenceStatus.CHANGED)


def memory(*evidence: Evidence, trigger: str = "if x", expires: date | None = None) -> Memory:
    return Memory(
        id="m",
        path="memories/team/m.md",
        kind=Kind.DECISION,
        origin=Origin.OWNER,
        scope="team",
        evidence=evidence or (CommitEvidence(commit="bf3c8fd"),),
        recorded=date(2027, 2, 11),
        review_trigger=parse_trigger(trigger),
        statement="S.",
        body="S.\n",
        expires=expires,
    )


def judged(value: Memory, *facts: FileFact, today: date = TODAY, **more: object) -> tuple[State, tuple[str, ...]]:
    report = judge_state(value, StateFacts(today=today, evidence=facts, **more))  # type: ignore[arg-type]
    assert len(report.causes) == len(report.reasons)
    return report.state, report.reasons


def test_unchanged_evidence_keeps_a_memory_current() -> None:
    report = judge_state(memory(ADR), StateFacts(today=TODAY, evidence=[SAME]))
    assert (report.state, report.reasons) == (State.CURRENT, ())
    assert [(piece.text, piece.status) for piece in report.evidence] == [
        ("docs/adr.md@bf3c8fd", EvidenceStatus.UNCHANGED)
    ]


@pytest.mark.parametrize(
    ("piece", "fact", "state", "reason"),
    [
        (ADR, CHANGED, State.RECHECK, "evidence docs/adr.md changed since bf3c8fd"),
        (
            ADR,
            FileFact(status=EvidenceStatus.CHANGED, by_arrival=True),
            State.RECHECK,
            "evidence docs/adr.md changed",
        ),
        (
            BlobEvidence(path="a.py", blob="0" * 16),
            CHANGED,
            State.RECHECK,
            "evidence a.py changed",
        ),
        (
            PartEvidence(path="a.md", part=Heading(title="Deploy windows"), text="0" * 16),
            CHANGED,
            State.RECHECK,
            "evidence a.md#Deploy windows changed",
        ),
        (ADR, FileFact(status=EvidenceStatus.MISSING), State.RECHECK, "evidence docs/adr.md is missing"),
        (
            ADR,
            FileFact(status=EvidenceStatus.MOVED, moved_to="docs/decisions/adr.md"),
            State.CURRENT,
            "evidence docs/adr.md moved to docs/decisions/adr.md",
        ),
        (
            ADR,
            FileFact(status=EvidenceStatus.UNVERIFIABLE, why=Why.SHALLOW),
            State.UNKNOWN,
            "whether evidence docs/adr.md changed cannot be told here: this clone is shallow;"
            " run `git fetch --unshallow`",
        ),
        (
            ADR,
            FileFact(status=EvidenceStatus.UNVERIFIABLE, why=Why.NO_COMMIT),
            State.UNKNOWN,
            "whether evidence docs/adr.md changed cannot be told here: commit bf3c8fd is not in this repository",
        ),
        (
            ADR,
            FileFact(status=EvidenceStatus.UNVERIFIABLE),
            State.UNKNOWN,
            "whether evidence docs/adr.md changed cannot be told here",
        ),
    ],
)
def test_changed_evidence_asks_for_a_recheck_and_what_cannot_be_told_is_another_state(
    piece: Evidence, fact: FileFact, state: State, reason: str
) -> None:
    assert judged(memory(piece), fact) == (state, (reason,))


def test_the_line_now_is_told_of_changed_evidence_alone() -> None:
    fact = FileFact(status=EvidenceStatus.CHANGED, line_now="the line now")
    assert judge_state(memory(ADR), StateFacts(today=TODAY, evidence=[fact])).evidence[0].line_now == "the line now"
    fact = FileFact(status=EvidenceStatus.UNCHANGED, line_now="the line now")
    assert judge_state(memory(ADR), StateFacts(today=TODAY, evidence=[fact])).evidence[0].line_now is None


def test_one_drifted_piece_is_enough_and_goes_before_one_that_cannot_be_told() -> None:
    other = PathEvidence(path="b", commit="bf3c8fd", repo="billing")
    unknown = FileFact(status=EvidenceStatus.UNVERIFIABLE, why=Why.ELSEWHERE)
    assert judged(memory(ADR, other), SAME, SAME)[0] is State.CURRENT
    assert judged(memory(ADR, other), SAME, unknown)[0] is State.UNKNOWN
    state, reasons = judged(memory(ADR, other), CHANGED, unknown)
    assert state is State.RECHECK
    assert reasons[1] == ("whether evidence billing:b changed cannot be told here: it belongs to another repository")


def test_evidence_without_a_file_never_drifts() -> None:
    said = SaidEvidence(person="Ana", on=date(2027, 2, 11))
    report = judge_state(
        memory(UrlEvidence(url="https://x.y"), CommitEvidence(commit="bf3c8fd"), said), StateFacts(today=TODAY)
    )
    assert report.state is State.CURRENT
    assert {piece.status for piece in report.evidence} == {EvidenceStatus.UNVERIFIABLE}


def test_a_day_fires_from_that_day_on() -> None:
    value = memory(trigger="on 2027-06-01")
    assert judged(value, today=date(2027, 5, 31)) == (State.CURRENT, ())
    assert judged(value) == (State.RECHECK, ("due for review since 2027-06-01",))


@pytest.mark.parametrize(
    ("status", "state", "reasons"),
    [
        (EvidenceStatus.UNCHANGED, State.CURRENT, ()),
        (EvidenceStatus.CHANGED, State.RECHECK, ("docs/support.md changed since 2027-02-11",)),
        (EvidenceStatus.MOVED, State.CURRENT, ("docs/support.md moved to docs/help.md",)),
        (
            EvidenceStatus.MISSING,
            State.CURRENT,
            ("docs/support.md is not here, so its change cannot be noticed",),
        ),
        (
            EvidenceStatus.UNVERIFIABLE,
            State.UNKNOWN,
            (
                "whether docs/support.md changed cannot be told here: this clone is shallow;"
                " run `git fetch --unshallow`",
            ),
        ),
    ],
)
def test_a_watched_path_fires_when_its_content_is_another(
    status: EvidenceStatus, state: State, reasons: tuple[str, ...]
) -> None:
    fact = FileFact(status=status, moved_to="docs/help.md", why=Why.SHALLOW)
    report = judge_state(memory(trigger="when docs/support.md changes"), StateFacts(today=TODAY, watched=fact))
    assert (report.state, report.reasons, report.watched) == (state, reasons, status)


def test_a_version_fires_when_the_project_reaches_it() -> None:
    value = memory(trigger="when sqlalchemy >= 2.1")
    assert judged(value, version="2.0.48") == (State.CURRENT, ())
    assert judged(value, version="2.1rc1") == (State.CURRENT, ())
    assert judged(value, version="2.10") == (State.RECHECK, ("sqlalchemy is 2.10 now",))
    state, reasons = judged(value)
    assert state is State.CURRENT
    assert reasons == ("no manifest here names sqlalchemy, so its version cannot be noticed",)


def test_another_memory_fires_when_that_is_superseded() -> None:
    value = memory(trigger="when other is superseded")
    assert judged(value, superseded_by={"third": "x"}) == (State.CURRENT, ())
    assert judged(value, superseded_by={"other": "x"}) == (State.RECHECK, ("other is superseded by x",))


def test_superseded_goes_before_expired_and_expired_before_recheck() -> None:
    value = memory(ADR, trigger="on 2027-05-31", expires=date(2027, 6, 1))
    assert judged(value, SAME, superseded_by={"m": "new"})[0] is State.SUPERSEDED
    assert judged(value, SAME)[0] is State.EXPIRED
    assert judged(value, SAME, today=date(2027, 5, 31))[0] is State.RECHECK


def test_each_reason_has_its_cause() -> None:
    value = memory(ADR, trigger="on 2027-05-31", expires=date(2027, 6, 1))
    report = judge_state(value, StateFacts(today=TODAY, evidence=[CHANGED], superseded_by={"m": "new"}, passed_over=1))
    assert report.causes == (Cause.SUPERSEDED, Cause.EXPIRED, Cause.TRIGGER, Cause.EVIDENCE, Cause.NOTE)
    assert report.reasons_of(Cause.EVIDENCE) == ("evidence docs/adr.md changed since bf3c8fd",)


def test_nothing_of_a_repository_is_told_unescaped() -> None:
    report = judge_state(
        memory(PathEvidence(path="a\u3000b", commit="bf3c8fd"), trigger="when x changes"),
        StateFacts(
            today=TODAY,
            evidence=[FileFact(status=EvidenceStatus.MOVED, moved_to="c\u202ed\ne")],
            watched=FileFact(status=EvidenceStatus.MOVED, moved_to="c\u202ed\ne"),
        ),
    )
    assert len(report.reasons) == 2
    assert not any("\u202e" in reason or "\n" in reason for reason in report.reasons)


@settings(deadline=None, max_examples=100)
@given(value=memories(), today=dates, status=st.sampled_from(EvidenceStatus))
def test_a_memory_is_current_only_while_its_files_are_what_they_were(
    value: Memory, today: date, status: EvidenceStatus
) -> None:
    facts = [FileFact(status=status, moved_to="x") for _ in value.evidence]
    report = judge_state(value, StateFacts(today=today, evidence=facts, watched=SAME))
    drifted = status not in (EvidenceStatus.UNCHANGED, EvidenceStatus.MOVED)
    if drifted and any(isinstance(piece, FileEvidence) for piece in value.evidence):
        assert report.state is not State.CURRENT
    assert (report.state is State.EXPIRED) == (value.expires is not None and today >= value.expires)
