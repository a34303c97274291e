"""Text without what looks like a secret or like personal data, for a reader outside this machine. Pure."""

from __future__ import annotations

import re

from memfs.admission.apply import Hit, find_hits
from memfs.admission.rules import Family
from memfs.model.codepoints import escape_hidden

_ALWAYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+",
    re.DOTALL,
)
"""What goes to nobody outside, also where the gate would let a person record it: keys, however short, and addresses."""

_PRIVATE = (Family.SECRETS, Family.PERSONAL)
_MOST = 100
MASK = "[masked]"
LEFT_OUT = "[left out: too much of it looks private]"


def mask_private(text: str) -> tuple[str, int]:
    """Return ``text`` with :data:`MASK` for each place that the gate would stop as private, and how many there were.

    The rules are asked again until none of them finds anything: what comes back is clean by all of them. A text in
    which they find more than a hundred places is left out as a whole. What nobody can see is written out.
    """
    text, always = _ALWAYS.subn(MASK, escape_hidden(text))
    for count in range(_MOST):
        hit = next(
            (
                hit
                for hit in find_hits(text, prose=False, everything=True, own_text=False, statement=False)
                if hit.rule.family in _PRIVATE
            ),
            None,
        )
        if hit is None:
            return text, count + always
        start, end = _span(text, hit)
        text = text[:start] + MASK + text[end:]
    return LEFT_OUT, _MOST


def _span(text: str, hit: Hit) -> tuple[int, int]:
    """Return the places of ``text`` that a hit covers, out to the next blanks; of a disguised value its whole line."""
    value = hit.value or ""
    if not value or text[hit.offset : hit.offset + len(value)].lower() != value.lower():
        return text.rfind("\n", 0, hit.offset) + 1, _line_end(text, hit.offset)
    start, end = hit.offset, hit.offset + len(value)
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
