"""Every rule over a repository or a change of it, and the forms in which its results are written.

``check_repository`` runs the rules; ``RULES`` is the table of them. Forms are in ``forms`` and ``sarif``.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.check.across import find_successors
    from memfs.check.cache import REJECTED
    from memfs.check.forms import format_github, format_gitlab, format_junit, format_rdjson, format_text, report_payload
    from memfs.check.policy import BASELINE, format_baseline
    from memfs.check.results import Level, Report, Result
    from memfs.check.rules import RULES, Rule
    from memfs.check.run import Check, check_repository, fix_format, with_fixes
    from memfs.check.sarif import format_sarif
    from memfs.check.single import Known, look_for_ground
    from memfs.check.states import Target
    from memfs.check.words import counted, who_sees

__getattr__, __all__ = open_door(
    __name__,
    {
        "across": ("find_successors",),
        "cache": ("REJECTED",),
        "forms": (
            "format_github",
            "format_gitlab",
            "format_junit",
            "format_rdjson",
            "format_text",
            "report_payload",
        ),
        "policy": (
            "BASELINE",
            "format_baseline",
        ),
        "results": (
            "Level",
            "Report",
            "Result",
        ),
        "rules": (
            "RULES",
            "Rule",
        ),
        "run": (
            "Check",
            "check_repository",
            "fix_format",
            "with_fixes",
        ),
        "sarif": ("format_sarif",),
        "single": (
            "Known",
            "look_for_ground",
        ),
        "states": ("Target",),
        "words": (
            "counted",
            "who_sees",
        ),
    },
)
