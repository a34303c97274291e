"""Who wrote what through the server: one JSON line a write, in the user's state folder."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

from memfs.disk.places import Places

_NAME = "audit.jsonl"


def write_audit(places: Places, *, key: str, client: str, tool: str, outcome: str, **facts: Any) -> None:
    """Append one line. Raises OSError: a write that cannot be recorded is not made."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    line = json.dumps({"at": at, "key": key, "client": client, "tool": tool, "outcome": outcome, **facts})
    os.makedirs(places.state, mode=0o700, exist_ok=True)
    with open(places.state / _NAME, "a", encoding="ascii", opener=_open_private) as file:
        file.write(line + "\n")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
