"""What a prompt or a tool call is asked to recall for. Pure.

Text that memfs or the agent itself put into a prompt is taken out first: searching it again would
find what was found before, and nothing that the person asked.
"""

from __future__ import annotations

LONGEST_QUERY = 4_000
"""Characters of a prompt that are searched: its two ends, where it is longer."""


def parse_prompt(prompt: str) -> str:
    """Return the words of ``prompt`` that a person may have meant, at most :data:`LONGEST_QUERY`."""
    text = prompt
    if "emory bundle " in prompt or "| " in prompt or ">" in prompt:
        from memfs.render.injected import without_injected  # few prompts have a mark of what was put in

        text = without_injected(prompt)
    text = text.strip()
    if text.startswith("/"):
        # A command of the agent; a path such as /srv/app has a second slash.
        command, _, rest = text.partition(" ")
        text = text if "/" in command[1:] else rest.strip()
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
