"""What an agent's session was given already, so that no prompt, tool call or resume says it again.

One small file a session in the user's state folder, a line a memory as it was shown. Losing it
costs a repetition. Nothing here is trusted and nothing of a repository's text is kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from hashlib import sha256

from memfs.disk.places import Places
from memfs.errors import SetupError

_FOLDER = "sessions"
_KEEP_SECONDS = 7 * 24 * 3600
_MOST_SESSIONS = 64
_LARGEST = 256 * 1024

PROMPTED = "prompted"
"""The mark of a session that was given memories at a prompt: later prompts get less."""

COMPACTED = "compacted"
"""The mark of a session whose context was cut: its next prompt gets the brief again."""


class Seen:
    """The record of one session, or of one subagent in it; without a session it remembers nothing."""

    __slots__ = ("_path", "_places", "marks")

    def __init__(self, places: Places, agent: str, session: str, subagent: str = "") -> None:
        self._places = places
        name = sha256("\0".join((agent, session, subagent)).encode("utf-8", "replace")).hexdigest()[:32]
        self._path = os.path.join(places.state, _FOLDER, name) if session else ""
        self.marks: frozenset[str] = frozenset(self._read())

    def add(self, marks: Iterable[str]) -> None:
        """Write ``marks`` to the record. A disk that refuses costs a repetition, no error."""
        new = [mark for mark in dict.fromkeys(marks) if mark not in self.marks]
        if not self._path or not new:
            return
        self.marks |= frozenset(new)
        from memfs.disk.private import append_own, make_folder

        try:
            make_folder(self._places, "state", _FOLDER)
            append_own(self._path, "".join(f"{mark}\n" for mark in new).encode("ascii", "replace"))
        except SetupError:
            return

    def clear(self) -> None:
        """Forget the session's record: its agent's context is empty again."""
        self.marks = frozenset()
        if self._path:
            try:
                os.unlink(self._path)
            except OSError:
                return

    def prune(self) -> None:
        """Delete the records of sessions that ended long ago."""
        if not self._path:
            return
        try:
            entries = list(os.scandir(os.path.dirname(self._path)))
            if len(entries) <= _MOST_SESSIONS:
                return
            oldest = time.time() - _KEEP_SECONDS
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
        except OSError:
            return

    def _read(self) -> list[str]:
        if not self._path or not os.path.lexists(self._path):
            return []
        from memfs.disk.private import read_own

        try:
            return (read_own(self._path, limit=_LARGEST) or b"").decode("ascii", "replace").split("\n")
        except SetupError:
            return []
