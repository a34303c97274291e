"""Whether a piece of text is a value somebody could log in with, or stands for one (ADMISSION 2). Pure."""

from __future__ import annotations

import re
from math import log2

from memfs.admission.lazy import lazy
from memfs.admission.tables import word_lists

_STANDS_FOR_ANOTHER = lazy(
    r"<[^<>]*>?$|\$\{[^}]*\}?|\$\([^)]*\)?$|\$[A-Za-z_]\w*$|\$env:|\{\{?[^{}]*\}\}?$|%[A-Za-z_]\w*%$|"
    r"\[[A-Za-z_ -]+\]$|\(.*\)$"
    r"|[*•●.…_\-]{3,}$|!vault\b|ENC\[|\{cipher\}|\$ANSIBLE_VAULT|@[A-Za-z_]+@$|#\{.*\}$|:[a-z_]+$",
)
_HAS_PLACEHOLDER = lazy(
    r"example|changeme|1234567890|abcdef1234|abcdefghi|actual_secret|abc123|0xyour|\.\.\.|foobar|%2f|"
    r"change[-_]me|your[-_ ]|[-_]here\b|placeholder|redacted|x{4,}|\*{3,}|•{3,}|\bdummy|"
    r"\bfake|replace[-_ ]?(?:me|this|with)|"
    r"insert[-_ ]|to[-_]?do\b|os\.environ|process\.env|getenv|\benv[.\[(]|secrets?[.\[]|op://|arn:|file:|"
    r"/run/secrets|vault:|/vault/|"
    r"keyvault|ssm:|awssm|gcp-?sm|sm://|kms:|sops|from[-_]env|valuefrom|secretkeyref|secretref|"
    r"credentials?\(|ref:|\bnot[-_ ]set|"
    r"lookup\(|data\.\w|var\.\w|local\.\w|\.get\(|\.value\b|config[.\[]|settings[.\[]|args[.\[]|self\.|"
    r"this\.|req(?:uest)?\.|params[.\[]",
    re.IGNORECASE,
)
# Names of techniques and formats that look like letters and digits thrown together.
_TECHNICAL = lazy(
    r"(?:oauth|openid|sha|md|aes|des|3des|rsa|dsa|hs|rs|es|ps|hmac|base|utf|iso|rfc|http|https|h|s|ec|k|"
    r"tls|ssl|ed|ecdsa|p|secp|curve|"
    r"argon|bcrypt|scrypt|pbkdf|v|ipv|log|web|x|i|l|a|f|mp|py|python|java|jdk|node|go|net|win|arm|amd|cp|"
    r"es|ecma|ietf|draft|nist|fips|"
    r"cve|cwe|pr|mr|adr|inc|gh|issue|q|fy|version|release|phase|step|stage|level|tier|part|layer)[-_ ]?\d{1,5}"
    r"(?:[-_./](?:\d{1,4}|[a-z]{1,12}))*[a-z]{0,3}$",
    re.IGNORECASE,
)
_PLAIN = lazy(
    r"\d+(?:[.,:]\d+)*\s*[-–]?\s*[a-z%]{0,12}(?:[-\s][a-z]+)*$"  # 15m, 90days, 12-character, 10:30, 1.2.3
    r"|v?\d+(?:\.\d+)+[-+.\w]*$"  # versions
    r"|\d{4}-\d{2}-\d{2}(?:[T ][\d:.Z+-]*)?$"
    r"|(?-i:[A-Z][A-Z0-9]{1,9}-\d{1,7}$)"  # tickets
    r"|ssh-(?:rsa|ed25519|dss)$|ecdsa-sha2|AAAA[BCE]3Nza",  # public keys
    re.IGNORECASE,
)
_PATH = lazy(
    r"(?:\.{0,2}/|~/|[A-Za-z]:\\)?[\w.@+-]+(?:[/\\][\w.@+*-]+)+/?(?:#[\w-]+)?$|/[\w.-]+$|"
    r"[\w-]+\.[a-z]{1,5}(?:#[\w-]+)?$"
)
_CODE = lazy(
    r"[A-Za-z_$&*][\w$]*(?:(?:\.|::|->|/)[A-Za-z_]\w*)*[(\[]|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]+\d?)+$|"
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|[@&]\w+$"
)
_SLUG = lazy(r"(?:[a-z]+|v?\d{1,4})(?:[-_./:](?:[a-z]+\d?|v?\d{1,4}))+$", re.IGNORECASE)
_IDENTIFIER = lazy(r"[A-Z]?[a-z]+(?:[A-Z]{1,4}[a-z]+|\d{1,2}(?=[A-Z]|$))+$|[a-z]+(?:_[a-z]+)*_?\d{0,2}$")
_URL = lazy(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)
_EMAIL = lazy(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+$")
_UUID = lazy(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE)
_SYMBOL = lazy(r"[!@#$%^&*+=?~|\\;(){}\[\]<>§€£]")
_HASH_WORD = lazy(
    r"(?:sha-?\d*|h1|integrity|commit|digest|fingerprint|etag|checksum|hash|md5|blob|public key|thumbprint|"
    r"revision|rev|tree)\W{0,4}(?:\w+\W{1,3}){0,3}$",
    re.IGNORECASE,
)
_HASH = lazy(
    r"(?:[0-9a-f]{7,12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|"
    r"[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)$"
)
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
        or _STANDS_FOR_ANOTHER.match(value) is not None
        or _HAS_PLACEHOLDER.search(value) is not None
        or _WEAK_EXAMPLE.match(value) is not None
        or value.count("|") > 1
        or re.match(r"0x[0-9a-fA-F]{40}$|(?:[0-9a-f]{2}[:,]){6}|[\w-]+-(?:dockercfg|token)-[a-z0-9]{5}$", value)
        is not None
        or re.search(r"\[\^|\\[swd][+*]|\.\*", value) is not None  # a pattern
        or len(set(lowered)) <= 2
        or (len(set(lowered)) <= 4 and len(value) >= 12)
    )


_WEAK_EXAMPLE = lazy(
    r"(?:my|user|test|admin|sample|very|new|old|super|the|a|hashed|some)?\d?[-_ ]?"
    r"(?:secret|password|passwd|passwort|pass|token|key|pwd)[-_]?\d{0,4}[!?.]?$"
    r"|(?:sk-)?(?:\w{1,6}-)?(?:abc123|123456(?:7(?:8(?:9(?:0\w*)?)?)?)?)[a-z]{0,6}$"
    r"|\$2[aby]\$|\$argon2|id_(?:rsa|ed25519|ecdsa)\w*$",
    re.IGNORECASE,
)


def is_hash(value: str, before: str) -> bool:
    """Return whether ``value`` is a digest by its shape and by the words before it."""
    return _HASH.match(value) is not None and _HASH_WORD.search(before[-48:]) is not None


def _is_ordinary(value: str) -> bool:
    return any(pattern.match(value) for pattern in (_PLAIN, _TECHNICAL, _CODE, _URL, _EMAIL))


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
        _PATH.match(value)
        and not (password and _SYMBOL.search(value))
        and (classes(value) < 4 or ("/" in value and entropy(value) < 4.2))
    ):
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    if password:
        if _SLUG.match(value) and not mixed:
            return False
        return mixed or (
            _SYMBOL.search(value[:-1]) is not None and any(char.isalpha() for char in value) and len(value) >= 8
        )
    if _SLUG.match(value) or _IDENTIFIER.match(value):
        return False
    if _UUID.match(value):
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
    if _PATH.match(value) or (_SLUG.match(value) and not any(char.isupper() for char in value)):
        return False
    if _UUID.match(value):
        return sure
    if _IDENTIFIER.match(value) or not any(char.isdigit() for char in value):
        return bool(sure and _SYMBOL.search(value) and classes(value) >= 3 and not _IDENTIFIER.match(value))
    symbol = _SYMBOL.search(value) is not None
    if classes(value) >= 3 and (symbol or sure or len(value) >= 12):
        return True
    return len(value) >= 16 and entropy(value) > 3.2 and any(char.isalpha() for char in value)
