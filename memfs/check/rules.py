"""The rules of ``memfs check``, read from ``data/rules.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

from memfs import REPOSITORY
from memfs.check.results import Level, Result
from memfs.model.reader import id_of_path
from memfs.model.slugs import is_id
from memfs.model.values import dataclass

RULES_VERSION = 5
"""Changes with what a file alone is told: results kept under another number are found again."""

_ID = re.compile(r"\bID\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: a stable name, how much it matters, what is wrong, and what to do about it.

    ``many`` is the sentence for several results that say the same (:func:`group_results`); without one each is
    told by itself. ``by_approval``: an approval settles it. ``fixed``: settings can raise its level, and no more.
    """

    name: str
    level: Level
    sentence: str
    fix: str | None = None
    group: str = ""
    many: str = ""
    by_approval: bool = False
    fixed: bool = False


GROUPS: dict[str, str] = {}
"""Groups by name, with the title of each; filled with :data:`RULES`."""

HELP = f"{REPOSITORY}/blob/main/docs/reference/checks.md"
"""The page that says what each rule is about; a rule's own place in it is ``#NAME``."""


def _read() -> Iterator[Rule]:
    text = files("memfs.check").joinpath("data", "rules.txt").read_text(encoding="utf-8")
    group = ""
    for line in text.split("\n"):
        if line.startswith("["):
            group, _, title = line[1:].partition("] ")
            GROUPS[group] = title
        elif line and not line.startswith("#"):
            name, level, flags, sentence, fix, *many = line.split("\t")
            yield Rule(
                name=name,
                level=Level(level),
                sentence=sentence,
                fix=fix,
                group=group,
                many=many[0] if many else "",
                by_approval="approval" in flags.split(","),
                fixed="fixed" in flags.split(","),
            )


RULES: dict[str, Rule] = {rule.name: rule for rule in _read()}
"""Every rule by its name, from ``data/rules.txt``."""

FORM_RULES: dict[str, str] = {
    "not-utf8": "unreadable-file",
    "nul": "unreadable-file",
    "too-large": "unreadable-file",
    "lone-carriage-return": "unreadable-file",
    "lfs-pointer": "lfs-pointer",
    "conflict-markers": "conflict-markers",
    "missing-field": "missing-field",
    "bad-type": "bad-value",
    "bad-value": "bad-value",
    "scope-folder": "scope-folder",
    "bad-id": "bad-id",
    "no-statement": "no-statement",
    "unknown-key": "unknown-key",
    "tag-key": "unknown-key",
    "byte-order-mark": "not-normal-form",
}
"""The model's problems by the rule that reports them; the others are ``bad-front-matter``."""

SKIP_RULES: dict[str, str] = {
    "nested-repository": "nested-repository",
    "bad-name": "bad-id",
    "too-deep": "misplaced-file",
    "unmerged": "unmerged",
}
"""The scan's reasons by the rule that reports them; the others are ``not-a-file``."""


def fix_of(rule: str, ids: Sequence[str]) -> str | None:
    """Return what to do about a rule, with the memories that it is about in place of ``ID``: a command to paste."""
    fix = RULES[rule].fix
    return _ID.sub(" ".join(ids), fix) if fix and ids and all(map(is_id, ids)) else fix


def make_result(
    rule: str,
    message: str = "",
    *,
    path: str = "",
    line: int | None = None,
    column: int | None = None,
    fix: str | None = None,
    level: Level | None = None,
    fixable: bool = False,
    ids: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
) -> Result:
    """Return a result of ``rule``: its own sentence, level and fix where nothing better is given."""
    known = RULES[rule]
    return Result(
        rule=rule,
        level=level or known.level,
        message=message or known.sentence,
        path=path,
        line=line,
        column=column,
        fix=fix or fix_of(rule, ids or (id_of_path(path),)),
        fixable=fixable,
        ids=ids,
        others=others,
    )
