"""Vector files: appended, keyed by content, searched with the standard library, never trusted."""

from __future__ import annotations

import os
import random
from array import array
from pathlib import Path

import pytest

from memfs.index.vectors import Vectors, append_vectors, drop_damaged

DIMENSIONS = 64


def made_up(seed: int) -> array[float]:
    draw = random.Random(seed)
    values = [draw.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = sum(value * value for value in values) ** 0.5
    return array("f", [value / length for value in values])


def key(number: int) -> bytes:
    return (number + 1).to_bytes(16, "big")


def tokens_of(number: int) -> bytes:
    return random.Random(number).randbytes(number % 5 * DIMENSIONS // 8)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    place = str(tmp_path / "vectors")
    os.mkdir(place)
    append_vectors(place, [(key(number), made_up(number), tokens_of(number)) for number in range(300)], DIMENSIONS)
    return place


def test_a_vector_is_nearest_to_itself(folder: str) -> None:
    vectors = Vectors(folder, DIMENSIONS)
    for number in (0, 7, 299):
        near = vectors.nearest(made_up(number), range(300), limit=20)
        best = max(near, key=lambda row: vectors.similarity(made_up(number), row) or -1)
        assert best == vectors.rows[key(number)]
        assert vectors.similarity(made_up(number), best) == pytest.approx(1, abs=0.02)


def test_only_the_rows_that_are_asked_for_are_looked_at(folder: str) -> None:
    vectors = Vectors(folder, DIMENSIONS)
    assert sorted(vectors.nearest(made_up(5), [1, -1, 2, 3, -2])) == [0, 2, 3]
    places = [row if 100 <= row < 280 else -1 for row in range(300)]
    assert set(vectors.nearest(made_up(5), places, limit=10)) <= set(range(100, 280))


def test_the_bits_keep_the_nearest_neighbours(folder: str) -> None:
    vectors = Vectors(folder, DIMENSIONS)
    rows = list(vectors.rows.values())
    for seed in range(1000, 1005):
        query = made_up(seed)
        exact = sorted(rows, key=lambda row: -(vectors.similarity(query, row) or -1))[:5]
        assert len(set(exact) & set(vectors.nearest(query, range(300), limit=150))) >= 4


def test_a_text_is_kept_once(folder: str) -> None:
    assert append_vectors(folder, [(key(3), made_up(3), b""), (key(400), made_up(400), b"")], DIMENSIONS) == 1
    vectors = Vectors(folder, DIMENSIONS)
    assert len(vectors.rows) == 301
    assert vectors.similarity(made_up(400), vectors.rows[key(400)]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", ["rows", "bits", "int8", "tokens"])
def test_what_a_killed_writer_left_is_cut_off(folder: str, name: str) -> None:
    with open(os.path.join(folder, name), "ab") as file:
        file.write(b"\x01" * 7)
    assert len(Vectors(folder, DIMENSIONS).rows) == 300
    append_vectors(folder, [(key(500), made_up(500), tokens_of(5))], DIMENSIONS)
    vectors = Vectors(folder, DIMENSIONS)
    assert vectors.similarity(made_up(500), vectors.rows[key(500)]) == pytest.approx(1, abs=0.02)
    assert vectors.similarity(made_up(9), vectors.rows[key(9)]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", ["rows", "bits", "int8", "tokens"])
@pytest.mark.parametrize("how", ["remove", "empty", "noise", "link", "folder"])
def test_damage_loses_neighbours_and_nothing_else(folder: str, name: str, how: str, tmp_path: Path) -> None:
    path = Path(folder) / name
    size = path.stat().st_size
    path.unlink()
    if how == "empty":
        path.write_bytes(b"")
    elif how == "noise":
        path.write_bytes(random.Random(1).randbytes(size))
    elif how == "link":
        (tmp_path / "elsewhere").write_bytes(b"\0" * size)
        path.symlink_to(tmp_path / "elsewhere")
    elif how == "folder":
        path.mkdir()
    vectors = Vectors(folder, DIMENSIONS)
    for row in vectors.nearest(made_up(1), list(vectors.rows.values()), limit=5):
        found = vectors.similarity(made_up(1), row)
        assert found is None or -1.01 < found < 1.01


def test_nothing_is_no_error(tmp_path: Path) -> None:
    vectors = Vectors(str(tmp_path / "absent"), DIMENSIONS)
    assert vectors.rows == {}
    assert vectors.nearest(made_up(1), []) == []
    (tmp_path / "empty").mkdir()
    assert append_vectors(str(tmp_path / "empty"), [], DIMENSIONS) == 0


def test_tokens_come_back_and_belong_to_their_text(folder: str) -> None:
    vectors = Vectors(folder, DIMENSIONS)
    for number in (0, 4, 299):
        found = b"".join(one.to_bytes(DIMENSIONS // 8, "little") for one in vectors.tokens(vectors.rows[key(number)]))
        assert found == tokens_of(number)


@pytest.mark.parametrize("name", ["rows", "bits", "int8", "tokens"])
def test_every_flipped_bit_is_noticed_and_repaired(folder: str, name: str) -> None:
    path = Path(folder) / name
    good = path.read_bytes()
    draw = random.Random(7)
    for _ in range(40):
        place = draw.randrange(len(good))
        path.write_bytes(good[:place] + bytes([good[place] ^ 1 << draw.randrange(8)]) + good[place + 1 :])
        assert Vectors(folder, DIMENSIONS).damaged()
    lost = drop_damaged(folder, DIMENSIONS)
    assert lost
    assert not Vectors(folder, DIMENSIONS).damaged()
    again = [(key(number), made_up(number), tokens_of(number)) for number in range(300)]
    assert append_vectors(folder, again, DIMENSIONS) == lost
    vectors = Vectors(folder, DIMENSIONS)
    assert not vectors.damaged()
    assert {vectors.row(row).key for row in vectors.rows.values()} == {key(number) for number in range(300)}
