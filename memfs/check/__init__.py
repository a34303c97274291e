"""Every rule over a repository or a change of it, and the forms in which its results are written.

``check_repository`` runs the rules; ``RULES`` is the table of them. Forms are in ``forms`` and ``sarif``.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.check.across import find_successors
    from memfs.check.cache import REJECTED
    from memfs.check.forms import format_github, format_junit, format_text, report_payload
    from memfs.check.results import Level, Report, Result
    from memfs.check.rules import FORM_RULES, GROUPS, RULES, SKIP_RULES, Rule
    from memfs.check.run import Check, check_repository, fix_format, with_fixes
    from memfs.check.sarif import format_sarif
    from memfs.check.single import Known, look_at
    from memfs.check.states import Target, find_changes

__getattr__, __all__ = open_door(
    __name__,
    {
        "across": ("find_successors",),
        "cache": ("REJECTED",),
        "forms": ("format_github", "format_junit", "format_text", "report_payload"),
        "results": ("Level", "Report", "Result"),
        "rules": ("FORM_RULES", "GROUPS", "RULES", "SKIP_RULES", "Rule"),
        "run": ("Check", "check_repository", "fix_format", "with_fixes"),
        "sarif": ("format_sarif",),
        "single": ("Known", "look_at"),
        "states": ("Target", "find_changes"),
    },
)
