"""The one door to processes: nothing waits on our input, nothing outlives its time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memfs.errors import SetupError
from memfs.git.process import (
    ProgramError,
    ProgramTimeout,
    find_program,
    first_line,
    run,
    run_at_terminal,
    spawn_detached,
)


def test_a_program_s_output_and_code_come_back() -> None:
    done = run(["sh", "-c", "cat; echo err >&2; exit 3"], input=b"in\0put", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"in\0put", b"err\n")
    with pytest.raises(ProgramError, match="sh failed with code 3: err") as caught:
        run(["sh", "-c", "echo err >&2; exit 3"])
    assert caught.value.completed.returncode == 3


def test_a_missing_program_is_told_by_name() -> None:
    with pytest.raises(SetupError, match="no-such-program is not installed"):
        run(["no-such-program"])


def test_standard_input_is_empty_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.write(write, b"a request of somebody else's\n")
    code = "from memfs.git.process import run; print(run(['cat']).stdout)"
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=read, capture_output=True, timeout=20, cwd=Path(__file__).parents[2]
    )
    assert done.stdout.strip() == b"b''"
    os.close(read)
    os.close(write)


def test_a_program_cannot_ask_at_the_terminal() -> None:
    done = run(["sh", "-c", "echo x > /dev/tty"], check=False)
    assert done.returncode != 0


def test_a_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    start = time.monotonic()
    with pytest.raises(ProgramTimeout, match=r"sh did not end within 0\.3 seconds"):
        run(["sh", "-c", f"trap '' TERM; sleep 60 & echo $! > {mark}; wait; sleep 60"], timeout=0.3)
    assert time.monotonic() - start < 5
    time.sleep(0.1)
    state = Path(f"/proc/{mark.read_text().strip()}/stat")
    assert not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_an_interrupt_ends_the_child_too(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = f"from memfs.git.process import run; run(['sh', '-c', 'echo $$ > {mark}; exec sleep 60'])"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, cwd=Path(__file__).parents[2]) as child:
        while not mark.exists() or not mark.read_text().strip():
            time.sleep(0.02)
        time.sleep(0.3)  # it has come to the waiting
        child.send_signal(2)
        child.communicate(timeout=10)
    deadline = time.monotonic() + 5
    while Path(f"/proc/{mark.read_text().strip()}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{mark.read_text().strip()}").exists()


def test_relative_folders_of_the_path_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert find_program("git", f".:{os.curdir}::{tmp_path}") == str(tmp_path / "git")
    assert find_program("git", ".:") is None
    assert find_program("no-such-program") is None


def test_a_detached_program_outlives_us_and_leaves_no_zombie(tmp_path: Path) -> None:
    def children() -> set[str]:
        return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}

    mark = tmp_path / "done"
    before = children()
    start = time.monotonic()
    spawn_detached(["sh", "-c", f"sleep 2; pwd > {mark}"], cwd=tmp_path)
    assert time.monotonic() - start < 2
    while not mark.exists() or not mark.read_text():
        assert time.monotonic() - start < 30
        time.sleep(0.02)
    assert mark.read_text().strip() == str(tmp_path)
    assert children() <= before


def test_a_program_at_the_terminal_gives_its_code() -> None:
    assert run_at_terminal(["sh", "-c", "exit 7"]) == 7


def test_one_line_of_what_was_said_is_safe_to_print() -> None:
    assert first_line(b"\n \nfatal: \x1b[2Kx\xff\nmore\n") == "fatal: \\u{001B}[2Kx\\u{FFFD}"
    assert first_line(b"") == ""
