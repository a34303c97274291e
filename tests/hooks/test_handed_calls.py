"""Every handed call of a hook, through every agent's name, in four locales: one document or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from indexes import write_memory
from support import Run, launch_command

from memfs.connect.agents import AGENTS, LONGEST_CONTEXT, find_context, load_agent

pytestmark = pytest.mark.shared

LOCALES = {
    "utf8": {"LC_ALL": "C.UTF-8"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin1": {"PYTHONIOENCODING": "latin-1:surrogateescape"},
}

# One process for each locale: what a locale does is done at the start of Python and kept by every child.
RUNNER = """
import json, os, sys
from pathlib import Path
from memfs.disk.places import Places
from memfs.cli import main
home, listing = sys.argv[1], json.loads(sys.stdin.buffer.read())
for agent, source, out in listing:
    if os.fork() == 0:
        os.dup2(os.open(source, os.O_RDONLY), 0)
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
        os._exit(main(["hook", agent], places=Places(home=Path(home))))
    code = os.waitstatus_to_exitcode(os.wait()[1])
    if code:
        print(agent, source, code)
"""


@pytest.fixture
def case(shared: Path, tmp_path: Path) -> Path:
    place = tmp_path / "case"
    subprocess.run(["bash", shared / "cases" / "17-hook-stdin" / "make.sh", place], check=True, capture_output=True)
    # The handed files are notes of another tool; hooks show memories only, so they become some.
    for memory_id, statement in (("first", "The deploy window is Tuesday."), ("jp", "日本語: デプロイは火曜日 🎉")):
        (place / "repo/memories" / f"{memory_id}.md").unlink(missing_ok=True)
        write_memory(place / "repo", memory_id, statement)
    return place


def run_all(home: Path, calls: list[tuple[str, Path]], out: Path, locale: str) -> list[tuple[str, Path, bytes]]:
    out.mkdir()
    listing = [(agent, str(source), str(out / str(number))) for number, (agent, source) in enumerate(calls)]
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(home)],
        input=json.dumps(listing).encode(),
        capture_output=True,
        env={**os.environ, **LOCALES[locale], "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
    )
    assert done.stderr == b""
    assert done.stdout == b"", "a hook ended with another code than 0"
    return [
        (agent, source, Path(path).read_bytes()) for (agent, source), (_, _, path) in zip(calls, listing, strict=True)
    ]


def check(agent: str, source: Path, answer: bytes) -> dict[str, Any] | None:
    if not answer:
        return None
    assert answer.isascii(), source
    document = json.loads(answer, parse_constant=lambda name: pytest.fail(f"{source}: {name}"))
    assert isinstance(document, dict)
    assert agent not in ("vscode", "kiro"), "their hooks are not memfs's"
    return document


@pytest.mark.slow
@pytest.mark.parametrize("locale", LOCALES)
def test_every_real_sample_through_every_agents_name(
    shared: Path, case: Path, sealed: Path, tmp_path: Path, locale: str
) -> None:
    folder = tmp_path / "samples"
    folder.mkdir()
    calls: list[tuple[str, Path]] = []
    for sample in sorted((shared / "data" / "hook-inputs").rglob("*.json")):
        here = folder / f"{sample.parent.name}-{sample.name}"
        # The samples name a folder of another machine; a repository makes them find something.
        here.write_text(sample.read_text(encoding="utf-8").replace("/home/user/proj", str(case / "repo")))
        calls += [(agent, here) for agent in (*AGENTS, "auto")]
    for agent, source, answer in run_all(sealed, calls, tmp_path / "out", locale):
        document = check(agent, source, answer)
        if document is not None and agent == "codex":
            assert find_context(load_agent("codex"), answer) is not None, source


@pytest.mark.slow
@pytest.mark.parametrize("locale", LOCALES)
def test_every_odd_input_through_every_agents_name(case: Path, sealed: Path, tmp_path: Path, locale: str) -> None:
    inputs = sorted((case / "stdin").iterdir())
    assert len(inputs) == 30
    calls = [(agent, source) for source in inputs for agent in (*AGENTS, "auto")]
    answers = run_all(sealed, calls, tmp_path / "out", locale)
    found = {}
    for agent, source, answer in answers:
        check(agent, source, answer)
        if agent == "claude-code":
            context = find_context(load_agent(agent), answer) or ""
            assert len(context.encode()) <= LONGEST_CONTEXT
            found[source.name[:2]] = context
    for number in ("01", "23"):
        assert "[first]" in found[number], number
    assert "[jp]" in found["02"]
    # 03 has the session of 02, which has been told already; another person's first prompt is answered.
    assert found["03"] == ""
    (third,) = (source for source in inputs if source.name.startswith("03"))
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    ((_, _, answer),) = run_all(other, [("claude-code", third)], tmp_path / "out-3", locale)
    assert "[jp]" in (find_context(load_agent("claude-code"), answer) or "")
    silent = [*range(7, 17), *range(19, 23), 26, 29, 30]
    assert [number for number in silent if found[f"{number:02}"]] == []


@pytest.mark.slow
def test_the_handed_driver_finds_nothing(case: Path, sealed: Path) -> None:
    done = subprocess.run(
        [sys.executable, case / "drive.py", *launch_command(sealed), "hook", "claude-code"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "0 findings"


def test_a_call_gives_one_document_and_leaves_no_log(
    case: Path, sealed: Path, memfs_process: Callable[..., Run]
) -> None:
    for name in ("01-plain.json", "02-utf8.json"):
        ran = memfs_process("hook", "claude-code", stdin=(case / "stdin" / name).read_bytes())
        assert ran.code == 0
        assert "Memory bundle" in json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]
    assert not (sealed / ".local" / "state" / "memfs" / "hooks.log").exists()
