"""Each question has one place that answers it; these tests read the code and name whoever answers beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support import CHECKOUT

MEMFS = CHECKOUT / "memfs"


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(MEMFS.rglob("*.py")):
        yield path.relative_to(MEMFS).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def users_of(*, names: tuple[str, ...] = (), attributes: tuple[str, ...] = ()) -> set[str]:
    """Return the modules that use one of these names, or read one of these attributes."""
    found = set()
    for where, module in modules():
        for node in ast.walk(module):
            if (isinstance(node, ast.Name) and node.id in names) or (
                isinstance(node, ast.Attribute) and node.attr in attributes
            ):
                found.add(where)
    return found


def test_only_sight_compares_a_callers_scopes_with_a_scope() -> None:
    assert users_of(names=("is_granted",)) == {"sight.py"}


def test_only_sight_decides_by_the_readers_that_a_repository_names() -> None:
    words = {
        "check/words.py",
        "check/fields.py",
        "check/house.py",
        "postgres/publication.py",
        "postgres/publishing.py",
    }  # they say in words who is named, and decide nothing by it
    assert users_of(attributes=("readers",)) - words == {"sight.py"}


def test_only_git_log_asks_git_for_a_history() -> None:
    shown = {"cli/demo_command.py"}  # runs the user's own `git log` for them to look at
    found = set()
    for where, module in modules():
        for node in ast.walk(module):
            arguments = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.List) else []
            words = {word.value for word in arguments if isinstance(word, ast.Constant)}
            function = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else "["
            if "log" in words and ("git" in function or "git" in words):
                found.add(where)
    assert found - shown == {"git/log.py"}


def test_only_standing_builds_the_facts_about_evidence_and_triggers() -> None:
    rows = "postgres/rows.py"  # has no work tree to look at: only the dates of a row
    room = {"model/state.py", "standing/facts.py", rows}
    assert users_of(names=("StateFacts", "FileFact", "judge_state")) <= room


def test_only_standing_asks_what_a_part_of_a_file_is() -> None:
    readers = {"model/parts.py", "standing/moves.py", "standing/tie.py", "standing/drift.py", "standing/blame.py"}
    assert users_of(names=("PartedText",)) - readers == {
        "repository/verify.py",  # shows the text to a person
        "importing/plan.py",  # ties a piece of a source to its content
        "importing/source.py",  # cuts a source at its headings
        "capture/keeping.py",  # ties a statement to its line of a transcript
    }
