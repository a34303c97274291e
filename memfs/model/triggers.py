"""When a memory must be looked at again: the text of a review trigger and its value (DESIGN 3). Pure.

::

    trigger = "on " DATE / "when " PATH " changes" / "when " NAME " >= " VERSION
            / "when " ID " is superseded" / "if " free text
"""

from __future__ import annotations

import re

from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import find_hidden
from memfs.model.evidence import parse_date, require_path
from memfs.model.memory import IfText, OnDate, Trigger, WhenPathChanges, WhenSuperseded, WhenVersion
from memfs.model.slugs import ID

_VERSION = r"when ([A-Za-z0-9@][A-Za-z0-9@._/+-]*) >= (v?[0-9][0-9A-Za-z.+!~_-]*)"
_PATH = r"when (.+) changes"
_SUPERSEDED = rf"when ({ID}) is superseded"
_IF = r"if (\S(?:.*\S)?)"


def parse_trigger(text: str) -> Trigger:
    """Return the trigger that ``text`` names; raise :class:`InvalidMemoryError` on any other text."""
    if found := re.fullmatch(r"on ([0-9-]+)", text):
        return OnDate(on=parse_date(found[1]))
    if found := re.fullmatch(_VERSION, text):
        return WhenVersion(name=found[1], version=found[2])
    if found := re.fullmatch(_SUPERSEDED, text):
        return WhenSuperseded(id=found[1])
    if found := re.fullmatch(_PATH, text):
        return WhenPathChanges(path=require_path(found[1]))
    if (found := re.fullmatch(_IF, text)) and not find_hidden(text):
        return IfText(text=found[1])
    raise InvalidMemoryError(
        "must be “on DATE”, “when PATH changes”, “when NAME >= VERSION”, “when ID is superseded” or “if …”",
    )


def format_trigger(trigger: Trigger) -> str:
    """Return the text that :func:`parse_trigger` reads as ``trigger``."""
    match trigger:
        case OnDate(on=on):
            return f"on {on.isoformat()}"
        case WhenPathChanges(path=path):
            return f"when {path} changes"
        case WhenVersion(name=name, version=version):
            return f"when {name} >= {version}"
        case WhenSuperseded(id=memory_id):
            return f"when {memory_id} is superseded"
        case IfText(text=text):
            return f"if {text}"
