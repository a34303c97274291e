"""The rules about a repository and a change of it, beside the memories: settings, attributes, commit messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memfs.admission.gate import Severity, judge_text
from memfs.check.change import Between
from memfs.check.policy import find_misuse
from memfs.check.results import Level, Result
from memfs.check.rules import SKIP_RULES, make_result
from memfs.check.single import check_name, rule_of
from memfs.check.states import differs
from memfs.disk.settings import find_misfits, parse_repository_settings
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError
from memfs.git.attributes import find_attributes
from memfs.git.conversion import CONVERTING
from memfs.git.log import read_messages
from memfs.git.snapshot import Snapshot
from memfs.model.codepoints import plain
from memfs.recall.evaluate import parse_suite

_MAX_MESSAGE = 64 * 1024
_ATTRIBUTES = {"memories/** text eol=lf": "memories/", ".memfs/** -text": ".memfs/"}


def check_skipped(others: Mapping[str, str]) -> Iterator[Result]:
    """Yield a result for each path that is not a file to be read."""
    for path, reason in others.items():
        yield make_result(SKIP_RULES.get(reason, "not-a-file"), path=path)
        yield from check_name(path) if reason == "bad-name" else ()


def check_repository_files(snapshot: Snapshot, base: Snapshot | None) -> Iterator[Result]:
    questions = [f"evals/{name}" for name in snapshot.folder("evals") if name.endswith((".yaml", ".yml"))]
    wanted = [".gitattributes", ".memfs/config.yaml", *questions]
    if base is not None:
        wanted = [path for path in wanted if differs(base, snapshot, path)]
    for path, raw in snapshot.read_many(wanted):
        if path == ".gitattributes":
            text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""
            yield from _check_attributes(text)
            yield from _check_conversions(snapshot, text)
        elif path in questions:
            try:
                parse_suite(path, raw if isinstance(raw, bytes) else b"")
            except InvalidMemoryError as error:
                yield make_result("bad-questions", f"{plain(str(error), limit=300)}.", path=path)
        elif isinstance(raw, bytes):
            settings = parse_repository_settings(raw)
            misuse = find_misuse(settings.check) if settings.sound else []
            fix = "Correct it; until then nothing of `check` counts." if misuse else None
            for problem in misuse or settings.problems or find_misfits(raw, "config"):
                yield make_result("bad-settings", f"{plain(problem, limit=300)}.", path=path, fix=fix)
        elif raw != "missing":
            yield make_result("bad-settings", f"The file cannot be read: {plain(raw)}.", path=path)


def check_oddities(snapshot: Snapshot) -> Iterator[Result]:
    """Yield what under ``.memfs/`` is not what its name says: nobody would read it, and trust would end
    without a word."""
    found = {**snapshot.oddities(".memfs"), **snapshot.oddities(".memfs/approvals")}
    for path, reason in sorted(found.items()):
        what = {"symlink": "A symlink", "not-a-folder": "Something that is not a folder"}.get(
            reason, "Something that is not a regular file"
        )
        message = f"{what} lies here; it is not read, and what it should contain counts as missing."
        yield make_result("not-a-file", message, path=path, fix="Put the file or folder itself here.")


def _check_attributes(text: str) -> Iterator[Result]:
    lines = [" ".join(line.split()) for line in text.split("\n") if not line.lstrip().startswith("#")]
    for wanted in _ATTRIBUTES:
        pattern, *attributes = wanted.split(" ")
        if not any(line.split(" ")[0] == pattern and set(attributes) <= set(line.split(" ")[1:]) for line in lines):
            yield make_result("attributes", f"The line {wanted!r} is missing.", path=".gitattributes")
    for number, line in enumerate(text.split("\n"), 1):
        if "merge=union" in line and not line.lstrip().startswith("#"):
            message = "merge=union joins two people's versions into a text that nobody wrote."
            yield make_result("attributes", message, path=".gitattributes", line=number, column=1)


def _check_conversions(snapshot: Snapshot, text: str) -> Iterator[Result]:
    paths = [*snapshot.memories()[0], "memories/team/x.md", ".memfs/approvals/x.txt"]
    values = find_attributes(snapshot.tree, {".gitattributes": text.encode("utf-8", "surrogateescape")}, paths) or {}
    found = sorted({name for (_, name), value in values.items() if name in CONVERTING and value != "unset"})
    for name in found:
        message = (
            f"The attribute {name!r} lets git change memories on their way into history, and memfs runs no filter."
        )
        fix = "Take it off memories/ and .memfs/, or keep such notes in another repository."
        yield make_result("attributes", message, path=".gitattributes", level=Level.ERROR, fix=fix)


def check_merge(between: Between) -> Iterator[Result]:
    """Yield what the merge itself makes of the change: conflicts, and texts that git joined from two sides."""
    states = between.states
    for path in states.conflicts:
        yield make_result("merge-conflict", f"git cannot merge {plain(path)} into the base.", path=path)
    parted, theirs = states.parted, states.theirs
    if parted is None or theirs is None or parted is theirs:
        return
    for path, old in between.changed.items():
        there = old or path
        blob = theirs.blob_of(there)
        if parted.blob_of(there) != blob and blob != between.now.blob_of(path, like=blob):
            yield make_result("base-moved", path=path)


def check_messages(tree: WorkTree, since: str, tip: str) -> Iterator[Result]:
    """Yield what admission says about the commit messages between two commits."""
    for commit, message in read_messages(tree, [tip], since=since):
        text = message[:_MAX_MESSAGE].decode("utf-8", "replace")
        for finding in judge_text(text, field="commit message").findings:
            if finding.severity is Severity.REJECT:
                yield make_result(
                    rule_of(finding),
                    f"The message of commit {commit[:12]}: {finding.message} ({finding.rule}).",
                    fix="Reword the commit before it is pushed (`git commit --amend`, `git rebase -i`).",
                    level=Level.ERROR,
                )
