"""Write ``commands.md`` from the parsers of the commands; ``--check`` fails when it is out of date."""

import os
import sys
from pathlib import Path

from memfs.cli.parser import command_parser
from memfs.cli.table import COMMANDS

PAGE = Path(__file__).with_name("commands.md")


def page() -> str:
    """Return the whole page."""
    os.environ["COLUMNS"] = "100"
    parts = [
        "# Commands",
        "",
        "Written by `python docs/reference/write_commands.py` from the commands themselves.",
        "",
        "Every command takes `-C DIR` before its name. The answer goes to stdout, everything else to",
        "stderr; `--json` prints one ASCII document whose `schema` names a file in `schemas/`.",
        "[Exit codes](exit-codes.md) say what kind of answer it was.",
        "",
    ]
    for verb in COMMANDS:
        help_text = "\n".join(line.rstrip() for line in command_parser(verb).format_help().splitlines())
        parts += [f"## memfs {verb}", "", "```text", help_text, "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/reference/commands.md is out of date: run python docs/reference/write_commands.py")
    else:
        PAGE.write_text(text, encoding="utf-8")
