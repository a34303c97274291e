"""What an eye may miss in a text: one list for check, review, the signing screen and browse (ADMISSION 5). Pure.

Hidden code points are :mod:`codepoints`' own and refused everywhere; here is what is shown, and not seen: text that
renders to nothing, long gaps, blanks and letters that look like others.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import islice
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
_MAX_NAMED = 3  # differences of one line

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
    if text.isascii():
        return []
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A line that looks as an older one and is not. ``differences`` name the characters, ``only_blanks`` says that
    no letter is among them, and ``is_ascii`` that the new line has no other character than ASCII's."""

    line: int  # 1-based, in the new text
    column: int
    differences: tuple[str, ...]
    only_blanks: bool
    is_ascii: bool

    @property
    def sentence(self) -> str:
        """What differs, in memfs's own words."""
        words = "only blanks change" if self.only_blanks else "it looks the same as before, and is not"
        more = f" and {len(self.differences) - _MAX_NAMED} more" if len(self.differences) > _MAX_NAMED else ""
        return f"line {self.line}: {words}: {'; '.join(self.differences[:_MAX_NAMED])}{more}"


def find_alike(old: str, new: str) -> list[Alike]:
    """Return the lines of ``new`` that an eye cannot tell from one of ``old``, and that differ; at most five."""
    before, after = (text.replace("\r\n", "\n").split("\n") for text in (old, new))
    kept = set(before) & set(after)
    looks = {skeleton(line): line for line in before if line not in kept and line.strip()}
    pairs = (
        (number, was, line)
        for number, line in enumerate(after, 1)
        if line not in kept and line.strip() and (was := looks.get(skeleton(line))) is not None
    )
    return [_alike(*pair) for pair in islice(pairs, _MAX_TOLD)]


def _alike(number: int, was: str, line: str) -> Alike:
    codes = SequenceMatcher(None, was, line, autojunk=False).get_opcodes()
    parts = [(was[a1:a2], line[b1:b2], b1) for tag, a1, a2, b1, b2 in codes if tag != "equal"]
    return Alike(
        line=number,
        column=parts[0][2] + 1,
        differences=tuple(f"{_named(now)}, was {_named(then)}" for then, now, _ in parts),
        only_blanks=not any(then.strip() or now.strip() for then, now, _ in parts),
        is_ascii=line.isascii(),
    )


def _named(text: str) -> str:
    if not text:
        return "nothing"
    return " ".join(map(name_of, text[:2])) + (f" and {len(text) - 2} more" if len(text) > 2 else "")


def skeleton(line: str) -> str:
    """Return what ``line`` looks like: equal for two lines that an eye cannot tell apart."""
    folded = line if line.isascii() else normalize("NFKC", line).translate(_SAME)
    return " ".join("".join(char if char.isprintable() else " " for char in folded).split())


def name_of(char: str) -> str:
    """Return a character as code point and name: "U+0430 (Cyrillic small letter a)"."""
    return f"U+{ord(char):04X} ({name(char, 'a character without a name').capitalize()})"
