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
from memfs.admission.lazy import lazy
from memfs.admission.rules import Rule
from memfs.admission.tables import read_rules, word_lists

_RESERVED = lazy(
    r"(?:^|\.)(?:example(?:\.[a-z]{2,3})?(?:\.[a-z]{2})?|test|invalid|localhost|local|internal|lan|corp|"
    r"home|arpa|example)$"
    r"|(?:^|\.)example\.(?:com|org|net|edu|io|dev|[a-z]{2})$|\.(?:iam\.)?gserviceaccount\.com$|noreply\.[a-z.]+$",
    re.IGNORECASE,
)


_STAND_IN = lazy(
    r"(?:your|my|some|any|the|first|last|full|user|customer|client|new|old|fake|dummy|sample|test|demo|foo|bar|baz|john|"
    r"jane|joe|alice|bob|carol|eve|mallory|admin|name|email|mail|me|you|xxx|nobody|somebody|someone|custom|recipient|"
    r"sender|buyer|seller|owner|guest|member|student|teacher|employee|manager)"
    r"(?:[-._+]?(?:doe|smith|name|last\w*|first\w*|user|email|e-mail|mail|address|here|actual|example|account|\d+))*$",
    re.IGNORECASE,
)
_STAND_IN_HOST = lazy(
    r"(?:^|\.)(?:your|my|some|the)?-?(?:company|domain|host|site|org|organi[sz]ation|email|mail|server|bastion|website|"
    r"business|corp|acme|contoso-?test|foo|bar|baz|xxx|yyy|abc|xyz|test|demo|myapp|yourapp|app|startup)\d*\.[a-z]{2,6}$"
    r"|(?:^|\.)(?:your|my)\w+\.[a-z.]+$|^(?:lists?|groups?)\.|(?:^|\.)googlegroups\.com$",
    re.IGNORECASE,
)


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
        _RESERVED.search(domain)
        or ending in word_lists()["file-endings"]
        or not _is_top_level(ending)
        or _is_role(local)
        or _STAND_IN.match(local)
        or _STAND_IN_HOST.search(domain)
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


_TEST_WORDS = lazy(
    r"\b(?:test(?:ing|s)?|demo|fixtures?|sandbox|example|sample|mock|fake|dummy|stripe|adyen|braintree|"
    r"documentation|docs?|validat\w+)\b",
    re.IGNORECASE,
)
_CODE_WORDS = lazy(
    r"\b(?:barcode|ean|gtin|isbn|upc|sku|order|invoice|snowflake|trace|timestamp|epoch|build|serial|"
    r"tracking|part|id)\b",
    re.IGNORECASE,
)


def _around(match: re.Match[str], reach: int = 60) -> str:
    return match.string[max(0, match.start() - reach) : match.end() + reach]


def _is_card(match: re.Match[str]) -> bool:
    digits = _digits(match.group())
    if digits.startswith(("400000", "424242", "400027")) or not card(digits) or _TEST_WORDS.search(_around(match)):
        return False
    spaced = " " in match.group() or "-" in match.group()
    return (
        spaced
        or re.search(
            r"card|visa|master|amex|payment|paid|typed|charged|karte|carte|tarjeta|customer|pan\b", _around(match), re.I
        )
        is not None
        or (len(digits) in {15, 16} and not _CODE_WORDS.search(_around(match, 30)))
    )


def _is_iban(match: re.Match[str]) -> bool:
    return iban(re.sub(r"[\s-]", "", match.group("v")))


_PHONE_WORD = lazy(
    r"(?:\b(?:phones?|telephone|tel|mobile|cell|cellphone|fax|(?<!on-)called|(?<!on-)(?<!api )calls?|"
    r"(?<!on-)calling|dial(?:ed)?|rang|ring|whatsapp|sms|texted|text (?:him|her|me|us|them)|contact|reach(?:able|ed)?|"
    r"hotline|"
    r"telefon\w*|handy\w*|mobil\w*|rufnummer|anruf\w*|erreichbar|téléphone|portable|appel\w*|joindre|"
    r"teléfono|telefono|móvil|cellulare|celular|telefone|llam\w*|telefoon|mobiel|bellen|tlf|puh|gsm)\b"
    r"|电话|手机|電話|携帯|전화|телефон|тел\b|моб)",
    re.IGNORECASE,
)
_NOT_PHONE = lazy(
    r"\b(?:ms|rows?|bytes?|requests?|lines?|delays?|ports?|offsets?|build|epoch|error|version|sku|id|ids|"
    r"pixels?|px|tickets?|issue|pr)\b",
    re.IGNORECASE,
)


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
    before, after = (
        match.string[max(0, match.start("v") - 45) : match.start("v")],
        match.string[match.end("v") : match.end("v") + 25],
    )
    plain = number.lstrip("( ")
    if len(digits) >= 9 and re.match(r"\+|00[1-9]", plain):
        return (
            _NOT_PHONE.match(after.strip()) is None
            and re.match(r"[\w%/]", after) is None
            and _is_possible("+" + (digits if plain.startswith("+") else digits[2:]))
        )
    if _NOT_PHONE.match(after.strip()) or "E.164" in before or re.search(r"<[^>]*$|-$", before):
        return False
    return (
        _PHONE_WORD.search(before) or re.match(r"\W{0,3}(?:phone|mobile|tel|cell)\b", after, re.I)
    ) is not None and (len(digits) >= 9 or re.search(r"[\s().-]", number.strip()) is not None)


def _number(what: str) -> Callable[[re.Match[str]], bool]:
    """Return a judge of numbers by a check of ``checksums``."""
    check = check_named(what)

    def accepts(match: re.Match[str]) -> bool:
        try:
            return "***" not in match.group() and check(re.sub(r"[\s.\-/]", "", match.group("v")))
        except (ValueError, IndexError):
            return False

    return accepts


_POSTCODE = (
    r"(?:[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}|[A-Z]{2}\s+\d{5}(?:-\d{4})?|\b\d{5}\b|[A-Z]\d[A-Z]\s?\d[A-Z]\d|"
    r"\b\d{4}\s?[A-Z]{2}\b|\b\d{4}\b)"
)
_HOME_WORD = lazy(
    r"\b(?:ships?|shipped|deliver(?:y|ed)?|lives?|living|resid\w+|home|house|flat|apt|apartment|address|"
    r"customer|client|patient|tenant|wohn\w+|adresse|anschrift|kunde|kundin|"
    r"livraison|habite|domicil\w+|direcci[oó]n|vive|residen\w+|abita|indirizzo|woont|adres|her|his|send|"
    r"parcel|moved)\b",
    re.IGNORECASE,
)
_NOT_HOME = lazy(
    r"\b(?:fixtures?|tests?|geocoder|example|sample|demo|mock|office|headquarters|hq|free software foundation|"
    r"data ?cent(?:er|re)|"
    r"venue|placeholder)\b",
    re.IGNORECASE,
)


def _is_home(match: re.Match[str]) -> bool:
    around = _around(match, 70)
    if _NOT_HOME.search(around):
        return False
    return (
        re.search(_POSTCODE, match.string[match.end() : match.end() + 60]) is not None
        or _HOME_WORD.search(match.string[max(0, match.start() - 60) : match.start()]) is not None
    )


_PLACE_WORDS = lazy(
    r"\b(?:default|cent(?:er|re)|fixtures?|tests?|bounding|bbox|example|demo|sample|office|region|data "
    r"?cent(?:er|re)|rounds?|tolerance|mock|city|store|warehouse|landmark|origin|viewport)\b",
    re.IGNORECASE,
)


def _is_whereabouts(match: re.Match[str]) -> bool:
    latitude, longitude = abs(float(match.group("lat"))), abs(float(match.group("lon")))
    if latitude > 90 or longitude > 180:
        return False
    around = _around(match, 70)
    if not re.search(
        r"\b(?:lat|lon|lng|gps|coord|locat|posit|home|house|pin|liv|addres|track|seen|met|wohn)", around, re.I
    ):
        return False
    return (
        _PLACE_WORDS.search(around) is None
        or re.search(
            r"\b(?:her|his|their|home|customer|user|driver|courier|patient|client|lives?|house)\b", around, re.I
        )
        is not None
    )


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
    return (
        re.search(
            r"\b(?:customer|client|user|visitor|subscriber|guest|employee|member|patient|caller|tenant|player|"
            r"attacker|home|her|his|she|he|kunde|kundin|benutzer\w*|utilisateur|cliente|usuario|colleague|"
            r"contractor|intern)\b(?!\s*(?:agent|-agent|data|ips?\b))",
            sentence,
            re.I,
        )
        is not None
        and re.search(
            r"\b(?:fixtures?|documentation|range|example|tests?|allow-?list|load balancer|subnet|nat gateway)\b",
            sentence,
            re.I,
        )
        is None
    )


_WORD = r"[A-ZÀ-ÖØ-ÞĀ-Ž][a-zà-öø-ÿā-ž'’]+(?:-[A-ZÀ-Þ][a-zà-ÿ]+)?"
_FULL_NAME = (
    rf"(?P<first>{_WORD})\s+(?:(?:van|von|de|da|del|della|di|bin|al|el|der|den|la|le|"
    rf"[A-Z]\.)\s+){{0,3}}(?P<last>{_WORD})"
)


def _is_name(*words: str | None) -> bool:
    return all(word is not None and word.lower() not in word_lists()["not-names"] and len(word) >= 2 for word in words)


def _named(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return _is_given(groups["first"]) and _is_name(groups["first"], groups.get("last") or groups["first"])


def _titled(match: re.Match[str]) -> bool:
    """A title before a name; a doctor or professor, who may be an author, only beside patients or customers."""
    if not _is_name(match.group("first")):
        return False
    if match.group()[:2] not in {"Dr", "Pr"}:
        return True
    return (
        re.search(r"\b(?:patient|physician|doctor|clinic|customer|diagnos|asked|called|wants)", _around(match, 60))
        is not None
    )


_THING = lazy(
    r"\b(?:fields?|column|table|schema|endpoint|api|feature|module|enum|polic(?:y|ies)|dataset|model|"
    r"class(?:es)?|script|process|service|daemon|server|job|pod|thread|worker|node|app|system|tests?|product)\b",
    re.IGNORECASE,
)
_TITLE = lazy(r"\b(?:Mr|Mrs|Ms|Dr|Herr|Frau|Mme|Madame|Monsieur)\.?\s+[A-Z]")
_SENTENCE_END = lazy(r"(?<![A-Z])(?<!\b(?:Mr|Ms|Dr))[.!?]\s+(?=[A-Z\"'])|\n\n")


def _about_a_person(match: re.Match[str]) -> bool:
    """A given name or a titled one in the same sentence as the private fact, before it or just after."""
    text = match.string
    start = max((found.end() for found in _SENTENCE_END.finditer(text[: match.start()])), default=0)
    before = text[start : match.start()][-160:]
    if _THING.search(before[-60:]):
        return False
    if _TITLE.search(before) or any(_is_given(word) for word in re.findall(_WORD, before)):
        return True
    end = re.search(r"[.!?](?:\s|$)|\n", text[match.end() :])
    after = text[match.end() : match.end() + (end.start() if end else 80)][:40]
    return any(_is_given(word) for word in re.findall(_WORD, after))


def _is_record(match: re.Match[str]) -> bool:
    return (
        _named(match)
        and match.group("last").lower() not in {"doe", "smith", "editor", "tester", "example", "user", "mustermann"}
        and re.search(
            r"\b(?:dx|diagnosis|icd|patient|dob|birth|ssn|iban|card|policy_?no|phone|mobile|"
            r"passport|salary|insur\w+|mrn|customer_?id|nationality)\b\W",
            _around(match, 160),
            re.I,
        )
        is not None
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
