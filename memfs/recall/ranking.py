"""Scores of candidates from values alone: token bits, words, cosine. Pure; any store can rank with it.

Each token of a question scores by the token of a memory that is most like it (late interaction) and counts
as much as its word is rare. Words and the whole vector have a small part beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple

from memfs.index.tokenizer import parse_question


class Shares(NamedTuple):
    """The parts of a score: late interaction, words, cosine."""

    late: float
    words: float
    cosine: float


ENGLISH = Shares(0.8, 0.1, 0.1)
FOREIGN = Shares(0.2, 0.5, 0.3)
"""For a question in another language than the model's: its tokens say less."""
WHOLE = Shares(0.0, 0.55, 0.45)
"""For a question or a text without token vectors."""

Weighted = Sequence[tuple[int, float]]
"""The sign bits of each token of a question, and what it counts."""


class Evidence(NamedTuple):
    """What speaks for one candidate. ``cosine`` is None for a text without a vector, ``tokens`` may be empty."""

    words: float
    cosine: float | None = None
    tokens: Sequence[int] = ()


class Ranked(NamedTuple):
    """The score of a candidate, 0 to 1, and the late interaction in it, None where there was none."""

    score: float
    late: float | None


def weigh_tokens(
    words: Sequence[str], tokens: bytes, frequency_of: Callable[[str], int | None], documents: int
) -> list[tuple[int, float]]:
    """Return the tokens of a question (``tokens``: their sign bits one after the other, one for each of
    ``words``) with their weights: the inverse frequency of a word among ``documents``, shared by its pieces.

    ``frequency_of`` returns in how many documents an index term occurs, None for one that was not counted.
    """
    size = len(tokens) // len(words) if words else 0
    weighted = []
    for place, word in enumerate(words):
        terms = parse_question(word).terms or parse_question(word, keep_stop_words=True).terms
        counted = [count for count in map(frequency_of, terms) if count is not None]
        seldom = min(counted, default=0)
        weight = log(1 + (documents - seldom + 0.5) / (seldom + 0.5)) / words.count(word)
        weighted.append((int.from_bytes(tokens[place * size : (place + 1) * size], "little"), weight))
    return weighted


def score_tokens(question: Weighted, tokens: Sequence[int], dimensions: int) -> float:
    """Return how well ``tokens`` answer those of the question: 0 as unlike as chance, 1 the same."""
    total = sum(weight for _, weight in question) or 1.0
    apart = sum(weight * min([(bits ^ token).bit_count() for token in tokens]) for bits, weight in question)
    return max(0.0, 1 - 2 * apart / total / dimensions)


def rank(question: Weighted, shares: Shares, candidates: Sequence[Evidence], dimensions: int) -> list[Ranked]:
    """Return the score of each candidate. Words and cosine are scaled by the candidates' own range."""
    top = max((one.words for one in candidates), default=0.0) or 1.0
    cosines = [one.cosine for one in candidates if one.cosine is not None]
    low, high = min(cosines, default=0.0), max(cosines, default=1.0)
    found = []
    for one in candidates:
        late = score_tokens(question, one.tokens, dimensions) if one.tokens and question and shares.late else None
        part = shares if late is not None else WHOLE
        words = one.words / top
        near = words if one.cosine is None else (one.cosine - low) / (high - low or 1.0)
        found.append(Ranked(part.late * (late or 0.0) + part.words * words + part.cosine * near, late))
    return found
