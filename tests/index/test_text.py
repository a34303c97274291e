"""Scores: BM25 over what a caller sees, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from indexes import everybody, index_of, mixed_index

from memfs.index.text import search_texts
from memfs.index.tokenizer import parse_question

WORDS = st.sampled_from(["cache", "queue", "billing", "export", "retry", "lock", "index", "schema", "worker", "night"])
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["team", "personal", "restricted/x"]), st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
    ),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
def test_a_hidden_memory_changes_no_score(rows: list[tuple[str, str]], question: str) -> None:
    numbered = [(f"{place:03}", scope, text) for place, (scope, text) in enumerate(rows)]
    visible = [row for row in numbered if row[1] == "team"]

    def sees(scope: str | None) -> bool:
        return scope == "team"

    mixed = mixed_index(numbered)
    with_hidden = [(mixed.paths[row], score) for row, score in mixed.search(question, sees)]
    alone = mixed_index(visible) if visible else None
    without = [(alone.paths[row], score) for row, score in alone.search(question, everybody)] if alone else []
    assert with_hidden == without


@given(ROWS, st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.integers(0, 30))
def test_two_stores_are_scored_as_one_collection(rows: list[tuple[str, str]], question: str, cut: int) -> None:
    numbered = [(f"{place:03}", scope, text) for place, (scope, text) in enumerate(rows)]
    whole = mixed_index(numbered)
    parts = [mixed_index(part) for part in (numbered[:cut], numbered[cut:]) if part]
    asked = parse_question(question)
    together = search_texts(parts, asked.terms, [everybody] * len(parts), forms=asked.forms).best(50)
    expected = whole.search(question, everybody, limit=50)
    assert {(parts[number].paths[row], round(score, 9)) for number, row, score in together} == {
        (whole.paths[row], round(score, 9)) for row, score in expected
    }


def test_the_rarer_word_weighs_more() -> None:
    index = index_of(["cache cache queue", *["queue worker"] * 10, "cache"])
    assert index.search("cache", everybody)[0][0] in (0, 11)
    assert {row for row, _ in index.search("cache queue", everybody)[:2]} == {0, 11}


def test_equal_scores_stand_in_the_order_of_their_paths() -> None:
    index = index_of({"b": "same text", "a": "same text", "c": "same text"})
    assert [index.paths[row] for row, _ in index.search("same text", everybody)] == ["a", "b", "c"]


def test_only_the_rarest_words_of_a_long_question_are_scored() -> None:
    index = index_of([" ".join(f"w{n}x" for n in range(60)), "w1x " * 50, *["w2x other"] * 5])
    found = index.search(" ".join(f"w{n}x" for n in range(60)), everybody)
    assert found[0][0] == 0


def test_a_dead_row_is_as_good_as_absent() -> None:
    index = index_of(["cache one", "cache two", "queue"])
    before = dict(index_of(["cache two", "queue"]).search("cache", everybody))
    index.paths[0], index.scopes[0], index.lengths[0] = "", 0, 0
    assert [score for _, score in index.search("cache", everybody)] == list(before.values())


def test_no_terms_and_no_rows_find_nothing() -> None:
    assert index_of([]).search("cache", everybody) == []
    assert index_of(["cache"]).search("the of and", everybody) == []
    assert index_of(["cache"]).search("cache", lambda _scope: False) == []
