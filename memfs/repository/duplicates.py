"""Memories that say the same, nearly the same, or the opposite: sketches of their words. Pure.

A sketch is the smallest hashes of a text's words and word pairs (bottom-k, Broder 1997). Two sketches
estimate how much two texts share; only texts with a rare hash in common are compared, so the work
grows with the number of texts and not with its square. Opposites are judged by ``opposites``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from sys import intern
from typing import Generic, TypeVar
from unicodedata import normalize
from zlib import crc32

from memfs.model.values import dataclass
from memfs.repository.opposites import are_opposite, topic_stems

SKETCH_SIZE = 32
ALIKE = 0.5
"""Least estimated share of words and word pairs that makes two texts near duplicates."""

_COMMON = 64  # a hash that more texts have says nothing about any two of them
_MAX_PAIRS = 3_000_000
_WORD = re.compile(r"\w+(?:[.\-/:]\w+)*")
_MIX = 0x9E3779B1  # odd, so that it permutes 32 bits; crc32 alone is no random order

K = TypeVar("K", bound=Hashable)


class Likeness(StrEnum):
    SAME = "same"
    NEAR = "near"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearPair(Generic[K]):
    """Two keys and how much of their words they share, 0 to 1 (estimated)."""

    left: K
    right: K
    share: float


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of ``text``, folded so that spelling variants of one word are equal."""
    return tuple(map(intern, _WORD.findall(normalize("NFKC", text).casefold().replace("\u2019", "'"))))


def signature_of(text: str) -> tuple[int, ...]:
    """Return the sketch of ``text``: at most 32 numbers below 2³², ascending; equal on every machine."""
    words = words_of(text)
    features = {*words, *(f"{one} {two}" for one, two in pairwise(words))}
    hashes = {crc32(feature.encode()) * _MIX & 0xFFFFFFFF for feature in features}
    return tuple(sorted(hashes)[:SKETCH_SIZE])


def statement_sketch(text: str) -> tuple[int, ...]:
    """Return the sketch of what a statement is about, by the stems of its words in any order."""
    hashes = {crc32(word.encode()) * _MIX & 0xFFFFFFFF for word in topic_stems(text)}
    return tuple(sorted(hashes)[:SKETCH_SIZE])


def estimate_share(left: tuple[int, ...], right: tuple[int, ...]) -> float:
    """Return the estimated share (Jaccard index) of two texts' words and word pairs."""
    if not left or not right:
        return 0.0
    size = min(SKETCH_SIZE, max(len(left), len(right)))
    one, two = set(left), set(right)
    if len(left) < SKETCH_SIZE and len(right) < SKETCH_SIZE:  # both sketches hold everything
        return len(one & two) / len(one | two)
    smallest = sorted(one | two)[:size]
    return sum(number in one and number in two for number in smallest) / len(smallest)


def find_near_duplicates(
    signatures: Mapping[K, tuple[int, ...]], *, among: Collection[K] | None = None, threshold: float = ALIKE
) -> list[NearPair[K]]:
    """Return the pairs that share at least ``threshold``, each once. With ``among``, only pairs that
    have one of these keys in them."""
    by_hash: dict[int, list[K]] = {}
    for key, signature in signatures.items():
        for number in signature:
            by_hash.setdefault(number, []).append(key)
    chosen = None if among is None else set(among)
    order = {key: place for place, key in enumerate(signatures)}
    seen: set[tuple[int, int]] = set()
    found: list[NearPair[K]] = []
    budget = _MAX_PAIRS
    for keys in sorted((keys for keys in by_hash.values() if 1 < len(keys) <= _COMMON), key=len):
        for place, one in enumerate(keys):
            for other in keys[place + 1 :]:
                if chosen is not None and one not in chosen and other not in chosen:
                    continue
                left, right = (one, other) if order[one] < order[other] else (other, one)
                pair = (order[left], order[right])
                if pair in seen:
                    continue
                seen.add(pair)
                share = estimate_share(signatures[left], signatures[right])
                if share >= threshold:
                    found.append(NearPair(left=left, right=right, share=share))
        budget -= len(keys) * len(keys)
        if budget < 0:
            break
    return found


def judge_pair(left: str, right: str) -> Likeness | None:
    """Return how two texts that may be alike relate, looking at all their words; None: not alike."""
    one, two = words_of(left), words_of(right)
    if one == two:
        return Likeness.SAME
    if are_opposite(left, right):
        return Likeness.CONTRADICTS
    left_features, right_features = ({*words, *pairwise(words)} for words in (one, two))
    shared = len(left_features & right_features)
    every = len(left_features) + len(right_features) - shared
    return Likeness.NEAR if every and shared / every >= ALIKE else None
