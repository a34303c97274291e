"""The rules about many files: names that clash, supersession, duplicates. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from unicodedata import normalize

from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.single import Known
from memfs.model.codepoints import plain
from memfs.model.scope import is_seen_with, scope_of_path
from memfs.model.values import dataclass
from memfs.repository.duplicates import Likeness, find_near_duplicates, judge_pair

LEAST_SHARE = 0.4
"""Least share of a statement's words that makes two memories worth a closer look."""

MAX_PAIRS = 3
"""Most pairs of one kind that a memory is told about: a numbered series would fill the page otherwise."""

MAX_GROUND = 24
"""Most memories that may rest on one file, or apply to one thing, to be compared for that alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories that say the same, nearly the same, or the opposite; paths in order."""

    left: str
    right: str
    likeness: Likeness


def check_clashes(paths: Iterable[str]) -> Iterator[Result]:
    """Yield paths that a disk without case, or one with another Unicode form, cannot store side by side."""
    by_form: dict[str, set[str]] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(2, len(parts) + 1):
            part = "/".join(parts[:depth])
            by_form.setdefault(normalize("NFC", part).casefold(), set()).add(part)
    for forms in by_form.values():
        if len(forms) > 1:
            first, *others = sorted(forms)
            for other in others:
                yield make_result(
                    "case-clash", f"Differs from {plain(first)} only in case or Unicode form.", path=other
                )


def check_ids(files: Iterable[Known]) -> Iterator[Result]:
    """Yield files whose id another file has."""
    by_id: dict[str, list[Known]] = {}
    for file in files:
        if file.id:
            by_id.setdefault(file.id, []).append(file)
    for memory_id, same in by_id.items():
        if len(same) > 1:
            paths = sorted(file.path for file in same)
            for path in paths:
                others = tuple(other for other in paths if other != path)
                named = ", ".join(map(plain, others))
                yield make_result(
                    "duplicate-id", f"The id {memory_id} is also that of {named}.", path=path, others=others
                )


def find_successors(files: Iterable[Known]) -> dict[str, list[Known]]:
    """Return superseded id → the memories that supersede it, by path."""
    found: dict[str, list[Known]] = {}
    for file in sorted(files, key=lambda file: file.path):
        for old in file.supersedes:
            found.setdefault(old, []).append(file)
    return found


def check_supersession(files: Sequence[Known]) -> Iterator[Result]:
    """Yield unknown ids, circles, two answers to one question, and successors that some cannot see."""
    by_id = {file.id: file for file in files if file.id}
    successors = find_successors(files)
    for file in files:
        for old in file.supersedes:
            other = by_id.get(old)
            if other is None:
                yield make_result(
                    "supersedes-unknown",
                    f"It supersedes {plain(old)}, which is not here.",
                    path=file.path,
                    line=file.supersedes_line,
                )
            elif other.is_memory and file.is_memory and not is_seen_with(file.scope, other.scope):
                yield make_result(
                    "supersedes-for-others",
                    f"It is for {file.scope} and supersedes {old}, which is for {other.scope}: "
                    "who sees only that one keeps it.",
                    path=file.path,
                    line=file.supersedes_line,
                    others=(other.path,),
                )
    for old, heirs in successors.items():
        current = [heir for heir in heirs if not any(other in heirs for other in successors.get(heir.id, ()))]
        if len(current) > 1:
            for heir in current:
                rivals = [other for other in current if other is not heir]
                yield make_result(
                    "two-answers",
                    f"{plain(old)} is superseded by this memory and by {', '.join(other.id for other in rivals)}.",
                    path=heir.path,
                    line=heir.supersedes_line,
                    others=tuple(other.path for other in rivals),
                )
    for circle in find_circles({file.id: [old for old in file.supersedes if old in by_id] for file in by_id.values()}):
        for memory_id in circle:
            way = " → ".join([*circle[circle.index(memory_id) :], *circle[: circle.index(memory_id) + 1]])
            yield make_result(
                "supersession-cycle",
                f"Supersession goes in a circle: {way}.",
                path=by_id[memory_id].path,
                line=by_id[memory_id].supersedes_line,
                others=tuple(by_id[other].path for other in circle if other != memory_id),
            )


def find_circles(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return each circle of ``edges`` once (Tarjan's components, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    circles: list[list[str]] = []
    for root in edges:
        if root in index:
            continue
        work: list[tuple[str, int]] = [(root, 0)]
        while work:
            node, place = work.pop()
            if place == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            targets = edges.get(node, ())
            while place < len(targets):
                target = targets[place]
                place += 1
                if target not in index:
                    work += [(node, place), (target, 0)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                if low[node] == index[node]:
                    component: list[str] = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1 or node in targets:
                        circles.append(component[::-1])
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return circles


def find_pairs(files: Sequence[Known], *, among: Collection[str] | None = None) -> list[Pair]:
    """Return memories that repeat or contradict each other, at most three of a kind for each memory.

    ``among``: at least one of the two is one of these paths. A memory and the one that it supersedes are not a
    pair: they are meant to differ.
    """
    memories = {file.path: file for file in files if file.is_memory}
    pairs = _same_texts(memories, among)
    told: Counter[tuple[str, Likeness]] = Counter()
    for left, right in _candidates(memories, among):
        one, other = memories[left], memories[right]
        if one.text_digest == other.text_digest or _are_linked(one, other):
            continue
        likeness = judge_pair(one.statement, other.statement)
        if likeness is None:
            continue
        kind = Likeness.NEAR if likeness is Likeness.SAME else likeness
        if max(told[left, kind], told[right, kind]) < MAX_PAIRS:
            first, second = sorted((left, right))
            told.update(((left, kind), (right, kind)))
            pairs.append(Pair(left=first, right=second, likeness=kind))
    return sorted(pairs, key=lambda pair: (pair.left, pair.right))


def _same_texts(memories: Mapping[str, Known], among: Collection[str] | None) -> list[Pair]:
    same: dict[str, list[str]] = {}
    for path, file in memories.items():
        same.setdefault(file.text_digest, []).append(path)
    return [
        Pair(left=left, right=right, likeness=Likeness.SAME)
        for paths in same.values()
        for place, left in enumerate(sorted(paths)[:50])
        for right in sorted(paths)[place + 1 : 50]
        if among is None or left in among or right in among
    ]


def _candidates(memories: Mapping[str, Known], among: Collection[str] | None) -> list[tuple[str, str]]:
    """Return the pairs worth a look: those that rest on one thing first, then those that share most words."""
    found: dict[tuple[str, str], None] = {}
    by_ground: dict[str, list[str]] = {}
    for path, file in memories.items():
        for ground in {*file.rests_on, *file.topics}:
            by_ground.setdefault(ground, []).append(path)
    for paths in by_ground.values():
        for place, left in enumerate(paths if len(paths) <= MAX_GROUND else ()):
            for right in paths[place + 1 :]:
                if among is None or left in among or right in among:
                    found[left, right] = None
    sketches = {path: file.signature for path, file in memories.items() if file.signature}
    near = find_near_duplicates(sketches, among=among, threshold=LEAST_SHARE)
    for one in sorted(near, key=lambda one: -one.share):
        if (one.right, one.left) not in found:
            found[one.left, one.right] = None
    return list(found)


_PAIR_RULES = {
    Likeness.SAME: ("duplicate-text", "It says exactly what {} says."),
    Likeness.NEAR: ("near-duplicate", "It says nearly what {} says."),
    Likeness.CONTRADICTS: ("contradiction", "It reads like the opposite of {}."),
}


def describe_pairs(pairs: Iterable[Pair]) -> Iterator[Result]:
    """Yield one result for each side of each pair."""
    for pair in pairs:
        for here, there in ((pair.left, pair.right), (pair.right, pair.left)):
            rule, sentence = _PAIR_RULES[pair.likeness]
            if pair.likeness is not Likeness.CONTRADICTS and _is_leak(here, there):
                exact = "exactly" if pair.likeness is Likeness.SAME else "nearly"
                message = f"It says {exact} what {plain(there)} says, which fewer people see."
                level = None if pair.likeness is Likeness.SAME else Level.WARNING
                yield make_result("copied-wider", message, path=here, others=(there,), level=level)
                continue
            yield make_result(rule, sentence.format(plain(there)), path=here, others=(there,))


def _is_leak(here: str, there: str) -> bool:
    """Return whether readers of ``here`` do not see ``there``, which is restricted."""
    scope, other = scope_of_path(here), scope_of_path(there)
    if scope is None or other is None or not other.startswith("restricted/"):
        return False
    return scope != other and not scope.startswith(("restricted/", "personal"))


def _are_linked(left: Known, right: Known) -> bool:
    return left.id in right.supersedes or right.id in left.supersedes


def scopes_of(paths: Iterable[str]) -> set[str]:
    """Return the scopes that ``paths`` lie in."""
    return {scope for path in paths if (scope := scope_of_path(path)) is not None}
