"""Answer one hook call of a coding agent.

AGENT is one of the agents of `memfs connect`, or `auto` for a hook that several agents share. The call is
read from standard input; the answer, in the agent's own shape, goes to standard output; nothing is printed
when there is nothing to say. The exit code is always 0, and after two seconds the hook gives up with one
line in ~/.local/state/memfs/hooks.log.

Agents call this; `memfs connect` installs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.connect.agents import AGENTS
from memfs.hooks.run import run_fast

if TYPE_CHECKING:
    import argparse

    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help=f"the agent that calls: {', '.join(AGENTS)}")


def run(args: argparse.Namespace, session: Session) -> int:
    return run_fast(["hook", args.agent], session.places)
