"""Usage: a log in the user's state that survives anything and weighs little."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.recall import usage as using
from memfs.recall.usage import NEVER, Usage, read_usage, record_usage

DAY = date(2027, 1, 2)


def test_events_are_counted_and_the_last_day_kept(repo: Path, places: Places) -> None:
    tree = find_work_tree(repo)
    record_usage(tree, places, "shown", ["a", "b", ""], DAY)
    record_usage(tree, places, "helped", ["a"], date(2027, 1, 5))
    record_usage(tree, places, "invented", ["a"], DAY)
    assert read_usage(tree, places) == {
        "a": Usage(shown=1, helped=1, last="2027-01-05"),
        "b": Usage(shown=1, last="2027-01-02"),
    }


def test_a_long_log_is_folded(repo: Path, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(using, "_MAX_LOG", 100)
    tree = find_work_tree(repo)
    for _ in range(20):
        record_usage(tree, places, "shown", ["a"], DAY)
    assert read_usage(tree, places)["a"].shown == 20
    assert (places.state / "usage").exists()


@pytest.mark.parametrize("name", ["log", "counts.json"])
@pytest.mark.parametrize("raw", [b"", b"\xff\xfe\x00", b"[1]", b'{"a": 1}', b"x y\nz\n" * 100])
def test_a_damaged_log_counts_as_none(name: str, raw: bytes, repo: Path, places: Places) -> None:
    tree = find_work_tree(repo)
    record_usage(tree, places, "shown", ["a"], DAY)
    (next((places.state / "usage").iterdir()) / name).write_bytes(raw)
    assert read_usage(tree, places).get("a", NEVER) in (NEVER, Usage(shown=1, last="2027-01-02"))


def test_a_disk_that_refuses_is_no_error(repo: Path, places: Places) -> None:
    places.state.mkdir(parents=True)
    (places.state / "usage").write_text("in the way")
    record_usage(find_work_tree(repo), places, "shown", ["a"], DAY)
    assert read_usage(find_work_tree(repo), places) == {}


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_usage_moves_a_hit_by_a_few_per_cent(shown: int, helped: int, misled: int) -> None:
    assert 0.9 <= Usage(shown=shown, helped=helped, misled=misled).factor <= 1.05
    assert Usage(shown=shown).factor == 1
