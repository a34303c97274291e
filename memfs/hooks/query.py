"""What a prompt or a tool call is asked to recall for. Pure.

Text that memfs or the agent itself put into a prompt is taken out first: searching it again would
find what was found before, and nothing that the person asked.
"""

from __future__ import annotations

import re

LONGEST_QUERY = 4_000
"""Characters of a prompt that are searched: its two ends, where it is longer."""

_TAGGED = "hook_context|system-reminder|session_context|task-notification"
_INJECTED = re.compile(rf"<({_TAGGED})>.*?(?:</\1>|\Z)", re.DOTALL)
_INJECTED_TAIL = re.compile(rf"\A.*</(?:{_TAGGED})>", re.DOTALL)
_BUNDLE = re.compile(r"^Memory bundle ([0-9a-f]{16})\..*?(?:^End of memory bundle \1\.|\Z)", re.DOTALL | re.MULTILINE)
_FRAMED_LINE = re.compile(r"^[0-9a-f]{4}\| .*$", re.MULTILINE)
_SLASH_COMMAND = re.compile(r"\A\s*/[A-Za-z][\w:-]*(?=\s|\Z)")


def parse_prompt(prompt: str) -> str:
    """Return the words of ``prompt`` that a person may have meant, at most :data:`LONGEST_QUERY`."""
    text = _BUNDLE.sub(" ", prompt)
    text = _INJECTED_TAIL.sub(" ", _INJECTED.sub(" ", text))
    text = _FRAMED_LINE.sub(" ", text)
    text = _SLASH_COMMAND.sub(" ", text).strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()  # opencode puts the prompt of its command line in quotes
    if len(text) > LONGEST_QUERY:
        text = text[: LONGEST_QUERY // 2] + "\n" + text[-LONGEST_QUERY // 2 :]
    return text


def relative_path(path: str, root: str) -> str:
    """Return ``path`` relative to the folder ``root``, with ``/``; as it is where it lies elsewhere."""
    prefix = root.rstrip("/") + "/"
    path = path.removeprefix(prefix) if path.startswith("/") else path
    return path.removeprefix("./")
