"""Many at once: writers, readers, and somebody who deletes the index under them."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from indexes import write_memory

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.recall.search import Query, recall
from memfs.standing.background import refresh_index

WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"]


def in_child(work: Callable[[], None]) -> int:
    """Fork a child that does ``work``; its exit code is 0 when nothing was raised."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:  # the parent sees the code; a person sees this
        sys.__stderr__.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def write_for(root: Path, number: int, until: float) -> None:
    draw = random.Random(number)
    count = 0
    while time.monotonic() < until:
        count += 1
        write_memory(root, f"writer-{number}-{count % 20}", f"The {draw.choice(WORDS)} worker {number} waits {count}.")
        time.sleep(draw.random() / 50)


def read_for(root: Path, places: Places, number: int, until: float) -> None:
    tree = find_work_tree(root)
    draw = random.Random(number)
    while time.monotonic() < until:
        query = Query(text=f"anchor {draw.choice(WORDS)}", mode="lexical", limit=20, record=False)
        result = recall([("", tree)], places, query, today=date(2027, 1, 1))
        assert any(hit.assessment.file.id == "anchor" for hit in result.hits), "a read failed"


def run_together(root: Path, places: Places, *, seconds: float, writers: int, readers: int, remove: bool) -> list[int]:
    until = time.monotonic() + seconds
    children = [in_child(lambda number=number: write_for(root, number, until)) for number in range(writers)]
    children += [in_child(lambda number=number: read_for(root, places, number, until)) for number in range(readers)]
    while remove and time.monotonic() < until:
        time.sleep(0.2)
        shutil.rmtree(places.cache / "index", ignore_errors=True)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.fixture
def anchored(repo: Path, places: Places, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("memfs.index.semantic.prepare_if_possible", lambda _places: None)
    write_memory(repo, "anchor", "The anchor holds.")
    refresh_index(find_work_tree(repo), places)
    return repo


def test_writers_and_readers_at_once_fail_no_read(anchored: Path, places: Places) -> None:
    assert set(run_together(anchored, places, seconds=2, writers=3, readers=3, remove=False)) == {0}


def test_deleting_the_index_under_readers_fails_no_read(anchored: Path, places: Places) -> None:
    assert set(run_together(anchored, places, seconds=2, writers=1, readers=2, remove=True)) == {0}


@pytest.mark.slow
def test_twelve_writers_and_six_readers_for_a_minute(anchored: Path, places: Places) -> None:
    assert set(run_together(anchored, places, seconds=60, writers=12, readers=6, remove=False)) == {0}
