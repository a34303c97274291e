"""Code points that a person cannot see, or that change what the others look like (ADMISSION 5).

One table for everybody: the gate rejects what :func:`find_hidden` finds, trust refuses to approve
it, and every surface shows it as ``\\u{202E}`` through :func:`escape_hidden`. Pure.

A few invisible code points are real orthography and pass in their context only: the joiners
U+200C and U+200D in scripts that need them and in emoji sequences, one U+FE0F after an emoji, and
the tag characters of the three flags that are spelt with them.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from memfs.model.values import dataclass

_HIDDEN = """
    control character: 0000-0008 000E-001B 001F 007F-0084 0086-009F
    line separator: 000B-000C 001C-001E 0085 2028-2029
    carriage return alone: 000D
    soft hyphen: 00AD
    invisible joiner: 034F
    format character: 0600-0605 06DD 070F 0890-0891 08E2 206A-206F 110BD 110CD 13430-1345F 1BCA0-1BCA3 1D173-1D17A
    text direction control: 061C 200E-200F 202A-202E 2066-2069
    blank letter: 115F-1160 3164 FFA0
    invisible vowel: 17B4-17B5
    variation selector: 180B-180F FE00-FE0F E0100-E01EF
    zero-width space: 200B
    joiner out of place: 200C-200D
    invisible operator: 2060-2065
    blank pattern: 2800
    surrogate: D800-DFFF
    private use: E000-F8FF F0000-10FFFF
    no character: FDD0-FDEF FFFE-FFFF
    byte order mark: FEFF
    unassigned: FFF0-FFF8 E0080-E00FF E01F0-E0FFF
    annotation control: FFF9-FFFB
    sign of damaged text: FFFC-FFFD
    tag character: E0000-E007F
"""
HIDDEN_RANGES: tuple[tuple[int, int, str], ...] = tuple(
    sorted(
        (int(span.partition("-")[0], 16), int(span.rpartition("-")[2], 16), why.strip())
        for why, _, spans in (row.partition(":") for row in _HIDDEN.strip().split("\n"))
        for span in spans.split()
    )
)
"""First and last code point, and what it is, in order. ``find_hidden`` adds what has no assigned
character at all; the odd spaces below are not in it."""

ODD_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Spaces that are stored and matched as U+0020."""

LINE_SEPARATORS = "\r\n\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Everything that some reader takes for the end of a line (``\\r\\n`` counts as one)."""

_STARTS = [first for first, _, _ in HIDDEN_RANGES]
_ZWNJ, _ZWJ, _VS16, _KEYCAP, _BLACK_FLAG = "\u200c", "\u200d", "\ufe0f", "\u20e3", "\U0001f3f4"

# Unassigned code points of these blocks are shown as a box or an ideograph and get characters with
# nearly every version of Unicode; an older Python must not call next year's emoji hidden.
_STILL_GROWING = "\U0001f000-\U0001faff\U00020000-\U0002fffd\U00030000-\U0003fffd"

# Arabic, Syriac, N'Ko and their supplements; the Indic blocks up to Sinhala; Tibetan, Myanmar, Khmer,
# Mongolian, Balinese to Batak; Arabic presentation forms; Indic scripts of plane 1.
_JOINING_SCRIPTS = (
    "\u0620-\u06ff\u0710-\u07fa\u0840-\u085f\u0860-\u08e1\u08e3-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u17d3"
    "\u1820-\u18aa\u1b00-\u1bff\u1cd0-\u1cff\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\uabc0-\uabff\ufb50-\ufdcf"
    "\ufe70-\ufefc\U00010e60-\U00010e7f\U00011000-\U000114df\U00011580-\U000115df\U00011600-\U0001165f"
    "\U0001e900-\U0001e95f"
)
_VIRAMAS = frozenset(
    "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u1039\u103a\u17d2\u1b44\ua9c0"
)
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9-\u21aa\u231a-\u231b\u2328\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934-\u2935\u2b05-\u2b07"
    "\u2b1b-\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa"
    "\U0001f400-\U0001faff"
)
# Emoji 17.0 (emoji-sequences.txt) knows three flags spelt with tags: England, Scotland, Wales.
_TAG_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenCodePoint:
    """One code point that must not be in a memory; ``offset`` counts characters from 0."""

    offset: int
    codepoint: int
    why: str


def _is_in(char: str, ranges: str) -> bool:
    # Ranges as a regular expression has them, compiled where they are first used: joiners and emoji are rare.
    return re.fullmatch(f"[{ranges}]", char) is not None


def _is_orthography(text: str, offset: int) -> bool:
    """Return whether the invisible code point at ``offset`` is real spelling where it stands."""
    char = text[offset]
    before, after = text[offset - 1 : offset], text[offset + 1 : offset + 2]
    if char == _VS16:
        if before in "0123456789#*" and before:
            return after == _KEYCAP
        return _is_in(before, _EMOJI)
    if char not in (_ZWNJ, _ZWJ):
        return False
    if before in _VIRAMAS and after not in (_ZWNJ, _ZWJ):
        return True  # the visible virama and the old chillu letters may end a word
    if _is_in(before, _JOINING_SCRIPTS) and _is_in(after, _JOINING_SCRIPTS):
        return True
    if char == _ZWNJ:  # a Persian ending on a foreign word
        return (_is_in(after, _JOINING_SCRIPTS) and before.isalnum()) or (
            _is_in(before, _JOINING_SCRIPTS) and after.isalnum()
        )
    base = text[offset - 2 : offset - 1] if before == _VS16 else before
    return (_is_in(base, _EMOJI) or 0x1F3FB <= ord(base or "\0") <= 0x1F3FF) and _is_in(after, _EMOJI)


def _why_hidden(char: str) -> str | None:
    codepoint = ord(char)
    if char in "\n\t":
        return None
    place = bisect_right(_STARTS, codepoint) - 1
    _, last, why = HIDDEN_RANGES[place]
    if codepoint <= last:
        return why
    # What is left of the categories Cf and Cn; ``isprintable`` is the table that costs no import.
    if char.isprintable() or char in ODD_SPACES or _is_in(char, _STILL_GROWING):
        return None
    return "unassigned or a format character"


def find_hidden(text: str) -> list[HiddenCodePoint]:
    """Return every code point of ``text`` that ADMISSION 5 rejects, in order.

    ``\\r\\n`` passes, a carriage return alone does not; a byte order mark is reported wherever it
    stands (an importer strips one at the start before asking).
    """
    suspects = {char: why for char in set(text) if not " " <= char <= "~" and (why := _why_hidden(char))}
    if not suspects:
        return []
    found: list[HiddenCodePoint] = []
    flags = [match.span() for match in _TAG_FLAG.finditer(text)] if _BLACK_FLAG in text else []
    for offset, char in enumerate(text):
        if char not in suspects or _is_orthography(text, offset):
            continue
        if char == "\r" and text[offset + 1 : offset + 2] == "\n":
            continue
        if any(start < offset < end for start, end in flags):
            continue
        found.append(HiddenCodePoint(offset=offset, codepoint=ord(char), why=suspects[char]))
    return found


def escape_hidden(text: str, *, single_line: bool = False) -> str:
    """Return ``text`` with every hidden code point written as ``\\u{XXXX}``.

    With ``single_line``, line ends and tabs are written so too: the form for text of a repository
    inside a message.
    """
    pieces: list[str] = []
    start = 0
    for hidden in find_hidden(text):
        pieces += (text[start : hidden.offset], f"\\u{{{hidden.codepoint:04X}}}")
        start = hidden.offset + 1
    pieces.append(text[start:])
    shown = "".join(pieces)
    if single_line:
        shown = shown.replace("\r", "\\u{000D}").replace("\n", "\\u{000A}").replace("\t", "\\u{0009}")
    return shown


_MARKUP = re.compile(r"<(?=[/!?|\\A-Za-z])")


def one_line(text: str) -> str:
    """Return text of a repository as one line for a message: nothing hidden, and no tag that a model could obey."""
    return _MARKUP.sub("\\\\u{003C}", escape_hidden(text, single_line=True))


def folded(text: str) -> str:
    """Return ``text`` so that two texts of the same words are equal, blanks and letters' case aside."""
    return " ".join(text.split()).casefold()


def plain(text: str, *, limit: int = 120) -> str:
    """Return text of a repository as one safe line for a message, cut to ``limit`` characters."""
    escaped = one_line(text[: limit * 2])
    return escaped if len(escaped) <= limit and len(text) <= limit * 2 else escaped[: limit - 1] + "…"
