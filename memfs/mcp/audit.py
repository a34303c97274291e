"""Who wrote what through the server: one JSON line a write, in the user's state folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from memfs.disk.places import Places
from memfs.disk.private import append_own, make_folder

_NAME = "audit.jsonl"


def write_audit(places: Places, *, key: str, client: str, tool: str, outcome: str, **facts: Any) -> None:
    """Append one line. Raises SetupError: a write that cannot be recorded is not made."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    line = json.dumps({"at": at, "key": key, "client": client, "tool": tool, "outcome": outcome, **facts})
    append_own(make_folder(places, "state") / _NAME, line.encode("ascii") + b"\n")
