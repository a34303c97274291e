"""What agents write to a hook's standard input becomes one kind of event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memfs.connect.agents import AGENTS, Moment, find_agent
from memfs.hooks.event import parse_event


def event(agent: str, **fields: Any) -> Any:
    return parse_event(json.dumps(fields).encode(), agent)


@pytest.mark.parametrize(
    ("agent", "fields", "moment"),
    [
        ("claude-code", {"hook_event_name": "SessionStart", "source": "compact"}, Moment.START),
        ("claude-code", {"hook_event_name": "UserPromptSubmit", "prompt": "x"}, Moment.PROMPT),
        ("claude-code", {"hook_event_name": "PreToolUse"}, Moment.BEFORE_TOOL),
        ("claude-code", {"hook_event_name": "Stop"}, Moment.STOP),
        ("claude-code", {"hook_event_name": "SomethingNew"}, Moment.OTHER),
        ("codex", {"hook_event_name": "PostToolUse", "turn_id": "t"}, Moment.AFTER_TOOL),
        ("gemini", {"hook_event_name": "BeforeAgent", "timestamp": "t"}, Moment.PROMPT),
        ("gemini", {"hook_event_name": "UserPromptSubmit", "timestamp": "t"}, Moment.OTHER),
        ("copilot", {"sessionId": "s", "prompt": "x"}, Moment.PROMPT),
        ("copilot", {"sessionId": "s", "source": "new", "initialPrompt": "x"}, Moment.START),
        ("copilot", {"sessionId": "s", "toolName": "view", "toolArgs": {}}, Moment.BEFORE_TOOL),
        ("copilot", {"sessionId": "s", "toolName": "view", "toolArgs": {}, "toolResult": {}}, Moment.AFTER_TOOL),
        ("copilot", {"sessionId": "s", "trigger": "auto", "customInstructions": ""}, Moment.COMPACT),
        ("copilot", {"sessionId": "s", "reason": "complete"}, Moment.OTHER),
        ("cursor", {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c"}, Moment.PROMPT),
        ("claude-code", {"hook_event_name": "SubagentStart", "agent_id": "a"}, Moment.SUBAGENT),
        ("devin", {"hook_event_name": "PostCompact"}, Moment.COMPACT),
        ("qwen", {"hook_event_name": "UserPromptSubmit", "timestamp": "t", "transcript_path": "/t"}, Moment.PROMPT),
        ("vscode", {"hook_event_name": "UserPromptSubmit"}, Moment.OTHER),
    ],
)
def test_each_agents_event_is_told(agent: str, fields: dict[str, Any], moment: Moment) -> None:
    assert event(agent, **fields).moment is moment


@pytest.mark.parametrize(
    ("fields", "agent"),
    [
        ({"hook_event_name": "UserPromptSubmit", "turn_id": "t", "session_id": "s"}, "codex"),
        ({"hook_event_name": "SessionStart", "model": "m", "permission_mode": "p", "transcript_path": "/t"}, "codex"),
        ({"hook_event_name": "UserPromptSubmit", "timestamp": "2026-11-30T00:00:00Z"}, "copilot"),
        ({"hook_event_name": "SessionStart", "timestamp": "2026-11-30T00:00:00Z"}, "copilot"),
        ({"hook_event_name": "UserPromptSubmit", "timestamp": "t", "transcript_path": "/t"}, "qwen"),
        ({"hook_event_name": "UserPromptSubmit", "prompt_id": "p", "session_id": "s"}, "claude-code"),
        ({"hook_event_name": "SessionStart", "session_id": "s", "transcript_path": "/t"}, "claude-code"),
    ],
)
def test_a_shared_hook_tells_its_agent_from_the_fields(fields: dict[str, Any], agent: str) -> None:
    assert event("auto", **fields).row.name == agent


def test_an_agent_that_runs_another_agents_hook_gets_its_own_shape() -> None:
    found = event("claude-code", hook_event_name="UserPromptSubmit", timestamp="t", session_id="s", prompt="x")
    assert (found.row.name, found.borrowed) == ("copilot", True)


def test_a_subagents_end_is_no_turns_end() -> None:
    assert event("copilot", hook_event_name="Stop", agent_id="a", stop_reason="end_turn").moment is Moment.OTHER


def test_a_subagent_and_a_notification_are_recognised() -> None:
    assert event("codex", hook_event_name="UserPromptSubmit", agent_id="a1", prompt="look").subagent == "a1"
    assert event("claude-code", hook_event_name="UserPromptSubmit", prompt="<task-notification>done").notification


@pytest.mark.parametrize(
    ("tool_input", "paths", "command"),
    [
        ({"file_path": "/p/a.py"}, ("/p/a.py",), ""),
        ({"filePath": "a.py"}, ("a.py",), ""),
        ({"command": "make test"}, (), "make test"),
        ({"command": ["bash", "-lc", "make"]}, (), "bash -lc make"),
        ({"command": "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** End Patch"}, ("src/a.py",), ""),
        ('{"path": "a.py"}', ("a.py",), ""),
        ({"path": 5, "command": None}, (), ""),
        ([1], (), ""),
    ],
)
def test_paths_and_commands_of_tools_are_found(tool_input: object, paths: tuple[str, ...], command: str) -> None:
    found = event("claude-code", hook_event_name="PreToolUse", tool_name="T", tool_input=tool_input)
    assert (found.paths, found.command) == (paths, command)


@pytest.mark.parametrize(
    "raw",
    [b"", b" \n", b"hello", b"[1]", b"null", b'{"a":', b'{"n":NaN}', b'{"p":"C:\\Users"}', b'{"a":' + b"[" * 20_000],
)
def test_what_is_no_json_object_is_no_event(raw: bytes) -> None:
    assert parse_event(raw, "claude-code") is None


@pytest.mark.parametrize("prompt", [None, 5, {"a": 1}, [1, {"text": 3}]])
def test_a_prompt_that_is_no_text_is_empty(prompt: object) -> None:
    assert event("claude-code", hook_event_name="UserPromptSubmit", prompt=prompt).prompt == ""


def test_a_byte_order_mark_and_bad_bytes_do_no_harm() -> None:
    raw = b'\xef\xbb\xbf{"hook_event_name":"UserPromptSubmit","prompt":"caf\xe9"}'
    found = parse_event(raw, "claude-code")
    assert found is not None
    assert found.prompt == "caf\ufffd"


def test_a_huge_prompt_keeps_its_two_ends() -> None:
    found = event("claude-code", hook_event_name="UserPromptSubmit", prompt="first " + "x" * 1_000_000 + " last")
    assert found.prompt.startswith("first ")
    assert found.prompt.endswith(" last")
    assert len(found.prompt) < 21_000


def test_the_agents_have_the_names_of_every_command() -> None:
    assert find_agent("claude") == "claude-code"
    assert all(find_agent(agent) == agent for agent in AGENTS)
    assert find_agent("emacs") is None


@pytest.mark.shared
def test_every_real_sample_is_told_apart(shared: Path) -> None:
    folders = {
        "claude": "claude-code",
        "codex": "codex",
        "gemini": "gemini",
        "copilot": "copilot",
        "opencode": "opencode",
    }
    wrong = []
    for folder, agent in folders.items():
        for sample in sorted((shared / "data" / "hook-inputs" / folder).glob("*.json")):
            raw = sample.read_bytes()
            found = parse_event(raw, "auto")
            direct = parse_event(raw, agent)
            assert found is not None
            assert direct is not None
            if direct.moment is not Moment.OTHER and found.row.name != agent:
                wrong.append(f"{folder}/{sample.name}: {found.row.name}")
    assert wrong == []
