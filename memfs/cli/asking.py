"""What the commands that sign share: they need a person at a terminal, that person's key, and a typed answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memfs.disk.settings import read_user_settings
from memfs.errors import TrustError
from memfs.model.codepoints import escape_hidden
from memfs.trust.signing import find_signing_key

if TYPE_CHECKING:
    from pathlib import Path

    from memfs.cli.session import Session
    from memfs.trust.keyring import Key, Keyring
    from memfs.trust.signing import Signer, SshSigner

NO_TERMINAL = (
    "this keeps programs from approving by accident; what keeps out a program that runs as you is a security "
    "key that wants a touch (see `memfs trust --help`)"
)


def require_terminal(session: Session, what: str) -> None:
    """Raise :class:`TrustError` unless a person sits at a terminal. There is no option that skips it."""
    if not session.interactive:
        raise TrustError(f"{what} needs a person at a terminal; nothing was signed", hint=NO_TERMINAL)


def find_signer(
    session: Session,
    keyring: Keyring | None,
    *,
    key: str | None = None,
    wanted: Callable[[Key], bool] | None = None,
) -> SshSigner:
    """Return the key that signs for this person. Raises :class:`SetupError` when there is none."""

    return find_signing_key(
        places=session.places,
        environ=session.environ,
        keyring=keyring,
        key=str(_from_here(session, key)) if key else None,
        configured=read_user_settings(session.places).signing_key,
        interactive=session.interactive,
        wanted=wanted,
    )


def announce(session: Session, signers: Sequence[Signer]) -> None:
    """Say which key signs, so that a touch or a passphrase is expected."""
    for signer in signers:
        touch = "; touch it when it blinks" if signer.public.is_security_key else ""
        session.note(f"signing with {signer.name}{touch}")


def confirm(session: Session, question: str, answer: str) -> bool:
    """Return whether the person typed exactly ``answer``."""
    return session.ask(question) == answer


def escape_lines(text: str) -> list[str]:
    """Return the lines of a text of the repository, every hidden character made visible."""
    return [escape_hidden(line, single_line=True) for line in text.replace("\r\n", "\n").split("\n")]


def _from_here(session: Session, name: str) -> Path | str:
    return name if name.startswith(("key::", "ssh-", "sk-", "ecdsa-", "~/")) else session.cwd / name
