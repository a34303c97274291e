"""Memories in use as texts for agents and tools that do not ask memfs: blocks between markers, documents, JSONL."""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.exporting.blocks import TARGETS, HandEditedError, Target, find_block, with_block
    from memfs.exporting.forms import as_document, as_jsonl, in_use

__getattr__, __all__ = open_door(
    __name__,
    {
        "blocks": ("TARGETS", "HandEditedError", "Target", "find_block", "with_block"),
        "forms": ("as_document", "as_jsonl", "in_use"),
    },
)
