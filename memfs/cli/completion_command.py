"""Print shell completion, which knows the ids of your memories too.

memfs completion bash > ~/.local/share/bash-completion/completions/memfs
memfs completion zsh  > ~/.zfunc/_memfs
memfs completion fish > ~/.config/fish/completions/memfs.fish
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs.errors import MemfsError
from memfs.model.scope import Caller

if TYPE_CHECKING:
    from memfs.cli.session import Session

_WITH_IDS = {
    "edit",
    "feedback",
    "forget",
    "history",
    "promote",
    "propose",
    "rename",
    "show",
    "supersede",
    "trust",
    "untrust",
    "verify",
}


def configure(parser: argparse.ArgumentParser) -> None:
    shells = ["bash", "zsh", "tcsh", "fish"]
    parser.add_argument(
        "shell", choices=[*shells, "ids"], help="the shell to complete for; ids: what it asks at each Tab"
    )


def run(args: argparse.Namespace, session: Session) -> int:
    if args.shell == "ids":
        return _print_ids(session)
    import shtab

    from memfs.cli.parser import whole_parser

    whole = whole_parser()
    verbs = next(action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    for verb in _WITH_IDS:
        for action in verbs.choices[verb]._get_positional_actions():
            if action.dest in ("id", "ids", "old"):
                action.complete = shtab.cmd("memfs completion ids 2>/dev/null")
    session.say(shtab.complete(whole, shell=args.shell))
    return 0


def _print_ids(session: Session) -> int:
    """Write the ids that the user may see. Shells expand what they are given, so nothing but ids leaves here."""
    try:
        repository = session.open_repository()
    except MemfsError:
        return 0
    for memory_id in sorted({*repository.ids(Caller())} - {""}):
        session.say(memory_id)
    return 0
