"""What a change does to the files round the memories: settings, attributes, reviewers, agents, look-alike folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from unicodedata import normalize

from memfs.check.change import Between, read_settings
from memfs.check.policy import BASELINE, find_weaker, parse_policy, read_baseline
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.words import counted, memories, names_of
from memfs.disk.settings import REPOSITORY_FILE, RepositorySettings
from memfs.disk.yaml import YamlError
from memfs.errors import InvalidMemoryError
from memfs.git.attributes import find_attributes
from memfs.git.snapshot import GitFiles, Snapshot
from memfs.model.codepoints import plain
from memfs.model.scope import scope_of_path
from memfs.model.unseen import skeleton
from memfs.model.values import dataclass
from memfs.recall.evaluate import parse_suite

_REVIEWERS = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
_CI = (".github/workflows/", ".gitlab-ci.yml", ".gitlab/", ".pre-commit-config.yaml", ".github/actions/")
_OWNED = re.compile(r"\s*(\*|/?memories|/?\.memfs|/?\.git)")
_OURS = re.compile(r"\.memfs/(?:config\.yaml|keyring\.(?:\d+|proposed)|baseline\.json|approvals/[^/]+|README\.md)")
OURS = ("memories", ".memfs")
_KEPT = frozenset((".gitkeep", ".keep", ".gitignore", ".gitattributes"))
_TEXTS = (".md", ".markdown", ".mdx", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    pattern: str
    level: Level
    does: str


@cache
def agent_files() -> tuple[AgentFile, ...]:
    """Return the table of files that agents obey."""
    return tuple(AgentFile(pattern=p, level=Level(level), does=does) for p, level, does in _rows("agent_files.txt"))


@cache
def attribute_table() -> tuple[tuple[str, str, str], ...]:
    """Return (attribute, value, what it does) of attributes that hide memories or change their bytes."""
    return tuple((name, value, does) for name, value, does in _rows("attributes.txt"))


def _rows(name: str) -> Iterator[list[str]]:
    text = files("memfs.check").joinpath("data", name).read_text(encoding="utf-8")
    return (line.split("\t") for line in text.split("\n") if line and not line.startswith("#"))


def check_house(between: Between) -> Iterator[Result]:
    """Yield what the change does beside the memories."""
    yield from _check_settings(between)
    yield from _check_attributes(between)
    yield from _check_evals(between)
    for path in between.paths:
        yield from _check_review_file(between, path)
        yield from _check_agent_file(path)
        yield from _check_place(between, path)


# -- settings ----------------------------------------------------------------------------------------


def _check_settings(between: Between) -> Iterator[Result]:
    if BASELINE in between.paths:
        added = len(read_baseline(between.now) - read_baseline(between.theirs))
        if added:
            message = f"It adds {counted(added, 'result')} to the baseline, which nobody would be told again."
            yield make_result("settings-changed", message, path=BASELINE)
    if REPOSITORY_FILE in between.paths:
        yield from _check_settings_file(between.settings, read_settings(between.now), between.files)


def _check_settings_file(old: RepositorySettings, new: RepositorySettings, files: Iterable[str]) -> Iterator[Result]:
    weaker = _find_weaker_checks(old, new)
    if weaker:
        message = f"The checks become weaker: {names_of(weaker)}."
        yield make_result("settings-changed", message, path=REPOSITORY_FILE)
    said = bool(weaker)
    for scope in {*old.readers, *new.readers}:
        before, after = old.readers.get(scope), new.readers.get(scope)
        if before == after:
            continue
        said = True
        count = memories(sum(scope_of_path(path) == scope for path in files))
        if after is None:
            message = f"{plain(scope)} is no longer limited to {names_of(before or ())}: more people would see {count}."
            yield make_result("readers-wider", message, path=REPOSITORY_FILE)
            continue
        added = [person for person in after if person not in (before or ())]
        if before is not None and added:
            message = f"{names_of(added)} would see {plain(scope)} too ({count})."
            yield make_result("readers-wider", message, path=REPOSITORY_FILE, level=Level.WARNING)
        if before is None or any(person not in after for person in before):
            message = f"Only {names_of(after)} would see {plain(scope)}: {count} disappear for everybody else."
            yield make_result("readers-narrower", message, path=REPOSITORY_FILE)
    if old.scopes != new.scopes:
        said = True
        message = f"The scopes become {names_of(new.scopes) if new.scopes else 'every scope'}."
        yield make_result("settings-changed", message, path=REPOSITORY_FILE)
    if not said:
        yield make_result("settings-changed", f"It changes {REPOSITORY_FILE}.", path=REPOSITORY_FILE, level=Level.NOTE)


def _find_weaker_checks(old: RepositorySettings, new: RepositorySettings) -> list[str]:
    try:
        before = parse_policy(old.check)
    except YamlError:  # nothing of it counted
        return []
    try:
        return find_weaker(before, parse_policy(new.check))
    except YamlError:
        return ["nothing of `check` would count"]


# -- attributes --------------------------------------------------------------------------------------


def _check_attributes(between: Between) -> Iterator[Result]:
    changed = [path for path in between.paths if path == ".gitattributes" or path.endswith("/.gitattributes")]
    if not changed:
        return
    folders = {path.rpartition("/")[0] for path in between.files} | {path.rpartition("/")[0] for path in changed}
    samples = {f"{folder}/x.md" for folder in folders if folder.startswith("memories")} | {"memories/team/x.md"}
    paths = [*sorted(samples), ".memfs/approvals/x.txt", ".memfs/keyring.1"]
    before = find_attributes(between.tree, _attribute_files(between.base), paths)
    after = find_attributes(between.tree, _attribute_files(between.listing), paths)
    if before is None or after is None:
        message = f"It changes {plain(changed[0])}, and git cannot say what that does to memories."
        yield make_result("attributes-changed", message, path=changed[0])
        return
    for name, wanted, does in attribute_table():
        hit = [
            path
            for path in paths
            if after.get((path, name)) != before.get((path, name))
            and _fits(after.get((path, name)), wanted)
            and not (name == "text" and path.startswith(".memfs"))
        ]
        if hit:
            value = after[hit[0], name]
            where = names_of(sorted({path.rpartition("/")[0] for path in hit}))
            message = f"For {where} the attribute {plain(name)}={plain(value)} would count: {does}."
            yield make_result("attributes-changed", message, path=changed[-1])


def _fits(value: str | None, wanted: str) -> bool:
    if value is None:
        return False
    return value not in ("unspecified", "unset") if wanted == "*" else value == wanted


def _attribute_files(snapshot: GitFiles) -> dict[str, bytes]:
    paths = [path for path in snapshot.entries if path == ".gitattributes" or path.endswith("/.gitattributes")]
    return {path: raw for path, raw in snapshot.read_many(paths) if isinstance(raw, bytes)}


# -- review, agents, places --------------------------------------------------------------------------


def _check_evals(between: Between) -> Iterator[Result]:
    changed = [path for path in between.paths if path.startswith("evals/") and path.endswith((".yaml", ".yml"))]
    for path in changed:
        old, new = (_share(side, path) for side in (between.base, between.now))
        if old is not None and (new is None or new[0] < old[0] or new[1] < old[1]):
            now = "nothing" if new is None else f"hit {new[0]:g}, mrr {new[1]:g}"
            message = f"Recall must reach less: {now} instead of hit {old[0]:g}, mrr {old[1]:g}."
            yield make_result("evals-lowered", message, path=path)


def _share(side: Snapshot, path: str) -> tuple[float, float] | None:
    raw = dict(side.read_many([path]))[path]
    try:
        suite = parse_suite(path, raw if isinstance(raw, bytes) else b"")
    except InvalidMemoryError:
        return None
    return suite.hit, suite.mrr


def _check_review_file(between: Between, path: str) -> Iterator[Result]:
    sides = [between.base, between.now]
    if path in _REVIEWERS:
        old, new = ({line for line in _text(side, path).split("\n") if _OWNED.match(line)} for side in sides)
        if old != new:
            message = f"It changes {plain(path)}: who is asked to review memories or their rules."
            yield make_result("review-files", message, path=path)
    elif path.startswith(_CI) and any("memfs" in _text(side, path) for side in sides):
        message = f"It changes {plain(path)}, which runs memfs: what checks memories, and by which keyring."
        yield make_result("review-files", message, path=path)


def _text(side: Snapshot, path: str) -> str:
    raw = dict(side.read_many([path]))[path]
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""


def _check_agent_file(path: str) -> Iterator[Result]:
    for row in agent_files():
        if _matches(path, row.pattern):
            message = f"It changes {plain(path)}: {row.does}. No approval of memfs covers it."
            yield make_result("agent-files", message, path=path, level=row.level)
            return


def _matches(path: str, pattern: str) -> bool:
    if pattern.startswith("*/"):
        return "/" in path and path.rpartition("/")[2] == pattern[2:]
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def _check_place(between: Between, path: str) -> Iterator[Result]:
    if path not in between.listing.entries:
        return
    alike = looks_like_ours(path)
    if alike is not None:
        where = "On some disks" if path.isascii() else "On some disks, or to the eye,"
        message = f"{where} {plain(path)} is the same path as {plain(alike)}; here memfs does not read it."
        yield make_result("look-alike-folder", message, path=path)
    elif path.startswith(".memfs/") and not _OURS.fullmatch(path):
        yield make_result("stray-file", f"memfs does not read {plain(path)}.", path=path)
    elif path.startswith("memories/") and not path.endswith(".md") and path.rpartition("/")[2] not in _KEPT:
        level = Level.WARNING if path.lower().endswith(_TEXTS) else Level.NOTE
        message = f"memfs does not read {plain(path)}: a memory is a file that ends in .md."
        yield make_result("stray-file", message, path=path, level=level)
    elif path.startswith("memories/") and any(part.startswith(".") for part in path.split("/")[:-1]):
        yield make_result("stray-file", f"memfs does not read {plain(path)}: the folder is hidden.", path=path)


def looks_like_ours(path: str) -> str | None:
    """Return the path below ``memories/`` or ``.memfs/`` that some disk, or an eye, takes ``path`` for, or None.

    macOS and Windows fold case; macOS leaves out some invisible characters; Windows drops trailing dots and blanks.
    """
    first, slash, rest = path.partition("/")
    folded = "".join(char for char in normalize("NFKC", first).casefold() if char.isprintable()).rstrip(" .")
    if first not in OURS and {folded, skeleton(folded)} & set(OURS):
        return f"{folded if folded in OURS else skeleton(folded)}{slash}{rest}"
    return None
