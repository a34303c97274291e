"""The server on standard input and output, as agents start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp_talk import HOSTILE, UNAPPROVED, Talk
from people import Team, memory_text
from support import launch_command

from memfs.disk.files import lock

Start = Callable[..., Talk]

READ = ["recall", "get", "list", "history", "due", "waiting", "feedback"]


def test_the_server_introduces_itself_and_is_read_only(talk: Start) -> None:
    server = talk()
    tools = server.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == READ
    assert all(tool["annotations"]["destructiveHint"] is False for tool in tools)
    assert [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]] == ["feedback"]
    assert server.call("remember", text="x")["isError"]


def test_writing_is_offered_where_it_is_allowed_and_approving_never(talk: Start) -> None:
    names = [tool["name"] for tool in talk("--allow", "write").ask("tools/list")["result"]["tools"]]
    assert names[: len(READ)] == READ
    assert "remember" in names
    assert not {name for name in names if "trust" in name or "approve" in name}


def test_the_list_of_tools_is_small(talk: Start) -> None:
    reading = json.dumps(talk().ask("tools/list")["result"], separators=(",", ":"))
    writing = json.dumps(talk("--allow", "write").ask("tools/list")["result"], separators=(",", ":"))
    assert len(reading) < 3_000
    assert len(writing) < 6_500


def test_what_is_recalled_stands_in_frames_by_how_it_was_approved(talk: Start) -> None:
    text = talk().text("recall", query="billing migrations and the staging cluster")
    bundles = text.split("Memory bundle ")[1:]
    assert len(bundles) == 2
    assert "[additive]" in bundles[0]
    assert "approved by alice@example.com" in bundles[0]
    assert "[staging]" in bundles[1]
    assert "not approved" in bundles[1]
    prefix = bundles[1][:4]
    assert f"{prefix}| {UNAPPROVED}" in bundles[1]


def test_facts_beside_the_text_hold_no_words_of_a_memory(talk: Start) -> None:
    result = talk().call("recall", query="staging cluster")
    hits = result["structuredContent"]["hits"]
    assert hits[0]["id"] == "staging"
    assert {key for hit in hits for key in hit} == {"id", "trusted", "reason", "state", "score"}


def test_a_hostile_memory_cannot_leave_its_frame(talk: Start, team: Team) -> None:
    team.write("evil", memory_text("Staging evil. " + HOSTILE))
    text = talk().text("get", id="evil")
    opening, *lines = text.rstrip("\n").split("\n")
    prefix = opening.split('start with "')[1][:5]
    assert all(line.startswith(prefix) for line in lines[1:-1])
    assert "</system-reminder>" not in text
    assert "\u2028" not in text


def test_a_hidden_id_and_an_unknown_one_answer_alike(talk: Start, team: Team) -> None:
    team.write("secret-plan", memory_text("The plan.", scope="restricted/board"), scope="restricted/board")
    server = talk("--as", "team")
    hidden, unknown = server.text("get", id="secret-plan"), server.text("get", id="no-such-plan")
    assert hidden.replace("secret-plan", "") == unknown.replace("no-such-plan", "")
    assert "secret-plan" not in server.text("list")
    assert "secret-plan" not in server.text("recall", query="the plan")


def test_a_list_names_approved_memories_and_counts_the_others(talk: Start) -> None:
    text = talk().text("list")
    assert "additive: Billing migrations stay additive." in text
    assert "staging" not in text
    assert "2 not approved" in text


def test_due_and_history_are_framed(talk: Start) -> None:
    server = talk()
    due = server.text("due")
    assert "[old-rule]" in due
    assert "RECHECK" in due
    history = server.text("history", id="additive")
    assert history.startswith("History ")
    assert "added" in history


def test_feedback_is_kept_on_this_machine(talk: Start, team: Team) -> None:
    before = team.git("status", "--porcelain")
    assert "Noted" in talk().text("feedback", id="additive", helped=True)
    assert team.git("status", "--porcelain") == before


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("recall", {}, "query is missing"),
        ("recall", {"query": 5}, "query must be a text"),
        ("recall", {"query": "x", "limit": 0}, "limit must be a whole number"),
        ("recall", {"query": "x", "limit": True}, "limit must be a whole number"),
        ("list", {"kind": "poem"}, "kind must be one of"),
        ("feedback", {"id": "additive", "helped": "yes"}, "helped must be true or false"),
        ("get", {"id": "additive", "\u202eevil": 1}, "1 unknown arguments"),
        ("no_such_tool", {}, "no such tool"),
        ("trust", {"id": "staging"}, "no such tool"),
    ],
)
def test_a_wrong_call_is_answered_in_words(talk: Start, tool: str, arguments: dict[str, object], says: str) -> None:
    result = talk().call(tool, **arguments)
    assert result["isError"] is True
    assert says in result["content"][0]["text"]
    assert "\u202e" not in result["content"][0]["text"]


DRAFT = {
    "text": "Invoices are rounded half to even.\n\nWhy: the auditor asked for it.",
    "kind": "decision",
    "scope": "team",
    "evidence": ["README.md"],
    "review_trigger": "on 2030-01-01",
    "title": "Rounding",
}


def test_an_agent_remembers_as_an_agent_and_the_write_is_audited(talk: Start, team: Team, sealed: Path) -> None:
    result = talk("--allow", "write", name="claude-code").call("remember", **DRAFT)
    assert result["isError"] is False, result
    assert result["structuredContent"]["id"] == "rounding"
    assert "not approved" in result["content"][0]["text"]
    text = team.path("rounding").read_text()
    assert "origin: agent" in text
    assert "author: claude-code" in text
    assert team.says("rounding") == "no-approval"
    assert team.git("log", "-1", "--format=%H") == result["structuredContent"]["commit"]
    lines = [json.loads(line) for line in (sealed / ".local/state/memfs/audit.jsonl").read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["asked", "done"]
    assert {(line["key"], line["client"], line["tool"]) for line in lines} == {("stdio", "claude-code", "remember")}
    assert lines[1]["id"] == "rounding"


def test_a_write_that_cannot_be_audited_is_not_made(talk: Start, team: Team, sealed: Path) -> None:
    state = sealed / ".local" / "state" / "memfs"
    state.mkdir(parents=True, exist_ok=True)
    (state / "audit.jsonl").mkdir()
    result = talk("--allow", "write").call("remember", **DRAFT)
    assert result["isError"] is True
    assert "nothing was done" in result["content"][0]["text"]
    assert not team.path("rounding").exists()


def test_a_client_cannot_write_what_it_likes_into_the_author(talk: Start, team: Team) -> None:
    talk("--allow", "write", name="alice@example.com\nkind: x\u202e").call("remember", **DRAFT)
    assert "author: alice-example.com-kind-x\n" in team.path("rounding").read_text()


def test_a_refused_draft_leaves_nothing_and_says_by_which_rule(talk: Start, team: Team, sealed: Path) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"
    before = team.git("rev-parse", "HEAD")
    result = talk("--allow", "write").call("remember", **{**DRAFT, "text": f"The token is {token}."})
    assert result["isError"] is True
    assert token not in json.dumps(result)
    assert result["structuredContent"]["outcome"] in ("refused", "held")
    assert team.git("rev-parse", "HEAD") == before
    assert not team.path("rounding").exists()
    assert token not in (sealed / ".local/state/memfs/audit.jsonl").read_text()


def test_a_proposal_is_a_branch_beside_everybodys_work(talk: Start, team: Team) -> None:
    before = team.git("rev-parse", "HEAD"), team.git("status", "--porcelain")
    result = talk("--allow", "write", name="claude-code").call("propose", **DRAFT)
    assert result["isError"] is False, result
    assert "on the branch memory/rounding" in result["content"][0]["text"]
    assert (team.git("rev-parse", "HEAD"), team.git("status", "--porcelain")) == before
    assert "origin: agent" in team.git("show", "memory/rounding:memories/team/rounding.md")


def test_a_missing_field_is_named(talk: Start) -> None:
    result = talk("--allow", "write").call("remember", **{**DRAFT, "evidence": []})
    assert "evidence is missing" in result["content"][0]["text"]


def test_junk_and_cancelled_requests_do_not_end_the_server(talk: Start) -> None:
    server = talk()
    for junk in (b"not json", b"", b"\xff\xfe{}", b"[]", b'{"jsonrpc":"2.0","id":"x"}'):
        server.send(junk)
    for number in range(100, 110):
        call = {"name": "recall", "arguments": {"query": "billing"}}
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9999}})
    assert "additive" in server.text("recall", query="billing")
    assert server.end() == 0
    assert "Traceback" not in server.errors.read_text()


def test_the_end_of_input_ends_the_server_and_a_write_is_whole(talk: Start, team: Team) -> None:
    server = talk("--allow", "write")
    server.send(
        {"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {"name": "remember", "arguments": DRAFT}}
    )
    assert server.end() == 0
    written = team.path("rounding").exists()
    assert written == ("rounding.md" in team.git("ls-tree", "-r", "--name-only", "HEAD"))
    assert not (team.root / ".git" / "index.lock").exists()
    with lock(team.tree, timeout=0.1):
        pass  # nobody holds it any more


def test_a_closed_output_ends_the_server_quietly(sealed: Path, team: Team) -> None:
    reader, writer = os.pipe()
    errors = sealed / "stderr.txt"
    with open(errors, "wb") as stderr:
        process = subprocess.Popen(
            [*launch_command(sealed), "mcp"], cwd=team.root, stdin=subprocess.PIPE, stdout=writer, stderr=stderr
        )
    os.close(writer)
    assert process.stdin is not None
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}).encode() + b"\n"
    )
    process.stdin.flush()
    os.read(reader, 1)
    os.close(reader)
    try:
        for number in range(5):
            call = {"jsonrpc": "2.0", "id": number + 2, "method": "ping"}
            process.stdin.write(json.dumps(call).encode() + b"\n")
            process.stdin.flush()
            time.sleep(0.1)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.wait(8) == 0
    assert errors.read_text() == ""


@pytest.mark.shared
@pytest.mark.slow
def test_the_handed_driver_finds_nothing(shared: Path, tmp_path: Path, sealed: Path) -> None:
    place = tmp_path / "case"
    make = shared / "cases" / "20-mcp-stdio" / "make.sh"
    subprocess.run(["bash", make, place], check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, place / "drive.py", "recall", "query", *launch_command(sealed), "mcp"],
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.stdout.strip() == "no findings"
