"""The table of commands: what each is for, other names for it, and its module."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

GROUPS: dict[str, dict[str, str]] = {
    "Write": {
        "init": "make a memory repository, or add one to a code repository",
        "remember": "record a memory",
        "edit": "change a memory",
        "supersede": "replace memories by a new one",
        "rename": "give a memory another id",
        "forget": "delete a memory",
        "drafts": "list and submit drafts that were held back",
        "capture": "turn a session or a history into drafts",
        "import": "bring in notes, rules for agents, decision records and exports",
    },
    "Find": {
        "recall": "find memories",
        "list": "list memories",
        "show": "show one memory with its state and trust",
        "blame": "list the memories that rest on a file or apply to it",
        "history": "show how a memory came to be what it is",
        "browse": "look at the memories in a local web page",
    },
    "Approve": {
        "trust": "approve memories with your SSH key",
        "untrust": "withdraw an approval",
        "keys": "show or change who may approve",
        "pin": "show or set the root that you trust",
    },
    "Review": {
        "check": "check every memory, or a change",
        "review": "say what a change means, and approve it",
        "propose": "open a pull request with a memory",
        "promote": "propose a memory of your own store to the team",
        "export": "write memories in use into files that agents read",
        "sync": "bring a store together with its remote",
        "publish": "give this repository's memories to an organisation's index",
    },
    "Care": {
        "status": "say what needs attention in this repository",
        "due": "list memories that must be looked at again",
        "verify": "say that a memory is still true",
        "stale": "list memories that were never used",
        "feedback": "say whether a recalled memory helped",
        "eval": "measure recall against this repository's questions",
        "index": "bring the search index up to date",
        "model": "list, prepare and add embedding models",
        "admission": "try the admission rules on any text",
    },
    "Agents": {
        "connect": "install memfs into a coding agent",
        "disconnect": "remove memfs from a coding agent",
        "off": "turn memfs off in this project, for you and your agents",
        "doctor": "find out what is wrong with an installation",
        "hook": "answer one hook call of a coding agent",
        "mcp": "serve memories over the Model Context Protocol",
    },
    "Learn": {
        "demo": "tell the whole story in a temporary folder",
        "completion": "print shell completion",
    },
}
ALIASES = {
    "add": "remember", "new": "remember", "note": "remember", "save": "remember",
    "find": "recall", "query": "recall", "search": "recall",
    "cat": "show", "get": "show", "view": "show",
    "ls": "list", "log": "history", "why": "blame", "serve": "mcp",
    "mv": "rename", "move": "rename", "delete": "forget", "remove": "forget", "rm": "forget",
    "approve": "trust", "revoke": "untrust", "withdraw": "untrust",
    "draft": "drafts", "pull": "sync", "push": "sync", "disable": "off", "key": "keys", "replace": "supersede",
}  # fmt: skip
"""Names that people try first, and the verb that each is."""

NEVER_SUGGESTED = frozenset({"forget", "untrust", "disconnect"})
"""Verbs that take something away: a slip of the fingers is never answered with one."""

COMMANDS: dict[str, str] = {verb: text for group in GROUPS.values() for verb, text in group.items()}
"""Every verb and its one line of help, in the order of the help page."""


def command_module(verb: str) -> ModuleType:
    """Return the module that carries out ``verb``."""
    return import_module(f"memfs.cli.{verb}_command")
