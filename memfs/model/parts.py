"""Parts of files that memories rest on, in a normal form: blanks, line ends and comments do not count. Pure.

What a comment is depends on the file's name. A scanner that is unsure takes text for content: a change
too many is told rather than one too few.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from memfs.model.memory import Heading, Lines, Part
from memfs.model.values import dataclass

MAX_BYTES = 2 * 1024 * 1024
"""Largest file whose parts are looked for."""

_MAX_STEPS = 600_000  # windows of lines that are compared with a digest

_COMMENTS = {
    "#": "py pyi sh bash zsh fish rb pl r jl yaml yml toml cfg conf tf hcl mk cmake ex exs nix ps1 graphql properties"
    " makefile dockerfile justfile gemfile rakefile .gitignore .dockerignore .env .editorconfig",
    "//": "c h cc cpp cxx hpp hh cs java js jsx mjs cjs ts tsx mts cts go rs swift kt kts scala dart php proto groovy"
    " gradle scss less jsonc json5 zig sol",
    "--": "sql lua hs elm adb ads",
    ";": "ini clj cljs cljc lisp el scm asm",
    "<!--": "md markdown mdx html htm xml svg vue svelte",
    "/*": "css",
}
"""What starts a comment, and the file names or extensions where it does."""

_QUOTED = r'"(?:\\.|[^"\\\n])*(?:"|$)' + r"|'(?:\\.|[^'\\\n])*(?:'|$)"
_TRIPLE = '"""(?:\\\\.|[^\\\\])*?(?:"""|\\Z)' + "|'''(?:\\\\.|[^\\\\])*?(?:'''|\\Z)"
_TEMPLATE = r"`(?:\\.|[^`\\])*(?:`|\Z)"
_BLOCK = r"/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"
_SCANNERS = {
    # Group 1 is content that looks like a comment; what matches outside of it is one.
    "#": rf"({_TRIPLE}|{_QUOTED})|(?:^|(?<=\s))#[^\n]*",
    "//": rf"({_TRIPLE}|{_TEMPLATE}|{_QUOTED})|{_BLOCK}|(?:^|(?<=[\s;{{}}),]))//[^\n]*",
    "--": rf"({_QUOTED})|(?:^|(?<=[\s;)]))--[^\n]*",
    ";": rf"({_QUOTED})|(?:^|(?<=\s));[^\n]*",
    "<!--": r"(```.*?(?:```|\Z)|`[^`\n]*`)|<!--.*?(?:-->|\Z)",
    "/*": rf"({_QUOTED})|{_BLOCK}",
}
_SCANNER_OF = {ending: mark for mark, endings in _COMMENTS.items() for ending in endings.split()}
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*)|)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A Markdown section: its title with single blanks, and its first and last line, counted from 1."""

    title: str
    level: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a part is: ``same`` says whether its normal form is the one that was recorded."""

    lines: Lines
    same: bool


class PartedText:
    """One file's text, ready to be asked for its parts."""

    def __init__(self, name: str, raw: bytes) -> None:
        text = raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
        self.lines = text.split("\n")
        self._normal = ["".join(line.split()) for line in _without_comments(name, text).split("\n")]

    @cached_property
    def sections(self) -> list[Section]:
        """The sections of a Markdown text."""
        return list(_find_sections(self.lines))

    @cached_property
    def _titled(self) -> dict[str, list[Section]]:
        found: dict[str, list[Section]] = {}
        for one in self.sections:
            found.setdefault(one.title, []).append(one)
        return found

    def digest(self, lines: Lines) -> str | None:
        """Return the SHA-256 of the normal form of ``lines``; None where nothing but blanks and comments is there."""
        normal = "".join(self._normal[lines.first - 1 : lines.last])
        return _digest(normal) if normal else None

    def place(self, part: Part) -> Lines | None:
        """Return the lines that ``part`` names now; of several sections with one title the first."""
        if isinstance(part, Heading):
            return next((_lines_of(one) for one in self._titled.get(part.title, ())), None)
        return part if part.last <= len(self.lines) else None

    def find(self, part: Part, digest: str) -> Found | None:
        """Return where ``part`` is now, None where the file contains nothing of that name.

        Lines are found again wherever they are in the file.
        """
        if isinstance(part, Heading):
            places = [_lines_of(one) for one in self._titled.get(part.title, ())]
            for place in places:
                if (self.digest(place) or "").startswith(digest):
                    return Found(lines=place, same=True)
            return Found(lines=places[0], same=False) if places else None
        if (self.digest(part) or "").startswith(digest):
            return Found(lines=part, same=True)
        again = self._find_again(part, digest)
        if again is not None:
            return Found(lines=again, same=True)
        last = min(part.last, len(self.lines))
        return Found(lines=Lines(first=min(part.first, last), last=last), same=False)

    def _find_again(self, part: Lines, digest: str) -> Lines | None:
        filled = [place for place, line in enumerate(self._normal) if line]
        # Lines may be wrapped in another way; twice as many is enough for that.
        width = 2 * (part.last - part.first + 1)
        starts: Sequence[int] = range(len(filled))
        if len(filled) * width > _MAX_STEPS:  # then the nearest ones
            starts = sorted(starts, key=lambda start: abs(filled[start] + 1 - part.first))[: _MAX_STEPS // width]
        for start in starts:
            running = hashlib.sha256()
            for end in range(start, min(start + width, len(filled))):
                running.update(_encode(self._normal[filled[end]]))
                if running.hexdigest().startswith(digest):
                    return Lines(first=filled[start] + 1, last=filled[end] + 1)
        return None


def _lines_of(section: Section) -> Lines:
    return Lines(first=section.first, last=section.last)


def _digest(normal: str) -> str:
    return hashlib.sha256(_encode(normal)).hexdigest()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _without_comments(name: str, text: str) -> str:
    """Return ``text`` without its comments, in as many lines."""
    base = name.rsplit("/", 1)[-1].casefold()
    mark = _SCANNER_OF.get(base) or _SCANNER_OF.get(base.rpartition(".")[2])
    if mark is None:
        return text
    flags = re.MULTILINE | re.DOTALL

    def keep(found: re.Match[str]) -> str:
        return found[0] if found[1] is not None else "\n" * found[0].count("\n")

    return re.sub(_SCANNERS[mark], keep, text, flags=flags)


def _find_sections(lines: Sequence[str]) -> Iterator[Section]:
    starts = [len(lines) + 1] * 7  # of the nearest heading below, by level: of that level or a higher one
    found = []
    for title, level, first in reversed(list(_find_headings(lines))):
        found.append(Section(title=title, level=level, first=first, last=starts[level] - 1))
        starts[level:] = [first] * (7 - level)
    yield from reversed(found)


def _find_headings(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    fence = ""
    for number, line in enumerate(lines, 1):
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0]):
                fence = ""
            continue
        if fence:
            continue
        if found := _HEADING.fullmatch(line):
            if title := _title_of(found[2] or ""):
                yield title, len(found[1]), number
        elif (found := _UNDERLINE.fullmatch(line)) and number > 1 and _is_paragraph(lines[number - 2]):
            yield " ".join(lines[number - 2].split()), 1 if found[1][0] == "=" else 2, number - 1


def _title_of(text: str) -> str:
    """Return the text of a heading without the number signs that may close it, with single blanks."""
    text = text.rstrip(" \t")
    open_part = text.rstrip("#")
    return " ".join((open_part if open_part.endswith((" ", "\t")) else text).split())


def _is_paragraph(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("    ", "\t")) and not re.match(r" {0,3}(?:[#>]|[-*+] )", line)
