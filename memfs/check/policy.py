"""What a team, and the person at this machine, make of the rules: levels, exceptions, house rules (DESIGN 4).

A repository's settings are read from the base of a change, so that a change cannot excuse itself. What the
person's own settings demand is the least; rules that guard approvals and secrets keep their level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

from memfs.check.results import Level, Result, fingerprint
from memfs.check.rules import RULES, make_result
from memfs.check.single import Known
from memfs.check.words import counted
from memfs.disk.yaml import Node, YamlError
from memfs.git.snapshot import Snapshot
from memfs.model.codepoints import plain
from memfs.model.memory import OnDate
from memfs.model.triggers import parse_trigger
from memfs.model.values import dataclass, field, replace
from memfs.trust.judge import Verdict

BASELINE = ".memfs/baseline.json"
MAX_BASELINE = 20_000

_STRICTNESS = [None, Level.NOTE, Level.WARNING, Level.ERROR]
_EXCEPTION = re.compile(r"([a-z][a-z-]+) \((.{1,300})\)")
_KINDS = ("on", "when", "if")
_FIELDS = ("author", "title", "tags", "applies_to", "expires")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A team's own rules for its memories, as data."""

    people: Mapping[str, int] = field(default_factory=dict)  # scope or pattern → people who must approve
    trigger_days: int | None = None  # the furthest date of a review trigger
    trigger_kinds: tuple[str, ...] = ()  # those that are allowed; empty: all
    required: tuple[str, ...] = ()  # optional fields that a memory must have here


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Levels by rule (None: off), what fails a run, and what must be approved."""

    levels: Mapping[str, Level | None] = field(default_factory=dict)
    fail_on: Level = Level.ERROR
    require_approval: tuple[str, ...] = ()  # scopes or patterns; "*": all
    house: House = House()
    known: frozenset[str] = frozenset()  # fingerprints of the baseline file


def parse_policy(node: Node | None) -> Policy:
    """Return what the map ``check`` of a settings file says.

    Raises :class:`YamlError` with the place of a value that is not one.
    """
    if node is None or node.value == "":
        return Policy()
    top = _map(node, "check", ("rules", "fail_on", "require_approval", "house"))
    levels: dict[str, Level | None] = {}
    for name, value in _map(top["rules"], "rules", RULES).items() if "rules" in top else ():
        levels[name] = _level(value)
    house = (
        _map(top["house"], "house", ("people", "trigger_days", "trigger_kinds", "required")) if "house" in top else {}
    )
    return Policy(
        levels=levels,
        fail_on=_level(top["fail_on"]) or Level.ERROR if "fail_on" in top else Level.ERROR,
        require_approval=_patterns(top.get("require_approval")),
        house=House(
            people={name: _count(value) for name, value in _map(house["people"], "people", None).items()}
            if "people" in house
            else {},
            trigger_days=_count(house["trigger_days"]) if "trigger_days" in house else None,
            trigger_kinds=_words(house.get("trigger_kinds"), _KINDS),
            required=_words(house.get("required"), _FIELDS),
        ),
    )


def find_misuse(node: Node | None) -> list[str]:
    """Return why the map ``check`` of a settings file does not count; nothing where it does."""
    try:
        parse_policy(node)
    except YamlError as error:
        return [f"{error}"]
    return []


def read_policy(node: Node | None, own: Node | None, files: Snapshot) -> tuple[Policy, str | None]:
    """Return the policy of a repository's settings, at least as strict as the person's ``own``, and a complaint."""
    complaint = None
    try:
        theirs = parse_policy(node)
    except YamlError as error:
        theirs, complaint = Policy(), f"the settings `check` are not used: {error}"
    mine = parse_policy(own)
    strict = {name: _stricter(theirs.levels.get(name, RULES[name].level), level) for name, level in mine.levels.items()}
    return (
        replace(
            theirs,
            levels={**theirs.levels, **strict},
            fail_on=min(theirs.fail_on, mine.fail_on, key=_STRICTNESS.index),
            require_approval=tuple(dict.fromkeys((*theirs.require_approval, *mine.require_approval))),
            known=read_baseline(files),
        ),
        complaint,
    )


def demand(policy: Policy, *, fail_on: str | None, require_approval: bool) -> Policy:
    """Return ``policy`` with what the command line asks for on top."""
    level = min(policy.fail_on, Level(fail_on), key=_STRICTNESS.index) if fail_on else policy.fail_on
    return replace(policy, fail_on=level, require_approval=("*",) if require_approval else policy.require_approval)


def find_weaker(old: Policy, new: Policy) -> list[str]:
    """Return in words what ``new`` demands less than ``old``."""
    found = [
        f"{name} {new.levels.get(name, RULES[name].level) or 'off'} (was {was or 'off'})"
        for name in sorted({*old.levels, *new.levels})
        if (was := old.levels.get(name, RULES[name].level)) != (now := new.levels.get(name, RULES[name].level))
        and _stricter(was, now) is was
    ]
    if old.fail_on is not new.fail_on and _stricter(old.fail_on, new.fail_on) is new.fail_on:
        found.append(f"fail_on {new.fail_on} (was {old.fail_on})")
    if "*" not in new.require_approval:
        gone = [scope for scope in old.require_approval if scope not in new.require_approval]
        found += [f"approval no longer required for {'every scope' if scope == '*' else scope}" for scope in gone]
    return [*found, *_find_weaker_house(old.house, new.house)]


def _find_weaker_house(old: House, new: House) -> Iterator[str]:
    for scope, count in old.people.items():
        if new.people.get(scope, 0) < count:
            yield f"{counted(new.people.get(scope, 1), 'person', 'people')} for {scope} (was {count})"
    if old.trigger_days is not None and (new.trigger_days is None or new.trigger_days > old.trigger_days):
        yield f"trigger_days {new.trigger_days or 'unlimited'} (was {old.trigger_days})"
    if old.trigger_kinds and (not new.trigger_kinds or not set(new.trigger_kinds) <= set(old.trigger_kinds)):
        yield f"trigger_kinds {', '.join(new.trigger_kinds) or 'all'} (was {', '.join(old.trigger_kinds)})"
    yield from (f"{name} no longer required" for name in old.required if name not in new.required)


# -- results -----------------------------------------------------------------------------------------


def apply_policy(
    policy: Policy, results: Iterable[Result], *, files: Mapping[str, Known], verdicts: Mapping[str, Verdict]
) -> tuple[list[Result], list[str]]:
    """Return the results at the team's levels, and notices of what was left out and why."""
    kept: list[Result] = []
    excused = known = 0
    for result in results:
        rule = RULES[result.rule]
        level = _level_of(policy, result)
        if level is None:
            continue
        if not rule.fixed and _is_excused(result, files.get(result.path), verdicts.get(result.path)):
            excused += 1
        elif not rule.fixed and policy.known and fingerprint(result) in policy.known:
            known += 1
        else:
            kept.append(result if level is result.level else replace(result, level=level))
    notices = [f"{counted(known, 'result')} of {BASELINE} left out"] if known else []
    notices += [f"{counted(excused, 'result')} left out by approved exceptions"] if excused else []
    return kept, notices


def _level_of(policy: Policy, result: Result) -> Level | None:
    rule = RULES[result.rule]
    level: Level | None = result.level
    if result.rule in policy.levels:
        wanted = policy.levels[result.rule]
        level = _stricter(wanted, level) if rule.fixed else wanted
    if result.rule == "needs-approval" and any(_covers(p, _scope_of(result)) for p in policy.require_approval):
        level = Level.ERROR
    return level


def _scope_of(result: Result) -> str:
    return result.path.removeprefix("memories/").rpartition("/")[0]


def _is_excused(result: Result, file: Known | None, verdict: Verdict | None) -> bool:
    """Return whether the approved file itself says, with a reason, that this rule does not count for it."""
    if file is None or verdict is None or not verdict.trusted:
        return False
    return any((found := _EXCEPTION.fullmatch(item)) and found[1] == result.rule for item in file.allow)


# -- house rules -------------------------------------------------------------------------------------


def check_house_rules(
    policy: Policy, files: Sequence[Known], verdicts: Mapping[str, Verdict], *, today: date
) -> Iterator[Result]:
    """Yield what the team's own rules say about memories."""
    for file in files:
        if file.is_memory and file.trigger:
            yield from _check_trigger(policy.house, file, today)
            for name in policy.house.required:
                if name not in file.fields:
                    message = f"This repository wants the field {name} in every memory."
                    yield make_result("house-field", message, path=file.path, line=1)
            yield from _check_people(policy.house, file, verdicts.get(file.path))


def _check_trigger(house: House, file: Known, today: date) -> Iterator[Result]:
    trigger = parse_trigger(file.trigger)
    kind = file.trigger.split(" ", 1)[0]
    if house.trigger_kinds and kind not in house.trigger_kinds:
        message = f"A review trigger begins with {' or '.join(house.trigger_kinds)} here, not with {plain(kind)}."
        yield make_result("house-trigger", message, path=file.path, line=file.trigger_line)
    if isinstance(trigger, OnDate) and house.trigger_days and trigger.on > today + timedelta(days=house.trigger_days):
        message = (
            f"A review is at most {counted(house.trigger_days, 'day')} away here, not on {trigger.on.isoformat()}."
        )
        yield make_result("house-trigger", message, path=file.path, line=file.trigger_line)


def _check_people(house: House, file: Known, verdict: Verdict | None) -> Iterator[Result]:
    need = max((count for pattern, count in house.people.items() if _covers(pattern, file.scope)), default=0)
    people = verdict.people if verdict is not None and verdict.trusted else ()
    if people and len(people) < need:
        message = (
            f"This repository wants {counted(need, 'person', 'people')} to approve {file.scope}, not {len(people)}."
        )
        yield make_result("house-people", message, path=file.path)


# -- the baseline ------------------------------------------------------------------------------------


def format_baseline(results: Iterable[Result]) -> bytes:
    """Return the baseline file of these results: what is known, by fingerprint."""
    known = sorted({fingerprint(result) for result in results if not RULES[result.rule].fixed})
    return (json.dumps({"version": 1, "known": known[:MAX_BASELINE]}, indent=1) + "\n").encode()


def read_baseline(files: Snapshot) -> frozenset[str]:
    """Return the fingerprints of a state's baseline file; none where it is not one."""
    raw = dict(files.read_many([BASELINE]))[BASELINE]
    try:
        known = json.loads(raw)["known"] if isinstance(raw, bytes) else []
        return frozenset(name for name in known if isinstance(name, str))
    except (ValueError, KeyError, TypeError, RecursionError):
        return frozenset()


# -- values ------------------------------------------------------------------------------------------


def _stricter(one: Level | None, other: Level | None) -> Level | None:
    return max(one, other, key=_STRICTNESS.index)


def _covers(pattern: str, scope: str) -> bool:
    return pattern in ("*", scope) or (pattern.endswith("/*") and scope.startswith(pattern[:-1]))


def _map(node: Node, name: str, known: Iterable[str] | None) -> Mapping[str, Node]:
    if not isinstance(node.value, dict):
        raise YamlError(f"{name} must be a map", line=node.line, column=node.column)
    for key, value in node.value.items():
        if known is not None and key not in known:
            raise YamlError(f"{name} does not know {plain(key, limit=60)}", line=value.line, column=value.column)
    return node.value


def _level(node: Node) -> Level | None:
    if node.value == "off":
        return None
    if not isinstance(node.value, str) or node.value not in tuple(Level):
        raise YamlError("a level is error, warning, note or off", line=node.line, column=node.column)
    return Level(node.value)


def _count(node: Node) -> int:
    if not isinstance(node.value, str) or not re.fullmatch(r"0*[1-9][0-9]{0,5}", node.value):
        raise YamlError("this must be a whole number above 0", line=node.line, column=node.column)
    return int(node.value)


def _words(node: Node | None, known: Sequence[str]) -> tuple[str, ...]:
    if node is None:
        return ()
    items = node.value if isinstance(node.value, list) else []
    words = tuple(item.value for item in items if isinstance(item.value, str))
    if not words or any(word not in known for word in words):
        raise YamlError(f"this must be a list of {', '.join(known)}", line=node.line, column=node.column)
    return words


def _patterns(node: Node | None) -> tuple[str, ...]:
    if node is None or node.value == "false":
        return ()
    if node.value == "true":
        return ("*",)
    items = node.value if isinstance(node.value, list) else []
    words = tuple(item.value for item in items if isinstance(item.value, str))
    if not words:
        raise YamlError("this must be true, false or a list of scopes", line=node.line, column=node.column)
    return words
