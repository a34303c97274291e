"""What a difference of two texts hides: letters and blanks that look alike, line ends."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.check.change import Between
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.model.unseen import find_alike


def check_texts(between: Between) -> Iterator[Result]:
    """Yield, for each changed text, the lines that look the same and are not."""
    for change in between.memories:
        old, new = change.old, change.new
        if old is None or new is None or old.raw == new.raw:
            continue
        if old.digest == new.digest:
            yield make_result("only-line-ends", path=change.path, ids=(change.id,))
            continue
        for one in find_alike(*(file.raw.decode("utf-8", "replace") for file in (old, new))):
            yield make_result(
                "only-blanks" if one.only_blanks else "looks-the-same",
                f"L{one.sentence[1:]}.",
                path=change.path,
                line=one.line,
                column=one.column,
                ids=(change.id,),
                level=Level.WARNING if one.only_blanks and not one.is_ascii else None,
            )
