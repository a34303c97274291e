"""Which files of each agent get what: the one table of their settings (INTEGRATIONS 2 and 3). Pure paths and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memfs.connect import texts
from memfs.connect.command import hook_command
from memfs.connect.files import read_plain
from memfs.connect.json_text import MARK, load
from memfs.connect.ours import theirs
from memfs.connect.targets import JsonTarget, OwnTarget, Target, TomlTarget
from memfs.connect.toml_text import parse_toml
from memfs.errors import UsageError
from memfs.model.values import dataclass

MOMENTS = ("start", "prompt", "tool")
"""What hooks can be chosen: session start, prompt, tool call. There is nothing to do at a turn's end yet."""

EVENTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "claude-code": {"start": ("SessionStart",), "prompt": ("UserPromptSubmit",), "tool": ("PreToolUse",)},
    "codex": {"start": ("SessionStart",), "prompt": ("UserPromptSubmit",), "tool": ("PreToolUse",)},
    # Gemini takes context after a tool, not before it.
    "gemini": {"start": ("SessionStart",), "prompt": ("BeforeAgent",), "tool": ("AfterTool",)},
    # Copilot stops a tool whose preToolUse hook fails; and it starts no session after a compaction.
    "copilot": {"start": ("sessionStart", "preCompact"), "prompt": ("userPromptSubmitted",), "tool": ("postToolUse",)},
    "cursor": {"start": ("sessionStart", "preCompact"), "prompt": ("beforeSubmitPrompt",), "tool": ("postToolUse",)},
}
_TOOLS: Mapping[str, str] = {
    "claude-code": "Read|Edit|MultiEdit|Write|NotebookEdit|Bash",
    "gemini": "read_file|read_many_files|write_file|replace|run_shell_command",
}
MILLISECONDS = frozenset({"gemini"})
"""Agents that read a hook's timeout in milliseconds; the others read seconds."""

MOVED_BY: Mapping[str, str] = {
    "claude-code": "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "gemini": "GEMINI_CLI_HOME",
    "copilot": "COPILOT_HOME",
}
"""Variables that make an agent read another settings folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be installed, and where."""

    agent: str
    project: Path | None  # the project's root, or None for the user's own settings
    home: Path
    script: str  # the program to name: an absolute path, or a name for every PATH
    moments: tuple[str, ...] = MOMENTS
    mcp: bool = False
    write: bool = False
    config_dir: Path | None = None  # the agent's own folder where it is not the usual one

    def folder(self, usual: str) -> Path:
        """Return the agent's settings folder of the user."""
        return self.config_dir or self.home / usual


def targets_of(wish: Wish) -> list[Target]:
    """Return the files that ``wish`` concerns, hooks first.

    They are the same whatever is wished, so that what is not wished any more is taken out.
    """
    return _TARGETS[wish.agent](wish)


def can_hook(agent: str) -> bool:
    """Return whether the agent has a way in for recalled text."""
    return agent != "windsurf"


def mcp_arguments(wish: Wish) -> list[str]:
    """Return the arguments of the MCP server."""
    return ["mcp", "--allow", "write"] if wish.write else ["mcp"]


def _claude_code(wish: Wish) -> list[Target]:
    server = {"type": "stdio", "command": wish.script, "args": mcp_arguments(wish)}
    if wish.project:
        # The local file: the command names a path of this machine, and settings.json is checked in.
        return [
            _json(wish, wish.project / ".claude" / "settings.local.json", hooks=_nested(wish)),
            _json(wish, wish.project / ".mcp.json", server=server),
        ]
    servers = wish.config_dir / ".claude.json" if wish.config_dir else wish.home / ".claude.json"
    return [
        _json(wish, wish.folder(".claude") / "settings.json", hooks=_nested(wish)),
        _json(wish, servers, server=server),
    ]


def _codex(wish: Wish) -> list[Target]:
    folder = wish.project / ".codex" if wish.project else wish.folder(".codex")
    config = folder / "config.toml"
    # Codex warns where one folder has hooks in both files: ours join those that are there.
    in_toml = _has_toml_hooks(config)
    server = {"command": wish.script, "args": mcp_arguments(wish)} if wish.mcp else None
    return [
        _json(wish, folder / "hooks.json", hooks=() if in_toml else _nested(wish)),
        TomlTarget(path=config, hooks=_nested(wish) if in_toml else (), server=server),
    ]


def _gemini(wish: Wish) -> list[Target]:
    folder = wish.project / ".gemini" if wish.project else wish.folder(".gemini")
    server = {"command": wish.script, "args": mcp_arguments(wish)}
    return [_json(wish, folder / "settings.json", hooks=_nested(wish), server=server)]


def _copilot(wish: Wish) -> list[Target]:
    hooks = wish.project / ".github" / "hooks" if wish.project else wish.folder(".copilot") / "hooks"
    servers = wish.project / ".github" / "mcp.json" if wish.project else wish.folder(".copilot") / "mcp-config.json"
    server: dict[str, Any] | None = {
        "type": "local",
        "command": wish.script,
        "args": mcp_arguments(wish),
        "tools": ["*"],
    }
    if wish.project and _names_server(wish.project / ".mcp.json"):
        server = None  # Copilot reads Claude Code's project servers too
    handler = {"type": "command", "bash": hook_command(wish.script, wish.agent), "timeoutSec": texts.HOOK_SECONDS}
    return [
        _json(wish, hooks / "memfs.json", hooks=_flat(wish, handler), defaults=(("version", 1),)),
        _json(wish, servers, server=server),
    ]


def _opencode(wish: Wish) -> list[Target]:
    folder = wish.project / ".opencode" if wish.project else wish.folder(".config/opencode")
    settings = wish.project if wish.project else folder
    plugin = texts.opencode_plugin(wish.script, wish.moments) if wish.moments else None
    server = {"type": "local", "command": [wish.script, *mcp_arguments(wish)], "enabled": True}
    commented = settings / "opencode.jsonc"
    config = commented if commented.exists() else settings / "opencode.json"
    return [
        OwnTarget(path=folder / "plugins" / "memfs.js", content=plugin, mark=texts.MARK),
        _json(wish, config, server=server, servers="mcp"),
    ]


def _cursor(wish: Wish) -> list[Target]:
    folder = wish.project / ".cursor" if wish.project else wish.folder(".cursor")
    handler = {"command": hook_command(wish.script, wish.agent), "timeout": texts.HOOK_SECONDS}
    targets: list[Target] = [
        _json(wish, folder / "hooks.json", hooks=_flat(wish, handler), defaults=(("version", 1),)),
        _json(wish, folder / "mcp.json", server={"command": wish.script, "args": mcp_arguments(wish)}),
    ]
    if wish.project:
        # The rule says when to call the server's tools: without the server it would ask for nothing.
        rule = texts.cursor_rule() if wish.mcp else None
        targets.append(OwnTarget(path=folder / "rules" / "memfs.mdc", content=rule, mark=texts.MARK))
    return targets


def _windsurf(wish: Wish) -> list[Target]:
    server = {"command": wish.script, "args": mcp_arguments(wish)}
    if wish.project:
        rule = texts.windsurf_rule() if wish.mcp else None
        return [OwnTarget(path=wish.project / ".windsurf" / "rules" / "memfs.md", content=rule, mark=texts.MARK)]
    return [_json(wish, wish.folder(".codeium/windsurf") / "mcp_config.json", server=server)]


_TARGETS: Mapping[str, Callable[[Wish], list[Target]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "copilot": _copilot,
    "opencode": _opencode,
    "cursor": _cursor,
    "windsurf": _windsurf,
}

_Entries = tuple[tuple[str, Mapping[str, Any]], ...]


def _json(
    wish: Wish,
    path: Path,
    *,
    hooks: _Entries = (),
    server: Mapping[str, Any] | None = None,
    servers: str = "mcpServers",
    defaults: tuple[tuple[str, Any], ...] = (),
) -> JsonTarget:
    server = dict(server) if server and wish.mcp else None
    return JsonTarget(
        path=path, hooks=hooks, server=server, servers=servers, defaults=defaults if hooks or server else ()
    )


def _nested(wish: Wish) -> _Entries:
    """Return the entries of agents that group hooks under a matcher."""
    in_milliseconds = wish.agent in MILLISECONDS
    handler: dict[str, Any] = {"name": texts.NAME} if wish.agent == "gemini" else {}
    handler |= {
        "type": "command",
        "command": hook_command(wish.script, wish.agent),
        "timeout": texts.HOOK_SECONDS * (1000 if in_milliseconds else 1),
    }
    entries: list[tuple[str, Mapping[str, Any]]] = []
    for moment in wish.moments:
        matcher = {"matcher": _TOOLS[wish.agent]} if moment == "tool" and wish.agent in _TOOLS else {}
        entries += [(event, {**matcher, "hooks": [handler]}) for event in EVENTS[wish.agent][moment]]
    return tuple(entries)


def _flat(wish: Wish, handler: Mapping[str, Any]) -> _Entries:
    return tuple((event, handler) for moment in wish.moments for event in EVENTS[wish.agent][moment])


def _names_server(path: Path) -> bool:
    try:
        servers = load(read_plain(path).decode("utf-8")).get("mcpServers", {})
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(servers, dict) and texts.NAME in servers


def _has_toml_hooks(config: Path) -> bool:
    """Return whether the owner keeps hooks of their own in Codex's TOML file."""
    try:
        document = parse_toml(read_plain(config).decode("utf-8").removeprefix(MARK))
    except (OSError, UnicodeDecodeError):
        return False
    except ValueError as error:
        raise UsageError(f"it is not TOML ({error}); nothing was written", where=str(config)) from None
    events = theirs(document, "mcp_servers").get("hooks")
    return any(isinstance(entries, list) for entries in (events or {}).values())
