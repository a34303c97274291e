"""Text that memfs or an agent put into a conversation itself, found and taken out again. Pure."""

from __future__ import annotations

import re

_TAGS = ("hook_context", "system-reminder", "session_context", "task-notification", "environment_context")


def without_injected(text: str) -> str:
    """Return ``text`` without bundles of memories and the blocks that agents add to what a person typed."""
    # Compiling the patterns takes longer than searching an index, and few texts need one.
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
