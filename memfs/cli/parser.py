"""From arguments to a verb and its options; only the called command's module is imported."""

from __future__ import annotations

import argparse
import os
import sys

from memfs.cli import COMMANDS, GROUPS, command_module
from memfs.errors import UsageError


def parse_command(argv: list[str]) -> tuple[str, argparse.Namespace]:
    """Return the verb and its parsed options.

    Raises :class:`UsageError` for an unknown verb or option before it; argparse ends the process with
    2 for the rest.
    """
    directory, rest = None, list(argv)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-h", "--help"):
            rest = ["help"]
        elif option == "-C" and rest:
            directory = rest.pop(0)
        elif option.startswith("-C") and len(option) > 2:
            directory = option[2:]
        elif option == "-C":
            raise UsageError("-C needs a folder", hint="memfs -C DIR VERB [options]")
        else:
            raise UsageError(
                f"there is no option {option!r} before the command", hint="put options after it: memfs VERB [options]"
            )
    if not rest or rest[0] == "help":
        print(help_page())
        raise SystemExit(0)
    verb, *options = rest
    if verb not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(verb, COMMANDS, n=1)
        hint = f"did you mean `memfs {near[0]}`?" if near else "`memfs --help` lists the commands"
        raise UsageError(f"there is no command {verb!r}", hint=hint)
    args = command_parser(verb).parse_args(options)
    args.directory = directory
    return verb, args


def help_page() -> str:
    """Return what ``memfs --help`` prints."""
    width = max(map(len, COMMANDS))
    lines = [
        "usage: memfs [-C DIR] VERB [options]",
        "",
        "A git-backed memory repository for coding agents and the teams that use them.",
    ]
    for title, verbs in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {verb:<{width}}  {COMMANDS[verb]}" for verb in verbs)]
    lines += ["", "-C DIR runs as if started in DIR; `memfs VERB --help` explains a command; `memfs --version`."]
    return "\n".join(lines)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """argparse's own, told how wide the terminal is: it imports shutil and three compressors to find out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=max(40, terminal_width() - 2))


def terminal_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ is not None else 80
    except (OSError, ValueError):
        return 80


def command_parser(verb: str) -> argparse.ArgumentParser:
    """Return the parser of one command, for running it, documenting it and completing it."""
    module = command_module(verb)
    parser = argparse.ArgumentParser(
        prog=f"memfs {verb}",
        description=module.__doc__,
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command under it, for shell completion and documentation."""
    whole = argparse.ArgumentParser(prog="memfs")
    whole.add_argument("-C", dest="directory", metavar="DIR", help="run as if started in DIR")
    commands = whole.add_subparsers(dest="verb", metavar="VERB")
    for verb, text in COMMANDS.items():
        command_module(verb).configure(commands.add_parser(verb, help=text))
    return whole
