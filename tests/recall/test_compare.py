"""Two ways to recall on the same questions: what is beyond chance, and what is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from indexes import write_memory

from memfs.recall.compare import compare
from memfs.recall.evaluate import Case, CaseResult


def results(ranks: list[int | None]) -> list[CaseResult]:
    case = Case(name="a", ask="b", expect=("c",))
    return [CaseResult(case=case, found=(), rank=rank) for rank in ranks]


def test_many_questions_found_only_by_one_side_are_beyond_chance() -> None:
    hit, mrr = compare(results([None] * 20 + [1] * 20), results([1] * 40))
    assert (hit.first, hit.second, hit.beyond_chance) == (0.5, 1.0, True)
    assert mrr.low > 0


def test_one_question_of_many_may_be_chance() -> None:
    hit, _ = compare(results([None] + [1] * 30), results([1] * 31))
    assert hit.second > hit.first
    assert not hit.beyond_chance


def test_the_same_results_make_no_difference() -> None:
    for ranks in ([], [1, None, 3]):
        for one in compare(results(ranks), results(ranks)):
            assert (one.low, one.high, one.beyond_chance) == (0, 0, False)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_eval_compares_two_modes(repo: Path, memfs: Callable[..., Any], form: tuple[str, ...]) -> None:
    write_memory(repo, "friday", "No deploys on Friday afternoon.")
    (repo / "evals").mkdir()
    (repo / "evals/recall.yaml").write_text("version: 1\ncases:\n  - ask: deploys on friday\n    expect: [friday]\n")
    run = memfs("eval", "--mode", "lexical", "--against", "lexical", *form, cwd=repo)
    assert run.code == 0, run.err
    if form:
        found = json.loads(run.out)["differences"]
        assert [one["beyond_chance"] for one in found] == [False, False]
    else:
        assert "hit: lexical 1.000, lexical 1.000, difference +0.000 [+0.000, +0.000]: may be chance" in run.out
