"""The gate: what may become a memory, and what of a memory may be shown (ADMISSION 1).

``judge_draft`` before anything is written, ``judge_file`` on a change, ``judge_reading`` on a file that would be
shown; ``judge_text`` and ``judge_fields`` for any other text. The rules are tables in ``data/``.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.admission.catalogue import all_rules, rule_named
    from memfs.admission.gate import (
        GATE_VERSION,
        STRAYS,
        Decision,
        Draft,
        Finding,
        Outcome,
        Severity,
        allowed_by,
        judge_draft,
        judge_fields,
        judge_file,
        judge_reading,
        judge_text,
        settle_reading,
    )
    from memfs.admission.rules import Family, Rule

__getattr__, __all__ = open_door(
    __name__,
    {
        "catalogue": ("all_rules", "rule_named"),
        "gate": tuple(
            "GATE_VERSION STRAYS Decision Draft Finding Outcome Severity allowed_by judge_draft judge_fields "
            "judge_file judge_reading judge_text settle_reading".split()
        ),
        "rules": ("Family", "Rule"),
    },
)
