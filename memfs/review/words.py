"""The difference of two texts word by word, with hidden characters visible. Pure.

A line difference hides one changed word in a long paragraph; that word is what a reviewer must see.
Lines are paired first, then the words inside changed lines, so that long texts stay fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from memfs.model.codepoints import escape_hidden, find_hidden
from memfs.model.unseen import skeleton
from memfs.model.values import dataclass

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
MAX_WORK = 2_000_000
"""Most comparisons for one pair of texts (about 0.3 s). Matching is quadratic, and a hostile file could
ask for hours: what does not fit is shown as wholly gone and wholly new."""

GAP = 2
"""Empty rows at each end of a gap that are shown."""

ALIKE = 0.4
"""Least share of common words that lays two changed lines side by side."""

_Opcode = tuple[str, int, int, int, int]


class Mark(StrEnum):
    SAME = "same"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of text with one mark; ``text`` is visible form and never contains a line end."""

    mark: Mark
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of each side, either of which may be absent. ``same`` rows are equal on both sides.

    Line numbers are 1-based, in the texts that were given.
    """

    before: tuple[Piece, ...] | None
    after: tuple[Piece, ...] | None
    line_before: int | None = None
    line_after: int | None = None
    same: bool = False


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text`` split at LF alone: other separators are shown, not obeyed."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines and lines[-1] == "" else lines


class _Work:
    """What is left of the work that one comparison may cost."""

    def __init__(self, left: int) -> None:
        self.left = left

    def opcodes(self, old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
        """Return difflib's opcodes. Equal ends are cut off first: most changes are small."""
        shorter = min(len(old), len(new))
        head = next((place for place in range(shorter) if old[place] != new[place]), shorter)
        most = shorter - head
        tail = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
        a2, b2 = len(old) - tail, len(new) - tail
        codes: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
        cost = (a2 - head) * (b2 - head)
        if cost and cost <= self.left:
            self.left -= cost
            matcher = SequenceMatcher(None, old[head:a2], new[head:b2], autojunk=False)
            codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
        elif a2 > head or b2 > head:
            codes.append(("replace", head, a2, head, b2))
        return [*codes, ("equal", a2, len(old), b2, len(new))] if tail else codes

    def afford(self, cost: int) -> bool:
        """Return whether ``cost`` still fits, and take it."""
        if cost > self.left:
            return False
        self.left -= cost
        return True


def compare_words(before: str, after: str, *, work: int = MAX_WORK) -> tuple[Row, ...]:
    """Return the rows of both texts, changed words marked, hidden characters as ``\\u{202E}``."""
    old, new = split_lines(before), split_lines(after)
    budget = _Work(work)
    rows: list[Row] = []
    for tag, a1, a2, b1, b2 in budget.opcodes(old, new):
        if tag == "equal":
            for offset in range(a2 - a1):
                shown = (Piece(mark=Mark.SAME, text=_shown(old[a1 + offset])),)
                rows.append(
                    Row(before=shown, after=shown, line_before=a1 + offset + 1, line_after=b1 + offset + 1, same=True)
                )
        else:
            rows.extend(_changed_rows(old[a1:a2], new[b1:b2], a1, b1, budget))
    return tuple(rows)


def context_rows(rows: Sequence[Row], *, context: int = 2) -> Iterator[Row | None]:
    """Return the changed rows with ``context`` equal ones round each; None is in the place of what is left out."""
    keep = [False] * len(rows)
    for place, row in enumerate(rows):
        if not row.same:
            for near in range(max(0, place - context), min(len(rows), place + context + 1)):
                keep[near] = True
    left_out = False
    for place, row in enumerate(rows):
        if keep[place] and _is_inside_a_gap(rows, place):
            left_out = True
        elif keep[place]:
            if left_out:
                yield None
            left_out = False
            yield row
        else:
            left_out = True
    if left_out and any(keep):
        yield None


def _is_inside_a_gap(rows: Sequence[Row], place: int) -> bool:
    """Return whether a changed row is one of many empty ones: they would push the rest out of sight."""
    near = rows[max(0, place - GAP) : place + GAP + 1]
    return len(near) == 2 * GAP + 1 and not any(
        piece.text.strip() for row in near for side in (row.before, row.after) for piece in side or ()
    )


def _changed_rows(old: list[str], new: list[str], first_old: int, first_new: int, budget: _Work) -> Iterator[Row]:
    """Return rows for two differing blocks. Lines are laid side by side by likeness, in order."""
    for a, b in _pair_lines(old, new, budget):
        left, right = (old[a] if a is not None else None), (new[b] if b is not None else None)
        before, after = _mark_words(left, right, budget)
        yield Row(
            before=before,
            after=after,
            line_before=None if a is None else first_old + a + 1,
            line_after=None if b is None else first_new + b + 1,
        )


def _pair_lines(old: list[str], new: list[str], budget: _Work) -> list[tuple[int | None, int | None]]:
    if len(old) == len(new) == 1:
        return [(0, 0)]
    words_old, words_new = [_words(line) for line in old], [_words(line) for line in new]
    cost = 8 * len(old) * len(new) + sum(map(len, words_old)) * len(new) + sum(map(len, words_new)) * len(old)
    if not budget.afford(cost):  # keep their order
        return [
            (place if place < len(old) else None, place if place < len(new) else None)
            for place in range(max(len(old), len(new)))
        ]
    # Longest increasing alignment by likeness: a small dynamic programme over the two blocks.
    likeness = [[_likeness(left, right) for right in words_new] for left in words_old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for a in range(len(old) - 1, -1, -1):
        for b in range(len(new) - 1, -1, -1):
            paired = best[a + 1][b + 1] + likeness[a][b] if likeness[a][b] > ALIKE else 0.0
            best[a][b] = max(paired, best[a + 1][b], best[a][b + 1])
    pairs: list[tuple[int | None, int | None]] = []
    a = b = 0
    while a < len(old) or b < len(new):
        if a < len(old) and b < len(new):
            paired = best[a + 1][b + 1] + likeness[a][b] if likeness[a][b] > ALIKE else -1.0
            if paired >= best[a + 1][b] and paired >= best[a][b + 1]:
                pairs.append((a, b))
                a, b = a + 1, b + 1
                continue
            if best[a + 1][b] >= best[a][b + 1]:
                pairs.append((a, None))
                a += 1
            else:
                pairs.append((None, b))
                b += 1
        elif a < len(old):
            pairs.append((a, None))
            a += 1
        else:
            pairs.append((None, b))
            b += 1
    return pairs


def _words(line: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(line) if not word.isspace())


def _likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Return how much two lines share, 0 to 1, by their words (a Dice coefficient)."""
    if not left and not right:
        return 1.0
    return 2 * len(left & right) / (len(left) + len(right))


def _mark_words(
    left: str | None, right: str | None, budget: _Work
) -> tuple[tuple[Piece, ...] | None, tuple[Piece, ...] | None]:
    if left is None:
        return None, (Piece(mark=Mark.NEW, text=_shown(right or "")),)
    if right is None:
        return (Piece(mark=Mark.GONE, text=_shown(left)),), None
    old, new = _WORD.findall(left), _WORD.findall(right)
    alike = skeleton(left) == skeleton(right)  # what differs would not be seen: its characters are named
    shown_old, shown_new = _shown_words(left, old, alike=alike), _shown_words(right, new, alike=alike)
    before: list[Piece] = []
    after: list[Piece] = []
    for tag, a1, a2, b1, b2 in budget.opcodes(old, new):
        mark_old, mark_new = (Mark.SAME, Mark.SAME) if tag == "equal" else (Mark.GONE, Mark.NEW)
        if a1 < a2:
            before.append(Piece(mark=mark_old, text=_with_blanks(shown_old[a1:a2], is_equal=tag == "equal")))
        if b1 < b2:
            after.append(Piece(mark=mark_new, text=_with_blanks(shown_new[b1:b2], is_equal=tag == "equal")))
    return tuple(before), tuple(after)


def _with_blanks(words: Sequence[str], *, is_equal: bool) -> str:
    """Return words as one text; blanks that are all of a change are named."""
    text = "".join(words)
    return text if is_equal or text.strip() else "".join(f"\\u{{{ord(char):04X}}}" for char in text)


def _shown_words(line: str, words: Sequence[str], *, alike: bool = False) -> list[str]:
    """Return the visible form of each word of ``line``. What is hidden is judged in the whole line
    (a joiner between two letters is spelling), and words are compared before this, so that a
    hidden character never equals its own escape written out. ``alike`` names every letter that is not ASCII."""
    hidden = {found.offset for found in find_hidden(line)}
    if alike:
        hidden |= {offset for offset, char in enumerate(line) if not char.isascii()}
    if not hidden and "\r" not in line:
        return list(words)
    shown: list[str] = []
    start = 0
    for word in words:
        shown.append(
            "".join(
                f"\\u{{{ord(char):04X}}}" if start + place in hidden or char == "\r" else char
                for place, char in enumerate(word)
            )
        )
        start += len(word)
    return shown


def _shown(line: str) -> str:
    return escape_hidden(line).replace("\r", "\\u{000D}")
