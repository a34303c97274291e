"""Credentials are found however they are written, and nothing that only looks like one is (ADMISSION 2)."""

from __future__ import annotations

import pytest
from admission.made import CLEAN_NOTES, Maker, secret_notes

from memfs.admission.gate import Draft, Severity, judge_draft, judge_text
from memfs.admission.rules import Family
from memfs.admission.secrets import secret_rules

NOTES = [(f"{kind} {number}", text) for number, (kind, text) in enumerate(secret_notes(7))]


def _stopped(text: str) -> bool:
    found = judge_text(text).findings
    return any(f.severity is not Severity.WARN and f.family in (Family.SECRETS, Family.CODEPOINTS) for f in found)


@pytest.mark.parametrize(("kind", "text"), NOTES, ids=[kind for kind, _ in NOTES])
def test_a_credential_is_stopped(kind: str, text: str) -> None:
    assert _stopped(text), kind


@pytest.mark.parametrize("text", CLEAN_NOTES)
def test_what_only_speaks_of_credentials_is_admitted(text: str) -> None:
    decision = judge_text(text)
    assert decision.outcome.value == "admit", [finding.rule for finding in decision.findings]


def test_other_seeds_are_found_as_well() -> None:
    notes = [text for seed in range(30, 33) for _, text in secret_notes(seed)]
    assert sum(not _stopped(text) for text in notes) <= len(notes) // 100


def test_no_finding_holds_the_value() -> None:
    maker = Maker(3)
    for value in (*maker.vendor().values(), maker.password()):
        for finding in judge_text(f"the password is {value} and the token is {value}").findings:
            assert value not in str(finding)
            assert value[4:16] not in str(finding)


def test_a_finding_names_its_place() -> None:
    token = Maker(1).vendor()["github"]
    (finding,) = [f for f in judge_text(f"first line\nsee {token} here").findings if f.rule == "vendor-github-token"]
    assert (finding.line, finding.column) == (2, 5)


def test_a_decoded_finding_points_at_the_encoded_run() -> None:
    token = Maker(1).vendor()["github"]
    text = "decode: " + "".join(f"%{ord(char):02X}" for char in token)
    (finding,) = [f for f in judge_text(text).findings if f.rule == "vendor-github-token"]
    assert finding.column == 9


@pytest.mark.parametrize("field", ["title", "tags", "evidence", "author", "review_trigger", "applies_to", "anything"])
def test_every_field_is_looked_at(field: str) -> None:
    token = Maker(2).vendor()["stripe"]
    value = (f"x/{token}",) if field in ("tags", "evidence", "applies_to") else f"note {token}"
    decision = judge_draft(Draft(body="A statement.", fields={field: value}))
    assert ("vendor-stripe-key", field) in {(f.rule, f.field) for f in decision.findings}


def test_the_file_name_and_the_commit_message_are_looked_at() -> None:
    token = Maker(2).vendor()["npm"]
    decision = judge_draft(Draft(body="x", file_name=f"memories/team/{token}.md", commit_message=f"Add {token}"))
    assert {f.field for f in decision.findings if f.rule == "vendor-npm-token"} == {"file name", "commit message"}


def test_a_key_of_the_front_matter_is_looked_at() -> None:
    token = Maker(2).vendor()["npm"]
    decision = judge_draft(Draft(body="x", fields={f"x {token}": "y"}))
    assert "vendor-npm-token" in {f.rule for f in decision.findings}


def test_a_credential_broken_over_two_fields_is_found() -> None:
    token = Maker(5).vendor()["github"]
    fields = {"title": f"the token starts with {token[:20]}", "tags": (token[20:],)}
    assert "vendor-github-token" in {f.rule for f in judge_draft(Draft(body="x", fields=fields)).findings}


def test_rules_have_distinct_names_and_a_sentence() -> None:
    rules = secret_rules()
    assert len({rule.name for rule in rules}) == len(rules) > 100
    assert all(len(rule.sentence) > 10 for rule in rules)


def test_the_known_forms_and_key_blocks_cannot_be_allowed() -> None:
    fixed = {rule.name for rule in secret_rules() if rule.fixed}
    assert "private-key-block" in fixed
    assert {rule.name for rule in secret_rules() if rule.name.startswith("vendor-")} <= fixed
    assert "password-in-prose" not in fixed


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "password: " + "x" * 100_000,
        "token " * 30_000,
        "=" * 100_000,
        ("ab" * 40 + "\n") * 2000,
        "<" * 50_000 + ">" * 50_000,
        "-----BEGIN PRIVATE KEY-----\n" * 2000,
        "eyJ" * 30_000,
        "%41" * 40_000,
        "://" * 40_000,
        "a:" * 60_000,
        "Human: " * 20_000,
        "key_" * 40_000,
        "a-" * 80_000,
        "1 " * 80_000,
        "A1b" * 60_000,
        " \n" * 60_000,
        "(" * 60_000,
        "approved system end " + ">" * 60_000,
        "a\u200b" * 60_000,
        "sk-" * 60_000,
    ],
    ids=range(21),
)
def test_no_text_of_full_size_takes_long(text: str) -> None:
    import time

    begin = time.process_time()
    judge_text(text[: 256 * 1024])
    assert time.process_time() - begin < 8
