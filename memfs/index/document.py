"""From a memory file to what is indexed of it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from memfs.index.tokenizer import Forms, tokens

if TYPE_CHECKING:
    from memfs.model.memory import FrontValue, MemoryFile

_TITLE_WEIGHT = 2  # how often the title and the id's words are repeated (RETRIEVAL 2)
_MAX_EMBEDDED = 2_000  # characters; the models read 256 to 512 word pieces
_SIGNATURE = re.compile(
    r"\s*(?:export |public |private |protected |static |async |pub |@\w[^\n]*\n\s*)*"
    r"(?:def|class|func|fun|fn|function|interface|struct|impl|trait|enum|CREATE (?:TABLE|FUNCTION|INDEX))\s+\w+.*[({:]"
)
_WORDS = ("title", "name", "description", "tags", "applies_to")


def is_code(file: MemoryFile) -> bool:
    """Return whether the body of ``file`` is a piece of code: its first line declares something."""
    return file.document is not None and _SIGNATURE.match(file.document.body) is not None


def indexable_text(file: MemoryFile) -> str:
    """Return the text of ``file`` that can be searched: title, tags, ``applies_to``, the words of
    the id, ``name`` and ``description`` of other tools' files, and the body. Of code the first line is a
    title. Empty when unreadable."""
    document = file.document
    if document is None:
        return ""
    front = document.front
    title = _text(front, "title") or (document.body.strip().partition("\n")[0] if is_code(file) else "")
    head = [title, file.id.replace("-", " ")] * _TITLE_WEIGHT
    return "\n".join([*head, *(_text(front, key) for key in _WORDS[1:]), document.body])


def embeddable_text(file: MemoryFile) -> str:
    """Return the text of ``file`` that its vector stands for: title and the start of the body."""
    document = file.document
    if document is None:
        return ""
    title = _text(document.front, "title") or _text(document.front, "description")
    return "\n".join(filter(None, [title, document.body.strip()]))[:_MAX_EMBEDDED]


def count_terms(text: str) -> tuple[Mapping[str, int], int]:
    """Return each index term of ``text`` with the number of times it occurs, and how many words it has.

    Other forms of a term count as often as the term itself, and not as words.
    """
    forms: Forms = {}
    found = tokens(text, forms=forms)
    counts = Counter(found)
    for term, others in forms.items():
        for other in others:
            if other not in forms:
                counts[other] = max(counts[other], counts[term])
    return counts, len(found)


def text_key(text: str) -> bytes:
    """Return the 16 bytes that stand for ``text``: the first half of its SHA-256."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def facet_of(file: MemoryFile) -> str:
    """Return one line of what recall must know of ``file`` without its text: the day it was recorded,
    a TAB, and its ``applies_to`` joined by U+001F."""
    memory = file.memory
    if memory is None:
        return ""
    places = (" ".join(place.split()) for place in memory.applies_to)
    return f"{memory.recorded.isoformat()}\t{chr(31).join(places)}"


def _text(front: Mapping[str, FrontValue], key: str) -> str:
    value = front.get(key, "")
    return value if isinstance(value, str) else "\n".join(value)
