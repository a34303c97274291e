"""Memories on a branch of their own: proposed with a pull request, or two versions joined into one.

``plan`` says what would be committed, ``prepare`` commits it beside the user's work, ``push`` and ``open_request`` take
it to the forge. ``put_back`` takes the checked-out branch back to its upstream, ``sync`` brings both together.
``find_sides``, ``merge_sides`` and ``write_merged`` join two versions of one memory.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.propose.merge import BODY, OURS, Conflict, find_sides, merge_sides, write_merged
    from memfs.propose.propose import Opened, Plan, Prepared, Wanted, open_request, plan, prepare, push
    from memfs.propose.remote import find_main_branch, show_remote
    from memfs.propose.upstream import Synced, Upstream, can_be_put_back, find_upstream, is_shared, put_back, sync

__getattr__, __all__ = open_door(
    __name__,
    {
        "merge": (
            "BODY",
            "OURS",
            "Conflict",
            "find_sides",
            "merge_sides",
            "write_merged",
        ),
        "propose": (
            "Opened",
            "Plan",
            "Prepared",
            "Wanted",
            "open_request",
            "plan",
            "prepare",
            "push",
        ),
        "remote": (
            "find_main_branch",
            "show_remote",
        ),
        "upstream": (
            "Synced",
            "Upstream",
            "can_be_put_back",
            "find_upstream",
            "is_shared",
            "put_back",
            "sync",
        ),
    },
)
