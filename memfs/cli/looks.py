"""How answers look to a person at a terminal: width, colour, glyphs. Programs and pipes get plain lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.cli.parser import terminal_width
from memfs.model.memory import State

if TYPE_CHECKING:
    from memfs.cli.session import Session

_INSIDE = re.compile(r"([0-9a-f]{4}\|)(?: (.*))?", re.DOTALL)
GLYPHS = {State.CURRENT: "●", State.UNKNOWN: "○", State.RECHECK: "▲", State.SUPERSEDED: "×", State.EXPIRED: "×"}
_STATE_COLOURS = {
    State.CURRENT: "32",
    State.UNKNOWN: "36",
    State.RECHECK: "33",
    State.SUPERSEDED: "2",
    State.EXPIRED: "31",
}


class Looks:
    """What a terminal can show. ``width`` is in columns."""

    def __init__(self, session: Session) -> None:
        self.color = session.color
        self.width = max(40, terminal_width())

    def dim(self, text: str) -> str:
        return self._styled(text, "2")

    def bold(self, text: str) -> str:
        return self._styled(text, "1")

    def state(self, state: State) -> str:
        """Return the glyph of a state in its colour."""
        return self._styled(GLYPHS[state], _STATE_COLOURS[state])

    def warn(self, text: str) -> str:
        return self._styled(text, "33")

    def bad(self, text: str) -> str:
        return self._styled(text, "1;31")

    def good(self, text: str) -> str:
        return self._styled(text, "32")

    def fit(self, text: str, room: int) -> str:
        """Return ``text`` cut to ``room`` columns, with … where something is missing."""
        from rich.cells import cell_len, set_cell_size

        if cell_len(text) <= room:
            return text
        return set_cell_size(text, max(0, room - 1)).rstrip() + "…" if room > 1 else ""

    def wrap(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        """Return ``text`` in lines of the terminal's width, broken between words where there are any; the first
        begins with ``first``, the others with ``rest``, neither of which has colours yet."""
        from rich.cells import cell_len, chop_cells

        lines: list[str] = []
        line, room, used = "", max(20, self.width - cell_len(first)), 0
        for found in re.findall(r" *[^ ]+| +$", text):
            word, size = found, cell_len(found)
            if used + size > room and line:
                lines.append(line)
                line, used, room, word = "", 0, max(20, self.width - cell_len(rest)), word.lstrip(" ")
                size = cell_len(word)
            if size > room:
                whole = chop_cells(word, room if not lines else min(room, max(20, self.width - cell_len(rest))))
                lines += whole[:-1]
                word, size, room = whole[-1], cell_len(whole[-1]), max(20, self.width - cell_len(rest))
            line, used = line + word, used + size
        lines.append(line)
        return [f"{self.dim(rest if number else first)}{part}" for number, part in enumerate(lines)]

    def frame(self, text: str) -> str:
        """Return framed text for a person: what belongs to the frame is dimmed, and a line that is too long goes on
        behind the same prefix, further in."""
        drawn: list[str] = []
        for line in text.split("\n"):
            inside = _INSIDE.fullmatch(line)
            if inside is None:
                drawn += [self.dim(part) for part in self.wrap(line)]
            else:
                prefix = f"{inside[1]} "
                drawn += self.wrap(inside[2] or "", first=prefix, rest=f"{prefix}  ")
        return "\n".join(line.rstrip() for line in drawn)

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text


def say_frame(session: Session, text: str) -> None:
    """Write framed text as it is, or drawn for a person at a terminal."""
    text = text.rstrip("\n")
    session.say(Looks(session).frame(text) if session.draws else text)


def say_line(session: Session, text: str) -> None:
    """Write one line of the answer; on a terminal the rest of a long one begins further in."""
    if not session.draws:
        session.say(text)
        return
    indent = text[: len(text) - len(text.lstrip(" "))]
    for line in Looks(session).wrap(text.lstrip(" "), first=indent, rest=f"{indent}    "):
        session.say(line)
