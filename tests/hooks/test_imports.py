"""The hook path loads what the answer needs and nothing else: a cold process pays for every module."""

from __future__ import annotations

import json
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
import memfs.cli, memfs.cli.hook_command, memfs.hooks.run
from memfs.hooks.answer import answer_event
for _ in range(int(sys.argv[3])):
    places = Places(home=Path(sys.argv[1]))
    answer = answer_event(sys.argv[2].encode(), "claude-code", places, today=lambda: date(2026, 11, 30))
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
    payload = json.dumps({"session_id": "s", "cwd": str(project), **fields})
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
    known = {"memfs.errors", "memfs.disk", "memfs.disk.places", "memfs.model", "memfs.model.values"}
    assert {name for name in rooms if not name.startswith(("memfs.hooks", "memfs.cli"))} <= known
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
