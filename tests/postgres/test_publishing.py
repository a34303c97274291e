"""What a publication writes into a shared index, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import pytest
from people import Person, Team, memory_text
from postgres.conftest import Shared, set_up

from memfs.errors import MemfsError, RefusedError, SetupError, UsageError
from memfs.postgres.connection import NoIndexError
from memfs.postgres.publishing import Published

Send = Callable[..., Published]


def test_a_second_publication_changes_nothing(team: Team, alice: Person, shared: Shared, send: Send) -> None:
    set_up(team)
    team.write("a")
    team.write("b", memory_text("Backups are restored beside.", scope="team/ops"), scope="team/ops", commit=True)
    team.approve(alice, "a")
    first, before = send(team), shared.rows("SELECT xmin, m.* FROM memfs.memory m ORDER BY key")
    second, after = send(team), shared.rows("SELECT xmin, m.* FROM memfs.memory m ORDER BY key")
    assert (first.added, first.changed, first.removed, first.unchanged) == (2, 0, 0, 0)
    assert (second.added, second.changed, second.removed, second.unchanged) == (0, 0, 0, 2)
    assert before == after
    assert first.receipts == 1


def test_bytes_receipts_and_keyrings_are_published_as_they_are(
    team: Team, alice: Person, shared: Shared, send: Send
) -> None:
    set_up(team)
    path = team.write("a", commit=True)
    team.approve(alice, "a")
    send(team)
    assert [bytes(raw) for (raw,) in shared.rows("SELECT bytes FROM memfs.memory")] == [path.read_bytes()]
    keyrings = {
        (team.root / f".memfs/keyring.{n}").read_bytes() for (n,) in shared.rows("SELECT version FROM memfs.keyring")
    }
    assert {bytes(raw) for (raw,) in shared.rows("SELECT bytes FROM memfs.keyring")} == keyrings
    ((name, raw, ids),) = shared.rows("SELECT name, bytes, ids FROM memfs.receipt")
    assert (team.root / ".memfs/approvals" / str(name)).read_bytes() == bytes(raw)  # type: ignore[call-overload]
    assert ids == ["a"]


def test_what_is_gone_or_changed_in_the_repository_is_gone_or_changed_in_the_index(
    team: Team, shared: Shared, send: Send
) -> None:
    set_up(team)
    team.write("a")
    gone = team.write("b", commit=True)
    send(team)
    gone.unlink()
    team.write("a", memory_text("Migrations may rename columns."), commit=True)
    done = send(team)
    assert (done.added, done.changed, done.removed) == (0, 1, 1)
    ((raw,),) = shared.rows("SELECT bytes FROM memfs.memory")
    assert b"rename columns" in bytes(raw)  # type: ignore[call-overload]
    assert shared.rows("SELECT documents, length FROM memfs.shelf") == shared.rows("SELECT 1, length FROM memfs.memory")


def test_only_named_scopes_leave_and_personal_ones_never(team: Team, shared: Shared, send: Send) -> None:
    set_up(team, share="[team, personal]")
    for scope in ("team", "team/ops", "personal", "restricted/board"):
        team.write(f"m-{scope.replace('/', '-')}", memory_text(scope=scope), scope=scope)
    team.commit()
    done = send(team)
    paths = {str(path) for (path,) in shared.rows("SELECT path FROM memfs.memory")}
    assert paths == {"memories/team/a.md", "memories/team/m-team.md"}
    assert done.left_out == 3


def test_a_repository_that_shares_nothing_or_has_no_keyring_is_refused(team: Team, send: Send) -> None:
    team.write("a", commit=True)
    with pytest.raises(UsageError, match="shares nothing"):
        send(team)
    set_up(team)
    team.git("rm", "-q", *[f".memfs/{p.name}" for p in (team.root / ".memfs").glob("keyring.*")])
    team.commit()
    with pytest.raises(SetupError, match="keyring"):
        send(team)


def test_a_text_that_admission_withholds_never_leaves_the_machine(team: Team, shared: Shared, send: Send) -> None:
    set_up(team)
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"[:36]
    team.write("a", memory_text(f"The deploy token is {token}."), commit=True)
    assert send(team).left_out == 1
    assert shared.rows("SELECT path FROM memfs.memory UNION SELECT path FROM memfs.staged") == []


def test_a_dry_run_writes_nothing(team: Team, shared: Shared, send: Send) -> None:
    set_up(team)
    team.write("a", commit=True)
    assert send(team, dry_run=True).added == 1
    assert shared.rows("SELECT id FROM memfs.repository") == []
    assert shared.rows("SELECT path FROM memfs.staged") == []


def test_an_older_commit_does_not_replace_a_newer_one(team: Team, send: Send) -> None:
    set_up(team)
    team.write("a", commit=True)
    older = team.git("rev-parse", "HEAD").strip()
    team.write("b", commit=True)
    send(team)
    team.git("checkout", "-q", older)
    with pytest.raises(RefusedError, match="newer commit"):
        send(team)
    assert send(team, force=True).removed == 1


def test_a_repository_belongs_to_the_role_that_published_it_first(team: Team, shared: Shared, send: Send) -> None:
    set_up(team)
    team.write("a", commit=True)
    send(team)
    team.write("a", memory_text("Changed."), commit=True)
    with pytest.raises(SetupError, match="another role"):
        send(team, user="other_ci")
    assert shared.rows("SELECT count(*) FROM memfs.memory WHERE bytes LIKE '%Changed%'::bytea") == [(0,)]


@pytest.mark.parametrize("user", ["reader", "nobody"])
def test_a_role_without_the_right_to_publish_is_told_so(team: Team, send: Send, user: str) -> None:
    set_up(team)
    team.write("a", commit=True)
    with pytest.raises(SetupError, match=r"right|role"):
        send(team, user=user)


def test_a_publication_that_was_killed_goes_on_where_it_was(
    team: Team, shared: Shared, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(team)
    for number in range(6):
        team.write(f"m{number}", memory_text(f"Fact number {number}."))
    team.commit()
    monkeypatch.setattr("memfs.postgres.publishing.BATCH", 2)
    sent: list[int] = []

    def stop(done: int, _total: int) -> None:
        sent.append(done)
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        send(team, progress=stop)
    assert shared.rows("SELECT count(*) FROM memfs.memory") == [(0,)]
    assert shared.rows("SELECT count(*) FROM memfs.staged") == [(4,)]
    sent.clear()
    assert send(team, progress=lambda done, _total: sent.append(done)).added == 7
    assert sent == [6, 7]
    assert shared.rows("SELECT count(*) FROM memfs.memory") == [(7,)]
    assert shared.rows("SELECT count(*) FROM memfs.staged") == [(0,)]


def test_terms_with_quotes_and_backslashes_are_stored_as_they_are(team: Team, shared: Shared, send: Send) -> None:
    from memfs.postgres.publication import format_terms

    words = {"it's": 2, "a\\b": 1, "c++": 3, "kube-system": 1, "数据": 300, "x' | 'y": 1}
    with shared.connect() as connection:
        (found,) = connection.execute(
            "SELECT memfs.counts_of(%s::tsvector, %s)", [format_terms(words), list(words)]
        ).fetchone() or ([],)
    assert found == [2, 1, 3, 1, 255, 1]


def test_two_publications_at_once_leave_one_of_them_whole(team: Team, shared: Shared, send: Send) -> None:
    set_up(team)
    for number in range(30):
        team.write(f"m{number}", memory_text(f"Fact number {number} about workers."))
    team.commit()
    done: list[object] = []

    def run() -> None:
        try:
            done.append(send(team))
        except MemfsError as error:
            done.append(error)

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert any(isinstance(one, Published) for one in done), done
    assert shared.rows("SELECT count(*), count(DISTINCT path) FROM memfs.memory") == [(31, 31)]
    assert shared.rows("SELECT documents FROM memfs.shelf") == [(31,)]
    assert send(team).unchanged == 31


def test_a_server_that_dies_in_the_middle_of_a_publication_shows_nothing_of_it(
    team: Team, shared: Shared, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(team)
    for number in range(6):
        team.write(f"m{number}", memory_text(f"Fact number {number}."))
    team.commit()
    monkeypatch.setattr("memfs.postgres.publishing.BATCH", 2)

    def die(done: int, _total: int) -> None:
        if done == 4:
            shared.server.stop(9)

    with pytest.raises(NoIndexError):
        send(team, progress=die)
    shared.server.start()
    assert shared.rows("SELECT count(*) FROM memfs.memory") == [(0,)]
    assert send(team).added == 7


def test_a_scope_widened_by_hand_is_put_back_by_the_next_publication(team: Team, shared: Shared, send: Send) -> None:
    set_up(team, share="[restricted/board]")
    team.write("deal", memory_text(scope="restricted/board"), scope="restricted/board", commit=True)
    send(team)
    assert shared.rows("SELECT count(*) FROM memfs.memory", "reader") == [(0,)]
    shared.change("UPDATE memfs.shelf SET scope = 'team'")
    assert shared.rows("SELECT count(*) FROM memfs.memory", "reader") == [(1,)]  # what an owner can always do
    send(team)
    assert shared.rows("SELECT count(*) FROM memfs.memory", "reader") == [(0,)]
