"""Writing posting lists: which rows contain a term, and how often. The only import of Whoosh.

Whoosh keeps the lists; ``memfs.index.postings`` reads them and ``memfs.index.text`` computes the scores,
because they depend on who asks (ADMISSION 7). Only parts of Whoosh that 2.7.4 has too are used, so that
the distribution can be changed in one line (docs/adr/0001-whoosh-distribution.md). A row of the index is
the n-th document that was ever added to the folder; rows are never moved or deleted here.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

from whoosh.fields import FieldType, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.formats import Existence
from whoosh.index import TOC, FileIndex

from memfs.index.postings import BLOCK, CHECKED, CHECKS

_POOL_MB = 64  # postings that a segment of 20,000 memories keeps in memory before it sorts them on disk

ENGINE = "whoosh-w3"
"""The format on disk, the same for Whoosh 2.7.4 and whoosh3 3.54.0."""

FIELD = "body"


class CountsField(FieldType):  # type: ignore[misc]
    """A field that is given the number of times each term occurs, already tokenised."""

    def __init__(self) -> None:
        super().__init__(Existence(), None)

    def index(self, value: Mapping[str, int], **_options: Any) -> Any:
        for term, count in value.items():
            yield term.encode(), count, float(count), b""


def make_schema() -> Schema:
    """Return the schema of the postings: one field, no stored values, no lengths."""
    return Schema(**{FIELD: CountsField()})


def open_storage(folder: str) -> FileStorage:
    """Return Whoosh's view of ``folder``; with mmap every opening would copy the segments (RETRIEVAL 2)."""
    return FileStorage(folder, supports_mmap=False)


def create_postings(folder: str) -> None:
    """Write an empty set of postings into ``folder``."""
    TOC.create(open_storage(folder), make_schema())


def append_postings(folder: str, documents: Iterable[Mapping[str, int]]) -> tuple[str, int]:
    """Write ``documents`` (term → count) as one new segment; return its name and how many there were.

    The caller has the index lock and works on a folder that no reader has open. Opening it unpickles
    what is in it: the caller has checked that it is the user's own.
    """
    writer = FileIndex(open_storage(folder)).writer(limitmb=_POOL_MB, compound=False)
    number = 0
    try:
        for counts in documents:
            writer.add_document(**{FIELD: counts})
            number += 1
        name = writer.newsegment.make_filename("")
    except BaseException:
        writer.cancel()
        raise
    writer.commit(merge=False)
    for ending in CHECKED:
        _write_checks(os.path.join(folder, f"{name}{ending}"))
    return str(name), number


def _write_checks(path: str) -> None:
    """Write the checksum of each block of a file beside it: a search reads blocks, never the whole."""
    checks = array("I")
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            checks.append(crc32(block))
    with open(path + CHECKS, "wb") as file:
        file.write(checks.tobytes())
