"""Pieces of sources: what one file says, cut where its headings are, as candidates for memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from importlib.resources import files

from memfs.model.evidence import find_date
from memfs.model.lenient import ForeignDocument
from memfs.model.memory import FrontValue, Heading
from memfs.model.parts import PartedText
from memfs.model.values import dataclass, field

WHOLE_BYTES = 8 * 1024
WHOLE_HEADINGS = 8
"""A note with more bytes or headings is cut at its headings."""

MAX_SECTIONS = 500
"""A file with more is not cut: each section would become a memory."""

_DATES = ("modified", "recorded", "date", "created", "date created", "created_at", "updated", "updated_at", "timestamp")
_TEMPLATE = re.compile(r"\{\{[^}\n]{1,80}\}\}|<%[^\n]{1,80}%>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One piece that may become a memory. ``path`` is that of the source, ``part`` the heading it stands under and
    ``line`` where its text begins; ``fields`` are front matter that the source itself gives."""

    path: str
    title: str
    body: str
    line: int = 1
    part: Heading | None = None
    fields: Mapping[str, FrontValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A file, or a line of it, that does not become a memory, and why."""

    path: str
    reason: str
    line: int | None = None


Piece = Candidate | LeftOut


def why_never(path: str) -> str | None:
    """Return why the file at ``path`` is never a memory, None where it may be one."""
    return next((reason for pattern, reason in _never() if pattern.search(path)), None)


@cache
def _never() -> tuple[tuple[re.Pattern[str], str], ...]:
    text = files("memfs.importing").joinpath("data/never.txt").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return tuple((re.compile(pattern, re.IGNORECASE), reason) for pattern, reason in rows)


def note(path: str, document: ForeignDocument, raw: bytes, fields: Mapping[str, FrontValue]) -> Iterator[Piece]:
    """Yield one note: whole where it is short, else cut at its headings."""
    title = text_of(document.front, "title", "name") or heading_of(document.body) or name_of(path)
    body = without_heading(document.body)
    common = {**common_fields(document.front), **fields}
    if _TEMPLATE.search(body):
        yield LeftOut(path=path, reason="a template")
    elif not body or (len(raw) <= WHOLE_BYTES and document.body.count("\n#") <= WHOLE_HEADINGS):
        yield whole(path, title, body, line_of_body(raw, body), common)
    else:
        yield from sections(path, raw, common)


def whole(path: str, title: str, body: str, line: int, fields: Mapping[str, FrontValue]) -> Piece:
    """Return a file as one candidate; left out where it has no text."""
    if not body:
        return LeftOut(path=path, reason="it has no text")
    return Candidate(path=path, title=title, body=body, line=line, fields=fields)


def sections(path: str, raw: bytes, fields: Mapping[str, FrontValue]) -> Iterator[Piece]:
    """Yield a candidate for each section of a Markdown file, at the level where it has several."""
    text = PartedText(path, raw)
    found = text.sections
    levels = [level for level in range(1, 7) if sum(one.level == level for one in found) > 1]
    cut = [one for one in found if one.level == levels[0]] if levels else found[:1]
    if len(cut) > MAX_SECTIONS:
        yield LeftOut(
            path=path, reason=f"it has {len(cut)} sections; more than {MAX_SECTIONS} are not notes of a person"
        )
        return
    if not cut:
        body = "\n".join(text.lines).strip("\n")
        yield Candidate(path=path, title=name_of(path), body=body, fields=fields)
        return
    for one in cut:
        body = "\n".join(text.lines[one.first : one.last]).strip("\n")
        body = re.sub(r"\A(?:=+|-+)[ \t]*\n", "", body).strip("\n")
        first = next((n + 1 for n in range(one.first, one.last) if text.lines[n].strip()), one.first)
        if not without_heading(body):
            yield LeftOut(path=path, line=one.first, reason="a heading without text")
        else:
            part = Heading(title=one.title)
            yield Candidate(path=path, title=one.title, body=body, line=first, part=part, fields=fields)


def common_fields(front: Mapping[str, FrontValue]) -> dict[str, FrontValue]:
    """Return tags and the day that a foreign file gives."""
    found: dict[str, FrontValue] = {}
    tags = [*texts_of(front, "tags"), *texts_of(front, "aliases"), *texts_of(front, "type")]
    if tags:
        found["tags"] = tuple(dict.fromkeys(clean for tag in tags if (clean := tag.strip().lstrip("#")[:64])))
    for name in _DATES:
        day = read_day(text_of(front, name))
        if day is not None:
            found["recorded"] = day.isoformat()
            break
    return found


def read_day(text: str) -> date | None:
    """Return the day at the start of ``text`` (``2026-07-26``, with or without a time), None for anything else."""
    return find_date(text[:10]) if text[10:11] in ("", " ", "T") else None


def text_of(front: Mapping[str, FrontValue], *names: str) -> str:
    """Return the first of the named fields that is a text, on one line; "" where none is."""
    values = (front.get(name) for name in names)
    return next((" ".join(value.split()) for value in values if isinstance(value, str) and value.strip()), "")


def texts_of(front: Mapping[str, FrontValue], name: str) -> tuple[str, ...]:
    """Return a field as a list: of its items, or of what stands between commas (outside braces)."""
    value = front.get(name, ())
    parts = value if isinstance(value, tuple) else _split(value)
    return tuple(part.strip() for part in parts if part.strip())


def _split(value: str) -> list[str]:
    """Return what stands between the commas of ``value`` that are not in braces."""
    parts, in_braces = [""], False
    for piece in re.findall(r"[^,{}]+|[,{}]", value):
        in_braces = piece == "{" or (in_braces and piece != "}")
        if piece == "," and not in_braces:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def heading_of(body: str) -> str:
    """Return the heading that ``body`` begins with, "" where it does not."""
    found = re.match(r"\s*#{1,6}[ \t]+(\S[^\n]*)", body)
    return " ".join(found[1].rstrip(" \t#").split()) if found else ""


def without_heading(body: str) -> str:
    """Return ``body`` without the headings at its start and the blank lines around it."""
    return re.sub(r"\A(?:\s*#{1,6}[ \t][^\n]*(?:\n|\Z))+", "", body).strip("\n")


def name_of(path: str) -> str:
    """Return a file's name as a title."""
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return " ".join(re.sub(r"[_\-]+", " ", stem).split()) or stem


def line_of_body(raw: bytes, body: str) -> int:
    """Return the line of the file on which ``body`` begins."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    at = text.find(body.split("\n", 1)[0])
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
