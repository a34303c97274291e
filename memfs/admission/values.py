"""Whether a piece of text is a value somebody could log in with, or stands for one (ADMISSION 2). Pure."""

from __future__ import annotations

import re
from math import log2

from memfs.admission.tables import begins, has, word_lists

_TRAILING = ".,;:!?)]}\"'`»”’*"


def entropy(text: str) -> float:
    """Return Shannon's entropy of ``text`` in bits a character."""
    return -sum((n := text.count(char) / len(text)) * log2(n) for char in set(text)) if text else 0.0


def classes(text: str) -> int:
    """Return how many of lower case, upper case, digits and others ``text`` uses."""
    return (
        any(char.islower() for char in text)
        + any(char.isupper() for char in text)
        + any(char.isdigit() for char in text)
        + any(not char.isalnum() for char in text)
    )


def trimmed(value: str) -> str:
    """Return ``value`` without the punctuation of the sentence that it ends."""
    value = value.rstrip(".,;:'\"`»”’")
    while (
        value
        and value[-1] in ")]}*"
        and value.count(value[-1]) > value.count({")": "(", "]": "[", "}": "{"}.get(value[-1], ""))
    ):
        value = value[:-1].rstrip(".,;:'\"`")
    return value


def stands_for_another(value: str) -> bool:
    """Return whether ``value`` is a placeholder or a reference to where the real one is kept."""
    lowered = value.lower()
    return (
        not value
        or lowered.strip("\"'`<>[](){}.,:;") in word_lists()["stand-ins"]
        or begins("stands-for-another", value)
        or has("has-placeholder", value)
        or begins("weak-example", value)
        or value.count("|") > 1
        or re.match(r"0x[0-9a-fA-F]{40}$|(?:[0-9a-f]{2}[:,]){6}|[\w-]+-(?:dockercfg|token)-[a-z0-9]{5}$", value)
        is not None
        or re.search(r"\[\^|\\[swd][+*]|\.\*", value) is not None  # a pattern
        or len(set(lowered)) <= 2
        or (len(set(lowered)) <= 4 and len(value) >= 12)
    )


def is_hash(value: str, before: str) -> bool:
    """Return whether ``value`` is a digest by its shape and by the words before it."""
    return begins("hash", value) and has("hash-word", before[-48:])


def _is_ordinary(value: str) -> bool:
    return any(begins(name, value) for name in ("plain", "technical", "code", "url", "email"))


def is_assigned_secret(value: str, *, password: bool) -> bool:
    """Return whether ``value``, given to a name that means a credential, is one.

    ``password``: the name means a password, which people choose shorter and plainer than a machine.
    """
    if stands_for_another(value) or len(value) < 6 or value.endswith("{"):
        return False
    if password and value.isdigit():
        return len(value) >= 6
    if _is_ordinary(value):
        return False
    if (
        begins("path", value)
        and not (password and has("symbol", value))
        and (classes(value) < 4 or ("/" in value and entropy(value) < 4.2))
    ):
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    if password:
        if begins("slug", value) and not mixed:
            return False
        return mixed or (has("symbol", value[:-1]) and any(char.isalpha() for char in value) and len(value) >= 8)
    if begins("slug", value) or begins("identifier", value):
        return False
    if begins("uuid", value):
        return len(set(value)) >= 8
    if len(value) >= 8 and mixed and classes(value) >= 2:
        return entropy(value) >= 2.6
    return (
        len(value) >= 16
        and classes(value) >= 2
        and entropy(value) > 3.4
        and not value.replace("-", "").replace("_", "").islower()
    )


def is_prose_secret(value: str, *, sure: bool) -> bool:
    """Return whether ``value``, in a sentence about a credential, is one (ADMISSION 2: three character
    classes and 8 characters, or 16 and an entropy over 3.2). ``sure``: the sentence says that this is it.
    """
    if stands_for_another(value) or len(value) < 8 or _is_ordinary(value) or "://" in value or "](" in value:
        return False
    if begins("path", value) or (begins("slug", value) and not any(char.isupper() for char in value)):
        return False
    if begins("uuid", value):
        return sure
    if begins("identifier", value) or not any(char.isdigit() for char in value):
        return bool(sure and has("symbol", value) and classes(value) >= 3 and not begins("identifier", value))
    symbol = has("symbol", value)
    if classes(value) >= 3 and (symbol or sure or len(value) >= 12):
        return True
    return len(value) >= 16 and entropy(value) > 3.2 and any(char.isalpha() for char in value)
