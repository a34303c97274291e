"""Writing a publication into a shared index: sent in parts, made visible in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

from memfs.errors import RefusedError, SetupError
from memfs.model.codepoints import plain
from memfs.model.values import dataclass
from memfs.postgres.connection import failing_plainly, require_version
from memfs.postgres.publication import Publication, Row, batches, format_terms

if TYPE_CHECKING:
    from psycopg import Cursor

    from memfs.postgres.connection import Open

BATCH = 200
"""Memories that are sent, and kept for a later try, at once."""

Progress = Callable[[int, int], None]
"""Called with (done, total)."""


class Meaning(Protocol):
    """What gives a memory its vectors. ``model`` is None where there is none."""

    model: str | None

    def of(self, row: Row) -> tuple[bytes | None, bytes | None, str | None]:
        """Return the int8 row, the sign bits of its tokens, and the numbers as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a publication did, or would do: numbers of memories."""

    repository: str
    commit: str
    added: int
    changed: int
    removed: int
    unchanged: int
    receipts: int
    left_out: int


def migrate(connection: Open) -> int:
    """Carry out the migration file as the owner of the database; return the version that it has then."""
    text = files("memfs.postgres").joinpath("migration.sql").read_text(encoding="utf-8")
    with failing_plainly(), connection.transaction():
        connection.execute("SET LOCAL client_min_messages = warning")
        connection.execute(text)
        row = connection.execute("SELECT max(version) FROM memfs.version").fetchone()
    return int(str(row[0])) if row is not None else 0


def publish(
    connection: Open,
    publication: Publication,
    meaning: Meaning,
    *,
    is_ancestor: Callable[[str, str], bool],
    dry_run: bool = False,
    force: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> Published:
    """Bring the index to exactly what ``publication`` contains.

    Changed rows are sent in parts that outlive this process; what readers see changes in one transaction. A second
    run changes nothing. ``is_ancestor`` tells whether its first commit is in the history of its second. Raises
    :class:`RefusedError` where a newer commit is published already, unless ``force``; :class:`SetupError` where the
    repository belongs to another role, and :class:`NoIndexError`.
    """
    require_version(connection)
    with failing_plainly():
        known = _known(connection, publication)
        present = {row.path: row.stamp for row in publication.rows}
        changed = [row for row in publication.rows if known.get(row.path) != row.stamp]
        gone = [path for path in known if path not in present]
        done = Published(
            repository=publication.repository,
            commit=publication.commit,
            added=sum(row.path not in known for row in changed),
            changed=sum(row.path in known for row in changed),
            removed=len(gone),
            unchanged=len(present) - len(changed),
            receipts=len(publication.receipts),
            left_out=len(publication.left_out),
        )
        if dry_run:
            connection.rollback()
            return done
        connection.commit()
        kind = _meaning_type(connection)
        _send(connection, publication, changed, meaning, progress, kind=kind)
        with connection.transaction():
            # One publication of a repository at a time; another one waits here until this one is visible or gone.
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [publication.repository])
            _require_newer(connection, publication, is_ancestor, force=force)
            _make_visible(connection, publication, present, has_meaning=kind is not None)
    return done


def _known(connection: Open, publication: Publication) -> dict[str, str]:
    rows = connection.execute("SELECT path, stamp FROM memory WHERE repository = %s", [publication.repository])
    return {str(path): str(stamp) for path, stamp in rows}


# -- sending ----------------------------------------------------------------------------------------------------------

_COLUMNS = "repository, path, scope, digest, bytes, length, terms, model, vector, tokens, state, stamp"


def _send(
    connection: Open,
    publication: Publication,
    changed: Iterable[Row],
    meaning: Meaning,
    progress: Progress,
    *,
    kind: str | None,
) -> None:
    rows = tuple(changed)
    found = connection.execute("SELECT path, stamp FROM staged WHERE repository = %s", [publication.repository])
    staged = {(str(path), str(stamp)) for path, stamp in found}
    wanted = {(row.path, row.stamp) for row in rows}
    stale = [path for path, stamp in staged if (path, stamp) not in wanted]
    connection.execute("DELETE FROM staged WHERE repository = %s AND path = ANY (%s)", [publication.repository, stale])
    connection.commit()
    columns = _COLUMNS + (", meaning" if kind else "")
    values = ", ".join(["%s"] * 6 + ["%s::tsvector"] + ["%s"] * 5 + ([f"%s::{kind}"] if kind else []))
    command = f"INSERT INTO staged ({columns}) VALUES ({values}) ON CONFLICT (repository, publisher, path) DO NOTHING"  # noqa: S608
    waiting = tuple(row for row in rows if (row.path, row.stamp) not in staged)
    done = len(rows) - len(waiting)
    for part in batches(waiting, BATCH):
        with connection.cursor() as cursor:
            _send_part(cursor, command, publication.repository, part, meaning, with_meaning=kind is not None)
        connection.commit()
        done += len(part)
        progress(done, len(rows))


def _send_part(
    cursor: Cursor[tuple[object, ...]],
    command: str,
    repository: str,
    part: Iterable[Row],
    meaning: Meaning,
    *,
    with_meaning: bool,
) -> None:
    values: list[list[Any]] = []
    for row in part:
        vector, tokens, numbers = meaning.of(row)
        values.append([
            repository, row.path, row.scope, row.file.digest, row.file.raw, row.length, format_terms(row.counts),
            meaning.model if vector is not None else None, vector, tokens, json.dumps(row.state), row.stamp,
            *([numbers] if with_meaning else []),
        ])  # fmt: skip
    cursor.executemany(command, values)


def _meaning_type(connection: Open) -> str | None:
    """Return the qualified name of pgvector's type where the index has that column."""
    row = connection.execute(
        "SELECT quote_ident(n.nspname) || '.halfvec' FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
        "JOIN pg_namespace n ON n.oid = t.typnamespace "
        "WHERE a.attrelid = 'memfs.staged'::regclass AND a.attname = 'meaning' AND NOT a.attisdropped"
    ).fetchone()
    return str(row[0]) if row is not None else None


# -- making visible ---------------------------------------------------------------------------------------------------


def _make_visible(connection: Open, publication: Publication, present: Mapping[str, str], *, has_meaning: bool) -> None:
    repository = publication.repository
    _write_repository(connection, publication)
    _write_shelves(connection, publication)
    _move_rows(connection, publication, present, has_meaning=has_meaning)
    _replace(connection, "keyring", repository, "version, bytes", publication.keyrings.items())
    receipts = [(name, raw, list(ids)) for name, (raw, ids) in publication.receipts.items()]
    _replace(connection, "receipt", repository, "name, bytes, ids", receipts)
    _count(connection, repository)


def _require_newer(
    connection: Open, publication: Publication, is_ancestor: Callable[[str, str], bool], *, force: bool
) -> None:
    row = connection.execute("SELECT commit FROM repository WHERE id = %s", [publication.repository]).fetchone()
    there = str(row[0]) if row is not None else publication.commit
    if force or there == publication.commit or not is_ancestor(publication.commit, there):
        return
    raise RefusedError(
        "a newer commit of this repository is published already", where=plain(there[:12]), hint="memfs publish --force"
    )


def _write_repository(connection: Open, publication: Publication) -> None:
    from psycopg.errors import InsufficientPrivilege

    from memfs.index.tokenizer import TOKENIZER_VERSION

    try:
        connection.execute(
            "INSERT INTO repository (id, name, commit, committed, tokenizer) VALUES (%s, %s, %s, %s, %s) "
            "ON CONFLICT (id) DO UPDATE SET name = excluded.name, commit = excluded.commit, "
            "committed = excluded.committed, tokenizer = excluded.tokenizer, published = now()",
            [
                publication.repository, publication.name[:200], publication.commit, publication.committed,
                TOKENIZER_VERSION,
            ],
        )  # fmt: skip
    except InsufficientPrivilege as error:
        raise SetupError(
            "another role publishes this repository, or this role may not publish",
            hint="GRANT memfs_publisher TO the role; an owner changes memfs.repository.publisher",
        ) from error


def _write_shelves(connection: Open, publication: Publication) -> None:
    for scope, readers in publication.readers.items():
        connection.execute(
            "INSERT INTO shelf (repository, scope, readers) VALUES (%s, %s, %s) "
            "ON CONFLICT (repository, scope) DO UPDATE SET readers = excluded.readers",
            [publication.repository, scope, list(readers) if readers is not None else None],
        )


def _move_rows(connection: Open, publication: Publication, present: Mapping[str, str], *, has_meaning: bool) -> None:
    repository = publication.repository
    extra = ", meaning" if has_meaning else ""
    columns = f"digest, bytes, length, terms, model, vector, tokens, state, stamp{extra}"
    changes = ", ".join(f"{name} = excluded.{name}" for name in ["shelf", *columns.split(", ")])
    connection.execute(
        f"INSERT INTO memory (shelf, repository, path, {columns}) "  # noqa: S608 - names of columns only
        f"SELECT s.id, g.repository, g.path, {', '.join('g.' + name for name in columns.split(', '))} "
        "FROM staged g JOIN shelf s ON s.repository = g.repository AND s.scope = g.scope "
        f"WHERE g.repository = %s ON CONFLICT (repository, path) DO UPDATE SET {changes}",
        [repository],
    )
    connection.execute("DELETE FROM staged WHERE repository = %s", [repository])
    connection.execute("DELETE FROM memory WHERE repository = %s AND path <> ALL (%s)", [repository, list(present)])
    if _known(connection, publication) != present:
        raise SetupError("another publication of this repository came in between", hint="run memfs publish again")
    # A row's scope is that of its path, whatever somebody did to the shelves by hand.
    connection.execute(
        "UPDATE memory m SET shelf = s.id FROM shelf s WHERE m.repository = %s AND s.repository = m.repository "
        "AND s.scope = substring(m.path FROM '^memories/(.*)/[^/]+$') AND m.shelf <> s.id",
        [repository],
    )
    connection.execute(
        "DELETE FROM shelf s WHERE s.repository = %s AND NOT EXISTS (SELECT FROM memory m WHERE m.shelf = s.id)",
        [repository],
    )


def _replace(connection: Open, table: str, repository: str, columns: str, rows: Iterable[Iterable[object]]) -> None:
    marks = ", ".join(["%s"] * (columns.count(",") + 2))
    connection.execute(f"DELETE FROM {table} WHERE repository = %s", [repository])  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} (repository, {columns}) VALUES ({marks})",  # noqa: S608
            [[repository, *row] for row in rows],
        )


def _count(connection: Open, repository: str) -> None:
    """Write down what a search must know of each shelf as a whole."""
    connection.execute("DELETE FROM term WHERE shelf IN (SELECT id FROM shelf WHERE repository = %s)", [repository])
    connection.execute(
        "INSERT INTO term (term, shelf, documents) SELECT lexeme, shelf, count(*) "
        "FROM memory, unnest(tsvector_to_array(terms)) AS lexeme WHERE repository = %s GROUP BY shelf, lexeme",
        [repository],
    )
    connection.execute(
        "UPDATE shelf s SET (documents, length) = "
        "(SELECT count(*), coalesce(sum(m.length), 0) FROM memory m WHERE m.shelf = s.id) WHERE repository = %s",
        [repository],
    )


def as_payload(done: Published, left_out: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON form of a publication; reasons by path are memfs's own words."""
    from memfs.model.values import asdict

    return {**asdict(done), "reasons": {plain(path): reason for path, reason in left_out.items()}}
