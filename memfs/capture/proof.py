"""Whether a cage holds: tried with the real program against a model of our own on this machine.

The control comes first: without the cage the same program offers tools to its model, carries out a call, starts the
user's MCP server and runs their hook. Then, caged, it must offer none, refuse the same call though the model makes it
all the same, and start neither. A control that does not go off proves nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memfs.capture.cage import CAGES, SECONDS, Cage, keep_proof, open_folder, run
from memfs.capture.stub import Force, Model, Use
from memfs.disk.places import Places
from memfs.disk.private import make_folder
from memfs.git.process import require_program
from memfs.git.process import run as run_program
from memfs.model.values import dataclass

_QUESTION = "What was decided? Answer with one word."

_SERVER = """\
import json, sys
open(sys.argv[1], "w").close()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    probe = {"name": "probe", "description": "probe", "inputSchema": {"type": "object", "properties": {}}}
    said = {"initialize": {"protocolVersion": asked.get("params", {}).get("protocolVersion", "2025-06-18"),
                           "capabilities": {"tools": {}}, "serverInfo": {"name": "probe", "version": "1"}},
            "tools/list": {"tools": [probe]}}.get(asked["method"], {})
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}) + "\\n")
    sys.stdout.flush()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of one cage: ``facts`` are what was seen, each with whether it is as it must be."""

    agent: str
    program: str
    facts: tuple[tuple[str, bool], ...]

    @property
    def holds(self) -> bool:
        return all(fine for _, fine in self.facts)


class _World:
    """A home with a hook and a server that leave a mark, and a project, for one agent."""

    def __init__(self, base: Path, url: str) -> None:
        self.home, self.project, self.url = base / "home", base / "project", url
        self.hook, self.server, self.file = base / "hook-ran", base / "server-ran", self.project / "call-ran"
        self.home.mkdir()
        self.project.mkdir()
        (base / "server.py").write_text(_SERVER)
        self.serve = [sys.executable, str(base / "server.py"), str(self.server)]

    def write(self, path: str, value: Any) -> None:
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(value if isinstance(value, str) else json.dumps(value))

    @property
    def marks(self) -> dict[str, bool]:
        """What ran, and forgets it."""
        seen = {}
        for name, path in (("call", self.file), ("hook", self.hook), ("server", self.server)):
            seen[name] = path.exists()
            path.unlink(missing_ok=True)
        return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    """How an agent is set up against the stub: words without a cage, words that a cage needs too, variables."""

    tool: str
    argument: str
    words: tuple[str, ...]
    variables: Mapping[str, str]
    caged_words: tuple[str, ...] = ()


def prove(agent: str, places: Places, environ: Mapping[str, str]) -> Proof:
    """Return whether the cage of ``agent`` holds for the program on the PATH, and keep the answer.

    Raises :class:`SetupError` where the program is not there or does not end.
    """
    cage = CAGES[agent]
    program = require_program(cage.program, environ)
    folder = make_folder(places, "cache", "capture")
    with tempfile.TemporaryDirectory(prefix="proof-", dir=folder) as base, Model() as model:
        facts = tuple(_try(cage, program, _World(Path(base), model.url), model, places))
    proof = Proof(agent=agent, program=program, facts=facts)
    keep_proof(cage, places, program, proved=proof.holds)
    return proof


def _try(cage: Cage, program: str, world: _World, model: Model, places: Places) -> list[tuple[str, bool]]:
    how = _SETUPS[cage.agent](world)
    call = {how.argument: f"touch '{world.file}'", "description": "leave a mark"}
    path = os.environ.get("PATH", os.defpath)
    variables = {"PATH": path, "HOME": str(world.home), "TERM": "dumb", **how.variables}
    model.plan[:] = [Use(f"^{how.tool}$", call)]
    run_program([program, *how.words], cwd=world.project, env=variables, input=b"", timeout=SECONDS, check=False)
    offered, marks = any(asked.tools for asked in model.asked), world.marks
    facts = [
        ("control: without a cage its model is offered tools", offered),
        ("control: without a cage a call of a tool is carried out", marks["call"]),
        ("control: without a cage the user's hook runs", marks["hook"]),
        ("control: without a cage the user's MCP server is started", marks["server"]),
    ]
    model.asked.clear()
    model.plan[:] = [Force(how.tool, call), Force(how.tool, call)]
    with open_folder(cage, places, variables) as folder:
        done = run(cage, program, _QUESTION, folder=folder, variables=variables, more=how.caged_words)
    marks = world.marks
    return [
        *facts,
        ("caged: it asks its model and ends well", bool(model.asked) and done.returncode == 0),
        ("caged: no request offers a tool", not any(asked.tools for asked in model.asked)),
        ("caged: a call of a tool is refused", not marks["call"]),
        ("caged: no hook runs", not marks["hook"]),
        ("caged: no MCP server is started", not marks["server"]),
    ]


def _claude(world: _World) -> _Try:
    hook = {"hooks": [{"type": "command", "command": f"touch '{world.hook}'"}]}
    world.write(".claude/settings.json", {"hooks": {"UserPromptSubmit": [hook]}})
    server = {"type": "stdio", "command": world.serve[0], "args": world.serve[1:]}
    world.write(".claude.json", {"mcpServers": {"probe": server}})
    return _Try(
        tool="Bash",
        argument="command",
        words=("-p", _QUESTION, "--allowedTools", "Bash"),
        variables={
            "ANTHROPIC_BASE_URL": world.url, "ANTHROPIC_API_KEY": "none", "MCP_CONNECTION_NONBLOCKING": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false",
        },
    )  # fmt: skip


def _codex(world: _World) -> _Try:
    provider = f'name="stub",base_url="{world.url}/v1",wire_api="responses",env_key="STUB_KEY"'
    hook = {"hooks": [{"type": "command", "command": f"touch '{world.hook}'"}]}
    world.write(".codex/hooks.json", {"hooks": {"UserPromptSubmit": [hook]}})
    world.write(
        ".codex/config.toml",
        'model = "stub-model"\nmodel_provider = "stub"\n'
        'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f"model_providers.stub = {{{provider}}}\n"
        f"[mcp_servers.probe]\ncommand = {json.dumps(world.serve[0])}\nargs = {json.dumps(world.serve[1:])}\n",
    )
    return _Try(
        tool="exec_command",
        argument="cmd",
        words=("exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", _QUESTION),
        variables={"STUB_KEY": "none"},
        caged_words=(
            "-c", 'model="stub-model"', "-c", 'model_provider="stub"', "-c", f"model_providers.stub={{{provider}}}",
        ),
    )  # fmt: skip


def _gemini(world: _World) -> _Try:
    hook = {"hooks": [{"name": "probe", "type": "command", "command": f"touch '{world.hook}'"}]}
    world.write(
        ".gemini/settings.json",
        {
            "hooks": {"BeforeAgent": [hook]},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
            "mcpServers": {"probe": {"command": world.serve[0], "args": world.serve[1:], "trust": True}},
        },
    )
    return _Try(
        tool="run_shell_command",
        argument="command",
        words=("-p", _QUESTION, "-m", "gemini-2.5-pro", "--approval-mode", "yolo"),
        variables={
            "GOOGLE_GEMINI_BASE_URL": world.url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        caged_words=("-m", "gemini-2.5-pro"),
    )  # fmt: skip


def _copilot(world: _World) -> _Try:
    hook = {"type": "command", "bash": f"touch '{world.hook}'"}
    world.write(".copilot/hooks/probe.json", {"version": 1, "hooks": {"userPromptSubmitted": [hook]}})
    server = {"type": "local", "command": world.serve[0], "args": world.serve[1:], "tools": ["*"]}
    world.write(".copilot/mcp-config.json", {"mcpServers": {"probe": server}})
    return _Try(
        tool="bash",
        argument="command",
        words=("-p", _QUESTION, "-s", "--allow-all", "--allow-all-mcp-server-instructions"),
        variables={
            "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{world.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "stub-model", "COPILOT_AUTO_UPDATE": "false",
        },
    )  # fmt: skip


def _opencode(world: _World) -> _Try:
    plugin = 'import { writeFileSync } from "node:fs"\n'
    plugin += 'export const Probe = async () => ({ "chat.message": async () => {'
    plugin += f' writeFileSync({json.dumps(str(world.hook))}, "") }} }})\n'
    world.write(".config/opencode/plugins/probe.js", plugin)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stub",
        "options": {"baseURL": f"{world.url}/v1", "apiKey": "none"},
        "models": {"stub-model": {"name": "stub"}},
    }
    world.write(
        ".config/opencode/opencode.json",
        {
            "model": "stub/stub-model",
            "small_model": "stub/stub-model",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"stub": provider},
            "mcp": {"probe": {"type": "local", "command": world.serve, "enabled": True}},
        },
    )
    return _Try(
        tool="bash",
        argument="command",
        words=("run", _QUESTION, "--title", "t"),
        variables={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    )


_SETUPS = {"claude-code": _claude, "codex": _codex, "gemini": _gemini, "copilot": _copilot, "opencode": _opencode}
