"""Rules against credentials (ADMISSION 2). Data and a few small judges; pure, standard library only."""

from __future__ import annotations

import re
from functools import cache

from memfs.admission.lazy import LazyPattern
from memfs.admission.rules import Family, Rule, Severity, word_set, words
from memfs.admission.values import (
    classes,
    entropy,
    is_assigned_secret,
    is_hash,
    is_prose_secret,
    stands_for_another,
    trimmed,
)
from memfs.admission.vendors import ROWS

_EDGE = r"(?<![A-Za-z0-9_])"
_VENDOR_PLACEHOLDER = LazyPattern(
    r"EXAMPLE|[Ee]xample|x{5}|X{5}|\*{3}|0{10}|your|YOUR|REDACTED|redacted|1234567890|abcdefgh|ABCDEFGH"
)

_NAMES_OF_ONE_CHOSEN = (
    r"passwords?|passwd|passphrase|passcode|(?<![A-Za-z])pass|(?<![A-Za-z])pwd?|(?<=[a-z])(?-i:P)(?:ass|wd)|"
    r"passwort|kennwort|contrase[nñ]a|senha|"
    r"mot\s+de\s+passe|mdp|wachtwoord|has[lł]o|lösenord|adgangskode|passord|salasana|heslo|parola|şifre|"
    r"пароль|пароля|密码|密碼|パスワード|비밀번호"
)
_NAMES_OF_ONE_MADE = (
    r"api[\s_-]?keys?|apikey|(?:secret|access|private|signing|encryption|master|license|licence|service|"
    r"shared|hmac|webhook|account|ssh|deploy|"
    r"storage|admin|integration|ingest|write|session|subscription|preshared|pre-shared|auth|root|jwt|"
    r"partner|merchant)[\s_-]?key(?:[\s_-]?base)?|"
    r"(?:client|app|signing|webhook|cookie|session|jwt|shared|oauth|consumer|registration)[\s_-]?secret|"
    r"secrets?|credentials?|creds|"
    r"(?<![A-Za-z])(?:auth|_auth)|(?:bearer|jwt|pat)(?![A-Za-z])|token|clé\s+(?:api|secrète)|"
    r"api-schl[üu]ssel|密钥|令牌|トークン|토큰|токен|ключ"
)
_SUFFIX = r"(?:[_-](?:b64|base64|prod|production|live|staging|stage|test|dev|new|old|value|v?\d))?"
_CLOSERS = r"[\"'`’”\])*_]{0,3}"
_OPENERS = r"[\"'`“‘«„*_(\[{]{0,3}"
_PASSWORD_KEYWORDS = words(
    "pass|pwd|pw|kennwort|contrase|senha|mdp|wachtwoord|haslo|hasło|lösenord|adgangskode|salasana|heslo|"
    "parola|şifre|парол|密码|密碼|パスワード|비밀번호"
)
_TOKEN_KEYWORDS = words(
    "key|secret|cred|auth|bearer|jwt|pat|token|clé|schlüssel|schlussel|密钥|令牌|トークン|토큰|токен|ключ"
)

CREDENTIAL_WORDS = words(
    "password|passwd|passphrase|passwort|secret|token|credential|api key|apikey|api_key|api-key|access "
    "key|access_key|private key|private_key|bearer|key id|decode|recovery|login|akia|ghp_|sk-|mot de "
    "passe|contraseña|senha|парол|токен|密码|令牌|パスワード|비밀번호"
)
"""Words beside which reversed and broken-up text is looked at too."""


def _is_real_vendor(match: re.Match[str]) -> bool:
    """A vendor's form, filled with something that is no placeholder."""
    value = match.group()
    tail = value[4:]
    return len(set(tail)) >= 6 and not _VENDOR_PLACEHOLDER.search(value) and (len(tail) < 16 or entropy(tail) > 2.2)


def _is_real_host(match: re.Match[str]) -> bool:
    """``user:pass`` before a host: a password, not the words that stand for one."""
    user, value = match.group("user") or "", match.group("v")
    if stands_for_another(value) or value.startswith(("$", "{", "<", "%24%7B")):
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
    value = value if quote else trimmed(value)
    if not password and (is_hash(value, match.string[: match.start()]) or _is_public(match)):
        return False
    if value.startswith(("http://", "https://")):
        return False
    return is_assigned_secret(value, password=password)


def _assigned_password(match: re.Match[str]) -> bool:
    return _assigned(match, password=True)


def _assigned_token(match: re.Match[str]) -> bool:
    return _assigned(match, password=False)


def _said(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    if is_hash(value, match.string[: match.start("v")]) or _is_public(match):
        return False
    return is_prose_secret(value, sure=match.group("sure") is not None)


def _pair(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    if value.startswith("//") or re.match(r"\d{2,5}(?:/|$)", value):
        return False
    return is_prose_secret(value, sure=True)


def _command(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    return is_assigned_secret(value, password=True)


def _flag(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    return not value.startswith("-") and is_assigned_secret(value, password="pass" in match.group()[:14].lower())


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
    header = decode_base64(match.group("head"))
    return header is not None and '"alg"' in header


def _bearer(match: re.Match[str]) -> bool:
    value = trimmed(match.group("v"))
    return (
        not stands_for_another(value) and classes(value) >= 2 and entropy(value) > 3 and any(c.isdigit() for c in value)
    )


def _key_body(match: re.Match[str]) -> bool:
    """A key block with at least 40 characters of key, however its lines are broken or quoted."""
    rest = match.string[match.end() : match.end() + 1000]
    end = re.search(r"-{2,5}\s*END|Private-MAC", rest)
    rest = rest[: end.start()] if end else rest[:800]
    rest = re.sub(r"\\[nr]|(?m:^[A-Za-z-]+: .*$)", " ", rest)
    return any(
        len(run) >= 40 and classes(run) >= 3
        for run in (re.sub(r"[\s>|\"'+,\\#*]", "", rest), *re.findall(r"[A-Za-z0-9+/=]{40,}", rest))
    ) and bool(re.search(r"[A-Za-z0-9+/=]{16}", rest))


_CODE = LazyPattern(r"[A-Za-z0-9]{3,8}(?:[-\s][A-Za-z0-9]{3,8}){1,7}|[A-Za-z0-9]{6,16}")


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


_STOP_WORDS = word_set(
    """
    the a an of and or to in on is are was be by for with from that this it as at not no all any can must may
    has have its our your their when then than into which who will we they he she if so do does but per each one
    two
    """
)


def _seed(match: re.Match[str]) -> bool:
    """Twelve or more short words in a row none of which a sentence could do without (BIP 39 has none of them)."""
    rest = match.string[match.end() : match.end() + 400]
    words = re.findall(r"[a-z]+|[^a-z\s,\d.)\"'`:]+", rest[:300])
    run = 0
    for word in words:
        if re.fullmatch(r"[a-z]{3,8}", word) and word not in _STOP_WORDS:
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
    return not stands_for_another(value) and len(value) >= 8 and classes(value) >= 2 and not value.isdigit()


_VALUE = (
    r"(?P<q>[\"'`“‘«]?)(?P<v>(?<=[\"“])[^\"”\n]{6,200}(?=[\"”])|(?<=['‘])[^'’\n]{6,200}(?=['’])|"
    r"(?<=`)[^`\n]{6,200}(?=`)|[^\s\"'`“”<>]{6,300})"
)
_GIVEN = r"\s{0,4}(?:\([^()\n]{0,40}\)\s{0,2})?(?::=|=>|->|→|==?|[:：]|\|)\s{0,6}"
_SAYS = (
    r"(?:(?:\s+[^\s.;:=,|]{1,24}){0,7}?\s*(?P<sure>\b(?:is|are|was|be|to|lautet|ist|est|es|è|é|heet|är|er|"
    r"on|to)\b\s*[:=]?|[:=：→]|是|は|은|는)\s*(?:(?:now|still|"
    r"(?:set|changed|reset|rotated|switched|updated|back)\s+to)\s+)?|[\s,(]+)"
)


def _rule(name: str, sentence: str, keywords: tuple[str, ...], pattern: str, **more: object) -> Rule:
    return Rule(
        name=name,
        family=Family.SECRETS,
        severity=Severity.REJECT,
        sentence=sentence,
        keywords=keywords,
        pattern=pattern,
        **more,  # type: ignore[arg-type]
    )


_ARGUMENT = r"(?P<v>(?<=\")[^\"\n]{4,100}|(?<=')[^'\n]{4,100}|(?:[^\s\"'|;&<>]|&(?=\w)){4,100})"
_COMMANDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "mysql",
        ("mysql", "mariadb"),
        rf"\b(?:mysql|mariadb)[\w-]*\b[^\n|;]{{0,120}}?\s(?:-p|--password=)[\"']?{_ARGUMENT}",
    ),
    (
        "curl",
        ("curl", "wget", "http ", "xh "),
        r"\b(?:curl|https?|xh|wget)\b[^\n]{0,200}?\s(?:-u|--user|--proxy-user|-U|-a|"
        rf"--auth)[\s=]?[\"']?[^\s:\"']{{1,60}}:{_ARGUMENT}",
    ),
    ("wget", ("--http-password", "--ftp-password", "--password"), rf"\s--(?:\w+-)?password[=\s][\"']?{_ARGUMENT}"),
    ("sshpass", ("sshpass",), rf"\bsshpass\s+-p\s?[\"']?{_ARGUMENT}"),
    (
        "docker",
        words("docker|podman|helm|oras|skopeo|nerdctl"),
        r"\b(?:docker|podman|helm|oras|skopeo|nerdctl|buildah)\b[^\n|;]{0,60}?\blogin\b[^\n|"
        rf";]{{0,100}}?\s(?:-p|--password)[=\s][\"']?{_ARGUMENT}",
    ),
    (
        "az",
        ("az login", "az acr"),
        rf"\baz\s+(?:acr\s+)?login\b[^\n|;]{{0,200}}?\s(?:-p|--password)[=\s][\"']?{_ARGUMENT}",
    ),
    (
        "redis",
        ("redis-cli", "valkey-cli"),
        rf"\b(?:redis|valkey)-cli\b[^\n|;]{{0,120}}?\s(?:-a|--pass)[=\s][\"']?{_ARGUMENT}",
    ),
    ("mongo", ("mongo",), rf"\bmongo\w*\b[^\n|;]{{0,160}}?\s(?:-p|--password)[=\s]?[\"']?{_ARGUMENT}"),
    ("sqlcmd", ("sqlcmd", "bcp ", "isql"), rf"\b(?:sqlcmd|bcp|isql)\b[^\n|;]{{0,160}}?\s-P\s?[\"']?{_ARGUMENT}"),
    (
        "sqlplus",
        ("sqlplus", "sqlldr", "expdp", "impdp"),
        rf"\b(?:sqlplus|sqlldr|expdp|impdp)\s+(?:-\w+\s+)*[\"']?\w+/{_ARGUMENT}(?=@|\s|$)",
    ),
    (
        "ldap",
        ("ldap",),
        rf"\bldap(?:search|modify|add|delete|whoami|passwd)\b[^\n|;]{{0,200}}?\s-w\s?[\"']?{_ARGUMENT}",
    ),
    ("openssl", ("pass:",), rf"-(?:passin|passout|pass|k)\s+[\"']?pass:{_ARGUMENT}"),
    (
        "keytool",
        ("-storepass", "-keypass", "-srcstorepass", "-deststorepass"),
        rf"-(?:src|dest)?(?:store|key)pass\s+[\"']?{_ARGUMENT}",
    ),
    (
        "archive",
        ("zip ", "7z ", "7za ", "rar "),
        rf"\b(?:un)?(?:zip|rar|7z|7za)\b[^\n|;]{{0,60}}?\s(?:-P\s?|-p|--password[=\s])[\"']?{_ARGUMENT}",
    ),
    (
        "samba",
        ("smbclient", "mount.cifs", "rpcclient", "net use", "/user:"),
        r"(?:\b(?:smbclient|rpcclient)\b[^\n|;]{0,120}?-U\s?[\"']?[^\s%]{1,60}%|\bnet\s+use\b[^\n|"
        rf";]{{0,120}}?/user:\S+\s+){_ARGUMENT}",
    ),
    (
        "chpasswd",
        ("chpasswd",),
        rf"\becho\s+(?:-\w\s+)?[\"']?[\w.-]{{1,40}}:{_ARGUMENT}(?=[\"']?\s*\|\s*(?:sudo\s+)?chpasswd)",
    ),
    ("sudo", ("sudo -s", "sudo -k -s"), rf"\becho\s+(?:-\w\s+)?[\"']?{_ARGUMENT}(?=[\"']?\s*\|\s*sudo\s+(?:-k\s+)?-S)"),
    ("htpasswd", ("htpasswd",), rf"\bhtpasswd\s+-\w*b\w*\s+(?:\S+\s+)?[\w.@-]{{1,60}}\s+[\"']?{_ARGUMENT}"),
    (
        "sql",
        ("identified by", "with password", "password '", "set password"),
        r"(?i:identified\s+(?:with\s+\S+\s+)?by|with\s+(?:login\s+)?(?:encrypted\s+)?password|"
        rf"set\s+password\s*(?:for\s+\S+\s*)?=|\bpassword)\s*\(?['\"]{_ARGUMENT}",
    ),
    (
        "rabbitmq",
        ("rabbitmqctl", "add_user", "change_password"),
        rf"\b(?:add_user|change_password)\s+[\w.@-]{{1,60}}\s+[\"']?{_ARGUMENT}",
    ),
    ("gpg", ("--passphrase", "--pass "), rf"\s--pass(?:phrase)?[=\s][\"']?{_ARGUMENT}"),
    (
        "net-user",
        ("net user", "useradd", "user add"),
        rf"(?i:\bnet\s+user\s+[\w.-]{{1,40}})\s+[\"']?{_ARGUMENT}(?=\s+/add)",
    ),
)


_GENERAL: tuple[Rule, ...] = (
    _rule(
        "private-key-block",
        "holds a private key block",
        ("private", "putty-user-key"),
        r"-{4,5}\s?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?\s?-{4,5}|PuTTY-User-Key-File-\d",
        accepts=_key_body,
        fixed=True,
    ),
    _rule(
        "signed-token",
        "holds a signed token (JWT)",
        ("eyj", "ewog", "eya"),
        r"(?<![A-Za-z0-9_-])(?P<head>e(?:yJ|yA|wo)[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{16,}){1,3}",
        accepts=_is_signed_token,
    ),
    _rule(
        "url-credentials",
        "holds a password inside an address",
        ("://",),
        r"[A-Za-z][A-Za-z0-9+.-]{1,30}://(?P<user>[^\s:/@\"'`<>]*):(?P<v>[^\s/@\"'`<>]{3,200})@[A-Za-z0-9\[$<{]",
        accepts=_is_real_host,
    ),
    _rule(
        "signed-url",
        "holds an address that is signed for whoever has it",
        ("signature=", "sig="),
        r"[?&;](?:amp;)?(?:X-(?:Amz|Goog|Oss|Cos)-Signature=[A-Za-z0-9%]{20,}|Signature=[A-Za-z0-9%+/~_-]{20,}|"
        r"(?=[^\s]{0,600}?\bs[eptvr]=)sig=[A-Za-z0-9%+/_-]{20,}|(?<=&)sig=[A-Za-z0-9%+/_-]{24,})",
    ),
    _rule(
        "key-in-query",
        "holds a key in the query of an address",
        ("key=", "code=", "token=", "auth=", "apikey="),
        r"[?&](?:key|code|apikey|api_key|token|access_token|auth|k)=(?P<v>[A-Za-z0-9_\-./+=%]{20,200})",
        accepts=_in_query,
    ),
    _rule(
        "assigned-password",
        "gives a value to a name that means a password",
        _PASSWORD_KEYWORDS,
        rf"(?i:{_NAMES_OF_ONE_CHOSEN}){_SUFFIX}{_CLOSERS}{_GIVEN}{_VALUE}",
        accepts=_assigned_password,
        near=14,
    ),
    _rule(
        "assigned-secret",
        "gives a value to a name that means a key, token or secret",
        _TOKEN_KEYWORDS,
        rf"(?i:{_NAMES_OF_ONE_MADE}){_SUFFIX}{_CLOSERS}{_GIVEN}{_VALUE}",
        accepts=_assigned_token,
        near=16,
    ),
    _rule(
        "password-in-prose",
        "says what a password is",
        _PASSWORD_KEYWORDS,
        rf"(?i:{_NAMES_OF_ONE_CHOSEN})(?![A-Za-z0-9_/]){_CLOSERS}{_SAYS}{_OPENERS}(?P<v>[^\s\"“”«»`]{{6,100}})",
        accepts=_said,
        near=14,
    ),
    _rule(
        "secret-in-prose",
        "says what a key, token or secret is",
        _TOKEN_KEYWORDS,
        rf"(?<![A-Za-z0-9_/.-])(?i:{_NAMES_OF_ONE_MADE})(?![A-Za-z0-9_/]){_CLOSERS}{_SAYS}{_OPENERS}(?P<v>[^\s\"“"
        r"”«»`]{8,200}"
        r")",
        accepts=_said,
        near=16,
    ),
    _rule(
        "value-as-password",
        "says what a password is",
        words(
            "as the pass|as pass|for the pass|as its pass|as your pass|is the pass|is our pass|as the pin|is the "
            "secret|as the secret|as the token|is the token|als passwort"
        ),
        r"[\"'`“«]?(?P<v>[^\s\"'`”»]{8,64})[\"'`”»]?\s+(?i:(?:as|for|is|als)\s+(?:the\s+|its\s+|your\s+|"
        r"our\s+)?(?:\w+\s+)?"
        r"(?:password|passphrase|pass|pin|secret|token|passwort))\b",
        accepts=_pair,
    ),
    _rule(
        "secret-flag",
        "holds a command line option with a secret in it",
        words(
            "--token|--api-token|--auth-token|--api-key|--apikey|--secret|--password|--passwd|--pass|--access-key|"
            "--client-secret|--key="
        ),
        r"--(?:api-|auth-|access-|client-|app-)?(?:token|api-?key|secret|password|passwd|pass|key)(?:=|"
        r"\s+)[\"']?(?P<v>[^\s\"'|;<>]{6,300})",
        accepts=_flag,
    ),
    _rule(
        "login-pair",
        "holds a login with its password",
        words("login|log-in|log in|sign in|sign-in|signin|cred|account|user|admin|root|zugang|identifiants|accès"),
        r"(?i:log[\s-]?in|sign[\s-]?in|credentials?|creds|accounts?|user(?:name)?|admin|"
        r"root|zugangsdaten|zugang|identifiants|credenciales|credenziali|"
        r"accès)\b[^\n]{0,60}?[\s:=(\"'`](?P<user>[A-Za-z][\w.@-]{1,40})\s{0,2}[:/|"
        r"]\s{0,2}(?P<v>[^\s\"'`<>]{8,64})",
        accepts=_pair,
        near=0,
    ),
    _rule(
        "pin",
        "says what a PIN is",
        ("pin",),
        r"(?<![A-Za-z])(?:PIN|Pin|pin code|PIN-Code|access code|door code|"
        r"Zugangscode)\b(?:\s+[^\s.;:=,]{1,20}){0,6}?\s*(?:\bis\b|\bist\b|\best\b|"
        r"[:=])\s*[\"'`]?(?P<v>\d{4,12})(?!\d|[.-]\d|\s*(?:ms|s|digits|bytes|attempts|tries|min))",
        accepts=_not_placeholder,
        near=4,
    ),
    _rule(
        "authorization-header",
        "holds an Authorization header with its token",
        ("authorization", "bearer ", "x-api-key", "x-auth-token", "private-token"),
        r"(?i:authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|token|apikey|digest|key|bot|splunk|genie\w*|"
        r"sso-key)?\s*[:=]?|\bbearer)\s+[\"']?(?P<v>[A-Za-z0-9_\-.~+/=:]{16,500})",
        accepts=_bearer,
    ),
    _rule(
        "basic-auth",
        "holds a user and password encoded for an Authorization header",
        ("basic ",),
        r"(?i:\bbasic)\s+(?P<v>[A-Za-z0-9+/_-]{8,200}={0,2})",
        accepts=_encodes_a_pair,
    ),
    _rule(
        "registry-login",
        "holds a registry login encoded in its configuration",
        ("auth",),
        r"[\"']?_?auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<v>[A-Za-z0-9+/]{8,400}={0,2})",
        accepts=_encodes_a_pair,
    ),
    _rule(
        "session-cookie",
        "holds the cookie of a session",
        words("sess|sid=|sid:|csrf|xsrf|remember|cookie|.aspxauth"),
        r"(?i:(?<![A-Za-z])(?:JSESSIONID|PHPSESSID|ASP\.NET_SessionId|\.ASPXAUTH|"
        r"(?:[a-z]{1,12}[_-])?session(?:[_-]?(?:token|cookie))?|sessionid|connect\.sid|sid|csrftoken|"
        r"xsrf-token|remember[_-](?:me|token|user_token)|auth[_-]?cookie|"
        r"(?:set-)?cookie:\s*[\w.-]+))\s?[=:]\s?[\"']?(?P<v>(?:s%3A)?[A-Za-z0-9%._~+/-]{16,400}={0,2})",
        accepts=_bearer,
        near=20,
    ),
    _rule(
        "netrc-login",
        "holds a line of a .netrc file",
        ("machine",),
        r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<v>\S{4,200})",
        accepts=_not_placeholder,
    ),
    _rule(
        "pgpass-line",
        "holds a line of a .pgpass file",
        (*(f":{digit}" for digit in range(10)), ":*:"),
        r"(?m:^|(?<=[\s`\"']))[A-Za-z*][\w.*-]{0,80}:(?:\d{2,5}|\*):[\w*-]{1,63}:[\w*-]{1,63}:(?P<v>[^\s\"'`:]{6"
        r",100})",
        accepts=_pgpass,
    ),
    _rule(
        "recovery-codes",
        "holds recovery codes",
        words("codes|recovery|backup|rescue|scratch|wiederherstellung|récupération|recuperación"),
        r"(?i:(?:recovery|backup|rescue|emergency|scratch|2fa|mfa|two-factor|one-time|"
        r"single-use)[\s-]+(?:codes?|keys?)|wiederherstellungs(?:codes?|schl[üu]ssel)|"
        r"codes?\s+de\s+(?:récupération|recuperación|secours))",
        accepts=_codes,
        near=16,
    ),
    _rule(
        "seed-phrase",
        "holds the words of a wallet",
        ("seed", "mnemonic", "phrase", "recovery words"),
        r"(?i:\b(?:(?:seed|recovery|backup|secret|wallet)\s+(?:phrase|words)|mnemonic(?:\s+(?:phrase|words|"
        r"code))?|seed)\b)",
        accepts=_seed,
        near=10,
    ),
    _rule(
        "totp-seed",
        "holds the seed of one-time codes",
        words("totp|2fa|mfa|otpauth|authenticator|one-time|hotp"),
        r"(?i:otpauth://\S{0,200}?secret=|(?:totp|2fa|mfa|hotp|authenticator|one-time)[^\n]{0,40}?(?:seed|"
        r"secret|key)?[\s:=\"'`]{1,4})(?P<v>[A-Z2-7]{16,64}|(?:[A-Z2-7a-z]{4}\s){3,15}[A-Z2-7a-z]{4})(?![A-Za-z0"
        r"-9])",
        accepts=_totp,
    ),
    _rule(
        "kubernetes-secret",
        "holds the values of a Kubernetes secret",
        ("secret",),
        r"(?s:\bkind:\s{0,3}[\"']?Secret\b.{0,600}?\b(?:data|stringData):[ \t]*\n[ \t]+[\w.-]+:[ "
        r"\t]*[\"']?(?P<v>[^\s\"']{6,400}))",
        accepts=_not_placeholder,
    ),
    *(
        _rule(
            f"command-{name}",
            f"holds a command line of {name} with a password in it",
            keywords,
            pattern,
            accepts=_command,
        )
        for name, keywords, pattern in _COMMANDS
    ),
    _rule(
        "literal-secret",
        "holds a command that makes a secret from a literal value",
        ("--from-literal", "--set"),
        r"--(?:from-literal|set(?:-string)?)[=\s][\"']?(?P<name>[\w.-]*(?:pass|pw|secret|token|key|cred|"
        r"auth)[\w.-]*)=(?P<v>[^\s\"']{6,200})",
        accepts=_literal,
    ),
)


@cache
def secret_rules() -> tuple[Rule, ...]:
    """Return every rule against credentials, the ones of known form first."""
    return (*vendor_rules(), *_GENERAL)


# Forms whose prefix is a common piece of words: tried only where it stands.
_SHORT_PREFIXES = {
    "twilio-key": 0,
    "airtable-token": 0,
    "asana-token": 1,
    "resend-key": 0,
    "launchdarkly-key": 0,
    "sk-key": 0,
    "crates-token": 0,
    "nuget-key": 0,
}


@cache
def vendor_rules() -> tuple[Rule, ...]:
    """Return the rules for credentials whose form their makers document."""
    return tuple(
        Rule(
            name=f"vendor-{name}",
            family=Family.SECRETS,
            severity=Severity.REJECT,
            sentence=f"holds {whose}",
            keywords=keywords,
            pattern=f"{_EDGE}(?:{pattern})(?![A-Za-z0-9])",
            accepts=_is_real_vendor,
            near=_SHORT_PREFIXES.get(name),
            fixed=True,
        )
        for name, whose, keywords, pattern in ROWS
    )
