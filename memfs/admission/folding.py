"""Look-alikes folded to ASCII, one character for one character (ADMISSION 2, 5). Pure.

Offsets in the folded text are offsets in the original, so that a match can be shown and placed.
"""

from __future__ import annotations

from functools import cache

_DATA = __file__.rpartition("/")[0] + "/data/look-alikes.txt"


class _Folding(dict[int, str]):
    """``str.translate`` table that works out, and keeps, what a character folds to."""

    def __missing__(self, codepoint: int) -> str:
        from unicodedata import decomposition, normalize

        char = chr(codepoint)
        plain = char
        if codepoint > 0x7F and not 0xAC00 <= codepoint <= 0xD7A3:
            compatible = normalize("NFKC", char)
            if len(compatible) > 1 and compatible[0] == " ":  # a spacing accent
                compatible = compatible[1:]
            if len(compatible) == 1:
                plain = self.get(ord(compatible), compatible)
            if ord(plain) > 0x7F and (parts := decomposition(plain)) and not parts.startswith("<"):
                base = chr(int(parts.split()[0], 16))  # é → e
                base = self.get(ord(base), base)
                if base.isascii():
                    plain = base
            if plain.isspace() and plain != "\n":
                plain = " "
        self[codepoint] = plain
        return plain


@cache
def _table() -> _Folding:
    """Return the table: a letter and its look-alikes a line (the attack only works with a few that people confuse)."""
    lines = __loader__.get_data(_DATA).decode().split("\n")[1:]  # type: ignore[name-defined]
    return _Folding({ord(other): line[0] for line in lines if line for other in line[2:].split(" ")})


def fold_characters(text: str) -> str:
    """Return ``text`` of the same length with look-alikes and accents folded to ASCII where there is one."""
    return text if text.isascii() else text.translate(_table())
