"""What is wrong with an installation: every finding with the one thing to do about it.

A hook in the user's own settings is run as its agent would run it, and its answer is read as its agent would read
it. Only this very memfs is run, as a list of arguments and never through a shell: the settings of a project
belong to whoever wrote the project, so that its hooks are named and not run (DESIGN 4).
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from memfs.connect.agents import Agent, find_context
from memfs.connect.command import find_script_problem, is_hook_command, split_hook
from memfs.connect.files import read_plain, read_record, read_snapshot
from memfs.connect.install import find_plugin, holds_hook
from memfs.connect.json_text import MARK, load
from memfs.connect.ours import NAME, command_in, is_our_server, iter_handlers
from memfs.connect.targets import JsonTarget, TomlTarget
from memfs.connect.toml_text import parse_toml
from memfs.connect.wish import Wish, can_hook, targets_of
from memfs.disk.installed import install_command
from memfs.disk.places import Places
from memfs.disk.worktree import printable
from memfs.errors import MemfsError
from memfs.git.process import ask, find_program, run
from memfs.model.codepoints import escape_hidden
from memfs.model.values import dataclass, replace

SLOW_SECONDS = 1.0
LONGEST_TIMEOUT_SECONDS = 60
_PATIENCE = 15.0
_CODEX_ASKED = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"clientInfo": {"name": "memfs", "title": "memfs", "version": "1"}},
    },
    {"jsonrpc": "2.0", "method": "initialized"},
)
_SERVER_ASKED = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "memfs-doctor", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


class Level(StrEnum):
    GOOD = "good"
    UNWISE = "unwise"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. ``fix`` is the one thing to do, for all that is not good."""

    level: Level
    about: str
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One hook of memfs as a settings file has it."""

    path: Path
    event: str
    command: str
    timeout: float | None
    connected: bool = False  # `memfs connect` wrote this very command on this machine


def check_agent(
    wish: Wish, places: Places, *, here: Path, environ: Mapping[str, str], prompt: str, scripts: Collection[str]
) -> list[Finding]:
    """Return what there is to say about memfs in one agent, seen from the project ``here``.

    ``prompt`` is a question to which memfs should have an answer; "" where it has none. ``scripts`` are
    the programs that are this memfs (see :func:`memfs.connect.command.own_scripts`): no other is run.
    """
    own = find_hooks(replace(wish, project=None), places)
    counted = {hook.path for hook in own}
    in_project = [
        hook for hook in find_hooks(replace(wish, project=here, config_dir=None), places) if hook.path not in counted
    ]
    hooks = [*own, *in_project]
    trial = _Trial(wish=wish, places=places, here=here, environ=environ, prompt=prompt)
    plugin = find_plugin(wish.agent, wish.home, wish.config_dir)
    findings: list[Finding] = [*_check_place(wish, environ)]
    if not hooks and plugin is None:
        if can_hook(wish.agent):
            findings.append(_unwise(wish, "no hooks of memfs are installed", f"memfs connect {wish.agent}"))
        return [*findings, *_try_server(trial, scripts)]
    if plugin is not None:
        findings.append(_good(wish, f"memfs is installed as a plugin ({plugin})"))
    findings += _check_double(wish, places, here, hooks, plugin)
    for hook in hooks:
        findings += _check_hook(wish, hook)
    findings += _name_hooks_of_project(wish, in_project)
    for command in dict.fromkeys(hook.command for hook in own):
        findings += _check_script(wish, command)
        findings.append(_try_hook(trial, command, scripts))
    if wish.agent == "codex" and own:
        findings += _check_codex_trust(wish, environ)
    return [*findings, *_try_server(trial, scripts)]


def find_hooks(wish: Wish, places: Places) -> list[Installed]:
    """Return the hooks of memfs in the settings files of this scope."""
    found: list[Installed] = []
    for target in targets_of(wish):
        try:
            snapshot = read_snapshot(target.path)
        except MemfsError:
            continue
        if snapshot.content is None:
            continue
        text = snapshot.content.decode("utf-8", "replace")
        record = read_record(places, snapshot)
        known = record.commands if record else ()
        if target.path.suffix in (".js", ".ts"):
            found += [
                Installed(path=target.path, event="plugin", command=c, timeout=None, connected=c in known)
                for c in _plugin_commands(text)
            ]
            continue
        for event, _, _, handler in iter_handlers(_load(target.path, text)):
            command = command_in(handler) or ""
            if is_hook_command(command, known):
                timeout = handler.get("timeout", handler.get("timeoutSec"))
                seconds = float(timeout) if isinstance(timeout, int | float) else None
                found.append(
                    Installed(
                        path=target.path, event=event, command=command, timeout=seconds, connected=command in known
                    )
                )
    return found


def sample_call(row: Agent, prompt: str, cwd: str) -> dict[str, Any]:
    """Return what the agent would write to a hook's standard input at a prompt."""
    call = {"cwd": cwd, "workspace_roots": [cwd], "prompt": prompt, **(row.sample or {})}
    if row.prompt_event:
        call |= {"session_id": "memfs-doctor", "hook_event_name": row.prompt_event}
    return call


def _load(path: Path, text: str) -> Any:
    """Return the values of a settings file, None where it cannot be read."""
    try:
        return parse_toml(text.removeprefix(MARK)) if path.suffix == ".toml" else load(text)
    except ValueError:
        return None


def _plugin_commands(text: str) -> list[str]:
    for line in text.splitlines():
        if line.startswith("const MEMFS = "):
            try:
                script = json.loads(line.removeprefix("const MEMFS = "))
            except ValueError:
                return []
            return [f"{shlex.quote(script)} hook opencode || true"]
    return []


def _check_place(wish: Wish, environ: Mapping[str, str]) -> Iterator[Finding]:
    variable = wish.row.moved_by
    if variable and environ.get(variable) and wish.config_dir is None:
        message = f"{variable} is set, so the agent may read another folder than the one looked at"
        yield _unwise(wish, message, f"memfs doctor {wish.agent} --config-dir DIR")
    for name in ("settings.json", "hooks.json"):
        settings = replace(wish, project=None).folder / name
        try:
            document = load(read_plain(settings).decode("utf-8"))
        except (OSError, ValueError):
            continue
        off = isinstance(document, dict) and (
            document.get("disableAllHooks") is True or (document.get("hooksConfig") or {}).get("enabled") is False
        )
        if off:
            yield _wrong(wish, f"all hooks are switched off in {settings}", "switch them on there")


def _check_double(
    wish: Wish, places: Places, here: Path, hooks: list[Installed], plugin: Path | None
) -> Iterator[Finding]:
    counted = {hook.path for hook in hooks}
    for hook in hooks:
        same = [other for other in hooks if (other.path, other.event) == (hook.path, hook.event)]
        if len(same) > 1 and same[0] is hook:
            yield _wrong(
                wish, f"{hook.event} runs memfs {len(same)} times ({hook.path})", f"memfs connect {wish.agent}"
            )
    if len({path.parent for path in counted}) > 1:
        places_ = " and ".join(str(path) for path in sorted(counted))
        yield _wrong(wish, f"memfs runs twice: {places_}", f"memfs disconnect {wish.agent} --project")
    if plugin is not None and hooks:
        message = "memfs runs twice: as a plugin and from the settings"
        yield _wrong(wish, message, f"memfs disconnect {wish.agent}")
    if wish.row.reads_hooks_of and hooks:
        for target in targets_of(replace(wish, agent=wish.row.reads_hooks_of, project=here, config_dir=None)):
            if holds_hook(target, places):
                message = f"{wish.row.title} runs the hooks of {target.path} too; memfs keeps quiet there"
                yield _good(wish, message)


def _check_hook(wish: Wish, hook: Installed) -> Iterator[Finding]:
    again = f"memfs connect {wish.agent}"
    if hook.timeout is not None:
        seconds = hook.timeout / 1000 if wish.row.milliseconds else hook.timeout
        if seconds > LONGEST_TIMEOUT_SECONDS:
            yield _wrong(wish, f"{hook.event} may take {seconds:g} seconds: the timeout is in the wrong unit", again)
        elif seconds < 1:
            yield _wrong(wish, f"{hook.event} is ended after {seconds:g} seconds: the timeout is too short", again)
    elif not wish.row.plugin:
        yield _unwise(wish, f"{hook.event} has no timeout, so the agent's own holds", again)


def _check_script(wish: Wish, command: str) -> Iterator[Finding]:
    script = script_in(command)
    if script is None or not script.is_absolute():
        return
    again = f"memfs connect {wish.agent}"
    if not os.access(script, os.X_OK):
        yield _wrong(wish, f"the hooks name {script}, which is not there", again)
    elif problem := find_script_problem(script):
        yield _unwise(wish, f"the hooks name {script}: {problem}", f"{again}, from memfs's own environment")


def script_in(command: str) -> Path | None:
    """Return the program that a hook's command names, or None where it cannot be told."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    words = [word for word in words if "=" not in word]  # PYTHONPATH= stands before the program
    return Path(words[0]) if words else None


def _name_hooks_of_project(wish: Wish, hooks: list[Installed]) -> Iterator[Finding]:
    for path in dict.fromkeys(hook.path for hook in hooks):
        message = f"a file of the project runs memfs ({printable(path)}); doctor runs no command of a project"
        if all(hook.connected for hook in hooks if hook.path == path):
            yield _good(wish, f"{message}; memfs connect wrote it here")
        else:
            yield _unwise(wish, message, f"read that file before you let {wish.agent} use it")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """What every try of a hook needs."""

    wish: Wish
    places: Places
    here: Path
    environ: Mapping[str, str]
    prompt: str


def _try_hook(trial: _Trial, command: str, scripts: Collection[str]) -> Finding:
    """Run the hook that ``command`` names, if its program is one of ``scripts``, and judge its answer."""
    wish = trial.wish
    again = f"memfs connect {wish.agent}"
    named = split_hook(command)
    if named is None:
        shown = escape_hidden(command[:120], single_line=True)
        return _unwise(wish, f"this hook is not one that memfs writes, so it was not tried: {shown}", again)
    script, agent = named
    program = script if os.path.isabs(script) else find_program(script, trial.environ.get("PATH"))
    if program is None or os.path.realpath(program) not in scripts:
        shown = escape_hidden(script[:120], single_line=True)
        return _unwise(wish, f"the hooks name {shown}, not the memfs that runs now; it was not tried", again)
    call = json.dumps(sample_call(wish.row, trial.prompt or "memfs doctor", str(trial.here))).encode()
    # What changes the interpreter would bring the project's own modules in.
    environ = {name: value for name, value in trial.environ.items() if not name.startswith("PYTHON")}
    log = trial.places.state / "hooks.log"
    logged = log.stat().st_size if log.exists() else 0
    began = time.monotonic()
    try:
        argv = [os.path.abspath(program), "hook", agent]
        done = run(argv, cwd=trial.here, input=call, env=environ, timeout=_PATIENCE, check=False)
    except MemfsError as error:
        return _wrong(wish, f"the hook cannot be run: {error}", again)
    seconds = time.monotonic() - began
    if done.returncode != 0:
        return _wrong(wish, f"the hook ended with code {done.returncode}", again)
    if done.stderr.strip():
        said = escape_hidden(done.stderr.decode("utf-8", "replace").strip().splitlines()[-1], single_line=True)
        return _wrong(wish, f"the hook did not run: {said}", again)
    if log.exists() and log.stat().st_size > logged:
        line = log.read_text("ascii", "replace").splitlines()[-1]
        return _wrong(wish, f"the hook gave up: {line}", "memfs index, and try again")
    return _judge_answer(trial, done.stdout, seconds)


def _try_server(trial: _Trial, scripts: Collection[str]) -> Iterator[Finding]:
    """Start the MCP server of the user's settings, if its program is one of ``scripts``, and call a tool."""
    wish = trial.wish
    for path, argv in _find_servers(replace(wish, project=None), trial.places):
        again = f"memfs connect {wish.agent} --mcp"
        program = argv[0] if os.path.isabs(argv[0]) else find_program(argv[0], trial.environ.get("PATH"))
        if program is None or os.path.realpath(program) not in scripts:
            shown = escape_hidden(argv[0][:120], single_line=True)
            yield _unwise(
                wish, f"the server of {path} is {shown}, not the memfs that runs now; it was not tried", again
            )
            continue
        arguments = [word.replace("${workspaceFolder}", str(trial.here)) for word in argv[1:]]
        environ = {name: value for name, value in trial.environ.items() if not name.startswith("PYTHON")}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list", "arguments": {}}}
        try:
            said = ask(
                [os.path.abspath(program), *arguments],
                "".join(json.dumps(message) + "\n" for message in (*_SERVER_ASKED, call)).encode(),
                answered=lambda said: any(_answer_to_2(line) is not None for line in said.split(b"\n")[:-1]),
                cwd=trial.here,
                env=environ,
                timeout=_PATIENCE,
            )
        except MemfsError as error:
            yield _wrong(wish, f"the MCP server cannot be started: {error}", again)
            continue
        answer = next((found for line in said.splitlines() if (found := _answer_to_2(line)) is not None), None)
        if answer is None:
            yield _wrong(wish, "the MCP server does not start", install_command("mcp"))
        elif (answer.get("result") or {}).get("isError"):
            yield _unwise(wish, "the MCP server found no memories from here", "memfs init, or go to a repository")
        else:
            yield _good(wish, "the MCP server starts and answers")


def _find_servers(wish: Wish, places: Places) -> Iterator[tuple[Path, list[str]]]:
    """Yield the file and the words of each of memfs's MCP servers in this scope."""
    for target in targets_of(wish):
        if not isinstance(target, JsonTarget | TomlTarget):
            continue
        try:
            snapshot = read_snapshot(target.path)
        except MemfsError:
            continue
        record = read_record(places, snapshot)
        document = _load(target.path, (snapshot.content or b"").decode("utf-8", "replace"))
        servers = document.get(target.servers) if isinstance(document, dict) else None
        entry = servers.get(NAME) if isinstance(servers, dict) else None
        if not isinstance(entry, dict) or not is_our_server(entry, record.commands if record else ()):
            continue
        command = entry.get("command")
        words = [*command, *entry.get("args", [])] if isinstance(command, list) else [command, *entry.get("args", [])]
        yield target.path, [str(word) for word in words]


def _judge_answer(trial: _Trial, said: bytes, seconds: float) -> Finding:
    wish = trial.wish
    took = f"in {seconds * 1000:.0f} ms"
    if said.strip() and find_context(wish.row, said) is None:
        return _wrong(wish, "the hook's answer is not in the shape that the agent reads", "upgrade memfs")
    if trial.prompt and not said.strip():
        message = f"the hook answered {took}, but found nothing for a memory's own words"
        return _unwise(wish, message, "memfs index")
    if seconds > SLOW_SECONDS:
        return _unwise(wish, f"the hook took {seconds:.1f} s", "memfs index")
    about = "memories for a memory's own words" if said.strip() else "nothing, as there is nothing to say"
    return _good(wish, f"the hook answered {took}: {about}")


def _check_codex_trust(wish: Wish, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Ask Codex which of the user's hooks it trusts: others are skipped without a word.

    It is started in the home folder and asked about that alone, so that it reads no setting of a project.
    """
    if find_program("codex", environ.get("PATH")) is None:
        message = "codex is not on the PATH, so whether it trusts the hooks is not known"
        yield _unwise(wish, message, "start codex, type /hooks and trust memfs")
        return
    asked = [*_CODEX_ASKED, {"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": {"cwds": [str(wish.home)]}}]
    lines = "".join(json.dumps(message) + "\n" for message in asked).encode()
    try:
        said = ask(
            ["codex", "app-server"],
            lines,
            answered=lambda said: any(answer is not None for answer in map(_answer_to_2, said.split(b"\n")[:-1])),
            cwd=wish.home,
            env=environ,
            timeout=_PATIENCE,
        )
    except MemfsError as error:
        yield _unwise(wish, f"codex did not say: {error}", "type /hooks in codex")
        return
    states = [state for command, state in _iter_codex_hooks(said) if is_hook_command(command)]
    untrusted = [state for state in states if state not in ("trusted", "managed")]
    if untrusted:
        message = f"{len(untrusted)} of {len(states)} hooks are not trusted, so Codex skips them without a word"
        yield _wrong(wish, message, "start codex, type /hooks and trust memfs")
    elif states:
        yield _good(wish, f"Codex trusts all {len(states)} hooks")


def _answer_to_2(line: bytes) -> dict[str, Any] | None:
    """Return the answer to the second question, or None where ``line`` is another message."""
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and answer.get("id") == 2 else None


def _iter_codex_hooks(raw: bytes) -> Iterator[tuple[str, str]]:
    for line in raw.splitlines():
        answer = _answer_to_2(line) or {}
        for folder in (answer.get("result") or {}).get("data", []):
            for hook in folder.get("hooks", []):
                yield str(hook.get("command")), str(hook.get("trustStatus"))


def _good(wish: Wish, message: str) -> Finding:
    return Finding(level=Level.GOOD, about=wish.agent, message=message)


def _unwise(wish: Wish, message: str, fix: str) -> Finding:
    return Finding(level=Level.UNWISE, about=wish.agent, message=message, fix=fix)


def _wrong(wish: Wish, message: str, fix: str) -> Finding:
    return Finding(level=Level.WRONG, about=wish.agent, message=message, fix=fix)
