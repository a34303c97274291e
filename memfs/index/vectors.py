"""Vectors on disk, searched with the standard library (RETRIEVAL 3).

One folder a repository and model, shared by its work trees: ``rows`` (key of the embedded text, where its
tokens lie, checksums), ``bits`` (one sign bit a dimension), ``int8`` (a float scale, then one byte a
dimension) and ``tokens`` (the sign bits of each token that counts). Rows are only ever appended, ``rows``
last, so a reader takes as many as ``rows`` has and needs no lock; a row that no text of an index refers to
is never looked at. A row with a wrong checksum is not a neighbour; :func:`drop_damaged` takes it out.
"""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import nsmallest
from operator import mul
from struct import Struct, pack, unpack_from
from typing import NamedTuple
from zlib import crc32

from memfs.disk.private import own_lock
from memfs.index.text import KEY_BYTES, NO_KEY

PREFILTERED = 150
"""Rows that the bits propose and the bytes rank again: within 0.003 nDCG of an exact search."""

_MOST_TOKENS = 1_024  # of one text
_ROW = Struct("<16sQIII")  # key, place of its tokens, their bytes, checksum of the vector, of the tokens


class Row(NamedTuple):
    """What a store says about one text."""

    key: bytes
    place: int
    size: int
    vector_crc: int
    tokens_crc: int


class Vectors:
    """The rows of one store. A missing or damaged store has no rows."""

    def __init__(self, folder: str, dimensions: int) -> None:
        self.dimensions = dimensions
        self._row_bytes = 4 + dimensions
        self._bit_bytes = (dimensions + 7) // 8
        self._rows = _read(os.path.join(folder, "rows"))
        self._bits = _read(os.path.join(folder, "bits"))
        self._int8, self._tokens = (_open(os.path.join(folder, name)) for name in ("int8", "tokens"))
        vectors = _size_of(self._int8) // self._row_bytes
        self.count = min(len(self._rows) // _ROW.size, len(self._bits) // self._bit_bytes, vectors)

    def __del__(self) -> None:
        for fd in (self._int8, self._tokens):
            if fd >= 0:
                os.close(fd)

    @cached_property
    def rows(self) -> dict[bytes, int]:
        """The row of each text's key."""
        keys, size = self._rows, _ROW.size
        found = {keys[at : at + KEY_BYTES]: at // size for at in range(0, self.count * size, size)}
        found.pop(NO_KEY, None)
        return found

    def row(self, number: int) -> Row:
        """Return what the store says about row ``number``."""
        return Row(*_ROW.unpack_from(self._rows, number * _ROW.size))

    def nearest(self, query: array[float], places: Sequence[int], *, limit: int = PREFILTERED) -> list[int]:
        """Return which of ``places`` (rows of this store; below 0: none), as positions in that list, have signs
        nearest to those of ``query``; at most ``limit``."""
        size, bits, from_bytes, far = self._bit_bytes, self._bits, int.from_bytes, 8 * self._bit_bytes + 1
        sought = from_bytes(sign_bits(query), "little")
        distances = [
            (from_bytes(bits[row * size : row * size + size], "little") ^ sought).bit_count() if row >= 0 else far
            for row in places
        ]
        order = nsmallest(limit, range(len(distances)), key=distances.__getitem__)
        return [position for position in order if distances[position] < far]

    def similarity(self, query: array[float], number: int) -> float | None:
        """Return the cosine of ``query`` and the vector of row ``number``; None for a damaged row."""
        stored = self._vector(number)
        return None if stored is None else cosine(query, stored)

    def tokens(self, number: int) -> list[int]:
        """Return the sign bits of each token of row ``number``; none for a damaged row."""
        row, size = self.row(number), self._bit_bytes
        raw = _pread(self._tokens, min(row.size, _MOST_TOKENS * size), row.place)
        if len(raw) != row.size or crc32(raw) != row.tokens_crc:
            return []
        return parse_tokens(raw, size)

    def damaged(self) -> list[int]:
        """Return the rows whose bytes are not those that were written."""
        living = (number for number in range(self.count) if self.row(number).key != NO_KEY)
        return [number for number in living if self._vector(number) is None or not self._has_tokens(number)]

    def _vector(self, number: int) -> bytes | None:
        row = self.row(number)
        stored = _pread(self._int8, self._row_bytes, number * self._row_bytes)
        bits = self._bits[number * self._bit_bytes : (number + 1) * self._bit_bytes]
        return stored if _vector_crc(row.key, row.place, row.size, bits, stored) == row.vector_crc else None

    def _has_tokens(self, number: int) -> bool:
        row = self.row(number)
        limit = _MOST_TOKENS * self._bit_bytes
        return row.size <= limit and crc32(_pread(self._tokens, row.size, row.place)) == row.tokens_crc


def cosine(query: array[float], stored: bytes) -> float | None:
    """Return the cosine of ``query`` and a row of ``int8``; None where the bytes are not a vector of length 1."""
    if len(stored) != 4 + len(query):
        return None
    (scale,) = unpack_from("<f", stored)
    found: float = scale * sum(map(mul, query, memoryview(stored)[4:].cast("b")))
    return found if -1.01 < found < 1.01 else None


def parse_tokens(raw: bytes, size: int) -> list[int]:
    """Return the sign bits of each token, ``size`` bytes each; none where ``raw`` is not made of such."""
    if not size or len(raw) % size or len(raw) > _MOST_TOKENS * size:
        return []
    from_bytes = int.from_bytes
    return [from_bytes(raw[at : at + size], "little") for at in range(0, len(raw), size)]


def append_vectors(folder: str, vectors: Iterable[tuple[bytes, array[float], bytes]], dimensions: int) -> int:
    """Write the (key, vector, token bits) that the store in ``folder``, which is there, lacks; return how many.

    Waits for another writer. Rows that a killed writer left without a key are cut off first.
    """
    with own_lock(f"{folder}/lock", wait=True):
        present = Vectors(folder, dimensions)
        new = {key: (vector, tokens) for key, vector, tokens in vectors if key not in present.rows}
        place = os.path.getsize(path) if os.path.exists(path := os.path.join(folder, "tokens")) else 0
        rows, all_bits, all_int8 = [], [], []
        begin = place
        for key, (vector, tokens) in new.items():
            bits, int8 = sign_bits(vector), quantise(vector)
            crc = _vector_crc(key, place, len(tokens), bits, int8)
            rows.append(_ROW.pack(key, place, len(tokens), crc, crc32(tokens)))
            all_bits.append(bits)
            all_int8.append(int8)
            place += len(tokens)
        _extend(os.path.join(folder, "tokens"), begin, (tokens for _, tokens in new.values()))
        _extend(os.path.join(folder, "bits"), present.count * ((dimensions + 7) // 8), all_bits)
        _extend(os.path.join(folder, "int8"), present.count * (4 + dimensions), all_int8)
        _extend(os.path.join(folder, "rows"), present.count * _ROW.size, rows)
        return len(new)


def drop_damaged(folder: str, dimensions: int) -> int:
    """Take the damaged rows out of the store, so that their texts are embedded again; return how many.

    A row's key is overwritten where it is: readers go on without a lock.
    """
    if not os.path.isdir(folder):
        return 0
    with own_lock(f"{folder}/lock", wait=True):
        found = Vectors(folder, dimensions).damaged()
        if found:
            fd = os.open(os.path.join(folder, "rows"), os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                for number in found:
                    os.pwrite(fd, NO_KEY, number * _ROW.size)
            finally:
                os.close(fd)
        return len(found)


def _vector_crc(key: bytes, place: int, size: int, bits: bytes, int8: bytes) -> int:
    return crc32(int8, crc32(bits, crc32(pack("<QI", place, size), crc32(key))))


def quantise(vector: array[float]) -> bytes:
    """Return a vector as a row of ``int8``."""
    scale = max(map(abs, vector), default=0.0) / 127 or 1.0
    return pack("<f", scale) + array("b", [round(value / scale) for value in vector]).tobytes()


def sign_bits(vector: array[float]) -> bytes:
    """Return a vector as a row of ``bits``."""
    bits = 0
    for place, value in enumerate(vector):
        if value > 0:
            bits |= 1 << place
    return bits.to_bytes((len(vector) + 7) // 8, "little")


def _extend(path: str, size: int, rows: Iterable[bytes]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(b"".join(rows))


def _open(path: str) -> int:
    """Return a descriptor of the user's own regular file, or -1."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return -1
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid():
        return fd
    os.close(fd)
    return -1


def _size_of(fd: int) -> int:
    return os.fstat(fd).st_size if fd >= 0 else 0


def _pread(fd: int, size: int, place: int) -> bytes:
    try:
        return os.pread(fd, size, place) if fd >= 0 else b""
    except OSError:
        return b""


def _read(path: str) -> bytes:
    fd = _open(path)
    if fd < 0:
        return b""
    with os.fdopen(fd, "rb") as file:
        return file.read()
