"""`init`: a new repository, one inside a code repository, a personal one; never over anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import git

from memfs.disk.places import Places
from memfs.disk.settings import read_repository_settings
from memfs.disk.shipped import iter_template
from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError, UsageError
from memfs.git.commit import Change, commit_changes
from memfs.repository.initialise import ATTRIBUTES, Initialised, init_repository

SKILLS = {".agents/skills/memfs/SKILL.md", ".claude/skills/memfs/SKILL.md"}


def _commit(made: Initialised) -> str:
    changes = [Change(path=path, content=raw, before=made.before[path]) for path, raw in made.files.items()]
    return commit_changes(made.tree, changes, "Begin")


def test_a_new_repository_is_the_template_whole(tmp_path: Path, places: Places) -> None:
    made = init_repository(tmp_path / "new/memories", places=places)
    assert made.fresh
    assert made.files == dict(iter_template())
    assert git(made.tree.root, "status", "--porcelain") == ""  # nothing is written before it is committed
    _commit(made)
    assert git(made.tree.root, "status", "--porcelain") == ""
    assert git(made.tree.root, "symbolic-ref", "--short", "HEAD") == "main"
    settings = read_repository_settings(made.tree)
    assert settings.sound
    assert settings.problems == ()
    lines = (made.tree.root / ".gitattributes").read_text().splitlines()
    assert "memories/** text eol=lf" in " ".join(lines)
    assert git(made.tree.root, "check-attr", "eol", "--", "memories/team/a.md").endswith("eol: lf")
    assert git(made.tree.root, "check-attr", "text", "--", ".memfs/keyring.1").endswith("text: unset")


def test_running_it_again_changes_nothing(tmp_path: Path, places: Places) -> None:
    _commit(init_repository(tmp_path / "new", places=places))
    again = init_repository(tmp_path / "new", places=places)
    assert not again.fresh
    assert again.files == {}


def test_the_user_s_default_branch_is_kept(tmp_path: Path, places: Places) -> None:
    git(tmp_path, "config", "--global", "init.defaultBranch", "trunk")
    made = init_repository(tmp_path / "new", places=places)
    assert git(made.tree.root, "symbolic-ref", "--short", "HEAD") == "trunk"


def test_a_code_repository_gets_two_folders_two_lines_and_the_skill(repo: Path, places: Places) -> None:
    (repo / ".gitattributes").write_bytes(b"*.png binary\n# mine\n*.sh text eol=lf")
    (repo / "src.py").write_text("code\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "code")
    (repo / "wip.txt").write_text("wip")
    git(repo, "add", "wip.txt")
    made = init_repository(repo, places=places)
    assert not made.fresh
    assert set(made.files) == {".gitattributes", ".memfs/config.yaml", "memories/team/.gitkeep", *SKILLS}
    _commit(made)
    added = "".join(line + "\n" for line in ATTRIBUTES).encode()
    assert (repo / ".gitattributes").read_bytes() == b"*.png binary\n# mine\n*.sh text eol=lf\n" + added
    assert git(repo, "status", "--porcelain") == "A  wip.txt"
    assert git(repo, "show", "--format=", "--name-only", "HEAD").splitlines() == sorted(made.files)
    assert init_repository(repo, places=places).files == {}


def test_lines_that_say_it_already_are_enough(repo: Path, places: Places) -> None:
    (repo / ".gitattributes").write_text("memories/**   text  eol=lf diff=markdown\n.memfs/** -text -diff\n")
    git(repo, "commit", "-qam", "attributes")
    assert ".gitattributes" not in init_repository(repo, places=places).files


def test_attributes_with_crlf_keep_their_line_ends(repo: Path, places: Places) -> None:
    git(repo, "config", "core.autocrlf", "true")
    (repo / ".gitattributes").write_bytes(b"*.png binary\r\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "attributes")
    _commit(init_repository(repo, places=places))
    assert (repo / ".gitattributes").read_bytes().count(b"\r\n") == 3
    assert git(repo, "status", "--porcelain") == ""
    assert "\r" not in git(repo, "cat-file", "blob", "HEAD:.gitattributes")


def test_changed_attributes_that_are_not_committed_stop_it(repo: Path, places: Places) -> None:
    (repo / ".gitattributes").write_text("*.png binary\n")
    with pytest.raises(UsageError, match="changes of yours that are not committed"):
        init_repository(repo, places=places)


def test_what_is_there_is_never_overwritten(repo: Path, places: Places) -> None:
    (repo / ".memfs").mkdir()
    (repo / ".memfs/config.yaml").write_text("scopes: [team]\n")
    (repo / "memories/team").mkdir()
    (repo / "memories/team/a.md").write_text("mine\n")
    made = init_repository(repo, places=places)
    assert set(made.files) == SKILLS
    assert ".memfs/config.yaml" in made.kept
    folder = repo.parent / "plain"
    folder.mkdir()
    (folder / "README.md").write_text("mine\n")
    made = init_repository(folder, places=places)
    _commit(made)
    assert (folder / "README.md").read_text() == "mine\n"
    assert git(folder, "status", "--porcelain") == "?? README.md"


def test_a_run_that_was_cut_short_is_finished_by_the_next(tmp_path: Path, places: Places) -> None:
    made = init_repository(tmp_path / "new", places=places)
    for path, raw in list(made.files.items())[:4]:
        (made.tree.root / path).parent.mkdir(parents=True, exist_ok=True)
        (made.tree.root / path).write_bytes(raw)
    again = init_repository(tmp_path / "new", places=places)
    assert again.files == made.files
    _commit(again)
    assert git(again.tree.root, "status", "--porcelain") == ""


def test_a_personal_repository_is_the_user_s_alone(places: Places) -> None:
    made = init_repository(None, places=places, personal=True)
    assert made.tree.root == places.share / "personal"
    assert made.tree.root.stat().st_mode & 0o777 == 0o700
    _commit(made)
    assert read_repository_settings(made.tree).scopes == ("personal",)
    assert (made.tree.root / "memories/personal").is_dir()
    assert init_repository(None, places=places, personal=True).files == {}


def test_a_personal_repository_is_its_own_even_in_a_home_under_git(places: Places) -> None:
    git(places.home, "init", "-q")
    made = init_repository(None, places=places, personal=True)
    assert made.tree.root == places.share / "personal"
    _commit(made)
    assert git(places.home, "rev-list", "--all") == ""


def test_inside_another_repository_it_asks_for_its_root(repo: Path, places: Places) -> None:
    (repo / "src").mkdir()
    for folder in (repo / "src", repo / "src/new"):
        with pytest.raises(UsageError, match="inside another repository") as caught:
            init_repository(folder, places=places)
        assert str(repo) in str(caught.value.hint)
    assert not (repo / "src/new").exists()


def test_broken_bare_and_inner_folders_are_refused_untouched(make_case, places: Places) -> None:
    case = make_case("10")
    for name, message in {
        "broken": "broken",
        "plain.git": "no work tree",
        "seed/.git": "no work tree",
        "proj": "bare",
    }.items():
        before = sorted(case.rglob("*"))
        with pytest.raises(UsageError, match=message):
            init_repository(case / name, places=places)
        assert sorted(case.rglob("*")) == before


def test_unpacked_files_become_a_repository_where_they_are(make_case, places: Places) -> None:
    case = make_case("10")
    made = init_repository(case / "not-a-repo", places=places)
    assert made.fresh
    assert made.tree.root == case / "not-a-repo"
    _commit(made)
    assert git(made.tree.root, "status", "--porcelain") == "?? memories/x.md"


def test_without_an_identity_nothing_is_made(tmp_path: Path, places: Places) -> None:
    git(tmp_path, "config", "--global", "--unset", "user.email")
    with pytest.raises(SetupError, match="does not know your email"):
        init_repository(tmp_path / "new", places=places)
    assert not (tmp_path / "new").exists()


def test_git_s_variables_do_not_choose_the_place(
    tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    made = init_repository(tmp_path / "new", places=places)
    assert made.tree.git_dir == tmp_path / "new/.git"
    assert sorted(os.listdir(tmp_path)) == ["new"]


def test_a_symlinked_memories_folder_is_refused(tree: WorkTree, tmp_path: Path, places: Places) -> None:
    (tmp_path / "outside").mkdir()
    (tree.root / "memories").rmdir()
    (tree.root / "memories").symlink_to(tmp_path / "outside")
    with pytest.raises(Exception, match="symlink"):
        init_repository(tree.root, places=places)
    assert os.listdir(tmp_path / "outside") == []
