"""The real coding agents, headless, against :class:`model.Model`: each in a home and a project of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    """How one run of an agent ended."""

    code: int
    out: str


class Client:
    """One agent. ``settings`` writes what its owner has before memfs comes; nothing of the caller is read."""

    agent = ""
    folder = ""  # below MEMFS_TEST_CLIENTS
    program = ""
    recall_tool = r"recall$"
    shell: tuple[str, str] = ("", "")  # the tool that runs commands, and the name of its argument
    own_edits: tuple[tuple[str, ...], ...] = ()  # commands with which the agent edits its settings itself
    offers_tools = True  # its model sees the tools of MCP servers by name
    resume: tuple[str, ...] = ()  # what makes it go on with its last session; put before the other arguments
    servers = "mcpServers"  # the name of their MCP servers there
    own_file = ""  # the settings file that they end up in

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project

    @classmethod
    def find(cls) -> Path | None:
        """Return the installed program, or None."""
        clients = os.environ.get("MEMFS_TEST_CLIENTS")
        if clients:
            found = Path(clients) / cls.folder / "node_modules" / ".bin" / cls.program
            return found if found.exists() else None
        on_path = shutil.which(cls.program)
        return Path(on_path) if on_path else None

    def settings(self, url: str) -> None:
        """Write the owner's settings: how to reach the model, and something of their own to keep."""
        raise NotImplementedError

    def arguments(self, prompt: str) -> list[str]:
        raise NotImplementedError

    def variables(self, url: str) -> dict[str, str]:
        return {}

    def run(self, url: str, prompt: str) -> Ran:
        """Run the agent with ``prompt`` to its end."""
        return self.run_with(url, *self.arguments(prompt))

    def go_on(self, url: str, prompt: str) -> Ran:
        """Run the agent with ``prompt`` in its last session, to its end."""
        return self.run_with(url, *self.arguments(prompt), *self.resume)

    def run_with(self, url: str, *arguments: str) -> Ran:
        """Run the agent's program with these arguments."""
        program = self.find()
        assert program is not None
        done = subprocess.run(
            [program, *arguments],
            cwd=self.project,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "dumb", **self.variables(url)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=240,
        )
        return Ran(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))

    def write(self, path: str, value: Any) -> None:
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(value if isinstance(value, str) else json.dumps(value, indent=4) + "\n")


class ClaudeCode(Client):
    agent, folder, program = "claude-code", "claude", "claude"
    shell = ("^Bash$", "command")
    own_edits = (("mcp", "add", "-s", "user", "mydb", "--", "true"),)
    own_file = ".claude.json"
    resume = ("--continue",)

    def settings(self, url: str) -> None:
        mine = {"type": "command", "command": "true", "timeout": 5}
        self.write(
            ".claude/settings.json", {"hooks": {"UserPromptSubmit": [{"hooks": [mine]}]}, "unknownKey": {"a": [1]}}
        )

    def arguments(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--allowedTools", "Bash,mcp__memfs"]

    def variables(self, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "MCP_CONNECTION_NONBLOCKING": "false",  # a busy machine starts a server slowly
            "MCP_CONNECT_TIMEOUT_MS": "60000",
            "MCP_TIMEOUT": "60000",
        }


class Codex(Client):
    agent, folder, program = "codex", "codex", "codex"
    shell = ("^exec_command$", "cmd")
    own_edits = (("features", "enable", "goals"), ("mcp", "add", "mydb", "--", "true"))
    own_file = ".codex/config.toml"
    servers = "mcp_servers"

    def settings(self, url: str) -> None:
        # A model that Codex does not know gets its tools up front and not behind a search for them.
        lines = [
            'model = "stub-model"  # keep this comment',
            'model_provider = "stub"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
            "mcp_optional_startup_grace_ms = 60000  # a busy machine starts a server slowly",
            "",
            "[model_providers.stub]",
            'name = "stub"',
            f'base_url = "{url}/v1"',
            'wire_api = "responses"',
            'env_key = "STUB_KEY"',
        ]
        self.write(".codex/config.toml", "\n".join(lines) + "\n")

    def arguments(self, prompt: str) -> list[str]:
        return ["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", prompt]

    def go_on(self, url: str, prompt: str) -> Ran:
        options = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
        return self.run_with(url, "exec", *options, "resume", "--last", prompt)

    def variables(self, url: str) -> dict[str, str]:
        return {"STUB_KEY": "test"}


class Gemini(Client):
    agent, folder, program = "gemini", "gemini", "gemini"
    shell = ("^run_shell_command$", "command")
    own_edits = (("mcp", "add", "-s", "user", "mydb", "true"),)
    own_file = ".gemini/settings.json"
    resume = ("--resume", "latest")

    def settings(self, url: str) -> None:
        self.write(
            ".gemini/settings.json",
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"enableAutoUpdate": False},
            },
        )

    def arguments(self, prompt: str) -> list[str]:
        return ["-p", prompt, "-m", "gemini-2.5-pro", "--approval-mode", "yolo"]

    def variables(self, url: str) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "test", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


class Copilot(Client):
    agent, folder, program = "copilot", "copilot", "copilot"
    shell = ("^bash$", "command")
    own_edits = (("mcp", "add", "mydb", "--", "true"),)
    own_file = ".copilot/mcp-config.json"
    resume = ("--continue",)

    def settings(self, url: str) -> None:
        self.write(".copilot/mcp-config.json", {"mcpServers": {}})

    def arguments(self, prompt: str) -> list[str]:
        return ["-p", prompt, "-s", "--allow-all", "--allow-all-mcp-server-instructions"]

    def variables(self, url: str) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "test",
            "COPILOT_MODEL": "stub-model",
            "COPILOT_AUTO_UPDATE": "false",
        }


class Opencode(Client):
    config = ".config/opencode/opencode.json"
    agent, folder, program = "opencode", "opencode", "opencode"
    shell = ("^bash$", "command")
    own_edits = (("mcp", "add", "mydb", "--", "true"),)
    own_file = ".config/opencode/opencode.json"
    resume = ("--continue",)
    servers = "mcp"

    def settings(self, url: str) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stub",
            "options": {"baseURL": f"{url}/v1", "apiKey": "test"},
            "models": {"stub-model": {"name": "stub"}},
        }
        self.write(
            self.config,
            {
                "model": "stub/stub-model",
                "small_model": "stub/stub-model",
                "autoupdate": False,
                "share": "disabled",
                "provider": {"stub": provider},
            },
        )

    def arguments(self, prompt: str) -> list[str]:
        return ["run", prompt, "--title", "t"]

    def variables(self, url: str) -> dict[str, str]:
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}


class Qwen(Client):
    agent, folder, program = "qwen", "qwen", "qwen"
    offers_tools = False  # they are behind a search for them
    shell = ("^run_shell_command$", "command")
    own_edits = (("mcp", "add", "-s", "user", "mydb", "true"),)
    own_file = ".qwen/settings.json"
    resume = ("--continue",)

    def settings(self, url: str) -> None:
        self.write(
            ".qwen/settings.json",
            {
                "security": {"auth": {"selectedType": "openai"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"enableAutoUpdate": False},
            },
        )

    def arguments(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--approval-mode", "yolo"]

    def variables(self, url: str) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "test",
            "OPENAI_MODEL": "stub-model",
            "QWEN_CODE_TRUST_WORKSPACE": "true",
        }


class Kilo(Opencode):
    agent, folder, program = "kilo", "kilo", "kilo"
    recall_tool = r"memfs.*recall$"
    own_edits = ()
    config = ".config/kilo/kilo.json"

    @classmethod
    def find(cls) -> Path | None:
        """Return the installed program: its package has no launcher."""
        clients = os.environ.get("MEMFS_TEST_CLIENTS")
        if not clients:
            return super().find()
        found = Path(clients) / "kilo/node_modules/@kilocode/cli-linux-x64/bin/kilo"
        return found if found.exists() else None

    def variables(self, url: str) -> dict[str, str]:
        return {"KILO_DISABLE_MODELS_FETCH": "1", "KILO_DISABLE_AUTOUPDATE": "1", **super().variables(url)}


class Pi(Client):
    agent, folder, program = "pi", "pi", "pi"
    shell = ("^bash$", "command")
    offers_tools = False  # pi has no MCP

    def settings(self, url: str) -> None:
        model = {"id": "stub-model", "contextWindow": 100000, "maxTokens": 1000}
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "test", "models": [model]}
        self.write(".pi/agent/models.json", {"providers": {"stub": provider}})

    def arguments(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--provider", "stub", "--model", "stub-model"]

    def variables(self, url: str) -> dict[str, str]:
        return {"PI_OFFLINE": "1"}


CLIENTS: tuple[type[Client], ...] = (ClaudeCode, Codex, Gemini, Copilot, Opencode, Qwen, Kilo, Pi)
