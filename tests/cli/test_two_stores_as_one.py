"""What is the user's alone goes to the user's own store, and an id is found in every store that recall looks into."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git, launch_command, run_at_terminal

from memfs.disk.places import Places

Memfs = Callable[..., Run]


@pytest.fixture
def mine(repo: Path, memfs: Memfs, places: Places) -> Path:
    """Return the user's own store; ``repo`` is a team's repository that takes no personal memories."""
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    (repo / ".memfs/config.yaml").write_text("version: 1\nscopes: [team]\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Take the team's memories alone")
    assert memfs("init", "--personal", "--no-keyring", cwd=repo).code == 0
    return places.share / "personal"


def remember(memfs: Memfs, text: str, *words: str, cwd: Path) -> Run:
    run = memfs("remember", text, "--origin", "owner", *words, cwd=cwd)
    assert run.code == 0, run.err
    return run


def test_a_personal_memory_goes_to_the_personal_store_and_that_is_said(repo: Path, mine: Path, memfs: Memfs) -> None:
    run = remember(memfs, "My editor is vim.", "--scope", "personal", cwd=repo)
    assert f"into your personal store, {mine}" in run.err
    assert (mine / "memories/personal/my-editor-is-vim.md").is_file()
    assert git(repo, "status", "--porcelain") == ""
    assert "Remember" not in git(repo, "log", "--format=%s")


def test_outside_of_any_repository_too(tmp_path: Path, mine: Path, memfs: Memfs) -> None:
    (tmp_path / "nowhere").mkdir()
    remember(memfs, "My editor is vim.", "--scope", "personal", cwd=tmp_path / "nowhere")
    assert (mine / "memories/personal/my-editor-is-vim.md").is_file()


def test_without_a_personal_store_the_answer_says_how_to_make_one(repo: Path, memfs: Memfs) -> None:
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    (repo / ".memfs/config.yaml").write_text("version: 1\nscopes: [team]\n")
    run = memfs("remember", "My editor is vim.", "--scope", "personal", "--origin", "owner", cwd=repo)
    assert run.code == 4
    assert "`memfs init --personal` makes a store of your own" in run.err
    assert len(run.err.splitlines()) <= 3


def test_a_lost_personal_store_is_an_error_and_never_the_team_s_folder(repo: Path, mine: Path, memfs: Memfs) -> None:
    (repo / ".memfs/config.yaml").write_text("version: 1\nscopes: [team, personal]\n")
    mine.rename(mine.parent / "elsewhere")
    run = memfs("remember", "My editor is vim.", "--scope", "personal", "--origin", "owner", cwd=repo)
    assert run.code != 0
    assert not (repo / "memories/personal").exists()


def test_an_agent_writes_nothing_there_unless_the_user_lets_it(repo: Path, mine: Path, memfs: Memfs) -> None:
    remember(memfs, "My editor is vim.", "--scope", "personal", cwd=repo)
    head = git(mine, "rev-parse", "HEAD")
    for words in (
        ["remember", "My shell is fish.", "--scope", "personal", "--evidence", "https://example.com/x"],
        ["edit", "my-editor-is-vim", "My editor is ed."],
        ["rename", "my-editor-is-vim", "editor"],
        ["forget", "my-editor-is-vim"],
    ):
        run = memfs(*words, cwd=repo)
        assert (run.code, "let no agent write" in run.err) == (5, True), run.err
    assert git(mine, "rev-parse", "HEAD") == head


def test_ids_are_found_in_both_and_the_project_s_own_come_first(repo: Path, mine: Path, memfs: Memfs) -> None:
    remember(memfs, "My editor is vim.", "--scope", "personal", "--id", "editor", cwd=repo)
    run = memfs("show", "editor", cwd=repo)
    assert (run.code, "My editor is vim." in run.out) == (0, True)
    assert f"from your store personal, {mine}" in run.err
    assert "Remember editor" in memfs("history", "editor", cwd=repo).out
    remember(memfs, "The team's editor is ed.", "--id", "editor", cwd=repo)
    run = memfs("show", "editor", cwd=repo)
    assert "The team's editor is ed." in run.out
    assert "from your store" not in run.err


def test_a_person_changes_and_forgets_one_from_where_they_are(repo: Path, mine: Path, sealed: Path) -> None:
    def type_in(*words: str) -> Run:
        return run_at_terminal([*launch_command(sealed), *words], [], cwd=repo, env=dict(os.environ))

    assert (
        type_in("remember", "My editor is vim.", "--scope", "personal", "--evidence", "https://example.com").code == 0
    )
    assert type_in("edit", "my-editor-is-vim", "My editor is ed.").code == 0
    assert "My editor is ed." in (mine / "memories/personal/my-editor-is-vim.md").read_text()
    assert type_in("rename", "my-editor-is-vim", "editor").code == 0
    assert type_in("forget", "editor").code == 0
    assert not list((mine / "memories/personal").glob("*.md"))


def test_a_draft_kept_there_is_named_with_where_it_is(repo: Path, mine: Path, memfs: Memfs) -> None:
    text = f"The staging password: {'hunter2' * 2}\n"
    run = memfs("remember", "-", "--scope", "personal", "--origin", "owner", cwd=repo, stdin=text.encode())
    assert run.code == 5
    assert f"`memfs -C {mine} drafts submit draft-1`" in run.err
    assert "draft-1" in memfs("drafts", cwd=mine).out


# -- promote ------------------------------------------------------------------------------------------


@pytest.fixture
def origin(repo: Path, mine: Path, tmp_path: Path) -> Path:
    """Return a bare origin of the team's repository."""
    bare = tmp_path / "origin.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(repo, "remote", "add", "origin", str(bare))
    git(repo, "fetch", "-q", "origin")
    git(repo, "remote", "set-head", "origin", "main")
    return bare


def test_a_memory_of_one_s_own_is_proposed_to_the_team_and_stays(
    repo: Path, mine: Path, origin: Path, memfs: Memfs, sealed: Path
) -> None:
    remember(memfs, "Deploys happen on Tuesdays.", "--scope", "personal", "--id", "deploys", "--tag", "ops", cwd=repo)
    argv = [*launch_command(sealed), "promote", "deploys"]
    run = run_at_terminal(argv, [("Propose this text", "y")], cwd=repo, env=dict(os.environ))
    assert run.code == 0, run.out
    assert "| Deploys happen on Tuesdays." in run.out
    text = git(origin, "show", "memory/deploys:memories/team/deploys.md")
    assert "scope: team\n" in text
    assert "tags: [ops]" in text
    assert "Deploys happen on Tuesdays." in text
    assert (mine / "memories/personal/deploys.md").is_file()
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("answer", ["", "n", "maybe"])
def test_nothing_leaves_without_a_person_s_yes(
    answer: str, repo: Path, mine: Path, origin: Path, memfs: Memfs, sealed: Path
) -> None:
    remember(memfs, "My salary talk is in May.", "--scope", "personal", "--id", "talk", cwd=repo)
    run = memfs("promote", "talk", cwd=repo)
    assert (run.code, "only when a person at a terminal says so" in run.err) == (2, True)
    argv = [*launch_command(sealed), "promote", "talk"]
    assert run_at_terminal(argv, [("Propose", answer)], cwd=repo, env=dict(os.environ)).code == 1
    assert git(origin, "branch", "--format=%(refname:short)") == "main"
    assert git(repo, "branch", "--format=%(refname:short)") == "main"


def test_evidence_that_the_team_does_not_have_is_named_anew(repo: Path, mine: Path, origin: Path, memfs: Memfs) -> None:
    (mine / "notes.md").write_text("Tuesdays.\n")
    remember(memfs, "Deploys happen on Tuesdays.", "--scope", "personal", "--evidence", "notes.md", cwd=mine)
    run = memfs("promote", "deploys-happen-on-tuesdays", "-n", cwd=repo)
    assert run.code == 4
    assert "notes.md" in run.err
    run = memfs("promote", "deploys-happen-on-tuesdays", "-n", "--evidence", "https://example.com/x", cwd=repo)
    assert (run.code, "writes memories/team/deploys-happen-on-tuesdays.md" in run.out) == (0, True)


def test_without_two_stores_the_answer_says_what_it_takes(repo: Path, memfs: Memfs) -> None:
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    run = memfs("promote", "x", cwd=repo)
    assert (run.code, "`memfs init --personal` makes your store" in run.err) == (2, True)


def test_several_ids_of_several_stores_are_verified_in_one_go(repo: Path, mine: Path, memfs: Memfs) -> None:
    (repo / "docs.md").write_text("one\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "docs")
    remember(memfs, "The team deploys on Tuesdays.", "--id", "deploys", "--evidence", "docs.md", cwd=repo)
    remember(memfs, "My editor is vim.", "--id", "editor", "--scope", "personal", "--review", "on 2026-12-02", cwd=repo)
    run = memfs("verify", "deploys", "editor", cwd=repo)
    assert run.code == 5, run.err  # nobody sits here, and no agent may write into the user's own store
    assert "let no agent write" in run.err
    assert "memory/verify" not in git(mine, "branch", "--list", "memory/*")
    argv = [*launch_command(mine.parents[3]), "verify", "deploys", "editor"]
    shown = run_at_terminal(argv, [], cwd=repo, env=dict(os.environ))
    assert shown.code == 0, shown.out
    assert "deploys: nothing that it rests on has changed" in shown.out
    assert "from your store personal" in shown.out
    assert "no memory of that id" not in shown.out


def test_an_agent_proposes_nothing_of_the_users_own_store(repo: Path, mine: Path, memfs: Memfs) -> None:
    remember(memfs, "My editor is vim.", "--id", "editor", "--scope", "personal", cwd=repo)
    run = memfs("propose", "editor", "--no-push", cwd=repo)
    assert (run.code, "let no agent write" in run.err) == (5, True), run.err
    assert git(mine, "branch", "--list", "memory/*") == ""
