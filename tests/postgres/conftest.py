"""Two repositories with keys of their own, a server, and one database for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from people import Person, Team, found_team
from postgres_server import KINDS, Server, find_binaries, running_server
from support import TODAY, git

from memfs.disk.places import Places
from memfs.postgres.address import parse_address
from memfs.postgres.connection import SCHEMA_VERSION, connect
from memfs.postgres.meaning import NoMeaning
from memfs.postgres.publication import is_ancestor, read_publication
from memfs.postgres.publishing import Published, migrate, publish

if TYPE_CHECKING:
    from psycopg import Connection

PLACES = Places(home=Path("/nonexistent/home"))


@pytest.fixture(scope="session", params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    pytest.importorskip("psycopg")
    if find_binaries(request.param) is None:
        pytest.skip(f"there is no PostgreSQL of the kind {request.param} here")
    with running_server(request.param) as one:
        yield one


@dataclass
class Shared:
    """One database with the schema, a publisher and two readers."""

    server: Server
    name: str

    def connect(self, user: str = "owner", *, autocommit: bool = True) -> Connection[tuple[object, ...]]:
        connection = connect(parse_address(self.server.url(user, self.name)), PLACES)
        connection.autocommit = autocommit
        return connection

    def rows(self, query: str, user: str = "owner") -> list[tuple[object, ...]]:
        with self.connect(user) as connection:
            return connection.execute(query).fetchall()  # type: ignore[call-overload]

    def change(self, command: str) -> None:
        with self.connect() as connection:
            connection.execute(command)  # type: ignore[call-overload]


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """Return a database with the schema, which the database of each test is a copy of."""
    with server.connect() as owner:
        owner.execute("CREATE DATABASE template_memfs")
    with connect(parse_address(server.url("owner", "template_memfs")), PLACES) as connection:
        assert migrate(connection) == SCHEMA_VERSION
    with server.connect() as owner:
        for role, group in (("ci", "memfs_publisher"), ("other_ci", "memfs_publisher"), ("reader", "memfs_reader"),
                            ("auditor", "memfs_reader"), ("nobody", None)):  # fmt: skip
            owner.execute(f"CREATE ROLE {role} LOGIN")
            if group:
                owner.execute(f"GRANT {group} TO {role}")
    return "template_memfs"


@pytest.fixture
def shared(server: Server, template: str) -> Iterator[Shared]:
    name = f"test_{uuid4().hex[:12]}"
    with server.connect() as owner:
        owner.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield Shared(server=server, name=name)
    with server.connect() as owner:
        owner.execute(f"DROP DATABASE {name} WITH (FORCE)")


def set_up(team: Team, *, share: str = "[team, team/*, restricted/*]", readers: str = "") -> None:
    """Let the repository of ``team`` share its scopes."""
    (team.root / ".memfs/config.yaml").write_text(f"version: 1\nname: Billing\nshare: {share}\n{readers}")
    team.commit("share")


@pytest.fixture
def send(shared: Shared) -> Callable[..., Published]:
    """Return a function that publishes the HEAD of a team's repository as the role ``ci``."""

    def run(team: Team, *, user: str = "ci", **options: Any) -> Published:
        head = team.git("rev-parse", "HEAD").strip()
        publication = read_publication(team.tree, team.places, head, today=TODAY, model=None)
        with shared.connect(user, autocommit=False) as connection:
            return publish(connection, publication, NoMeaning(), is_ancestor=partial(is_ancestor, team.tree), **options)

    return run


@pytest.fixture
def mallory_team(tmp_path: Path, mallory: Person, carol: Person) -> Team:
    """Return a second repository, with a keyring of other people."""
    root = tmp_path / "mallory"
    root.mkdir()
    git(root, "init", "-q")
    home = tmp_path / "mallory-home"
    home.mkdir()
    return found_team(root, Places(home=home), [mallory, carol])
