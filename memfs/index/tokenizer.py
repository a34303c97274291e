"""From text to index terms (RETRIEVAL 2). Pure; the same for documents and for queries.

A run of word characters joined by ``. - / @ :`` is kept whole, and so are its parts and the pieces
of camelCase and snake_case, so that ``/srv/analysis.ipynb`` and ``getUserName`` are found however
a person types them. Scripts written without spaces become character bigrams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from memfs.index.languages import fold, language_of, read_words

TOKENIZER_VERSION = 3
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


Forms = dict[str, tuple[str, ...]]
"""Other spellings under which a term is indexed and looked up: by the rules of its language, without accents."""


class Question(NamedTuple):
    """What to look up for a question: its distinct terms in order, and their other forms."""

    language: str
    terms: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]] = {}


def tokens(text: str, *, language: str | None = None, forms: Forms | None = None) -> list[str]:
    """Return the index terms of ``text`` in reading order, repetitions kept.

    ``language`` is that of the text where it is known; other forms of its terms are added to ``forms``.
    """
    language = language or language_of(text)
    found: list[str] = []
    add = found.append
    stem: Callable[[str], str] = _stemmer(language)
    if text.isascii():
        runs = _ASCII_RUN.findall(text)
    else:
        # English and the languages of other scripts write no accents that decide a stem.
        runs = _unicode().runs.findall(_fold(text) if language not in _STEMMERS else _compose(text))
    if language in _STEMMERS:
        stem = _Forms(language, add, {} if forms is None else forms)
    for run in runs:
        if run.isalpha() and run.isascii() and (run.islower() or run.istitle()) and len(run) <= _MAX_TERM:
            add(stem(run.lower()))  # the plain word, by far the commonest
        else:
            _add_run(run, add, stem)
    return [term for term in found if term] if language in _STEMMERS else found


class _Forms:
    """The stem of a word by the rules of its language; notes its other forms and adds its compound's parts."""

    __slots__ = ("add", "english", "forms", "split", "stem")

    def __init__(self, language: str, add: Callable[[str], None], forms: Forms) -> None:
        self.add = add
        self.forms = forms
        self.stem = _stemmer(language)
        self.english = _stemmer("en")
        self.split = _splitter(language)

    def __call__(self, word: str) -> str:
        if word.isascii() and not word.isalpha():
            return word
        plain = fold(word)
        first = fold(self.stem(word))
        others = {self.english(plain), first if plain == word else fold(self.stem(plain))} - {first}
        if others:
            self.forms[first] = tuple(others.union(self.forms.get(first, ())))
        if self.split is not None:
            for part in self.split(plain):
                self.add(self.stem(part))
        return first


def _add_run(run: str, add: Callable[[str], None], stem: Callable[[str], str]) -> None:
    parts = _JOINTS.split(run)
    if len(parts) > 1 or run[-1] in "+#":
        add(fold(run.lower())[:_MAX_TERM])
        parts[-1] = parts[-1].rstrip("+#")
    for part in parts:
        if part.isascii() or not _unicode().unspaced.search(part):
            _add_word(part, add, stem)
        else:
            _add_unspaced(part, add, stem)


def _add_word(word: str, add: Callable[[str], None], stem: Callable[[str], str]) -> None:
    if not word or len(word) > _MAX_TERM:
        return
    is_plain = word.isalpha() and (word.islower() or word.istitle() or word.isupper())
    pieces = () if is_plain else (_ASCII_PIECES if word.isascii() else _unicode().pieces).findall(word)
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


def _compose(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKC", _unicode().joiners.sub("", text))


def parse_question(text: str, *, keep_stop_words: bool = False) -> Question:
    """Return what to look up for ``text``: at most ``MAX_QUERY_TERMS`` terms, without stop words.

    Works on a bounded part of ``text`` and needs no syntax: every character a person, a log or an
    attacker can type is only text here.
    """
    text = _BLOB.sub(" ", text[:MAX_QUERY_CHARACTERS])
    language = language_of(text)
    forms: Forms = {}
    found = tokens(text, language=language, forms=forms)
    if not keep_stop_words:
        stops = terms_of_words(language, "stop")
        found = [term for term in found if term not in stops]
    terms = tuple(dict.fromkeys(found))[:MAX_QUERY_TERMS]
    return Question(language, terms, {term: forms[term] for term in terms if term in forms})


def query_terms(text: str, *, keep_stop_words: bool = False) -> list[str]:
    """Return the distinct terms of :func:`parse_question`, in order."""
    return list(parse_question(text, keep_stop_words=keep_stop_words).terms)


_STEMMERS = {"de": "german", "es": "spanish", "fr": "french", "it": "italian", "pt": "portuguese", "nl": "dutch"}


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    from Stemmer import Stemmer

    own = Stemmer(_STEMMERS.get(language, "english")).stemWord
    russian: Callable[[str], str] | None = None
    known: dict[str, str] = {}

    def stem_word(word: str) -> str:
        nonlocal russian
        found = known.get(word)
        if found is None:
            if len(known) > _MAX_STEMS:
                known.clear()
            if "\u0400" <= word[:1] <= "\u04ff":
                russian = russian or Stemmer("russian").stemWord
                found = russian(word)
            else:
                found = own(word)
            known[word] = found
        return found

    return stem_word


@cache
def terms_of_words(language: str, section: str) -> frozenset[str]:
    """Return the index terms of the words in a section of the language's file, and the words themselves.

    For a language in Latin letters but English, those of English too: developers mix them in.
    """
    words = frozenset(map(fold, read_words(language)[section]))
    if language in _STEMMERS:
        exact = read_words(language)[section]
        words |= frozenset(fold(_stemmer(language)(word)) for word in exact) | terms_of_words("en", section)
    return frozenset(map(_stemmer(language), words)) | words


@cache
def _splitter(language: str) -> Callable[[str], Sequence[str]] | None:
    """Return what splits a compound of ``language`` into its parts; None where compounds are not written so."""
    listed = read_words(language).get("parts", ())
    if not listed:
        return None
    parts = frozenset(map(fold, listed))
    links = _LINKS[language]
    known: dict[str, Sequence[str]] = {}

    def split(word: str) -> Sequence[str]:
        found = known.get(word)
        if found is None:
            found = known[word] = _parts_of(word, parts, links) if len(word) >= _SHORTEST_COMPOUND else ()
        return found

    return split


_SHORTEST_COMPOUND = 8
_LINKS = {"de": ("s", "es", "n", "en", "er", "e"), "nl": ("s", "en", "e", "er")}


def _parts_of(word: str, parts: frozenset[str], links: Sequence[str]) -> Sequence[str]:
    """Return the listed parts that make up ``word``, or a listed part and what it is joined to."""
    for size in range(len(word) - 3, 3, -1):
        head = word[:size]
        if head not in parts:
            continue
        for link in ("", *links):
            rest = word[size + len(link) :]
            if not word.startswith(link, size) or len(rest) < 4:
                continue
            if rest in parts:
                return (head, rest)
            more = _parts_of(rest, parts, links) if len(rest) >= _SHORTEST_COMPOUND else ()
            if more:
                return (head, *more)
    for size in range(4, len(word) - 4):
        rest = word[size:]
        if rest in parts and len(rest) >= 5:
            return (word[:size].removesuffix("s"), rest)
    for size in range(len(word) - 5, 4, -1):
        if word[:size] in parts:
            return (word[:size], word[size:].removeprefix("s"))
    return ()
