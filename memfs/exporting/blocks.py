"""Blocks of memories in files that agents read, between markers that say what memfs wrote there.

The mark at the start has the SHA-256 of the block's text: what is between the markers and does not fit was edited by
hand, and is never overwritten without being told.
"""

from __future__ import annotations

import re
from hashlib import sha256

from memfs.errors import UsageError
from memfs.model.values import dataclass

_BLOCK = re.compile(r"<!-- memfs:begin ([0-9a-f]{16}) -->\n(.*?)<!-- memfs:end -->\n?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A file that an agent reads. ``head`` is what a new one begins with."""

    name: str
    path: str
    head: str = ""


TARGETS = (
    Target(name="agents", path="AGENTS.md"),
    Target(name="claude", path="CLAUDE.md"),
    Target(name="gemini", path="GEMINI.md"),
    Target(name="copilot", path=".github/copilot-instructions.md"),
    Target(
        name="cursor",
        path=".cursor/rules/memfs.mdc",
        head="---\ndescription: Memories of this repository\nglobs:\nalwaysApply: true\n---\n",
    ),
)
"""The files that ``memfs export`` writes, by the name that it takes."""


class HandEditedError(UsageError):
    """Somebody edited the text between the markers."""


def find_block(text: str) -> str | None:
    """Return the text between the markers in ``text``, None where it has no block."""
    found = _BLOCK.search(text)
    return None if found is None else found[2]


def with_block(text: str, block: str, *, force: bool = False) -> str:
    """Return ``text`` with ``block`` between the markers: in the place of an older one, else at its end.

    Raises :class:`HandEditedError` where the older one was edited by hand, unless ``force``; :class:`UsageError`
    where there are two.
    """
    if "<!-- memfs:" in block:
        raise UsageError("a memory contains memfs's own marker, so it is not exported")
    whole = f"<!-- memfs:begin {_mark(block)} -->\n{block}<!-- memfs:end -->\n"
    found = list(_BLOCK.finditer(text))
    if len(found) > 1 or text.count("<!-- memfs:begin") != len(found):
        raise UsageError("the markers of memfs in this file are not one pair", hint="take them out by hand")
    if not found:
        between = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{between}{whole}"
    (old,) = found
    if _mark(old[2]) != old[1] and not force:
        raise HandEditedError(
            "the text between memfs's markers was edited by hand; nothing was written",
            hint="move your text outside the markers, or overwrite it with --force",
        )
    return f"{text[: old.start()]}{whole}{text[old.end() :]}"


def _mark(block: str) -> str:
    return sha256(block.encode("utf-8", "surrogatepass")).hexdigest()[:16]
