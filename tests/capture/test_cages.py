"""No cage, no capture: a cage counts once it was tried with the program that is installed, and all of it held."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agents.clients import CLIENTS
from capture.test_capturing import GOOD, RULE, lines, said, settings
from support import Run

from memfs.capture.cage import CAGES, is_proved
from memfs.capture.stub import Model
from memfs.disk.places import Places

Memfs = Callable[..., Run]

AGENT = """\
#!{python}
# An agent as small as can be: what Claude Code is asked to leave off in a cage, it leaves off, but for {leaks}.
import json, os, pathlib, subprocess, sys, urllib.request
leaks, home = {leaks!r}, pathlib.Path(os.environ["HOME"])
caged = "--safe-mode" in sys.argv
def read(name):
    place = home / name
    return json.loads(place.read_text()) if place.exists() else {{}}
if not caged or "hook" in leaks:
    for group in read(".claude/settings.json").get("hooks", {{}}).get("UserPromptSubmit", []):
        subprocess.run(group["hooks"][0]["command"], shell=True)
if not caged or "server" in leaks:
    for server in read(".claude.json").get("mcpServers", {{}}).values():
        subprocess.run([server["command"], *server["args"]], stdin=subprocess.DEVNULL)
tools = [{{"name": "Bash", "input_schema": {{}}}}] if not caged or "tools" in leaks else []
question = sys.stdin.read() or sys.argv[2]
for _ in range(3):
    body = {{"model": "m", "max_tokens": 9, "messages": [{{"role": "user", "content": question}}], "tools": tools}}
    asked = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
    (block,) = json.load(urllib.request.urlopen(asked))["content"]
    if block["type"] == "text":
        print(block["text"])
        break
    if not caged or "call" in leaks:
        subprocess.run(block["input"]["command"], shell=True)
sys.exit(3 if "end" in leaks and caged else 0)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return what installs an agent whose cage leaks what is named, first on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def install(*leaks: str) -> Path:
        program = folder / "claude"
        program.write_text(AGENT.format(python=sys.executable, leaks=list(leaks)))
        program.chmod(0o755)
        return program

    return install


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        model.words = said(GOOD)
        yield model


@pytest.fixture
def session(repo: Path, tmp_path: Path) -> Path:
    place = tmp_path / "s.jsonl"
    words = "We decided that invoices are numbered by year."
    place.write_bytes(
        lines(
            {"type": "session", "version": 3, "cwd": str(repo)},
            {"type": "message", "message": {"role": "user", "content": words}},
        )
    )
    return place


def test_a_cage_that_holds_is_proved_and_then_reads_a_session(
    install: Callable[..., Path], repo: Path, session: Path, model: Model, places: Places, memfs_process: Memfs
) -> None:
    program = install()
    settings(places, "capture:\n  by: claude-code\n")
    assert memfs_process("capture", "--on", cwd=repo).code == 0
    environ = {"ANTHROPIC_BASE_URL": model.url}
    before = memfs_process("capture", str(session), cwd=repo, env=environ)
    assert (before.code, "memfs doctor cage claude-code" in before.err) == (3, True)
    assert model.asked == []
    proof = memfs_process("doctor", "cage", "claude", cwd=repo)
    assert proof.code == 0, proof.out
    assert "the cage holds" in proof.out
    done = memfs_process("capture", str(session), "--json", cwd=repo, env=environ)
    assert done.json["drafts"] == ["draft-1"], done.err
    assert RULE in memfs_process("drafts", "show", "draft-1", cwd=repo).out
    assert [asked.tools for asked in model.asked] == [[]]
    assert list((places.cache / "capture").iterdir()) == []
    program.write_text(program.read_text() + "\n# an update\n")
    assert not is_proved(CAGES["claude-code"], places, str(program))
    assert memfs_process("capture", str(session), cwd=repo, env=environ).code == 3


@pytest.mark.parametrize("leaks", ["hook", "server", "tools", "call", "end"])
def test_a_cage_with_any_hole_is_not_proved(
    leaks: str, install: Callable[..., Path], repo: Path, places: Places, memfs_process: Memfs
) -> None:
    program = install(leaks)
    proof = memfs_process("doctor", "cage", "claude-code", "--json", cwd=repo)
    assert proof.code == 1
    wrong = [row["message"] for row in proof.json["findings"] if row["level"] == "wrong"]
    assert len(wrong) == 2, wrong
    assert not is_proved(CAGES["claude-code"], places, str(program))


def test_a_control_that_does_not_go_off_proves_nothing(
    install: Callable[..., Path], repo: Path, places: Places, memfs_process: Memfs
) -> None:
    program = install()
    program.write_text(f"#!{sys.executable}\nprint('I do nothing at all')\n")
    proof = memfs_process("doctor", "cage", "claude-code", cwd=repo)
    assert proof.code == 1
    assert "NOT SO: control" in proof.out
    assert not is_proved(CAGES["claude-code"], places, str(program))


def test_an_agent_without_a_cage_or_a_program_is_named(repo: Path, memfs_process: Memfs) -> None:
    run = memfs_process("doctor", "cage", "cursor", cwd=repo)
    assert (run.code, "no cage" in run.err) == (2, True)
    run = memfs_process("doctor", "cage", "codex", cwd=repo, env={"PATH": "/usr/bin:/bin"})
    assert (run.code, "not on the PATH" in run.out) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("agent", CAGES)
def test_the_real_programs_cage_holds_and_reads_a_session(
    agent: str, repo: Path, session: Path, model: Model, places: Places, memfs_process: Memfs
) -> None:
    client = next(kind for kind in CLIENTS if kind.agent == agent)
    program = client.find()
    if program is None:
        pytest.skip(f"{agent} is not installed (tests/agents/install_clients.sh)")
    environ = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    proof = memfs_process("doctor", "cage", agent, cwd=repo, env=environ, timeout=300)
    assert proof.code == 0, proof.out
    settings(places, f"capture:\n  by: {agent}\n")
    assert memfs_process("capture", "--on", cwd=repo).code == 0
    if agent == "codex":
        return  # it asks the model of its own login alone, which no test has
    own = client(places.home, repo)
    own.settings(model.url)
    environ |= {**own.variables(model.url), "HOME": str(places.home)}
    done = memfs_process("capture", str(session), "--json", cwd=repo, env=environ, timeout=300)
    assert done.json["drafts"] == ["draft-1"], done.err
    assert not any(asked.tools for asked in model.asked)
    assert "numbered by year" in json.dumps(model.asked[0].body)
