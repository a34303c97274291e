"""The line of changed evidence that is new: one line of a tracked file, and what the gate says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memfs.admission.gate import GATE_VERSION, Outcome, judge_text
from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.git.read import read_git
from memfs.git.snapshot import Snapshot
from memfs.standing.facts import Kept

_MAX_LINE = 300  # characters of a line that is shown


def line_now(snapshot: Snapshot, kept: Kept, digest: str, path: str, before: str) -> str | None:
    """Return the first line of ``path`` that its recorded content (the blob ``before``) did not have.

    It may be a line of any tracked file, so the gate looks at it. What is kept is which line it is and
    what the gate said; the text comes from the file each time.
    """
    lines = (snapshot.content_of(path) or b"").splitlines()
    key = f"line:{GATE_VERSION}:{before}:{snapshot.blob_of(path)}"
    known = kept.get(digest).get(key)
    if not (isinstance(known, list) and len(known) == 2 and isinstance(known[0], int) and known[0] < len(lines)):
        known = _choose(snapshot.tree, before, lines)
        kept.put(digest, key, known)
    number, rule = known
    if number < 0:
        return None
    return f"[withheld: {rule}]" if rule else _shown(lines[number])


def _choose(tree: WorkTree, before: str, lines: Sequence[bytes]) -> list[Any]:
    try:
        old = set(read_git(tree, "cat-file", "blob", before).splitlines())
    except MemfsError:
        return [-1, ""]  # the recorded content was never committed, or is not in this clone
    number = next((place for place, line in enumerate(lines) if line.strip() and line not in old), -1)
    if number < 0:
        return [number, ""]
    decision = judge_text(_shown(lines[number]))
    rules = [finding.rule for finding in decision.findings if decision.outcome is Outcome.REJECT]
    return [number, rules[0] if rules else ""]


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()[:_MAX_LINE]
