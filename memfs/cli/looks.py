"""How answers look to a person at a terminal: width, colour, glyphs. Programs and pipes get plain lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.cli.parser import terminal_width
from memfs.model.memory import State

if TYPE_CHECKING:
    from memfs.cli.session import Session

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

    def fit(self, text: str, room: int) -> str:
        """Return ``text`` cut to ``room`` columns, with … where something is missing."""
        from rich.cells import cell_len, set_cell_size

        if cell_len(text) <= room:
            return text
        return set_cell_size(text, max(0, room - 1)).rstrip() + "…" if room > 1 else ""

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text
