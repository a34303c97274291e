"""The index: words and vectors of one work tree's memories, in the user's cache. Anything here may be deleted.

``opening`` is what a recall needs, ``refresh`` brings the index up to date, ``build`` and ``writer`` make it;
``text`` and ``vectors`` search it; ``embedding`` and ``models`` run the model; ``tokenizer`` and ``languages``
cut texts into terms.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.index.opening import Opened, open_index
    from memfs.index.refresh import IndexStatus, Progress, RefreshReport, bring_up_to_date, index_status
    from memfs.index.semantic import find_model

__getattr__, __all__ = open_door(
    __name__,
    {
        "opening": ("Opened", "open_index"),
        "refresh": ("IndexStatus", "Progress", "RefreshReport", "bring_up_to_date", "index_status"),
        "semantic": ("find_model",),
    },
)
