"""Measuring recall against questions that a repository brings along: ``evals/*.yaml``.

A case asks a question for a caller and names ids that must be found, ids that must not, or that nothing
may be found. ``forbid`` is also how a leak is caught: an id that this caller must never see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from memfs.disk.files import READ_LIMIT, UnreadableFile, read_file
from memfs.disk.yaml import Node, YamlError, parse_yaml
from memfs.errors import InvalidMemoryError, UsageError
from memfs.model.scope import Caller, parse_caller
from memfs.model.values import dataclass, field
from memfs.recall.search import Hit, Query, recall

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree

_CASE_KEYS = ("name", "ask", "as", "on", "expect", "forbid", "nothing", "state", "cites", "within")
_FILE_KEYS = ("version", "cases", "require")
_STATES = ("current", "recheck", "unknown", "superseded", "expired")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question and what its answer must be like."""

    name: str
    ask: str
    caller: Caller = field(default_factory=Caller)
    on: date | None = None  # the day it is asked on; today where there is none
    expect: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    nothing: bool = False
    state: str | None = None  # that the first expected memory must have
    cites: str | None = None  # that its evidence must hold
    within: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The cases of one file, and the figures that must be reached."""

    path: str
    cases: tuple[Case, ...]
    hit: float = 1.0
    mrr: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """How one case went. ``rank`` counts from 1; None where nothing expected was found."""

    case: Case
    found: tuple[str, ...]
    rank: int | None
    leaks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """How a file went: the share of cases with an expected memory found, its mean reciprocal rank, leaks."""

    suite: Suite
    results: tuple[CaseResult, ...]

    @property
    def asked(self) -> tuple[CaseResult, ...]:
        return tuple(result for result in self.results if result.case.expect)

    @property
    def hit(self) -> float:
        return sum(result.rank is not None for result in self.asked) / (len(self.asked) or 1)

    @property
    def mrr(self) -> float:
        return sum(1 / result.rank for result in self.asked if result.rank) / (len(self.asked) or 1)

    @property
    def leaks(self) -> int:
        return sum(len(result.leaks) for result in self.results)

    @property
    def passed(self) -> bool:
        reached = not self.asked or (self.hit >= self.suite.hit and self.mrr >= self.suite.mrr)
        return reached and not any(result.failures for result in self.results)


def read_suites(tree: WorkTree, paths: Sequence[str] = ()) -> list[Suite]:
    """Return the suites of ``evals/*.yaml``, or of ``paths`` (relative to the work tree).

    Raises :class:`InvalidMemoryError` with file, line and column, and :class:`UsageError` where there
    is none.
    """
    names = list(paths) or [f"evals/{name}" for name in sorted(_list(tree)) if name.endswith((".yaml", ".yml"))]
    if not names:
        raise UsageError("this repository has no questions", where="evals/", hint="write evals/recall.yaml")
    suites = []
    for name in names:
        try:
            suites.append(parse_suite(name, read_file(tree, name, limit=READ_LIMIT)))
        except UnreadableFile as error:
            raise UsageError(f"cannot be read: {error.message}", where=name) from error
    return suites


def parse_suite(path: str, raw: bytes) -> Suite:
    """Return the suite that the text of one file holds. Raises :class:`InvalidMemoryError`."""
    try:
        top = _as_map(parse_yaml(raw), _FILE_KEYS)
        cases = [_parse_case(node, number) for number, node in enumerate(_as_list(top.get("cases")), 1)]
        required = _as_map(top["require"], ("hit", "mrr")) if "require" in top else {}
        hit = _share(required["hit"]) if "hit" in required else 1.0
        mrr = _share(required["mrr"]) if "mrr" in required else 0.0
    except YamlError as error:
        raise InvalidMemoryError(error.message, where=f"{path}:{error.line}:{error.column}") from None
    if not cases:
        raise InvalidMemoryError("has no cases", where=path)
    return Suite(path=path, cases=tuple(cases), hit=hit, mrr=mrr)


def run_suite(tree: WorkTree, places: Places, suite: Suite, *, today: date, mode: str = "auto") -> SuiteResult:
    """Ask every question of ``suite`` and return how the answers were. Notes nothing as used."""
    return SuiteResult(suite=suite, results=tuple(_run(tree, places, case, today, mode) for case in suite.cases))


def _run(tree: WorkTree, places: Places, case: Case, today: date, mode: str) -> CaseResult:
    query = Query(text=case.ask, caller=case.caller, limit=case.within, mode=mode, record=False, on=case.on)
    hits = recall([("", tree)], places, query, today=today).hits
    found = tuple(hit.assessment.file.id for hit in hits)
    rank = next((place for place, memory_id in enumerate(found, 1) if memory_id in case.expect), None)
    leaks = tuple(memory_id for memory_id in found if memory_id in case.forbid)
    failures = [f"{memory_id} was found and is forbidden" for memory_id in leaks]
    if case.nothing and found:
        failures.append(f"{len(found)} memories were found where nothing may be")
    if rank is not None:
        failures += _check_hit(hits[rank - 1], case)
    return CaseResult(case=case, found=found, rank=rank, leaks=leaks, failures=tuple(failures))


def _check_hit(hit: Hit, case: Case) -> Iterable[str]:
    state = hit.assessment.state
    if case.state is not None and state.state.value != case.state:
        yield f"{hit.assessment.file.id} is {state.state.value}, not {case.state}"
    if case.cites is not None and not any(case.cites in report.text for report in state.evidence):
        yield f"{hit.assessment.file.id} does not cite {case.cites!a}"


def _parse_case(node: Node, number: int) -> Case:
    entries = _as_map(node, _CASE_KEYS)
    if "ask" not in entries:
        raise YamlError("a case needs `ask`", line=node.line, column=node.column)
    case = Case(
        name=_text(entries["name"]) if "name" in entries else f"case {number}",
        ask=_text(entries["ask"]),
        caller=_caller(entries["as"]) if "as" in entries else Caller(),
        on=_day(entries["on"]) if "on" in entries else None,
        expect=_texts(entries.get("expect")),
        forbid=_texts(entries.get("forbid")),
        nothing=_is_yes(entries["nothing"]) if "nothing" in entries else False,
        state=_one_of(entries["state"], _STATES) if "state" in entries else None,
        cites=_text(entries["cites"]) if "cites" in entries else None,
        within=_number(entries["within"]) if "within" in entries else 5,
    )
    if not (case.expect or case.forbid or case.nothing):
        raise YamlError("a case needs `expect`, `forbid` or `nothing: true`", line=node.line, column=node.column)
    return case


def _as_map(node: Node, keys: Sequence[str]) -> Mapping[str, Node]:
    if not isinstance(node.value, dict):
        raise YamlError("must be a map", line=node.line, column=node.column)
    for key, value in node.value.items():
        if key not in keys:
            raise YamlError(f"has a key that is not one of {', '.join(keys)}", line=value.line, column=value.column)
    return node.value


def _as_list(node: Node | None) -> Sequence[Node]:
    if node is None:
        return ()
    if not isinstance(node.value, list):
        raise YamlError("must be a list", line=node.line, column=node.column)
    return node.value


def _text(node: Node) -> str:
    if not isinstance(node.value, str) or not node.value.strip():
        raise YamlError("must be a text", line=node.line, column=node.column)
    return node.value


def _texts(node: Node | None) -> tuple[str, ...]:
    if node is not None and isinstance(node.value, str):
        return (_text(node),)
    return tuple(_text(item) for item in _as_list(node))


def _caller(node: Node) -> Caller:
    try:
        return parse_caller(",".join(_texts(node)))
    except UsageError as error:
        raise YamlError(error.message, line=node.line, column=node.column) from None


def _day(node: Node) -> date:
    try:
        return date.fromisoformat(_text(node))
    except ValueError:
        raise YamlError("must be a day, as 2027-01-31", line=node.line, column=node.column) from None


def _is_yes(node: Node) -> bool:
    return _one_of(node, ("true", "false")) == "true"


def _one_of(node: Node, values: Sequence[str]) -> str:
    if _text(node) not in values:
        raise YamlError(f"must be one of {', '.join(values)}", line=node.line, column=node.column)
    return _text(node)


def _number(node: Node) -> int:
    text = _text(node)
    if not text.isdecimal() or not 1 <= int(text[:4]) <= 50:
        raise YamlError("must be a number from 1 to 50", line=node.line, column=node.column)
    return int(text)


def _share(node: Node) -> float:
    try:
        value = float(_text(node))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise YamlError("must be a number from 0 to 1", line=node.line, column=node.column)
    return value


def _list(tree: WorkTree) -> list[str]:
    import os

    try:
        return os.listdir(tree.root / "evals")
    except OSError:
        return []
