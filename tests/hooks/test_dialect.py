"""Answers have exactly the shape that each agent reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memfs.connect.agents import find_context, format_answer, load_agent, takes_context
from memfs.hooks.event import parse_event

CALLS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("claude-code", {"hook_event_name": "UserPromptSubmit"}, ["hookSpecificOutput"]),
    ("codex", {"hook_event_name": "PreToolUse", "turn_id": "t"}, ["hookSpecificOutput"]),
    ("gemini", {"hook_event_name": "BeforeAgent", "timestamp": "t"}, ["hookSpecificOutput"]),
    ("copilot", {"sessionId": "s", "prompt": "x"}, ["additionalContext"]),
    ("opencode", {"hook_event_name": "PostToolUse"}, ["hookSpecificOutput"]),
    ("cursor", {"hook_event_name": "sessionStart", "conversation_id": "c"}, ["additional_context"]),
]


@pytest.mark.parametrize(("agent", "fields", "keys"), CALLS)
def test_the_agent_finds_the_text_where_it_looks(agent: str, fields: dict[str, Any], keys: list[str]) -> None:
    event = parse_event(json.dumps(fields).encode(), agent)
    assert event is not None
    assert takes_context(event.row, event.name, event.moment)
    answer = format_answer(event.row, event.name, "text – ü 🎉 \ud83d")
    assert answer.isascii()
    assert list(json.loads(answer)) == keys
    assert find_context(load_agent(agent), answer) == "text – ü 🎉 \ud83d"


@pytest.mark.parametrize(
    ("agent", "fields"),
    [
        ("gemini", {"hook_event_name": "BeforeTool", "timestamp": "t"}),
        ("claude-code", {"hook_event_name": "Stop"}),
        ("codex", {"hook_event_name": "PreCompact"}),
        ("codex", {"hook_event_name": "PostToolUseFailure"}),
    ],
)
def test_where_an_agent_takes_nothing_nothing_is_printed(agent: str, fields: dict[str, Any]) -> None:
    event = parse_event(json.dumps(fields).encode(), agent)
    assert event is not None
    assert not takes_context(event.row, event.name, event.moment)


@pytest.mark.parametrize(("agent", "shown"), [("claude-code", True), ("gemini", True), ("codex", False)])
def test_a_line_for_the_person_goes_where_the_agent_shows_one(agent: str, shown: bool) -> None:
    answer = format_answer(load_agent(agent), "x", "text", "memfs gave 2 memories")
    assert find_context(load_agent(agent), answer) == "text"
    assert (json.loads(answer).get("systemMessage") == "memfs gave 2 memories") == shown


def test_one_key_too_many_is_seen_as_codex_would_see_it() -> None:
    inner = {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}
    codex, claude = load_agent("codex"), load_agent("claude-code")
    assert find_context(codex, json.dumps({"hookSpecificOutput": inner}).encode()) == "x"
    assert find_context(codex, json.dumps({"hookSpecificOutput": inner, "note": 1}).encode()) is None
    assert find_context(claude, json.dumps({"hookSpecificOutput": inner, "note": 1}).encode()) == "x"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("PreToolUse", "pre-tool-use"),
        ("PostToolUse", "post-tool-use"),
    ],
)
def test_codex_own_schema_accepts_the_answer(shared: Path, name: str, schema: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    wanted = json.loads((shared / "data" / "codex-hook-schemas" / f"{schema}.command.output.json").read_text())
    event = parse_event(json.dumps({"hook_event_name": name, "turn_id": "t"}).encode(), "codex")
    assert event is not None
    jsonschema.Draft7Validator(wanted).validate(json.loads(format_answer(event.row, event.name, "text", "said")))
