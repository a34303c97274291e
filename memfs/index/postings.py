"""Reading the posting lists that Whoosh wrote, without Whoosh and without running anything.

A cold recall spent more time importing Whoosh (30 of 180 ms) than searching with it, and opening a
Whoosh index executes pickled code. The two files that a search needs are simple: ``.trm``, a hash table
from a term to where its list lies, and ``.pst``, blocks of row numbers and counts. The format is the one
that Whoosh 2.7.4 and whoosh3 share (``whoosh/filedb/filetables.py``, ``whoosh/codec/whoosh3.py``); the
tests read every list with Whoosh as well. Blocks are pickled tuples of numbers: the unpickler here knows
no names, so a poisoned file cannot call anything. A file has the checksum of each of its blocks beside it,
so a changed byte that is read is noticed, and one that is not read costs nothing.
"""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Sequence
from hashlib import md5
from io import BytesIO
from itertools import accumulate, repeat
from pickle import Unpickler
from struct import Struct
from typing import Any
from zlib import crc32, decompressobj

BLOCK = 4096
CHECKED = (".trm", ".pst")
"""The files of a segment that a search reads."""
CHECKS = ".crc"

_FIELD = b"\x00\x00"  # the number of the only field
_HEADER = b"HSH3\x00"  # a hash table whose hash is MD5
_MAGIC = b"W3Bl"
_DIRECTORY = 256 * 12
_MAX_BLOCK = 1 << 16  # bytes of one unpacked block: 128 postings
_INT = Struct("!i")
_PLACE = Struct("!qi")  # directory: position and slots of one table
_SLOT = Struct("!Iq")  # hash and position of a key
_LENGTHS = Struct("!ii")  # of a key and its value
_TERM = Struct("!BfIBBfIIqi")  # W3TermInfo: flags, statistics, offset and length of the list


class BadPostings(ValueError):
    """The files are not what Whoosh writes."""


class Postings:
    """The posting lists of some segments, opened for reading. It keeps the files open, so a later swap
    of their folder does not reach it."""

    def __init__(self, folder: str, segments: Sequence[tuple[str, int]]) -> None:
        self._segments: list[tuple[int, _Table, _File]] = []
        self.rows = 0
        for name, rows in segments:
            table, lists = (_File(os.path.join(folder, f"{name}{ending}")) for ending in CHECKED)
            self._segments.append((self.rows, _Table(table), lists))
            self.rows += rows

    def verify(self) -> None:
        """Read every byte. Raises :class:`BadPostings` where one is not what was written."""
        for _, table, lists in self._segments:
            for file in (table.file, lists):
                for place in range(0, file.size, BLOCK):
                    file.read(1, place)

    def read(self, term: str) -> tuple[list[int], list[float]]:
        """Return the rows that hold ``term``, ascending, and how often each does.

        Raises :class:`BadPostings` and what the standard library raises for damaged bytes.
        """
        rows: list[int] = []
        counts: list[float] = []
        for base, table, lists in self._segments:
            found = table.find(_FIELD + term.encode())
            if found is not None:
                _read_list(lists, *found, base, rows, counts)
        return rows, counts


class _Table:
    """One ``.trm`` file: Bernstein's constant database, nearly."""

    def __init__(self, file: _File) -> None:
        self.file = file
        size = file.size
        if size < _DIRECTORY + 13 or file.read(5, 0) != _HEADER:
            raise BadPostings("no hash table")
        (extra,) = _INT.unpack(file.read(4, size - 4))
        self._directory = size - 4 - extra - _DIRECTORY
        if extra < 0 or self._directory < 13:
            raise BadPostings("the hash table has no directory")

    def find(self, key: bytes) -> tuple[int, int] | None:
        """Return offset and length of the list of ``key``, or None."""
        read = self.file.read
        hashed = int.from_bytes(md5(key, usedforsecurity=False).digest()[-4:])
        place, slots = _PLACE.unpack(read(12, self._directory + 12 * (hashed & 255)))
        if not slots:
            return None
        if not 0 < slots < 1 << 28:
            raise BadPostings("the hash table has a wrong directory")
        first = (hashed >> 8) % slots
        for number in range(slots):
            slot, position = _SLOT.unpack(read(12, place + 12 * ((first + number) % slots)))
            if not position:
                return None
            if slot == hashed:
                found = read(_LENGTHS.size + len(key) + _TERM.size, position)
                key_size, value_size = _LENGTHS.unpack_from(found)
                if key_size == len(key) and found[8 : 8 + key_size] == key:
                    if value_size != _TERM.size:
                        raise BadPostings("a term of another kind")
                    fields = _TERM.unpack_from(found, 8 + key_size)
                    return fields[-2], fields[-1]
        return None


class _Plain(Unpickler):
    """An unpickler for numbers and tuples: it looks up no class and calls nothing."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ARG002 - the signature that is overridden
        raise BadPostings("a block names something to call")


def _read_list(file: _File, offset: int, length: int, base: int, rows: list[int], counts: list[float]) -> None:  # noqa: PLR0917
    raw = file.read(length, offset)
    if raw[:4] != _MAGIC or len(raw) != length:
        raise BadPostings("no posting list")
    at = 4
    while True:
        (size,) = _INT.unpack_from(raw, at)
        block = BytesIO(raw[at + 4 : at + 4 + abs(size)])
        number, _, _, is_packed, _, _ = _Plain(block).load()
        content = block.read()
        if is_packed:
            content = decompressobj().decompress(content, _MAX_BLOCK)
        steps, weights, _ = _Plain(BytesIO(content)).load()
        found = list(accumulate(steps, initial=base))[1:]
        if len(found) != number:
            raise BadPostings("a block of another size")
        rows += found
        counts += repeat(1.0 if weights is None else weights, number) if not isinstance(weights, tuple) else weights
        if len(rows) != len(counts):
            raise BadPostings("a block with other counts")
        if size < 0:
            return
        at += 4 + size


class _File:
    """A file of the postings, read in blocks whose checksums are known."""

    def __init__(self, path: str) -> None:
        self._fd = -1
        self._fd, self.size = _open(path)
        self._checks = array("I")
        fd, size = _open(path + CHECKS)
        with os.fdopen(fd, "rb") as file:
            self._checks.frombytes(file.read(size))
        if len(self._checks) != -(-self.size // BLOCK):
            raise BadPostings("the checksums of another file")
        self._good: set[int] = set()

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def read(self, size: int, place: int) -> bytes:
        """Return up to ``size`` bytes from ``place``, from blocks that are as they were written."""
        if not 0 <= place < self.size or size < 0:
            raise BadPostings("a place outside the file")
        first, last = place // BLOCK, (min(place + size, self.size) - 1) // BLOCK
        raw = os.pread(self._fd, (last + 1 - first) * BLOCK, first * BLOCK)
        for block in range(first, last + 1):
            if block not in self._good:
                if crc32(raw[(block - first) * BLOCK : (block - first + 1) * BLOCK]) != self._checks[block]:
                    raise BadPostings("bytes were changed")
                self._good.add(block)
        start = place - first * BLOCK
        return raw[start : start + size]


def _open(path: str) -> tuple[int, int]:
    """Return a descriptor of a regular file, and its size."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise BadPostings("not a regular file")
    return fd, status.st_size
