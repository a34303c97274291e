"""What was said in a session of an agent: its transcript read into turns. Pure but for reading one file.

One row for each agent in :data:`READERS`. What tools were called with and gave back, what agents told subagents, and
what was put into the conversation by memfs, by hooks or by the agent's own program is left out.
Sources: transcripts that Claude Code 2.1.332, Codex 0.171.0, Gemini CLI 0.61.0, Copilot CLI 1.0.102, opencode
1.18.33, Qwen Code 0.24.4 and pi 0.73.1 wrote here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memfs.errors import InvalidMemoryError
from memfs.model.values import dataclass
from memfs.render.injected import without_injected

MAX_BYTES = 128 * 1024 * 1024
MAX_LINE = 8 * 1024 * 1024
LONGEST_TURN = 8_000
"""Characters of a turn that are kept: its two ends, where it is longer."""

PERSON, AGENT = "person", "agent"

_NOT_TYPED = (
    "# AGENTS.md instructions", "<user_instructions>", "<task-notification>", "<command-name>", "<command-message>",
    "<local-command", "Caveat: ", "This session is being continued from",
)  # fmt: skip
"""Beginnings of texts under the person's name that no person typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What somebody said: ``who`` is :data:`PERSON` or :data:`AGENT`, ``line`` where the transcript has it, from 1."""

    who: str
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One session: which agent wrote it, the name of its file, its bytes, where its agent worked, and its turns."""

    agent: str
    name: str
    raw: bytes
    folder: str
    turns: tuple[Turn, ...]


def read_transcript(place: Path) -> Transcript:
    """Return the session that the file ``place`` records.

    Raises :class:`InvalidMemoryError` for a file that is none of a known agent, that is a link, or that is too large.
    Lines that are not JSON (the last one may be half written) are passed over.
    """
    try:
        fd = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if os.fstat(fd).st_size > MAX_BYTES:
                raise InvalidMemoryError(f"the transcript has more than {MAX_BYTES >> 20} MiB")
            raw = file.read(MAX_BYTES)
    except OSError as error:
        raise InvalidMemoryError(f"the transcript cannot be read: {error.strerror}") from None
    return parse_transcript(place.name, raw)


def parse_transcript(name: str, raw: bytes) -> Transcript:
    """Return the session whose transcript is ``raw``. Raises :class:`InvalidMemoryError` as :func:`read_transcript`."""
    rows = list(_rows(raw))
    for agent, (is_its, read, find_folder) in READERS.items():
        if any(is_its(row) for _, row in rows[:50]):
            turns = tuple(_turns(read(rows)))
            return Transcript(agent=agent, name=name, raw=raw, folder=find_folder(rows), turns=turns)
    raise InvalidMemoryError("this is not the transcript of an agent that memfs knows", hint=", ".join(READERS))


def _rows(raw: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of each line that is a JSON object; of one document that is one, that alone."""
    lines = raw.split(b"\n")
    if raw[:1] == b"{" and len(lines) > 1 and not lines[0].rstrip().endswith(b"}"):
        lines = [raw]
    for number, line in enumerate(lines, 1):
        if len(line) <= MAX_LINE or len(lines) == 1:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                yield number, row


def _turns(said: Iterable[tuple[str, str, int]]) -> Iterator[Turn]:
    for who, whole, line in said:
        text = without_injected(whole).strip()
        if not text or (who == PERSON and text.startswith(_NOT_TYPED)):
            continue
        is_long = len(text) > LONGEST_TURN
        kept = f"{text[: LONGEST_TURN // 2]}\n…\n{text[-LONGEST_TURN // 2 :]}" if is_long else text
        yield Turn(who=who, text=kept, line=line)


Rows = list[tuple[int, dict[str, Any]]]
Said = Iterator[tuple[str, str, int]]
Read = Callable[[Rows], Said]


def _inner(row: Mapping[str, Any], *keys: str) -> Any:
    """Return what lies under ``keys``, None where one of them is missing."""
    value: Any = row
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _texts(content: Any, *kinds: str) -> Iterator[str]:
    """Yield the texts of a message: it is one, or its parts are, of one of these types ("": of none)."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, dict) and part.get("type", "") in kinds else None
        if isinstance(text, str):
            yield text


def _claude(rows: Rows) -> Said:
    for line, row in rows:
        who = {"user": PERSON, "assistant": AGENT}.get(str(_inner(row, "message", "role")))
        if who and row.get("type") in ("user", "assistant") and not row.get("isMeta") and not row.get("isSidechain"):
            yield from ((who, text, line) for text in _texts(_inner(row, "message", "content"), "text"))


def _codex(rows: Rows) -> Said:
    for line, row in rows:
        item = row.get("payload") if row.get("type") == "response_item" else None
        who = {"user": PERSON, "assistant": AGENT}.get(str(_inner(item or {}, "role")))
        if who and _inner(item or {}, "type") == "message":
            content = _inner(item or {}, "content")
            yield from ((who, text, line) for text in _texts(content, "input_text", "output_text"))


def _gemini(rows: Rows) -> Said:
    last = {str(row.get("id")): line for line, row in rows}
    whole = [(line, one) for line, row in rows for one in (row.get("messages") or [row]) if isinstance(one, dict)]
    for line, row in whole:
        who = {"user": PERSON, "gemini": AGENT, "model": AGENT}.get(str(row.get("type")))
        if who and last.get(str(row.get("id")), line) == line:  # a message is written again as it grows
            yield from ((who, text, line) for text in _texts(row.get("content"), "", "text"))


def _copilot(rows: Rows) -> Said:
    for line, row in rows:
        who = {"user.message": PERSON, "assistant.message": AGENT}.get(str(row.get("type")))
        if who and not _inner(row, "data", "agentId"):
            yield from ((who, text, line) for text in _texts(_inner(row, "data", "content")))


def _opencode(rows: Rows) -> Said:
    for line, row in rows:
        for message in row.get("messages") or ():
            who = {"user": PERSON, "assistant": AGENT}.get(str(_inner(message, "info", "role")))
            parts = _inner(message, "parts") if isinstance(message, dict) else None
            typed = [part for part in parts or () if isinstance(part, dict) and not part.get("synthetic")]
            if who:
                yield from ((who, text, line) for text in _texts(typed, "text"))


def _qwen(rows: Rows) -> Said:
    for line, row in rows:
        who = {"user": PERSON, "assistant": AGENT}.get(str(row.get("type")))
        if who:
            yield from ((who, text, line) for text in _texts(_inner(row, "message", "parts"), ""))


def _pi(rows: Rows) -> Said:
    for line, row in rows:
        who = {"user": PERSON, "assistant": AGENT}.get(str(_inner(row, "message", "role")))
        if who and row.get("type") == "message":
            yield from ((who, text, line) for text in _texts(_inner(row, "message", "content"), "text"))


def _first(*keys: str) -> Callable[[Rows], str]:
    """Return what finds the first text under ``keys`` of any row."""
    return lambda rows: next((value for _, row in rows if isinstance(value := _inner(row, *keys), str)), "")


READERS: Mapping[str, tuple[Callable[[Mapping[str, Any]], bool], Read, Callable[[Rows], str]]] = {
    "codex": (lambda row: row.get("type") == "session_meta", _codex, _first("payload", "cwd")),
    "copilot": (lambda row: row.get("type") == "session.start", _copilot, _first("data", "context", "cwd")),
    "pi": (lambda row: row.get("type") == "session" and "version" in row, _pi, _first("cwd")),
    "gemini": (lambda row: "projectHash" in row, _gemini, lambda _rows: ""),
    "opencode": (lambda row: "messages" in row and "info" in row, _opencode, _first("info", "directory")),
    "qwen": (lambda row: "provenance" in row and "parentUuid" in row, _qwen, _first("cwd")),
    "claude-code": (lambda row: "sessionId" in row and "type" in row, _claude, _first("cwd")),
}  # fmt: skip
"""Agent → (whether a row is of its transcripts, what reads them, what finds the folder that it worked in)."""
