"""The hook path loads what the answer needs and nothing else: a cold process pays for every module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import git

PROBE = """
import sys, json
from datetime import date
from pathlib import Path
from memfs.disk.places import Places
import memfs.cli, memfs.hooks.run
from memfs.hooks.answer import answer_event
for _ in range(int(sys.argv[3])):
    places = Places(home=Path(sys.argv[1]))
    assert memfs.hooks.run.may_have_memories(sys.argv[2].encode(), sys.argv[1])
    answer = answer_event(sys.argv[2].encode(), "claude-code", lambda: places, today=lambda: date(2026, 11, 30))
print(json.dumps({"modules": sorted(sys.modules), "answer": answer.decode()}))
"""

NEVER = {
    "argparse", "asyncio", "email", "frontmatter", "git", "http", "importlib.metadata", "jinja2", "jsonschema",
    "mcp", "multiprocessing", "numpy", "onnxruntime", "platformdirs", "pydantic", "rich", "shtab", "socket", "ssl",
    "tempfile", "tomllib", "unittest", "urllib.request",
}  # fmt: skip
MEMORY = """---
kind: decision
origin: owner
scope: team
evidence:
  - said by Alice on 2026-11-01
recorded: 2026-11-02
review_trigger: on 2030-01-01
applies_to: ["services/billing/**"]
---
The deploy window is Tuesday morning.
"""


@pytest.fixture
def project(repo: Path) -> Path:
    folder = repo / "memories" / "team"
    folder.mkdir(parents=True)
    (folder / "deploy-window.md").write_text(MEMORY)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memory")
    return repo


def loaded(home: Path, project: Path, fields: dict[str, object], times: int = 1) -> tuple[set[str], str]:
    payload = json.dumps({"session_id": os.urandom(4).hex(), "cwd": str(project), **fields})
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, str(home), payload, str(times)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return set(found["modules"]), found["answer"]


@pytest.mark.parametrize(
    "fields",
    [
        {"hook_event_name": "Stop"},
        {"hook_event_name": "PreToolUse", "tool_name": "mcp__memfs__recall", "tool_input": {"query": "x"}},
        {"hook_event_name": "PreToolUse", "tool_name": "TodoWrite", "tool_input": {}},
        {"hook_event_name": "UserPromptSubmit", "prompt": "/compact"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "<task-notification>done</task-notification>"},
    ],
)
def test_a_call_with_nothing_to_ask_loads_no_room_below(sealed: Path, project: Path, fields: dict[str, object]) -> None:
    modules, answer = loaded(sealed, project, fields)
    assert answer == ""
    rooms = {name for name in modules if name.startswith("memfs.")}
    known = {"memfs.errors", "memfs.doors", "memfs.disk", "memfs.disk.places", "memfs.model", "memfs.model.values"}
    above = ("memfs.hooks", "memfs.cli", "memfs.connect")
    assert {name for name in rooms if not name.startswith(above)} <= known
    assert not modules & (NEVER | {"yaml", "whoosh", "subprocess", "cryptography"})


@pytest.mark.parametrize(
    "fields",
    [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "when is the deploy window?"},
        {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": "services/billing/a.py"}},
    ],
)
def test_a_recall_loads_what_it_needs(sealed: Path, project: Path, fields: dict[str, object]) -> None:
    loaded(sealed, project, {"hook_event_name": "UserPromptSubmit", "prompt": "deploy"})  # builds the index
    modules, _ = loaded(sealed, project, fields)
    assert not modules & NEVER


def test_a_prompt_that_is_answered_from_a_ready_index_starts_no_process(sealed: Path, project: Path) -> None:
    fields: dict[str, object] = {"hook_event_name": "UserPromptSubmit", "prompt": "when is the deploy window?"}
    loaded(sealed, project, fields)
    modules, answer = loaded(sealed, project, fields)
    assert "deploy-window" in answer
    assert "subprocess" not in modules


@pytest.mark.parametrize("prompt", ["yes, do it", "git status", "ok, go on please"])
def test_a_prompt_that_says_nothing_loads_under_twenty_modules(sealed: Path, project: Path, prompt: str) -> None:
    modules, answer = loaded(sealed, project, {"hook_event_name": "UserPromptSubmit", "prompt": prompt})
    assert answer == ""
    own = {name for name in modules if name == "memfs" or name.startswith("memfs.")} - PROBED
    assert len(own) < 20, sorted(own)


PROBED = {"memfs.disk", "memfs.disk.places"}  # the probe itself needs them


def test_a_project_without_memories_loads_the_hook_alone(sealed: Path, tmp_path: Path) -> None:
    (tmp_path / "code" / ".git").mkdir(parents=True)
    payload = json.dumps({"hook_event_name": "UserPromptSubmit", "cwd": str(tmp_path / "code"), "prompt": "deploy?"})
    probe = (
        "import sys, json, memfs.cli\nfrom memfs.hooks import run\n"
        "assert not run.may_have_memories(sys.argv[1].encode(), sys.argv[2])\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('memfs')]))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", probe, payload, str(sealed)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) <= {"memfs", "memfs.cli", "memfs.errors", "memfs.hooks", "memfs.hooks.run"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (["code/.git/", "code/memories/"], True),
        (["code/.git/", "code/.memfs/"], True),
        (["code/.git"], False),
        (["code/.git/", "home/.config/memfs/config.yaml"], True),
        (["memories/", "code/.git/"], False),
    ],
)
def test_where_there_may_be_memories(tmp_path: Path, made: list[str], expected: bool) -> None:
    from memfs.hooks.run import may_have_memories

    inner = tmp_path / "code" / "a" / "b"
    inner.mkdir(parents=True)
    for name in made:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=True) if name.endswith("/") else path.write_text("")
    for fields in ({"cwd": str(inner)}, {"workspace_roots": [str(inner)]}):
        assert may_have_memories(json.dumps(fields).encode(), str(tmp_path / "home")) is expected
    assert may_have_memories(b"not json", str(tmp_path / "home"))


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": 'say "cwd": "/nowhere"', "cwd": "HERE"},
        {"cwd": "HERE", "tool_input": {"cwd": "/nowhere"}},
        {"tool_input": {"cwd": "/nowhere"}, "workspace_roots": ["HERE"]},
        {"cwd": "HERE", "prompt": "\\"},
    ],
)
def test_the_folder_of_a_call_is_not_taken_from_its_texts(project: Path, fields: dict[str, object]) -> None:
    from memfs.hooks.run import may_have_memories

    odd = project.parent / 'a "quoted" ü folder'
    project.rename(odd)
    for ascii_only in (True, False):
        text = json.dumps(fields, ensure_ascii=ascii_only)
        raw = text.replace('"HERE"', json.dumps(str(odd), ensure_ascii=ascii_only)).encode()
        assert may_have_memories(raw, "/nowhere")
