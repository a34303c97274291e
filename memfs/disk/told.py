"""What a person was told today already, so that a note comes once a day and not each time."""

from __future__ import annotations

from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING

from memfs.disk.private import make_folder, read_own, replace_own
from memfs.errors import SetupError

if TYPE_CHECKING:
    from memfs.disk.places import Places

_NAME = "told"
_MOST = 64 * 1024


def is_news(places: Places, text: str, today: date) -> bool:
    """Return whether ``text`` was not told today, and note that it is told now. Where nothing can be kept, it is."""
    mark = f"{today.isoformat()} {sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    try:
        path = make_folder(places, "state") / _NAME
        raw = read_own(path, limit=_MOST) or b""
        told = [line for line in raw.decode("ascii", "replace").splitlines() if line.startswith(today.isoformat())]
        if mark in told:
            return False
        replace_own(path, "".join(f"{line}\n" for line in (*told, mark)).encode())
    except SetupError:
        pass
    return True
