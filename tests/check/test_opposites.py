"""Opposites among statements, measured on labelled pairs; every second pair of a kind was kept aside."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import check, put

from memfs.repository.opposites import are_opposite

PAIRS = Path(__file__).with_name("data") / "pairs.txt"


def _pairs(half: str) -> list[tuple[str, str, str, str]]:
    seen: Counter[str] = Counter()
    found = []
    for line in PAIRS.read_text().split("\n"):
        if line and not line.startswith("#"):
            label, kind, one, other = line.split("\t")
            seen[kind] += 1
            if half == ("seen" if seen[kind] % 2 else "kept"):
                found.append((label, kind, one, other))
    return found


@pytest.mark.parametrize("half", ["seen", "kept"])
def test_opposites_are_found_with_few_false_alarms(half: str) -> None:
    pairs = _pairs(half)
    assert len(pairs) == 64
    told = [(label, are_opposite(one, other)) for label, _, one, other in pairs]
    right = sum(label == "opposite" and said for label, said in told)
    alarms = sum(said for _, said in told)
    assert right / alarms >= 0.9, [pair for pair in pairs if pair[0] != "opposite" and are_opposite(*pair[2:])]
    assert right / sum(label == "opposite" for label, _ in told) >= 0.6


@given(st.text(max_size=120), st.text(max_size=120))
def test_the_answer_is_the_same_both_ways_and_no_text_is_its_own_opposite(one: str, other: str) -> None:
    assert are_opposite(one, other) == are_opposite(other, one)
    assert not are_opposite(one, one)


def test_the_exact_opposite_of_an_approved_memory_is_called_so(repo: Path) -> None:
    put(repo, "a", "Credentials reach a service as a mounted file, never as an environment variable.")
    put(repo, "b", "Credentials reach a service as an environment variable, never as a mounted file.")
    found = check(repo).report.results
    assert {result.rule for result in found} == {"contradiction"}
    assert all(result.others for result in found)


def test_another_reason_below_the_statement_hides_no_opposite(repo: Path) -> None:
    put(repo, "a", "A charge is retried three times.\n\nWhy: " + "The bank asked for it in a long letter.\n" * 20)
    put(repo, "b", "A charge is never retried.\n\nWhy: " + "Nobody knows, and it was always so here.\n" * 20)
    assert "contradiction" in {result.rule for result in check(repo).report.results}


def test_a_numbered_series_fills_no_page(repo: Path) -> None:
    for number in range(60):
        put(repo, f"depot-{number}", f"Depot {number} delivers to the north of the city before noon.")
    told = Counter(result.path for result in check(repo).report.results)
    assert max(told.values(), default=0) <= 3
    assert not any(result.rule == "contradiction" for result in check(repo).report.results)
