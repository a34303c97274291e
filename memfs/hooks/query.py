"""What a prompt or a tool call is asked to recall for. Pure.

Text that memfs or the agent itself put into a prompt is taken out first: searching it again would
find what was found before, and nothing that the person asked.
"""

from __future__ import annotations

import re

LONGEST_QUERY = 4_000
"""Characters of a prompt that are searched: its two ends, where it is longer."""

_TAGS = ("hook_context", "system-reminder", "session_context", "task-notification")


def parse_prompt(prompt: str) -> str:
    """Return the words of ``prompt`` that a person may have meant, at most :data:`LONGEST_QUERY`."""
    text = _without_injected(prompt).strip()
    if text.startswith("/"):
        # A command of the agent; a path such as /srv/app has a second slash.
        command, _, rest = text.partition(" ")
        text = text if "/" in command[1:] else rest.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()  # opencode puts the prompt of its command line in quotes
    if len(text) > LONGEST_QUERY:
        text = text[: LONGEST_QUERY // 2] + "\n" + text[-LONGEST_QUERY // 2 :]
    return text


def _without_injected(text: str) -> str:
    # Compiling the patterns takes longer than searching an index, and few prompts need one.
    if "emory bundle " in text:
        bundle = r"^Memory bundle ([0-9a-f]{16})\..*?(?:^End of memory bundle \1\.|\Z)"
        text = re.sub(bundle, " ", text, flags=re.DOTALL | re.MULTILINE)
    if any(f"{tag}>" in text for tag in _TAGS):
        tags = "|".join(_TAGS)
        text = re.sub(rf"<({tags})>.*?(?:</\1>|\Z)", " ", text, flags=re.DOTALL)
        text = re.sub(rf"\A.*</(?:{tags})>", " ", text, flags=re.DOTALL)
    if "| " in text:
        text = re.sub(r"^[0-9a-f]{4}\| .*$", " ", text, flags=re.MULTILINE)
    return text


def relative_path(path: str, root: str) -> str:
    """Return ``path`` relative to the folder ``root``, with ``/``; as it is where it lies elsewhere."""
    prefix = root.rstrip("/") + "/"
    path = path.removeprefix(prefix) if path.startswith("/") else path
    return path.removeprefix("./")
