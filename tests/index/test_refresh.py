"""The index follows the files, survives damage, and never makes a reader wait."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from pathlib import Path

import pytest
from indexes import OpenGate, settle, write_memory

from memfs.disk.places import Places
from memfs.disk.private import own_lock
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.errors import SetupError
from memfs.index import build, opening
from memfs.index import refresh as refreshing
from memfs.index.folder import find_obstacle, index_folder, make_index_folder
from memfs.index.opening import FEW_CHANGES, Opened
from memfs.index.refresh import RefreshReport, index_status
from memfs.index.text import DamagedIndex

NAMES = ("alpha", "bravo", "charlie", "delta", "echo")


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors have tests of their own."""
    monkeypatch.setattr("memfs.index.semantic.prepare_if_possible", lambda _places: None)


def open_index(tree: WorkTree, places: Places) -> Opened:
    return opening.open_index(tree, places, OpenGate())


def refresh(tree: WorkTree, places: Places, *, wait: bool = True) -> RefreshReport | None:
    return refreshing.bring_up_to_date(tree, places, OpenGate(), wait=wait)


def rebuild(tree: WorkTree, places: Places) -> None:
    assert refreshing.bring_up_to_date(tree, places, OpenGate(), anew=True) is not None


@pytest.fixture
def tree(repo: Path) -> WorkTree:
    for number, name in enumerate(NAMES):
        write_memory(repo, f"memory-{number}", f"The {name} worker retries.")
    settle(repo)
    return find_work_tree(repo)


def found(tree: WorkTree, places: Places, question: str) -> list[str]:
    index = open_index(tree, places).index
    return [Path(index.paths[row]).stem for row, _ in index.search(question, lambda _scope: True)]


def test_few_files_are_indexed_while_the_reader_waits(tree: WorkTree, places: Places) -> None:
    assert found(tree, places, "delta") == ["memory-3"]
    assert index_status(tree, places).state == "current"


def test_a_changed_a_new_and_a_removed_file_are_noticed(tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    write_memory(tree.root, "memory-1", "The bravo worker rejects everything.")
    write_memory(tree.root, "newcomer", "A newcomer caches.")
    (tree.memories / "team/memory-2.md").unlink()
    assert found(tree, places, "rejects") == ["memory-1"]
    assert found(tree, places, "newcomer") == ["newcomer"]
    assert found(tree, places, "charlie") == []
    assert len(found(tree, places, "worker")) == 4


def test_nothing_is_written_when_nothing_changed(tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    before = index_status(tree, places).generation
    found(tree, places, "bravo")
    refresh(tree, places)
    assert index_status(tree, places).generation == before


def test_a_young_file_is_read_twice_and_then_trusted(tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    path = tree.memories / "team/memory-1.md"
    path.write_text(path.read_text().replace("retries", "rejects"))
    first = path.stat()
    assert found(tree, places, "rejects") == ["memory-1"]
    path.write_text(path.read_text().replace("rejects", "compile"))
    os.utime(path, ns=(first.st_atime_ns, first.st_mtime_ns))  # the same time, size and inode
    assert path.stat().st_size == first.st_size
    assert found(tree, places, "compile") == ["memory-1"]


def test_many_changes_are_left_to_another_process(tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    for number in range(FEW_CHANGES + 1):
        write_memory(tree.root, f"late-{number}", f"The latecomer{number} waits.")
    opened = open_index(tree, places)
    assert opened.behind == FEW_CHANGES + 1
    assert not opened.missing
    assert opened.index.search("delta", lambda _scope: True)
    refresh(tree, places)
    assert found(tree, places, "latecomer7")[0] == "late-7"


def test_without_an_index_and_with_much_to_read_the_caller_is_told(tree: WorkTree, places: Places) -> None:
    for number in range(FEW_CHANGES + 1):
        write_memory(tree.root, f"late-{number}", "Waits.")
    opened = open_index(tree, places)
    assert opened.missing
    assert len(opened.read_scan().entries) == FEW_CHANGES + 6


def test_an_unreadable_file_costs_itself_and_is_counted(tree: WorkTree, places: Places) -> None:
    (tree.memories / "team/broken.md").write_bytes(b"---\nkind: [\n---\nzulu\n")
    (tree.memories / "team/bytes.md").write_bytes(b"\xff\xfe zulu")
    (tree.memories / "team/link.md").symlink_to("/etc/passwd")
    opened = open_index(tree, places)
    assert {Path(path).name for path in opened.unreadable} == {"broken.md", "bytes.md", "link.md"}
    assert found(tree, places, "zulu") == []
    assert len(found(tree, places, "worker")) == 5


def test_a_badly_formed_file_is_found(tree: WorkTree, places: Places) -> None:
    (tree.memories / "team/half.md").write_text("---\nkind: decision\n---\nA halfway thought.\n")
    assert found(tree, places, "halfway") == ["half"]


def test_another_tools_file_is_found_by_its_description(tree: WorkTree, places: Places) -> None:
    (tree.memories / "team/other.md").write_text("---\nname: x\ndescription: about zeppelins\n---\nText.\n")
    assert found(tree, places, "zeppelins") == ["other"]


def test_a_full_tail_becomes_a_segment_and_worn_postings_are_made_anew(
    tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "MAX_TAIL", 2)
    monkeypatch.setattr(refreshing, "_MAX_SEGMENTS", 2)
    assert refresh(tree, places) is not None
    assert (index_status(tree, places).segments, index_status(tree, places).tail) == (1, 0)
    for number in range(3):
        write_memory(tree.root, f"next-{number}", f"Another thing{number}.")
    refresh(tree, places)
    assert index_status(tree, places).segments == 2
    assert found(tree, places, "thing2")[0] == "next-2"
    assert found(tree, places, "delta") == ["memory-3"]
    for number in range(3):
        write_memory(tree.root, f"last-{number}", f"A third object{number}.")
    refresh(tree, places)
    refresh(tree, places)
    assert index_status(tree, places).segments <= 3
    assert found(tree, places, "delta") == ["memory-3"]


PARTS = [
    "manifest.json",
    "code",
    "paths",
    "keys",
    "scopes",
    "lengths",
    "tail",
    "seen",
    "facets",
    ".toc",
    ".trm",
    ".pst",
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("how", ["cut", "flip", "empty", "remove", "folder"])
def test_damage_of_any_file_loses_time_and_nothing_else(
    part: str, how: str, tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "MAX_TAIL", 3)
    rebuild(tree, places)
    write_memory(tree.root, "tail", "Something in the tail.")
    settle(tree.root)
    refresh(tree, places)
    names = [
        path for path in Path(index_folder(tree, places)).rglob("*") if path.name.endswith(part) and path.is_file()
    ]
    assert names
    for path in names:
        raw = path.read_bytes()
        path.unlink()  # a hard link may be shared with an older generation
        if how == "cut":
            path.write_bytes(raw[: len(raw) // 2])
        elif how == "flip":
            path.write_bytes(bytes(byte ^ 0x55 for byte in raw))
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "folder":
            path.mkdir()
    for _ in range(2):
        # The text of the files decides; a search that fails makes its caller throw the index away.
        try:
            assert found(tree, places, "delta") == ["memory-3"]
        except (DamagedIndex, OSError):
            opening.discard_index(tree, places)
            assert found(tree, places, "delta") == ["memory-3"]


@pytest.mark.parametrize("part", [".trm", ".pst", ".crc", "seen", "facets", "keys"])
def test_one_flipped_bit_is_noticed_and_the_next_refresh_repairs_it(
    part: str, tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "MAX_TAIL", 3)
    rebuild(tree, places)
    draw = random.Random(part)
    for _ in range(6):
        place = Path(index_folder(tree, places)) / f"text-{index_status(tree, places).generation}"
        path = next(path for path in place.iterdir() if path.name.endswith(part))
        raw = bytearray(path.read_bytes())
        raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        path.unlink()
        path.write_bytes(raw)
        assert index_status(tree, places).state == "damaged"
        report = refresh(tree, places)
        assert report is not None
        assert report.rebuilt
        assert index_status(tree, places).state == "current"
        assert found(tree, places, "delta") == ["memory-3"]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "null", '{"unreadable": null}', "[]", '{"supersedes": []}'], ids=lambda text: text[:20]
)
def test_a_manifest_of_any_kind_is_no_traceback(text: str, tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    path = Path(index_folder(tree, places)) / "manifest.json"
    good = json.loads(path.read_text())
    path.write_text(json.dumps({**good, **json.loads(text)}) if text.startswith("{") else text)
    assert found(tree, places, "delta") == ["memory-3"]


def test_above_many_memories_folders_are_looked_at_and_files_afterwards(
    tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MANY", 3)
    monkeypatch.setattr(refreshing, "MANY", 3)
    age_folders(tree.root)
    rebuild(tree, places)
    monkeypatch.setattr(opening, "_PASS_SECONDS", 0.0)
    assert open_index(tree, places).unlooked
    path = tree.root / "memories/team/memory-3.md"
    path.write_text(path.read_text().replace("delta", "zulu"))  # in place: the folder's time stays
    settle(tree.root)
    assert found(tree, places, "zulu") == []
    refresh(tree, places)  # what the detached process does
    assert found(tree, places, "zulu") == ["memory-3"]
    write_memory(tree.root, "late", "Something about walruses.")
    assert found(tree, places, "walruses") == ["late"]
    (tree.root / "memories/team/late.md").unlink()
    assert not open_index(tree, places).unlooked


def age_folders(root: Path) -> None:
    for path in [root / "memories", *(root / "memories").rglob("*")]:
        os.utime(path, ns=(0, 1_700_000_000_000_000_000))


def test_a_long_build_goes_to_the_postings_in_segments(
    tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SEGMENT", 2)
    rebuild(tree, places)
    status = index_status(tree, places)
    assert (status.segments, status.tail) == (2, 1)
    assert found(tree, places, "delta") == ["memory-3"]
    assert found(tree, places, "alpha") == ["memory-0"]


def test_an_index_folder_that_is_too_open_is_closed_and_emptied_where_others_could_write(
    tree: WorkTree, places: Places
) -> None:
    rebuild(tree, places)
    folder = Path(index_folder(tree, places))
    folder.chmod(0o755)
    assert find_obstacle(tree, places) is None
    assert index_status(tree, places).state == "current"
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    assert index_status(tree, places).state == "missing"  # others could have written what is in it
    assert list(folder.iterdir()) == []
    assert found(tree, places, "delta") == ["memory-3"]


def test_an_index_that_is_a_link_is_not_opened(tree: WorkTree, places: Places, tmp_path: Path) -> None:
    rebuild(tree, places)
    folder = Path(index_folder(tree, places))
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert f"{folder}: a folder is needed here" in str(find_obstacle(tree, places))
    with pytest.raises(SetupError, match="a folder is needed here"):
        refresh(tree, places)
    assert any("not used" in notice for notice in open_index(tree, places).notices)
    assert index_status(tree, places).state == "refused"


def test_a_repository_cannot_deliver_an_index(repo: Path) -> None:
    inside = Places(home=repo)
    assert find_obstacle(find_work_tree(repo), inside) == "the user's cache lies inside this repository"


def test_whoosh_is_not_imported_before_the_manifest_is_checked(tree: WorkTree, places: Places) -> None:
    import subprocess
    import sys

    rebuild(tree, places)
    folder = Path(index_folder(tree, places))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["root"] = "/elsewhere"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    code = (
        "import sys; from pathlib import Path; from memfs.disk.places import Places\n"
        "from memfs.disk.worktree import find_work_tree; from memfs.index.folder import read_snapshot\n"
        "print(read_snapshot(find_work_tree(Path(sys.argv[1])), Places(home=Path(sys.argv[2])), None))\n"
        "print('whoosh' in sys.modules)"
    )
    argv = [sys.executable, "-c", code, str(tree.root), str(places.home)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=Path(refreshing.__file__).parents[2])
    assert done.stdout.split() == ["None", "False"]


def test_a_reader_does_not_wait_for_a_writer(tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    write_memory(tree.root, "newcomer", "A newcomer caches.")
    with own_lock(f"{make_index_folder(tree, places)}/lock", wait=True):
        began = time.monotonic()
        assert found(tree, places, "newcomer") == ["newcomer"]
        assert time.monotonic() - began < 5
    assert index_status(tree, places).state in ("behind", "current")


def test_two_refreshes_do_not_run_at_once(tree: WorkTree, places: Places) -> None:
    with own_lock(f"{make_index_folder(tree, places)}/refresh.lock", wait=True):
        assert refresh(tree, places, wait=False) is None


def test_removing_the_index_while_it_is_open_costs_time_only(
    tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "MAX_TAIL", 0)
    rebuild(tree, places)
    opened = open_index(tree, places)
    shutil.rmtree(index_folder(tree, places))
    with pytest.raises((DamagedIndex, OSError)):
        opened.index.search("delta", lambda _scope: True)
    assert found(tree, places, "delta") == ["memory-3"]


class StrictGate(OpenGate):
    """A gate that stops what says charlie."""

    version = 7

    def admits(self, file: object) -> bool:
        return b"charlie" not in file.raw  # type: ignore[attr-defined]


def test_of_a_text_that_the_gate_stops_only_the_id_is_indexed(tree: WorkTree, places: Places) -> None:
    gate = StrictGate()
    refreshing.bring_up_to_date(tree, places, gate)
    index = opening.open_index(tree, places, gate).index
    assert index.search("charlie", lambda _scope: True) == []
    assert index.paths[index.search("memory 2", lambda _scope: True)[0][0]].endswith("memory-2.md")
    for path in Path(index_folder(tree, places)).rglob("*"):
        assert path.is_dir() or b"charlie" not in path.read_bytes()


def test_another_version_of_the_gate_judges_everything_again(tree: WorkTree, places: Places) -> None:
    rebuild(tree, places)
    assert opening.open_index(tree, places, StrictGate()).index.search("charlie", lambda _scope: True) == []


def test_a_long_list_is_read_by_two_processes_in_order(
    tree: WorkTree, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_SHARED", 3)
    monkeypatch.setattr(build, "_CHUNK", 2)
    (tree.memories / "team/broken.md").write_bytes(b"---\nkind: [\n---\nx\n")
    report = refresh(tree, places)
    assert report is not None
    assert (report.memories, report.unreadable) == (5, 1)
    assert [found(tree, places, name) for name in NAMES] == [[f"memory-{number}"] for number in range(5)]


def test_every_work_tree_has_an_index_of_its_own(tree: WorkTree, places: Places, tmp_path: Path) -> None:
    from support import git

    git(tree.root, "add", "-A")
    git(tree.root, "commit", "-qm", "memories")
    git(tree.root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    linked = find_work_tree(tmp_path / "linked")
    assert index_folder(linked, places) != index_folder(tree, places)
    (linked.memories / "team/memory-3.md").unlink()
    assert found(linked, places, "delta") == []
    assert found(tree, places, "delta") == ["memory-3"]
