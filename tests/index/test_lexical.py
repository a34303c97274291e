"""Postings on disk: what Whoosh writes is read without Whoosh, and both readers agree.

These tests also run against Whoosh 2.7.4 (.ci/whoosh-2.7.4), so they need nothing else.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from memfs.index.lexical import ENGINE, FIELD, append_postings, create_postings, make_schema, open_storage
from memfs.index.postings import BadPostings, Postings

Folder = tuple[str, list[tuple[str, int]]]

FIRST = [{"cache": 2, "设备": 1}, {"cache": 1, "c++": 3}, {"srv/analysis.ipynb": 1}]
SECOND = [{"cache": 7}, {"émigré": 1}]


def read_with_whoosh(folder: str, term: str) -> tuple[list[int], list[float]]:
    """Return what Whoosh itself says about ``term``."""
    from whoosh.index import FileIndex

    reader = FileIndex(open_storage(folder), schema=make_schema()).reader()
    if (FIELD, term) not in reader:
        return [], []
    matcher: Any = reader.postings(FIELD, term)
    rows, counts = [], []
    while matcher.is_active():
        rows.append(matcher.id())
        counts.append(matcher.weight())
        matcher.next()
    reader.close()
    return rows, counts


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    create_postings(str(tmp_path))
    return str(tmp_path), [append_postings(str(tmp_path), FIRST)]


def test_a_term_gives_its_rows_and_counts(folder: Folder) -> None:
    postings = Postings(*folder)
    assert postings.rows == 3
    assert postings.read("cache") == ([0, 1], [2.0, 1.0])
    assert postings.read("设备") == ([0], [1.0])
    assert postings.read("srv/analysis.ipynb") == ([2], [1.0])
    assert postings.read("absent") == ([], [])


def test_segments_are_appended_and_rows_count_on(folder: Folder) -> None:
    place, segments = folder
    segments.append(append_postings(place, SECOND))
    postings = Postings(place, segments)
    assert postings.rows == 5
    assert postings.read("cache") == ([0, 1, 3], [2.0, 1.0, 7.0])
    assert postings.read("émigré") == ([4], [1.0])
    assert postings.read("cache") == read_with_whoosh(place, "cache")


def test_a_reader_keeps_what_it_opened(folder: Folder) -> None:
    before = Postings(*folder)
    for path in Path(folder[0]).iterdir():
        path.unlink()
    assert before.read("cache") == ([0, 1], [2.0, 1.0])


def test_both_readers_agree_about_every_term(tmp_path: Path) -> None:
    draw = random.Random(4)
    words = [f"w{number}" for number in range(300)] + ["设备", "c++", "/", "é" * 40, "a" * 64]
    weights = [1 / (place + 1) for place in range(len(words))]
    place = str(tmp_path)
    create_postings(place)
    segments = []
    for size in (1, 700, 129):
        documents = []
        for _ in range(size):
            chosen = set(draw.choices(words, weights=weights, k=draw.randint(0, 40)))
            documents.append({word: draw.choice([1, 1, 1, 2, 300]) for word in sorted(chosen)})
        segments.append(append_postings(place, documents))
    postings = Postings(place, segments)
    for word in [*words, "absent", ""]:
        assert postings.read(word) == read_with_whoosh(place, word), word


def test_an_empty_set_of_postings_can_be_opened(tmp_path: Path) -> None:
    assert Postings(str(tmp_path), []).read("x") == ([], [])


def test_a_poisoned_block_runs_nothing(folder: Folder, tmp_path: Path) -> None:
    import pickle
    import struct

    class Poison:
        """Calls when it is unpickled."""

        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.mkdir, (str(tmp_path / "ran"),)

    place, segments = folder
    postings = Postings(place, segments)
    offset, _ = postings._segments[0][1].find(b"\0\0cache")  # type: ignore[misc]
    path = Path(place) / f"{segments[0][0]}.pst"
    raw = bytearray(path.read_bytes())
    block = pickle.dumps(Poison(), 2)
    raw[offset + 4 : offset + 8 + len(block)] = struct.pack("!i", -len(block)) + block
    path.write_bytes(raw)
    with pytest.raises((BadPostings, Exception)):
        Postings(place, segments).read("cache")
    assert not (tmp_path / "ran").exists()


def test_any_damage_is_an_error_and_never_a_hang(folder: Folder) -> None:
    place, segments = folder
    draw = random.Random(9)
    for suffix in (".trm", ".pst"):
        path = Path(place) / f"{segments[0][0]}{suffix}"
        whole = path.read_bytes()
        for _ in range(150):
            raw = bytearray(whole)
            for _ in range(draw.randint(1, 4)):
                raw[draw.randrange(len(raw))] = draw.randrange(256)
            path.write_bytes(raw[: draw.randint(0, len(raw))] if draw.random() < 0.3 else raw)
            try:
                rows, counts = Postings(place, segments).read("cache")
            except Exception:  # the caller takes any failure for damage
                continue
            assert len(rows) == len(counts)
        path.write_bytes(whole)


def test_the_format_has_a_name() -> None:
    assert ENGINE == "whoosh-w3"
