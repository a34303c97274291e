"""Synthetic credentials and personal details, put together when a test runs, so that no file of this
project holds anything that looks like one. Every value is random; none was ever valid anywhere."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"
WORDS = "Marble Falcon Orbit Copper Juniper Ripple Lantern Quarry Saffron Walnut Harbor Cobalt Meadow Granite".split()


class Maker:
    """Draws values from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def run(self, alphabet: str, length: int) -> str:
        """Return random characters that use most of their alphabet's classes."""
        while True:
            text = "".join(self.random.choices(alphabet, k=length))
            kinds = [set(text) & set(part) for part in (UPPER, LOWER, DIGITS) if set(part) <= set(alphabet)]
            if (length < 6 or all(kinds)) and len(set(text)) >= min(6, length):
                return text

    def uuid(self) -> str:
        raw = self.run(HEX, 32)
        return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}"

    def password(self) -> str:
        word, number = self.random.choice(WORDS), self.random.randrange(100, 9999)
        mark = self.random.choice("!#$%&@-+?")
        return self.random.choice(
            [f"{word}{mark}{number}", f"{word}-{number}!!", f"{word}{mark}{number}zK", f"{word.lower()}{mark}{number}Q"]
        )

    def vendor(self) -> dict[str, str]:
        """Return one credential of each documented form."""
        r = self.run
        return {
            "aws": "AK" + "IA" + r(UPPER + "234567", 16),
            "aws-session": "AS" + "IA" + r(UPPER + "234567", 16),
            "github": "gh" + "p_" + r(ALNUM, 36),
            "github-oauth": "gh" + "o_" + r(ALNUM, 36),
            "github-server": "gh" + "s_" + r(ALNUM, 36),
            "github-fine": "github_" + "pat_" + r(ALNUM, 22) + "_" + r(ALNUM, 59),
            "gitlab": "gl" + "pat-" + r(URLSAFE, 20),
            "gitlab-runner": "gl" + "rt-" + r(URLSAFE, 20),
            "gitlab-deploy": "gl" + "dt-" + r(URLSAFE, 20),
            "gitlab-trigger": "gl" + "ptt-" + r(HEX, 40),
            "slack-bot": "xo" + "xb-" + r(DIGITS, 12) + "-" + r(DIGITS, 13) + "-" + r(ALNUM, 24),
            "slack-app": "xa" + "pp-1-A" + r(UPPER + DIGITS, 10) + "-" + r(DIGITS, 13) + "-" + r(HEX, 64),
            "slack-hook": "https://hooks.slack.com/services/"
            f"T{r(UPPER + DIGITS, 10)}/B{r(UPPER + DIGITS, 10)}/{r(ALNUM, 24)}",
            "discord-hook": f"https://discord.com/api/webhooks/{r(DIGITS, 18)}/{r(URLSAFE, 68)}",
            "teams-hook": f"https://contoso.webhook.office.com/webhookb2/{self.uuid()}@{self.uuid()}"
            f"/IncomingWebhook/{r(HEX, 32)}/{self.uuid()}",
            "stripe": "sk" + "_live_" + r(ALNUM, 24),
            "stripe-restricted": "rk" + "_live_" + r(ALNUM, 24),
            "openai": "sk-" + "proj-" + r(URLSAFE, 74) + "T3Blbk" + "FJ" + r(URLSAFE, 74),
            "anthropic": "sk-" + "ant-api03-" + r(URLSAFE, 93) + "AA",
            "google": "AI" + "za" + r(URLSAFE, 35),
            "google-oauth": "GOC" + "SPX-" + r(URLSAFE, 28),
            "azure-secret": r(ALNUM, 3) + "8Q~" + r(ALNUM + "_.-", 34),
            "azure-storage": "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + r(BASE64, 86) + "==",
            "npm": "np" + "m_" + r(ALNUM, 36),
            "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + r(URLSAFE, 70),
            "rubygems": "ruby" + "gems_" + r(HEX, 48),
            "crates": "ci" + "o" + r(ALNUM, 32),
            "docker": "dckr" + "_pat_" + r(URLSAFE, 27),
            "sendgrid": "S" + "G." + r(URLSAFE, 22) + "." + r(URLSAFE, 43),
            "mailgun": "ke" + "y-" + r(HEX, 32),
            "mailchimp": r(HEX, 32) + "-u" + "s14",
            "twilio": "S" + "K" + r(HEX, 32),
            "telegram": r(DIGITS.replace("0", ""), 10) + ":A" + "A" + r(URLSAFE, 33),
            "discord-bot": "M" + r(ALNUM, 23) + "." + r(ALNUM, 6) + "." + r(URLSAFE, 27),
            "digitalocean": "do" + "p_v1_" + r(HEX, 64),
            "heroku": "HR" + "KU-" + self.uuid(),
            "vault": "hv" + "s." + r(URLSAFE, 90),
            "terraform": r(ALNUM, 14) + ".atl" + "asv1." + r(URLSAFE, 67),
            "grafana": "gl" + "sa_" + r(ALNUM, 32) + "_" + r(HEX, 8),
            "newrelic": "NR" + "AK-" + r(UPPER + DIGITS, 27),
            "shopify": "sh" + "pat_" + r(HEX, 32),
            "linear": "lin_" + "api_" + r(ALNUM, 40),
            "figma": "fig" + "d_" + r(URLSAFE, 40),
            "notion": "nt" + "n_" + r(ALNUM, 46),
            "airtable": "pa" + "t" + r(ALNUM, 14) + "." + r(HEX, 64),
            "databricks": "da" + "pi" + r(HEX, 32),
            "doppler": "d" + "p.st.prd." + r(ALNUM, 43),
            "age": "AGE-SECRET" + "-KEY-1" + r("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
            "tailscale": "ts" + "key-auth-k" + r(ALNUM, 10) + "CNTRL-" + r(ALNUM, 32),
            "huggingface": "h" + "f_" + "a" + r(ALNUM, 33),
            "replicate": "r" + "8_" + r(ALNUM, 37),
            "groq": "gs" + "k_" + r(ALNUM, 52),
            "atlassian": "ATA" + "TT3" + r(ALNUM + "_-=", 180),
            "postman": "PM" + "AK-" + r(HEX, 24) + "-" + r(HEX, 34),
            "sentry": "sntr" + "yu_" + r(HEX, 64),
            "pulumi": "pu" + "l-" + r(HEX, 40),
            "circleci": "CCI" + "PAT_" + r(ALNUM, 22) + "_" + r(HEX, 40),
            "cloudflare": "cfu" + "t_" + r(ALNUM, 44),
            "supabase": "sb" + "p_" + r(HEX, 40),
            "square": "sq0" + "atp-" + r(URLSAFE, 22),
            "plaid": "access-" + "production-" + self.uuid(),
            "contentful": "CF" + "PAT-" + r(URLSAFE, 43),
        }

    def key_block(self, kind: str = "RSA ") -> str:
        rows = "\n".join(self.run(BASE64, 64) for _ in range(8))
        return f"-----BEGIN {kind}PRI" + f"VATE KEY-----\n{rows}\n-----END {kind}PRI" + "VATE KEY-----"

    def jwt(self) -> str:
        def part(text: str) -> str:
            return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

        return ".".join(
            (part('{"alg":"HS256","typ":"JWT"}'), part('{"sub":"1234","role":"admin"}'), self.run(URLSAFE, 43))
        )


def secret_notes(seed: int) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of notes that hold a credential, one way of writing each."""
    m = Maker(seed)
    r, p = m.run, m.password
    settings: list[Callable[[str], str]] = [
        lambda v: f"The staging token is {v}; rotate it in spring.",
        lambda v: f"export API_TOKEN={v}",
        lambda v: f"Use `{v}` for the nightly job.",
        lambda v: f'curl -H "Authorization: Bearer {v}" https://api.example.com/v1',
        lambda v: f"see notes/{v}.md" if "/" not in v and ":" not in v else f"see {v}",
        lambda v: f"| service | key |\n| --- | --- |\n| mail | {v} |",
    ]
    for number, (kind, value) in enumerate(m.vendor().items()):
        yield f"vendor {kind}", settings[(number + seed) % len(settings)](value)
    for kind in ("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED ", "DSA "):
        yield f"key block {kind.strip() or 'pkcs8'}", f"The deploy key:\n\n{m.key_block(kind)}\n"
    yield "key block quoted", "> " + m.key_block().replace("\n", "\n> ")
    yield "key block escaped", '{"private_key": "' + m.key_block().replace("\n", "\\n") + '"}'
    yield "key block in base64", "KEY_B64=" + base64.b64encode(m.key_block().encode()).decode()
    yield "jwt", f"The session cookie is {m.jwt()} until June."
    yield "jwt header", f"Authorization: Bearer {m.jwt()}"
    for scheme in ("postgres", "mysql", "redis", "amqps", "mongodb+srv", "https", "ftp", "smtp", "ldap", "clickhouse"):
        yield f"url {scheme}", f"{scheme}://app:{r(ALNUM, 14)}@db.example.net/main"
    yield "url redis without user", f"redis://:{r(ALNUM, 20)}@cache.internal:6379/0"
    yield "jdbc", f"jdbc:postgresql://db/app?user=app&password={p()}"
    yield "dsn", f"Server=db;Database=app;User Id=app;Password={p()};"
    yield "aws secret", f"aws_secret_access_key = {r(BASE64, 40)}"
    yield "signed s3", f"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature={r(HEX, 64)}"
    yield "sas", f"https://acme.blob.core.windows.net/c/f?sv=2023-01-03&se=2027-12-31&sr=b&sp=r&sig={r(ALNUM, 42)}%3D"
    for name in (
        "DB_PASSWORD",
        "SECRET_KEY_BASE",
        "client_secret",
        "apiKey",
        "GRAFANA_API_KEY",
        "spring.datasource.password",
        "JWT_SECRET",
        "encryption_key",
        "AUTH_TOKEN",
        "WEBHOOK_SECRET",
        "dbPassword",
        "SMTP_PASS",
        "private_key",
        "redis.pwd",
    ):
        value = p() if "pass" in name.lower() or "pwd" in name else r(ALNUM, 32)
        yield f"assignment {name}", f"{name}={value}"
        yield f"yaml {name}", f"{name}: {value}"
        yield f"json {name}", f'{{"{name}": "{value}", "port": 5432}}'
    yield "hex key", f"datadog api_key: {r(HEX, 32)}"
    yield "uuid token", f"partner API token: {m.uuid()}"
    yield "wireguard", f"[Peer]\nPresharedKey = {r(BASE64, 43)}="
    yield "npmrc", f"//registry.npmjs.org/:_authToken={r(ALNUM, 36)}"
    yield "bootstrap", f"kubeadm join --token {r(LOWER + DIGITS, 6)}.{r(LOWER + DIGITS, 16)}"
    for line in (
        "mysql -u root -p{} app",
        "mysqldump --password={} app",
        "sshpass -p '{}' ssh ops@10.0.0.3",
        "curl -u ops:{} https://x.example.com",
        "docker login -u ci -p {} registry.example.com",
        "redis-cli -a {} ping",
        "kubectl create secret generic db --from-literal=password={}",
        "PGPASSWORD={} psql -h db app",
        "htpasswd -b users ops {}",
        "openssl enc -d -pass pass:{} -in x",
        "ldapsearch -x -w {} -b dc=x",
        "echo 'ops:{}' | chpasswd",
        "helm upgrade app . --set db.password={}",
        "CREATE USER app WITH PASSWORD '{}';",
        "ALTER USER app IDENTIFIED BY '{}';",
        "keytool -importkeystore -storepass {} -file x",
        "az login -u ops -p {}",
        "net use x: \\\\srv\\share /user:ops {}",
        "smbclient //srv/x -U ops%{}",
        "wget --http-password={} https://x.example.com",
        "gpg --batch --passphrase {} -d x",
        "rabbitmqctl change_password app {}",
        "mongosh -u app -p {} db",
    ):
        yield f"command {line.split()[0]}", line.format(p())
    for line in (
        'Log in as admin with password "{}".',
        "The root password on the build host is {}.",
        "root pw: {}",
        "wifi passphrase {}",
        "password for the lab router is now {}",
        "The admin credentials are admin / {}",
        "login: ops:{}",
        "pwd={}",
        "Das Passwort für den Testserver ist {}",
        "mot de passe : {}",
        "la contraseña es {}",
        "wachtwoord: {}",
        "пароль: {}",
        "パスワードは {}",
        "密码是 {}",
        "A senha do banco é {}",
        "hasło: {}",
        "Use {} as the password.",
        "The password was changed to {} last week.",
        "sudo password: {}",
        "The VPN account is ops and its password is `{}`.",
        "Zugangsdaten: admin/{}",
    ):
        yield f"prose {line[:24]}", line.format(p())
    yield "pin", f"The PIN of the HSM is {r(DIGITS, 6)}."
    yield "recovery", "Recovery codes:\n" + "\n".join(f"{r(HEX, 5)}-{r(HEX, 5)}" for _ in range(8))
    yield "backup codes", "Backup codes for the registrar: " + ", ".join(r(DIGITS, 8) for _ in range(6))
    yield "recovery key", "If the owner is away use recovery key " + "-".join(r(UPPER + DIGITS, 6) for _ in range(8))
    yield "totp", f"otpauth://totp/acme:ops?secret={r(UPPER + '234567', 32)}&issuer=acme"
    yield "totp seed", f"The TOTP secret is {r(UPPER + '234567', 32)}"
    words = "ripple zebra orbit copper lantern wagon tissue velvet mango walnut cactus banner pluck ivory basil".split()
    yield "seed phrase", "Wallet seed phrase: " + " ".join(m.random.sample(words, 12))
    basic = base64.b64encode(f"svc:{p()}".encode()).decode()
    yield "basic auth", f"Authorization: Basic {basic}"
    yield "docker config", f'{{"auths": {{"registry.example.com": {{"auth": "{basic}"}}}}}}'
    encoded = base64.b64encode(p().encode()).decode()
    yield "kubernetes", f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: {encoded}\n"
    yield "netrc", f"machine git.example.com login ci password {p()}"
    yield "pgpass", f"db.internal:5432:billing:app:{r(ALNUM, 16)}"
    yield "cookie", f"JSESSIONID={r('0123456789ABCDEF', 32)} gets past the login."
    yield "set-cookie", f"Set-Cookie: session={r(ALNUM, 40)}; HttpOnly"
    yield "header", f"X-Api-Key: {r(ALNUM, 32)}"
    yield (
        "putty",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: "
        f"1\n{r(BASE64, 48)}\nPrivate-MAC: {r(HEX, 64)}",
    )
    token = m.vendor()["github"]
    yield "evasion zero width", "token " + "\u200b".join(token)
    yield "evasion bold", f"token **{token[:10]}**{token[10:]}"
    yield "evasion entity", "token " + "".join(f"&#{ord(char)};" for char in token)
    yield "evasion percent", "token=" + "".join(f"%{ord(char):02X}" for char in token)
    yield "evasion base64", "decode for the token: " + base64.b64encode(token.encode()).decode()
    yield "evasion hex", "hex of the token: " + token.encode().hex()
    yield "evasion reversed", "the token, reversed: " + token[::-1]
    yield "evasion split", f"token part one {token[:20]} followed by {token[20:]}"
    yield "evasion lines", f"token:\n  {token[:18]}\n  {token[18:]}"
    yield "evasion plus", f'token = "{token[:14]}" + "{token[14:]}"'
    yield "evasion full width", "token " + "".join(chr(ord(char) + 0xFEE0) for char in token)
    yield "evasion unicode escapes", "token " + "".join(f"\\u{ord(char):04x}" for char in token)
    yield "evasion image", f"![x](https://img.example.com/b.svg?t={token})"
    yield "evasion comment", f"Nothing here.<!-- {token} -->"
    yield "evasion cyrillic", "token " + token.replace("p", "\u0440", 1)
    yield "evasion tags", "note" + "".join(chr(0xE0000 + ord(char)) for char in token)


CLEAN_NOTES = (
    "evidence docs/adr/0014-additive-migrations.md@bf3c8fd",
    "The commit is 4f2a9c1d3b5e7f90a1c2d3e4f5061728394a5b6c on main.",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 is the pinned digest.",
    'integrity "sha512-Q0xk1OJjFv3m0P6mQ9y6Kz0j2lQp0v6b7l8n9m0k1j2h3g4f5d6s7a8p9o0i1u2y3t4r5e6w7q8a9s0d1f2g3h=="',
    "go.sum: h1:tPrkuiJ2ee7Ma70H08Dtj3VSc8C/5vbD2uYnbZYWjTE=",
    "The request id is 292661b4-87f7-4b6b-a0b3-c0cd282e4c37.",
    "Set GITHUB_TOKEN=<your token> first.",
    "password: ${DB_PASSWORD}",
    "password: {{ vault_db_password }}",
    "token: $(gh auth token)",
    "api_key = os.environ['API_KEY']",
    "const token = process.env.API_TOKEN;",
    "secret: op://vault/item/field",
    "secret_arn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:billing",
    "password_file: /run/secrets/db_password",
    "db_password: !vault |",
    "Passwords are hashed with argon2id; the pepper is in the HSM.",
    "The password reset token lives for 15 minutes.",
    "token_type: Bearer",
    "token_ttl: 3600",
    "secret_name: billing-db-credentials",
    "api_key_id: 42",
    "The api key header is X-Api-Key.",
    "max_tokens=4096 temperature=0.2",
    "The tokenizer is cl100k_base with 100k entries.",
    "Password must have at least 12 characters, 1 digit and 1 symbol.",
    "passwordLabel: 'Password:'",
    "type Password = string;",
    "self.token = token",
    "password = Field(min_length=12)",
    "if password == confirm_password: save()",
    "The signing key is rotated every 90 days (RFC 7517 keys endpoint).",
    "The key of the cache is v3:{tenant}:{locale}.",
    "primary key (account_id, seq)",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG8q1AbbpV/J1Ywk1wX8Nsi1PjMWX8YrQ+H0x+MJYaeH ci@build",
    "The public key fingerprint is SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU.",
    "Use AKIAIOSFODNN7EXAMPLE in the docs, it is AWS's own example.",
    "Stripe test keys start with sk_test_ and live keys with sk_live_.",
    "GitHub tokens start with ghp_ and are 40 characters long; never commit one.",
    "Files with BEGIN RSA PRIVATE KEY are blocked by the hook.",
    "postgres://user:password@localhost/app is the default in the docs.",
    "postgres://app@db.internal/app uses peer authentication.",
    "https://${USER}:${TOKEN}@git.example.com/x.git",
    "https://docs.example.com/auth?redirect=%2Fhome&state=abc",
    "The webhook secret is kept in the vault under kv/webhooks.",
    "Run with --secret=billing-db to mount it.",
    "mysql -u app -p billing asks for the password.",
    "docker login -u ci --password-stdin reads it from the vault.",
    "Cookie: session=<redacted>",
    "The chunk is app.17d5d47034d5aa916cdc.js.",
    "Image gcr.io/acme/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "Cursors such as eyJpZCI6NDgxNSwiZGlyIjoibmV4dCJ9 are opaque.",
    "Trace f7c7b875b067d35842a1701d481c43c2-a93bc765bacb3954 shows it.",
    "The GA id is G-ZNODNZJF46.",
    "The certificate secret is named tls-wildcard-2027.",
    "Secrets: DATABASE_URL, REDIS_URL, STRIPE_SECRET_KEY.",
    "PAT expiry is 90 days by policy.",
    "auth: oauth2 with PKCE (S256).",
    "Recovery codes are shown once and stored hashed.",
    "The seed phrase is never asked for in support chats.",
    "PIN entry locks after 3 attempts.",
    "The TOTP window is 30 seconds with a skew of 1.",
    "Access key rotation: see docs/runbooks/rotate-access-keys-2027.md.",
    "Version 2.0.0-rc.1+build.5114f85 is the last with the old auth.",
    "The cookie SameSite=Lax; Path=/; Max-Age=3600 is set by the gateway.",
)


def _luhn(digits: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 if place % 2 else 2)
        total += value - 9 if value > 9 else value
    return digits + str(-total % 10)


FIRST = [
    "Marta", "Helen", "Ingrid", "Mateo", "Yusuf", "Greta", "Olivia", "Chiara", "Samuel",
    "Lucia", "Viktor", "Amelia", "Diego", "Fatima", "Priya", "Jonas", "Elena", "Tomas",
    "Aisha", "Noah",
]  # fmt: skip
LAST = [
    "Lindqvist", "Vance", "Solheim", "Rivas", "Adeyemi", "Nilsson", "Ortega", "Aziz", "Sokolov",
    "Hart", "Petrenko", "Morales", "Zahra", "Renner", "Holm", "Bianchi", "Novak", "Kowalski",
]  # fmt: skip


def personal_notes(seed: int) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of notes that hold something personal, one way of writing each."""
    m = Maker(seed + 1000)
    r = m.run

    def first() -> str:
        return m.random.choice(FIRST)

    def name() -> str:
        return f"{first()} {m.random.choice(LAST)}"

    def mail() -> str:
        one, two = name().lower().split()
        return f"{one}.{two}@{m.random.choice(['contoso.com', 'fabrikam.com', 'adventure-works.com', 'gmail.com'])}"

    for line in (
        "The bug was reported by {}.",
        "cc {} on every incident",
        "mailto:{}",
        "<{}> wrote about the export",
        "Contact: {}",
        "reporter={} plan=pro",
        '{{"email": "{}", "plan": "pro"}}',
        "Kontakt: {}",
        "écrire à {}",
        "customer {} asked for a refund",
    ):
        yield "e-mail", line.format(mail())
    yield "e-mail spelled", "write to " + mail().replace("@", " (at) ").replace(".com", " (dot) com")
    yield "e-mail in markup", f"[{first()}](mailto:{mail()})"
    d = r(DIGITS, 4)
    for line in (
        f"The courier called from (415) 555-{d}.",
        f"phone: +44 7700 90{d}",
        f"Her mobile is 0171 55{d}12",
        f"Tel. +49 30 90{d}12",
        f"tél : 06 12 34 5{d[:1]} {d[1:3]}",
        f"WhatsApp +34 612 34 {d}",
        f"text him at 415-555-{d}",
        f"call +1 (212) 555-{d} after nine",
        f"电话 138 1234 {d}",
    ):
        yield "phone", line
    number = _luhn("4" + r(DIGITS, 14))
    yield "card", f"Refund went to card {' '.join(number[place : place + 4] for place in range(0, 16, 4))}."
    yield "card bare", f"The customer typed {_luhn('52' + r(DIGITS, 13))} into the notes field."
    yield "card amex", f"Amex {_luhn('37' + r(DIGITS, 12))} was declined."
    bank = r(DIGITS, 18)
    check = 98 - int(bank + "131400") % 97
    yield "iban", f"Refund to DE{check:02d}{bank} failed."
    yield "ssn", f"SSN 219-4{d[:1]}-{d}"
    yield "nino", f"National Insurance number AB {r(DIGITS, 2)} {r(DIGITS, 2)} {r(DIGITS, 2)} C"
    yield "sin", "SIN 046 454 286 on the upload"
    yield "bsn", "BSN 111222333 van de aanvrager"
    yield "dni", "DNI 12345678Z de la clienta"
    yield "cpf", "CPF 529.982.247-25 do cliente"
    yield "pesel", "PESEL 44051401359 klienta"
    yield "passport", f"passport number C{r(DIGITS, 8)} was scanned"
    yield "licence", f"driving licence number MORGA{r(DIGITS, 6)}SM9"
    yield "plate", "number plate AB12 CDE of the customer"
    yield "vin", "VIN WVWZZZ1JZXW000001 was entered twice"
    yield "imei", "IMEI 490154203237518 of her phone"
    yield "routing", "routing 021000021 account 123456789"
    yield "sort code", f"sort code 20-00-00 account {r(DIGITS, 8)}"
    for line in (
        "Ship it to {} , 14 Harbour Lane, Apt 3B, Portland, OR 97201.",
        "Kunde wohnt in der Lindenallee 27, 50667 Köln.",
        "Adresse de livraison : 12 rue des Tilleuls, 69003 Lyon",
        "Her home is Flat 2, 9 Rosebery Gardens, London N8 8SH",
        "The parcel went to 221 Baker Street, London NW1 6XE",
        "Calle Mayor 5, 28013 Madrid es su dirección",
        "Il cliente abita in Via Roma 12, 20121 Milano",
        "woont op Prinsengracht 263, 1016 GV Amsterdam",
        "lives at 742 Evergreen Terrace, Springfield, IL 62704",
        "〒150-0001 渋谷区",
    ):
        yield "address", line.format(name())
    for line in (
        "DOB 1988-04-17",
        "date of birth: 17/04/1988",
        "born on 17 April 1988",
        "geboren am 17.04.1988",
        "née le 17/04/1988",
        "birthday is April 17, 1988",
        "出生日期：1988年4月17日",
    ):
        yield "birth", f"{line} is needed to reproduce it for this customer"
    yield "place", "The app pinned her home at 59.91273, 10.74609."
    yield "place lat", "customer at lat=48.85837 lon=2.29448"
    yield "ip", "The customer connects from 203.0.113.77 at night."
    yield "ip6", "user login from 2001:db8:85a3::8a2e:370:7334 was blocked"
    for line in (
        "Customer {} asked us twice to delete the upload.",
        "Client {} is angry about the invoice.",
        "The ticket from {} is about the export.",
        "Patient {} cannot log in.",
        "The landlord {} is behind on his mortgage.",
        "Applicant {} was rejected.",
        "complaint by {} about the fee",
        "the guest {} left the room",
        "Tenant {}, who moved out in May, still gets mail.",
        "our customer {} wants a refund",
    ):
        yield "named", line.format(name())
    last = m.random.choice(LAST)
    for line in (
        "Mr {} keeps sending screenshots.",
        "Dr. {} is the physician.",
        "Ms. {} called again.",
        "Frau {} hat gekündigt.",
        "Mme {} attend sa réponse.",
        "Prof. {} asked for the data",
        "Herr {} möchte seine Daten löschen",
    ):
        yield "titled", line.format(last)
    one = first()
    for line in (
        "{} is on sick leave for burnout.",
        "I think {} is about to quit, so plan around it.",
        "{} from sales earns 84k.",
        "The intern, {}, is pregnant.",
        "Ask {} (the one with the migraine).",
        "{} was diagnosed with diabetes in March.",
        "{}'s visa expires in June.",
        "{} is going through a divorce.",
        "{} fasts for Ramadan, so no meetings at noon; she is fasting.",
        "{} handed in her notice.",
        "{} is on a performance improvement plan.",
        "{} has depression and works half days.",
        "{} is allergic to nuts.",
        "our designer {} is gay and not out at work",
        "{}'s salary is below the band.",
        "{} asked for a raise twice.",
        "{} was arrested last year.",
        "{} is behind on her rent.",
        "{} wants to resign after the launch",
    ):
        yield "private", line.format(one)
    yield "record", f'{{"name": "{name()}", "email": "{mail()}", "phone": "+1 415 555 {d}"}}'
    yield "record health", f'patient_id=PX-{r(DIGITS, 5)} name="{name()}" dx="F41.1"'
    yield "row", f"row 88: {name()};{mail()};+44 7700 90{d};Kyiv"


PERSONAL_CLEAN = (
    "Fixtures use alice@example.com and bob@example.org only.",
    "Mail goes out from no-reply@acme.io; answers go to support@acme.io.",
    "git@github.com:acme/app.git is the remote.",
    "npm i @acme/app@2.1.0 and react@18.2.0.",
    "worker@1.service restarts on failure.",
    "icon@2x.png is the retina asset.",
    "ci@acme-ci.iam.gserviceaccount.com is keyless.",
    "postgres://app@db.internal/app",
    "Retry delays: 100 200 400 800 1600 3200 ms.",
    "The build number is 20271103.4 and took 07:46:08.",
    "Timestamps such as 1793577600 are seconds.",
    "Phone numbers are stored in E.164 and validated with libphonenumber.",
    "Port 5432 is mapped to 15432, 6379 to 16379.",
    "Order 4007-0012-8841 is the fixture.",
    "EAN 4006381333931 is the barcode in the tests.",
    "The demo card 4242 4242 4242 4242 works in test mode.",
    "IBAN validation uses mod 97; see iban.ts.",
    "The SSN field is masked to ***-**-1234.",
    "Account 123456789012 is the AWS sandbox.",
    "Snowflake ids like 1182735910482739200 exceed 2^53.",
    "10 Downing Street is the fixture of the geocoder tests.",
    "Lane 3 of the CI pool has the GPUs.",
    "Main Street is the name of the demo shop.",
    "192.0.2.10 and 203.0.113.0/24 are documentation ranges.",
    "Client IPs are truncated to /24 before storage.",
    "The user agent 10.0.1.2 is the proxy's.",
    "The server at 203.0.113.9 runs the mirror.",
    "The map centre is 59.9127, 10.7461 by default.",
    "Release birthday: v1.0 shipped 2019-05-03.",
    "Born in 2019 as a hack, the tool is now in core.",
    "The date of birth field is optional since v4.",
    "Jenkins jobs move to Tekton.",
    "Hamilton is the release train after Grace.",
    "Dijkstra beats A* here.",
    "The Customer Data Platform owns the event schema.",
    "User Story Mapping happens on Mondays.",
    "Client Hello is logged at debug level.",
    "Customer Success wants a weekly export.",
    "The ticket from Load Balancer alerts is closed automatically.",
    "A request from Service Mesh carries the header.",
    "The Dr. Watson debugger is off on the build hosts.",
    "The daemon is about to quit when SIGTERM arrives.",
    "Gradle daemon: it is about to quit after three idle hours.",
    "The salary field is encrypted.",
    "Sick leave requests go through the HR system.",
    "The health check earns its keep.",
    "Burnout charts are not used; burn-down charts are.",
    "Visa and Mastercard are accepted; Amex is not.",
    "The visa field of the profile is optional.",
    "The patient approach: wait two polling cycles.",
    "The medical module has its own database.",
    "Religion is not stored anywhere.",
    "The process suffers from memory leaks on musl.",
    "The scheduler recovers from a crash within 5 s.",
    "A customer with 40,000 line items made the export time out.",
    "The intern pool of strings is capped.",
    "The employee table has a soft-delete column.",
    "Row 88 of the fixture has an empty name.",
    "name: billing-worker, phone: none",
    "The default name is John Doe in the fixtures.",
)
