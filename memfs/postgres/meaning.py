"""The vectors of what is published: those of the publisher's model, where one is prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.index.document import embeddable_text
from memfs.index.embedding import open_embedder
from memfs.index.semantic import prepare_if_possible
from memfs.index.vectors import quantise

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.index.models import Prepared
    from memfs.postgres.publication import Row

COLUMN_DIMENSIONS = 384
"""The size of the column that pgvector searches; vectors of another size are published for ranking only."""


class NoMeaning:
    """What publishes words only: no model is installed."""

    model: str | None = None

    def of(self, row: Row) -> tuple[bytes | None, bytes | None, str | None]:  # noqa: ARG002
        """Return (int8 row, token bits, numbers as text): nothing."""
        return None, None, None


class ModelMeaning:
    """The prepared model of this machine. ``model`` is its key: vectors of another key are never compared."""

    def __init__(self, prepared: Prepared) -> None:
        self.model: str | None = prepared.key
        self._embedder = open_embedder(prepared)

    def of(self, row: Row) -> tuple[bytes | None, bytes | None, str | None]:
        """Return (int8 row, token bits, numbers as text) of what the index embeds of a memory."""
        embedded = self._embedder.embed(embeddable_text(row.file))
        numbers = None
        if len(embedded.vector) == COLUMN_DIMENSIONS:
            numbers = f"[{','.join(f'{value:.5f}' for value in embedded.vector)}]"
        return quantise(embedded.vector), embedded.tokens or None, numbers


def open_meaning(places: Places) -> NoMeaning | ModelMeaning:
    """Return the model of this machine, prepared now if need be, or what publishes words only."""
    prepared = prepare_if_possible(places)
    return NoMeaning() if prepared is None else ModelMeaning(prepared)
