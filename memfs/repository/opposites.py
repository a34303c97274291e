"""Whether two statements say the opposite: compared as sentences, by the lists of ``data/opposites.txt``. Pure.

A statement is read as its words in order, each with a place: said, or denied. Two statements are opposite when they
agree on what they are about and differ in one thing that cannot both be: a denial, an opposite word, a number that is
not a name, an order, or what is in the one place that differs. It is a hint for a reviewer, not a proof.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from unicodedata import normalize

from memfs.model.values import dataclass

MAX_WORDS = 80

_WORD = re.compile(r"\w+(?:[.\-/_]\w+)*|[.;:!?]")
_TOPIC = re.compile(r"[^\W\d_]{2,}")
_ENDS = frozenset(".;:!?")
_SUFFIXES = ("ations", "ation", "ingly", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "es", "s", "e")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a statement, its stem, and whether the statement denies it."""

    text: str
    denied: bool = False
    number: bool = False
    slot: bool = False  # it stands behind a preposition: one place, and one thing in it


@cache
def _lists() -> Mapping[str, tuple[str, ...]]:
    text = files("memfs.repository").joinpath("data", "opposites.txt").read_text(encoding="utf-8")
    rows = (line.partition(":") for line in text.split("\n") if line and not line.startswith("#"))
    return {name: tuple(words.split()) for name, _, words in rows}


@cache
def _set(name: str) -> frozenset[str]:
    return frozenset(_lists()[name])


@cache
def _map(name: str) -> Mapping[str, str]:
    return {one: other for one, _, other in (pair.partition("=") for pair in _lists()[name])}


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = [pair.split("/") for pair in _lists()["opposites"]]
    return frozenset(both for one, other in pairs for both in ((stem(one), stem(other)), (stem(other), stem(one))))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a rough stem: enough to lay "deploys" and "deployed" over each other."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word[: -len(suffix)]
            return base[:-1] if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "ls" else base.rstrip("y")
    return word.rstrip("y") if len(word) > 3 else word


def topic_stems(text: str) -> frozenset[str]:
    """Return the stems that say what a statement is about: what two of them must share to be compared."""
    leave_out = _left_out()
    return frozenset(stem(word) for word in _TOPIC.findall(text.casefold()) if word not in leave_out)


@cache
def _left_out() -> frozenset[str]:
    return frozenset(word for name in ("articles", "negations", "always", "order") for word in _lists()[name])


@lru_cache(maxsize=20_000)
def read_statement(text: str) -> tuple[Word, ...]:
    """Return the words of a statement that carry meaning, numbers in digits, denials marked to the end of a clause."""
    pieces = _pieces(text)[:MAX_WORDS]
    found: list[Word] = []
    denied = False
    for place, piece in enumerate(pieces):
        if piece in _ENDS:
            denied = False
        elif piece in _set("negations"):
            denied = not denied if piece == "without" and denied else True
            if piece == "without" and place and pieces[place - 1] in _set("negations"):
                denied = False
        elif piece in _set("instead"):
            denied = True
        elif piece in ("but", "and"):
            denied = denied and piece == "and" and _follows_denied(pieces, place)
        elif piece in _set("order"):
            found.append(Word(text=piece))
            denied = False
        elif piece in _set("always") or piece in _set("articles"):
            continue
        else:
            found.append(_word(piece, denied, slot=_is_in_a_slot(pieces, place)))
    return tuple(found)


def _is_in_a_slot(pieces: Sequence[str], place: int) -> bool:
    """Return whether a preposition comes before the word, its article left out."""
    before = [piece for piece in pieces[max(0, place - 2) : place] if piece not in ("the", "a", "an", "our")]
    return bool(before) and before[-1] in _set("slots")


def _follows_denied(pieces: Sequence[str], place: int) -> bool:
    return bool(pieces[place + 1 :]) and pieces[place + 1] not in _set("negations")


@lru_cache(maxsize=50_000)
def _word(piece: str, denied: bool, *, slot: bool) -> Word:
    period = _map("periods").get(piece)
    if period is not None:
        return Word(text=f"every-{stem(period)}", denied=denied)
    if piece.startswith("every-"):
        return Word(text=piece, denied=denied)
    if any(char.isdigit() for char in piece):
        return Word(text=piece, denied=denied, number=True)
    return Word(text=stem(piece), denied=denied, slot=slot)


@lru_cache(maxsize=20_000)
def _pieces(text: str) -> tuple[str, ...]:
    folded = normalize("NFKC", text).casefold().replace("\u2019", "'")
    folded = re.sub(r"\bcan't\b|\bcannot\b", "can not", folded)
    folded = re.sub(r"(\w)n't\b", r"\1 not", folded)
    folded = re.sub(r"'s?\b", "", folded)
    for phrase in (*_set("instead"), *_set("always")):
        if "-" in phrase:
            folded = folded.replace(phrase.replace("-", " "), phrase)
    pieces = _WORD.findall(folded)
    units = _set("units")
    words: list[str] = []
    for place, piece in enumerate(pieces):
        if words and words[-1] == "every-":
            words[-1] += stem(piece)
            continue
        after = pieces[place + 1] if place + 1 < len(pieces) else ""
        before = words[-1] if words else ""
        if piece in ("once", "twice"):
            words += [_map("counts")[piece], "time"]
        elif piece in ("a", "an") and after.rstrip("s") in units:
            words.append("1" if before not in ("once", "twice", "time") else "per")
        elif piece == "over" and not any(word in ("prefer", "choose", "pick") for word in words):
            words.append("above")
        elif piece in ("every", "each") and after.rstrip("s") in (*units, "night", "morning", "evening"):
            words.append("every-")
        else:
            words.append(_map("counts").get(piece, piece))
    return tuple(words)


# -- comparing ---------------------------------------------------------------------------------------


def are_opposite(one: str, other: str) -> bool:
    """Return whether two statements read like opposites of each other."""
    left, right = read_statement(one), read_statement(other)
    if len(left) < 2 or len(right) < 2:
        return False
    if _swaps(left, right):
        return True
    if _reorders(left, right):
        return True
    if not _same_subject(left, right):
        return False
    regions = _regions([word.text for word in left], [word.text for word in right])
    if _denies(one, other, left, right, regions):
        return True
    return len(regions) == 1 and _differs_in_one_thing(left, right, regions[0])


Region = tuple[int, int, int, int]


def _regions(left: Sequence[str], right: Sequence[str]) -> list[Region]:
    """Return the places where the two differ: start and end in each, the longest common run kept."""
    codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [(a1, a2, b1, b2) for tag, a1, a2, b1, b2 in codes if tag != "equal"]


def _swaps(left: Sequence[Word], right: Sequence[Word]) -> bool:
    """Return whether one says what the other denies, and the other way round ("a file, never a variable")."""
    said, denied = ([{w.text for w in side if w.denied is no} for side in (left, right)] for no in (False, True))
    one = (said[0] - denied[0]) & (denied[1] - said[1])
    other = (denied[0] - said[0]) & (said[1] - denied[1])
    return bool(one) and bool(other)


def _reorders(left: Sequence[Word], right: Sequence[Word]) -> bool:
    """Return whether the same things are put in another order round before, after or until."""
    sides = []
    for words in (left, right):
        texts = [word.text for word in words]
        marks = [place for place, text in enumerate(texts) if text in ("before", "after")]
        if len(marks) != 1:
            return False
        first, second = set(texts[: marks[0]]), set(texts[marks[0] + 1 :])
        sides.append((first - second, second - first, texts[marks[0]]))
    (a1, a2, mark_a), (b1, b2, mark_b) = sides
    shared = len((a1 | a2) & (b1 | b2)) / max(1, len(a1 | a2 | b1 | b2))
    crossed = bool(a1 & b2) and bool(a2 & b1)
    straight = bool(a1 & b1) and bool(a2 & b2)
    if shared < 0.6:
        return False
    return (mark_a == mark_b and crossed and not straight) or (mark_a != mark_b and straight and not crossed)


def _same_subject(left: Sequence[Word], right: Sequence[Word]) -> bool:
    """Return whether both begin with the same thing; a number right behind it is its name."""
    if left[0].text != right[0].text:
        return False
    for place in (0, 1):
        if len(left) > place + 1 and len(right) > place + 1:
            one, other = left[place + 1], right[place + 1]
            is_name = one.number and other.number and left[place].text in _label_stems()
            if one.text != other.text and (is_name or (_is_code(one.text) and _is_code(other.text))):
                return False
    return True


def _is_code(word: str) -> bool:
    return "-" in word and any(char.isdigit() for char in word)


@cache
def _label_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in _lists()["labels"])


def _denies(one: str, other: str, left: Sequence[Word], right: Sequence[Word], regions: Sequence[Region]) -> bool:
    """Return whether they say the same, and one denies it."""
    counts = [_denials(text) for text in (one, other)]
    if counts[0] % 2 == counts[1] % 2:
        return False
    texts = [{word.text for word in side if not word.number and word.text != "time"} for side in (left, right)]
    smaller = min(texts, key=len)
    shared = len(texts[0] & texts[1])
    if len(smaller) < 2 or shared < 2 or shared / len(smaller) < 0.75:
        return False
    return not any(_is_replaced(left, right, region) for region in regions) and not _is_unsaid(texts)


def _is_replaced(left: Sequence[Word], right: Sequence[Word], region: Region) -> bool:
    a1, a2, b1, b2 = region
    return a1 < a2 and b1 < b2 and not any(word.number for word in (*left[a1:a2], *right[b1:b2]))


def _is_unsaid(texts: Sequence[set[str]]) -> bool:
    """Return whether one word is the other's denial by its form ("unauthenticated")."""
    return any(f"un{word}" in texts[1] for word in texts[0]) or any(f"un{word}" in texts[0] for word in texts[1])


def _denials(text: str) -> int:
    return sum(piece in _set("negations") for piece in _pieces(text))


def _differs_in_one_thing(left: Sequence[Word], right: Sequence[Word], region: Region) -> bool:
    a1, a2, b1, b2 = region
    one, other = left[a1:a2], right[b1:b2]
    if not one or not other or len(one) > 4 or len(other) > 4:
        return False
    if any((a.text, b.text) in _opposites() for a in one for b in other):
        return True
    if one[0].number and other[0].number:
        return not (a1 and left[a1 - 1].text in _label_stems())
    if all(any(word.number or word.text.startswith("every") for word in side) for side in (one, other)):
        return True
    return _is_choice(left, right, region)


def _is_choice(left: Sequence[Word], right: Sequence[Word], region: Region) -> bool:
    """Return whether the two name different things in the one place that can have only one of them."""
    a1, a2, b1, b2 = region
    one, other = left[a1:a2], right[b1:b2]
    if any(word.number for word in (*one, *other)) or len(one) > 2 or len(other) > 2:
        return False
    same = len(left) - (a2 - a1)
    after_imperative = a1 == 1 and left[0].text in _imperative_stems()
    in_a_slot = one[0].slot and other[0].slot
    at_the_end = in_a_slot and len(left) - a2 == len(right) - b2 <= 1 and a1 >= 2
    return same >= 2 and (after_imperative or at_the_end)


@cache
def _imperative_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in _lists()["imperatives"])
