"""Judges of what looks like personal data (ADMISSION 3). Pure.

The rules are in ``data/personal.rules`` and ``data/numbers.rules``; each judge here looks at one match.
``phonenumberslite`` and ``python-stdnum`` (extra ``pii``) add numbers to what is found here; nothing
is missed without them that the figures of the documentation count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from memfs.admission.checksums import card, check_named, iban
from memfs.admission.rules import Rule
from memfs.admission.tables import begins, has, pattern, read_rules, word_lists


def _is_top_level(ending: str) -> bool:
    lists = word_lists()
    return ending in lists["top-level"] or (len(ending) == 2 and ending not in lists["no-top-level"])


def _is_role(local: str) -> bool:
    parts = [part for part in re.split(r"[-._+]|\d+", local.lower()) if part]
    roles = word_lists()["role-mailboxes"]
    return bool(parts) and (parts[-1] in roles or "".join(parts) in roles)


def _is_mailbox(match: re.Match[str]) -> bool:
    """Somebody's address: no role, placeholder, file, package, decorator or ``user@host`` of an address."""
    local, domain = match.group("local"), match.group("domain")
    text, start, end = match.string, match.start("local"), match.end()
    before, after = text[max(0, start - 40) : start], text[end : end + 2]
    ending = re.split(r"\.|\W+(?:dot)\W+", domain)[-1].lower()
    if (
        has("reserved", domain)
        or ending in word_lists()["file-endings"]
        or not _is_top_level(ending)
        or _is_role(local)
        or begins("stand-in", local)
        or has("stand-in-host", domain)
        or not any(c.isalpha() for c in local)
        or after[:1] in {"/", "("}
    ):
        return False
    if re.match(r":[\w~./-]", after) and not before.endswith(("mailto:", "<")):  # git@host:path
        return False
    if re.search(r"\b(?:ssh|scp|rsync|sftp|mosh)\b[^\n]*$", before):
        return False
    return re.search(r"[a-z][a-z0-9+.-]*://[^\s]*$", before) is None or before.endswith("mailto:")


def _other_mailbox(match: re.Match[str]) -> bool:
    return _is_mailbox(match) and not _is_persons_mailbox(match)


def _is_persons_mailbox(match: re.Match[str]) -> bool:
    """An address that names its owner, or one at a provider of private mail."""
    if not _is_mailbox(match):
        return False
    local = match.group("local")
    parts = [part for part in re.split(r"[._+-]|\d+", local) if part]
    return (
        match.group("domain").lower().split(".")[0] in word_lists()["mail-providers"]
        or ("." in local and len(parts) >= 2 and all(part.isalpha() for part in parts) and len(parts[-1]) >= 3)
        or any(_is_given(part) for part in parts)
    )


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _around(match: re.Match[str], reach: int = 60) -> str:
    return match.string[max(0, match.start() - reach) : match.end() + reach]


def _is_card(match: re.Match[str]) -> bool:
    digits = _digits(match.group())
    if digits.startswith(("400000", "424242", "400027")) or not card(digits) or has("test-words", _around(match)):
        return False
    return (
        " " in match.group()
        or "-" in match.group()
        or has("card-word", _around(match))
        or (len(digits) in {15, 16} and not has("code-words", _around(match, 30)))
    )


def _is_iban(match: re.Match[str]) -> bool:
    return iban(re.sub(r"[\s-]", "", match.group("v")))


def _is_possible(number: str) -> bool:
    """Return whether a country has numbers of this length; without phonenumberslite (extra ``pii``), True."""
    try:
        import phonenumbers
    except ImportError:
        return True
    try:
        return bool(phonenumbers.is_possible_number(phonenumbers.parse(number, None)))
    except phonenumbers.NumberParseException:
        return False


def _is_phone(match: re.Match[str]) -> bool:
    number = match.group("v")
    digits = _digits(number)
    if (
        not 7 <= len(digits) <= 15
        or len(set(digits)) < 3
        or re.search(r"(?:19|20)\d\d[-/.](?:19|20)?\d|\b555[- ]?1234\b|\(555\)|(?:\d+\.){3}\d", number)
        or re.fullmatch(r"\d{4}-\d{2}-\d{2}|\d{1,3}(?:[.,]\d{3})+|\d+\.\d+|(?:\d{1,3}\.){3}\d{1,3}", number.strip())
    ):
        return False
    before, after = match.string[max(0, match.start("v") - 45) : match.start("v")], match.string[match.end("v") :][:25]
    plain = number.lstrip("( ")
    if len(digits) >= 9 and re.match(r"\+|00[1-9]", plain):
        return (
            not begins("not-phone", after.strip())
            and re.match(r"[\w%/]", after) is None
            and _is_possible("+" + (digits if plain.startswith("+") else digits[2:]))
        )
    if begins("not-phone", after.strip()) or "E.164" in before or re.search(r"<[^>]*$|-$", before):
        return False
    return (has("phone-word", before) or re.match(r"\W{0,3}(?:phone|mobile|tel|cell)\b", after, re.I)) is not None and (
        len(digits) >= 9 or re.search(r"[\s().-]", number.strip()) is not None
    )


def _number(what: str) -> Callable[[re.Match[str]], bool]:
    """Return a judge of numbers by a check of ``checksums``."""
    check = check_named(what)

    def accepts(match: re.Match[str]) -> bool:
        try:
            return "***" not in match.group() and check(re.sub(r"[\s.\-/]", "", match.group("v")))
        except (ValueError, IndexError):
            return False

    return accepts


def _is_home(match: re.Match[str]) -> bool:
    before, after = match.string[max(0, match.start() - 60) : match.start()], match.string[match.end() :][:60]
    return not has("not-home", _around(match, 70)) and (has("postcode", after) or has("home-word", before))


def _is_whereabouts(match: re.Match[str]) -> bool:
    latitude, longitude = abs(float(match.group("lat"))), abs(float(match.group("lon")))
    if latitude > 90 or longitude > 180:
        return False
    around = _around(match, 70)
    return has("whereabouts", around) and (not has("place-words", around) or has("somebodys-place", around))


def _is_persons_address(match: re.Match[str]) -> bool:
    parts = [int(part) for part in match.group("v").split(".")] if "." in match.group("v") else None
    text, end = match.string, match.end("v")
    if text[end : end + 1] == "/" and text[end + 1 : end + 3].strip().isdigit():
        return False
    if parts is not None:
        a, b = parts[0], parts[1]
        if (
            any(part > 255 for part in parts)
            or a in {0, 10, 127, 255}
            or a >= 224
            or (a, b) in {(192, 168), (169, 254)}
            or (a == 172 and 16 <= b <= 31)
            or (a == 100 and 64 <= b <= 127)
        ):
            return False
        if re.search(r"(?:\bv|version|release)\s*$", text[: match.start("v")][-12:], re.I):
            return False
    if parts is not None and (max(parts) < 32 or len(set(parts)) == 1):
        return False
    sentence = (
        re.split(r"[.!?]\s|\n", text[max(0, match.start("v") - 90) : match.start("v")])[-1]
        + text[end : end + 60].split("\n")[0]
    )
    return has("somebodys-machine", sentence) and not has("nobodys-machine", sentence)


_WORD = r"[A-ZÀ-ÖØ-ÞĀ-Ž][a-zà-öø-ÿā-ž'’]+(?:-[A-ZÀ-Þ][a-zà-ÿ]+)?"


def _is_name(*words: str | None) -> bool:
    return all(word is not None and word.lower() not in word_lists()["not-names"] and len(word) >= 2 for word in words)


def _named(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return _is_given(groups["first"]) and _is_name(groups["first"], groups.get("last") or groups["first"])


def _titled(match: re.Match[str]) -> bool:
    """A title before a name; a doctor or professor, who may be an author, only beside patients or customers."""
    return _is_name(match.group("first")) and (
        match.group()[:2] not in {"Dr", "Pr"} or has("patient", _around(match, 60))
    )


def _about_a_person(match: re.Match[str]) -> bool:
    """A given name or a titled one in the same sentence as the private fact, before it or just after."""
    text = match.string
    start = max((found.end() for found in pattern("sentence-end").finditer(text[: match.start()])), default=0)
    before = text[start : match.start()][-160:]
    if has("thing", before[-60:]):
        return False
    if has("title", before) or any(_is_given(word) for word in re.findall(_WORD, before)):
        return True
    end = re.search(r"[.!?](?:\s|$)|\n", text[match.end() :])
    after = text[match.end() : match.end() + (end.start() if end else 80)][:40]
    return any(_is_given(word) for word in re.findall(_WORD, after))


def _is_record(match: re.Match[str]) -> bool:
    return (
        _named(match)
        and match.group("last").lower() not in {"doe", "smith", "editor", "tester", "example", "user", "mustermann"}
        and has("record-field", _around(match, 160))
    )


def _is_given(word: str) -> bool:
    return word.lower() in word_lists()["given"] and word.lower() not in word_lists()["not-names"]


def _given_name(match: re.Match[str]) -> bool:
    return _is_given(match.group("first"))


def _colleague(match: re.Match[str]) -> bool:
    after = match.string[match.end() : match.end() + 4]
    return _given_name(match) and re.match(r"\s*(?:\(|/|[A-Z]{2})", after) is None


def _stdnum(module: str) -> Callable[[re.Match[str]], bool]:
    def accepts(match: re.Match[str]) -> bool:
        from importlib import import_module

        try:
            number = import_module(f"stdnum.{module}")
        except ImportError:
            return False
        words = match.group("v").split()
        tries = (" ".join(words[:size]) for size in range(len(words), 0, -1))
        return any(number.is_valid(one.strip(".,;-/")) for one in tries)

    return accepts


ADDRESS_RULES = frozenset({"personal-email", "mail-address"})
"""The rules that the author's own address is excepted from, in ``author`` and ``evidence`` (ADMISSION 3)."""


@cache
def personal_rules() -> tuple[Rule, ...]:
    """Return every rule against personal data."""
    return (*read_rules("personal.rules", globals()), *read_rules("numbers.rules", globals()))
