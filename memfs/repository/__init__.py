"""One memory repository, and the stores beside it: opened, asked, written. What every surface uses.

Reading goes one way: bytes read once, values, then state, approval and gate joined (``standing``), then shown.
Writing goes one way: draft, gate, text, file and commit. ``find`` answers which file has an id, ``may_write``
whether anything can be written here now, ``drafting`` what becomes of a text that is refused.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.repository.draft import DraftText, HeldError, Recorded
    from memfs.repository.drafting import draft_of, keep_refused, keeping, remember_or_keep, replace_held
    from memfs.repository.find import find_files, find_ids, find_paths, require_one, two_files
    from memfs.repository.history import Event, read_history
    from memfs.repository.may_write import require_agents_welcome, require_writable
    from memfs.repository.named import PROJECT, store_of
    from memfs.repository.repository import Repository
    from memfs.repository.shown import render_hits, shown_of
    from memfs.repository.status import Status, read_status
    from memfs.repository.stores import Found, Stores
    from memfs.repository.writing import Writer

__getattr__, __all__ = open_door(
    __name__,
    {
        "draft": ("DraftText", "HeldError", "Recorded"),
        "drafting": ("draft_of", "keep_refused", "keeping", "remember_or_keep", "replace_held"),
        "find": ("find_files", "find_ids", "find_paths", "require_one", "two_files"),
        "history": ("Event", "read_history"),
        "may_write": ("require_agents_welcome", "require_writable"),
        "repository": ("Repository",),
        "shown": ("render_hits", "shown_of"),
        "status": ("Status", "read_status"),
        "named": ("PROJECT", "store_of"),
        "stores": ("Found", "Stores"),
        "writing": ("Writer",),
    },
)
