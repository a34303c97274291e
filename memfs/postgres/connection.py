"""Connections to a shared index. The only use of psycopg."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memfs.disk.installed import install_command
from memfs.errors import SetupError
from memfs.model.codepoints import plain

if TYPE_CHECKING:
    from psycopg import Connection

    Open = Connection[tuple[object, ...]]

    from memfs.disk.places import Places
    from memfs.postgres.address import Address

SCHEMA_VERSION = 1
"""The version of ``migration.sql`` that this memfs reads and writes."""

CONNECT_SECONDS = 10
_MIGRATE = "its owner runs: memfs publish --migrate --to URL"


class NoIndexError(SetupError):
    """A shared index cannot be asked now; ``message`` is one sentence for a person."""


def is_installed() -> bool:
    """Return whether psycopg is installed. Imports nothing."""
    from importlib.util import find_spec

    return find_spec("psycopg") is not None


def connect(address: Address, places: Places, *, milliseconds: int | None = None, read_only: bool = False) -> Open:
    """Return a connection to ``address``; the caller closes it.

    Of the environment only ``PGPASSWORD`` counts: a project's settings can set variables for an agent's hooks, and
    ``PGHOSTADDR`` would send a question and a password elsewhere. Password and service files are those of the home
    in the password database. ``milliseconds`` bounds each statement. Raises :class:`NoIndexError`.
    """
    load()
    import psycopg

    password = os.environ.get("PGPASSWORD") or _keyring_password(address)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    os.environ["PGSERVICEFILE"] = str(places.home / ".pg_service.conf")
    os.environ["PGSYSCONFDIR"] = "/etc/postgresql-common"
    parameters: dict[str, str | int] = {
        "passfile": str(places.home / ".pgpass"),
        "application_name": "memfs",
        "connect_timeout": CONNECT_SECONDS,
        "options": f"-c search_path=memfs,pg_catalog -c statement_timeout={milliseconds or 0}",
        **address.parameters,
    }
    if password:
        os.environ["PGPASSWORD"] = password
        parameters["password"] = password
    try:
        connection = psycopg.connect(**parameters)  # type: ignore[arg-type]
        connection.read_only = read_only
        return connection
    except psycopg.Error as error:
        raise refused(error) from error


def refused(error: Exception) -> NoIndexError:
    """Return what went wrong with the server as one sentence. The server's words are text of a stranger."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    lines = [primary] if primary else [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = type(error).__name__
    if kind == "QueryCanceled":
        return NoIndexError("the shared index did not answer in time")
    if kind == "InsufficientPrivilege":
        return NoIndexError("this role has no right to the shared index", hint="GRANT memfs_reader TO the role")
    if kind in ("UndefinedTable", "InvalidSchemaName", "UndefinedFunction", "UndefinedColumn"):
        return NoIndexError("this database has no shared index", hint=_MIGRATE)
    words = lines[-1] if lines else kind
    return NoIndexError(f"the shared index cannot be reached ({plain(words.removeprefix('FATAL:').strip())})")


@contextmanager
def failing_plainly() -> Iterator[None]:
    """Turn what psycopg raises into :class:`NoIndexError`."""
    import psycopg

    try:
        yield
    except (psycopg.Error, UnicodeError) as error:
        raise refused(error) from error


def require_version(connection: Open) -> None:
    """Raise :class:`NoIndexError` unless the index has the version that this memfs knows."""
    with failing_plainly():
        row = connection.execute("SELECT max(version) FROM memfs.version").fetchone()
    version = row[0] if row is not None else None
    if version != SCHEMA_VERSION:
        raise NoIndexError(
            f"the shared index has version {version}, this memfs knows version {SCHEMA_VERSION}",
            hint=_MIGRATE if not isinstance(version, int) or version < SCHEMA_VERSION else "install a newer memfs",
        )


def _keyring_password(address: Address) -> str | None:
    """Return the password that the system's keyring has for this address, where the library is installed."""
    try:
        import keyring  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    try:
        found = keyring.get_password("memfs", address.shown)
    except Exception:  # noqa: BLE001 - a locked or missing keyring of any desktop is only "no password"
        return None
    return found if isinstance(found, str) else None


# -- connections that live longer than a question (in a server) -------------------------------------------------------

_idle: dict[str, list[Open]] = {}


def load() -> None:
    """Import the driver. Raises :class:`NoIndexError` where it is not installed."""
    if not is_installed():
        raise NoIndexError("the shared index needs psycopg", hint=install_command("postgres"))
    import psycopg  # noqa: F401


def borrow(address: Address, places: Places, *, milliseconds: int) -> Open:
    """Return a connection for reading that was given back, or a new one of the right version.

    ``give_back`` ends its transaction. One that broke meanwhile is replaced. Raises :class:`NoIndexError`.
    """
    kept = _idle.get(address.shown, [])
    while kept:
        connection = kept.pop()
        try:
            connection.execute("SELECT set_config('statement_timeout', %s, false)", [str(milliseconds)])
            return connection
        except Exception:  # noqa: BLE001 - whatever is wrong with an old connection, a new one is the answer
            connection.close()
    connection = connect(address, places, milliseconds=milliseconds, read_only=True)
    require_version(connection)
    return connection


def give_back(address: Address, connection: Open) -> None:
    """Keep ``connection`` to ``address`` for the next question of this process."""
    with failing_plainly():
        connection.rollback()
    _idle.setdefault(address.shown, []).append(connection)
