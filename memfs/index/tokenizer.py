"""From text to index terms (RETRIEVAL 2). Pure; the same for documents and for queries.

A run of word characters joined by ``. - / @ :`` is kept whole, and so are its parts and the pieces
of camelCase and snake_case, so that ``/srv/analysis.ipynb`` and ``getUserName`` are found however
a person types them. Scripts written without spaces become character bigrams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

TOKENIZER_VERSION = 2
"""Part of the index manifest: another tokenizer means another index."""

MAX_QUERY_CHARACTERS = 4_000
"""A longer query is cut here before any work (a pasted log is not a better question)."""

MAX_QUERY_TERMS = 64

_MAX_STEMS = 200_000  # kept in one process
_MAX_TERM = 64  # a longer run is a blob (base64, a minified line), not a word anybody types

# Vowel signs and marks inside words of these scripts are no `\w` for Python.
_MARKS = (
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0711\u0730-\u074a\u0900-\u0dff\u0f71-\u0fbc\u0300-\u036f"
)
_JOINTS = re.compile(r"[.\-/@:]")
_BLOB = re.compile(r"\S{200,}")
# ASCII has patterns of its own: compiling the large classes takes longer than a whole search.
_ASCII_RUN = re.compile(r"\w+(?:[.\-/@:]\w+)*(?:\+\+|#)?", re.ASCII)
_ASCII_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class _Unicode:
    """The patterns for text beyond ASCII, compiled when the first such text comes."""

    def __init__(self) -> None:
        word = f"[\\w{_MARKS}]+"
        emoji = "[\u2600-\u27bf\U0001f000-\U0001faff]"
        self.runs = re.compile(f"{word}(?:[.\\-/@:]{word})*(?:\\+\\+|#)?|{emoji}")
        self.pieces = re.compile(f"[A-Z]+(?![a-z])|[A-Z]?(?:[^\\W\\d_A-Z]|[{_MARKS}])+|\\d+")
        # Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul.
        self.unspaced = re.compile(
            "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
            "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
        )
        # Not the breve of Cyrillic short i, which is a letter.
        self.accents = re.compile("(?<![\u0418\u0438])[\u0300-\u036f]+")
        self.joiners = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


@cache
def _unicode() -> _Unicode:
    return _Unicode()


_ENGLISH = """
a about after again all also am an and any are aren as at be because been before being between both but by can
could couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have
haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more
most my myself no nor not now of off on once only or other our ours ourselves out over own please re s same
she should shouldn so some such t than that the their theirs them themselves then there these they this those
through to too under until up us ve very was wasn we were weren what when where which while who whom why will
with won would wouldn you your yours yourself yourselves let shall may might must
"""
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня
еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять вам ведь там потом
себя ничего ей они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под
будет тогда кто этот того потому этого какой ним здесь этом один почти мой тем чтобы нее были куда зачем всех
при об другой хоть после над больше тот через эти нас про всего них какая какие какого каких каком каким этой
эта это
"""

STOP_WORDS = frozenset(_ENGLISH.split() + _RUSSIAN.split())
"""Dropped from queries, never from documents (RETRIEVAL 2)."""


def tokens(text: str) -> list[str]:
    """Return the index terms of ``text`` in reading order, repetitions kept."""
    found: list[str] = []
    add = found.append
    stem = _stemmer()
    for run in _ASCII_RUN.findall(text) if text.isascii() else _unicode().runs.findall(_fold(text)):
        if run.isalpha() and run.isascii() and (run.islower() or run.istitle()) and len(run) <= _MAX_TERM:
            add(stem(run.lower()))  # the plain word, by far the commonest
        else:
            _add_run(run, add, stem)
    return found


def _add_run(run: str, add: Callable[[str], None], stem: Callable[[str], str]) -> None:
    parts = _JOINTS.split(run)
    if len(parts) > 1 or run[-1] in "+#":
        add(run.lower()[:_MAX_TERM])
        parts[-1] = parts[-1].rstrip("+#")
    for part in parts:
        if part.isascii() or not _unicode().unspaced.search(part):
            _add_word(part, add, stem)
        else:
            _add_unspaced(part, add, stem)


def _add_word(word: str, add: Callable[[str], None], stem: Callable[[str], str]) -> None:
    if not word or len(word) > _MAX_TERM:
        return
    pieces = (_ASCII_PIECES if word.isascii() else _unicode().pieces).findall(word)
    if len(pieces) > 1:
        add(stem(word.lower().strip("_")))
        for piece in pieces:
            add(stem(piece.lower()))
    else:
        bare = word.strip("_").lower()
        if bare:
            add(stem(bare))


def _add_unspaced(part: str, add: Callable[[str], None], stem: Callable[[str], str]) -> None:
    end = 0
    for match in _unicode().unspaced.finditer(part):
        _add_word(part[end : match.start()], add, stem)
        end = match.end()
        run = match.group()
        if len(run) == 1:
            add(run)
        for i in range(len(run) - 1):
            add(run[i : i + 2])
    _add_word(part[end:], add, stem)


def _fold(text: str) -> str:
    # NFKD so that accents and compatibility forms go, NFC so that Hangul and short i come back whole.
    import unicodedata

    patterns = _unicode()
    decomposed = unicodedata.normalize("NFKD", patterns.joiners.sub("", text))
    return unicodedata.normalize("NFC", patterns.accents.sub("", decomposed))


def query_terms(text: str, *, keep_stop_words: bool = False) -> list[str]:
    """Return the distinct terms to look up for ``text``, at most ``MAX_QUERY_TERMS``, in order.

    Works on a bounded part of ``text`` and needs no syntax: every character a person, a log or an
    attacker can type is only text here.
    """
    found = tokens(_BLOB.sub(" ", text[:MAX_QUERY_CHARACTERS]))
    if not keep_stop_words:
        stops = _stemmed_stop_words()
        found = [term for term in found if term not in stops]
    return list(dict.fromkeys(found))[:MAX_QUERY_TERMS]


@cache
def _stemmer() -> Callable[[str], str]:
    from Stemmer import Stemmer

    english, russian = Stemmer("english").stemWord, Stemmer("russian").stemWord
    known: dict[str, str] = {}

    def stem_word(word: str) -> str:
        found = known.get(word)
        if found is None:
            if len(known) > _MAX_STEMS:
                known.clear()
            found = known[word] = str(russian(word) if "\u0400" <= word[:1] <= "\u04ff" else english(word))
        return found

    return stem_word


def stem_words(words: Iterable[str]) -> frozenset[str]:
    """Return the index terms of plain lower-case words without accents, and the words themselves."""
    kept = frozenset(words)
    return frozenset(map(_stemmer(), kept)) | kept


@cache
def _stemmed_stop_words() -> frozenset[str]:
    return stem_words(STOP_WORDS)
