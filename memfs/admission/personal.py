"""Rules against personal data (ADMISSION 3). Data and small judges; pure.

``phonenumberslite`` and ``python-stdnum`` (extra ``pii``) add numbers to what is found here; nothing
is missed without them that the figures of the documentation count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from memfs.admission import checksums
from memfs.admission.lazy import LazyPattern
from memfs.admission.names import GIVEN, NOT_NAMES
from memfs.admission.rules import Family, Rule, Severity, word_set, words

_RESERVED = LazyPattern(
    r"(?:^|\.)(?:example(?:\.[a-z]{2,3})?(?:\.[a-z]{2})?|test|invalid|localhost|local|internal|lan|corp|"
    r"home|arpa|example)$"
    r"|(?:^|\.)example\.(?:com|org|net|edu|io|dev|[a-z]{2})$|\.(?:iam\.)?gserviceaccount\.com$|noreply\.[a-z.]+$",
    re.IGNORECASE,
)
_ROLE_MAILBOX = LazyPattern(
    r"(?:[\w.+-]*[-._+])?(?:no-?reply|do-?not-?reply|security|support|info|admin|administrator|sales|abuse|"
    r"postmaster|hostmaster|webmaster|contact|help|helpdesk|"
    r"hello|team|ops|sre|dev|devs|devops|engineering|platform|infra|infrastructure|billing|accounts|legal|"
    r"privacy|dpo|press|media|jobs|careers|hr|people|office|noc|soc|"
    r"on-?call|alerts?|alerting|notifications?|notify|root|git|svn|ci|cd|bot|bots|robot|build|builds|"
    r"release|releases|maintainers?|users|list|lists|announce|"
    r"mailer-daemon|mailer|daemon|dependabot|actions?|renovate|service|services|system|monitoring|feedback|"
    r"community|conduct|coc|newsletter|marketing|orders|invoices?|"
    r"finance|partners|api|developers?|it|itsupport|servicedesk|deploy|deployer|runner|automation|agent|"
    r"agents|claude|codex|copilot|cursor|gemini)(?:[-._+]?(?:team|list|bot|\d+))?$",
    re.IGNORECASE,
)
_FILE_ENDING = word_set(
    """
    png jpg jpeg svg gif webp service timer socket target mount conf js ts tsx mjs css py md yaml yml json lock
    tgz gz
    """
)


def _is_persons_mailbox(match: re.Match[str]) -> bool:
    local, domain = match.group("local"), match.group("domain")
    text, start, end = match.string, match.start("local"), match.end()
    before, after = text[max(0, start - 40) : start], text[end : end + 2]
    ending = domain.rsplit(".", 1)[-1].lower()
    if (
        _RESERVED.search(domain)
        or ending in _FILE_ENDING
        or _ROLE_MAILBOX.match(local)
        or not any(c.isalpha() for c in local)
    ):
        return False
    if re.match(r":[\w~./-]", after) and not before.endswith(("mailto:", "<")):  # git@host:path
        return False
    return re.search(r"[a-z][a-z0-9+.-]*://[^\s]*$", before) is None or before.endswith(
        "mailto:"
    )  # user@host in an address


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


_TEST_WORDS = LazyPattern(
    r"\b(?:test(?:ing|s)?|demo|fixtures?|sandbox|example|sample|mock|fake|dummy|stripe|adyen|braintree|"
    r"documentation|docs?|validat\w+)\b",
    re.IGNORECASE,
)
_CODE_WORDS = LazyPattern(
    r"\b(?:barcode|ean|gtin|isbn|upc|sku|order|invoice|snowflake|trace|timestamp|epoch|build|serial|"
    r"tracking|part|id)\b",
    re.IGNORECASE,
)


def _around(match: re.Match[str], reach: int = 60) -> str:
    return match.string[max(0, match.start() - reach) : match.end() + reach]


def _is_card(match: re.Match[str]) -> bool:
    digits = _digits(match.group())
    if not checksums.card(digits) or _TEST_WORDS.search(_around(match)):
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
    return checksums.iban(re.sub(r"[\s-]", "", match.group("v")))


_PHONE_WORD = LazyPattern(
    r"(?:\b(?:phones?|telephone|tel|mobile|cell|cellphone|fax|(?<!on-)called|(?<!on-)(?<!api )calls?|"
    r"(?<!on-)calling|dial(?:ed)?|rang|ring|whatsapp|signal|sms|texted|text|contact|reach(?:able|ed)?|"
    r"hotline|"
    r"telefon\w*|handy\w*|mobil\w*|rufnummer|anruf\w*|erreichbar|téléphone|portable|appel\w*|joindre|"
    r"teléfono|telefono|móvil|cellulare|celular|telefone|llam\w*|telefoon|mobiel|bellen|tlf|puh|gsm)\b"
    r"|电话|手机|電話|携帯|전화|телефон|тел\b|моб)",
    re.IGNORECASE,
)
_NOT_PHONE = LazyPattern(
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
    if _NOT_PHONE.match(after.strip()) or "E.164" in before:
        return False
    return (
        _PHONE_WORD.search(before) or re.match(r"\W{0,3}(?:phone|mobile|tel|cell)\b", after, re.I)
    ) is not None and (len(digits) >= 9 or re.search(r"[\s().-]", number.strip()) is not None)


def _with(check: Callable[[str], bool], strip: str = r"[\s.\-/]") -> Callable[[re.Match[str]], bool]:
    def accepts(match: re.Match[str]) -> bool:
        text = re.sub(strip, "", match.group("v"))
        try:
            return check(text) and "***" not in match.group()
        except (ValueError, IndexError):
            return False

    return accepts


_GAP = r"[^\n]{0,40}?"
# Name, whose number, words (lower case), pattern of the words, pattern of the number, check.
_NATIONAL: tuple[tuple[str, str, tuple[str, ...], str, str, Callable[[str], bool]], ...] = (
    (
        "us-ssn",
        "a US social security number",
        ("ssn", "social security"),
        r"(?i:\bSSNs?\b|social security)",
        r"(?!000|666|9)\d{3}[- ]?(?!00)\d{2}[- ]?(?!0000)\d{4}",
        lambda text: len(text) == 9,
    ),
    (
        "uk-nino",
        "a UK national insurance number",
        ("national insurance", "nino", "ni number"),
        r"(?i:national insurance|\bnino\b|\bNI number)",
        r"[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z]{2}\s?(?:\d{2}\s?){3}[A-Da-d]",
        lambda text: len(text) == 9,
    ),
    ("uk-nhs", "an NHS number", ("nhs",), r"(?i:\bNHS\b)", r"\d{3}[ -]?\d{3}[ -]?\d{4}", checksums.uk_nhs),
    (
        "de-tax-id",
        "a German tax id",
        ("steuer", "tax id", "tin"),
        r"(?i:steuer-?\s?(?:id|identifikations?\w*|nummer|nr)|\btax id|\bIdNr)",
        r"\d{2}\s?\d{3}\s?\d{3}\s?\d{3}",
        checksums.de_tax,
    ),
    (
        "de-identity-card",
        "a German identity card or passport number",
        ("ausweis", "reisepass", "identity card", "id card", "perso"),
        r"(?i:personalausweis\w*|reisepass\w*|ausweis\w*|identity card|id card|\bperso\b)",
        r"[CFGHJKLMNPRTVWXYZ0-9]{9}\d",
        checksums.machine_readable,
    ),
    (
        "fr-nir",
        "a French social security number",
        ("sécurité sociale", "securite sociale", "nir", "insee", "sécu"),
        r"(?i:s[ée]curit[ée] sociale|\bNIR\b|\bINSEE\b|\bs[ée]cu\b)",
        r"[12]\s?\d{2}\s?(?:0[1-9]|1[0-2]|[2-9]\d)\s?(?:\d{2}|2[AB])\s?\d{3}\s?\d{3}\s?\d{2}",
        checksums.fr_nir,
    ),
    (
        "nl-bsn",
        "a Dutch citizen service number",
        ("bsn", "burgerservice", "sofi"),
        r"(?i:\bBSN\b|burgerservicenummer|sofinummer)",
        r"\d{9}|\d{3}[. ]\d{3}[. ]\d{3}|\d{4}[. ]\d{2}[. ]\d{3}",
        checksums.nl_bsn,
    ),
    (
        "cn-id",
        "a Chinese identity number",
        ("身份证", "identity", "id card", "resident"),
        r"身份证\w*|(?i:resident id|identity (?:card|number)|id card)",
        r"\d{17}[\dXx]",
        checksums.cn_id,
    ),
    (
        "ca-sin",
        "a Canadian social insurance number",
        ("sin", "social insurance", "nas"),
        r"(?:\bSIN\b|\bNAS\b|(?i:social insurance|assurance sociale))",
        r"\d{3}[ -]?\d{3}[ -]?\d{3}",
        lambda text: (
            (len(text) == 9 and text[0] != "0" and checksums.luhn(text)) or (len(text) == 9 and checksums.luhn(text))
        ),
    ),
    (
        "es-dni",
        "a Spanish DNI or NIE",
        ("dni", "nie", "nif", "documento nacional"),
        r"(?i:\bDNI\b|\bNIE\b|\bNIF\b|documento nacional)",
        r"[XYZ]?[\s-]?\d{7,8}[\s-]?[A-Za-z]",
        checksums.es_dni,
    ),
    (
        "it-fiscal-code",
        "an Italian fiscal code",
        ("codice fiscale", "fiscal code", "cf"),
        r"(?i:codice fiscale|fiscal code|\bC\.?F\.?(?=\s*[:=]))",
        r"[A-Za-z]{6}\d{2}[A-Ea-eHLMPRSThlmprst]\d{2}[A-Za-z]\d{3}[A-Za-z]",
        checksums.it_fiscal,
    ),
    ("pl-pesel", "a Polish PESEL", ("pesel",), r"(?i:\bPESEL\b)", r"\d{11}", checksums.pl_pesel),
    (
        "se-personal-number",
        "a Swedish personal number",
        ("personnummer", "personal number", "personal identity"),
        r"(?i:personnummer|personal (?:identity )?number)",
        r"(?:19|20)?\d{6}[-+ ]?\d{4}",
        checksums.se_personal,
    ),
    (
        "no-birth-number",
        "a Norwegian birth number",
        ("fødselsnummer", "fodselsnummer", "birth number", "personnummer"),
        r"(?i:f[øo]dselsnummer|birth number|personnummer)",
        r"\d{6}[ ]?\d{5}",
        checksums.no_birth,
    ),
    ("dk-cpr", "a Danish CPR number", ("cpr",), r"(?i:\bCPR\b)", r"\d{6}-?\d{4}", checksums.dk_cpr),
    (
        "fi-hetu",
        "a Finnish personal identity code",
        ("hetu", "henkilötunnus", "henkilotunnus"),
        r"(?i:\bHETU\b|henkil[öo]tunnus\w*)",
        r"\d{6}[-+ABCDEFYXWVU]\d{3}[0-9A-Ya-y]",
        lambda text: len(text) in {10, 11},
    ),
    (
        "be-national-number",
        "a Belgian national number",
        ("rijksregister", "registre national", "national number", "niss", "insz"),
        r"(?i:rijksregister\w*|registre national|national (?:register )?number|\bNISS\b|\bINSZ\b)",
        r"\d{2}\.?\d{2}\.?\d{2}[- ]?\d{3}[.\- ]?\d{2}",
        checksums.be_national,
    ),
    (
        "ch-ahv",
        "a Swiss AHV number",
        ("ahv", "avs", "756"),
        r"(?i:\bAHV\b|\bAVS\b|sozialversicherungsnummer|numéro avs)",
        r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}",
        checksums.ean13,
    ),
    ("br-cpf", "a Brazilian CPF", ("cpf",), r"(?i:\bCPF\b)", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", checksums.br_cpf),
    (
        "in-aadhaar",
        "an Indian Aadhaar number",
        ("aadhaar", "aadhar", "uidai"),
        r"(?i:\baadhaa?r\b|\buidai\b)",
        r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}",
        checksums.in_aadhaar,
    ),
    (
        "in-pan",
        "an Indian PAN",
        ("pan ", "pan:", "permanent account"),
        r"(?:\bPAN\b|(?i:permanent account number))",
        r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]",
        lambda text: len(text) == 10,
    ),
    (
        "au-tfn",
        "an Australian tax file number",
        ("tfn", "tax file"),
        r"(?i:\bTFN\b|tax file)",
        r"\d{3} ?\d{3} ?\d{3}",
        checksums.au_tfn,
    ),
    (
        "kr-rrn",
        "a Korean resident number",
        ("주민", "resident registration", "rrn"),
        r"주민(?:등록)?번호|(?i:resident registration|\bRRN\b)",
        r"\d{6}-?[1-8]\d{6}",
        lambda text: len(text) == 13,
    ),
    (
        "jp-my-number",
        "a Japanese My Number",
        ("マイナンバー", "my number", "個人番号"),
        r"マイナンバー|個人番号|(?i:my number)",
        r"\d{4}[ -]?\d{4}[ -]?\d{4}",
        checksums.jp_my_number,
    ),
    (
        "sg-nric",
        "a Singapore NRIC",
        ("nric", "fin"),
        r"(?i:\bNRIC\b|\bFIN\b)",
        r"[STFGstfg]\d{7}[A-Za-z]",
        checksums.sg_nric,
    ),
    (
        "tr-kimlik",
        "a Turkish identity number",
        ("kimlik", "tckn", "tc no"),
        r"(?i:kimlik|\bTCKN\b|\bTC no)",
        r"[1-9]\d{10}",
        checksums.tr_kimlik,
    ),
    (
        "ru-snils",
        "a Russian SNILS",
        ("снилс", "snils"),
        r"(?i:снилс|\bSNILS\b)",
        r"\d{3}-?\d{3}-?\d{3}[ -]?\d{2}",
        checksums.ru_snils,
    ),
    (
        "pt-nif",
        "a Portuguese NIF",
        ("nif", "contribuinte"),
        r"(?i:\bNIF\b|contribuinte)",
        r"[1235689]\d{2} ?\d{3} ?\d{3}",
        checksums.pt_nif,
    ),
    (
        "il-id",
        "an Israeli identity number",
        ("teudat", "תעודת זהות", "israeli id"),
        r"(?i:teudat zehut|israeli id)|תעודת זהות",
        r"\d{8,9}",
        checksums.il_id,
    ),
    (
        "mx-curp",
        "a Mexican CURP",
        ("curp",),
        r"(?i:\bCURP\b)",
        r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d",
        lambda text: len(text) == 18,
    ),
    (
        "passport",
        "a passport number",
        words("passport|reisepass|passeport|pasaporte|passaporto|paspoort"),
        r"(?i:passport(?:\s*(?:no|number|nr|#))?|reisepass\w*|passeport|pasaporte|passaporto|paspoort)",
        r"(?=[A-Z0-9]*\d[A-Z0-9]*\d[A-Z0-9]*\d)[A-Z]{0,3}[A-Z0-9]{5,9}(?![a-z])",
        lambda text: 6 <= len(text) <= 10,
    ),
    (
        "driving-licence",
        "a driving licence number",
        ("driving licen", "driver's licen", "drivers licen", "führerschein", "permis de conduire"),
        r"(?i:driv(?:ing|er'?s?) licen[cs]e(?:\s*(?:no|number|#))?|f[üu]hrerschein\w*|permis de conduire)",
        r"(?=[A-Z0-9]*\d[A-Z0-9]*\d[A-Z0-9]*\d[A-Z0-9]*\d)[A-Z0-9]{6,18}",
        lambda text: len(text) >= 6,
    ),
    (
        "imei",
        "a device's IMEI",
        ("imei",),
        r"(?i:\bIMEI\b)",
        r"\d{2}[ -]?\d{6}[ -]?\d{6}[ -]?\d",
        lambda text: len(text) == 15 and checksums.luhn(text),
    ),
    (
        "vin",
        "a vehicle identification number",
        ("vin", "chassis", "fahrgestell"),
        r"(?:\bVIN\b|(?i:chassis (?:no|number)|fahrgestellnummer))",
        r"[A-HJ-NPR-Z0-9]{17}",
        checksums.vin,
    ),
    (
        "plate",
        "a vehicle's number plate",
        words("plate|kennzeichen|immatriculation|matrícula|targa|kenteken"),
        r"(?i:(?:licen[cs]e|number|registration) plate|\bplates?\b|kennzeichen|immatriculation|matrícula|"
        r"\btarga\b|kenteken)",
        r"(?=[A-ZÄÖÜ0-9 -]*\d)(?=[A-ZÄÖÜ0-9 -]*[A-Z])[A-ZÄÖÜ0-9]{1,4}[- ]?[A-ZÄÖÜ0-9]{1,4}[- "
        r"]?[A-ZÄÖÜ0-9]{1,4}(?![a-z])",
        lambda text: 5 <= len(text) <= 9,
    ),
    (
        "bank-routing",
        "a bank account",
        ("routing", "aba"),
        r"(?i:routing(?:\s*(?:no|number|#))?|\bABA\b)",
        r"\d{9}",
        checksums.aba,
    ),
    (
        "bank-account",
        "a bank account",
        words(
            "sort code|bank account|account number|kontonummer|bankleitzahl|blz|iban|numéro de compte|número de cuenta"
        ),
        r"(?i:sort code|bank account(?:\s*(?:no|number|#))?|bank a/c|kontonummer|bankleitzahl|\bBLZ\b|numéro "
        r"de compte|número de cuenta|rekeningnummer)",
        r"\d{2}-\d{2}-\d{2}|\d{6,17}|\d{3} \d{3} \d{2}",
        lambda text: 6 <= len(text) <= 17,
    ),
)

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Way|Place|Pl|Terrace|"
    r"Gardens?|Square|Sq|Close|Crescent|Parkway|Pkwy|Row|Mews|Hill|Grove|Highway|Hwy|Circle|Walk|Quay|"
    r"Trail|Alley|Park)"
)
_POSTCODE = (
    r"(?:[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}|[A-Z]{2}\s+\d{5}(?:-\d{4})?|\b\d{5}\b|[A-Z]\d[A-Z]\s?\d[A-Z]\d|"
    r"\b\d{4}\s?[A-Z]{2}\b|\b\d{4}\b)"
)
_HOME_WORD = LazyPattern(
    r"\b(?:ships?|shipped|deliver(?:y|ed)?|lives?|living|resid\w+|home|house|flat|apt|apartment|address|"
    r"customer|client|patient|tenant|wohn\w+|adresse|anschrift|kunde|kundin|"
    r"livraison|habite|domicil\w+|direcci[oó]n|vive|residen\w+|abita|indirizzo|woont|adres|her|his|send|"
    r"parcel|moved)\b",
    re.IGNORECASE,
)
_NOT_HOME = LazyPattern(
    r"\b(?:fixtures?|tests?|geocoder|example|sample|demo|mock|office|headquarters|hq|data ?cent(?:er|re)|"
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


_PLACE_WORDS = LazyPattern(
    r"\b(?:default|cent(?:er|re)|fixtures?|tests?|bounding|bbox|example|demo|sample|office|region|data "
    r"?cent(?:er|re)|rounds?|tolerance|mock|city|store|warehouse|landmark|origin|viewport)\b",
    re.IGNORECASE,
)


def _is_whereabouts(match: re.Match[str]) -> bool:
    latitude, longitude = abs(float(match.group("lat"))), abs(float(match.group("lon")))
    if latitude > 90 or longitude > 180:
        return False
    around = _around(match, 70)
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
    return all(word is not None and word.lower() not in NOT_NAMES and len(word) >= 2 for word in words)


def _named(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    before = match.string[max(0, match.start() - 3) : match.start()]
    if match.group()[0].isupper() and re.search(r"[a-z,]\s$", before):
        return False  # "the User Timing specification": a name, of a thing
    return _is_name(groups["first"], groups.get("last") or groups["first"])


def _titled(match: re.Match[str]) -> bool:
    return _is_name(match.group("first"))


_ROLES = (
    r"customers?|clients?|patients?|guests?|tenants?|landlord|landlady|applicants?|subscribers?|members?|"
    r"candidates?|employees?|interns?|trainees?|contractors?|passengers?|students?|"
    r"visitors?|users?|callers?|complainants?|borrowers?|claimants?|insured|donors?|pupils?|parents?|"
    r"neighbou?rs?|colleagues?|coworkers?|co-workers?|drivers?|couriers?|players?|"
    r"kund(?:e|in)|patient(?:in)?|mieter(?:in)?|bewerber(?:in)?|mitarbeiter(?:in)?|kolleg(?:e|in)|"
    r"client[e]?|usager|locataire|salarié[e]?|cliente|paciente|empleado|empleada"
)
_PERSON = (
    rf"(?:{_WORD}|(?i:\b(?:she|he|her|him|intern|trainee|manager|colleague|coworker|co-worker|tech lead|"
    r"team lead|reviewer|developer|engineer|designer|customer|client|patient|contractor|applicant|"
    r"candidate|employee|tenant|landlord|guest|boss|wife|husband|daughter|son|mother|father|friend)\b))"
)
_HEALTH = (
    r"(?:migraines?|cancer|depression|anxiety|adhd|diabetes|epilepsy|asthma|hiv|aids|dementia|insomnia|arthritis|"
    r"an? (?:stroke|heart attack|miscarriage|tumou?r|eating disorder|addiction|operation|accident)|surgery|"
    r"panic attacks?|ptsd|covid|burn-?out|back pain|chronic \w+|long covid|bipolar \w+|autism|an illness|"
    r"\w+ (?:disease|disorder|syndrome))"
)
_PRIVATE = (
    r"(?i:(?:is|was|are|were|being|got|became|'s)\s+(?:\w+\s+)?(?:pregnant|gay|lesbian|bisexual|transgender|"
    r"trans|autistic|bipolar|depressed|diabetic|epileptic|alcoholic|bankrupt|"
    r"divorced|hospitali[sz]ed|in (?:rehab|hospital|therapy)|in debt|hiv[- ]positive|dyslexic|"
    r"suicidal|a (?:muslim|christian|jew|hindu|catholic|mormon)|muslim|catholic|jewish|hindu)"
    r"|\bpregnant\b|\b(?:on|taking|took|from)\s+(?:\w+\s+)?(?:sick|medical|parental|maternity|paternity|"
    r"bereavement|mental health|stress|disability)\s+leave|\bcall(?:s|ed)?\s+in\s+sick"
    r"|\bburn(?:ed|t)?[- ]?out\b(?!\s+(?:chart|rate))|"
    rf"(?:diagnos(?:ed|is)\s+(?:with|of)|suffer(?:s|ing|ed)?\s+from|recover(?:s|ing|ed)?\s+from)\s+{_HEALTH}\b|"
    r"allergic\s+to|chemo(?:therapy)?\b"
    r"|(?:has|have|had|with|her|his|their|the one with (?:the|a))\s+(?:a\s+|"
    r"the\s+)?(?:\w+\s+)?(?:migraines?|cancer|depression|anxiety|adhd|diabetes|epilepsy|asthma|hiv|"
    r"dementia|miscarriage|surgery|stroke|tumou?r|panic attacks?|an? eating disorder|ptsd|covid|"
    r"divorce|custody (?:case|battle)|pregnancy|therapy|therapist|medication|disability|illness|gender "
    r"transition|religion|criminal record|overdraft|bankruptcy)"
    r"|\b(?:earns?|makes|is paid|was paid|gets paid|earning|making)\s+(?:only\s+|about\s+|"
    r"around\s+)?[$€£]?\s?\d[\d.,]*\s?(?:k\b|K\b|,\d{3}|€|\$|£|eur\b|usd\b|gbp\b|per (?:year|month|hour)|a "
    r"(?:year|month))"
    r"|(?:'s|’s|her|his|their)\s+(?:base\s+|annual\s+|new\s+)?(?:salary|pay rise|bonus|compensation|"
    r"pension|visa|work permit|green card|asylum|immigration|religion|sexuality|mortgage|credit score|"
    r"debts?|medical|health|diagnosis|illness)\b"
    r"|\bvisa\s+(?:expires?|expired|was|is|runs?|ran|got|application|sponsorship|status)|work permit|"
    r"asylum (?:case|application|seeker)|fasting|ramadan|goes to (?:church|mosque)|\bprays\b"
    r"|about to (?:quit|resign|leave (?:us|the company)|be fired|be let go|be laid off)|(?:hand(?:ed|ing)|"
    r"gave|giving|put) in (?:her|his|their) notice|wants to (?:quit|resign)|looking for (?:a new|another) "
    r"job|interviewing (?:at|with|elsewhere)|"
    r"(?:will|going to|about to) be (?:fired|dismissed|let go|laid off)|on a (?:pip|performance "
    r"improvement plan)|(?:was|got) (?:fired|arrested|convicted|dismissed for)|behind on (?:her|his|their)|"
    r"going through a (?:divorce|separation)|"
    r"asked for a (?:raise|pay rise)|votes? for (?:the\s+)?(?-i:[A-Z])|union (?:member|organi[sz]er)|drinking "
    r"problem|drinks too much"
    r"|ist schwanger|krankgeschrieben|in Elternzeit|verdient \d|kündigen will|will kündigen|est enceinte|"
    r"en arrêt (?:maladie|de travail)|gagne \d|está embarazada|de baja (?:médica|por)|gana \d)"
)


_PRIVATE_STEMS = words(
    "pregnan|gay|lesbian|bisexual|transgender|autis|bipolar|depress|diabet|epilep|alcoholic|"
    "bankrupt|divorc|hospital|rehab|therap|in debt|hiv|disab|dyslexi|suicid|muslim|christian|jew|"
    "hindu|catholic|mormon|undocumented|leave|in sick|burn|diagnos|suffer|recovering|allerg|chemo|"
    "migraine|cancer|anxiety|adhd|asthma|dementia|miscarr|surgery|stroke|tumo|panic|"
    "eating disorder|ptsd|covid|custody|medication|illness|transition|religion|criminal|overdraft|"
    "earn|makes|paid|making|salary|bonus|compensation|pension|visa|permit|green card|asylum|"
    "immigration|sexuality|mortgage|credit score|debt|medical|health|fasting|ramadan|church|mosque|"
    "prays|quit|resign|fired|let go|laid off|notice|another job|new job|interviewing|dismissed|"
    "on a p|arrested|convicted|behind on|raise|vote|union|drink|schwanger|krankgeschrieben|"
    "elternzeit|verdient|kündig|enceinte|arrêt|gagne|embarazada|baja|gana"
)


def _about_a_person(match: re.Match[str]) -> bool:
    """A name or a person's role in the same sentence as the private fact, before it or just after."""
    text = match.string
    start = max(
        (
            m.end()
            for m in re.finditer(r"(?<![A-Z])(?<!\b(?:Mr|Ms|Dr))[.!?]\s+(?=[A-Z\"'])|\n\n", text[: match.start()])
        ),
        default=0,
    )
    end = re.search(r"[.!?](?:\s|$)|\n\n", text[match.end() :])
    before = text[start : match.start()]
    if re.match(r"(?:will|going to|about to) be\b", match.group(), re.I) and not re.search(
        rf"(?:{_WORD}|\b(?i:she|he|they|intern|colleague|manager|developer|engineer))\s*$", before
    ):
        return False
    after = text[match.end() : match.end() + (end.start() if end else 80)][:80]
    if re.search(
        r"\b(?:fields?|column|table|schema|endpoint|api|feature|module|enum|policy|policies|dataset|model|"
        r"class(?:es)?|script|process|service|daemon|server|job|pod|thread|worker|node|app)\b",
        before[-60:],
        re.I,
    ):
        return False
    if re.search(
        r"(?i:\b(?:she|he|intern|trainee|colleague|coworker|co-worker|tech lead|team lead|engineering manager|"
        r"boss|wife|husband|daughter|son|tenant|landlord|patient|customer|applicant|candidate|employee|"
        r"contractor)\b)[^.]{0,60}$",
        before,
    ):
        return True
    names = [word for word in re.findall(_WORD, before) if word.lower() not in NOT_NAMES]
    if any(word.lower() in GIVEN for word in names):
        return True
    # A capitalised word that does not open the sentence, or a full name.
    opening = before.lstrip(" -*>\"'(")
    inner = [word for word in names if not opening.startswith(word)]
    if inner or (re.search(_FULL_NAME, before) and len(names) >= 2):
        return True
    if re.match(rf"{_WORD}(?:'s|’s|\s)", opening) and names and opening.startswith(names[0]):
        return True
    return any(word.lower() in GIVEN for word in re.findall(_WORD, after))


def _is_record(match: re.Match[str]) -> bool:
    return (
        _is_name(match.group("first"), match.group("last"))
        and re.search(
            r"\b(?:dx|diagnosis|icd|patient|dob|birth|ssn|address|street|phone|mobile|e-?mail|iban|card|policy_?no|"
            r"passport|salary|insur\w+|mrn|customer_?id|gender|nationality)\b\W",
            _around(match, 160),
            re.I,
        )
        is not None
    )


_SPEAKS_OF = LazyPattern(
    r"(?:\b(?:with|ask|asked|by|told|from|and|thanks to|per|like|tell|ping|cc|for|to|met|via)\s+|^|"
    r"[.!?]\s+|\n)$",
    re.IGNORECASE,
)


def _given_name(match: re.Match[str]) -> bool:
    first = match.group("first").lower()
    return first in GIVEN and first not in NOT_NAMES


def _colleague(match: re.Match[str]) -> bool:
    if not _given_name(match):
        return False
    before, after = (
        match.string[max(0, match.start() - 12) : match.start()],
        match.string[match.end() : match.end() + 4],
    )
    return _SPEAKS_OF.search(before) is not None and re.match(r"\s*(?:\(|/|[A-Z]{2})", after) is None


_DATE = (
    r"(?:(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ]\d{1,2}[-/. ](?:19|20)?\d{2}|\d{1,2}(?:st|nd|"
    r"rd|th|\.)?\s+(?:of\s+)?[A-Z][a-zéäû]{2,9}\.?,?\s+(?:19|20)\d{2}|[A-Z][a-z]{2,8}\.?\s+\d{1,2}(?:st|nd|"
    r"rd|th)?,?\s+(?:19|20)\d{2}|(?:19|20)\d{2}年\d{1,2}月\d{1,2}日)"
)


def _rule(
    name: str,
    sentence: str,
    keywords: tuple[str, ...],
    pattern: str,
    accepts: Callable[[re.Match[str]], bool] | None = None,
    *,
    severity: Severity = Severity.REJECT,
    near: int | None = None,
    also: tuple[str, ...] = (),
    digits: int = 0,
) -> Rule:
    return Rule(
        name=name,
        family=Family.PERSONAL,
        severity=severity,
        sentence=sentence,
        keywords=keywords,
        pattern=pattern,
        accepts=accepts,
        near=near,
        also=also,
        digits=digits,
    )


# Numbers whose check python-stdnum knows (extra ``pii``): name, whose number, its module, the words beside it.
_WITH_STDNUM: tuple[tuple[str, str, str, str], ...] = (
    ("at-insurance", "an Austrian insurance number", "at.vnr", "sozialversicherungsnummer|svnr|sv-nummer"),
    ("bg-egn", "a Bulgarian EGN", "bg.egn", "егн|egn"),
    ("cl-rut", "a Chilean RUT", "cl.rut", "rut|rol único"),
    ("cz-birth-number", "a Czech birth number", "cz.rc", "rodné číslo|rodne cislo|birth number"),
    ("do-cedula", "a Dominican cédula", "do.cedula", "cédula|cedula"),
    ("ec-ci", "an Ecuadorian cédula", "ec.ci", "cédula|cedula"),
    ("ee-ik", "an Estonian personal code", "ee.ik", "isikukood"),
    ("gr-amka", "a Greek AMKA", "gr.amka", "αμκα|amka"),
    ("hr-oib", "a Croatian OIB", "hr.oib", "oib"),
    ("ie-pps", "an Irish PPS number", "ie.pps", "pps number|ppsn|pps no"),
    ("lt-code", "a Lithuanian personal code", "lt.asmens", "asmens kodas"),
    ("lv-code", "a Latvian personal code", "lv.pk", "personas kods"),
    ("my-nric", "a Malaysian NRIC", "my.nric", "mykad|nric"),
    ("ro-cnp", "a Romanian CNP", "ro.cnp", "cnp"),
    ("sk-birth-number", "a Slovak birth number", "sk.rc", "rodné číslo|rodne cislo"),
    ("th-pin", "a Thai identity number", "th.pin", "เลขประจำตัวประชาชน|thai id"),
    ("za-id", "a South African identity number", "za.idnr", "south african id|sa id number|rsa id"),
)


def _checked_by(module: str) -> Callable[[re.Match[str]], bool]:
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


def _stdnum_rules() -> Iterator[Rule]:
    for name, whose, module, beside in _WITH_STDNUM:
        context = "|".join(re.escape(word) for word in beside.split("|"))
        yield _rule(
            name,
            f"holds {whose} (extra: pii)",
            words(beside),
            rf"(?i:\b(?:{context})\b){_GAP}(?<![A-Za-z0-9])(?P<v>[A-Za-z]?\d[\dA-Za-z .\-/]{{5,18}})",
            _checked_by(module),
            digits=5,
        )


EMAIL_RULE = "personal-email"
"""The rule that the author's own address is excepted from, in ``author`` and ``evidence`` (ADMISSION 3)."""


@cache
def personal_rules() -> tuple[Rule, ...]:
    """Return every rule against personal data."""
    return (
        _rule(
            EMAIL_RULE,
            "holds a person's e-mail address",
            ("@", "(at)", "[at]", " at "),
            r"(?<![\w.+/@-])(?P<local>[A-Za-z0-9._%+\-]{1,64})\s?(?:@|\(at\)|\[at\]|\s\(at\)\s|\s\[at\]\s|"
            r"(?<=\w)\s+at\s+(?=[\w-]+\s+dot\s))\s?(?P<domain>(?:[A-Za-z0-9-]{1,63}(?:\.|\s?(?:\(dot\)|\[dot\])\s?|"
            r"\s+dot\s+)){1,5}[A-Za-z]{2,24})(?![\w@])",
            _is_persons_mailbox,
        ),
        _rule(
            "phone-number",
            "holds a telephone number",
            tuple("0123456789"),
            r"(?<![\w.,/#=:-])(?P<v>(?:\(?\+\d{1,3}\)?|00\d{2}|\(0?\d{1,5}\)|"
            r"0?\d{1,5})(?:[\s./-]{0,2}\(?\d{1,5}\)?){1,6})(?![\w])",
            _is_phone,
            digits=7,
        ),
        _rule(
            "payment-card",
            "holds a payment card number",
            tuple("3456"),
            r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])",
            _is_card,
            digits=13,
        ),
        _rule(
            "iban",
            "holds a bank account (IBAN)",
            tuple("0123456789"),
            r"(?<![A-Za-z0-9])(?P<v>[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ "
            r"-]?[A-Za-z0-9]{1,4})?)(?![A-Za-z0-9])",
            _is_iban,
            digits=8,
        ),
        *(
            _rule(
                name,
                f"holds {whose}",
                beside,
                rf"(?:{context})(?P<gap>{_GAP})(?<![A-Za-z0-9])(?P<v>{number})(?![A-Za-z0-9])",
                _with(check),
                digits=2 if name in {"plate", "vin", "passport", "driving-licence"} else 4,
            )
            for name, whose, beside, context, number, check in _NATIONAL
        ),
        *_stdnum_rules(),
        _rule(
            "street-address",
            "holds a person's street address",
            words(
                "street| st|avenue| ave|road| rd|lane| ln|drive| dr|court| ct|boulevard|blvd| way|place| pl|terrace|"
                "garden|square| sq|close|crescent|parkway|pkwy| row|mews|hill|grove|highway|hwy|circle|walk|quay|"
                "trail|alley|park"
            ),
            rf"\b\d{{1,5}}[A-Za-z]?,?\s+(?:[A-Z][\w'’.-]+\s+){{1,4}}{_STREET}\b\.?",
            _is_home,
            also=tuple("0123456789"),
        ),
        _rule(
            "street-address-europe",
            "holds a person's street address",
            words(
                "str|weg|allee|platz|gasse|ring|damm|ufer|rue|avenue|boulevard|impasse|chemin|allée|quai|calle|"
                "avenida|plaza|paseo|via|viale|piazza|corso|straat|laan|plein|gracht|kade|ulica|ul.|rua|gata|vägen|"
                "vej|gate|place|cours|route"
            ),
            r"(?:[A-ZÄÖÜ][\wäöüß-]+(?:stra(?:ß|ss)e|str\.|weg|allee|platz|gasse|ring|damm|ufer|straat|laan|plein|"
            r"gracht|kade|dijk|gatan?|vägen|vej|veien|gate)\s+\d{1,4}\s?[a-zA-Z]?\b"
            r"|\b(?i:\d{1,4}\s?(?:bis|ter)?,?\s+(?:rue|avenue|boulevard|bd|impasse|place|chemin|allée|quai|cours|"
            r"route|square))\s+(?:d[eu]s?\s+|de\s+la\s+|de\s+l['’]|la\s+|les?\s+)?[\wÀ-ÿ'’ -]{2,40}"
            r"|\b(?:Calle|C/|Avenida|Avda\.?|Plaza|Paseo|Via|Viale|Piazza|Corso|Rua|Travessa|ul\.|"
            r"ulica)\s+[A-ZÀ-Þ][\wÀ-ÿ'’. -]{2,40},?\s+\d{1,4}\b)",
            _is_home,
        ),
        _rule("postal-japan", "holds a person's street address", ("〒",), r"〒\s?\d{3}-?\d{4}"),
        _rule(
            "birth-date",
            "holds a date of birth",
            words(
                "dob|birth|born|geboren|geburts|né |née|nacimiento|nacido|nacida|nato |nata |geboorte|生年月日|"
                "出生|d.o.b"
            ),
            r"(?i:\bD\.?O\.?B\.?|date[\s-]of[\s-]birth|birth[\s-]?date|birthday|born(?:\s+on)?|geboren(?:\s+am)?|"
            r"geburts(?:datum|tag)|\bnée?\s+le|date de naissance|fecha de nacimiento|nacid[oa](?:\s+el)?|"
            r"\bnat[oa](?:\s+il)?|data di nascita|geboortedatum|生年月日|出生日期?)"
            rf"[\"'\s:=,]{{0,4}}(?:(?i:is|was|on|am|of|=|the)\s*)?[\"']?{_DATE}",
        ),
        _rule(
            "whereabouts",
            "holds coordinates exact enough to name a house",
            tuple(f"{digit}." for digit in range(10)),
            r"(?<![\d.])(?:(?i:lat\w*)\s*[=:]?\s*)?(?P<lat>-?\d{1,2}\.\d{4,})\s?°?\s?[NS]?\s*[,;/ "
            r"]\s*(?:(?i:lon\w*|lng)\s*[=:]?\s*)?(?P<lon>-?\d{1,3}\.\d{4,})(?!\d|\.\d)",
            _is_whereabouts,
            digits=10,
        ),
        _rule(
            "customer-ip",
            "holds the IP address of a person",
            (
                *(f"{digit}." for digit in range(10)),
                "::",
                "2001:",
                "2003:",
                *(f"2{head}" for head in ("4", "6", "8", "a", "c")),
            ),
            r"(?<![\w.:-])(?P<v>(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-fA-F]{1,4}:){3,7}(?::?[0-9a-fA-F]{1,4}){1,5})(?![\w"
            r".:]*[\w:])",
            _is_persons_address,
            digits=4,
        ),
        _rule(
            "titled-name",
            "names a person with their title",
            words("mr|ms|mrs|dr|prof|miss|herr|frau|madame|monsieur|mme|señor|signor|sig.|dhr|mevr|sr.|sra|mlle|mx"),
            r"(?<![\w.])(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Herr|Herrn|Frau|Madame|Monsieur|Mme|Mlle|Señora?|"
            rf"Sra?|Signora?|Sig|Dhr|Mevr)\.?\s+(?:Dr\.?\s+)?(?P<first>{_WORD})",
            _titled,
            near=0,
        ),
        _rule(
            "named-customer",
            "names a person together with what they are to us",
            words(
                "customer|client|patient|guest|tenant|landl|applicant|subscriber|member|candidate|employee|intern|"
                "trainee|contractor|passenger|student|visitor|user|caller|complainant|borrower|claimant|insured|donor|"
                "pupil|parent|neighb|colleague|worker|driver|courier|player|kund|mieter|bewerber|mitarbeiter|kolleg|"
                "usager|locataire|salari|cliente|paciente|emplead"
            ),
            rf"(?:(?i:\b(?:{_ROLES})))[,:]?\s+(?:(?i:named|called)\s+)?{_FULL_NAME}",
            _named,
            near=1,
        ),
        _rule(
            "ticket-from-name",
            "names the person behind a request",
            words(
                "ticket|complaint|request|mail|call|message|review|refund|chat|report|order|letter|feedback|anfrage|"
                "beschwerde|demande|plainte"
            ),
            r"(?i:\b(?:tickets?|complaints?|requests?|e-?mails?|calls?|messages?|refunds?|chats?|reports?|orders?|"
            r"letters?|feedback|reviews?|anfrage|beschwerde|demande|plainte)\s+(?:from|by|of|for|von|"
            rf"de)\s+){_FULL_NAME}",
            _named,
            near=3,
        ),
        _rule(
            "ticket-from-given-name",
            "names the person behind a request",
            ("ticket", "complaint", "refund"),
            rf"(?i:\b(?:tickets?|complaints?|refunds?)\s+(?:from|by|for)\s+)(?P<first>{_WORD})(?!\s+[A-Z])",
            _given_name,
        ),
        _rule(
            "private-fact",
            "says something private about a person",
            _PRIVATE_STEMS,
            rf"(?:{_PRIVATE})",
            _about_a_person,
            near=34,
        ),
        _rule(
            "personal-record",
            "holds a record of a person",
            ("name",),
            rf"(?i:\b(?:full_?|customer_?|patient_?|last_?|first_?|sur)?name)[\"']?\s*[=:]\s*[\"']?{_FULL_NAME}",
            _is_record,
        ),
        _rule(
            "colleague-name",
            "names a colleague: a role says as much and lasts longer",
            (),
            rf"\b(?P<first>{_WORD})\b",
            _colleague,
            severity=Severity.WARN,
        ),
    )
