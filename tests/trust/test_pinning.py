"""What a repository contains is never the user's word: only a person pins (DESIGN 4, TRUST 8)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from people import Person, Team, Terminal, found_team
from support import Run, git, launch_command, make_key

from memfs.disk.places import Places
from memfs.errors import TrustError
from memfs.trust.pin import Pin, pin_of, read_pins, write_pin
from memfs.trust.pinning import pin_repository, read_chain

Memfs = Callable[..., Run]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the home of a person who has a key and has pinned nothing."""
    home = tmp_path / "person"
    (home / ".ssh").mkdir(mode=0o700, parents=True)
    make_key(home / ".ssh", "id_ed25519")
    return home


@pytest.fixture
def stranger(tmp_path: Path, mallory: Person) -> Team:
    """Return mallory's repository, in which mallory calls herself alice and approved a memory."""
    root = tmp_path / "stranger"
    root.mkdir()
    git(root, "init", "-q")
    home = tmp_path / "mallory-home"
    home.mkdir()
    return found_team(root, Places(home=home), [Person("alice", mallory.key)])


def at_terminal(
    home: Path, cwd: Path, *arguments: str, answers: list[tuple[str, str]] | None = None
) -> tuple[int, str]:
    return Terminal([*launch_command(home), *arguments], cwd=cwd, env=os.environ).answer(*(answers or []))


def exchange_keyring(team: Team, other: Team) -> None:
    """Put the keyring and the receipts of ``other`` in the place of the team's."""
    for path in (*team.root.glob(".memfs/keyring.*"), *team.root.glob(".memfs/approvals/*")):
        path.unlink()
    for path in (*other.root.glob(".memfs/keyring.*"), *other.root.glob(".memfs/approvals/*")):
        (team.root / path.relative_to(other.root)).write_bytes(path.read_bytes())
    team.write("a", other.path("a").read_text())


def test_init_in_a_stranger_s_clone_pins_nothing(
    stranger: Team, home: Path, tmp_path: Path, memfs_process: Memfs
) -> None:
    clone = stranger.clone(tmp_path / "clone", home, pin=False)
    for run in (
        memfs_process("init", cwd=clone.root, home=home),
        memfs_process("init", "--json", cwd=clone.root, home=home),
    ):
        assert run.code == 0, run.err
        assert "memfs pin" in run.out + run.err
    assert memfs_process("init", "--json", cwd=clone.root, home=home).json["pin"] is None
    code, shown = at_terminal(home, clone.root, "init")
    assert code == 0
    assert "memfs pin" in shown
    assert read_pins(clone.places) == {}
    assert clone.says() == "not-pinned"


def test_init_does_not_accept_an_exchanged_root(team: Team, stranger: Team, memfs_process: Memfs) -> None:
    exchange_keyring(team, stranger)
    assert team.says() == "keyring-broken"
    before = read_pins(team.places)
    run = memfs_process("init", cwd=team.root, home=team.places.home)
    assert "memfs pin" in run.err
    assert read_pins(team.places) == before
    assert team.says() == "keyring-broken"


def test_init_never_lowers_a_pin(team: Team, alice: Person, memfs_process: Memfs) -> None:
    team.change_keyring([alice], approve=2)
    write_pin(team.places, pin_of(read_chain(team.tree)))
    before = read_pins(team.places)
    (team.root / ".memfs/keyring.2").unlink()
    memfs_process("init", cwd=team.root, home=team.places.home)
    assert read_pins(team.places) == before
    assert team.says() == "keyring-rolled-back"


def test_init_signs_in_a_repository_that_was_there_only_for_a_person(
    repo: Path, home: Path, memfs_process: Memfs
) -> None:
    run = memfs_process("init", cwd=repo, home=home)
    assert run.code == 0, run.err
    assert "no keyring was made" in run.err
    assert not (repo / ".memfs/keyring.1").exists()
    assert read_pins(Places(home=home)) == {}
    code, shown = at_terminal(home, repo, "init")
    assert code == 0, shown
    assert "pinned on this machine: memfs1:" in shown
    assert len(read_pins(Places(home=home))) == 1


def test_init_pins_the_keyring_that_it_made(home: Path, tmp_path: Path, memfs_process: Memfs) -> None:
    run = memfs_process("init", "new", "--json", cwd=tmp_path, home=home)
    (pin,) = read_pins(Places(home=home)).values()
    assert run.json["pin"] == pin.text


def test_init_with_half_a_keyring_makes_none(team: Team, home: Path, memfs_process: Memfs) -> None:
    (team.root / ".memfs/keyring.1").rename(team.root / ".memfs/keyring.2")
    run = memfs_process("init", "--key", str(home / ".ssh/id_ed25519"), cwd=team.root, home=home)
    assert "refused" in run.err
    assert not (team.root / ".memfs/keyring.1").exists()


def test_move_needs_a_pin_of_this_repository(stranger: Team, home: Path, tmp_path: Path) -> None:
    clone = stranger.clone(tmp_path / "clone", home, pin=False)
    code, shown = at_terminal(home, clone.root, "pin", "--move")
    assert code == 6
    assert "not pinned here" in shown
    assert read_pins(clone.places) == {}


def test_move_does_not_accept_an_exchanged_root(team: Team, stranger: Team) -> None:
    exchange_keyring(team, stranger)
    for other_is_pinned in (False, True):
        if other_is_pinned:
            write_pin(team.places, pin_of(read_chain(stranger.tree)))
        assert team.says() == "keyring-broken"
        code, _ = at_terminal(team.places.home, team.root, "pin", "--move")
        assert code == 6
        assert team.says() == "keyring-broken"


def test_move_shows_what_changed_and_asks(team: Team, alice: Person, carol: Person) -> None:
    old = pin_of(read_chain(team.tree))
    write_pin(team.places, old)
    team.change_keyring([alice], keys=(*team.keys(), carol.key_line()))
    home = team.places.home
    code, shown = at_terminal(home, team.root, "pin", "--move", answers=[("Type keyring.2", "y")])
    assert code == 1
    assert "adds carol@example.com" in shown
    assert read_pins(team.places)[old.repository_id] == old
    code, _ = at_terminal(home, team.root, "pin", "--move", answers=[("Type keyring.2", "keyring.2")])
    assert code == 0
    assert read_pins(team.places)[old.repository_id].version == 2


def test_a_pin_only_goes_up(team: Team, alice: Person) -> None:
    old = pin_of(read_chain(team.tree))
    team.change_keyring([alice], approve=2)
    new = pin_repository(team.places, team.tree)
    for lower in (old, Pin(repository_id=old.repository_id)):
        with pytest.raises(TrustError, match="version 2 of the keyring is pinned"):
            pin_repository(team.places, team.tree, pin=lower)
    (team.root / ".memfs/keyring.2").unlink()
    for pin in (None, old):
        with pytest.raises(TrustError, match="your pin names version 2"):
            pin_repository(team.places, team.tree, pin=pin)
    assert read_pins(team.places)[new.repository_id] == new
    code, _ = at_terminal(team.places.home, team.root, "pin", "--move")
    assert code == 6
    assert read_pins(team.places)[new.repository_id] == new


def test_an_exchanged_root_is_shouted_at_a_person_who_may_accept_it(team: Team, stranger: Team) -> None:
    exchange_keyring(team, stranger)
    home, start = team.places.home, stranger.repository_id[:8]
    code, shown = at_terminal(home, team.root, "pin", answers=[("first 8 characters", "no")])
    assert code == 1
    assert "THE FIRST KEYRING OF THIS FOLDER WAS EXCHANGED" in shown
    assert team.says() == "keyring-broken"
    write_pin(team.places, pin_of(read_chain(stranger.tree)))  # known from elsewhere, and yet not here
    code, shown = at_terminal(home, team.root, "pin", answers=[("first 8 characters", start)])
    assert code == 0
    assert "WAS EXCHANGED" in shown
    assert team.says() == "trusted"
    assert "WAS EXCHANGED" not in at_terminal(home, team.root, "pin")[1]
