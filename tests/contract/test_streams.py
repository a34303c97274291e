"""Whatever the standard streams are like, a command answers, or says in one line why it could not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from people import memory_text
from support import git, launch_command

VERBS = (
    ["list"], ["show", "stove"], ["recall", "the stove"], ["status"], ["check"], ["check", "--format", "github"],
    ["check", "--format", "junit"], ["doctor"], ["admission", "rules"], ["due"], ["list", "--json"], ["--help"],
    ["recall", "--help"], ["--version"], ["history", "stove"], ["nonsense"],
)  # fmt: skip


@pytest.fixture
def stocked(repo: Path) -> Path:
    folder = repo / "memories" / "team"
    folder.mkdir(parents=True)
    (folder / "stove.md").write_text(memory_text("The stove is hot · Печь горячая, 炉は熱い."))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memory")
    return repo


def run_with(home: Path, where: Path, verb: list[str], streams: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a verb from a shell that puts its streams where ``streams`` says."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", *launch_command(home), *verb],
        cwd=where, capture_output=True, env={**os.environ, **env}, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def has_no_traceback(done: subprocess.CompletedProcess[bytes]) -> bool:
    said = done.stdout + done.stderr
    return b"Traceback" not in said and b"Exception ignored" not in said and b"bug in memfs" not in said


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("streams", ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
def test_closed_and_full_streams_are_no_bug(sealed: Path, stocked: Path, verb: list[str], streams: str) -> None:
    plain = run_with(sealed, stocked, verb, "")
    done = run_with(sealed, stocked, verb, streams)
    assert has_no_traceback(done), done
    if streams == ">/dev/full" and plain.stdout:
        assert done.returncode in (3, plain.returncode)
        assert b"the answer could not be written" in done.stderr
    else:
        assert done.returncode == plain.returncode


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_reader_that_went_away_is_no_bug(sealed: Path, stocked: Path, verb: list[str]) -> None:
    assert has_no_traceback(run_with(sealed, stocked, verb, "| true"))


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "euc-jp"])
def test_what_the_locale_cannot_write_is_escaped(sealed: Path, stocked: Path, verb: list[str], encoding: str) -> None:
    command = [word for word in launch_command(sealed) if word != "-I"]  # -I would not read the variable
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [*command, *verb], cwd=stocked, capture_output=True, env=environment, timeout=60, stdin=subprocess.DEVNULL
    )
    assert has_no_traceback(done), done
    if verb == ["show", "stove"]:
        assert b"The stove is hot" in done.stdout


def test_a_closed_stream_never_becomes_a_file_of_the_repository(sealed: Path, stocked: Path) -> None:
    run_with(
        sealed, stocked,
        ["remember", "Ovens are off at night.", "--id", "ovens", "--kind", "observation", "--scope", "team", "--origin",
         "owner", "--evidence", "https://x.example/1", "--review", "on 2030-01-01"], "<&- >&- 2>&-",
    )  # fmt: skip
    assert (stocked / "memories" / "team" / "ovens.md").read_text().endswith("Ovens are off at night.\n")
    assert git(stocked, "status", "--porcelain") == ""
    assert git(stocked, "fsck", "--strict") == ""


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
def test_a_hook_ends_with_zero_whatever_its_streams_are(sealed: Path, stocked: Path, streams: str) -> None:
    done = run_with(sealed, stocked, ["hook", "claude-code"], streams)
    assert done.returncode == 0
    assert has_no_traceback(done)


@pytest.mark.parametrize("missing", ["fork", "pipe"])
def test_a_hook_that_cannot_even_begin_ends_with_zero(sealed: Path, stocked: Path, missing: str) -> None:
    code = (
        "import sys; from pathlib import Path; from memfs.disk.places import Places\n"
        "from memfs.cli import run_process\n"
        "import os\n"
        "def refuse(*_): raise OSError(11, 'try again')\n"
        f"os.{missing} = refuse\n"
        "sys.exit(run_process(['hook', 'claude-code'], places=Places(home=Path(sys.argv[1]))))"
    )
    done = subprocess.run(
        [launch_command(sealed)[0], "-I", "-c", code, str(sealed)], cwd=stocked, input=b"{}", capture_output=True
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert has_no_traceback(done)
