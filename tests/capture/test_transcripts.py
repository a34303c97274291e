"""Transcripts of agents are read into what the person and the agent said, and nothing else."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.capture.sessions import find_last, is_of, read_session
from memfs.capture.transcripts import LONGEST_TURN, READERS, parse_transcript
from memfs.errors import InvalidMemoryError, NotFoundError

BUNDLE = (
    'Memory bundle 7f3a91c2e04b55d1. Lines that start with "7f3a| " are recorded data about past work.\n'
    "7f3a| [x] decision\n7f3a| Migrations stay additive.\nEnd of memory bundle 7f3a91c2e04b55d1.\n"
)
ASKED = "We decided that invoices are numbered by year."
SAID = "Invoices are numbered by year from now on."


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def item(role: str, *content: dict[str, str]) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": list(content)}}


def text(kind: str, words: str) -> list[dict[str, str]]:
    return [{"type": kind, "text": words}]


FORMS: dict[str, bytes] = {
    "claude-code": lines(
        {"type": "queue-operation", "sessionId": "s"},
        {"type": "user", "sessionId": "s", "cwd": "/p", "message": {"role": "user", "content": ASKED}},
        {"type": "attachment", "sessionId": "s", "attachment": {"type": "hook_additional_context", "content": BUNDLE}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat: not typed"}},
        {"type": "assistant", "isSidechain": True, "message": {"role": "assistant", "content": text("text", "inner")}},
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "secret output"}]}},
        {"type": "user", "message": {"role": "user", "content": "<task-notification>done</task-notification>"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"},
                                                                           *text("text", SAID)]}},
    ),
    "codex": lines(
        {"type": "session_meta", "payload": {"cwd": "/p"}},
        item("developer", *text("input_text", BUNDLE)),
        item("user", *text("input_text", "# AGENTS.md instructions for /p"),
             *text("input_text", "<environment_context>x</environment_context>")),
        item("user", *text("input_text", ASKED)),
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "secret output"}},
        item("assistant", *text("output_text", SAID)),
    ),
    "gemini": lines(
        {"sessionId": "s", "projectHash": "h"},
        {"$set": {"messages": [{"id": "0", "type": "user", "content": "<session_context>x</session_context>"}]}},
        {"id": "1", "type": "user", "content": [{"text": f"{ASKED}\n<hook_context>{BUNDLE}</hook_context>"}]},
        {"id": "2", "type": "gemini", "content": ""},
        {"id": "2", "type": "gemini", "content": SAID},
        {"id": "3", "type": "user", "content": [{"functionResponse": {"response": {"output": "secret output"}}}]},
    ),
    "copilot": lines(
        {"type": "session.start", "data": {"context": {"cwd": "/p"}}},
        {"type": "user.message", "data": {"content": ASKED, "transformedContent": f"{BUNDLE}{ASKED}"}},
        {"type": "user.message", "data": {"content": "of a subagent", "agentId": "a"}},
        {"type": "assistant.message", "data": {"content": SAID}},
    ),
    "opencode": json.dumps({"info": {"id": "s", "directory": "/p"}, "messages": [
        {"info": {"role": "user"}, "parts": [*text("text", ASKED),
                                             {"type": "text", "text": BUNDLE, "synthetic": True}]},
        {"info": {"role": "assistant"}, "parts": [{"type": "tool", "state": {"output": "secret output"}},
                                                  *text("text", SAID)]},
    ]}).encode(),
    "qwen": lines(
        {"uuid": "1", "parentUuid": None, "provenance": "real_user", "sessionId": "s", "type": "user", "cwd": "/p",
         "message": {"role": "user", "parts": [{"text": ASKED}]}},
        {"uuid": "2", "parentUuid": "1", "provenance": "tool_result", "type": "tool_result",
         "message": {"role": "user", "parts": [{"functionResponse": {}}]}},
        {"uuid": "3", "parentUuid": "2", "provenance": "assistant_output", "type": "assistant",
         "message": {"role": "model", "parts": [{"text": SAID}]}},
    ),
    "pi": lines(
        {"type": "session", "version": 3, "cwd": "/p"},
        {"type": "message", "message": {"role": "user", "content": text("text", ASKED)}},
        {"type": "message", "message": {"role": "toolResult", "content": text("text", "secret output")}},
        {"type": "message", "message": {"role": "assistant", "content": text("text", SAID)}},
    ),
}  # fmt: skip


def test_every_agent_has_a_transcript_here() -> None:
    assert set(FORMS) == set(READERS)


@pytest.mark.parametrize("agent", FORMS)
def test_what_was_said_is_read_and_what_was_put_in_is_not(agent: str) -> None:
    found = parse_transcript("s.jsonl", FORMS[agent])
    assert found.agent == agent
    assert [(turn.who, turn.text) for turn in found.turns] == [("person", ASKED), ("agent", SAID)]
    if found.name.endswith(".jsonl") and agent != "opencode":
        raw = found.raw.split(b"\n")
        assert all(json.dumps(turn.text)[1:-1].encode() in raw[turn.line - 1] for turn in found.turns)


@pytest.mark.parametrize("agent", [agent for agent in FORMS if agent != "opencode"])
def test_a_half_written_line_costs_itself_alone(agent: str) -> None:
    cut = FORMS[agent] + b'{"type":"user","message":{"role":"us\n\xff\xfe\nnull\n[1]\n'
    assert len(parse_transcript("s.jsonl", cut).turns) == 2


def test_a_long_turn_is_cut_to_its_two_ends() -> None:
    row = {"type": "message", "message": {"role": "user", "content": text("text", "a" * 20_000 + "b")}}
    (turn,) = parse_transcript("s", lines({"type": "session", "version": 3}, row)).turns
    assert len(turn.text) < LONGEST_TURN + 10
    assert turn.text.endswith("b")


@pytest.mark.parametrize("raw", [b"", b"{}", b"hello", b"\0" * 100, b"[" * 100_000, b'{"a":' * 50_000])
def test_other_files_are_refused(raw: bytes) -> None:
    with pytest.raises(InvalidMemoryError, match="not the transcript"):
        parse_transcript("s.jsonl", raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "message", "role", "content", "payload", "data", "parts", "info", "messages", "id"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(sorted(FORMS)), st.lists(JSON, max_size=6))
def test_no_line_of_any_shape_breaks_a_reader(agent: str, rows: list[Any]) -> None:
    first = FORMS[agent].split(b"\n")[0] + b"\n"
    found = parse_transcript("s.jsonl", first + b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    assert all(turn.who in ("person", "agent") and turn.text for turn in found.turns)


def test_a_link_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_bytes(FORMS["pi"])
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("link.jsonl", "pipe.jsonl", "absent.jsonl"):
        with pytest.raises(InvalidMemoryError):
            read_session(tmp_path / name)


def test_the_last_session_is_the_newest_that_was_in_this_repository(tmp_path: Path) -> None:
    home, here, other = tmp_path / "home", tmp_path / "here", tmp_path / "other"
    (here / "sub").mkdir(parents=True)
    other.mkdir()
    with pytest.raises(NotFoundError):
        find_last(home, here)
    for place, folder, when in (
        (".claude/projects/a/one.jsonl", here / "sub", 100), (".claude/projects/b/two.jsonl", other, 300),
        (".pi/agent/sessions/c/three.jsonl", here, 200),
    ):  # fmt: skip
        path = home / place
        path.parent.mkdir(parents=True)
        agent = "pi" if ".pi" in place else "claude-code"
        path.write_bytes(FORMS[agent].replace(b'"/p"', json.dumps(str(folder)).encode()))
        os.utime(path, (when, when))
    assert find_last(home, here).name == "three.jsonl"
    assert find_last(home, other).name == "two.jsonl"
    gemini = home / ".gemini/tmp/x/chats/session-1.jsonl"
    gemini.parent.mkdir(parents=True)
    gemini.write_bytes(FORMS["gemini"])
    assert not is_of(read_session(gemini), here)
    (gemini.parent.parent / ".project_root").write_text(str(here))
    assert find_last(home, here).agent == "gemini"


def test_opencode_s_last_session_is_read_from_its_database(tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    place = home / ".local/share/opencode/opencode.db"
    place.parent.mkdir(parents=True)
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE session (id, directory, time_updated, parent_id)")
        connection.execute("CREATE TABLE message (id, session_id, data, time_created)")
        connection.execute("CREATE TABLE part (id, message_id, data)")
        connection.execute("INSERT INTO session VALUES ('s', ?, 5, NULL), ('inner', ?, 9, 's')", (str(here), str(here)))
        for number, message in enumerate(json.loads(FORMS["opencode"])["messages"]):
            connection.execute(
                "INSERT INTO message VALUES (?, 's', ?, ?)", (number, json.dumps(message["info"]), number)
            )
            for place_, part in enumerate(message["parts"]):
                connection.execute("INSERT INTO part VALUES (?, ?, ?)", (place_, number, json.dumps(part)))
    connection.close()
    assert [turn.text for turn in find_last(home, here).turns] == [ASKED, SAID]
