"""Which files of an agent get what: the agent's row and the user's wish, made into targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memfs.connect import texts
from memfs.connect.agents import ARGS, HOOK, MOMENTS, SCRIPT, Agent, load_agent
from memfs.connect.command import hook_command
from memfs.connect.files import read_plain
from memfs.connect.json_text import MARK, load
from memfs.connect.ours import theirs
from memfs.connect.targets import JsonTarget, OwnTarget, Target, TomlTarget
from memfs.connect.toml_text import parse_toml
from memfs.errors import UsageError
from memfs.model.values import dataclass

SHARED_SKILLS = ".agents/skills"
"""The folder of skills that most agents read, below the home and below a project."""

_Entries = tuple[tuple[str, Mapping[str, Any]], ...]


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
    skill: bool = False
    config_dir: Path | None = None  # the agent's own folder where it is not the usual one

    @property
    def row(self) -> Agent:
        return load_agent(self.agent)

    @property
    def folder(self) -> Path:
        """The agent's settings folder of this scope."""
        if self.project:
            return self.project / self.row.project_folder
        return self.config_dir or self.home / self.row.folder

    def place(self, path: str) -> Path:
        """Return where a row's path is; ``~/`` leaves the settings folder for the project or the home."""
        if not path.startswith("~/"):
            return self.folder / path
        return (self.project or self.config_dir or self.home) / path.removeprefix("~/")


def targets_of(wish: Wish) -> list[Target]:
    """Return the files that ``wish`` concerns, hooks first.

    They are the same whatever is wished, so that what is not wished any more is taken out.
    """
    row = wish.row
    servers = _server_file(wish)
    toml = wish.place(row.hooks_toml)
    in_toml = bool(row.hooks_toml) and _has_toml_hooks(toml)
    hooks_file = row.project_hooks if wish.project else row.hooks
    made: dict[Path, Target] = {}
    if hooks_file:
        path = wish.place(hooks_file)
        made[path] = _settings(wish, path, hooks=() if in_toml else _hooks(wish), with_server=path == servers)
    if row.plugin:
        made[wish.folder / row.plugin[0]] = _plugin(wish)
    for other in [*([servers] if servers else []), *_more_servers(wish)]:
        if other not in made:
            hooks = _hooks(wish) if in_toml and other == toml else ()
            made[other] = _settings(wish, other, hooks=hooks, with_server=True)
    if row.rule and wish.project:
        # The rule says when to call the server's tools: without the server it would ask for nothing.
        rule = texts.rule_text(row.rule_front) if wish.mcp else None
        made[wish.folder / row.rule] = OwnTarget(path=wish.folder / row.rule, content=rule, mark=texts.MARK)
    return [*made.values(), skill_target(wish)]


def skill_target(wish: Wish) -> OwnTarget:
    """Return the skill file of the agent in this scope."""
    row = wish.row
    folder = (row.project_skills if wish.project else row.skills) or SHARED_SKILLS
    path = (wish.project or wish.home) / folder / texts.NAME / "SKILL.md"
    return OwnTarget(path=path, content=texts.skill_text() if wish.skill else None, mark=texts.MARK)


def can_hook(agent: str) -> bool:
    """Return whether the agent has a way in for recalled text."""
    row = load_agent(agent)
    return bool(row.install or row.plugin)


def can_serve(agent: str) -> bool:
    """Return whether the agent takes MCP servers."""
    return load_agent(agent).server is not None


def mcp_arguments(*, write: bool) -> list[str]:
    """Return the arguments of the MCP server."""
    return ["mcp", "--allow", "write"] if write else ["mcp"]


def server_entry(server: Mapping[str, Any], script: str, *, write: bool) -> dict[str, Any]:
    """Return a row's entry of the MCP server with the program and its arguments in it."""
    arguments = mcp_arguments(write=write)
    return {key: _filled(value, script, arguments) for key, value in server.items()}


def _filled(value: Any, script: str, arguments: list[str]) -> Any:
    if value == SCRIPT:
        return script
    if value == ARGS:
        return arguments
    if isinstance(value, list):
        return [
            word for item in value for word in (arguments if item == ARGS else [script if item == SCRIPT else item])
        ]
    return value


def _settings(wish: Wish, path: Path, *, hooks: _Entries, with_server: bool) -> Target:
    row = wish.row
    server = None
    if with_server and wish.mcp and row.server and not _served_elsewhere(wish):
        server = server_entry(row.server, wish.script, write=wish.write)
    if path.suffix == ".toml":
        return TomlTarget(path=path, hooks=hooks, server=server)
    defaults = tuple((row.defaults or {}).items()) if hooks else ()
    return JsonTarget(path=path, hooks=hooks, server=server, servers=row.servers_key, defaults=defaults)


def _hooks(wish: Wish) -> _Entries:
    row = wish.row
    command = hook_command(wish.script, wish.agent)
    handler = {key: command if value == HOOK else value for key, value in (row.handler or {}).items()}
    entries: list[tuple[str, Mapping[str, Any]]] = []
    for moment in wish.moments:
        matcher = {"matcher": row.matcher} if moment == "tool" and row.matcher else {}
        entry = {**matcher, "hooks": [handler]} if row.nested else handler
        entries += [(event, entry) for event in (row.install or {}).get(moment, ())]
    return tuple(entries)


def _plugin(wish: Wish) -> OwnTarget:
    assert wish.row.plugin is not None
    path, template = wish.row.plugin
    content = texts.plugin_text(template, wish.script, wish.moments) if wish.moments else None
    return OwnTarget(path=wish.folder / path, content=content, mark=texts.MARK)


def _server_file(wish: Wish) -> Path | None:
    places = [wish.place(path) for path in (wish.row.project_servers if wish.project else wish.row.servers)]
    return next((place for place in places if place.exists()), places[-1] if places else None)


def _more_servers(wish: Wish) -> list[Path]:
    return [] if wish.project or wish.config_dir else [wish.place(path) for path in wish.row.more_servers]


def _served_elsewhere(wish: Wish) -> bool:
    """Return whether the agent reads memfs's server from another agent's project file."""
    if not wish.project or not wish.row.reads_servers_of:
        return False
    try:
        servers = load(read_plain(wish.project / wish.row.reads_servers_of).decode("utf-8")).get("mcpServers", {})
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(servers, dict) and texts.NAME in servers


def _has_toml_hooks(config: Path) -> bool:
    """Return whether the owner keeps hooks of their own in the agent's TOML file."""
    try:
        document = parse_toml(read_plain(config).decode("utf-8").removeprefix(MARK))
    except (OSError, UnicodeDecodeError):
        return False
    except ValueError as error:
        raise UsageError(f"it is not TOML ({error}); nothing was written", where=str(config)) from None
    events = theirs(document, "mcp_servers").get("hooks")
    return isinstance(events, dict) and any(isinstance(entries, list) for entries in events.values())
