"""What is memfs's own belongs to the user alone, is mended where it is too open, and is refused by its path."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import Run, git

from memfs.disk import private
from memfs.disk.places import Places, find_places
from memfs.errors import SetupError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o002, 0o000], ids=["022", "002", "000"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_every_level_is_made_for_the_user_alone(places: Places, umask: int) -> None:
    made = private.make_folder(places, "state", "one", "two")
    assert made == places.state / "one" / "two"
    for folder in (places.state, places.state / "one", made):
        assert mode(folder) == 0o700


def test_folders_of_the_system_keep_their_mode(places: Places) -> None:
    (places.home / ".local").mkdir(mode=0o755)
    private.make_folder(places, "state")
    assert mode(places.home / ".local") == 0o755


@pytest.mark.parametrize("kind", ["config", "state", "cache", "share"])
@pytest.mark.parametrize("open_mode", [0o755, 0o775, 0o777, 0o750])
def test_a_level_that_is_too_open_is_closed(places: Places, kind: private.Kind, open_mode: int) -> None:
    folder = private.make_folder(places, kind, "below")
    for level in (folder.parent, folder):
        level.chmod(open_mode)
    assert private.make_folder(places, kind, "below") == folder
    assert [mode(folder.parent), mode(folder)] == [0o700, 0o700]


def test_a_cache_that_others_could_write_into_is_emptied_and_the_state_is_not(places: Places) -> None:
    kinds: tuple[private.Kind, ...] = ("cache", "state")
    for kind in kinds:
        folder = private.make_folder(places, kind, "below")
        (folder / "file").write_text("planted?")
        (folder / "folder").mkdir()
        folder.chmod(0o775)
        private.make_folder(places, kind, "below")
    assert list((places.cache / "below").iterdir()) == []
    assert (places.state / "below" / "file").exists()


def test_a_cache_that_others_could_only_read_is_kept(places: Places) -> None:
    folder = private.make_folder(places, "cache", "below")
    (folder / "file").write_text("mine")
    folder.chmod(0o755)
    private.make_folder(places, "cache", "below")
    assert (folder / "file").read_text() == "mine"


def make_link(path: Path) -> None:
    path.symlink_to(path.parent)


@pytest.mark.parametrize("spoil", [Path.touch, os.mkfifo, make_link], ids=["file", "fifo", "link"])
def test_the_level_at_fault_is_named(places: Places, spoil: Callable[[Path], object]) -> None:
    private.make_folder(places, "state")
    spoil(places.state / "one")
    with pytest.raises(SetupError) as caught:
        private.make_folder(places, "state", "one", "two")
    assert caught.value.where == str(places.state / "one")


def test_looking_for_a_folder_makes_none(places: Places) -> None:
    assert private.find_folder(places, "cache", "one") is None
    assert not places.cache.exists()
    made = private.make_folder(places, "cache", "one")
    made.chmod(0o755)
    assert private.find_folder(places, "cache", "one") == made
    assert mode(made) == 0o700


def test_a_missing_home_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="home folder is not there"):
        private.make_folder(Places(home=tmp_path / "gone"), "state")
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("entry", [None, "", "relative/home"])
def test_a_user_without_a_home_keeps_nothing_and_nothing_fails(
    entry: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)

    def entry_of(_uid: int) -> object:
        if entry is None:
            raise KeyError("getpwuid(): uid not found")
        return type("Entry", (), {"pw_dir": entry})

    monkeypatch.setattr("pwd.getpwuid", entry_of)
    places = find_places()
    assert places.is_off
    with pytest.raises(SetupError, match="no home folder"):
        private.make_folder(places, "state")
    assert private.find_folder(places, "cache") is None
    assert private.read_decisive(places.config / "config.yaml", "your settings", limit=10) is None
    assert private.mend_folders(places) == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_whole_read_back_and_closed(places: Places, umask: int) -> None:
    path = private.make_folder(places, "state") / "file"
    assert private.read_own(path, limit=10) is None
    assert private.append_own(path, b"one\n") == 4
    assert private.append_own(path, b"two\n") == 8
    assert private.read_own(path, limit=10) == b"one\ntwo\n"
    private.replace_own(path, b"three\n")
    assert private.read_own(path, limit=10) == b"three\n"
    assert mode(path) == 0o600


@pytest.mark.parametrize("spoil", [os.mkfifo, make_link, Path.mkdir], ids=["fifo", "link", "folder"])
def test_what_is_not_a_file_of_ours_is_neither_read_nor_appended_to(
    places: Places, spoil: Callable[[Path], object]
) -> None:
    path = private.make_folder(places, "state") / "file"
    spoil(path)
    with pytest.raises(SetupError):
        private.read_own(path, limit=10)
    with pytest.raises(SetupError):
        private.append_own(path, b"x")


def test_a_file_that_others_may_write_or_that_is_too_large_is_not_read(places: Places) -> None:
    path = private.make_folder(places, "state") / "file"
    path.write_bytes(b"x" * 11)
    with pytest.raises(SetupError, match="at most 10 bytes"):
        private.read_own(path, limit=10)
    path.write_bytes(b"x")
    path.chmod(0o666)
    with pytest.raises(SetupError, match="not the user's alone"):
        private.read_own(path, limit=10)


def test_what_the_user_decides_by_may_be_a_link_but_lies_in_no_work_tree(places: Places, repo: Path) -> None:
    private.make_folder(places, "config")
    kept = places.home / "dotfiles"
    kept.write_bytes(b"x")
    link = places.config / "config.yaml"
    link.symlink_to(kept)
    assert private.read_decisive(link, "your settings", limit=10) == b"x"
    link.unlink()
    link.symlink_to(repo / "README.md")
    with pytest.raises(SetupError, match="lie in a git work tree"):
        private.read_decisive(link, "your settings", limit=100)


@pytest.mark.parametrize("first", [["connect", "claude-code"], ["check"], ["status"], ["list"], ["doctor"]])
def test_whatever_command_comes_first_the_folders_are_the_users_alone(
    first: list[str], umask: int, places: Places, repo: Path, memfs: Callable[..., Run]
) -> None:
    if first[0] == "connect":
        first = [*first, "--command", "/bin/true"]
    memfs(*first, cwd=repo)
    memfs("recall", "anything at all", cwd=repo)
    memfs("index", cwd=repo)
    for base in (places.state, places.cache, places.config, places.share):
        for folder in (base, *base.rglob("*")) if base.exists() else ():
            if folder.is_dir():
                assert mode(folder) == 0o700, folder


def test_a_state_folder_that_was_made_too_open_still_remembers_withdrawals(
    team: object, places: Places, memfs: Callable[..., Run]
) -> None:
    root: Path = team.root  # type: ignore[attr-defined]
    memfs("show", "a", cwd=root)
    for folder in (places.state, *(path for path in places.state.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    said = memfs("show", "a", cwd=root)
    assert "cannot be used" not in said.out + said.err
    assert mode(places.state) == 0o700
    assert git(root, "status", "--porcelain") == ""
