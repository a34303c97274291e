"""WordPiece of BERT uncased (Devlin et al. 2018), pure Python. The same pieces as the Rust tokenizer.

``bert-uncased.txt`` is the vocabulary that Google published with BERT under the Apache-2.0 licence
(sha256 07eced37…2a3); a piece's number is its line.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from functools import cache

_MAX_WORD = 100  # characters; a longer word is unknown, as in the original
# ASCII punctuation counts even where Unicode calls it a symbol; CJK characters stand alone.
_CJK = "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b81f\uf900-\ufaff\U0002f800-\U0002fa1f"
_ASCII_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")


@cache
def read_vocabulary() -> Mapping[str, int]:
    """Return each piece of the vocabulary with its number."""
    path = os.path.join(os.path.dirname(__file__), "bert-uncased.txt")
    with open(path, encoding="utf-8") as file:
        pieces = file.read().split("\n")
    pieces.pop()  # after the last line end
    return dict(zip(pieces, range(len(pieces)), strict=True))


def encode(text: str, *, limit: int) -> list[int]:
    """Return the numbers of the pieces of ``text`` between ``[CLS]`` and ``[SEP]``, at most ``limit``."""
    return encode_words(text, limit=limit)[0]


def encode_words(text: str, *, limit: int) -> tuple[list[int], list[str]]:
    """Return :func:`encode` and for each number the word that it is a piece of, "" for both ends.

    A word is lower-case, without accents, or one character of punctuation.
    """
    vocabulary = read_vocabulary()
    known: dict[str, list[int]] = {}
    numbers, words = [vocabulary["[CLS]"]], [""]
    room = limit - 1
    for word in _words(text[: limit * 64]):
        if len(numbers) >= room:
            break
        pieces = known.get(word)
        if pieces is None:
            pieces = known[word] = _pieces(word, vocabulary)
        numbers += pieces
        words += [word] * len(pieces)
    del numbers[room:], words[room:]
    return [*numbers, vocabulary["[SEP]"]], [*words, ""]


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    whole = vocabulary.get(word)
    if whole is not None:
        return [whole]
    if len(word) > _MAX_WORD:
        return [vocabulary["[UNK]"]]
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(prefix + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [vocabulary["[UNK]"]]
    return found


def _words(text: str) -> list[str]:
    if text.isascii():
        if text.isprintable():
            return _ASCII_WORDS.findall(text.lower())
        text = "".join(char for char in text if char in "\t\n\r" or char.isprintable())
        return _ASCII_WORDS.findall(text.lower())
    return re.findall(f"[{_CJK}]|[^\\s{_CJK}]+", _clean(text))


def _clean(text: str) -> str:
    """Return ``text`` lower-cased, without accents and controls, spaces round punctuation."""
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        category = unicodedata.category(char)
        if char in "\t\n\r" or category == "Zs":
            kept.append(" ")
        elif char == "\ufffd" or category in ("Mn", "Cc", "Cf", "Co", "Cs"):
            continue
        elif category[0] == "P" or (char.isascii() and not char.isalnum() and char.isprintable()):
            kept.append(f" {char} ")
        else:
            kept.append(char)
    return "".join(kept).lower()
