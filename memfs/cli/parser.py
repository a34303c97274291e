"""From arguments to a verb and its options; only the called command's module is imported."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Iterable
from typing import NoReturn

from memfs.cli.table import ALIASES, COMMANDS, GROUPS, NEVER_SUGGESTED, command_module
from memfs.errors import UsageError


def parse_command(argv: list[str]) -> tuple[str, argparse.Namespace]:
    """Return the verb and its parsed options. Raises :class:`UsageError` for what is not among them."""
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
    verb = ALIASES.get(verb, verb)
    if verb not in COMMANDS:
        near = _nearest(verb, (*COMMANDS, *ALIASES))
        if near is not None and ALIASES.get(near, near) in NEVER_SUGGESTED:
            near = None
        hint = f"did you mean `memfs {near}`?" if near else "`memfs --help` lists the commands"
        raise UsageError(f"there is no command {verb!r}", hint=hint)
    args = _parse(command_parser(verb), options)
    args.directory = directory
    return verb, args


def _parse(parser: argparse.ArgumentParser, options: list[str]) -> argparse.Namespace:
    """Parse options that may come before, between and after the words, where the command has no commands of its own."""
    if any(action.nargs in (argparse.PARSER, argparse.REMAINDER) for action in parser._actions):
        return parser.parse_args(options)
    return parser.parse_intermixed_args(options)


def _nearest(word: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=0.7)
    return near[0] if near else None


class _Parser(argparse.ArgumentParser):
    """argparse's own, whose errors are one sentence and say what to type."""

    def error(self, message: str) -> NoReturn:
        words = message.removeprefix("unrecognized arguments: ").split()
        hint = f"`{self.prog} --help` lists what it takes"
        if message.startswith("unrecognized arguments: ") and words and words[0].startswith("-"):
            name = words[0].partition("=")[0]
            options = [option for action in self._actions for option in action.option_strings if option[:2] == "--"]
            near = _nearest(name, options)
            message = f"there is no option {name}"
            hint = f"did you mean {near}?" if near else hint
        elif message.startswith("the following arguments are required: "):
            message = f"{message.removeprefix('the following arguments are required: ')} is missing"
            hint = self._usage_line()
        raise UsageError(message, where=self.prog.removeprefix("memfs "), hint=hint)

    def _usage_line(self) -> str:
        """Return the command with what it cannot do without."""
        needed = [
            f"{_name_of(action)} {_value_of(action)}" if action.option_strings else _value_of(action)
            for action in self._actions
            if (not action.option_strings and action.nargs not in ("*", "?")) or action.required
        ]
        return " ".join([self.prog, *needed])

    def _get_value(self, action: argparse.Action, arg_string: str) -> object:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            raise UsageError(f"{arg_string!r} is not a whole number", where=_name_of(action)) from None

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = _nearest(str(value), known)
        hint = f"did you mean {near}?" if near else f"one of {', '.join(known)}"
        raise UsageError(f"invalid choice: {value!r}", where=_name_of(action), hint=hint)

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError:
            if not action.option_strings:
                raise
            name = _name_of(action)
            raise UsageError("expected a value after it", where=name, hint=f"{name} {_value_of(action)}") from None


def _name_of(action: argparse.Action) -> str:
    options = [option for option in action.option_strings if option[:2] == "--"] or action.option_strings
    return options[0] if options else _value_of(action)


def _value_of(action: argparse.Action) -> str:
    return str(action.metavar or action.dest.upper())


_WIDE = 90  # columns from which help is shown as it is written
_TOLD = ("add", "approve", "get", "log", "rm", "search")


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
    lines += [
        "",
        *textwrap.wrap(
            f"Other names: {', '.join(f'{name} ({verb})' for name, verb in ALIASES.items() if name in _TOLD)}.",
            max(40, terminal_width()),
        ),
    ]
    last = "-C DIR runs as if started in DIR; `memfs VERB --help` explains a command; `memfs --version`."
    lines += ["", *textwrap.wrap(last, max(40, terminal_width()))]
    return "\n".join(lines)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """argparse's own, told how wide the terminal is: it imports shutil and three compressors to find out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=max(40, terminal_width() - 2))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Return a description as it is written, or, where the terminal is narrow, with its prose wrapped."""
        if width >= _WIDE or all(len(line) <= width for line in text.splitlines()):
            return super()._fill_text(text, width, indent)
        parts = []
        for part in text.strip().split("\n\n"):
            is_prose = not any(line.startswith(" ") for line in part.splitlines())
            parts.append(textwrap.fill(" ".join(part.split()), width) if is_prose else part)
        return "\n\n".join(indent + part for part in parts)


def terminal_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        # A terminal that nobody gave a size says 0.
        return (os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ is not None else 0) or 80
    except (OSError, ValueError):
        return 80


def command_parser(verb: str) -> argparse.ArgumentParser:
    """Return the parser of one command, for running it, documenting it and completing it."""
    module = command_module(verb)
    parser = _Parser(
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
