"""Where agents keep their sessions, and which was the last one in a repository."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memfs.capture.transcripts import Transcript, parse_transcript, read_transcript
from memfs.errors import InvalidMemoryError, NotFoundError
from memfs.model.values import replace

_FOLDERS = (
    ".claude/projects/*/*.jsonl",
    ".codex/sessions/*/*/*/rollout-*.jsonl",
    ".gemini/tmp/*/chats/session-*.jsonl",
    ".copilot/session-state/*/events.jsonl",
    ".qwen/projects/*/chats/*.jsonl",
    ".pi/agent/sessions/*/*.jsonl",
)
_OPENCODE = ".local/share/opencode/opencode.db"
_MOST_TRIED = 40


def find_last(home: Path, root: Path) -> Transcript:
    """Return the newest session that an agent had in the repository at ``root``.

    Raises :class:`NotFoundError` where none of the newest was there: what was said elsewhere is not for this place.
    """
    places = [place for pattern in _FOLDERS for place in home.glob(pattern) if place.is_file()]
    newest = sorted(places, key=lambda place: -place.stat().st_mtime_ns)[:_MOST_TRIED]
    found = [(place.stat().st_mtime_ns, place) for place in newest]
    other = _last_of_opencode(home / _OPENCODE, root)
    for when, place in found:
        if other is not None and other[0] > when:
            break
        try:
            transcript = read_session(place)
        except InvalidMemoryError:
            continue
        if is_of(transcript, root):
            return transcript
    if other is not None:
        return other[1]
    raise NotFoundError("no agent had a session in this repository", hint="memfs capture FILE names a transcript")


def read_session(place: Path) -> Transcript:
    """Return the session in ``place``; Gemini keeps the folder that it worked in beside its transcripts.

    Raises :class:`InvalidMemoryError` as :func:`read_transcript`.
    """
    transcript = read_transcript(place)
    beside = place.parent.parent / ".project_root"
    if not transcript.folder and beside.is_file() and not beside.is_symlink():
        return replace(transcript, folder=beside.read_text(encoding="utf-8", errors="replace").strip()[:4096])
    return transcript


def is_of(transcript: Transcript, root: Path) -> bool:
    """Return whether the agent worked in the repository at ``root``."""
    if not os.path.isabs(transcript.folder):
        return False
    return Path(os.path.realpath(transcript.folder)).is_relative_to(os.path.realpath(root))


def _last_of_opencode(database: Path, root: Path) -> tuple[int, Transcript] | None:
    """Return (when, session) of opencode's last one at ``root``: its database as what `opencode export` prints."""
    if not database.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            newest = "SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL ORDER BY 3 DESC LIMIT ?"
            for name, folder, when in connection.execute(newest, (_MOST_TRIED,)).fetchall():
                messages = list(_messages(connection, name))
                raw = json.dumps({"info": {"id": name, "directory": folder}, "messages": messages}).encode()
                transcript = parse_transcript(f"{name}.json", raw)
                if is_of(transcript, root):
                    return int(when) * 1_000_000, transcript
    except (sqlite3.Error, ValueError, TypeError, InvalidMemoryError):
        return None
    return None


def _messages(connection: sqlite3.Connection, session: str) -> Iterator[dict[str, object]]:
    rows = connection.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created", (session,))
    for message, data in rows.fetchall():
        parts = connection.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (message,))
        yield {"info": json.loads(data), "parts": [json.loads(part) for (part,) in parts]}
