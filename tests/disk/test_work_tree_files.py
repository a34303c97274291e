"""Scan, read, write and lock: no symlink, no hang, no half-written file, no dead lock (TRUST cases 69, 70, 73)."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import git

from memfs.disk.files import (
    READ_LIMIT,
    UnreadableFile,
    list_folder,
    lock,
    read_file,
    remove_remains,
    scan_memories,
    split_path,
    write_atomic,
    write_in_tree,
)
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.errors import SetupError, UsageError
from memfs.model.memory import MAX_MEMORY_BYTES


def _make_socket(path: Path) -> None:
    """Leave a socket at ``path``; its own name is short, the folder of a test may be long."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def _put(tree: WorkTree, path: str, content: bytes = b"text\n") -> Path:
    file = tree.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def _reason(tree: WorkTree, path: str) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_file(tree, path)
    return caught.value.reason


# Scanning


def test_every_memory_is_listed_by_path_with_what_tells_a_change(tree: WorkTree) -> None:
    for path in ("memories/team/b.md", "memories/team/billing/a.md", "memories/personal/ü.md", "memories/loose.md"):
        _put(tree, path)
    scan = scan_memories(tree)
    assert [entry.path for entry in scan.entries] == sorted(entry.path for entry in scan.entries)
    assert {entry.path for entry in scan.entries} == {
        "memories/team/b.md", "memories/team/billing/a.md", "memories/personal/ü.md", "memories/loose.md",
    }  # fmt: skip
    assert scan.skipped == ()
    status = (tree.root / "memories/team/b.md").stat()
    entry = next(entry for entry in scan.entries if entry.path == "memories/team/b.md")
    assert (entry.size, entry.mtime_ns, entry.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)


def test_what_is_no_memory_file_is_passed_over_with_its_reason(tree: WorkTree, tmp_path: Path) -> None:
    _put(tree, "memories/team/good.md")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (tree.root / "memories/team/link.md").symlink_to(outside / "secret.md")
    (tree.root / "memories/elsewhere").symlink_to(outside)
    (tree.root / "memories/dangling.md").symlink_to("nowhere")
    os.mkfifo(tree.root / "memories/team/fifo.md")
    (tree.root / "memories/team/folder.md").mkdir()
    _make_socket(tree.root / "memories/team/socket.md")
    _put(tree, "memories/team/a\u202eb.md")
    _put(tree, "memories/team/two\nlines.md")
    (Path(os.fsdecode(os.fsencode(tree.root) + b"/memories/team/\xff.md"))).write_text("x")
    git(tree.root, "init", "-q", "memories/nested")
    _put(tree, "memories/nested/hidden.md")
    _put(tree, "memories/.hidden/a.md")
    _put(tree, "memories/team/.memfs-0123456789ab.tmp")
    _put(tree, "memories/team/note.txt")
    scan = scan_memories(tree)
    assert [entry.path for entry in scan.entries] == ["memories/team/good.md"]
    assert dict(scan.skipped) == {
        "memories/team/link.md": "symlink",
        "memories/elsewhere": "symlink",
        "memories/dangling.md": "symlink",
        "memories/team/fifo.md": "not-a-file",
        "memories/team/folder.md": "not-a-file",
        "memories/team/socket.md": "not-a-file",
        "memories/team/a\\u{202E}b.md": "bad-name",
        "memories/team/two\\u{000A}lines.md": "bad-name",
        "memories/team/\\xff.md": "bad-name",
        "memories/nested": "nested-repository",
    }


def test_a_submodule_is_not_descended(make_case) -> None:
    case = make_case("10")
    assert scan_memories(find_work_tree(case / "super")).entries == ()
    (case / "super/memories").mkdir()
    (case / "super/mem").rename(case / "super/memories/x")
    scan = scan_memories(find_work_tree(case / "super"))
    assert scan.entries == ()
    assert scan.skipped == (("memories/x", "nested-repository"),)


def test_a_symlinked_memories_folder_is_not_followed(tree: WorkTree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("x")
    (tree.root / "memories").rmdir()
    (tree.root / "memories").symlink_to(tmp_path / "outside")
    assert scan_memories(tree) == ((), (("memories", "symlink"),))
    assert _reason(tree, "memories/a.md") == "symlink"


def test_a_tree_without_memories_has_none(tree: WorkTree) -> None:
    (tree.root / "memories").rmdir()
    assert scan_memories(tree) == ((), ())


def test_a_folder_without_end_costs_only_itself(tree: WorkTree) -> None:
    _put(tree, "memories/team/good.md")
    _put(tree, "memories/" + "/".join("d" * 12) + "/deep.md")
    scan = scan_memories(tree)
    assert [entry.path for entry in scan.entries] == ["memories/team/good.md"]
    assert [reason for _, reason in scan.skipped] == ["too-deep"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_costs_only_itself(tree: WorkTree) -> None:
    _put(tree, "memories/team/good.md")
    _put(tree, "memories/closed/a.md").parent.chmod(0)
    scan = scan_memories(tree)
    (tree.root / "memories/closed").chmod(0o700)
    assert [entry.path for entry in scan.entries] == ["memories/team/good.md"]
    assert [path for path, _ in scan.skipped] == ["memories/closed"]


# Reading


def test_a_file_is_read_whole_and_not_a_byte_over_the_limit(tree: WorkTree) -> None:
    assert READ_LIMIT == MAX_MEMORY_BYTES
    _put(tree, "memories/team/a.md", b"x" * 5000)
    assert read_file(tree, "memories/team/a.md", limit=5000) == b"x" * 5000
    with pytest.raises(UnreadableFile, match="larger than 4999 bytes") as caught:
        read_file(tree, "memories/team/a.md", limit=4999)
    assert caught.value.reason == "too-large"


def test_fifty_megabytes_are_refused_unread(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "read", None)
    with _put(tree, "memories/team/huge.md").open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    assert _reason(tree, "memories/team/huge.md") == "too-large"


def test_no_part_of_a_path_is_a_symlink(tree: WorkTree, tmp_path: Path) -> None:
    _put(tree, "memories/team/a.md")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    (tree.root / "memories/link.md").symlink_to(tree.root / "memories/team/a.md")
    (tree.root / "memories/linked").symlink_to(outside)
    assert _reason(tree, "memories/link.md") == "symlink"
    assert _reason(tree, "memories/linked/a.md") == "symlink"


def test_a_fifo_a_socket_and_a_folder_are_refused_at_once(tree: WorkTree) -> None:
    (tree.root / "memories/team").mkdir()
    os.mkfifo(tree.root / "memories/team/fifo.md")
    (tree.root / "memories/team/folder.md").mkdir()
    _make_socket(tree.root / "memories/team/socket.md")
    start = time.monotonic()
    for name in ("fifo", "folder", "socket"):
        assert _reason(tree, f"memories/team/{name}.md") == "not-a-file", name
    assert _reason(tree, "memories/team/fifo.md/a.md") == "not-a-file"
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "memories/../../x",
        "memories//a.md",
        "memories/./a.md",
        "memories/a\x00b",
        "memories/.git/x",
        "memories/.GIT/x",
        ".git/config",
        "memories/a/",
        "memories/" + "x" * 300,
    ],
)  # fmt: skip
def test_a_path_that_could_lead_out_is_no_path(tree: WorkTree, path: str) -> None:
    assert _reason(tree, path) == "bad-path"


def test_a_missing_file_and_a_missing_folder_are_missing(tree: WorkTree) -> None:
    assert _reason(tree, "memories/a.md") == "missing"
    assert _reason(tree, "memories/none/a.md") == "missing"


@given(st.text(max_size=40))
def test_the_parts_of_a_path_join_to_it_again(text: str) -> None:
    try:
        parts = split_path(text)
    except UnreadableFile as error:
        assert error.reason == "bad-path"  # noqa: PT017 - most texts are no path
    else:
        assert "/".join(parts) == text
        assert not {"", ".", "..", ".git"} & set(parts)


def test_a_folder_is_listed_and_one_behind_a_symlink_is_empty(tree: WorkTree) -> None:
    _put(tree, ".memfs/approvals/a.1.txt")
    (tree.root / ".memfs/other").symlink_to("approvals")
    assert list_folder(tree, ".memfs/approvals") == ["a.1.txt"]
    assert list_folder(tree, ".memfs/other") == []
    assert list_folder(tree, ".memfs/none") == []


# Writing


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_atomic(file, b"one", mode=0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    write_atomic(file, b"two", mode=0o600)
    assert file.read_bytes() == b"two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, os.rename
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append("fsync"), fsync(fd))[1])
    monkeypatch.setattr(os, "rename", lambda *names, **more: (done.append("rename"), rename(*names, **more))[1])
    write_atomic(tmp_path / "a", b"text")
    assert done == ["fsync", "rename", "fsync"]  # the content, the name, the folder


def test_a_symlink_in_the_place_of_a_file_is_replaced_and_one_in_a_folder_s_refused(
    tree: WorkTree, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    (tree.root / "memories/link.md").symlink_to(outside / "file")
    write_in_tree(tree, "memories/link.md", b"ours")
    assert (outside / "file").read_text() == "theirs"
    assert not (tree.root / "memories/link.md").is_symlink()
    (tree.root / "memories/team").symlink_to(outside)
    with pytest.raises(UnreadableFile, match="leads through a symlink"):
        write_in_tree(tree, "memories/team/new.md", b"ours")
    assert [path.name for path in outside.iterdir()] == ["file"]


def test_a_reader_never_sees_a_half_written_file(tree: WorkTree) -> None:
    contents = [bytes([65 + number]) * 200_000 for number in range(4)]
    write_in_tree(tree, "memories/team/a.md", contents[0])
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            write_in_tree(tree, "memories/team/a.md", contents[number % 4])
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(150):
            assert read_file(tree, "memories/team/a.md") in contents
            assert [entry.path for entry in scan_memories(tree).entries] == ["memories/team/a.md"]
    finally:
        stop.set()
        writer.join()


def test_a_writer_that_is_killed_leaves_the_old_file_and_its_remains_are_cleared(tree: WorkTree) -> None:
    write_in_tree(tree, "memories/team/a.md", b"A" * 100_000)
    code = (
        "import sys; from pathlib import Path; from memfs.disk.worktree import find_work_tree\n"
        "from memfs.disk.files import write_in_tree\n"
        "tree = find_work_tree(Path(sys.argv[1])); print('go', flush=True)\n"
        "while True: write_in_tree(tree, 'memories/team/a.md', b'B' * 3_000_000)\n"
    )
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", code, str(tree.root)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.03)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert read_file(tree, "memories/team/a.md", limit=4_000_000) in (b"A" * 100_000, b"B" * 3_000_000)
    remove_remains(tree, "memories/team/a.md")
    assert [path.name for path in (tree.root / "memories/team").iterdir()] == ["a.md"]


# The lock


_HOLDER = (
    "import sys, time; from pathlib import Path; from memfs.disk.worktree import find_work_tree\n"
    "from memfs.disk.files import lock\n"
    "with lock(find_work_tree(Path(sys.argv[1]))):\n    print('held', flush=True); time.sleep(60)\n"
)


def test_the_lock_names_its_holder_and_ends_with_it(tree: WorkTree) -> None:
    child = subprocess.Popen([sys.executable, "-c", _HOLDER, str(tree.root)], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        with (
            pytest.raises(SetupError, match=rf"another memfs .* 0.2 seconds \(process {child.pid}\)"),
            lock(tree, timeout=0.2),
        ):
            pass
    finally:
        child.kill()
        child.communicate()
    with lock(tree, timeout=0):
        pass


def test_the_holder_may_take_the_lock_again_and_another_thread_may_not(tree: WorkTree) -> None:
    refused: list[bool] = []

    def other() -> None:
        try:
            with lock(tree, timeout=0.05):
                refused.append(False)
        except SetupError:
            refused.append(True)

    with lock(tree), lock(tree):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    other()
    assert refused == [True, False]


def test_a_tree_without_git_has_no_lock(tmp_path: Path) -> None:
    (tmp_path / ".memfs").mkdir()
    with pytest.raises(UsageError, match="not a git repository"), lock(find_work_tree(tmp_path)):
        pass


def test_a_lock_that_is_no_plain_file_is_refused_at_once(tree: WorkTree, tmp_path: Path) -> None:
    path = tree.root / ".git/memfs.lock"
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SetupError, match="lock for writing cannot be made"), lock(tree):
        pass
    assert not (tmp_path / "elsewhere").exists()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SetupError, match="lock for writing cannot be held"), lock(tree):
        pass
    path.unlink()
    path.mkdir()
    with pytest.raises(SetupError, match="lock for writing cannot be made"), lock(tree):
        pass


def test_reading_takes_no_lock(tree: WorkTree) -> None:
    _put(tree, "memories/team/a.md")
    with lock(tree):
        thread_saw: list[object] = []
        thread = threading.Thread(target=lambda: thread_saw.append(scan_memories(tree).entries[0].path))
        thread.start()
        thread.join(timeout=5)
        assert thread_saw == ["memories/team/a.md"]
    assert read_file(tree, "memories/team/a.md") == b"text\n"


@pytest.mark.slow
def test_ten_thousand_files_are_scanned_in_little_more_than_it_takes_to_ask_for_their_times(tree: WorkTree) -> None:
    for folder in range(20):
        (tree.root / f"memories/team/t{folder}").mkdir(parents=True)
        for number in range(500):
            (tree.root / f"memories/team/t{folder}/memory-{number}.md").touch()

    def ask() -> None:
        for folder in range(20):
            with os.scandir(tree.root / f"memories/team/t{folder}") as listing:
                for item in listing:
                    item.stat(follow_symlinks=False)

    def fastest(action: Callable[[], object]) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            action()
            times.append(time.process_time() - start)
        return min(times)

    assert len(scan_memories(tree).entries) == 10_000
    assert fastest(lambda: scan_memories(tree)) < 4 * fastest(ask)  # 37 ms against 20 on two busy cores
