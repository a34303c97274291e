"""One question, one answer: list, recall, check, check of a change and browse say the same of a memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest
from indexes import write_memory
from support import git

from memfs.browse.catalogue import Shelf
from memfs.check.run import check_repository
from memfs.check.states import Target
from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.git.snapshot import GitFiles
from memfs.model.memory import Memory, StateReport
from memfs.model.reader import read_memory
from memfs.recall.query import Query
from memfs.recall.search import recall
from memfs.repository.repository import Repository
from memfs.sight import OWNER
from memfs.standing.assess import Assessor
from memfs.standing.facts import Facts, Forgetful, Subject
from memfs.standing.tie import Knot

TODAY = date(2027, 3, 1)
TEXT = "first line\nsecond line\nthird line\n"


def remember(root: Path, path: str = "docs/adr.md", *, old: bool = False) -> None:
    """Write memories that rest on a file, its lines and its commit, and commit them."""
    knot = Knot(find_work_tree(root), scope="team")
    commit = git(root, "rev-parse", "HEAD")
    write_memory(root, "whole", "Rests on all of it.", evidence=f'["{knot.tie(path).text}"]')
    write_memory(root, "watching", "Watches it.", review_trigger=f"when {path} changes")
    if not old:
        write_memory(root, "part", "Rests on a part.", evidence=f'["{knot.tie(f"{path}#L2").text}"]')
    write_memory(root, "commit", "Rests on a commit.", evidence=f'["{path}@{commit[:12]}"]')
    git(root, "add", "-A")
    git(root, "commit", "-qm", "memories")


@pytest.fixture
def adr(repo: Path) -> Path:
    """Return a repository with a file to rest on."""
    (repo / "docs").mkdir()
    (repo / "docs/adr.md").write_text(TEXT)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "adr")
    return repo


def unchanged(root: Path, folder: Path) -> Path:
    remember(root)
    return root


def changed(root: Path, folder: Path) -> Path:
    remember(root)
    (root / "docs/adr.md").write_text("other\n")
    git(root, "commit", "-qam", "change")
    return root


def gone(root: Path, folder: Path) -> Path:
    remember(root)
    git(root, "rm", "-q", "docs/adr.md")
    git(root, "commit", "-qm", "delete")
    return root


def renamed(root: Path, folder: Path) -> Path:
    remember(root)
    git(root, "mv", "docs/adr.md", "docs/decision.md")
    git(root, "commit", "-qm", "rename")
    return root


def with_other_line_ends(root: Path, folder: Path) -> Path:
    remember(root)
    git(root, "config", "core.autocrlf", "true")
    (root / "docs/adr.md").write_bytes(TEXT.replace("\n", "\r\n").encode())
    git(root, "add", "-A")
    return root


def committed_with_other_line_ends(root: Path, folder: Path) -> Path:
    remember(root)
    (root / "docs/adr.md").write_bytes(TEXT.replace("\n", "\r\n").encode())
    git(root, "commit", "-qam", "windows")
    return root


def an_lfs_pointer(root: Path, folder: Path) -> Path:
    content = TEXT.encode()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(content).hexdigest()}\nsize 34\n"
    (root / "docs/adr.md").write_text(pointer)
    git(root, "commit", "-qam", "pointer")
    remember(root, old=True)
    (root / "docs/adr.md").write_bytes(content)
    git(root, "update-index", "--assume-unchanged", "docs/adr.md")
    return root


def a_sparse_checkout(root: Path, folder: Path) -> Path:
    remember(root)
    git(root, "sparse-checkout", "set", "--no-cone", "/memories/", "/README.md")
    assert not (root / "docs/adr.md").exists()
    return root


def a_shallow_clone(root: Path, folder: Path) -> Path:
    remember(root)
    (root / "other").write_text("x\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "other")
    git(folder, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    return folder / "shallow"


def a_squashed_branch(root: Path, folder: Path) -> Path:
    git(root, "switch", "-qc", "work")
    (root / "docs/adr.md").write_text(TEXT + "fourth line\n")
    git(root, "commit", "-qam", "change")
    remember(root)
    git(root, "switch", "-q", "main")
    git(root, "merge", "-q", "--squash", "work")
    git(root, "commit", "-qm", "squash")
    git(folder, "clone", "-q", "--no-local", "--single-branch", "--branch", "main", f"file://{root}", "fresh")
    return folder / "fresh"


def a_submodule(root: Path, folder: Path) -> Path:
    git(folder, "init", "-q", "other")
    (folder / "other/adr.md").write_text(TEXT)
    git(folder / "other", "add", "-A")
    git(folder / "other", "commit", "-qm", "x")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder / "other"), "docs/lib")
    git(root, "commit", "-qm", "submodule")
    write_memory(root, "whole", "Rests on it.", evidence=f'["docs/lib/adr.md@blob:{"0" * 16}"]')
    git(root, "add", "-A")
    git(root, "commit", "-qm", "memories")
    return root


def a_symlink(root: Path, folder: Path) -> Path:
    remember(root)
    git(root, "mv", "docs/adr.md", "docs/real.md")
    (root / "docs/adr.md").symlink_to("real.md")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "link")
    return root


UNKNOWN = {"commit": "unknown", "watching": "unknown"}
EVERY = {"whole": "current", "part": "current", "commit": "current", "watching": "current"}
DUE = dict.fromkeys(EVERY, "recheck")
CASES: list[tuple[Callable[[Path, Path], Path], dict[str, str]]] = [
    (unchanged, EVERY),
    (changed, DUE),
    (gone, DUE),
    (renamed, EVERY),
    (with_other_line_ends, EVERY),
    (committed_with_other_line_ends, EVERY),
    (an_lfs_pointer, {"whole": "current", "commit": "current", "watching": "current"}),
    (a_sparse_checkout, EVERY),
    (a_shallow_clone, EVERY | UNKNOWN),
    (a_squashed_branch, EVERY),
    (a_submodule, {"whole": "unknown"}),
    (a_symlink, EVERY),
]


@pytest.mark.parametrize(("arrange", "wanted"), CASES, ids=[case[0].__name__ for case in CASES])
def test_every_surface_gives_the_same_answer(
    arrange: Callable[[Path, Path], Path], wanted: dict[str, str], adr: Path, places: Places, tmp_path: Path
) -> None:
    root = arrange(adr, tmp_path)
    tree = find_work_tree(root)
    files = [read_memory(entry.path, read_file(tree, entry.path)) for entry in scan_memories(tree).entries]
    listed = {one.file.id: one.state for one in Assessor(tree, places, TODAY).assess_many(files)}
    assert {memory_id: report.state.value for memory_id, report in listed.items()} == wanted

    def require_same(found: dict[str, StateReport], surface: str) -> None:
        for memory_id, report in listed.items():
            other = found[memory_id] if surface != "recall" else found.get(memory_id, report)
            assert (other.state, other.reasons) == (report.state, report.reasons), (surface, memory_id)
            assert [one.status for one in other.evidence] == [one.status for one in report.evidence], surface

    checked = check_repository(tree, None, Target(), today=TODAY)
    require_same({Path(path).stem: one.report for path, one in checked.standings.items()}, "check")

    head = git(root, "rev-parse", "HEAD")
    subjects = [Subject(path=file.path, digest=file.digest, memory=require(file.memory)) for file in files]
    at_commit = Facts(GitFiles(tree, head), Forgetful(), tips=(head,)).judge(subjects, TODAY)
    require_same({Path(path).stem: report for path, report in at_commit.items()}, "commit")
    staged = Facts(GitFiles(tree, None), Forgetful(), tips=(head,)).judge(subjects, TODAY)
    require_same({Path(path).stem: report for path, report in staged.items()}, "index")

    recalled = recall([("project", tree)], places, Query(text="what it rests on, watches", floor=False), today=TODAY)
    require_same({hit.assessment.file.id: hit.assessment.state for hit in recalled.hits}, "recall")
    repository = Repository.open(root, places=places, today=TODAY)
    shown = {item.id: item.state for item in Shelf(repository, OWNER).current().items}
    assert {memory_id: shown[memory_id] for memory_id in wanted} == wanted


def require(memory: Memory | None) -> Memory:
    assert memory is not None
    return memory
