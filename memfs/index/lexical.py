"""Postings on disk: which rows hold a term, and how often. The only import of Whoosh.

Whoosh keeps the postings; the scores are computed by ``memfs.index.text`` because they depend on
who asks (ADMISSION 7). Only parts of Whoosh that 2.7.4 has too are used, so that the distribution
can be changed in one line (docs/adr/0001-whoosh-distribution.md). A row of the index is the n-th
document that was ever added to the folder; rows are never moved or deleted here.

Opening a folder unpickles what is in it: the caller has checked that the folder is the user's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whoosh.codec.whoosh3 import W3Codec
from whoosh.fields import FieldType, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.formats import Existence
from whoosh.index import TOC

ENGINE = "whoosh-w3"
"""The format on disk, the same for Whoosh 2.7.4 and whoosh3 3.54.0."""

_FIELD = "body"


class CountsField(FieldType):  # type: ignore[misc]
    """A field that is given the number of times each term occurs, already tokenised."""

    def __init__(self) -> None:
        super().__init__(Existence(), None)

    def index(self, value: Mapping[str, int], **_options: Any) -> Any:
        for term, count in value.items():
            yield term.encode(), count, float(count), b""


def _schema() -> Schema:
    return Schema(**{_FIELD: CountsField()})


def create_postings(folder: str) -> None:
    """Write an empty set of postings into ``folder``."""
    TOC.create(_storage(folder), _schema())


def append_postings(folder: str, documents: Iterable[Mapping[str, int]]) -> int:
    """Write ``documents`` (term → count) as one new segment; return how many there were.

    The caller holds the index lock and works on a folder that no reader has open.
    """
    from whoosh.index import FileIndex

    writer = FileIndex(_storage(folder)).writer(limitmb=512)
    number = 0
    try:
        for counts in documents:
            writer.add_document(**{_FIELD: counts})
            number += 1
    except BaseException:
        writer.cancel()
        raise
    writer.commit(merge=False)
    return number


class Postings:
    """The postings of one folder, opened for reading. Holds its files open; a later swap of the
    folder does not reach it."""

    def __init__(self, folder: str) -> None:
        storage = _storage(folder)
        schema = _schema()
        toc = TOC.read(storage, "MAIN", schema=schema)
        self._format = schema[_FIELD].format
        self._segments: list[tuple[int, Any]] = []
        self.rows = 0
        codec = W3Codec()
        for segment in toc.segments:
            files = segment.open_compound_file(storage) if segment.is_compound() else storage
            self._segments.append((self.rows, codec.terms_reader(files, segment)))
            self.rows += segment.doc_count_all()

    def read(self, term: str) -> tuple[list[int], list[float]]:
        """Return the rows that hold ``term``, ascending, and how often each does."""
        key = term.encode()
        rows: list[int] = []
        counts: list[float] = []
        for base, terms in self._segments:
            if (_FIELD, key) not in terms:
                continue
            matcher = terms.matcher(_FIELD, key, self._format)
            while matcher.is_active():
                rows.append(base + matcher.id())
                counts.append(matcher.weight())
                matcher.next()
        return rows, counts


def _storage(folder: str) -> FileStorage:
    # With mmap every opening copies the whole segment (RETRIEVAL 2).
    return FileStorage(folder, supports_mmap=False)
