"""Reads the tables of rules in ``data/``: one readable file for each family, which a person can extend. Pure.

A table is lines of ``KEY VALUE``. A line that begins with four blanks continues the one above it, ``#`` begins a
comment, ``let NAME PATTERN`` names a piece that patterns below write as ``<<NAME>>``, and ``default KEY VALUE``
holds for every rule below it. The keys of a rule::

    rule     its name: lower-case words with dashes
    finds    the sentence that a person reads: "the text …"
    family   secrets, personal, authority or transience
    verdict  reject, hold or warn
    fixed    yes: nobody can let it pass
    words    one of these (lower case, separated by |) occurs in every match
    also     and one of these
    near     a match begins at most so many characters before a word
    digits   the text has at least so many digits
    judge    decides whether a match counts: ``_NAME`` of the module that reads the table, and its argument
    find     the regular expression
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from memfs.admission.lazy import lazy
from memfs.admission.rules import Family, Rule, Severity

FOLDER = __file__.rpartition("/")[0] + "/data/"


def read_data(name: str) -> bytes:
    """Return the bytes of a file of ``data/``."""
    data: bytes = __loader__.get_data(FOLDER + name)  # type: ignore[name-defined]
    return data


def read_words(name: str) -> Mapping[str, frozenset[str]]:
    """Return the lists of words in a file of ``data/``, each below a line ``[NAME]``."""
    found: dict[str, frozenset[str]] = {}
    for part in read_data(name).decode().split("\n[")[1:]:
        head, _, body = part.partition("]\n")
        found[head] = frozenset(word for line in body.split("\n") if line[:1] != "#" for word in line.split())
    return found


@cache
def word_lists() -> Mapping[str, frozenset[str]]:
    """Return the lists of ``data/names.txt``."""
    return read_words("names.txt")


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of ``data/patterns.txt``."""
    return _patterns()[name]


def has(name: str, text: str) -> bool:
    """Return whether ``text`` contains that pattern."""
    return pattern(name).search(text) is not None


def begins(name: str, text: str) -> bool:
    """Return whether ``text`` begins with that pattern."""
    return pattern(name).match(text) is not None


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {name: lazy(text) for name, text in _entries("patterns.txt")}


def _entries(name: str) -> Iterator[tuple[str, str]]:
    for line in read_data(name).decode().replace("\n    ", "").split("\n"):
        key, _, value = line.partition(" ")
        if key and key[0] != "#":
            yield key, value


def read_rules(name: str, judges: Mapping[str, Any], *, around: str = "{}") -> tuple[Rule, ...]:
    """Return the rules of a table, in its order, with the functions of a module as ``judges``; ``around`` is put round
    each pattern."""
    pieces: dict[str, str] = {}
    defaults: dict[str, str] = {}
    found: list[dict[str, str]] = []
    for key, value in _entries(name):
        if key == "let":
            piece, _, text = value.partition(" ")
            pieces[f"<<{piece}>>"] = _filled(text, pieces)
        elif key == "default":
            what, _, text = value.partition(" ")
            defaults[what] = text
        elif key == "rule":
            found.append({**defaults, "rule": value})
        else:
            found[-1][key] = value
    return tuple(_rule({**entry, "table": name}, pieces, judges, around) for entry in found)


def _filled(text: str, pieces: Mapping[str, str]) -> str:
    if "<<" in text:
        for piece, filling in pieces.items():
            text = text.replace(piece, filling)
    return text


def _rule(entry: Mapping[str, str], pieces: Mapping[str, str], judges: Mapping[str, Any], around: str) -> Rule:
    judge, _, argument = entry.get("judge", "").partition(" ")
    accepts: Any = judges[f"_{judge}"] if judge else None
    if argument:
        accepts = accepts(argument)
    return Rule(
        name=entry["rule"],
        family=Family(entry["family"]),
        severity=Severity(entry["verdict"]),
        sentence=entry["finds"],
        keywords=_words(entry.get("words")),
        also=_words(entry.get("also")),
        near=int(entry["near"]) if "near" in entry else None,
        digits=int(entry.get("digits", "0")),
        pattern=around.replace("{}", _filled(entry["find"], pieces)),
        accepts=accepts,
        fixed=entry.get("fixed") == "yes",
        table=entry["table"],
    )


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()
