"""Repositories for the tests of review: real git, real keys, memories of a known form."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from support import git

from memfs.check.run import Check, check_repository
from memfs.check.states import Target
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree

TODAY = date(2026, 11, 30)
STATEMENT = "Deploys of the billing service happen on Friday after the nightly backup has been checked."


def memory_text(
    body: str = STATEMENT,
    *,
    kind: str = "decision",
    origin: str = "owner",
    scope: str = "team",
    evidence: str | list[str] = "https://example.com/decisions/14",
    recorded: str = "2026-11-01",
    trigger: str = "on 2027-06-01",
    **more: str,
) -> str:
    """Return the text of a memory file; keyword arguments add front matter lines."""
    pieces = [evidence] if isinstance(evidence, str) else evidence
    lines = ["---", f"kind: {kind}", f"origin: {origin}", f"scope: {scope}", "evidence:"]
    lines += [f"  - {piece}" for piece in pieces]
    lines += [f"recorded: {recorded}", f"review_trigger: {trigger}"]
    lines += [f"{key}: {value}" for key, value in more.items()]
    return "\n".join([*lines, "---", body, ""])


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write one file below ``root``, with its folders."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return place


def put(root: Path, memory_id: str, body: str = STATEMENT, *, scope: str = "team", **fields: Any) -> str:
    """Write a memory and return its path."""
    path = f"memories/{scope}/{memory_id}.md"
    write(root, path, memory_text(body, scope=scope, **fields))
    return path


def commit(root: Path, message: str = "work", *paths: str) -> str:
    """Commit everything (or ``paths``) and return the commit."""
    git(root, "add", "-A", "--", *(paths or (".",)))
    git(root, "commit", "-qm", message)
    return git(root, "rev-parse", "HEAD")


def check(root: Path, places: Places | None = None, **target: Any) -> Check:
    """Check ``root`` as of :data:`TODAY`, without a cache unless there are places."""
    return check_repository(find_work_tree(root), places, Target(**target), today=TODAY)


def rules_of(found: Check, path: str | None = None) -> list[str]:
    """Return the rules that were broken, at one path or anywhere."""
    return [result.rule for result in found.report.results if path is None or result.path == path]


def only(found: Check, rule: str) -> Any:
    """Return the one result of ``rule``."""
    results = [result for result in found.report.results if result.rule == rule]
    assert len(results) == 1, [(result.rule, result.path, result.message) for result in found.report.results]
    return results[0]
