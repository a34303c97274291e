"""Text indexes in memory for tests of scoring."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from memfs.index.document import count_terms, text_key
from memfs.index.text import TextIndex


def index_of(texts: Mapping[str, str] | Sequence[str], *, scope: str | None = "team") -> TextIndex:
    """Return an index of ``texts`` in one scope; the paths are the keys, or the places as numbers."""
    if not isinstance(texts, Mapping):
        texts = {f"{place:04}": text for place, text in enumerate(texts)}
    return mixed_index([(path, scope, text) for path, text in texts.items()])


def mixed_index(rows: Sequence[tuple[str, str | None, str]]) -> TextIndex:
    """Return an index of (path, scope, text) rows, all of them in the tail."""
    names: list[str | None] = [None, *dict.fromkeys(scope for _, scope, _ in rows)]
    counts = [count_terms(text) for _, _, text in rows]
    return TextIndex(
        paths=[path for path, _, _ in rows],
        keys=bytearray(b"".join(text_key(text) for _, _, text in rows)),
        scopes=array("H", [names.index(scope, 1) for _, scope, _ in rows]),
        lengths=array("I", [sum(count.values()) for count in counts]),
        scope_names=names,
        postings_rows=0,
        open_postings=None,
        tail=counts,
        read_facets=lambda: [""] * len(rows),
    )


def everybody(_scope: str | None) -> bool:
    """Be a caller who sees everything."""
    return True
