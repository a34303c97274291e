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
from memfs.model.reader import read_memory

Memfs = Callable[..., Run]
RULE = "export-behind"
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


def test_check_says_when_an_export_is_behind_or_was_edited(team: Team, alice: Person, memfs: Memfs) -> None:
    def found() -> list[str]:
        return [row["path"] for row in memfs("check", "--json", cwd=team.root).json["results"] if row["rule"] == RULE]

    assert found() == []
    assert memfs("export", "agents", cwd=team.root).code == 0
    assert found() == []
    team.write("b", memory_text("A second one is approved."))
    team.commit("b")
    assert found() == []
    team.approve(alice, "b")
    assert found() == ["AGENTS.md"]
    assert memfs("export", "agents", cwd=team.root).code == 0
    assert found() == []
    page = team.root / "AGENTS.md"
    page.write_text(page.read_text().replace("second", "third"))
    run = memfs("check", "--json", cwd=team.root)
    (result,) = [row for row in run.json["results"] if row["rule"] == RULE]
    assert "edited by hand" in result["message"]


def test_a_pack_is_a_repository_with_its_approvals(team: Team, memfs: Memfs, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    assert memfs("export", "pack", str(pack), cwd=team.root).code == 0
    before = {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()}
    assert (pack / "memories/team/a.md").read_bytes() == (team.root / "memories/team/a.md").read_bytes()
    assert "(memories/team/a.md)" in (pack / "MEMORY.md").read_text()
    assert memfs("export", "pack", str(pack), cwd=team.root).code == 0
    assert {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()} == before
    git(pack, "init", "-q")
    git(pack, "add", "-A")
    git(pack, "commit", "-qm", "pack")
    assert memfs("show", "a", "--json", cwd=pack).json["memory"]["trust"].startswith("approved")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "-q")
    done = memfs("import", str(pack), "--yes", "--json", cwd=elsewhere)
    assert [entry["id"] for entry in json.loads(done.out)["entries"] if entry["outcome"] == "new"] == ["a"]


def test_claude_s_memory_comes_in_again(team: Team, memfs: Memfs, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    assert memfs("export", "claude-memory", str(folder), cwd=team.root).code == 0
    repo = tmp_path / "elsewhere"
    repo.mkdir()
    git(repo, "init", "-q")
    entries = json.loads(memfs("import", str(folder), "--yes", "--json", cwd=repo).out)["entries"]
    assert [entry["id"] for entry in entries if entry["outcome"] == "new"] == ["a"]
    memory = read_memory("memories/team/a.md", (team.root / "memories/team/a.md").read_bytes()).memory
    assert memory is not None
    assert memory.body.strip() in (repo / "memories/team/a.md").read_text()


def test_a_folder_with_anything_else_is_left_alone(team: Team, memfs: Memfs, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# my own\n")
    for form in ("pack", "claude-memory"):
        assert memfs("export", form, str(folder), cwd=team.root).code == 2
        assert memfs("export", form, cwd=team.root).code == 2
    assert [path.name for path in folder.iterdir()] == ["MEMORY.md"]
    other = tmp_path / "other"
    assert memfs("export", "claude-memory", str(other), cwd=team.root).code == 0
    (other / "mine.md").write_text("mine\n")
    team.path("a").unlink()
    team.commit("gone")
    assert memfs("export", "claude-memory", str(other), cwd=team.root).code == 0
    assert sorted(path.name for path in other.iterdir()) == ["MEMORY.md", "mine.md"]
    (other / "MEMORY.md").unlink()
    (other / "MEMORY.md").symlink_to(folder / "MEMORY.md")
    assert memfs("export", "claude-memory", str(other), cwd=team.root).code == 2
