"""Answer one hook call of a coding agent.

AGENT is claude-code, codex, gemini, copilot, opencode, cursor or windsurf, or `auto` for a hook
that several agents share. The call is read from standard input; the answer, in the agent's own
shape, goes to standard output; nothing is printed when there is nothing to say. The exit code is
always 0, and after two seconds the hook gives up with one line in ~/.local/state/memfs/hooks.log.

Agents call this; `memfs connect` installs it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memfs.cli.session import Session
    from memfs.disk.places import Places


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "agent",
        metavar="AGENT",
        help="the agent that calls: claude-code, codex, gemini, copilot, opencode, cursor or windsurf",
    )


def run(args: argparse.Namespace, session: Session) -> int:
    return run_fast(["hook", args.agent], session.places)


def run_fast(argv: Sequence[str], places: Places | None) -> int:
    """Run ``memfs hook AGENT`` without the command line's parser: an agent waits for each millisecond."""
    from memfs.hooks.agents import find_agent

    agent = find_agent(argv[1]) if len(argv) == 2 else None
    if agent is None:
        # Not 2, the usual answer to a wrong call: agents take that as "block what the user asked".
        print("memfs: hook needs one agent; `memfs hook --help` lists them", file=sys.stderr)
        return 0
    from memfs.disk.places import find_places
    from memfs.hooks.run import run_hook

    return run_hook(agent, places or find_places())
