"""Install memfs into a coding agent: hooks that recall, a skill, and with --mcp the server for its tools.

AGENT is claude-code, codex, gemini, copilot, opencode, cursor, devin (windsurf), qwen, kilo, pi, droid, vscode
or kiro. memfs edits the agent's own settings: it keeps everything else in them, comments too, remembers what
was there, and writes nothing where it cannot prove that: then it prints what to paste. Connecting again
changes nothing, or makes it what the options say now; `memfs disconnect` takes all of it out.

  memfs connect claude-code                 hooks for you, in every project
  memfs connect codex --mcp                 hooks and the read-only server
  memfs connect cursor --project --mcp      for this project alone
  memfs connect --skill                     for any other agent: the skill, and the server's settings to paste
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfs.cli.modelling import make_ready
from memfs.cli.options import add_json
from memfs.connect.agents import AGENTS, AUTO, MOMENTS, find_agent, load_agent
from memfs.connect.command import find_script, find_script_problem, is_script
from memfs.connect.generic import install_skills, snippet
from memfs.connect.install import connect, plan
from memfs.connect.wish import Wish, can_hook, can_serve
from memfs.disk.installed import install_command
from memfs.disk.worktree import find_work_tree
from memfs.errors import SetupError, UsageError

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.connect.install import Change


def configure(parser: argparse.ArgumentParser) -> None:
    add_where(parser, needed=False)
    parser.add_argument(
        "--hooks",
        metavar="LIST",
        help=f"which hooks, separated by commas: {', '.join(MOMENTS)}, or none (default: all of them)",
    )
    parser.add_argument(
        "--skill",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="install the skill that says when to recall and remember (default: yes)",
    )
    parser.add_argument("--mcp", action="store_true", help="install the MCP server too, read-only")
    parser.add_argument("--write", action="store_true", help="let the server record and propose; implies --mcp")
    parser.add_argument(
        "--command",
        metavar="PATH",
        help="the program to name (default: this environment's own memfs; a bare name leaves it to each one's PATH)",
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="say which files, and change nothing")
    add_json(parser)


def add_where(parser: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """Add the agent and the scope, which ``connect``, ``disconnect`` and ``doctor`` mean alike."""
    parser.add_argument("agent", metavar="AGENT", nargs=None if needed else "?", help=", ".join(AGENTS))
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="your own settings of the agent (the default)")
    scope.add_argument("--project", action="store_true", help="this project's settings of the agent")
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="the agent's settings folder, if you moved it")


def run(args: argparse.Namespace, session: Session) -> int:

    if args.agent is None:
        return _connect_any(args, session)
    agent = agent_of(args.agent)
    moments = moments_of(args.hooks) if can_hook(agent) else ()
    mcp = can_serve(agent) and (args.mcp or args.write or not can_hook(agent))
    if not moments and not mcp:
        raise UsageError("nothing is left to install", hint="choose hooks, or add --mcp")
    if mcp:
        _require_server(args.command)
    script = script_of(args.command, session)
    wish = wish_of(
        args, session, agent, script=script, moments=moments, mcp=mcp, write=args.write, skill=args.skill is not False
    )
    changes = (
        plan(wish, session.places) if args.dry_run else connect(wish, session.places, here=find_project(session.cwd))
    )
    if args.json:
        session.emit("connected", {**changes_payload(wish, changes), "dry_run": args.dry_run})
        return 0
    for change in changes:
        if change.what != "unchanged" or change.path.exists():
            session.say(f"{'would be ' if args.dry_run else ''}{change.what} {change.path}")
    if not args.dry_run:
        make_ready(session, None)
    say_next(session, wish)
    return 0


def _require_server(command: str | None) -> None:
    """Raise :class:`SetupError` where the server that the agent would start cannot start."""
    if command is None and find_spec("mcp") is None:
        raise SetupError(
            "the MCP server needs the extra 'mcp', which is not installed; nothing was written",
            hint=f"{install_command('mcp')}, or connect without --mcp",
        )


def _connect_any(args: argparse.Namespace, session: Session) -> int:
    """Install the skill for agents that memfs has no row for, and print what to paste for the server."""
    if not args.skill:
        raise UsageError("which agent?", hint=f"memfs connect AGENT, one of {', '.join(AGENTS)}; or --skill for others")
    script = script_of(args.command, session)
    base = find_project(session.cwd) if args.project else session.agent_home
    changes = install_skills(base, session.places, project=args.project, dry_run=args.dry_run)
    if args.json:
        rows = [{"path": str(change.path), "what": change.what} for change in changes]
        scope = "project" if args.project else "user"
        session.emit("connected", {"agent": "any", "scope": scope, "changes": rows, "dry_run": args.dry_run})
        return 0
    for change in changes:
        session.say(f"{'would be ' if args.dry_run else ''}{change.what} {change.path}")
    if args.mcp or args.write:
        _require_server(args.command)
    session.say(snippet(script, write=args.write))
    return 0


def changes_payload(wish: Wish, changes: Sequence[Change]) -> dict[str, Any]:
    """Return what became of an agent's files as plain values."""
    return {
        "agent": wish.agent,
        "scope": "project" if wish.project else "user",
        "changes": [{"path": str(change.path), "what": change.what} for change in changes],
    }


def agent_of(name: str) -> str:
    """Return the agent that ``name`` means; raises :class:`UsageError` for one that memfs does not know."""
    agent = find_agent(name)
    if agent is None or agent == AUTO:
        raise UsageError(f"memfs knows no agent {name!r}", hint=f"one of {', '.join(AGENTS)}")
    return agent


def moments_of(text: str | None) -> tuple[str, ...]:
    """Return the chosen moments in their order."""
    if text is None:
        return MOMENTS
    chosen = {word.strip() for word in text.split(",") if word.strip()}
    if unknown := chosen - {*MOMENTS, "none"}:
        raise UsageError(f"there is no hook {min(unknown)!r}", where="--hooks", hint=f"{', '.join(MOMENTS)}, or none")
    return tuple(moment for moment in MOMENTS if moment in chosen)


def script_of(command: str | None, session: Session) -> str:
    """Return the program that the agent is to call."""
    if command and "/" not in command:
        return command
    script = Path(command).absolute() if command else find_script(Path(sys.prefix), Path(sys.argv[0]))
    if not is_script(script):
        raise UsageError("this is not a program that can be run", where=str(script))
    if problem := find_script_problem(script):
        session.note(f"warning: {script}: {problem}")
    return str(script)


def wish_of(
    args: argparse.Namespace,
    session: Session,
    agent: str,
    *,
    script: str,
    moments: tuple[str, ...] = (),
    mcp: bool = False,
    write: bool = False,
    skill: bool = False,
) -> Wish:
    """Return what the arguments ask for, in this session's home or project.

    Agents look for their settings in the home folder; one that a variable sends elsewhere is named
    with ``--config-dir``.
    """
    project = find_project(session.cwd) if args.project else None
    moved = load_agent(agent).moved_by
    if moved and session.environ.get(moved) and args.config_dir is None and project is None:
        session.note(f"warning: {moved} is set, so {agent} may read another folder; name it with --config-dir")
    return Wish(
        agent=agent,
        project=project,
        home=session.agent_home,
        script=script,
        moments=moments,
        mcp=mcp,
        write=write,
        skill=skill,
        config_dir=args.config_dir.absolute() if args.config_dir else None,
    )


def find_project(cwd: Path) -> Path:
    """Return the root of the project: the git work tree, or the folder itself where there is none."""

    try:
        return find_work_tree(cwd).root
    except UsageError:
        return cwd.absolute()


def say_next(session: Session, wish: Wish) -> None:
    """Say what the agent's user has to do before memfs is heard."""
    cases = {
        "always": True,
        "hooks": bool(wish.moments),
        "mcp": wish.mcp,
        "project": wish.project is not None,
        "user": wish.project is None,
        "project-hooks": wish.project is not None and bool(wish.moments),
    }
    for case, text in wish.row.notes:
        if cases[case]:
            session.note(text)
    if wish.write:
        session.note(
            "With `agents: {write: proposal}` in .memfs/config.yaml what an agent records goes to a branch of its own."
        )
    if wish.project and "/" in wish.script:
        session.note("These settings name a program of this machine; --command memfs names it for everybody's PATH.")
    session.note(f"`memfs doctor {wish.agent}` tries it out.")
