"""Whether memories still hold: facts about their evidence and triggers, and what people should look at again.

``Facts`` answers for one snapshot (work tree, index or commit); ``Assessor`` joins state, verdict and gate.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.standing.assess import RECALL_PATIENCE, Assessment, Assessor
    from memfs.standing.background import (
        KeptGate,
        open_recall_index,
        refresh_detached,
        refresh_index,
        run_detached,
        start_preparing,
    )
    from memfs.standing.drift import Drift, Turn, find_drift
    from memfs.standing.facts import Facts, Forgetful, Kept, Subject, Superseding, judge_dates, may_rest_on
    from memfs.standing.manifests import read_manifests
    from memfs.standing.successors import find_superseding

__getattr__, __all__ = open_door(
    __name__,
    {
        "assess": ("RECALL_PATIENCE", "Assessment", "Assessor"),
        "background": (
            "KeptGate",
            "open_recall_index",
            "refresh_detached",
            "refresh_index",
            "run_detached",
            "start_preparing",
        ),
        "drift": ("Drift", "Turn", "find_drift"),
        "facts": ("Facts", "Forgetful", "Kept", "Subject", "Superseding", "judge_dates", "may_rest_on"),
        "manifests": ("read_manifests",),
        "successors": ("find_superseding",),
    },
)
