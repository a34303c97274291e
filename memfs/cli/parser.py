"""From arguments to a verb and its options; only the called command's module is imported."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from memfs.cli import COMMANDS, command_module
from memfs.errors import UsageError


def parse_command(argv: list[str]) -> tuple[str, argparse.Namespace]:
    """Return the verb and its parsed options.

    Raises :class:`UsageError` for an unknown verb; argparse ends the process with 2 for the rest.
    """
    outer = _outer_parser()
    known, rest = outer.parse_known_args(argv)
    if known.verb is None:
        outer.print_help()
        raise SystemExit(0 if not argv or known.help else 2)
    verb = known.verb
    if verb not in COMMANDS:
        near = get_close_matches(verb, COMMANDS, n=1)
        hint = f"did you mean `memfs {near[0]}`?" if near else "`memfs --help` lists the commands"
        raise UsageError(f"there is no command {verb!r}", hint=hint)
    parser = command_parser(verb)
    args = parser.parse_args([*(["--help"] if known.help else []), *rest, *known.rest])
    args.directory = known.directory
    return verb, args


def command_parser(verb: str) -> argparse.ArgumentParser:
    """Return the parser of one command, for running it, documenting it and completing it."""
    module = command_module(verb)
    parser = argparse.ArgumentParser(
        prog=f"memfs {verb}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    return parser


def _outer_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    table = "\n".join(f"  {verb:<{width}}  {text}" for verb, text in COMMANDS.items())
    outer = argparse.ArgumentParser(
        prog="memfs",
        usage="memfs [-C DIR] VERB [options]",
        description="A git-backed memory repository for coding agents and the teams that use them.",
        epilog=f"commands:\n{table}\n\n`memfs VERB --help` explains one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    outer.add_argument("-C", dest="directory", metavar="DIR", help="run as if started in DIR")
    outer.add_argument("-h", "--help", action="store_true", help="show this help")
    outer.add_argument("--version", action="store_true", help="print the version")
    outer.add_argument("verb", nargs="?", metavar="VERB")
    outer.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return outer


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command under it, for shell completion and documentation."""
    whole = argparse.ArgumentParser(prog="memfs")
    whole.add_argument("-C", dest="directory", metavar="DIR", help="run as if started in DIR")
    commands = whole.add_subparsers(dest="verb", metavar="VERB")
    for verb, text in COMMANDS.items():
        command_module(verb).configure(commands.add_parser(verb, help=text))
    return whole
