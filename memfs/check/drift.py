"""Which memories a change of other files touches, although it leaves the memories alone."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.check.change import Between
from memfs.check.results import Result
from memfs.check.rules import make_result
from memfs.check.words import names_of
from memfs.model.codepoints import plain


def check_drift(between: Between) -> Iterator[Result]:
    """Yield the changed files on which memories rest; the place is the changed file."""
    changed = set(between.paths)
    resting: dict[str, list[str]] = {}
    for path, known in between.files.items():
        if path not in changed:
            for other in known.rests_on:
                if other in changed:
                    resting.setdefault(other, []).append(known.id)
    for other, ids in sorted(resting.items()):
        verb = "rests" if len(ids) == 1 else "rest"
        message = f"{names_of(sorted(ids))} {verb} on {plain(other)}, which this changes."
        yield make_result("makes-stale", message, path=other, ids=tuple(sorted(ids)))
