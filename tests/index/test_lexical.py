"""Postings on disk. These tests also run against Whoosh 2.7.4 (.ci/whoosh-2.7.4), so they need nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.index.lexical import ENGINE, Postings, append_postings, create_postings

FIRST = [{"cache": 2, "设备": 1}, {"cache": 1, "c++": 3}, {"srv/analysis.ipynb": 1}]
SECOND = [{"cache": 7}, {"émigré": 1}]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    create_postings(str(tmp_path))
    append_postings(str(tmp_path), FIRST)
    return str(tmp_path)


def test_a_term_gives_its_rows_and_counts(folder: str) -> None:
    postings = Postings(folder)
    assert postings.rows == 3
    assert postings.read("cache") == ([0, 1], [2.0, 1.0])
    assert postings.read("设备") == ([0], [1.0])
    assert postings.read("srv/analysis.ipynb") == ([2], [1.0])
    assert postings.read("absent") == ([], [])


def test_segments_are_appended_and_rows_count_on(folder: str) -> None:
    assert append_postings(folder, SECOND) == 2
    postings = Postings(folder)
    assert postings.rows == 5
    assert postings.read("cache") == ([0, 1, 3], [2.0, 1.0, 7.0])
    assert postings.read("émigré") == ([4], [1.0])


def test_a_reader_keeps_what_it_opened(folder: str) -> None:
    before = Postings(folder)
    append_postings(folder, SECOND)
    assert before.read("cache") == ([0, 1], [2.0, 1.0])


def test_many_rows_fill_many_blocks(tmp_path: Path) -> None:
    create_postings(str(tmp_path))
    append_postings(str(tmp_path), [{"common": 1 + number % 5, f"rare{number}": 1} for number in range(1000)])
    rows, counts = Postings(str(tmp_path)).read("common")
    assert rows == list(range(1000))
    assert counts[:6] == [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]


def test_an_empty_set_of_postings_can_be_opened(tmp_path: Path) -> None:
    create_postings(str(tmp_path))
    assert Postings(str(tmp_path)).read("x") == ([], [])


def test_the_format_has_a_name() -> None:
    assert ENGINE == "whoosh-w3"
