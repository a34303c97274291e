"""Signing as a person does it: with ``ssh-keygen -Y sign``, and nothing else (TRUST 10).

Key files, ssh-agent (gpg-agent's SSH mode too) and security keys all work through it. Each of its
errors is told as one sentence and one thing to do.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from memfs.disk.places import Places
from memfs.errors import SetupError
from memfs.git.process import ProgramTimeout, first_line, run
from memfs.git.read import without_git_variables
from memfs.model.codepoints import escape_hidden
from memfs.model.values import dataclass, replace
from memfs.trust import sshsig
from memfs.trust.keyring import Key, Keyring
from memfs.trust.sshsig import (
    PublicKey,
    SignatureError,
    parse_armored,
    parse_public_key,
    parse_signature,
    private_key_public,
)

PERSON_SECONDS = 120.0
"""How long a person may take over a passphrase or a touch."""
ALONE_SECONDS = 10.0
"""How long a signer may take when nobody can answer it."""
KEYGEN = "ssh-keygen"
"""What signs where the user's git configuration names no other program."""
_LARGEST_CONFIG = 256 * 1024

_DEFAULT_KEYS = ("id_ed25519_sk", "id_ed25519")


class Signer(Protocol):
    """Who signs: a public key, and signatures by its private half."""

    @property
    def public(self) -> PublicKey: ...
    @property
    def name(self) -> str: ...
    def sign(self, namespace: str, message: bytes) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SshSigner:
    """A key that ``ssh-keygen`` can sign with: a file, or one that the agent holds."""

    public: PublicKey
    path: Path | None  # None: the agent holds it
    environ: Mapping[str, str]
    interactive: bool = False
    program: str = KEYGEN  # or what the user's own git configuration names: a password manager's, as a rule

    @property
    def name(self) -> str:
        """Return what a person calls the key: its file, or its fingerprint and who has it."""
        if self.path is not None:
            return escape_hidden(str(self.path), single_line=True)
        holder = "the ssh-agent" if self.program == KEYGEN else escape_hidden(self.program, single_line=True)
        return f"{self.public.fingerprint} in {holder}"

    def sign(self, namespace: str, message: bytes) -> bytes:
        """Return an SSHSIG blob over ``message``, checked before it is handed out.

        Raises :class:`SetupError` with one sentence and one thing to do when the key cannot sign.
        """
        with tempfile.TemporaryDirectory(prefix="memfs-") as folder:
            text = Path(folder, "text")
            text.write_bytes(message)
            key = self.path
            if key is None:
                key = Path(folder, "key.pub")
                key.write_text(self.public.text + "\n", encoding="ascii")
            self._run(key, namespace, text)
            try:
                blob = parse_armored(Path(folder, "text.sig").read_text(encoding="ascii"))
                signature = parse_signature(blob)
            except (OSError, UnicodeDecodeError, SignatureError):
                raise SetupError("ssh-keygen wrote no signature that can be read", where=self.name) from None
        if (
            signature.key_blob != self.public.blob
            or signature.namespace != namespace
            or not sshsig.verify(self.public, signature, message)
        ):
            raise SetupError(
                "the signature that came back is not by the key that was asked for",
                where=self.name,
                hint="check that the .pub file beside the key belongs to it",
            )
        return blob

    def _run(self, key: Path, namespace: str, text: Path) -> None:
        environ = without_git_variables(self.environ) | {"LC_ALL": "C"}
        if not self.interactive:
            environ["SSH_ASKPASS_REQUIRE"] = "never"
        seconds = PERSON_SECONDS if self.interactive else ALONE_SECONDS
        try:
            # The text is a file and stdin is /dev/null: a key that asks for its passphrase must not
            # swallow what waits on a pipe (TRUST 7).
            done = run(
                [self.program, "-Y", "sign", "-n", namespace, "-f", str(key), str(text)],
                cwd=text.parent,
                env=environ,
                timeout=seconds,
                check=False,
                terminal=self.interactive,
            )
        except ProgramTimeout:
            raise SetupError(
                f"the key did not sign within {seconds:.0f} seconds",
                where=self.name,
                hint="touch the security key, or answer the agent's question, and try again",
            ) from None
        if done.returncode != 0:
            raise explain_failure(done.stderr, self.name, security_key=self.public.is_security_key)


class PassphraseError(SetupError):
    """The key cannot sign without its passphrase, which nobody gave."""


_PASSPHRASE = b"incorrect passphrase|passphrase is too short|bad passphrase"
_EXPLANATIONS: tuple[tuple[bytes, str, str], ...] = (
    (b"UNPROTECTED PRIVATE KEY FILE|bad permissions|too open",
     "others may read the private key, so ssh-keygen does not use it", "run: chmod 600 {key}"),
    (_PASSPHRASE,
     "the key needs its passphrase, and none or a wrong one was given",
     "run `ssh-add {key}` in a terminal and try again"),
    (b"doesn't match private",
     "the .pub file beside the key belongs to another key", "run: ssh-keygen -y -f {key} > {key}.pub"),
    (b"device not found|no FIDO|No FIDO|device is not ready",
     "the security key is not plugged in", "plug it in and try again"),
    (b"requested feature not supported|PIN|pin required",
     "the security key wants its PIN", "run the command in a terminal and type the PIN when it asks"),
    (b"agent refused operation|agent refused",
     "the ssh-agent refused to sign", "unlock it, confirm its question or touch the key, and try again"),
    (b"No private key found|Couldn't get agent socket|communication with agent failed|Could not open a connection"
     b"|agent contains no|agent not present",
     "no private key belongs to this public key, here or in the ssh-agent",
     "run `ssh-add` with the private key, or name it with --key"),
    (b"No such file or directory",
     "there is no private key of that name", "name your key with --key FILE, or load it with ssh-add"),
    (b"invalid format|error in libcrypto|unknown or unsupported key type|not a private key|not a public key",
     "the file is not an SSH key that ssh-keygen can read", "name another key with --key FILE"),
    (b"Permission denied",
     "the private key may not be read", "check who owns {key}"),
)  # fmt: skip


def explain_failure(said: bytes, name: str, *, security_key: bool = False) -> SetupError:
    """Return what ``ssh-keygen`` said as one sentence and one thing to do (exit code 3)."""
    for pattern, message, hint in _EXPLANATIONS:
        if re.search(pattern, said):
            kind = PassphraseError if pattern is _PASSPHRASE else SetupError
            return kind(message, where=name, hint=hint.format(key=name))
    if security_key:
        return SetupError(
            "the security key did not sign", where=name, hint="plug it in, touch it when it blinks, and try again"
        )
    return SetupError(f"the key did not sign: {first_line(said) or 'ssh-keygen gave no reason'}", where=name)


def find_signing_key(
    *,
    places: Places,
    environ: Mapping[str, str],
    keyring: Keyring | None = None,
    key: str | None = None,
    configured: str | None = None,
    interactive: bool = False,
    wanted: Callable[[Key], bool] | None = None,
) -> SshSigner:
    """Return the key that signs for this person, in the order of TRUST 10.

    ``key`` is what ``--key`` names, ``configured`` the user's memfs setting. With a ``keyring``,
    the first key that it lists (and that ``wanted`` accepts) is taken; without, the first there is.
    Raises :class:`SetupError` when there is none.
    """
    allowed = wanted or (lambda _: True)

    def listed(public: PublicKey) -> bool:
        found = keyring.find_key(public.blob) if keyring is not None else None
        return found is not None and allowed(found)

    seen: list[SshSigner] = []
    for found in _candidates(places, environ, key, configured, interactive):
        if keyring is None or listed(found.public):
            return found
        seen.append(found)
    if not seen:
        raise SetupError(
            "there is no SSH key to sign with",
            where=key,
            hint="make one with `ssh-keygen -t ed25519` (a security key: -t ed25519-sk), or name yours with --key FILE",
        )
    names = ", ".join(f"{signer.name} ({signer.public.fingerprint}{_role(keyring, signer)})" for signer in seen[:4])
    raise SetupError(
        f"the keyring lists no key of yours that may sign this; found {names}",
        hint="name the key that is listed with --key FILE (after a rotation: the new one), "
        "or ask a root person to run `memfs keys add`",
    )


def _role(keyring: Keyring | None, signer: SshSigner) -> str:
    line = keyring.find_key(signer.public.blob) if keyring is not None else None
    return f", listed as {','.join(line.roles)}" if line is not None else ", not listed"


def load_key(path: Path, *, environ: Mapping[str, str], interactive: bool = False) -> SshSigner:
    """Return the signer of the key file ``path`` (private, or public with its private half in the
    agent or beside it). Raises :class:`SetupError`."""
    try:
        public = read_public_key(path)
    except SignatureError as error:
        raise SetupError(
            f"this key cannot approve: {error}",
            where=escape_hidden(str(path), single_line=True),
            hint="use an Ed25519, ECDSA or security key, or RSA from 3072 bits",
        ) from None
    return SshSigner(public=public, path=path, environ=environ, interactive=interactive)


def read_public_key(path: Path) -> PublicKey:
    """Return the public key of a private or public key file.

    Raises :class:`SetupError` when the file cannot be read, :class:`SignatureError` when it holds no
    key that can be accepted.
    """
    shown = escape_hidden(str(path), single_line=True)
    try:
        raw = path.read_bytes()[:65536] if path.is_file() else None
        if raw is None:
            raise SetupError("there is no private key of that name", where=shown, hint="name your key with --key FILE")
        if raw.startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----"):
            return private_key_public(raw)
        if raw.startswith(b"-----BEGIN"):
            raw = path.with_name(path.name + ".pub").read_bytes()[:65536]
    except OSError as error:
        raise SetupError(
            f"the key cannot be read: {error.strerror}", where=shown, hint="name your key with --key FILE"
        ) from None
    return parse_public_line(raw.decode("utf-8", "replace"))


def parse_public_line(text: str) -> PublicKey:
    """Return the key of one line of a ``.pub`` file, comment and all. Raises :class:`SignatureError`."""
    lines = [line for line in text.splitlines() if line.strip()]
    words = lines[0].split() if len(lines) == 1 else []
    if len(words) < 2:
        raise SignatureError("not one public key")
    return parse_public_key(" ".join(words[:2]))


def _candidates(
    places: Places, environ: Mapping[str, str], key: str | None, configured: str | None, interactive: bool
) -> Iterator[SshSigner]:
    """Yield the keys of this person, best first; what was asked for by name is the only one."""
    for named in (key, configured):
        if named is not None:
            yield _named(named, places, environ, interactive)
            return
    git_key, program = _git_signing(places, environ)
    if git_key is not None:
        # git's own setting may name a key that is elsewhere today; the agent may hold another.
        with suppress(SetupError):
            yield replace(_named(git_key, places, environ, interactive), program=program)
    for at in _agents(places, environ):
        for public in _agent_keys(at):
            yield SshSigner(public=public, path=None, environ=at, interactive=interactive)
    for name in _DEFAULT_KEYS:
        path = places.home / ".ssh" / name
        if path.is_file():
            try:
                yield load_key(path, environ=environ, interactive=interactive)
            except SetupError:
                continue


def _named(text: str, places: Places, environ: Mapping[str, str], interactive: bool) -> SshSigner:
    literal = text.removeprefix("key::")
    if literal != text or literal.startswith(("ssh-", "ecdsa-", "sk-")):
        try:
            public = parse_public_line(literal)
        except SignatureError as error:
            raise SetupError(f"this key cannot approve: {error}", where="user.signingkey") from None
        holder = next((at for at in _agents(places, environ) if public in _agent_keys(at)), environ)
        return SshSigner(public=public, path=None, environ=holder, interactive=interactive)
    path = places.home / text[2:] if text.startswith("~/") else Path(text)
    return load_key(path.absolute(), environ=environ, interactive=interactive)


def _git_signing(places: Places, environ: Mapping[str, str]) -> tuple[str | None, str]:
    """Return ``user.signingkey``, when it is an SSH key, and the program that signs with it.

    Both are of the *global* git config in the user's home: a repository's own config must not choose what a
    person signs with.
    """
    found: dict[str, str] = {}
    for path in (places.home / ".config" / "git" / "config", places.home / ".gitconfig"):
        if not path.is_file():
            continue
        done = run(
            [
                "git",
                "config",
                "--file",
                str(path),
                "--includes",
                "--null",
                "--get-regexp",
                r"^(gpg\.format|gpg\.ssh\.program|user\.signingkey)$",
            ],
            cwd="/",
            env=without_git_variables(environ) | {"HOME": str(places.home), "GIT_CONFIG_NOSYSTEM": "1"},
            timeout=ALONE_SECONDS,
            check=False,
        )
        for entry in done.stdout.decode("utf-8", "replace").split("\0"):
            name, mark, value = entry.partition("\n")
            if mark:
                found[name] = value
    if found.get("gpg.format") != "ssh":
        return None, KEYGEN
    program = found.get("gpg.ssh.program") or KEYGEN
    return found.get("user.signingkey"), str(places.home / program[2:]) if program.startswith("~/") else program


def _agents(places: Places, environ: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield the environment for each agent of the user: the session's, then ``IdentityAgent`` of ssh_config(5)."""
    seen = environ.get("SSH_AUTH_SOCK")
    if seen and os.path.exists(seen):
        yield environ
    named = find_identity_agent(places, environ)
    if named and named != seen and os.path.exists(named):
        yield {**environ, "SSH_AUTH_SOCK": named}


def find_identity_agent(places: Places, environ: Mapping[str, str]) -> str | None:
    """Return the socket that ``IdentityAgent`` of the user's ssh configuration names for every host, or None.

    Only what stands before the first ``Host`` or ``Match``, or under ``Host *``, counts. Nothing is run: `ssh -G` would
    run the commands of ``Match exec``. Source: ssh_config(5).
    """
    try:
        raw = (places.home / ".ssh" / "config").read_bytes()[:_LARGEST_CONFIG]
    except OSError:
        return None
    for_all = True
    for line in raw.decode("utf-8", "replace").splitlines():
        name, _, value = line.strip().replace("=", " ", 1).partition(" ")
        value = value.strip().strip('"')
        if name.lower() in ("host", "match"):
            for_all = value.split() in (["*"], ["all"])
        elif name.lower() == "identityagent" and for_all:
            if value in ("none", "SSH_AUTH_SOCK"):
                return None
            if value.startswith("$"):
                return environ.get(value[1:].strip("{}"))
            home = str(places.home)
            return value.replace("%d", home).replace("%%", "%") if value[:2] != "~/" else os.path.join(home, value[2:])
    return None


def _agent_keys(environ: Mapping[str, str]) -> Sequence[PublicKey]:
    try:
        done = run(
            ["ssh-add", "-L"], env=without_git_variables(environ) | {"LC_ALL": "C"}, timeout=ALONE_SECONDS, check=False
        )
    except SetupError:
        return ()
    keys = []
    for line in done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else ():
        try:
            keys.append(parse_public_line(line))
        except SignatureError:
            continue
    return keys
