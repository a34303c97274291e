"""The small grammars of evidence and review triggers come back as they were, and take nothing else."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model.strategies import evidence, triggers

from memfs.errors import InvalidMemoryError
from memfs.model.evidence import format_evidence, parse_date, parse_evidence
from memfs.model.memory import (
    BlobEvidence,
    CommitEvidence,
    Evidence,
    Heading,
    IfText,
    Lines,
    OnDate,
    PartEvidence,
    PathEvidence,
    SaidEvidence,
    Trigger,
    UrlEvidence,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
)
from memfs.model.triggers import format_trigger, parse_trigger

relaxed = settings(deadline=None, max_examples=300)


@relaxed
@given(value=evidence)
def test_evidence_comes_back_from_its_text(value: Evidence) -> None:
    assert parse_evidence(format_evidence(value)) == value


@relaxed
@given(text=st.one_of(st.text(max_size=40), st.text("ab/.:@ 17-said by on", max_size=30)))
@example(text="a@1234567\n")
@example(text="said by x on 2027-01-01\n")
def test_a_text_that_is_evidence_is_written_back_as_it_was(text: str) -> None:
    try:
        value = parse_evidence(text)
    except InvalidMemoryError:
        return
    assert format_evidence(value) == text
    assert "\n" not in text


@relaxed
@given(value=triggers)
def test_a_trigger_comes_back_from_its_text(value: Trigger) -> None:
    assert parse_trigger(format_trigger(value)) == value


@relaxed
@given(
    text=st.one_of(
        st.text(max_size=30),
        st.builds("{}{}{}".format, st.sampled_from(["on ", "when ", "if "]), st.text(max_size=20),
                  st.sampled_from(["", " changes", " is superseded", " >= 1"])),
    )
)  # fmt: skip
@example(text="if x\n")
@example(text="when a changes changes")
@example(text="when a >= 1 changes")
def test_a_text_that_is_a_trigger_is_written_back_as_it_was(text: str) -> None:
    try:
        value = parse_trigger(text)
    except InvalidMemoryError:
        return
    assert format_trigger(value) == text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("docs/adr/1.md@bf3c8fd", PathEvidence(path="docs/adr/1.md", commit="bf3c8fd")),
        ("billing:src/a b.py@bf3c8fd", PathEvidence(repo="billing", path="src/a b.py", commit="bf3c8fd")),
        ("acme/billing:src/a@b@bf3c8fd", PathEvidence(repo="acme/billing", path="src/a@b", commit="bf3c8fd")),
        (
            "packages/@acme/ui/README.md@blob:" + "0" * 16,
            BlobEvidence(path="packages/@acme/ui/README.md", blob="0" * 16),
        ),
        ("billing:a@b@blob:" + "a" * 64, BlobEvidence(repo="billing", path="a@b", blob="a" * 64)),
        ("a#b@blob:" + "a" * 16, BlobEvidence(path="a#b", blob="a" * 16)),
        ("docs/a#b@bf3c8fd", PathEvidence(path="docs/a#b", commit="bf3c8fd")),
        ("a.py#L10-L24@text:" + "0" * 16, PartEvidence(path="a.py", part=Lines(first=10, last=24), text="0" * 16)),
        ("a.py#L7@text:" + "0" * 16, PartEvidence(path="a.py", part=Lines(first=7, last=7), text="0" * 16)),
        (
            "acme/x:docs/a.md#Deploy: C# at #1 @ops@text:" + "0" * 16,
            PartEvidence(repo="acme/x", path="docs/a.md", part=Heading(title="Deploy: C# at #1 @ops"), text="0" * 16),
        ),
        ("bf3c8fd" + "0" * 33, CommitEvidence(commit="bf3c8fd" + "0" * 33)),
        ("https://example.com/x@bf3c8fd", UrlEvidence(url="https://example.com/x@bf3c8fd")),
        ("said by Ana on call on 2027-02-11", SaidEvidence(person="Ana on call", on=date(2027, 2, 11))),
    ],
)
def test_each_kind_of_evidence_is_told_apart(text: str, value: Evidence) -> None:
    assert parse_evidence(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "docs/adr/1.md", "docs/a@BF3C8FD", "docs/a@bf3c8f", "docs/a@main", "docs/a@" + "0" * 65,
        "/etc/passwd@bf3c8fd", "../x@bf3c8fd",  "a/../b@bf3c8fd", "a//b@bf3c8fd", "./a@bf3c8fd", "a/@bf3c8fd",
        ".git/config@bf3c8fd", "a/.GIT/x@bf3c8fd",
        "a\\b@bf3c8fd", " a@bf3c8fd", "a @bf3c8fd", "a\u200b@bf3c8fd", "C:\\x@bf3c8fd", ":a@bf3c8fd", "r:@bf3c8fd",
        "-r:a@bf3c8fd", "r:a:b@bf3c8fd", "https://", "https://example.com/a b", "https:///x", "HTTPS://x.y",
        "a@blob:" + "0" * 15, "a@blob:" + "0" * 65, "a@blob:" + "A" * 16, "a@blob:", "../a@blob:" + "0" * 16,
        "a:b:c@blob:" + "0" * 16, "a.md#@text:" + "0" * 16, "a.md#x@text:" + "0" * 15, "#x@text:" + "0" * 16,
        "a.py#L9-L3@text:" + "0" * 16,
        "a.py#L9-L9@text:" + "0" * 16, "a.md# x@text:" + "0" * 16, "a.md#x  y@text:" + "0" * 16,
        "a.md#x\u200by@text:" + "0" * 16, "a.md#x@blob@text:0", "a.md@text:" + "0" * 16,
        "said by Ana", "said by on 2027-02-11", "said by  on 2027-02-11", "said by Ana on 2027-02-30",
        "said by Ana\u202e on 2027-02-11", "said by x@bf3c8fd",
    ],
)  # fmt: skip
def test_other_text_is_no_evidence(text: str) -> None:
    with pytest.raises(InvalidMemoryError, match="must"):
        parse_evidence(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on 2027-12-31", OnDate(on=date(2027, 12, 31))),
        ("when docs/a b.md changes", WhenPathChanges(path="docs/a b.md")),
        ("when sqlalchemy >= 2.1.0rc1", WhenVersion(name="sqlalchemy", version="2.1.0rc1")),
        ("when @acme/ui >= v3", WhenVersion(name="@acme/ui", version="v3")),
        ("when github.com/acme/x/v2 >= 2.0.0", WhenVersion(name="github.com/acme/x/v2", version="2.0.0")),
        ("when old-rule is superseded", WhenSuperseded(id="old-rule")),
        ("if the vendor drops support", IfText(text="the vendor drops support")),
    ],
)
def test_each_kind_of_trigger_is_told_apart(text: str, value: Trigger) -> None:
    assert parse_trigger(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "never", "on 2027-02-30", "on 2027-2-3", "On 2027-01-01", "when changes", "when  changes",
        "when ../x changes", "when /x changes", "when a:b changes", "when x >= latest", "when x > 1", "when x>=1",
        "when Bad_Id is superseded", "if ", "if", "if \u202ex", "if  x", "when a\u200b changes",
    ],
)  # fmt: skip
def test_other_text_is_no_trigger(text: str) -> None:
    with pytest.raises(InvalidMemoryError, match="must"):
        parse_trigger(text)


NO_DATES = ["2027-02-30", "20270211", "2027-W06-4", "2027-02-11T00:00", " 2027-02-11", "0000-01-01", "2027-02-11\n"]


@pytest.mark.parametrize("text", [*NO_DATES, "\u0662\u0660\u0662\u0667-02-11"])
def test_a_date_exists_and_has_one_form(text: str) -> None:
    with pytest.raises(InvalidMemoryError, match="must be a date"):
        parse_date(text)
