"""Personal data is found, and products, fixtures and places are not people (ADMISSION 3)."""

from __future__ import annotations

import pytest
from admission.made import PERSONAL_CLEAN, personal_notes

from memfs.admission.gate import Draft, judge_draft, judge_reading, judge_text
from memfs.admission.rules import Family
from memfs.model.memory import Document, MemoryFile

NOTES = [(f"{kind} {number}", text) for number, (kind, text) in enumerate(personal_notes(7))]


def _rules(text: str) -> set[str]:
    found = judge_text(text).findings
    return {f.rule for f in found if f.severity != "warn" and f.family is Family.PERSONAL}


@pytest.mark.parametrize(("kind", "text"), NOTES, ids=[kind for kind, _ in NOTES])
def test_personal_data_is_held(kind: str, text: str) -> None:
    assert _rules(text), kind


@pytest.mark.parametrize("text", PERSONAL_CLEAN)
def test_what_is_nobodys_is_admitted(text: str) -> None:
    decision = judge_text(text)
    assert decision.outcome.value == "admit", [finding.rule for finding in decision.findings]


def test_a_colleagues_bare_name_is_a_warning() -> None:
    decision = judge_text("Pair programming with Dana found the race.")
    assert decision.outcome.value == "admit"
    assert [(f.rule, f.severity.value) for f in decision.findings] == [("colleague-name", "warn")]


def _draft(**fields: str) -> Draft:
    return Draft(body="The team decided.", fields=fields)


@pytest.mark.parametrize("field", ["author", "evidence"])
def test_the_authors_own_address_may_stand_where_the_author_is_named(field: str) -> None:
    draft = _draft(
        **{field: "said by rae.lind@contoso.com on 2027-02-11" if field == "evidence" else "rae.lind@contoso.com"}
    )
    assert "personal-email" in {f.rule for f in judge_draft(draft).findings}
    assert "personal-email" not in {f.rule for f in judge_draft(draft, identities=["Rae.Lind@contoso.com"]).findings}
    assert "personal-email" in {f.rule for f in judge_draft(draft, identities=["other@contoso.com"]).findings}


@pytest.mark.parametrize("field", ["title", "tags", "review_trigger"])
def test_the_authors_own_address_may_stand_nowhere_else(field: str) -> None:
    draft = _draft(**{field: "ask rae.lind@contoso.com"})
    assert "personal-email" in {f.rule for f in judge_draft(draft, identities=["rae.lind@contoso.com"]).findings}


def test_not_in_the_body_either() -> None:
    draft = Draft(body="Ask rae.lind@contoso.com first.")
    assert "personal-email" in {f.rule for f in judge_draft(draft, identities=["rae.lind@contoso.com"]).findings}


def test_reading_trusts_what_was_judged_when_it_was_written() -> None:
    document = Document(front={"author": "rae.lind@contoso.com"}, body="The team decided.\n", has_front=True)
    file = MemoryFile(id="x", path="memories/team/x.md", raw=b"", digest="0" * 64, document=document, memory=None)
    assert judge_reading(file).admitted


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("IBAN GB29NWBK60161331926819 was rejected", "iban"),
        ("BSN 111222333", "nl-bsn"),
        ("Steuer-ID 86095742719", "de-tax-id"),
        ("身份证 11010519491231002X", "cn-id"),
        ("PESEL 44051401359", "pl-pesel"),
        ("CPF 529.982.247-25", "br-cpf"),
        ("codice fiscale RSSMRA85T10A562S", "it-fiscal-code"),
        ("NHS 943 476 5919", "uk-nhs"),
        ("AHV 756.9217.0769.85", "ch-ahv"),
        ("Aadhaar 2345 6789 0124", "in-aadhaar"),
    ],
)
def test_a_number_counts_with_its_check_digit_and_its_word(text: str, rule: str) -> None:
    assert rule in _rules(text)
    digits = [place for place, char in enumerate(text) if char.isdigit()]
    last = digits[-1]
    changed = text[:last] + str((int(text[last]) + 1) % 10) + text[last + 1 :]
    assert rule not in _rules(changed)


def test_a_number_without_its_word_is_a_number() -> None:
    assert not _rules("The batch 111222333 has 44051401359 rows.")
