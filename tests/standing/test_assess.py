"""State joined to a file: evidence by blob, triggers, and no process for what is known."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from indexes import write_memory
from support import git

from memfs.disk.files import read_file
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.model.reader import read_memory
from memfs.standing.assess import Assessment, Assessor

TODAY = date(2027, 3, 1)


@pytest.fixture
def adr(repo: Path) -> str:
    """Return the commit that holds docs/adr.md."""
    (repo / "docs").mkdir()
    (repo / "docs/adr.md").write_text("first line\nsecond line\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "adr")
    return git(repo, "rev-parse", "--short=12", "HEAD")


def assess(root: Path, places: Places, path: Path, *, today: date = TODAY) -> Assessment:
    tree = find_work_tree(root)
    name = path.relative_to(root).as_posix()
    return Assessor(tree, places, today).assess(read_memory(name, read_file(tree, name)))


def states(assessment: Assessment) -> tuple[str, list[str]]:
    return assessment.state.state.value, [report.status.value for report in assessment.state.evidence]


def test_evidence_is_compared_by_blob(repo: Path, places: Places, adr: str) -> None:
    path = write_memory(repo, "tied", "Tied.", evidence=f'["docs/adr.md@{adr}"]')
    assert states(assess(repo, places, path)) == ("current", ["unchanged"])
    (repo / "docs/adr.md").write_text("first line\nanother line\n")
    changed = assess(repo, places, path)
    assert states(changed) == ("recheck", ["changed"])
    assert changed.state.evidence[0].line_now == "another line"
    (repo / "docs/adr.md").unlink()
    assert states(assess(repo, places, path)) == ("recheck", ["missing"])


def test_a_secret_in_changed_evidence_is_not_shown(repo: Path, places: Places, adr: str) -> None:
    path = write_memory(repo, "tied", "Tied.", evidence=f'["docs/adr.md@{adr}"]')
    (repo / "docs/adr.md").write_text("first line\naws_secret_access_key = " + "AKIA" + "QX7ZB3LMN5TR2VWY" + "\n")
    for _ in range(2):
        assert "AKIA" not in str(assess(repo, places, path).state)
        assert str(assess(repo, places, path).state.evidence[0].line_now).startswith("[withheld: ")


def test_line_ends_that_git_changed_are_no_change(repo: Path, places: Places, adr: str) -> None:
    path = write_memory(repo, "tied", "Tied.", evidence=f'["docs/adr.md@{adr}"]')
    (repo / "docs/adr.md").write_bytes(b"first line\r\nsecond line\r\n")
    assert states(assess(repo, places, path)) == ("current", ["unchanged"])


def test_a_large_file_that_git_lfs_fetched_is_its_pointer(repo: Path, places: Places) -> None:
    from hashlib import sha256

    content = b"large content"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(content).hexdigest()}\nsize 13\n"
    (repo / "large.bin").write_text(pointer)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "pointer")
    path = write_memory(repo, "tied", "Tied.", evidence=f'["large.bin@{git(repo, "rev-parse", "HEAD")}"]')
    (repo / "large.bin").write_bytes(content)
    assert states(assess(repo, places, path)) == ("current", ["unchanged"])


def test_an_unknown_commit_cannot_be_verified_until_it_is_there(repo: Path, places: Places, adr: str) -> None:
    path = write_memory(repo, "tied", "Tied.", evidence='["docs/adr.md@0123456789ab"]')
    assert states(assess(repo, places, path)) == ("unknown", ["unverifiable"])


def test_evidence_outside_a_sparse_checkout_is_not_missing(repo: Path, places: Places, adr: str) -> None:
    path = write_memory(repo, "tied", "Tied.", evidence=f'["docs/adr.md@{adr}"]')
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memory")
    git(repo, "sparse-checkout", "set", "--no-cone", "/memories/", "/README.md")
    assert not (repo / "docs/adr.md").exists()
    assert states(assess(repo, places, path)) == ("current", ["unchanged"])


def test_memories_outside_a_sparse_checkout_are_counted(repo: Path, places: Places, adr: str) -> None:
    write_memory(repo, "here", "Here.", scope="team")
    write_memory(repo, "there", "There.", scope="team/billing")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memories")
    git(repo, "sparse-checkout", "set", "--no-cone", "/memories/team/*.md", "/docs/")
    assessor = Assessor(find_work_tree(repo), places, TODAY)
    assert assessor.not_checked_out() == ("memories/team/billing/there.md",)


def test_a_path_trigger_fires_when_the_path_changes_after_the_memory_was_written(
    repo: Path, places: Places, adr: str
) -> None:
    path = write_memory(repo, "watch", "Watching.", review_trigger="when docs/adr.md changes")
    assert states(assess(repo, places, path))[0] == "current"
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memory")
    assert states(assess(repo, places, path))[0] == "current"
    (repo / "docs/adr.md").write_text("changed\n")
    git(repo, "commit", "-qam", "change")
    assert states(assess(repo, places, path))[0] == "recheck"
    path.write_text(path.read_text().replace("Watching.", "Looked again."))
    git(repo, "commit", "-qam", "looked at it")
    assert states(assess(repo, places, path))[0] == "current"


def test_a_version_trigger_reads_the_projects_manifests(repo: Path, places: Places) -> None:
    path = write_memory(repo, "pin", "Pinned.", review_trigger="when django >= 5.0")
    assert states(assess(repo, places, path))[0] == "current"
    (repo / "requirements.txt").write_text("django==4.2\n")
    assert states(assess(repo, places, path))[0] == "current"
    (repo / "requirements.txt").write_text("Django==5.1\n")
    assert states(assess(repo, places, path))[0] == "recheck"


def test_a_trigger_on_another_memory_fires_when_that_is_superseded(repo: Path, places: Places) -> None:
    path = write_memory(repo, "follows", "Follows.", review_trigger="when leader is superseded")
    write_memory(repo, "leader", "Leads.")
    assert states(assess(repo, places, path))[0] == "current"
    write_memory(repo, "new-leader", "Leads now.", supersedes="[leader]")
    assert states(assess(repo, places, path))[0] == "recheck"


def test_git_is_not_started_for_what_is_known(
    repo: Path, places: Places, adr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [
        write_memory(repo, "tied", "Tied.", evidence=f'["docs/adr.md@{adr}", "gone.md@{adr}"]'),
        write_memory(repo, "watch", "Watching.", review_trigger="when docs/adr.md changes"),
    ]
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "memories")
    before = [states(assess(repo, places, path)) for path in paths]
    import memfs.git.read as store_git

    monkeypatch.setattr(store_git, "run", lambda *_a, **_k: pytest.fail("git was started"))
    assert [states(assess(repo, places, path)) for path in paths] == before


def test_the_gates_answer_is_kept_under_its_version(
    repo: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    import memfs.standing.background as assessing

    path = write_memory(repo, "plain", "Plain.")
    assess(repo, places, path)
    asked: list[str] = []
    judge = assessing.judge_reading
    monkeypatch.setattr(assessing, "judge_reading", lambda file: asked.append(file.id) or judge(file))
    assess(repo, places, path)
    assert asked == []
    monkeypatch.setattr(assessing, "GATE_VERSION", 999_999)
    assess(repo, places, path)
    assert set(asked) == {"plain"}


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b'{"x": 1}'])
def test_damaged_facts_are_asked_for_again(raw: bytes, repo: Path, places: Places, adr: str) -> None:
    path = write_memory(repo, "tied", "Tied.", evidence=f'["docs/adr.md@{adr}"]')
    before = states(assess(repo, places, path))
    for shard in (places.cache / "index").rglob("facts/*.json"):
        shard.write_bytes(raw)
    assert states(assess(repo, places, path)) == before


def test_without_git_evidence_cannot_be_verified_and_nothing_fails(places: Places, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    path = write_memory(root, "tied", "Tied.", evidence='["docs/adr.md@0123456789ab"]')
    assert states(assess(root, places, path)) == ("unknown", ["unverifiable"])
