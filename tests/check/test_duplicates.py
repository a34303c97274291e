"""Near duplicates and opposites: what a reviewer is told about two memories."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.repository.duplicates import (
    Likeness,
    estimate_share,
    find_near_duplicates,
    judge_pair,
    signature_of,
)

_DEPLOY = "Deploys of the billing service happen on Friday after the nightly backup has been checked."


@pytest.mark.parametrize(
    ("other", "likeness"),
    [
        (_DEPLOY, Likeness.SAME),
        (_DEPLOY.upper(), Likeness.SAME),
        (_DEPLOY.replace("checked", "looked at"), Likeness.NEAR),
        (_DEPLOY.replace("happen", "never happen"), Likeness.CONTRADICTS),
        (_DEPLOY.replace("after", "before"), Likeness.CONTRADICTS),
        (_DEPLOY.replace("happen", "don't happen"), Likeness.CONTRADICTS),
        ("Integration tests need a schema for each worker.", None),
        ("", None),
    ],
)
def test_two_texts_are_judged_by_the_words_they_do_not_share(other: str, likeness: Likeness | None) -> None:
    assert judge_pair(_DEPLOY, other) is likeness


def test_another_number_in_the_same_sentence_is_another_answer() -> None:
    text = "The connection pool of the billing workers holds {} connections at most."
    assert judge_pair(text.format(20), text.format(50)) is Likeness.CONTRADICTS


def test_a_pair_is_found_among_many_by_its_sketch() -> None:
    words = [f"word{number}" for number in range(400)]
    draw = random.Random(7)
    texts = {number: " ".join(draw.choices(words, k=60)) for number in range(300)}
    texts[300] = texts[17].replace(texts[17].split()[5], "changed")
    pairs = find_near_duplicates({key: signature_of(text) for key, text in texts.items()})
    assert [(pair.left, pair.right) for pair in pairs] == [(17, 300)]


def test_only_pairs_with_a_changed_file_are_looked_at_in_a_review() -> None:
    signatures = {key: signature_of(_DEPLOY) for key in "abcd"}
    pairs = find_near_duplicates(signatures, among=["c"])
    assert {frozenset((pair.left, pair.right)) for pair in pairs} == {frozenset(p) for p in ("ac", "bc", "cd")}


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_share_is_symmetric_and_whole_for_equal_texts(one: str, two: str) -> None:
    left, right = signature_of(one), signature_of(two)
    assert estimate_share(left, right) == estimate_share(right, left)
    assert estimate_share(left, left) == (1.0 if left else 0.0)


def test_a_thousand_copies_of_one_text_do_not_make_it_slow() -> None:
    signatures = {number: signature_of(f"{_DEPLOY} {number // 40}") for number in range(2_000)}
    started = time.process_time()
    find_near_duplicates(signatures)
    assert time.process_time() - started < 3
