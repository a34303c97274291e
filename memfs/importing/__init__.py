"""What a team already knows, brought in as memories that nobody has approved: kinds of sources, and the plan.

A source is read and never changed. What it says becomes a draft of imported text, which passes the same gate as any
other; what orders its reader about is named to a person, and never becomes a memory by itself.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.importing.kinds import KINDS
    from memfs.importing.plan import Entry, Outcome, Plan, carry_out, make_plan

__getattr__, __all__ = open_door(
    __name__,
    {"kinds": ("KINDS",), "plan": ("Entry", "Outcome", "Plan", "carry_out", "make_plan")},
)
