"""Recall over a shared index: two repositories, two keyrings, a reader who has pinned one of them."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from threading import Thread

import pytest
from people import Person, Team, memory_text
from postgres.conftest import Shared, set_up
from support import Run, git

from memfs.disk.places import Places
from memfs.postgres.publishing import Published

Memfs = Callable[..., Run]
Send = Callable[..., Published]
QUESTION = "how do migrations stay additive?"


@pytest.fixture
def reader(tmp_path: Path, places: Places) -> Path:
    """Return a repository of the reader's own, with one memory that has nothing to do with the question."""
    root = tmp_path / "own"
    root.mkdir()
    git(root, "init", "-q")
    (root / "memories/team").mkdir(parents=True)
    (root / "memories/team/tea.md").write_text(memory_text("The kettle is descaled each month."))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "tea")
    places.config.mkdir(parents=True, exist_ok=True, mode=0o700)
    return root


def use(places: Places, url: str, *pins: str, more: str = "") -> None:
    (places.config / "config.yaml").write_text(
        f"stores:\n  - name: org\n    postgres: {url}\n    pins: [{', '.join(pins)}]\n{more}"
    )


def test_two_repositories_with_two_keys_are_recalled_and_only_the_pinned_one_is_approved(
    team: Team, alice: Person, mallory_team: Team, mallory: Person, shared: Shared, send: Send, reader: Path,
    places: Places, memfs: Memfs,
) -> None:  # fmt: skip
    set_up(team)
    set_up(mallory_team)
    mallory_team.write("other", memory_text("Migrations of the shop stay additive too."))
    mallory_team.commit()
    mallory_team.approve(mallory, "other")
    send(team)
    send(mallory_team)
    use(places, shared.server.url("reader", shared.name), team.pin())
    run = memfs("recall", QUESTION, cwd=reader)
    assert run.code == 0, run.err
    approved = run.out.partition("not approved")[0]
    assert "[a] decision" in approved
    assert "approved by alice@example.com" in approved
    assert "store org: Billing" in approved
    assert "[other] decision" in run.out
    assert "approved by mallory" not in run.out
    assert "kettle" not in run.out


def test_a_row_forged_with_the_owners_rights_is_shown_as_not_approved(
    team: Team, shared: Shared, send: Send, reader: Path, places: Places, memfs: Memfs
) -> None:
    set_up(team)
    send(team)
    shared.change(
        "UPDATE memfs.memory SET bytes = replace(encode(bytes, 'escape'), 'additive', 'additive or not')::bytea;"
        "UPDATE memfs.memory SET digest = encode(sha256(bytes), 'hex')"
    )
    use(places, shared.server.url("reader", shared.name), team.pin())
    run = memfs("recall", QUESTION, cwd=reader)
    assert "additive or not" in run.out
    assert "not approved (changed)" in run.out
    assert "approved by" not in run.out


def test_a_clone_that_is_here_knows_better_than_the_index(team: Team, shared: Shared, send: Send, memfs: Memfs) -> None:
    set_up(team)
    send(team)
    team.write("a", memory_text("Migrations may rename columns and stay additive."))
    team.places.config.mkdir(parents=True, exist_ok=True, mode=0o700)
    use(team.places, shared.server.url("reader", shared.name), team.pin())
    run = memfs("recall", QUESTION, cwd=team.root)
    assert run.out.count("[a]") == 1
    assert "rename columns" in run.out
    assert "store org" not in run.out


@contextmanager
def silent_server() -> Iterator[int]:
    """Accept connections and never say a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_without_the_server_the_answer_is_the_own_one_with_one_notice(
    reader: Path, places: Places, memfs: Memfs, shared: Shared
) -> None:
    with silent_server() as port:
        for url in (
            "postgresql://reader@127.0.0.1:1/m",
            f"postgresql://stranger@127.0.0.1:{shared.server.port}/{shared.name}",
            f"postgresql://nobody@127.0.0.1:{shared.server.port}/{shared.name}",
            f"postgresql://reader@127.0.0.1:{shared.server.port}/postgres",
            f"postgresql://reader@127.0.0.1:{port}/m",
            "mysql://x",
        ):
            use(places, url)
            run = memfs("recall", "how often is the kettle descaled?", cwd=reader)
            assert "[tea]" in run.out, url
            assert run.err.count("store org is left out: ") == 1, run.err
            assert "Traceback" not in run.err


def test_a_hook_waits_for_its_time_and_not_longer(reader: Path, places: Places) -> None:
    from memfs.hooks.answer import answer_event

    prompt = (
        b'{"hook_event_name": "UserPromptSubmit", "session_id": "s", '
        b'"cwd": "%s", "prompt": "when is the kettle descaled?"}' % str(reader).encode()
    )
    with silent_server() as port:
        use(places, f"postgresql://reader@127.0.0.1:{port}/m", more="    milliseconds: 150\n")
        answer_event(prompt.replace(b'"s"', b'"warm"'), "claude-code", lambda: places, today=lambda: date(2026, 12, 1))
        began = time.monotonic()
        answer = answer_event(prompt, "claude-code", lambda: places, today=lambda: date(2026, 12, 1))
        assert b"[tea]" in answer
        assert time.monotonic() - began < 10


def test_a_server_killed_in_the_middle_costs_a_notice(
    team: Team, shared: Shared, send: Send, reader: Path, places: Places, memfs: Memfs
) -> None:
    set_up(team)
    send(team)
    use(places, shared.server.url("reader", shared.name), team.pin())
    with shared.connect() as owner:
        owner.execute("ALTER FUNCTION memfs.search(text[], text[], text[], integer, integer) RENAME TO slow")
        owner.execute(
            "CREATE FUNCTION memfs.search(words text[], scopes text[], others text[], most integer, cap integer) "
            "RETURNS TABLE (memory bigint, length bigint, counts integer[], model text, vector bytea, tokens bytea) "
            "LANGUAGE sql AS 'SELECT s.* FROM pg_sleep(2), memfs.slow(words, scopes, others, most, cap) s'"
        )

    def kill() -> None:
        time.sleep(0.7)
        with shared.connect() as owner:
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")

    killer = Thread(target=kill)
    killer.start()
    run = memfs("recall", "how often is the kettle descaled?", cwd=reader)
    killer.join()
    assert "[tea]" in run.out
    assert "store org is left out" in run.err


def test_an_index_of_another_version_is_named(shared: Shared, reader: Path, places: Places, memfs: Memfs) -> None:
    shared.change("INSERT INTO memfs.version VALUES (99)")
    use(places, shared.server.url("reader", shared.name))
    run = memfs("recall", "how often is the kettle descaled?", cwd=reader)
    assert "the shared index has version 99" in run.err


def test_doctor_says_what_is_wrong_with_a_shared_index(
    team: Team, shared: Shared, send: Send, reader: Path, places: Places, memfs: Memfs
) -> None:
    set_up(team)
    send(team)

    def says(user: str, *pins: str) -> list[str]:
        use(places, shared.server.url(user, shared.name), *pins)
        found = memfs("doctor", "--json", cwd=reader).json["findings"]
        return [f"{one['level']}: {one['message']}" for one in found if one["about"] == "store org"]

    assert says("reader", team.pin()) == ["good: 1 memories of 1 repositories can be read"]
    assert "unwise: this role is above row-level security" in says("owner", team.pin())
    assert any("no repository of this index is pinned" in one for one in says("reader"))
    assert [one for one in says("nobody") if one.startswith("wrong: this role has no right")]
    assert [one for one in says("reader", "not-a-pin") if one.startswith("wrong: a pin looks like")]
    shared.change("DELETE FROM memfs.audience")
    assert "unwise: this role reads no scope" in says("reader", team.pin())


def test_a_server_asks_many_questions_over_one_connection(
    team: Team, shared: Shared, send: Send, reader: Path, places: Places
) -> None:
    from memfs.recall.search import Query
    from memfs.repository.stores import Stores

    set_up(team)
    send(team)
    use(places, shared.server.url("reader", shared.name), team.pin())
    before = shared.rows("SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
    for _ in range(3):
        stores = Stores.open(reader, places=places, today=date(2026, 11, 30))
        assert [hit.assessment.file.id for hit in stores.recall(Query(text=QUESTION)).hits] == ["a"]
    open_now = shared.rows("SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'")
    assert open_now == [(1,)], before


def test_a_server_without_a_free_connection_costs_a_notice(
    shared: Shared, reader: Path, places: Places, memfs: Memfs
) -> None:
    shared.change("ALTER ROLE auditor CONNECTION LIMIT 0")
    use(places, shared.server.url("auditor", shared.name))
    run = memfs("recall", "how often is the kettle descaled?", cwd=reader)
    shared.change("ALTER ROLE auditor CONNECTION LIMIT -1")
    assert "[tea]" in run.out
    assert "store org is left out: the shared index cannot be reached" in run.err


def test_doctor_says_that_the_clocks_differ(
    team: Team, shared: Shared, send: Send, reader: Path, places: Places
) -> None:
    from datetime import UTC, datetime

    from memfs.disk.settings import read_user_settings
    from memfs.postgres.checking import check_store

    set_up(team)
    send(team)
    use(places, shared.server.url("reader", shared.name), team.pin())
    (store,) = read_user_settings(places).shared
    said = [one.message for one in check_store(store, places, now=datetime(2020, 1, 1, tzinfo=UTC))]
    assert any("the clocks differ" in one for one in said)
    assert not any("clocks" in one.message for one in check_store(store, places, now=datetime.now(UTC)))
