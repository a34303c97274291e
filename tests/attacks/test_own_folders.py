"""Threat: a repository, an archive or another user plants what a person's own folders should hold
(TRUST 8, trust cases 59-61, 97, 100)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from people import Person, Team, make_record, memory_text
from support import Run, git

from memfs.disk.places import Places
from memfs.errors import SetupError
from memfs.model.reader import content_digest
from memfs.trust.pin import Pin, delete_pin, parse_pin, read_pins, write_pin
from memfs.trust.record import Verb


def test_a_pin_comes_back_and_moves(places: Places) -> None:
    one = Pin(repository_id="1" * 32, version=1, start="a" * 8)
    two = Pin(repository_id="2" * 32)
    write_pin(places, one, note="/home/alice/project")
    write_pin(places, two)
    assert read_pins(places) == {one.repository_id: one, two.repository_id: two}
    moved = Pin(repository_id="1" * 32, version=3, start="b" * 8)
    write_pin(places, moved)
    assert read_pins(places)[one.repository_id] == moved
    assert parse_pin(moved.text) == moved
    assert delete_pin(places, two.repository_id)
    assert not delete_pin(places, two.repository_id)
    assert list(read_pins(places)) == [one.repository_id]
    assert (places.config / "trust.yaml").stat().st_mode & 0o777 == 0o600


def test_pins_inside_a_git_work_tree_pin_nothing(team: Team) -> None:
    git(team.places.home, "init", "-q")
    verdict = team.verdict()
    assert verdict.reason == "not-pinned"
    assert any("in a git work tree" in notice for notice in team.view().notices)
    shutil.rmtree(team.places.home / ".git")
    assert team.says() == "trusted"
    (team.places.home / ".config/.git").write_text("gitdir: elsewhere\n")
    assert team.says() == "not-pinned"


def test_pins_that_lead_into_the_repository_pin_nothing(team: Team) -> None:
    path = team.places.config / "trust.yaml"
    inside = team.root / "trust.yaml"
    inside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(inside)
    assert team.says() == "not-pinned"


@pytest.mark.parametrize("mode", [0o666, 0o660, 0o602])
def test_pins_that_others_may_write_pin_nothing(team: Team, mode: int) -> None:
    path = team.places.config / "trust.yaml"
    path.chmod(mode)
    assert team.says() == "not-pinned"
    path.chmod(0o600)
    team.places.config.chmod(0o777)
    assert team.says() == "not-pinned"
    team.places.config.chmod(0o700)
    assert team.says() == "trusted"


@pytest.mark.parametrize(
    "line",
    ["- everything", "memfs1:{id}", "- memfs1:{id}\n- memfs1:{id}", "pins: all", "- &a memfs1:{id}", "- memfs1:*"],
)
def test_a_line_that_is_no_pin_pins_nothing(team: Team, line: str) -> None:
    (team.places.config / "trust.yaml").write_text(line.format(id=team.repository_id) + "\n")
    assert team.says() == "not-pinned"
    with pytest.raises(SetupError) as caught:
        read_pins(team.places)
    assert "trust.yaml:" in str(caught.value)


def test_pins_are_plain_yaml(team: Team) -> None:
    import yaml

    path = team.places.config / "trust.yaml"
    path.write_text(path.read_text() + "\n# a note\n- memfs1:" + "3" * 32 + "   # a colleague's\n")
    assert team.says() == "trusted"
    assert len(yaml.safe_load(path.read_text())) == 2


def test_home_and_xdg_variables_move_nothing(team: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert team.says() == "trusted"
    assert list(tmp_path.glob("memfs*")) == []


def test_the_places_come_from_the_password_database(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    from memfs.disk import places

    monkeypatch.undo()
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    assert places.find_places().home == Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_without_a_pin_nothing_is_trusted_and_show_still_answers(
    team: Team, tmp_path: Path, memfs_process: Callable[..., Run]
) -> None:
    home = tmp_path / "fresh"
    home.mkdir()
    clone = team.clone(tmp_path / "clone", home, pin=False)
    run = memfs_process("show", "a", cwd=clone.root, home=home)
    assert run.code == 0, run.err
    assert "not-pinned" in run.out + run.err


def test_a_cached_signature_does_not_outlive_its_key(team: Team, alice: Person, bob: Person) -> None:
    team.write("b", memory_text("By Bob."))
    team.approve(bob, "b")
    assert team.says("b") == "trusted"
    assert (team.places.cache / "trust/verified").stat().st_size > 64
    team.change_keyring([alice], keys=team.keys()[:1])
    assert team.says("b") == "key-unknown"


def test_the_cache_holds_successes_only(team: Team, bob: Person) -> None:
    team.says()
    before = (team.places.cache / "trust/verified").read_bytes()
    team.write("b", memory_text("Never."))
    real = make_record(bob, team, "b", content_digest(team.path("b").read_bytes()))
    from memfs.model.values import replace

    forged = replace(real, signature=real.signature[:-1] + bytes([real.signature[-1] ^ 1]))
    team.put_receipt(forged)
    assert team.says("b") == "bad-signature"
    assert (team.places.cache / "trust/verified").read_bytes() == before


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o770, 0o710])
def test_a_cache_that_others_may_enter_is_closed_first(team: Team, mode: int) -> None:
    team.says()
    (team.places.cache / "trust").chmod(mode)
    view = team.view()
    assert view.verdict(team.read("a")).trusted
    assert (team.places.cache / "trust").stat().st_mode & 0o077 == 0
    assert view.notices == ()


def test_a_planted_cache_entry_in_an_open_folder_does_not_count(team: Team, bob: Person) -> None:
    from memfs.trust import cache
    from memfs.trust.record import signed_bytes
    from memfs.trust.sshsig import parse_signature

    team.write("b", memory_text("Never."))
    real = make_record(bob, team, "b", content_digest(team.path("b").read_bytes()))
    from memfs.model.values import replace

    forged = replace(real, signature=real.signature[:-1] + bytes([real.signature[-1] ^ 1]))
    team.put_receipt(forged)
    entry = cache._name(bob.signer.public, parse_signature(forged.signature), signed_bytes(forged.text))
    path = team.places.cache / "trust/verified"
    team.says()
    with path.open("ab") as file:
        file.write(entry + b"\n")
    assert team.says("b") == "trusted"  # what the user's own folder says is believed: this is why it is theirs alone
    path.chmod(0o666)
    assert team.says("b") == "bad-signature"
    path.chmod(0o600)
    assert team.says("b") == "trusted"
    path.parent.chmod(0o770)  # emptied before it is used: others could write into it
    assert team.says("b") == "bad-signature"


def test_a_cache_or_state_folder_that_is_a_symlink_is_not_used(team: Team, tmp_path: Path) -> None:
    team.says()
    for folder in (team.places.cache / "trust", team.places.state):
        elsewhere = tmp_path / folder.name
        folder.rename(elsewhere)
        folder.symlink_to(elsewhere)
    view = team.view()
    assert view.verdict(team.read("a")).trusted
    assert len([notice for notice in view.notices if "a folder is needed here" in notice]) == 2


def test_a_torn_cache_file_costs_time_only(team: Team) -> None:
    team.says()
    path = team.places.cache / "trust/verified"
    path.write_bytes(path.read_bytes()[:-10] + b"\xff\x00junk")
    assert team.says() == "trusted"
    path.unlink()
    path.mkdir()
    assert team.says() == "trusted"


@pytest.mark.parametrize("how", ["file", "a link", "records unreadable", "full of junk", "folder for a file"])
def test_a_state_folder_that_cannot_be_used_costs_the_memory_and_not_the_verdict(team: Team, how: str) -> None:
    team.says()
    state = team.places.state
    if how == "file":
        shutil.rmtree(state)
        state.write_text("")
    elif how == "a link":
        state.rename(state.parent / "elsewhere")
        state.symlink_to(state.parent / "elsewhere")
    elif how == "records unreadable":
        shutil.rmtree(state / team.repository_id)
        (state / team.repository_id).write_text("")
    elif how == "full of junk":
        for path in state.rglob("*"):
            if path.is_file():
                path.write_bytes(b"\xff\x00 junk\n\n+ \n")
    else:
        shutil.rmtree(state / team.repository_id / "records", ignore_errors=True)
        (state / team.repository_id / "records").mkdir()
        (state / team.repository_id / "records/a").mkdir()
    view = team.view()
    assert view.verdict(team.read("a")).trusted
    if how != "full of junk":  # junk is no memory, and is written over
        assert any("memory of approvals cannot be used" in notice for notice in view.notices)


def test_without_the_memory_the_history_is_still_read(team: Team, bob: Person) -> None:
    team.revoke(bob, "a")
    shutil.rmtree(team.root / ".memfs/approvals")
    shutil.rmtree(team.places.state)
    team.places.state.write_text("")
    assert team.says() == "withdrawn"


def test_what_is_remembered_is_judged_again_under_todays_keyring(team: Team, alice: Person, bob: Person) -> None:
    before = team.git("rev-parse", "HEAD")
    team.revoke(bob, "a")
    assert team.says() == "withdrawn"
    team.git("reset", "-q", "--hard", before)
    assert team.says() == "withdrawn"
    team.change_keyring([alice], keys=team.keys()[:1])  # Bob was never there
    assert team.says() == "trusted"


def test_a_planted_memory_cannot_grant(team: Team, bob: Person, mallory: Person) -> None:
    team.write("b", memory_text("Never approved here."))
    digest = content_digest(team.path("b").read_bytes())
    folder = team.places.state / team.repository_id / "records"
    team.says()
    folder.mkdir(exist_ok=True)
    lines = [
        f"+ {make_record(person, team, 'b', digest, by=by).line}\n"
        for person, by in ((bob, None), (mallory, "alice@example.com"))
    ]
    (folder / "b").write_text("".join(lines))
    assert team.says("b") == "no-approval"
    (folder / "a").write_text(f"+ {make_record(mallory, team, 'a', '0' * 64, seq=9, verb=Verb.WITHDRAW).line}\n")
    assert team.says("a") == "trusted"


def test_the_memory_of_an_id_does_not_grow_without_end(team: Team, alice: Person, mallory: Person) -> None:
    from memfs.trust.remembered import MAX_NOTES, Remembered

    remembered = Remembered(team.places)
    remembered.use(team.repository_id)
    from memfs.trust.judge import Reason

    forged = [
        make_record(mallory, team, "a", "0" * 64, seq=2, at=f"2026-11-30T03:{minute:02}:00Z") for minute in range(8)
    ]
    remembered.add({}, {"a": [(Reason.KEY_UNKNOWN, record) for record in forged]})
    assert len(remembered.failures("a")) == MAX_NOTES
    again = Remembered(team.places)
    again.use(team.repository_id)
    assert len(again.failures("a")) == MAX_NOTES


def test_a_very_long_memory_is_written_anew_with_the_newest_records(
    team: Team, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memfs.trust import remembered as module

    monkeypatch.setattr(module, "_REWRITE_BYTES", 2000)
    monkeypatch.setattr(module, "MAX_RECORDS", 3)
    memory = module.Remembered(team.places)
    memory.use(team.repository_id)
    for seq in range(1, 9):
        memory.add({"z": [make_record(alice, team, "z", "0" * 64, seq=seq)]}, {})
    again = module.Remembered(team.places)
    again.use(team.repository_id)
    kept = sorted(record.statement.items[0].seq for record in again.records("z"))
    assert kept[-3:] == [6, 7, 8]
    assert len(kept) <= 4


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\x1c", "\x00"])
def test_a_folders_name_cannot_bring_a_pin_of_its_own(places: Places, end: str) -> None:
    wanted = Pin(repository_id="1" * 32, version=1, start="a" * 8)
    for name in (
        f"/x{end}- memfs1:{'b' * 32}:1:deadbeef",
        f"/x{end}break",
        f"{end}- memfs1:{'b' * 32}",
        "/\udcff\udcfe",
        "# #",
    ):
        write_pin(places, wanted, note=name)
        assert read_pins(places) == {wanted.repository_id: wanted}


def test_a_repository_in_a_folder_with_a_line_end_in_its_name_is_pinned_alone(
    tmp_path: Path, places: Places, alice: Person
) -> None:
    from people import found_team

    root = tmp_path / f"x\n- memfs1:{'ab' * 16}:1:deadbeef"
    root.mkdir()
    git(root, "init", "-q")
    team = found_team(root, places, [alice])
    from memfs.trust.pinning import pin_repository

    pin_repository(places, team.tree, note=str(root))
    assert list(read_pins(places)) == [team.repository_id]
    assert team.says() == "trusted"
