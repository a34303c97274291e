"""One sentence is enough: defaults that are said, values as people type them, names that one guesses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git, launch_command, run_at_terminal

from memfs.disk.places import Places
from memfs.disk.settings import parse_repository_settings

Memfs = Callable[..., Run]


def remembered(run: Run) -> str:
    assert run.code == 0, run.err
    return run.out.split()[1]


def test_a_sentence_is_a_memory_and_each_default_is_said(repo: Path, memfs: Memfs) -> None:
    run = memfs("remember", "We deploy on Tuesdays after the standup.", "--origin", "owner", cwd=repo)
    assert remembered(run) == "we-deploy-tuesdays-after-standup"
    assert "not given, so: kind observation, scope team, review_trigger on " in run.err
    assert "evidence said by alice@example.com on " in run.err


def test_an_agent_has_the_defaults_and_names_its_evidence(repo: Path, memfs: Memfs) -> None:
    run = memfs("remember", "We deploy on Tuesdays.", cwd=repo)
    assert run.code == 4
    assert run.err.splitlines() == [
        "memfs: required and missing: evidence",
        "  nothing was written; name what it rests on: --evidence PATH, PATH#Heading, #812, a URL or"
        " 'said by PERSON on DATE'",
    ]
    (repo / "deploy.md").write_text("Tuesdays.\n")
    remembered(memfs("remember", "We deploy on Tuesdays.", "--evidence", "deploy.md", cwd=repo))


def test_no_text_at_all_leaves_no_draft_behind(repo: Path, memfs: Memfs) -> None:
    run = memfs("remember", cwd=repo)
    assert run.code == 4
    assert "required and missing: text, evidence" in run.err
    assert "draft" not in run.err
    assert memfs("drafts", cwd=repo).out == ""


def test_enter_at_the_one_question_rests_it_on_the_persons_word(repo: Path, sealed: Path) -> None:
    argv = [*launch_command(sealed), "remember", "We deploy on Tuesdays."]
    run = run_at_terminal(argv, [("rest on", "")], cwd=repo, env=dict(os.environ))
    assert run.code == 0, run.out
    assert "said by alice@example.com on " in (repo / "memories/team/we-deploy-on-tuesdays.md").read_text()


def test_changed_files_are_offered_by_number_and_a_wrong_answer_is_asked_again(repo: Path, sealed: Path) -> None:
    (repo / "deploy.md").write_text("Tuesdays.\n")
    argv = [*launch_command(sealed), "remember", "We deploy on Tuesdays."]
    run = run_at_terminal(argv, [("rest on", "nothing.md"), ("that file", "1")], cwd=repo, env=dict(os.environ))
    assert run.code == 0, run.out
    assert "1  deploy.md" in run.out
    assert "deploy.md@blob:" in (repo / "memories/team/we-deploy-on-tuesdays.md").read_text()


def test_the_settings_say_other_defaults_and_how_commits_look(repo: Path, memfs: Memfs) -> None:
    (repo / ".memfs").mkdir(exist_ok=True)
    (repo / ".memfs/config.yaml").write_text(
        "version: 1\ndefault_kind: decision\ndefault_scope: team/billing\ndefault_review: 2w\n"
        'commit:\n  prefix: "docs: "\n  trailer: "Change-Type: memory"\n'
    )
    run = memfs("remember", "Invoices are numbered by year.", "--origin", "owner", cwd=repo)
    assert remembered(run) == "invoices-are-numbered-by-year"
    text = (repo / "memories/team/billing/invoices-are-numbered-by-year.md").read_text()
    assert "kind: decision\n" in text
    message = git(repo, "log", "-1", "--format=%B").strip()
    assert message == "docs: Remember invoices-are-numbered-by-year\n\nChange-Type: memory"


@pytest.mark.parametrize(
    "line",
    [
        'prefix: "[skip ci] "', 'prefix: "fixes #1 "', 'trailer: "Signed-off-by: memfs"',
        'trailer: "Co-Authored-By: x"', 'trailer: "Skip-Checks: true"', 'trailer: "Closes: #12"',
        'trailer: "Note: [skip ci]"', 'trailer: "A: ***NO_CI***"', 'trailer: "Memfs-Agent: x"',
    ],
)  # fmt: skip
def test_a_repository_puts_no_order_and_no_word_of_a_person_into_commits(line: str) -> None:
    settings = parse_repository_settings(f"version: 1\ncommit:\n  {line}\n".encode())
    assert (settings.message("Remember x"), settings.problems != ()) == ("Remember x", True)


def test_no_repository_but_ones_own_gets_what_one_keeps_for_oneself(repo: Path, memfs: Memfs, places: Places) -> None:
    (repo / ".memfs").mkdir(exist_ok=True)
    for text in ("default_scope: personal\n", "scopes: [personal, team]\ndefault_scope: personal\n"):
        (repo / ".memfs/config.yaml").write_text(f"version: 1\n{text}")
        run = memfs("remember", f"My editor is vim. {len(text)}", "--origin", "owner", cwd=repo)
        assert "scope team" in run.err
        assert not (repo / "memories/personal").exists()
    assert memfs("init", "--personal", "--no-keyring", cwd=repo).code == 0
    mine = places.share / "personal"
    assert memfs("remember", "My editor is vim.", "--origin", "owner", cwd=mine).code == 0
    assert (mine / "memories/personal/my-editor-is-vim.md").is_file()


def test_the_folder_where_one_stands_gives_the_scope(repo: Path, memfs: Memfs) -> None:
    remembered(memfs("remember", "A first one.", "--scope", "team/billing", "--origin", "owner", cwd=repo))
    (repo / "services/billing/src").mkdir(parents=True)
    run = memfs("remember", "A second one.", "--origin", "owner", cwd=repo / "services/billing/src")
    assert "scope team/billing" in run.err
    assert memfs("remember", "A third.", "--scope", "billing", "--origin", "owner", cwd=repo).code == 0
    assert (repo / "memories/team/billing/a-third.md").is_file()


def test_an_exact_double_is_refused_and_again_keeps_it(repo: Path, memfs: Memfs) -> None:
    first = remembered(memfs("remember", "We deploy on Tuesdays.", "--origin", "owner", cwd=repo))
    head = git(repo, "rev-parse", "HEAD")
    run = memfs("remember", "We deploy on Tuesdays.", "--origin", "owner", cwd=repo)
    assert (run.code, run.out) == (5, "")
    assert f"{first}: this memory says the same already" in run.err
    assert git(repo, "rev-parse", "HEAD") == head
    assert memfs("drafts", cwd=repo).out == ""
    assert remembered(memfs("remember", "We deploy on Tuesdays.", "--origin", "owner", "--again", cwd=repo)) != first


def test_options_stand_anywhere_and_the_commit_is_the_persons_own(repo: Path, memfs: Memfs) -> None:
    name = remembered(memfs("add", "--origin", "owner", "We deploy", "-m", "docs: deploys", "on Tuesdays.", cwd=repo))
    assert git(repo, "log", "-1", "--format=%s").strip() == "docs: deploys"
    run = memfs("edit", name, "--tags", "deploy", "We deploy on Wednesdays.", "--no-commit", cwd=repo)
    assert "(not committed)" in run.out, run.err
    assert git(repo, "status", "--porcelain").split() == ["M", f"memories/team/{name}.md"]
    assert "We deploy on Wednesdays." in (repo / f"memories/team/{name}.md").read_text()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("remeber", "x"), ["there is no command 'remeber'", "did you mean `memfs remember`?"]),
        (("forgett", "x"), ["there is no command 'forgett'", "`memfs --help` lists the commands"]),
        (("list", "--jsn"), ["list: there is no option --jsn", "did you mean --json?"]),
        (("show",), ["show: ID is missing", "memfs show ID"]),
    ],
)
def test_a_slip_is_answered_in_two_lines_that_say_what_to_type(
    repo: Path, memfs: Memfs, argv: tuple[str, ...], said: list[str]
) -> None:
    run = memfs(*argv, cwd=repo)
    assert run.code == 2
    assert [line.strip().removeprefix("memfs: ") for line in run.err.splitlines()] == said


def test_a_path_a_title_and_a_slip_find_the_memory(repo: Path, memfs: Memfs) -> None:
    name = remembered(memfs("remember", "We deploy on Tuesdays.", "--origin", "owner", cwd=repo))
    for given in (name, f"memories/team/{name}.md", f"team/{name}.md", "We deploy on Tuesdays."):
        assert json.loads(memfs("show", given, "--json", cwd=repo).out)["memory"]["id"] == name
    run = memfs("get", "we-deploy-on-tusdays", cwd=repo)
    assert run.code == 1
    assert f"did you mean {name}?" in run.err
