"""What a difference of two texts hides: letters and blanks that look alike, line ends, gaps."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from memfs.check.change import Between, MemoryChange
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.model.unseen import name_of, skeleton

_MAX_LINES = 5  # of one file
_MAX_CHARACTERS = 3  # of one line


def check_texts(between: Between) -> Iterator[Result]:
    """Yield, for each changed text, the lines that look the same and are not."""
    for change in between.memories:
        old, new = change.old, change.new
        if old is None or new is None or old.raw == new.raw:
            continue
        if old.digest == new.digest:
            yield make_result("only-line-ends", path=change.path, ids=(change.id,))
        else:
            yield from _check_lines(change, old.raw, new.raw)


def _check_lines(change: MemoryChange, old: bytes, new: bytes) -> Iterator[Result]:
    before, after = (raw.decode("utf-8", "replace").replace("\r\n", "\n").split("\n") for raw in (old, new))
    kept = set(before) & set(after)
    gone = {skeleton(line): line for line in before if line not in kept and line.strip()}
    told = 0
    for number, line in enumerate(after, 1):
        was = gone.get(skeleton(line)) if line not in kept and line.strip() else None
        if was is not None and told < _MAX_LINES:
            told += 1
            yield _same_to_the_eye(change, number, was, line)


def _same_to_the_eye(change: MemoryChange, number: int, was: str, line: str) -> Result:
    found: list[str] = []
    only_blanks = True
    column = None
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, was, line, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        column = column or b1 + 1
        only_blanks = only_blanks and not was[a1:a2].strip() and not line[b1:b2].strip()
        found += [f"{_named(line[b1:b2])}, was {_named(was[a1:a2])}"]
    more = f" and {len(found) - _MAX_CHARACTERS} more" if len(found) > _MAX_CHARACTERS else ""
    told = f"{'; '.join(found[:_MAX_CHARACTERS])}{more}"
    rule = "only-blanks" if only_blanks else "looks-the-same"
    level = Level.WARNING if only_blanks and not line.isascii() else None
    words = "only blanks change" if only_blanks else "it looks the same as before, and is not"
    message = f"Line {number}: {words}: {told}."
    return make_result(rule, message, path=change.path, line=number, column=column, ids=(change.id,), level=level)


def _named(text: str) -> str:
    if not text:
        return "nothing"
    names = [name_of(char) for char in text[:2]]
    return " ".join(names) + (f" and {len(text) - 2} more" if len(text) > 2 else "")
