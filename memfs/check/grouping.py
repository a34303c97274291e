"""Many results that say the same become one. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from memfs.check.results import Level, Result
from memfs.check.rules import RULES, fix_of
from memfs.check.words import counted, memories, names_of
from memfs.model.values import replace

MIN_GROUP = 4
"""Fewer equal results are told one by one."""

MAX_IDS = 40
"""Most memories that a command to paste names."""


def group_results(results: Iterable[Result]) -> list[Result]:
    """Return ``results``, equal ones of a rule that has a sentence for many put together.

    What is put together has no place of its own: ``ids`` says which memories it is about.
    """
    groups: dict[tuple[str, Level, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.rule, result.level, result.message), []).append(result)
    found: list[Result] = []
    for (rule, _, message), same in groups.items():
        many = RULES[rule].many
        if not many or len(same) < MIN_GROUP:
            found += same
            continue
        ids = tuple(sorted({name for result in same for name in result.ids or (_name(result.path),)}))
        text = many.format(
            memories=memories(len(ids)), files=counted(len(same), "file"), ids=names_of(ids), message=message
        )
        found.append(
            replace(
                same[0],
                message=text,
                path="",
                line=None,
                column=None,
                fix=fix_of(rule, ids if len(ids) <= MAX_IDS else ()),
                ids=ids,
            )
        )
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
