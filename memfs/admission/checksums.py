"""Check digits of the numbers that states and banks give to people (ADMISSION 3). Pure.

Each function takes the characters without separators and says whether the check digit holds.
Formulas: ISO/IEC 7812 (Luhn), ISO 13616 (IBAN), ISO 7064, and each number's own national rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip


def luhn(digits: str) -> bool:
    """Return whether the last digit is the Luhn check digit of the others."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def card(digits: str) -> bool:
    """Return whether ``digits`` can be a payment card: a known issuer's range and length, and Luhn."""
    size, two, four = len(digits), int(digits[:2] or 0), int(digits[:4] or 0)
    known = (
        (digits[0] == "4" and size in {13, 16, 19})
        or (size == 16 and (51 <= two <= 55 or 2221 <= four <= 2720 or two == 35 or four == 6011 or two in {64, 65}))
        or (size == 15 and two in {34, 37})
        or (size == 14 and (two in {36, 38, 39} or 300 <= int(digits[:3]) <= 305))
        or (16 <= size <= 19 and two == 62)
        or (size in {16, 18, 19} and (two in {50, 56, 57, 58} or four in {6304, 6759, 6761, 6763}))
    )
    return known and len(set(digits)) > 1 and luhn(digits)


def iban(text: str) -> bool:
    """Return whether ``text`` is an IBAN: its country's length, and the remainder 1 by 97."""
    text = text.upper()
    if len(text) != _IBAN_LENGTHS.get(text[:2]):
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def _weighted(text: str, weights: Sequence[int]) -> int:
    """Return the weighted sum of the first characters; a letter counts from ten on."""
    return sum(int(char, 36) * weight for char, weight in zip(text, weights, strict=False))


def check_named(what: str) -> Callable[[str], bool]:
    """Return the check that a rule names: ``6-10``, how many characters there are; ``luhn9``, and Luhn's digit at the
    end; ``sum 11 3,2,1``, every sum by these weights is a multiple of 11; ``last 11 4,3,2``, the character after the
    weighted ones is what the sum lacks to one (0 for 10); or a function of this module."""
    kind, *words = what.split()
    weights = [[int(weight) for weight in word.split(",")] for word in words]
    if kind == "sum":
        (modulus,), *rows = weights
        return lambda text: len(set(text)) > 1 and not any(_weighted(text, row) % modulus for row in rows)
    if kind == "last":
        (modulus,), *rows = weights
        return lambda text: (
            len(set(text)) > 1 and all(-_weighted(text, row) % modulus % 10 == int(text[len(row)]) for row in rows)
        )
    size = re.fullmatch(r"(luhn)?(\d+)(?:-(\d+))?", kind)
    if size is None:
        check: Callable[[str], bool] = globals()[kind]
        return check
    least, most, needs_luhn = int(size[2]), int(size[3] or size[2]), size[1] is not None
    return lambda text: least <= len(text) <= most and (not needs_luhn or luhn(text))


def de_tax(digits: str) -> bool:
    if len(digits) != 11 or digits[0] == "0":
        return False
    product = 10
    for digit in digits[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def fr_nir(text: str) -> bool:
    body = text[:13].upper().replace("2A", "19").replace("2B", "18")
    return len(text) == 15 and body.isdigit() and text[13:].isdigit() and 97 - int(body) % 97 == int(text[13:])


def cn_id(text: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return len(text) == 18 and "10X98765432"[_weighted(text[:17], weights) % 11] == text[17].upper()


def es_dni(text: str) -> bool:
    text = text.upper()
    number = text[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return number.isdigit() and len(text) == 9 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def it_fiscal(text: str) -> bool:
    odd = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
        10, 22, 25, 24, 23,
    ), strict=True))  # fmt: skip
    text = text.upper()
    total = sum(odd[c] if i % 2 == 0 else (int(c) if c.isdigit() else ord(c) - 65) for i, c in enumerate(text[:15]))
    return chr(65 + total % 26) == text[15]


def be_national(digits: str) -> bool:
    if len(digits) != 11:
        return False
    return int(digits[9:]) in {97 - int(digits[:9]) % 97, 97 - int("2" + digits[:9]) % 97}


def in_aadhaar(digits: str) -> bool:
    """Verhoeff's check over twelve digits."""
    if len(digits) != 12 or digits[0] in "01":
        return False
    table = (
        "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
        "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
    )  # fmt: skip
    turns = (
        "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
    )  # fmt: skip
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(table[check][int(turns[place % 8][int(digit)])])
    return check == 0


def sg_nric(text: str) -> bool:
    text = text.upper()
    total = _weighted(text[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if text[0] in "TG" else 0)
    letters = "JZIHGFEDCBA" if text[0] in "ST" else "XWUTRQPNMLK"
    return letters[total % 11] == text[8]


def tr_kimlik(digits: str) -> bool:
    if len(digits) != 11 or digits[0] == "0":
        return False
    odd, even = sum(map(int, digits[0:9:2])), sum(map(int, digits[1:8:2]))
    return (odd * 7 - even) % 10 == int(digits[9]) and sum(map(int, digits[:10])) % 10 == int(digits[10])


def ru_snils(digits: str) -> bool:
    return len(digits) == 11 and _weighted(digits, range(9, 0, -1)) % 101 % 100 == int(digits[9:])
