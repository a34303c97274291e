"""Memories in use as texts for agents and tools that do not ask memfs: blocks between markers, documents, JSONL."""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.exporting.behind import find_behind
    from memfs.exporting.blocks import TARGETS, HandEditedError, Target, find_block, with_block
    from memfs.exporting.folders import as_claude_memory, as_pack, write_folder
    from memfs.exporting.forms import TEAM, as_document, as_jsonl, in_use

__getattr__, __all__ = open_door(
    __name__,
    {
        "behind": ("find_behind",),
        "blocks": ("TARGETS", "HandEditedError", "Target", "find_block", "with_block"),
        "folders": ("as_claude_memory", "as_pack", "write_folder"),
        "forms": ("TEAM", "as_document", "as_jsonl", "in_use"),
    },
)
