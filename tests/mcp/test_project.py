"""A server finds its project wherever its client starts it, and says so where there is none."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp_talk import APPROVED, Talk
from people import Team

from memfs.mcp.project import find_start, has_memories


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("given", "environ", "roots", "client"),
    [
        ("PROJECT", {}, [], ""),
        ("PROJECT/services", {}, [], ""),
        ("${workspaceFolder}", {"WORKSPACE_FOLDER_PATHS": "/nowhere,PROJECT"}, [], "cursor"),
        (None, {"CLAUDE_PROJECT_DIR": "PROJECT"}, [], "claude-code"),
        (None, {}, ["file:///nowhere", "file://PROJECT"], "codex-mcp-client"),
        (None, {}, ["http://example.com/x", "file://localhostPROJECT"], ""),
    ],
)
def test_the_client_says_where_the_project_is(
    team: Team, elsewhere: Path, *, given: str | None, environ: dict[str, str], roots: list[str], client: str
) -> None:
    (team.root / "services").mkdir()
    fill = lambda text: text.replace("PROJECT", str(team.root))  # noqa: E731
    start = find_start(
        elsewhere,
        {name: fill(value) for name, value in environ.items()},
        given=fill(given) if given else None,
        roots=[fill(root).replace(" ", "%20") for root in roots],
        client=client,
    )
    assert has_memories(start)


def test_a_variable_of_claude_code_is_not_taken_by_an_agent_that_it_started(team: Team, elsewhere: Path) -> None:
    inherited = {"CLAUDE_PROJECT_DIR": str(team.root)}
    assert find_start(elsewhere, inherited, client="codex-mcp-client") == elsewhere


def test_a_server_without_a_project_says_so_as_an_error(sealed: Path, elsewhere: Path) -> None:
    server = Talk(sealed, elsewhere)
    server.begin()
    for tool, arguments in (("recall", {"query": "billing"}), ("list", {}), ("due", {}), ("waiting", {})):
        result = server.call(tool, **arguments)
        assert result["isError"] is True, tool
        assert "there is no memory repository at" in result["content"][0]["text"]
        assert "--project" in result["content"][0]["text"]
    assert server.end() == 0
    server.close()


def test_a_server_is_told_its_project_by_an_argument(sealed: Path, team: Team, elsewhere: Path) -> None:
    server = Talk(sealed, elsewhere, "--project", str(team.root))
    server.begin("cursor")
    assert APPROVED in server.text("recall", query="how do billing migrations go?")
    server.close()


def test_a_server_asks_its_client_for_the_roots(sealed: Path, team: Team, elsewhere: Path) -> None:
    server = Talk(sealed, elsewhere, "--project", "${workspaceFolder}")
    info = {"name": "vscode", "version": "1"}
    server.ask("initialize", protocolVersion="2025-06-18", capabilities={"roots": {}}, clientInfo=info)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    call = {"name": "recall", "arguments": {"query": "how do billing migrations go?"}}
    server.send({"jsonrpc": "2.0", "id": 90, "method": "tools/call", "params": call})
    asked = next_message(server)
    assert asked["method"] == "roots/list"
    roots = [{"uri": team.root.as_uri(), "name": "project"}]
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})
    answer = server.read(90)["result"]
    assert APPROVED in answer["content"][0]["text"]
    server.close()


def next_message(server: Talk) -> dict[str, Any]:
    assert server.process.stdout is not None
    return dict(json.loads(server.process.stdout.readline()))


def test_one_interrupt_ends_the_server(sealed: Path, team: Team) -> None:
    import signal

    server = Talk(sealed, team.root)
    server.begin()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(10) == 130
    server.close()


def test_what_doctor_says_of_a_server_that_does_not_start(memfs: Any, sealed: Path, team: Team, tmp_path: Path) -> None:
    import sys

    script = Path(sys.prefix) / "bin" / "memfs"
    if not script.exists():
        pytest.skip("memfs is not installed as a script here")
    assert memfs("connect", "cursor", "--mcp", cwd=team.root).code == 0
    entry = json.loads((sealed / ".cursor" / "mcp.json").read_text())["mcpServers"]["memfs"]
    assert entry["args"] == ["mcp", "--project", "${workspaceFolder}"]
    started = subprocess.run([entry["command"], "--version"], capture_output=True)
    assert started.returncode == 0
