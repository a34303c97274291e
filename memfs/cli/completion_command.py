"""Print shell completion.

memfs completion bash > ~/.local/share/bash-completion/completions/memfs
memfs completion zsh  > ~/.zfunc/_memfs
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "tcsh"], help="the shell to complete for")


def run(args: argparse.Namespace, session: Session) -> int:
    import shtab

    from memfs.cli.parser import whole_parser

    session.say(shtab.complete(whole_parser(), shell=args.shell))
    return 0
