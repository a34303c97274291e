"""What is asked of a shared index. Nothing that comes back is believed here: see ``rows``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memfs.model.scope import granted_patterns
from memfs.model.values import dataclass
from memfs.postgres.connection import failing_plainly

if TYPE_CHECKING:
    from memfs.postgres.connection import Open

BY_WORDS = 200
BY_MEANING = 50
LOOKED_AT = 2_000
"""Memories that the server looks at for the words of one question, four times as many where one word has more."""

_SEARCH = "SELECT * FROM memfs.search(%s, %s, %s, %s, %s)"
_NEAREST = "SELECT * FROM memfs.nearest(%s, %s, %s, %s, %s, %s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A memory that may answer. ``counts`` are how often each term of the question occurs in it."""

    key: int
    length: int
    counts: tuple[int, ...]
    model: str | None
    vector: bytes | None
    tokens: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Candidates, and what the caller's part of the index is as a whole: all of it counted over visible memories."""

    terms: tuple[str, ...]
    documents: int
    length: int
    frequencies: tuple[int, ...]
    found: Mapping[int, Found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One memory as the index has it, with everything that its approval could rest on."""

    key: int
    repository: str
    name: str
    commit: str
    committed: Any
    published: Any
    path: str
    digest: str
    raw: bytes
    state: Any


def search(
    connection: Open,
    terms: Sequence[str],
    *,
    scopes: Sequence[str] = ("personal", "team"),
    others: Sequence[str] = (),
    meaning: tuple[str, str] | None = None,
) -> Answer:
    """Return what the index has for ``terms`` and, where pgvector is there, near ``meaning`` (model, numbers).

    Looks into what a caller with the grants ``scopes`` sees, outside the repositories ``others``. One round trip.
    Raises :class:`NoIndexError`.
    """
    words, seen, without = list(terms), list(granted_patterns(scopes)), list(others)
    with failing_plainly(), connection.pipeline(), connection.cursor() as one, connection.cursor() as other:
        one.execute(_SEARCH, [words, seen, without, BY_WORDS, LOOKED_AT])
        if meaning is not None:
            other.execute(_NEAREST, [meaning[1], meaning[0], words, seen, without, BY_MEANING])
        rows: list[Any] = one.fetchall()
        near: list[Any] = other.fetchall() if meaning is not None else []
    total, *rest = rows
    return Answer(
        terms=tuple(terms),
        documents=int(total[0]),
        length=int(total[1]),
        frequencies=tuple(total[2] or [0] * len(words)),
        found={int(row[0]): _found(row, len(words)) for row in [*rest, *near]},
    )


def _found(row: Any, terms: int) -> Found:
    counts = tuple(row[2] or ())
    return Found(
        key=int(row[0]), length=int(row[1]), counts=counts if len(counts) == terms else (0,) * terms,
        model=row[3], vector=row[4], tokens=row[5],
    )  # fmt: skip


_ROWS = """
SELECT m.key, m.repository, r.name, r.commit, r.committed, r.published, m.path, m.digest, m.bytes, m.state
FROM memfs.memory m JOIN memfs.repository r ON r.id = m.repository WHERE m.key = ANY (%s)
"""
_RECEIPTS = "SELECT repository, name, bytes FROM memfs.receipt WHERE ids && %s"
_KEYRINGS = """
SELECT repository, version, bytes FROM memfs.keyring
WHERE repository IN (SELECT repository FROM memfs.memory WHERE key = ANY (%s))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What approvals rest on, by repository: receipts by name and keyrings by version."""

    receipts: Mapping[str, Mapping[str, bytes]]
    keyrings: Mapping[str, Mapping[int, bytes]]


def read_held(connection: Open, keys: Sequence[int]) -> list[Held]:
    """Return the memories of ``keys`` that the role may read, in that order. Raises :class:`NoIndexError`."""
    with failing_plainly():
        rows: list[Any] = connection.execute(_ROWS, [list(keys)]).fetchall()
    by_key = {
        int(row[0]): Held(
            key=int(row[0]), repository=row[1], name=row[2], commit=row[3], committed=row[4], published=row[5],
            path=row[6], digest=row[7], raw=bytes(row[8]), state=row[9],
        )
        for row in rows
    }  # fmt: skip
    return [by_key[key] for key in keys if key in by_key]


def read_evidence(connection: Open, held: Sequence[Held]) -> Evidence:
    """Return the receipts and keyrings of the repositories of ``held``. Raises :class:`NoIndexError`."""
    ids = sorted({one.path.rpartition("/")[2].removesuffix(".md") for one in held})
    receipts: dict[str, dict[str, bytes]] = {}
    keyrings: dict[str, dict[int, bytes]] = {}
    with failing_plainly(), connection.pipeline(), connection.cursor() as one, connection.cursor() as other:
        one.execute(_RECEIPTS, [ids])
        other.execute(_KEYRINGS, [[h.key for h in held]])
        found: list[Any] = one.fetchall()
        rings: list[Any] = other.fetchall()
    for repository, name, raw in found:
        receipts.setdefault(repository, {})[name] = bytes(raw)
    for repository, version, raw in rings:
        keyrings.setdefault(repository, {})[version] = bytes(raw)
    return Evidence(receipts=receipts, keyrings=keyrings)
