"""The signed record of TRUST 4: one line of text, its grammar, and how it is found in other text.

A record travels as a commit trailer and as a receipt in the tree. Reading is lenient about where it
stands and how it was re-wrapped, and strict about what it says. Pure.
"""

from __future__ import annotations

import hashlib
import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from datetime import date
from enum import StrEnum

from memfs.model.values import dataclass

NAMESPACE = "memory-approval@v1"
KEYWORD = "Memory-Approval:"
MAX_RECORD_BYTES = 8 * 1024
MAX_CANDIDATES = 200
MAX_ITEMS = 64
MAX_SEQ = 999_999_999
COLUMNS = 72

ID_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
PRINCIPAL_PATTERN = r"[a-z0-9._+-]{1,64}@[a-z0-9.-]{1,64}"

_ITEM = re.compile(rf" id=({ID_PATTERN}) seq=([1-9][0-9]{{0,8}}) sha256=([0-9a-f]{{64}})")
_HEAD = re.compile(
    rf"v1 (approve|revoke) repo=([0-9a-f]{{32}}) by=({PRINCIPAL_PATTERN})"
    r" at=([0-9]{4}-[0-9]{2}-[0-9]{2})T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
    r"(?: until=([0-9]{4}-[0-9]{2}-[0-9]{2}))?"
)
_RECEIPT_NAME = re.compile(rf"(?:({ID_PATTERN})\.[1-9][0-9]{{0,8}}|(batch))\.[0-9a-f]{{8}}\.txt")
_QUOTING = b" \t>|*-"
_MAX_QUOTING = 256
_KEYWORD_BYTES = KEYWORD.encode()


class Verb(StrEnum):
    APPROVE = "approve"
    WITHDRAW = "revoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One memory in a statement: its id, the per-id counter, and the digest of the whole file."""

    id: str
    seq: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a person signs. ``at`` is information and decides nothing (TRUST 4)."""

    verb: Verb
    repo: str
    by: str
    at: str
    items: tuple[Item, ...]
    until: date | None = None

    def item(self, memory_id: str) -> Item | None:
        """Return what this statement says about ``memory_id``."""
        for item in self.items:
            if item.id == memory_id:
                return item
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A statement with its signature (an SSHSIG blob, not yet looked at)."""

    statement: Statement
    text: str  # the statement exactly as signed
    signature: bytes
    line: str = ""  # the record on one line, the form that receipts are named by; made from the rest

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", f"{KEYWORD} {self.text} sig={_encode(self.signature)};")

    @property
    def receipt_name(self) -> str:
        """Return the name of this record's receipt, made from its content (TRUST 2)."""
        start = hashlib.sha256(self.line.encode()).hexdigest()[:8]
        if len(self.statement.items) > 1:
            return f"batch.{start}.txt"
        item = self.statement.items[0]
        return f"{item.id}.{item.seq}.{start}.txt"


def parse_statement(text: str) -> Statement:
    """Return the statement that ``text`` is, by the grammar of TRUST 4.

    Raises :class:`ValueError` for anything that :func:`format_statement` would not give back.
    """
    head = _HEAD.match(text)
    if head is None:
        raise ValueError("not a statement of TRUST 4")
    verb, repo, by, day, until = head.groups()
    date.fromisoformat(day)
    items: list[Item] = []
    place = head.end()
    while (found := _ITEM.match(text, place)) is not None:
        items.append(Item(id=found[1], seq=int(found[2]), digest=found[3]))
        place = found.end()
    if place != len(text) or not 1 <= len(items) <= MAX_ITEMS:
        raise ValueError("not a statement of TRUST 4")
    if len({item.id for item in items}) != len(items):
        raise ValueError("a statement names one id twice")
    return Statement(
        verb=Verb(verb),
        repo=repo,
        by=by,
        at=text[head.start(4) : head.start(4) + 20],
        until=date.fromisoformat(until) if until else None,
        items=tuple(items),
    )


def format_statement(statement: Statement) -> str:
    """Return the text of ``statement``. Raises :class:`ValueError` where the grammar has no words for it."""
    until = f" until={statement.until.isoformat()}" if statement.until else ""
    items = "".join(f" id={item.id} seq={item.seq} sha256={item.digest}" for item in statement.items)
    text = f"v1 {statement.verb} repo={statement.repo} by={statement.by} at={statement.at}{until}{items}"
    if parse_statement(text) != statement:
        raise ValueError("the statement does not come back from its text")
    return text


def signed_bytes(text: str) -> bytes:
    """Return what is signed for a statement's text."""
    return f"memory-approval {text}\n".encode("ascii")


def format_record(record: Record) -> str:
    """Return the record folded at 72 columns with one leading space, with its line end.

    The statement is folded between its words; a signature wherever the column is reached.
    """
    lines: list[str] = []
    current = KEYWORD
    for word in [*record.text.split(" "), f"sig={_encode(record.signature)};"]:
        piece = word
        if len(current) + 1 + len(piece) > COLUMNS:
            lines.append(current)
            current = ""
        while 1 + len(piece) > COLUMNS:
            lines.append(f" {piece[: COLUMNS - 1]}")
            piece = piece[COLUMNS - 1 :]
        current = f"{current} {piece}"
    return "\n".join([*lines, current]) + "\n"


def find_records(text: bytes, *, limit: int = MAX_CANDIDATES) -> list[Record]:
    """Return the records in a commit message, a receipt or a pasted comment, in order.

    Looks at ``limit`` candidates at most and at 8 KiB of each; what does not match the grammar
    exactly once white space and quoting are collapsed is not a record.
    """
    found: list[Record] = []
    place = 0
    for _ in range(limit):
        start = text.find(_KEYWORD_BYTES, place)
        if start < 0:
            break
        place = start + len(_KEYWORD_BYTES)
        if not _stands_at_line_start(text, start):
            continue
        end = text.find(b";", place, place + MAX_RECORD_BYTES)
        if end < 0:
            continue
        record = _parse_candidate(text[place:end])
        if record is not None:
            found.append(record)
            place = end + 1
    return found


def receipt_subject(name: str) -> str | None:
    """Return the id that a receipt's file name speaks of, "" for a batch, None for another file."""
    match = _RECEIPT_NAME.fullmatch(name)
    if match is None:
        return None
    return match[1] or ""


def read_receipt(name: str, content: bytes) -> Record | None:
    """Return the record of a receipt: exactly one, in the file that its content names."""
    records = find_records(content, limit=2)
    if len(records) == 1 and records[0].receipt_name == name:
        return records[0]
    return None


def _encode(signature: bytes) -> str:
    return b2a_base64(signature, newline=False).decode("ascii")


def _stands_at_line_start(text: bytes, start: int) -> bool:
    if start == 0:
        return True
    place = max(0, start - _MAX_QUOTING)
    before = text[place:start].rstrip(_QUOTING)
    return (not before and place == 0) or before[-1:] in (b"\n", b"\r")


def _parse_candidate(raw: bytes) -> Record | None:
    lines = raw.replace(b"\r\n", b"\n").split(b"\n")
    unquoted = [lines[0], *(line.lstrip(_QUOTING) for line in lines[1:])]
    try:
        words = b" ".join(b" ".join(unquoted).split()).decode("ascii")
        text, mark, signature = words.partition(" sig=")
        if not mark:
            return None
        encoded = signature.replace(" ", "")
        blob = a2b_base64(encoded, strict_mode=True)
        if _encode(blob) != encoded:  # spare bits set: another spelling of the same bytes
            return None
        return Record(statement=parse_statement(text), text=text, signature=blob)
    except (ValueError, Base64Error):
        return None
