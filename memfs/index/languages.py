"""Which language a text is in, and its words without a topic. No model: letters and commonest words.

Each language has a file ``words/LANGUAGE.txt`` that people can read and extend: ``[stop]``, words dropped
from a question; ``[conversation]``, words that steer an agent and ask about nothing; ``[parts]``, words
that compounds are made of. A file is read when a text in its language comes.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

SPACED = ("en", "de", "es", "fr", "it", "pt", "nl")
"""Languages in Latin letters, English first: it is what a text counts as that says nothing else."""

LANGUAGES = (*SPACED, "ru", "zh", "ja")

_LOOKED_AT = 2_000  # characters of a text that its language is told from
_WORDS = re.compile(r"[^\W\d_]+")
_LETTERS = {"de": "ßäöü", "es": "ñ¿¡", "pt": "ãõ", "fr": "œêè", "it": "ìò"}  # what hardly another of them writes
_FEW = 6  # words of a prompt whose language cannot be told
_ENOUGH = 1.5  # votes for another language than English: one word alone may be anything


def is_latin(text: str) -> bool:
    """Return whether at least half of the letters of ``text`` are Latin."""
    if text.isascii():
        return True
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def language_of(text: str) -> str:
    """Return the language that ``text`` is most likely in; English where nothing speaks for another."""
    text = text[:_LOOKED_AT].lower()
    votes: dict[str, float] = {}
    if not text.isascii():
        script = _script_of(text)
        if script:
            return script
        for language, letters in _LETTERS.items():
            if any(letter in text for letter in letters):
                votes[language] = votes.get(language, 0.0) + _ENOUGH
    known = _languages_of_words()
    for word in set(_WORDS.findall(text)):
        languages = known.get(word, "")
        for at in range(0, len(languages), 2):
            language = languages[at : at + 2]
            votes[language] = votes.get(language, 0.0) + 2.0 / len(languages)
    best = max(votes.values(), default=0.0)
    if best < _ENOUGH or votes.get("en", 0.0) >= best:
        return "en"
    return next(language for language in SPACED if votes.get(language) == best)


def _script_of(text: str) -> str:
    """Return the language that the script of ``text`` stands for; "" for Latin and for unknown scripts."""
    letters = [char for char in text if char.isalpha()]
    if 2 * sum(char < "\u0250" for char in letters) >= len(letters):
        return ""
    if any("\u3040" <= char <= "\u30ff" for char in letters):
        return "ja"
    if any("\u3400" <= char <= "\u9fff" for char in letters):
        return "zh"
    return "ru" if any("\u0400" <= char <= "\u04ff" for char in letters) else ""


def fold(word: str) -> str:
    """Return ``word`` without accents."""
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))


@cache
def read_words(language: str) -> dict[str, tuple[str, ...]]:
    """Return the sections of the language's file, each with its words."""
    path = os.path.join(os.path.dirname(__file__), "words", f"{language}.txt")
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                words = sections.setdefault(line.strip("[]\n"), [])
            elif not line.startswith("#"):
                words += line.split()
    return {name: tuple(found) for name, found in sections.items()}


@cache
def stop_words(language: str, *, folded: bool = False) -> frozenset[str]:
    """Return the words of ``language`` without a topic; ``folded``: without accents."""
    words = read_words(language)["stop"]
    return frozenset(map(fold, words)) if folded else frozenset(words)


def is_talk(text: str) -> bool:
    """Return whether ``text`` is a few words of conversation in one language, as "muchas gracias" is."""
    words = text.lower().split()
    words = [word for word in (word.strip(",.!?¡¿…") for word in words) if word]
    return 0 < len(words) <= _FEW and any(_is_talk_in(language, words) for language in LANGUAGES)


def _is_talk_in(language: str, words: Sequence[str]) -> bool:
    known = read_words(language)
    talk = [word in known["conversation"] for word in words]
    return any(talk) and all(here or word in known["stop"] for here, word in zip(talk, words, strict=True))


@cache
def _languages_of_words() -> dict[str, str]:
    """Return for each commonest word of a Latin language the languages that have it, two letters each."""
    known: dict[str, str] = {}
    for language in SPACED:
        words = read_words(language)
        for word in (*words["stop"], *words["conversation"]):
            known[word] = known.get(word, "") + language
    return known
