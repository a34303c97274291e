"""A small classifier of sentences that order, permit or pose as authority (ADMISSION 4). Pure.

A linear model over hashed features: words, their beginnings, endings and runs of four letters, neighbouring words, and
the classes of ``data/classes.txt`` (words of eight languages that mean the same here) alone, next to each other and at
a distance. The weights (``data/orders.bin``, a byte each) are trained by ``benchmarks/train_orders.py``. It only
holds or notes.

A long text has more sentences that can go wrong by chance, so its threshold rises with their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import log, sqrt
from zlib import crc32

from memfs.admission.lazy import lazy
from memfs.admission.tables import read_data
from memfs.model.values import dataclass

BITS = 18
_MASK = (1 << BITS) - 1
_MOST_WORDS = 60
_FEWEST_WORDS = 4
_FAR = 8  # classed words that one pair may span
SENTENCES_BEFORE_DOUBT = 2
_MOST_KNOWN = 50_000
_LETTERS = 4  # in a row, in words of more than three
_START, _QUESTION = 30, 31  # beside the numbers of the classes

_TOKEN = lazy(r"[.~/]*[^\W\d_]+(?:[-'./][^\W\d_]+)*|--?[a-z]+|\d+|[^\w\s]")
_WORD = lazy(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:'[^\W\d_]+)?|\d+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|"
    r"--?[a-z]|://|[^\w\s]"
)
_UNSPACED = lazy(r"[\u3400-\u9fff]")
_LEAD = lazy(r"(?:[#>*+\-\s]|\d+[.)]|\[[ x]\])+")
_QUOTED = lazy(r"\"[^\"\n]{4,}\"|“[^”\n]{4,}”|„[^“”\n]{4,}[“”]|«[^»\n]{4,}»")  # told about, not said
_QUOTES = frozenset('"“„«')
_STOP = lazy(r"(?<=[.!?;])\s+|(?<=[。！？；])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The weights and where a sentence becomes an alarm."""

    weights: memoryview  # of signed bytes
    scale: float
    bias: float
    threshold: float
    rise: float
    known: dict[str, tuple[int, int]]  # what a word alone weighs, and how many features that is


@dataclass(frozen=True, slots=True, kw_only=True)
class _Classes:
    words: Mapping[str, set[int]]
    beginnings: Mapping[str, set[int]]
    unspaced: Mapping[str, tuple[int, ...]]
    pattern: re.Pattern[str]
    negation: int


@cache
def _classes() -> _Classes:
    words: dict[str, set[int]] = {}
    beginnings: dict[str, set[int]] = {}
    unspaced: dict[str, set[int]] = {}
    numbers: dict[str, int] = {}
    for part in read_data("classes.txt").decode().split("\n[")[1:]:
        name, _, body = part.partition("]\n")
        number = numbers[name] = len(numbers)
        for word in body.split():
            plain = word.rstrip("*")
            into = unspaced if word[0] > "\u2fff" else beginnings if word != plain else words
            into.setdefault(plain, set()).add(number)
    longest_first = sorted(map(re.escape, unspaced), key=len, reverse=True)
    return _Classes(
        words=words,
        beginnings=beginnings,
        unspaced={word: tuple(sorted(found)) for word, found in unspaced.items()},
        pattern=re.compile("|".join(longest_first)),
        negation=numbers["not"],
    )


@cache
def open_model() -> Model:
    """Return the shipped model: one line of text with its numbers, then the weights."""
    head, _, weights = read_data("orders.bin").partition(b"\n")
    _, scale, bias, threshold, rise = head.decode().split()
    return Model(
        weights=memoryview(weights).cast("b"),
        scale=float(scale),
        bias=float(bias),
        threshold=float(threshold),
        rise=float(rise),
        known={},
    )


@lru_cache(_MOST_KNOWN)
def _classes_of(word: str) -> tuple[int, ...]:
    table = _classes()
    numbers = set(table.words.get(word, ()))
    for size in range(2, len(word) + 1):
        numbers |= table.beginnings.get(word[:size], set())
    if "n't" in word:
        numbers.add(table.negation)
    return tuple(sorted(numbers))


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


@lru_cache(_MOST_KNOWN)
def _stem_of(word: str) -> int:
    """Return a number for the beginning of a word."""
    return _hash(f"{word[:5]}~")


def _features_of_word(word: str) -> list[int]:
    """Return the places of a word alone: itself, its beginning, its ending and its letters in rows of four."""
    features = {_hash(word)}
    if len(word) > 5:
        features |= {_stem_of(word), _hash(f"${word[-4:]}")}
    if len(word) >= _LETTERS:
        framed = f"^{word}$"
        features |= {_hash(f"g{framed[at : at + _LETTERS]}") for at in range(len(framed) - _LETTERS + 1)}
    return [number & _MASK for number in features]


def classed_words(lowered: str) -> list[tuple[int, ...]]:
    """Return the classes of each word of a sentence that has any, in order."""
    found: list[tuple[int, ...]] = []
    if not lowered.isascii() and _UNSPACED.search(lowered):
        table = _classes()
        found += [table.unspaced[match.group()] for match in table.pattern.finditer(lowered)]
    for token in _TOKEN.findall(lowered)[:_MOST_WORDS]:
        if token[0] < "\u3000" and (numbers := _classes_of(token)):
            found.append(numbers)
    return found


def _class_features(sequence: Sequence[tuple[int, ...]]) -> set[int]:
    """Return classes alone, in pairs (next to each other or not) and the first ones of three words."""
    size = len(sequence)
    found: set[int] = set()
    add = found.add
    for at, numbers in enumerate(sequence):
        later = sequence[at + 1 : at + 1 + _FAR]
        for first in numbers:
            add(first)
            near = 1
            for others in later:
                for second in others:
                    add(64 + ((first << 5 | second) << 1 | near))
                near = 0
        if at + 1 < size:
            pair = (numbers[0] << 5 | later[0][0]) << 10
            for other in range(at + 2, min(size, at + 5)):
                three = (pair | sequence[other][0]) * 3 + (other == at + 2) + (at == 0)
                add((4096 + three * 0x9E3779B1) & _MASK)
    return found


def _read(sentence: str) -> tuple[list[str], list[int]]:
    """Return the words of a sentence and the places of its features between words; nothing of a heading or a label."""
    lowered = sentence.lower().replace("’", "'")
    if lowered.count(" ") < _FEWEST_WORDS - 1 and (lowered.isascii() or not _UNSPACED.search(lowered)):
        return [], []
    words = _WORD.findall(lowered)[:_MOST_WORDS]
    before = last = 0
    between: list[int] = []
    for word in words:
        stem = _stem_of(word)
        two = stem * 3 + last
        between += (two & _MASK, (two * 5 + before) & _MASK, (stem * 7 + before) & _MASK)
        before, last = last, stem
    between += _class_features([(_START,), *classed_words(lowered)])
    if lowered.rstrip().endswith(("?", "？")):
        between.append(_QUESTION)
    return words, between


def features_of(sentence: str) -> list[int]:
    """Return the places of a sentence's features; one place may come twice."""
    words, between = _read(sentence)
    return [number for word in words for number in _features_of_word(word)] + between


def score(sentence: str) -> float | None:
    """Return how much a sentence reads like an order; None for a heading or a label."""
    words, between = _read(sentence)
    if not words:
        return None
    model = open_model()
    known, weigh = model.known, model.weights.__getitem__
    total, size = sum(map(weigh, between)), len(between)
    for word in words:
        found = known.get(word)
        if found is None:
            if len(known) > _MOST_KNOWN:
                known.clear()
            features = _features_of_word(word)
            found = known[word] = (sum(map(weigh, features)), len(features))
        total += found[0]
        size += found[1]
    return total * model.scale / sqrt(size) + model.bias


def doubt(sentences: int, rise: float) -> float:
    """Return by how much the threshold rises for a text of so many sentences."""
    return rise * log(max(1.0, sentences / SENTENCES_BEFORE_DOUBT))


def plain_sentences(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield offset, text and what is scored of each sentence outside code blocks and headings: without list marks,
    emphasis and what it only quotes."""
    start, in_code = 0, False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            in_code = not in_code
        elif stripped and not in_code and stripped[0] != "#":
            lead = _LEAD.match(line)
            at = lead.end() if lead is not None else 0
            ends = [at + cut.start() for cut in _STOP.finditer(line[at:])]
            for end in (*ends, len(line)):
                sentence = line[at:end]
                plain = sentence.strip()
                said = plain if _QUOTES.isdisjoint(plain) else _QUOTED.sub('"', plain)
                said = said.replace("*", "").replace("`", "").replace("__", "")[:300]
                yield start + at + len(sentence) - len(sentence.lstrip()), plain, said
                at = end
        start += len(line) + 1


def find_order(text: str) -> tuple[int, int] | None:
    """Return where the sentence begins and ends that reads most like an order, when one does enough."""
    best: tuple[float, int, int] | None = None
    looked_at = 0
    for offset, sentence, plain in plain_sentences(text):
        looked_at += 1
        value = score(plain) if len(plain) >= 6 else None
        if value is not None and (best is None or value > best[0]):
            best = (value, offset, offset + len(sentence.rstrip()))
    model = open_model()
    return best[1:] if best is not None and best[0] > model.threshold + doubt(looked_at, model.rise) else None
