"""What a statement rests on: the text of one piece of evidence and its value (DESIGN 3). Pure.

::

    evidence = [REPO ":"] PATH "@" COMMIT / COMMIT / URL / "said by " PERSON " on " DATE

A colon always ends the repository's name, so a path with a colon in it is refused.
"""

from __future__ import annotations

import re
from datetime import date

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import find_hidden
from memfs.model.memory import CommitEvidence, Evidence, PathEvidence, SaidEvidence, UrlEvidence

_COMMIT = r"[0-9a-f]{7,64}"
_AT_COMMIT = rf"(?:([^:]*):)?([^:]*)@({_COMMIT})"
_REPO = r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*){0,3}"
_URL = r"[a-z][a-z0-9+.-]*://[^\s/?#]+[^\s]*"
_SAID = r"said by (\S(?:.*\S)?) on ([0-9-]+)"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def parse_date(text: str) -> date:
    """Return the date that ``text`` (``YYYY-MM-DD``) names; raise :class:`InvalidMemoryError` otherwise."""
    try:
        if re.fullmatch(_DATE, text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InvalidMemoryError("must be a date that exists, written YYYY-MM-DD")


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
    found = re.fullmatch(_AT_COMMIT, text)
    if found is None:
        raise InvalidMemoryError(
            "must be PATH@COMMIT, REPO:PATH@COMMIT, a commit, a URL, or “said by PERSON on DATE”",
            hint="a commit is 7 to 64 of the digits 0-9 and a-f",
        )
    repo, path, commit = found.groups()
    if repo is not None and not re.fullmatch(_REPO, repo):
        raise InvalidMemoryError("must name a repository before the colon, like billing or acme/billing")
    return PathEvidence(repo=repo, path=require_path(path), commit=commit)


def format_evidence(evidence: Evidence) -> str:
    """Return the text that :func:`parse_evidence` reads as ``evidence``."""
    match evidence:
        case PathEvidence(path=path, commit=commit, repo=repo):
            return f"{repo}:{path}@{commit}" if repo else f"{path}@{commit}"
        case CommitEvidence(commit=commit):
            return commit
        case UrlEvidence(url=url):
            return url
        case SaidEvidence(person=person, on=on):
            return f"said by {person} on {on.isoformat()}"
