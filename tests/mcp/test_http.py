"""The endpoint for a team: nothing without a key, and with one only what the key allows."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from people import Team, memory_text
from support import Run, launch_command

pytest.importorskip("uvicorn")


class Endpoint:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/mcp"

    def post(self, method: str, params: dict[str, Any], *, key: str | None, **headers: str) -> tuple[int, Any]:
        info = {"name": "team-bot", "version": "1"}
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": info,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        sent = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            **({"mcp-name": params["name"]} if "name" in params else {}),
            **({"authorization": f"Bearer {key}"} if key is not None else {}),
            **headers,
        }
        request = urllib.request.Request(self.url, json.dumps(body).encode(), sent)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def call(self, tool: str, key: str, **arguments: Any) -> Any:
        code, answer = self.post("tools/call", {"name": tool, "arguments": arguments}, key=key)
        assert code == 200, answer
        return answer["result"]


@pytest.fixture
def endpoint(
    sealed: Path, team: Team, memfs: Callable[..., Run], processes: list[subprocess.Popen[bytes]]
) -> Iterator[tuple[Endpoint, dict[str, str]]]:
    team.write(
        "board-plan", memory_text("The board plans a merger.", scope="restricted/board"), scope="restricted/board"
    )
    keys = {
        "reader": memfs("mcp", "--add-key", "reader", "--as", "team").out.strip(),
        "writer": memfs("mcp", "--add-key", "writer", "--as", "team", "--allow", "write").out.strip(),
        "billing": memfs("mcp", "--add-key", "billing", "--as", "team/billing", "--allow", "write").out.strip(),
        "board": memfs("mcp", "--add-key", "board", "--as", "restricted/board").out.strip(),
    }
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*launch_command(sealed), "mcp", "--http", str(port), "--allow", "write", "--allow-host", "mem.example.com"],
        cwd=team.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    processes.append(process)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield Endpoint(port), keys
    process.kill()
    process.communicate()


Served = tuple[Endpoint, dict[str, str]]


def test_each_key_sees_what_its_scopes_allow(endpoint: Served, team: Team, memfs: Callable[..., Run]) -> None:
    server, keys = endpoint
    assert "[additive]" in server.call("recall", keys["reader"], query="billing migrations")["content"][0]["text"]
    merger = {"query": "what does the board plan, a merger?"}
    assert "board-plan" not in json.dumps(server.call("recall", keys["reader"], **merger))
    assert "board-plan" in json.dumps(server.call("recall", keys["board"], **merger))
    assert "additive" not in json.dumps(server.call("recall", keys["board"], query="billing migrations"))


def test_nothing_is_said_without_a_known_key(endpoint: Served) -> None:
    server, keys = endpoint
    for key in (None, "", "wrong", keys["reader"][:-1], keys["reader"] + "x"):
        code, said = server.post("tools/list", {}, key=key)
        assert code == 401
        assert "memfs" not in str(said)


def test_only_a_key_that_may_write_writes_and_its_name_is_the_author(
    endpoint: Served, team: Team, sealed: Path
) -> None:
    server, keys = endpoint
    draft = {
        "text": "Invoices are rounded half to even.",
        "kind": "decision",
        "scope": "team",
        "evidence": ["README.md"],
        "review_trigger": "on 2030-01-01",
        "title": "Rounding",
    }
    assert server.call("remember", keys["reader"], **draft)["isError"] is True
    assert not team.path("rounding").exists()
    result = server.call("remember", keys["writer"], **draft)
    assert result["isError"] is False, result
    recorded, branch = result["structuredContent"]["id"], result["structuredContent"]["branch"]
    assert recorded.startswith("rounding-")  # the key does not see every memory here
    assert not team.path(recorded).exists(), "the endpoint's own work tree is nobody's"
    assert "author: writer\n" in team.git("show", f"{branch}:memories/team/{recorded}.md")
    assert "Memfs-Agent: writer" in team.git("log", "-1", "--format=%B", branch)
    audit = [json.loads(line) for line in (sealed / ".local/state/memfs/audit.jsonl").read_text().splitlines()]
    assert {(line["key"], line["client"]) for line in audit} == {("writer", "team-bot")}


@pytest.mark.parametrize("tool", ["remember", "propose"])
@pytest.mark.parametrize("scope", ["team", "team/ledger", "restricted/board", "personal"])
def test_a_key_writes_in_its_scopes_alone(endpoint: Served, team: Team, tool: str, scope: str) -> None:
    server, keys = endpoint
    before = team.git("for-each-ref")
    draft = {"text": "Ledgers close on Fridays.", "kind": "decision", "evidence": ["README.md"]}
    result = server.call(tool, keys["billing"], **draft, scope=scope, review_trigger="on 2030-01-01")
    assert result["isError"] is True, result
    assert team.git("for-each-ref") == before
    assert not list(team.root.rglob("*ledgers*"))


def test_what_a_key_records_is_pushed_where_there_is_a_remote(endpoint: Served, team: Team, tmp_path: Path) -> None:
    server, keys = endpoint
    team.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    team.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    team.git("push", "-qu", "origin", "HEAD")
    team.git("remote", "set-head", "origin", "-a")
    draft = {"text": "Ledgers close on Fridays.", "kind": "decision", "scope": "team", "evidence": ["README.md"]}
    result = server.call("remember", keys["writer"], **draft, review_trigger="on 2030-01-01")
    assert result["isError"] is False, result
    assert "It is pushed" in result["content"][0]["text"]
    assert result["structuredContent"]["branch"] in team.git("ls-remote", "origin")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "mem.example.com", "mem.example.com:8443"])
def test_a_host_that_was_allowed_is_served(endpoint: Served, host: str) -> None:
    server, keys = endpoint
    assert server.post("tools/list", {}, key=keys["reader"], host=host)[0] == 200


def test_a_removed_key_is_worthless_at_once(endpoint: Served, memfs: Callable[..., Run]) -> None:
    server, keys = endpoint
    assert server.post("tools/list", {}, key=keys["reader"])[0] == 200
    memfs("mcp", "--remove-key", "reader")
    assert server.post("tools/list", {}, key=keys["reader"])[0] == 401


def test_a_web_page_cannot_reach_a_loopback_endpoint(endpoint: Served) -> None:
    server, keys = endpoint
    assert server.post("tools/list", {}, key=keys["reader"], origin="https://evil.example")[0] == 403
    assert server.post("tools/list", {}, key=keys["reader"], host="evil.example")[0] == 421


def test_keys_are_kept_as_digests_and_shown_once(memfs: Callable[..., Run], sealed: Path) -> None:
    secret = memfs("mcp", "--add-key", "ci", "--as", "team/billing").out.strip()
    kept = sealed / ".config" / "memfs" / "mcp-keys.json"
    assert secret not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    assert memfs("mcp", "--keys").out == "ci  team/billing  read\n"
    assert memfs("mcp", "--add-key", "ci", "--as", "team").code == 2
    assert memfs("mcp", "--remove-key", "nobody").code == 1


def test_keys_that_others_may_write_are_not_believed(memfs: Callable[..., Run], sealed: Path) -> None:
    memfs("mcp", "--add-key", "ci", "--as", "team")
    (sealed / ".config" / "memfs" / "mcp-keys.json").chmod(0o666)
    ran = memfs("mcp", "--keys")
    assert ran.code == 3
    assert "others may write" in ran.err


def test_without_a_key_nothing_is_served(memfs: Callable[..., Run]) -> None:
    ran = memfs("mcp", "--http", "0")
    assert ran.code == 3
    assert "no key yet" in ran.err


@pytest.mark.parametrize("address", ["x", "1:2:x", "99999", "host:"])
def test_an_address_is_checked(memfs: Callable[..., Run], address: str) -> None:
    assert memfs("mcp", "--http", address).code == 2
