"""What is wrong with a shared index, as its reader: for `memfs doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from memfs.errors import MemfsError
from memfs.model.values import dataclass
from memfs.postgres.address import parse_address
from memfs.postgres.connection import connect, failing_plainly, require_version
from memfs.postgres.rows import parse_pins

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import SharedStore
    from memfs.postgres.connection import Open

MOST_SKEW = timedelta(minutes=5)
_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing that was looked at. ``fix`` is None where all is well; ``is_fault`` where recall cannot use it."""

    message: str
    fix: str | None = None
    is_fault: bool = False


def check_store(store: SharedStore, places: Places, *, now: datetime) -> list[Remark]:
    """Return what there is to say about a shared index. Never raises for what is wrong with it."""
    try:
        pins = parse_pins(store.pins)
        with connect(parse_address(store.url), places, milliseconds=_SECONDS * 1000, read_only=True) as connection:
            require_version(connection)
            with failing_plainly():
                return list(_look(connection, set(pins), now, is_local=parse_address(store.url).is_local))
    except MemfsError as error:
        return [Remark(message=error.message, fix=error.hint or "look at the store in your settings", is_fault=True)]


def _look(connection: Open, pins: set[str], now: datetime, *, is_local: bool) -> Iterator[Remark]:
    row: Any = connection.execute(
        "SELECT r.rolsuper OR r.rolbypassrls, coalesce(s.ssl, false), now(), "
        "(SELECT count(*) FROM memfs.memory), (SELECT array_agg(id) FROM memfs.repository) "
        "FROM pg_roles r LEFT JOIN pg_stat_ssl s ON s.pid = pg_backend_pid() WHERE r.rolname = current_user"
    ).fetchone()
    is_above_policies, is_encrypted, clock, memories, repositories = row
    known = set(repositories or [])
    yield Remark(message=f"{memories} memories of {len(known)} repositories can be read")
    if not memories:
        yield Remark(message="this role reads no scope", fix="ask the owner for rows of memfs.audience")
    if is_above_policies:
        yield Remark(message="this role is above row-level security", fix="use a role that is a member of memfs_reader")
    if not is_local and not is_encrypted:
        yield Remark(message="the connection is not encrypted", fix="?sslmode=verify-full in the address")
    if not isinstance(clock, datetime) or abs(clock.astimezone(UTC) - now) > MOST_SKEW:
        yield Remark(message=f"the clocks differ: the server says {clock:%Y-%m-%d %H:%M %Z}", fix="set the clocks")
    if not pins & known:
        yield Remark(
            message="no repository of this index is pinned in your settings, so nothing in it counts as approved",
            fix="add pins: [PIN] to the store; `memfs pin` prints a pin in a clone",
        )
