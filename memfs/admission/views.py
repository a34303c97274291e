"""What a text says once its wrapping is taken off (ADMISSION 2). Pure.

A view is the text as something that reads it might see it: look-alikes folded, emphasis removed,
entities and percent signs decoded, runs of base64 and hex decoded once, and, beside a word for a
credential only, reversed and with its broken pieces joined. Every view knows where its text stands
in the original, so that a finding has a place and no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from memfs.admission.folding import fold_characters
from memfs.admission.lazy import lazy
from memfs.model.codepoints import find_hidden
from memfs.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One reading of a text. ``places[i]`` is where character ``i`` is in the original; None: the same place."""

    name: str
    text: str
    places: Sequence[int] | Callable[[], Sequence[int]] | None = None  # a callable: worked out at the first hit
    known_forms_only: bool = False  # so far from the original that only a credential's own form counts
    orders: bool = True  # whether it is read as sentences

    def place(self, offset: int) -> int:
        if self.places is None:
            return offset
        places = self.places() if callable(self.places) else self.places
        return places[min(offset, len(places) - 1)] if places else 0

    def read_as(self, name: str, text: str, places: Iterable[int], **more: bool) -> View:
        """Return what this view says, read in another way; ``places`` are in this view."""
        return View(name=name, text=text, places=[self.place(offset) for offset in places], **more)


_MARKUP = lazy(
    r"\*{1,3}|~~|`+|</?(?:b|i|u|em|strong|code|span|wbr|br|sup|sub|mark|a)\b[^>\n]{0,200}>|<!---->|"
    r"\\(?=[_*`~#.\-!\[\](){}])"
)
# Only where it stands inside a word does markup hide anything from a rule about tokens.
_MARKUP_INSIDE = lazy(r"\w(?:\*{1,3}|~~|`+|</?[a-z][^>\n]{0,200}>|<!---->|\\[_*`~#.\-!\[\](){}])+\w")
_ENCODED = lazy(
    r"%(?P<percent>[0-9A-Fa-f]{2})|&#(?P<decimal>\d{1,7});?|&#[xX](?P<hex>[0-9A-Fa-f]{1,6});?|"
    r"&(?P<named>amp|lt|gt|quot|apos|nbsp|sol|lowbar|colon|equals|commat|period|hyphen|dash|num|plus);"
    r"|\\u\{?(?P<u>[0-9A-Fa-f]{4,6})\}?|\\x(?P<x>[0-9A-Fa-f]{2})|=(?P<qp>[0-9A-F]{2})(?=(?:=[0-9A-F]{2})+)"
)
_NAMED = {
    "amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "sol": "/", "lowbar": "_", "colon": ":",
    "equals": "=",
    "commat": "@", "period": ".", "hyphen": "-", "dash": "-", "num": "#", "plus": "+",
}  # fmt: skip
_BASE64 = lazy(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,100000}={0,2}(?![A-Za-z0-9+/_-])")
_WRAPPED_BASE64 = lazy(r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{48,96}[ \t]*\\?\n[ \t>]*){1,400}[A-Za-z0-9+/]{0,96}={0,2}")
_LONG = lazy(r"[A-Za-z0-9+/_-]{24}")
_LONGER = lazy(r"[A-Za-z0-9+/]{48}")  # a whole line of wrapped base64
_PAIRS = lazy(r"(?:[0-9a-fA-F]{2}[ :]){6}")
_HEX = lazy(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-fA-F]{2}[ :]?){12,4000}(?![0-9A-Za-z])")
_BACKWARDS = ("backwards", "in reverse", "read this reversed", "right to left", "rückwärts", "l'envers", "al revés")
_ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"
)
_TAGS = lazy("[\U000e0020-\U000e007e]{2,}")


def _rewritten(text: str, pattern: re.Pattern[str], rewrite: Callable[[re.Match[str]], str]) -> tuple[str, list[int]]:
    """Return ``text`` with each match written anew, and the place in ``text`` of each character."""
    pieces: list[str] = []
    places: list[int] = []
    start = 0
    for match in pattern.finditer(text):
        new = rewrite(match)
        pieces += (text[start : match.start()], new)
        places += range(start, match.start())
        places += [match.start()] * len(new)
        start = match.end()
    pieces.append(text[start:])
    places += range(start, len(text))
    return "".join(pieces), places


def _folded(text: str) -> View | None:
    if text.isascii():
        return None
    hidden = {found.offset for found in find_hidden(text)}
    kept = [offset for offset in range(len(text)) if offset not in hidden] if hidden else None
    visible = text if kept is None else "".join(text[offset] for offset in kept)
    plain = fold_characters(visible)
    return None if plain == text else View(name="folded", text=plain, places=kept)


def _plain(view: View) -> View | None:
    if not _MARKUP_INSIDE.search(view.text):
        return None
    return view.read_as("plain", *_rewritten(view.text, _MARKUP, lambda _: ""))


def _decoded_character(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    digits = match.group(kind)
    if kind == "named":
        return _NAMED[digits]
    codepoint = int(digits, 10 if kind == "decimal" else 16)
    return chr(codepoint) if 0x20 <= codepoint < 0xD800 or 0xE000 <= codepoint < 0x110000 else " "


def _unescaped(view: View) -> View | None:
    if not any(char in view.text for char in "%&\\=") or not _ENCODED.search(view.text):
        return None
    return view.read_as("unescaped", *_rewritten(view.text, _ENCODED, _decoded_character))


def _decoded(view: View) -> Iterator[View]:
    from memfs.admission.secrets import decode_base64

    is_long = _LONG.search(view.text) is not None
    if not is_long and not _PAIRS.search(view.text):
        return
    wrapped = is_long and _LONGER.search(view.text) is not None
    for pattern in (_BASE64, _WRAPPED_BASE64)[: is_long + wrapped]:
        for match in pattern.finditer(view.text):
            run = re.sub(r"[\s>\\]", "", match.group())
            plain = decode_base64(run)
            if plain is not None and len(plain) >= 12:
                yield view.read_as("base64", plain, [match.start()] * len(plain))
    for match in _HEX.finditer(view.text):
        run = re.sub(r"0x|[ :]", "", match.group())
        try:
            plain = bytes.fromhex(run).decode("ascii")
        except ValueError:
            continue
        if plain.isprintable():
            yield view.read_as("hex", plain, [match.start()] * len(plain))


def _tags(text: str) -> Iterator[View]:
    for match in _TAGS.finditer(text):
        plain = "".join(chr(ord(char) - 0xE0000) for char in match.group())
        yield View(name="tags", text=plain, places=[match.start()] * len(plain))


_SPACED = lazy(
    r"(?<![\w])(?:[^\W_][ .\-_*|]){4,}[^\W_](?![\w])(?:(?:\s{2,}|[ .\-_*|]{2,})(?:[^\W_][ .\-_*|])+[^\W_](?![\w]))*"
)
_GAP = lazy(r"[ .\-_*|]{2}")
_LEET = lazy(r"[A-Za-z][013457@$!|][A-Za-z]|\b[013457@$][A-Za-z]{2}")
_HEX_WORD = lazy(r"[0-9a-f]{6,64}(?![^\W_])")  # a commit or a digest, no word in disguise
_LEET_LETTERS = str.maketrans("013457@$!|", "oieastasil")


_OTHER_SCRIPT = lazy(r"[\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13fd\uab70-\uabbf\U0001d400-\U0001d7ff]")
_LATIN = lazy(r"[A-Za-z\u00c0-\u024f]")
_WORDS = lazy(r"[^\W\d_]{2,}")


def find_mixed_word(text: str) -> int | None:
    """Return where the first word stands that mixes Latin with Cyrillic, Greek, Armenian, Cherokee or
    mathematical letters; None when there is none. A unit such as ``µs`` or ``Δt`` is not such a word."""
    for match in _WORDS.finditer(text):
        word = match.group()
        if not word.isascii() and len(word) > 2 and _LATIN.search(word) and _OTHER_SCRIPT.search(word):
            return match.start()
    return None


def find_stacked_marks(text: str) -> int | None:
    """Return where more than three combining marks stand in a row; None when they do not."""
    from unicodedata import combining

    run = 0
    for offset, char in enumerate(text):
        run = run + 1 if char > "\u02ff" and combining(char) else 0
        if run > 3:
            return offset - 3
    return None


def _spaced(view: View) -> Iterator[View]:
    """Letters set apart: ``i g n o r e   a l l``."""
    match = _SPACED.search(view.text)
    if match is None:
        return
    text, places = "", list[int]()
    dotted = sum(char in ".-_*|" for char in match.group()) > match.group().count(" ")
    for at, char in enumerate(match.group(), match.start()):
        if char.isalnum():
            text += char
        elif text and text[-1] != " " and (char == " " if dotted else _GAP.match(view.text, at)):
            text += " "
        else:
            continue
        places.append(at)
    places += range(match.end(), len(view.text))
    yield view.read_as("spaced", text + view.text[match.end() :], places)


_PIECE = lazy(r"[A-Za-z0-9_+/=.-]{2,400}")
_MOST_JOINED = 200  # broken tokens that are put together in one text
_BETWEEN = lazy(
    r"(?:[\s\"'`“”’()\[\]{},;:|+&>\\*…·-]|\.{2,3}|\b(?:followed by|and then|then|and|plus|und dann|und|"
    r"dann|gefolgt von|puis|et|luego|y|concat(?:enated)?(?: with)?|"
    r"join(?:ed)?(?: with| by)?|continued|continues|second (?:half|part)|first (?:half|part)|rest|part \d|"
    r"half|is|the|with)\b){1,40}",
    re.IGNORECASE,
)


def _looks_random(piece: str) -> bool:
    return sum((any(c.islower() for c in piece), any(c.isupper() for c in piece), any(c.isdigit() for c in piece))) >= 2


def _joined(view: View, starts: re.Pattern[str]) -> Iterator[View]:
    """Yield the pieces of a broken-up token, from where its known beginning stands."""
    text, done, count = view.text, 0, 0
    for match in starts.finditer(text):
        if match.start() < done or count >= _MOST_JOINED:
            continue
        count += 1
        joined, places, at = "", list[int](), match.start()
        while len(joined) < 300 and (piece := _PIECE.match(text, at)):
            body = piece.group()
            if joined and not _looks_random(body):
                break
            joined += body
            places += range(at, at + len(body))
            between = _BETWEEN.match(text, piece.end())
            if between is None:
                break
            at = between.end()
        done = at
        if joined and places and places[-1] - places[0] >= len(joined):
            # a sentence's stop after the last piece is no part of it
            joined = joined.rstrip(".")
            yield view.read_as("joined", joined, places[: len(joined)], known_forms_only=True, orders=False)


_BLANK = lazy(r"\s{2,}|[\n\t\r\f\v]|[*`]+|~~|(?<=\w)[\"“”]+(?=\w)")


def _flowing(match: re.Match[str]) -> str:
    blank = match.group()
    return "" if not blank.isspace() else "\n\n" if blank.count("\n") > 1 else " "


def flow_of(view: View) -> View:
    """Return ``view`` as running text: lower case, blanks and single line ends one space, paragraphs kept."""
    lowered = view.text.lower()
    if len(lowered) != len(view.text):  # a few letters grow when lowered
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in view.text)

    def places() -> Sequence[int]:
        return [view.place(place) for place in _rewritten(lowered, _BLANK, _flowing)[1]]

    return View(name=view.name, text=_BLANK.sub(_flowing, lowered), places=places)


def unleet(view: View) -> View | None:
    """Return ``view`` with digits read as the letters they look like; None where no word looks so."""
    for match in _LEET.finditer(view.text):
        start = match.start()
        if view.text[start + 1] == "@":  # PATH@COMMIT
            start += 2
        while start and view.text[start - 1].isalnum():
            start -= 1
        if _HEX_WORD.match(view.text, start) is None:
            return View(name="digits as letters", text=view.text.translate(_LEET_LETTERS), places=view.places)
    return None


def views_of(text: str, *, near: Callable[[str], bool], beginnings: re.Pattern[str]) -> Iterator[View]:
    """Yield the views of ``text``, itself first.

    ``near`` says whether a text speaks of credentials; only then is it reversed and are its pieces
    joined, from where ``beginnings`` (the prefixes of known forms) stand.
    """
    raw = View(name="raw", text=text)
    yield raw
    bases = [raw]
    for view in (_folded(text), _plain(raw)):
        if view is not None:
            yield view
            bases.append(view)
    if len(bases) == 3 and (both := _plain(bases[1])) is not None:
        yield both
    for base in list(bases):
        unescaped = _unescaped(base)
        if unescaped is not None:
            yield unescaped
            bases.append(unescaped)
    for base in bases:
        for decoded in _decoded(base):
            yield decoded
            if (again := _plain(decoded) or _unescaped(decoded)) is not None:
                yield again
    if not text.isascii():
        yield from _tags(text)
    yield from _spaced(bases[1] if len(bases) > 1 else raw)
    lowered = text.lower()
    if "rot13" in lowered or "rot-13" in lowered:
        yield View(name="rot13", text=text.translate(_ROT13))
    credentials = near(bases[1].text.lower() if len(bases) > 1 else lowered)
    if credentials:
        for base in bases:
            yield from _joined(base, beginnings)
    backwards = any(word in lowered for word in _BACKWARDS)
    if credentials or backwards:
        last = bases[1] if len(bases) > 1 and bases[1].name == "folded" else raw
        size = len(last.text)
        yield View(
            name="reversed",
            text=last.text[::-1],
            places=lambda: [last.place(size - 1 - offset) for offset in range(size)],
            known_forms_only=True,
            orders=backwards,
        )
