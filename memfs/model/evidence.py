"""What a statement rests on: the text of one piece of evidence and its value (DESIGN 3). Pure.

::

    evidence = [REPO ":"] PATH "@blob:" HEX / [REPO ":"] PATH "#" PART "@text:" HEX / [REPO ":"] PATH "@" COMMIT
             / COMMIT / URL / "said by " PERSON " on " DATE
    PART     = "L" NUMBER ["-L" NUMBER] / the heading of a Markdown section

A colon always ends the repository's name, so a path with a colon in it is refused; so is, for a part
of a file, a path with a ``#``.
"""

from __future__ import annotations

import re
from datetime import date

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import find_hidden
from memfs.model.memory import (
    BlobEvidence,
    CommitEvidence,
    Evidence,
    Heading,
    Lines,
    Part,
    PartEvidence,
    PathEvidence,
    SaidEvidence,
    UrlEvidence,
)

DIGITS = 32
"""Digits of the ``@blob:`` and ``@text:`` that memfs writes; it reads 16 and more."""

_COMMIT = r"[0-9a-f]{7,64}"
_HEX = r"[0-9a-f]{16,64}"
_AT_COMMIT = rf"(?:([^:]*):)?([^:]*)@({_COMMIT})"
_AT_BLOB = rf"(?:([^:]*):)?([^:]*)@blob:({_HEX})"
_AT_TEXT = rf"(?:([^:#]*):)?([^:#]*)#(.+)@text:({_HEX})"
_LINES = r"L([1-9][0-9]{0,5})(?:-L([1-9][0-9]{0,5}))?"
_REPO = r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*){0,3}"
_URL = r"[a-z][a-z0-9+.-]*://[^\s/?#]+[^\s]*"
_SAID = r"said by (\S(?:.*\S)?) on ([0-9-]+)"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def find_date(text: str) -> date | None:
    """Return the date that ``text`` (``YYYY-MM-DD``) names, None where it names none that exists."""
    try:
        return date.fromisoformat(text) if re.fullmatch(_DATE, text) else None
    except ValueError:
        return None


def parse_date(text: str) -> date:
    """Return the date as :func:`find_date` does; raise :class:`InvalidMemoryError` where there is none."""
    found = find_date(text)
    if found is None:
        raise InvalidMemoryError("must be a date that exists, written YYYY-MM-DD")
    return found


def require_path(text: str) -> str:
    """Return ``text`` when it is a clean relative POSIX path; raise :class:`InvalidMemoryError` otherwise."""
    parts = text.split("/")
    is_clean = text == text.strip() and all(part.casefold() not in {"", ".", "..", ".git"} for part in parts)
    if not is_clean or "\\" in text or ":" in text or "\n" in text or "\t" in text or find_hidden(text):
        raise InvalidMemoryError("must be a path below the repository's root, with / between its parts")
    return text


def parse_evidence(text: str) -> Evidence:
    """Return the evidence that ``text`` names; raise :class:`InvalidMemoryError` on any other text."""
    if text.startswith("said by "):
        said = re.fullmatch(_SAID, text)
        if said is None or find_hidden(text):
            raise InvalidMemoryError("must be “said by PERSON on YYYY-MM-DD”")
        return SaidEvidence(person=said[1], on=parse_date(said[2]))
    if "://" in text:
        if re.fullmatch(_URL, text) is None or find_hidden(text):
            raise InvalidMemoryError("must be a whole URL without blanks")
        return UrlEvidence(url=text)
    if re.fullmatch(_COMMIT, text):
        return CommitEvidence(commit=text)
    if found := re.fullmatch(_AT_TEXT, text):
        repo, path, part, digest = found.groups()
        return PartEvidence(repo=_require_repo(repo), path=require_path(path), part=parse_part(part), text=digest)
    if found := re.fullmatch(_AT_BLOB, text):
        repo, path, blob = found.groups()
        return BlobEvidence(repo=_require_repo(repo), path=require_path(path), blob=blob)
    if found := re.fullmatch(_AT_COMMIT, text):
        repo, path, commit = found.groups()
        return PathEvidence(repo=_require_repo(repo), path=require_path(path), commit=commit)
    raise InvalidMemoryError(
        "must be PATH@blob:HEX, PATH#PART@text:HEX, PATH@COMMIT, a commit, a URL, or “said by PERSON on DATE”",
        hint="`memfs remember` and `memfs edit` take a plain PATH, and tie it to its content",
    )


def parse_part(text: str) -> Part:
    """Return the part of a file that ``text`` (``L10-L24``, ``L10``, or a heading) names."""
    if lines := re.fullmatch(_LINES, text):
        first, last = int(lines[1]), int(lines[2] or lines[1])
        if last < first or lines[2] == lines[1]:
            raise InvalidMemoryError("must be lines in their order, such as #L10-L24, or one line, such as #L10")
        return Lines(first=first, last=last)
    if text != " ".join(text.split()) or find_hidden(text):
        raise InvalidMemoryError("must be lines such as #L10-L24, or a heading with single blanks in it")
    return Heading(title=text)


def format_part(part: Part) -> str:
    """Return the text that :func:`parse_part` reads as ``part``."""
    match part:
        case Heading(title=title):
            return title
        case Lines(first=first, last=last):
            return f"L{first}" if first == last else f"L{first}-L{last}"


def format_evidence(evidence: Evidence) -> str:
    """Return the text that :func:`parse_evidence` reads as ``evidence``."""
    match evidence:
        case BlobEvidence(blob=blob):
            return f"{place_of(evidence)}@blob:{blob}"
        case PartEvidence(text=digest):
            return f"{place_of(evidence)}@text:{digest}"
        case PathEvidence(commit=commit):
            return f"{place_of(evidence)}@{commit}"
        case CommitEvidence(commit=commit):
            return commit
        case UrlEvidence(url=url):
            return url
        case SaidEvidence(person=person, on=on):
            return f"said by {person} on {on.isoformat()}"


def format_same(evidence: Evidence) -> str | None:
    """Return the text of ``evidence``, None where it would be read back as another one, or not at all."""
    text = format_evidence(evidence)
    try:
        return text if parse_evidence(text) == evidence else None
    except InvalidMemoryError:
        return None


def place_of(evidence: PathEvidence | BlobEvidence | PartEvidence) -> str:
    """Return where ``evidence`` lies: its text up to what ties it."""
    place = f"{evidence.repo}:{evidence.path}" if evidence.repo else evidence.path
    return f"{place}#{format_part(evidence.part)}" if isinstance(evidence, PartEvidence) else place


def _require_repo(repo: str | None) -> str | None:
    if repo is not None and not re.fullmatch(_REPO, repo):
        raise InvalidMemoryError("must name a repository before the colon, like billing or acme/billing")
    return repo
