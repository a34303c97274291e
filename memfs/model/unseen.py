"""What an eye may miss in a text: one list for check, review, the signing screen and browse (ADMISSION 5). Pure.

Hidden code points are :mod:`codepoints`' own and refused everywhere; here is what is shown, and not seen: text that
renders to nothing, long gaps, blanks and letters that look like others.
"""

from __future__ import annotations

import re
from unicodedata import name, normalize

from memfs.model.codepoints import ODD_SPACES
from memfs.model.values import dataclass

GAP_LINES = 8
"""Empty lines in a row that push the rest of a text out of sight."""

WIDE = 500
"""Columns of a line whose end a page hides."""

GAP_BLANKS = 20
"""Blanks in a row that push the rest of a line out of sight."""

_MAX_TOLD = 5  # of one kind

# Letters that pass for Latin ones in common fonts: what people take for each other, not all of Unicode's table.
_SAME = str.maketrans(
    "аеорсухіѕјԁһӏԛԝАВЕКМНОРСТХІЅЈУαορνιυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\u037eօս",
    "aeopcyxisjdhlqwABEKMHOPCTXISJYaopviuxABEZHIKMNOPTYX;ou",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """One thing in a text; ``sentence`` is memfs's own and shows none of the text."""

    kind: str
    line: int  # 1-based
    sentence: str


_PATTERNS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("comment", re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), "an HTML comment, which a rendered page does not show"),
    (
        "folded",
        re.compile(r"<\s*(?:details|summary|template|noscript)\b", re.IGNORECASE),
        "HTML that a page folds away",
    ),
    (
        "invisible-html",
        re.compile(
            r"<[^>\n]{0,200}(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0)", re.IGNORECASE
        ),
        "HTML that a page does not show",
    ),
    (
        "invisible-html",
        re.compile(r"<\s*(?:script|style|iframe|object|svg|math)\b", re.IGNORECASE),
        "HTML that a page does not show as text",
    ),
    (
        "reference",
        re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[^\n]*", re.MULTILINE),
        "a link reference, which a rendered page does not show",
    ),
    (
        "title",
        re.compile(r"\]\([^)\n]{0,300}\s[\"'][^\n]{12,}[\"']\)"),
        "a link title, which shows only under the pointer",
    ),
    (
        "colour",
        re.compile(r"\\(?:color|textcolor|phantom|hphantom)\b"),
        "maths that can be written in the colour of the page",
    ),
    ("gap", re.compile(rf"\n(?:[ \t]*\n){{{GAP_LINES},}}"), "a long gap: the text goes on far below"),
    (
        "wide",
        re.compile(rf"^[^\n]{{{WIDE + 1},}}", re.MULTILINE),
        f"over {WIDE} columns wide: a page hides the end of it",
    ),
    ("gap", re.compile(rf"(?<=\S)[ \t]{{{GAP_BLANKS},}}(?=\S)"), "a long gap: the line goes on far to the right"),
    ("blank", re.compile(f"[{ODD_SPACES}]"), "a blank that is not the usual one"),
)


def find_unseen(text: str) -> list[Unseen]:
    """Return what a reader of ``text`` may miss, at most five of a kind, by line."""
    found: list[Unseen] = []
    for kind, pattern, sentence in _PATTERNS:
        for place, match in enumerate(pattern.finditer(text)):
            if place == _MAX_TOLD:
                break
            start = match.start() + (1 if match.group().startswith("\n") else 0)
            found.append(Unseen(kind=kind, line=text.count("\n", 0, start) + 1, sentence=sentence))
    found += _front_comments(text)
    found += _look_alike_words(text)
    return sorted(found, key=lambda one: (one.line, one.kind))


def _front_comments(text: str) -> list[Unseen]:
    front = text.split("\n---", 1)[0] if text.startswith("---") else ""
    lines = [number for number, line in enumerate(front.split("\n"), 1) if line.lstrip().startswith("#")]
    return [
        Unseen(
            kind="comment", line=number, sentence="a comment in the front matter, which no reader of the memory gets"
        )
        for number in lines[:_MAX_TOLD]
    ]


def _look_alike_words(text: str) -> list[Unseen]:
    """Return words of a Latin text that are written in other letters, and look like Latin words."""
    letters = sum(char.isalpha() for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    if not letters or latin == letters or latin / letters < 0.8:
        return []
    found = []
    for match in re.finditer(r"\w+", text):
        word = match.group()
        if word.isascii() or not word.translate(_SAME).isascii():
            continue
        odd = next(char for char in word if not char.isascii())
        sentence = f"a word that looks like Latin letters: {name_of(odd)}"
        found.append(Unseen(kind="letters", line=text.count("\n", 0, match.start()) + 1, sentence=sentence))
    return found[:_MAX_TOLD]


def compare_looks(old: str, new: str) -> list[str]:
    """Return what an eye misses between two texts: the lines of ``new`` that look as one of ``old`` and are not,
    with the characters that only one of the two has."""
    before, after = old.split("\n"), new.split("\n")
    looks = {skeleton(line): line for line in before if line not in after}
    found = []
    for number, line in enumerate(after, 1):
        was = looks.get(skeleton(line)) if line not in before else None
        if was is not None and was != line:
            gone = "".join(dict.fromkeys(char for char in was if char not in line))
            came = "".join(dict.fromkeys(char for char in line if char not in was))
            names = [*(f"now {name_of(char)}" for char in came[:3]), *(f"was {name_of(char)}" for char in gone[:3])]
            found.append(f"line {number}: looks the same as before and is not ({', '.join(names) or 'blanks differ'})")
    return found


def skeleton(line: str) -> str:
    """Return what ``line`` looks like: equal for two lines that an eye cannot tell apart."""
    folded = normalize("NFKC", line).translate(_SAME)
    return " ".join("".join(char if char.isprintable() else " " for char in folded).split())


def name_of(char: str) -> str:
    """Return a character as code point and name: "U+0430 (Cyrillic small letter a)"."""
    return f"U+{ord(char):04X} ({name(char, 'a character without a name').capitalize()})"
