"""Memories in use for agents that do not ask memfs: between markers, the same bytes each time, nothing unapproved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from people import Person, Team, memory_text
from support import Run, git

from memfs.errors import UsageError
from memfs.exporting import HandEditedError, find_block, with_block

Memfs = Callable[..., Run]
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=80).filter(lambda text: "memfs:" not in text)


@given(TEXTS, TEXTS, TEXTS)
def test_a_block_is_replaced_and_all_else_stays(around: str, first: str, second: str) -> None:
    one, two = f"{first}\n", f"{second}\n"
    text = with_block(around, one)
    assert text.startswith(around)
    assert find_block(text) == one
    assert with_block(text, one) == text
    assert with_block(text, two) == with_block(around, two)


def test_a_hand_edit_between_the_markers_is_never_overwritten_without_being_told() -> None:
    text = with_block("# Mine\n", "A memory.\n").replace("A memory.", "My own words.")
    with pytest.raises(HandEditedError, match="edited by hand"):
        with_block(text, "Another.\n")
    assert "My own words." not in with_block(text, "Another.\n", force=True)
    with pytest.raises(UsageError, match="not one pair"):
        with_block(text + text, "Another.\n")
    with pytest.raises(UsageError, match="own marker"):
        with_block("", "<!-- memfs:end -->\n")


def test_only_what_is_approved_is_exported_and_check_says_what_is_behind(
    team: Team, alice: Person, memfs: Memfs
) -> None:
    team.write("b", memory_text("Nobody approved this."))
    team.commit("b")
    run = memfs("export", "agents", "--json", cwd=team.root)
    assert run.code == 0, run.err
    assert json.loads(run.out)["memories"] == ["a"]
    text = (team.root / "AGENTS.md").read_text()
    assert "Nobody approved this." not in text
    assert "approved by alice@example.com" in text
    assert memfs("export", "agents", "--check", cwd=team.root).code == 0
    team.approve(alice, "b")
    assert memfs("export", "agents", "--check", cwd=team.root).code == 1
    assert memfs("export", "agents", cwd=team.root).code == 0
    assert "Nobody approved this." in (team.root / "AGENTS.md").read_text()


def test_exported_jsonl_comes_in_again_without_loss(team: Team, memfs: Memfs, tmp_path: Path) -> None:
    run = memfs("export", "jsonl", cwd=team.root)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/memories.jsonl").write_text(run.out)
    repo = tmp_path / "elsewhere"
    repo.mkdir()
    git(repo, "init", "-q")
    done = memfs("import", str(tmp_path / "out"), "--yes", "--json", cwd=repo)
    entries = json.loads(done.out)["entries"]
    assert [entry["outcome"] for entry in entries] == ["new"], entries[0]["reason"]
    row = json.loads(run.out.splitlines()[0])
    written = next((repo / "memories/team").glob("*.md")).read_text()
    assert row["text"] in written
    assert f"recorded: {row['recorded']}" in written
