"""Two branches changed one memory: what can be joined, what a person must choose."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import STATEMENT, commit, memory_text, put, rules_of, write
from making import check as check_tree
from people import Terminal
from support import git, launch_command

from memfs.disk.worktree import find_work_tree
from memfs.errors import NotFoundError, UsageError
from memfs.propose.merge import BODY, Sides, find_sides, merge_lists, merge_sides, split_markers, write_merged

PATH = "memories/team/deploys.md"


def _sides(base: str, ours: str, theirs: str) -> Sides:
    return Sides(path=PATH, base=base.encode(), ours=ours.encode(), theirs=theirs.encode(), is_in_merge=True)


def _merge(repo: Path, ours: str, theirs: str, base: str | None = None) -> None:
    """Leave ``repo`` in the middle of a merge that conflicts about one memory."""
    write(repo, PATH, base or memory_text())
    commit(repo, "base")
    git(repo, "switch", "-qc", "other")
    write(repo, PATH, theirs)
    commit(repo, "theirs")
    git(repo, "switch", "-q", "main")
    write(repo, PATH, ours)
    commit(repo, "ours")
    done = subprocess.run(["git", "merge", "-q", "other"], cwd=repo, capture_output=True, check=False)
    assert done.returncode != 0


def test_fields_that_one_side_changed_are_taken_and_both_is_a_question() -> None:
    base = memory_text()
    ours = memory_text(trigger="on 2027-07-01", kind="procedure")
    theirs = memory_text(STATEMENT.replace("Friday", "Monday"), trigger="on 2027-08-01")
    merged = merge_sides(_sides(base, ours, theirs))
    assert merged.values["kind"] == "procedure"
    assert "Monday" in str(merged.values[BODY])
    assert [conflict.name for conflict in merged.conflicts] == ["review_trigger"]
    assert set(merged.taken) == {("kind", "ours"), (BODY, "theirs")}


def test_lists_get_what_either_side_added_and_lose_what_either_removed() -> None:
    base = memory_text(tags="[a, b, c]")
    merged = merge_sides(_sides(base, memory_text(tags="[a, b, d]"), memory_text(tags="[b, c, e]")))
    assert merged.values["tags"] == ("b", "d", "e")
    assert merged.conflicts == ()


_ITEMS = st.lists(st.sampled_from("abcdef"), unique=True)


@given(_ITEMS, _ITEMS)
def test_joining_lists_is_what_it_is_for_one_changed_side(base: list[str], changed: list[str]) -> None:
    assert set(merge_lists(base, changed, base)) == set(changed)
    assert set(merge_lists(base, base, changed)) == set(changed)
    assert set(merge_lists(base, changed, changed)) == set(changed)


def test_a_merged_file_keeps_the_form_of_ours() -> None:
    base = memory_text()
    ours = base.replace("kind: decision", "kind: decision   # settled in March")
    theirs = memory_text(trigger="on 2027-08-01")
    sides = _sides(base, ours, theirs)
    raw = write_merged(sides, merge_sides(sides).values)
    assert raw.decode() == ours.replace("on 2027-06-01", "on 2027-08-01")


def test_the_sides_of_markers_are_told_apart() -> None:
    raw = b"a\n<<<<<<< HEAD\nb\n||||||| base\nc\n=======\nd\n>>>>>>> other\ne\n"
    assert split_markers(raw) == (b"a\nc\ne\n", b"a\nb\ne\n", b"a\nd\ne\n")
    assert split_markers(b"a\n<<<<<<< HEAD\nb\n=======\nd\n>>>>>>> other\n") == (None, b"a\nb\n", b"a\nd\n")
    assert split_markers(b"no markers\n=======\n") is None
    assert split_markers(b"<<<<<<< HEAD\nnever closed\n") is None


def test_a_merge_in_progress_is_settled_and_can_be_committed(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    theirs = memory_text(STATEMENT.replace("Friday", "Monday"), kind="procedure")
    _merge(repo, memory_text(STATEMENT.replace("Friday", "Tuesday")), theirs)
    done = memfs("edit", "--merge", "deploys", cwd=repo)
    assert done.code == 1
    assert "[-Tuesday-]" in done.err
    assert "{+Monday+}" in done.err
    assert "nothing was written" in done.err
    done = memfs("edit", "--merge", "deploys", "--take", "theirs", cwd=repo)
    assert done.code == 0, done.err
    assert (repo / PATH).read_text() == theirs
    git(repo, "add", PATH)
    git(repo, "commit", "-qm", "merge")
    assert rules_of(check_tree(repo)) == []


def test_a_person_chooses_at_the_terminal(repo: Path, sealed: Path) -> None:
    ours = memory_text(STATEMENT.replace("Friday", "Tuesday"), trigger="on 2027-07-01")
    theirs = memory_text(STATEMENT.replace("Friday", "Monday"), trigger="on 2027-08-01")
    _merge(repo, ours, theirs)
    argv = [*launch_command(sealed), "edit", "--merge", "deploys"]
    code, shown = Terminal(argv, cwd=repo, env=os.environ).answer(
        ("review_trigger: o(urs)", "t"), ("text: o(urs)", "o")
    )
    assert code == 0, shown
    text = (repo / PATH).read_text()
    assert "on 2027-08-01" in text
    assert "Tuesday" in text


def test_markers_that_were_committed_are_settled_too(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    marked = memory_text("<<<<<<< HEAD\nWe deploy on Monday.\n=======\nWe deploy on Friday.\n>>>>>>> other")
    write(repo, PATH, marked)
    commit(repo, "oops")
    assert memfs("edit", "--merge", "deploys", "--take", "ours", cwd=repo).code == 0
    assert (repo / PATH).read_text() == memory_text("We deploy on Monday.")


def test_without_a_conflict_there_is_nothing_to_merge(repo: Path) -> None:
    put(repo, "deploys")
    with pytest.raises(UsageError, match="no conflict"):
        find_sides(find_work_tree(repo), "deploys")
    with pytest.raises(NotFoundError):
        find_sides(find_work_tree(repo), "nothing")


def test_a_memory_that_one_side_deleted_is_git_s_business(repo: Path) -> None:
    write(repo, PATH, memory_text())
    commit(repo, "base")
    git(repo, "switch", "-qc", "other")
    (repo / PATH).unlink()
    commit(repo, "deleted")
    git(repo, "switch", "-q", "main")
    write(repo, PATH, memory_text(STATEMENT.replace("Friday", "Monday")))
    commit(repo, "changed")
    subprocess.run(["git", "merge", "-q", "other"], cwd=repo, capture_output=True, check=False)
    with pytest.raises(UsageError, match="one branch deleted"):
        find_sides(find_work_tree(repo), "deploys")
