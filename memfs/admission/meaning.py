"""A small classifier of sentences that order, permit or pose as authority (ADMISSION 4). Pure.

A linear model over hashed features: words, beginnings of words, neighbouring words, and the classes of
``data/classes.txt`` (words of eight languages that mean the same here) alone, next to each other and at a distance.
The weights (``data/orders.bin``, a byte each) are trained by ``benchmarks/train_orders.py``. It only holds or notes.

A sentence needs two different classes to be looked at, and one of those that orders are about. A long text has more
sentences that can go wrong by chance, so its threshold rises with their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import log, sqrt
from zlib import crc32

from memfs.admission.lazy import LazyPattern
from memfs.admission.tables import read_data
from memfs.model.values import dataclass

BITS = 17
_MASK = (1 << BITS) - 1
_MOST_WORDS = 60
_FEWEST_WORDS = 4
_FAR = 8  # classed words that one pair may span
_SENTENCES_BEFORE_DOUBT = 8
_MOST_KNOWN = 50_000
_CORE = ("control", "skip", "send", "hide", "note", "ask", "secret", "pretend", "earlier", "spread", "without")
_START, _QUESTION = 30, 31  # beside the numbers of the classes

_TOKEN = LazyPattern(r"[.~/]*[^\W\d_]+(?:[-'./][^\W\d_]+)*|--?[a-z]+|\d+|[^\w\s]")
_WORD = LazyPattern(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:'[^\W\d_]+)?|\d+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|"
    r"--?[a-z]|://|[^\w\s]"
)
_UNSPACED = LazyPattern(r"[\u3400-\u9fff]")
_LEAD = LazyPattern(r"(?:[#>*+\-\s]|\d+[.)]|\[[ x]\])+")
_QUOTED = LazyPattern(r"\"[^\"\n]{4,}\"|“[^”\n]{4,}”|„[^“”\n]{4,}[“”]|«[^»\n]{4,}»")  # told about, not said
_QUOTES = frozenset('"“„«')
_STOP = LazyPattern(r"(?<=[.!?;])\s+|(?<=[。！？；])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The weights and where a sentence becomes an alarm."""

    weights: memoryview  # of signed bytes
    scale: float
    bias: float
    threshold: float
    rise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Classes:
    words: Mapping[str, tuple[int, ...]]
    beginnings: Mapping[str, tuple[int, ...]]
    unspaced: Mapping[str, tuple[int, ...]]
    pattern: re.Pattern[str]
    negation: int
    core: frozenset[int]


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
        words={word: tuple(sorted(found)) for word, found in words.items()},
        beginnings={word: tuple(sorted(found)) for word, found in beginnings.items()},
        unspaced={word: tuple(sorted(found)) for word, found in unspaced.items()},
        pattern=re.compile("|".join(longest_first)),
        negation=numbers["not"],
        core=frozenset(numbers[name] for name in _CORE),
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
    )


_known: dict[str, tuple[int, ...]] = {}
_hashed: dict[str, tuple[int, int, int]] = {}


def _classes_of(word: str) -> tuple[int, ...]:
    found = _known.get(word)
    if found is None:
        table = _classes()
        numbers = set(table.words.get(word, ()))
        for size in range(2, len(word) + 1):
            numbers.update(table.beginnings.get(word[:size], ()))
        if "n't" in word:
            numbers.add(table.negation)
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        found = _known[word] = tuple(sorted(numbers))
    return found


def _hashes_of(word: str) -> tuple[int, int, int]:
    """Return numbers for a word, its beginning and its ending; 0 for one that is the same as the word."""
    found = _hashed.get(word)
    if found is None:
        stem = word[:5]
        if len(_hashed) > _MOST_KNOWN:
            _hashed.clear()
        found = _hashed[word] = (
            crc32(word.encode()),
            crc32(f"{stem}~".encode()),
            crc32(f"${word[-4:]}".encode()) if stem != word else 0,
        )
    return found


def classed_words(lowered: str) -> list[tuple[int, ...]]:
    """Return the classes of each word of a sentence that has any, in order."""
    found: list[tuple[int, ...]] = []
    if not lowered.isascii() and _UNSPACED.search(lowered):
        table = _classes()
        found += [table.unspaced[match.group()] for match in table.pattern.finditer(lowered)]
    for token in _TOKEN.findall(lowered)[:_MOST_WORDS]:
        if token[0] < "\u3000" and (numbers := _known.get(token) or _classes_of(token)):
            found.append(numbers)
    return found


def _class_features(sequence: list[tuple[int, ...]]) -> Iterator[int]:
    """Yield classes alone, in pairs (next to each other or not) and the first ones of three words."""
    size = len(sequence)
    for at, numbers in enumerate(sequence):
        for first in numbers:
            yield first
            for other in range(at + 1, min(size, at + 1 + _FAR)):
                near = other == at + 1
                for second in sequence[other]:
                    yield 64 + ((first << 5 | second) << 1 | near)
        if at + 1 < size:
            pair = numbers[0] << 5 | sequence[at + 1][0]
            for other in range(at + 2, min(size, at + 5)):
                yield 4096 + ((pair << 5 | sequence[other][0]) * 3 + (other == at + 2) + (at == 0)) * 0x9E3779B1


def _word_features(lowered: str) -> list[int]:
    """Return words, their beginnings and endings, and two and three beginnings in a row."""
    before = last = 0
    found: list[int] = []
    for word in _WORD.findall(lowered)[:_MOST_WORDS]:
        whole, stem, ending = _hashed.get(word) or _hashes_of(word)
        two = stem * 3 + last
        found += (whole, two, two * 5 + before, stem * 7 + before)
        if ending:
            found += (stem, ending)
        before, last = last, stem
    return found


def features_of(sentence: str) -> list[int]:
    """Return the places of a sentence's features; none where it has fewer than two classes or four words."""
    lowered = sentence.lower().replace("’", "'")
    sequence = classed_words(lowered)
    classes = {number for numbers in sequence for number in numbers}
    if len(classes) < 2 or _classes().core.isdisjoint(classes):
        return []
    if lowered.count(" ") < _FEWEST_WORDS - 1 and (lowered.isascii() or not _UNSPACED.search(lowered)):
        return []  # a heading or a label
    features = {number & _MASK for number in _word_features(lowered)}
    features.update(number & _MASK for number in _class_features([(_START,), *sequence]))
    if lowered.rstrip().endswith(("?", "？")):
        features.add(_QUESTION)
    return list(features)


def score(sentence: str) -> float | None:
    """Return how much a sentence reads like an order; None where it is not looked at."""
    features = features_of(sentence)
    if not features:
        return None
    model = open_model()
    total = sum(map(model.weights.__getitem__, features))
    return total * model.scale / sqrt(len(features)) + model.bias


def sentences_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield offset and text of each sentence outside code blocks and headings, without list marks."""
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
                yield start + at + len(sentence) - len(sentence.lstrip()), sentence.strip()
                at = end
        start += len(line) + 1


def find_order(text: str) -> tuple[int, int] | None:
    """Return where the sentence begins and ends that reads most like an order, when one does enough."""
    best: tuple[float, int, int] | None = None
    looked_at = 0
    for offset, sentence in sentences_of(text):
        looked_at += 1
        said = sentence if _QUOTES.isdisjoint(sentence) else _QUOTED.sub('"', sentence)
        plain = said.replace("*", "").replace("`", "").replace("__", "")[:300]
        value = score(plain) if len(plain) >= 6 else None
        if value is not None and (best is None or value > best[0]):
            best = (value, offset, offset + len(sentence.rstrip()))
    model = open_model()
    doubt = model.rise * log(max(1.0, looked_at / _SENTENCES_BEFORE_DOUBT))
    return best[1:] if best is not None and best[0] > model.threshold + doubt else None
