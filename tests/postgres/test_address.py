"""The address of a shared index: what is accepted, and what of the environment counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from postgres.conftest import PLACES, Shared

from memfs.disk.places import Places
from memfs.errors import MemfsError, UsageError
from memfs.postgres.address import parse_address
from memfs.postgres.connection import NoIndexError, connect


def test_a_server_elsewhere_must_prove_who_it_is_unless_the_address_says_otherwise() -> None:
    far = parse_address("postgresql://reader@db.example.com/memories")
    assert far.parameters["sslmode"] == "verify-full"
    assert far.parameters["sslrootcert"] == "system"
    own = parse_address("postgresql://reader@db.example.com/memories?sslmode=verify-ca&sslrootcert=/etc/ca.pem")
    assert (own.parameters["sslmode"], own.parameters["sslrootcert"]) == ("verify-ca", "/etc/ca.pem")
    for near in ("postgresql://r@127.0.0.1/m", "postgresql:///m?host=/run/postgresql", "postgres://r@localhost:5433/m"):
        assert "sslmode" not in parse_address(near).parameters


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("https://db.example.com/", "not the address"),
        ("postgresql://db:port/", "not the address"),
        ("postgresql://r@db/m?hostaddr=203.0.113.9", "does not know this option"),
        ("postgresql://r@db/m?options=-c%20x", "does not know this option"),
        ("postgresql://r@db/m?passfile=/tmp/x", "does not know this option"),
        ("postgresql://r@db/m?sslmode=allow", "sslmode"),
        ("postgresql://r:x@db/m", "password"),
        ("postgresql://r@db/m\n", "not the address"),
        ("postgresql://r@dƄ/m", "not the address"),
        ("", "not the address"),
    ],
)
def test_another_form_is_refused_with_a_reason(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_address(text)


@given(st.text(max_size=60) | st.from_regex(r"postgres(ql)?://[a-z0-9:@\[\]./?=&%-]{0,40}", fullmatch=True))
def test_no_text_makes_the_parser_fail_otherwise(text: str) -> None:
    try:
        found = parse_address(text)
    except MemfsError:
        return
    assert "password" not in found.parameters


def test_variables_that_a_project_can_set_do_not_move_the_connection(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {
        "PGHOSTADDR": "127.0.0.99", "PGPORT": "1", "PGUSER": "nobody", "PGDATABASE": "x", "PGOPTIONS": "-c work_mem=x",
        "PGPASSFILE": str(tmp_path / "p"), "PGSERVICE": "evil", "PGSSLMODE": "require", "PGSERVICEFILE": str(tmp_path),
        "PGREQUIREAUTH": "scram-sha-256", "PGTARGETSESSIONATTRS": "standby",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with shared.connect("reader") as connection:
        row = connection.execute("SELECT session_user, current_setting('search_path')").fetchone()
    assert row == ("reader", "memfs,pg_catalog")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://reader@127.0.0.1:1/m", "cannot be reached"),
        ("postgresql://reader@127.0.0.1:{port}/nosuch", "cannot be reached"),
        ("postgresql://stranger@127.0.0.1:{port}/postgres", "cannot be reached"),
    ],
)
def test_a_server_that_cannot_be_asked_is_one_sentence(shared: Shared, url: str, says: str) -> None:
    with pytest.raises(NoIndexError, match=says) as found:
        connect(parse_address(url.format(port=shared.server.port)), PLACES)
    assert "\n" not in found.value.message


def test_the_password_file_is_that_of_the_home_in_the_password_database(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "moved"))
    home = tmp_path / "home"
    home.mkdir()
    (home / ".pgpass").write_text("*:*:*:*:secret\n")
    (home / ".pgpass").chmod(0o600)
    with connect(parse_address(shared.server.url("reader", shared.name)), Places(home=home)) as connection:
        assert connection.info.password == "secret"
