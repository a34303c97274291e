"""What went wrong in hooks: one short file in the user's state folder."""

from __future__ import annotations

import time

from memfs.disk.places import Places, find_places
from memfs.disk.private import append_own, make_folder, read_own, replace_own
from memfs.errors import SetupError

LARGEST_LOG = 64 * 1024
_LOG_NAME = "hooks.log"


def write_log(places: Places | None, agent: str, what: str) -> None:
    """Append one line to the hooks' log, and keep the log short. A disk that refuses is not an error."""
    said = "".join(character if character.isprintable() else " " for character in what)
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {agent} {said}"[:400] + "\n"
    try:
        path = make_folder(places or find_places(), "state") / _LOG_NAME
        if append_own(path, line.encode("ascii", "backslashreplace")) > LARGEST_LOG:
            kept = read_own(path, limit=2 * LARGEST_LOG) or b""
            replace_own(path, kept[-LARGEST_LOG // 2 :].split(b"\n", 1)[-1])
    except SetupError:
        return
