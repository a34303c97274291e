"""A hook ends well and in time, whatever happens to it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import launch_command

from memfs.disk.places import Places

LOG = Path(".local/state/memfs/hooks.log")

CALLER = """
import sys, time, os, signal, ctypes
from pathlib import Path
from memfs.disk.places import Places
from memfs.hooks.run import run_hook
def sleeps(raw): time.sleep(60); return b"never"
def spins(raw):
    while True: pass
def dies(raw): os.kill(os.getpid(), signal.SIGSEGV)
def raises(raw): raise ValueError("secret\\n text")
def leaves(raw): sys.exit(3)
def prints(raw): print("noise"); os.system("echo noise"); return b'{"a":1}'
def echoes(raw): return raw
sys.exit(run_hook("codex", Places(home=Path(sys.argv[1])), answer=globals()[sys.argv[2]], deadline=float(sys.argv[3])))
"""


def call(home: Path, what: str, stdin: bytes = b"{}", *, deadline: float = 10) -> tuple[int, bytes, float]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-c", CALLER, str(home), what, str(deadline)],
        input=stdin,
        capture_output=True,
        timeout=20,
    )
    assert done.stderr == b""
    return done.returncode, done.stdout, time.monotonic() - began


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("sleeps", "deadline"),
        ("spins", "deadline"),
        ("dies", "no answer"),
        ("raises", "ValueError"),
        ("leaves", "SystemExit"),
    ],
)
def test_giving_up_costs_one_log_line_and_not_the_turn(tmp_path: Path, what: str, why: str) -> None:
    code, out, seconds = call(tmp_path, what, deadline=1.0 if why == "deadline" else 10)
    assert (code, out) == (0, b"")
    assert seconds < 3
    lines = (tmp_path / LOG).read_text().splitlines()
    assert len(lines) == 1
    assert why in lines[0]
    assert "codex" in lines[0]


def test_what_the_work_prints_never_reaches_the_agent(tmp_path: Path) -> None:
    assert call(tmp_path, "prints")[:2] == (0, b'{"a":1}')
    assert not (tmp_path / LOG).exists()


def test_a_large_input_is_read_whole(tmp_path: Path) -> None:
    stdin = b"x" * 3_000_000
    assert call(tmp_path, "echoes", stdin)[:2] == (0, stdin)


def test_an_input_that_never_ends_does_not_hold_the_agent(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", CALLER, str(tmp_path), "echoes", "1.0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.read() == b""
    assert child.wait(5) == 0
    child.stdin.close()
    child.stdout.close()


def test_the_log_stays_short(tmp_path: Path) -> None:
    from memfs.hooks.log import LARGEST_LOG, write_log

    for number in range(1000):
        write_log(Places(home=tmp_path), "codex", f"{number} " + "x" * 300)
    log = Places(home=tmp_path).state / "hooks.log"
    assert log.stat().st_size <= LARGEST_LOG
    assert " 999 " in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_a_state_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / ".local").write_text("a file where a folder should be")
    assert call(tmp_path, "raises")[:2] == (0, b"")


def test_a_closed_output_is_no_reason_to_fail(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", CALLER, str(tmp_path), "echoes", "1.0"],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert child.communicate(timeout=10)[1] == b""
    assert child.returncode == 0


def test_the_deadline_counts_from_the_start_of_the_process(tmp_path: Path) -> None:
    slow = CALLER.replace("sys.exit(run_hook", "time.sleep(0.8)\nsys.exit(run_hook")
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-c", slow, str(tmp_path), "sleeps", "1.0"], input=b"{}", capture_output=True, timeout=20
    )
    assert done.returncode == 0
    assert time.monotonic() - began < 1.7
    assert "deadline" in (tmp_path / LOG).read_text()


@pytest.mark.parametrize("arguments", [[], ["emacs"], ["codex", "more"], ["user-prompt-submit"]])
def test_a_wrong_call_never_blocks_what_the_user_asked(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run([*launch_command(tmp_path), "hook", *arguments], input=b"{}", capture_output=True, timeout=20)
    assert done.returncode == 0
    assert done.stdout == b""
