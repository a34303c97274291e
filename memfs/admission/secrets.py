"""Judges of what looks like a credential (ADMISSION 2). Pure, standard library only.

The rules are in ``data/secrets.rules`` and ``data/vendors.rules``; each judge here looks at one match.
"""

from __future__ import annotations

import re
from functools import cache

from memfs.admission.rules import Rule
from memfs.admission.tables import has, read_rules, word_lists
from memfs.admission.values import (
    classes,
    entropy,
    is_assigned_secret,
    is_hash,
    is_prose_secret,
    stands_for_another,
    trimmed,
)

CREDENTIAL_WORDS = tuple(
    (
        "password|passwd|passphrase|passwort|secret|token|credential|api key|apikey|api_key|api-key|access key|"
        "access_key|private key|private_key|bearer|key id|decode|recovery|login|akia|ghp_|sk-|mot de passe|"
        "contraseña|senha|парол|токен|密码|令牌|パスワード|비밀번호"
    ).split("|")
)
"""Words beside which reversed and broken-up text is looked at too."""


def _vendor(match: re.Match[str]) -> bool:
    """A vendor's form, filled with something that is not a placeholder."""
    value = match.group()
    tail = value[4:]
    return len(set(tail)) >= 6 and not has("vendor-placeholder", value) and (len(tail) < 16 or entropy(tail) > 2.2)


def _is_real_host(match: re.Match[str]) -> bool:
    """``user:pass`` before a host: a password, not the words that stand for one."""
    user, value = match.group("user") or "", match.group("v")
    if stands_for_another(value) or value.startswith(("$", "{", "<", "%24%7B")):
        return False
    host = match.string[match.end() - 1 : match.end() + 9]
    if re.match(r"[A-Z][A-Z_]+$", value) or (value.isalpha() and host.startswith(("localhost", "127.0.0.1"))):
        return False
    return value.lower() != user.lower() and value.lower() not in {
        "postgres",
        "mysql",
        "rabbit",
        "minio",
        "redis",
        "mongo",
        "app",
    }


def _is_public(match: re.Match[str]) -> bool:
    return "public" in match.string[max(0, match.start() - 30) : match.start("v")].lower()


def _assigned(match: re.Match[str], *, password: bool) -> bool:
    quote = match.group("q")
    value = match.group("v")
    value = value if quote else trimmed(value.split("&")[0])
    if not password and (is_hash(value, match.string[: match.start()]) or _is_public(match)):
        return False
    if not password and (" " in value or not value.isascii()):  # what a machine made has no blanks
        return False
    if value.startswith(("http://", "https://")):
        return False
    return is_assigned_secret(value, password=password)


def _assigned_password(match: re.Match[str]) -> bool:
    return _assigned(match, password=True)


def _assigned_token(match: re.Match[str]) -> bool:
    return _assigned(match, password=False)


def _said(match: re.Match[str]) -> bool:
    """A value that a sentence names: plainly ("is", ":"), or right behind the word and random by its look."""
    value = trimmed(match.group("v"))
    if is_hash(value, match.string[: match.start("v")]) or _is_public(match):
        return False
    sure = match.group("sure") is not None
    if re.search(r"[(){}\[\]]|::|->|@[a-z]", value) or not value.isascii():
        return sure and re.search(r"[!#$%&*+?^~]", value) is not None and is_prose_secret(value, sure=True)
    if not sure:
        chosen = re.search(r"[!#$%&*+?^~]\w|\w[!#$%&*+?^~]", value) is not None
        if classes(value) < 3 or (len(value) < 12 and not chosen) or re.search(r"[/.,;=]|^[#*_-]", value):
            return False
    return is_prose_secret(value, sure=sure)


def _pair(match: re.Match[str]) -> bool:
    """A value beside a login or "as the password": as a person chooses one, and no path, ticket or version."""
    value = trimmed(match.group("v"))
    if value.startswith("//") or re.match(r"\d{2,5}(?:/|$)", value) or not is_prose_secret(value, sure=True):
        return False
    if re.match(r"(?:sha|md)-?\d+$", match.groupdict().get("user") or "", re.IGNORECASE):
        return False
    if not any(char.isdigit() for char in value):
        return False
    if re.search(r"[!#$%&+?@^~]", value):
        return True
    return classes(value) >= 3 and not re.search(r"[/()._]|-\d+$|-[A-Z]", value)


def _command(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    return not value.startswith(("~", "/", "./", "..")) and is_assigned_secret(value, password=True)


def _flag(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    return not value.startswith(("-", "$")) and is_assigned_secret(value, password="pass" in match.group()[:14].lower())


def _literal(match: re.Match[str]) -> bool:
    return is_assigned_secret(
        trimmed(match.group("v")), password=re.search(r"pass|pw", match.group("name"), re.I) is not None
    )


def decode_base64(text: str) -> str | None:
    """Return what ``text`` encodes in base64, plain or URL-safe, when that is readable text."""
    from binascii import Error, a2b_base64

    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        body = body[:-1]
    try:
        raw = a2b_base64(body + "=" * (-len(body) % 4))
        plain = raw.decode("utf-8")
    except (Error, ValueError):
        return None
    readable = sum(char.isprintable() or char in "\n\r\t" for char in plain)
    return plain if plain and readable >= 0.97 * len(plain) else None


def _encodes_a_pair(match: re.Match[str]) -> bool:
    plain = decode_base64(match.group("v"))
    if plain is None or plain.count(":") == 0:
        return False
    user, _, value = plain.strip().partition(":")
    return bool(user) and len(value) >= 3 and " " not in user and not stands_for_another(value)


def _is_signed_token(match: re.Match[str]) -> bool:
    """A token whose header decodes, unless it is the one that every tutorial shows."""
    header = decode_base64(match.group("head"))
    shown = "eyJzdWIiOiIxMjM0NTY3ODkw" in match.group()  # {"sub":"1234567890
    return header is not None and '"alg"' in header and not shown


def _bearer(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    if re.match(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}|[a-z]+(?:-(?:[a-z]+|\d{1,4}))+$", value):
        return False
    return (
        not stands_for_another(value) and classes(value) >= 2 and entropy(value) > 3 and any(c.isdigit() for c in value)
    )


def _key_body(match: re.Match[str]) -> bool:
    """A key block with at least 40 characters of key, however its lines are broken or quoted."""
    rest = match.string[match.end() : match.end() + 1000]
    end = re.search(r"-{2,5}\s*END|Private-MAC", rest)
    rest = rest[: end.start()] if end else rest[:800]
    rest = re.sub(r"\\[nr]|(?m:^[A-Za-z-]+: .*$)|[>|\"'+,#*\\]", " ", rest)
    key = "".join(piece for piece in rest.split() if re.fullmatch(r"[A-Za-z0-9+/=]{16,}", piece))
    return len(key) >= 40 and classes(key) >= 3


def _codes(match: re.Match[str]) -> bool:
    """At least three codes with digits in them behind the words, or one that is long."""
    rest = match.string[match.end() : match.end() + 400]
    rest = re.split(r"\n\s*\n", rest, maxsplit=1)[0]
    found = [token for token in re.findall(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*", rest) if _is_code(token)]
    return len(found) >= 3 or any(len(token) >= 20 and token.count("-") >= 3 for token in found[:2])


def _is_code(token: str) -> bool:
    digits = sum(char.isdigit() for char in token)
    return (
        len(token.replace("-", "")) >= 6
        and digits >= 2
        and not re.match(r"\d{4}-\d{2}-\d{2}|[A-Z]{2,6}-\d+$|\d{1,5}-\d{1,5}$|20\d{6}", token)
    )


def _seed(match: re.Match[str]) -> bool:
    """Twelve or more short words in a row none of which a sentence could do without (BIP 39 has none of them)."""
    rest = match.string[match.end() : match.end() + 400]
    words = re.findall(r"[a-z]+|[^a-z\s,\d.)\"'`:]+", rest[:300])
    run = 0
    for word in words:
        if re.fullmatch(r"[a-z]{3,8}", word) and word not in word_lists()["stop-words"]:
            run += 1
            if run >= 12:
                return True
        else:
            run = 0
    return False


def _totp(match: re.Match[str]) -> bool:
    value = match.group("v").replace(" ", "")
    return len(value) >= 16 and len(set(value)) >= 8 and value.upper() != "JBSWY3DPEHPK3PXP"


def _in_query(match: re.Match[str]) -> bool:
    value = match.group("v")
    return classes(value) >= 3 and entropy(value) > 3.5 and not stands_for_another(value)


def _not_placeholder(match: re.Match[str]) -> bool:
    return not stands_for_another(trimmed(match.group("v")))


def _pgpass(match: re.Match[str]) -> bool:
    value = match.group("v")
    return not stands_for_another(value) and len(value) >= 8 and classes(value) >= 2 and any(c.isdigit() for c in value)


@cache
def vendor_rules() -> tuple[Rule, ...]:
    """Return the rules for credentials whose form their makers document."""
    return read_rules("vendors.rules", globals(), around="(?<![A-Za-z0-9_])(?:{})(?![A-Za-z0-9])")


@cache
def secret_rules() -> tuple[Rule, ...]:
    """Return every rule against credentials, the ones of known form first."""
    return (*vendor_rules(), *read_rules("secrets.rules", globals()))
