"""The address of a shared index, as a person writes it: a PostgreSQL URL without a password. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from memfs.errors import UsageError
from memfs.model.values import dataclass

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "service", "host")
_SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
_HINT = "postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the index is. ``parameters`` are libpq's, without a password; ``shown`` is safe to print."""

    parameters: Mapping[str, str]
    shown: str

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine: a loopback name, or a socket in the file system."""
        host = self.parameters.get("host", "")
        return host in LOCAL_HOSTS or host.startswith("/") or (not host and "service" not in self.parameters)


def parse_address(text: str) -> Address:
    """Return the address that ``text`` is.

    A server elsewhere is asked for its certificate (``verify-full``, the system's authorities) unless the
    address itself says otherwise. Raises :class:`UsageError` for another form, an unknown option and for a password,
    which others could read in a list of processes or in a settings file.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageError("this is not the address of a database", where="postgres", hint=_HINT) from error
    if parts.scheme not in ("postgres", "postgresql") or parts.fragment or not text.isascii() or not text.isprintable():
        raise UsageError("this is not the address of a database", where="postgres", hint=_HINT)
    if parts.password is not None:
        raise UsageError(
            "an address must not contain a password",
            where="postgres",
            hint="put it into ~/.pgpass, a service file, your keyring or PGPASSWORD",
        )
    given = {
        "host": unquote(parts.hostname or ""),
        "port": str(port) if port else "",
        "user": unquote(parts.username or ""),
        "dbname": unquote(parts.path.removeprefix("/")),
    }
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS:
            known = ", ".join(_OPTIONS)
            raise UsageError("memfs does not know this option of an address", where=name[:64], hint=f"known: {known}")
        given[name] = value
    if given.get("sslmode", "prefer") not in _SSL_MODES:
        raise UsageError("this sslmode does not exist", where="sslmode", hint=f"known: {', '.join(_SSL_MODES)}")
    address = Address(parameters={name: value for name, value in given.items() if value}, shown=text)
    if address.is_local or "sslmode" in address.parameters:
        return address
    secure = {"sslmode": "verify-full", "sslrootcert": "system", **address.parameters}
    return Address(parameters=secure, shown=text)
