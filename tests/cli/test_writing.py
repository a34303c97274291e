"""Recording, changing, replacing and deleting memories from the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git, launch_command, run_at_terminal

FIELDS = (
    "--kind",
    "decision",
    "--scope",
    "team",
    "--origin",
    "owner",
    "--evidence",
    "README.md",
    "--review",
    "on 2030-01-01",
)


@pytest.fixture
def stocked(repo: Path, memfs: Callable[..., Run]) -> Path:
    """Return a repository with the memory `deploy-window`."""
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    assert memfs("remember", "Deploys happen on Tuesdays.", "--id", "deploy-window", *FIELDS, cwd=repo).code == 0
    return repo


def test_the_text_may_come_from_standard_input(stocked: Path, memfs: Callable[..., Run]) -> None:
    text = "Backups run at night.\n\nWhy: the disks are idle then.\n"
    run = memfs("remember", "-", "--id", "backups", *FIELDS, cwd=stocked, stdin=text.encode())
    assert run.code == 0, run.err
    assert (stocked / "memories/team/backups.md").read_text().endswith("---\n" + text)


def test_text_that_is_not_utf_8_is_refused_with_its_place(stocked: Path, memfs: Callable[..., Run]) -> None:
    run = memfs("remember", "-", *FIELDS, cwd=stocked, stdin=b"caf\xe9")
    assert run.code == 2
    assert "standard input, byte 4" in run.err


def test_bare_path_evidence_is_tied_to_the_content_that_it_has(stocked: Path) -> None:
    text = (stocked / "memories/team/deploy-window.md").read_text()
    blob = git(stocked, "rev-parse", "HEAD:README.md")
    assert f"  - README.md@blob:{blob[:32]}\n" in text


def test_without_a_terminal_the_origin_is_an_agents(stocked: Path, memfs: Callable[..., Run]) -> None:
    options = [option for option in FIELDS if option not in ("--origin", "owner")]
    assert memfs("remember", "The build takes nine minutes.", "--id", "build", *options, cwd=stocked).code == 0
    assert "origin: agent\n" in (stocked / "memories/team/build.md").read_text()


@pytest.mark.slow
def test_on_a_terminal_only_the_evidence_is_asked_for(stocked: Path, sealed: Path) -> None:
    argv = [*launch_command(sealed), "remember", "Reviews need two people."]
    answers = [("rest on", "README.md")]
    run = run_at_terminal(argv, answers, cwd=stocked, env=dict(os.environ))
    assert run.code == 0, run.out
    assert "origin: owner\n" in (stocked / "memories/team/reviews-need-two-people.md").read_text()


@pytest.mark.slow
def test_the_editor_of_the_person_is_used_on_a_terminal(stocked: Path, sealed: Path, tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\nsed -i s/Tuesdays/Thursdays/ "$1"\n')
    editor.chmod(0o755)
    env = {**os.environ, "EDITOR": f"'{editor}'"}
    run = run_at_terminal([*launch_command(sealed), "edit", "deploy-window"], [], cwd=stocked, env=env)
    assert run.code == 0, run.out
    assert "Deploys happen on Thursdays." in (stocked / "memories/team/deploy-window.md").read_text()


def test_an_edit_changes_its_field_and_no_other_byte(stocked: Path, memfs: Callable[..., Run]) -> None:
    path = stocked / "memories/team/deploy-window.md"
    before = path.read_text().replace("kind: decision", "kind: decision   # agreed in May")
    path.write_text(before)
    run = memfs("edit", "deploy-window", "--review", "on 2031-02-03", cwd=stocked)
    assert run.code == 0, run.err
    assert path.read_text() == before.replace("on 2030-01-01", "on 2031-02-03")


def test_an_edit_of_the_scope_moves_the_file(stocked: Path, memfs: Callable[..., Run]) -> None:
    run = memfs("edit", "deploy-window", "--scope", "team/ops", cwd=stocked)
    assert run.code == 0, run.err
    assert not (stocked / "memories/team/deploy-window.md").exists()
    assert "scope: team/ops\n" in (stocked / "memories/team/ops/deploy-window.md").read_text()
    assert git(stocked, "status", "--porcelain") == ""


def test_an_edit_that_changes_nothing_makes_no_commit(stocked: Path, memfs: Callable[..., Run]) -> None:
    head = git(stocked, "rev-parse", "HEAD")
    run = memfs("edit", "deploy-window", "--kind", "decision", cwd=stocked)
    assert (run.code, git(stocked, "rev-parse", "HEAD")) == (0, head)


def test_a_field_is_taken_away_and_a_required_one_is_not(stocked: Path, memfs: Callable[..., Run]) -> None:
    assert memfs("edit", "deploy-window", "--title", "Deploys", cwd=stocked).code == 0
    assert memfs("edit", "deploy-window", "--unset", "title", cwd=stocked).code == 0
    refused = memfs("edit", "deploy-window", "--unset", "kind", cwd=stocked)
    assert refused.code == 4
    assert "kind" in refused.err


def test_superseding_keeps_the_old_file_and_marks_it(stocked: Path, memfs: Callable[..., Run]) -> None:
    run = memfs(
        "supersede", "deploy-window", "Deploys happen on Thursdays.", "--id", "new-window", *FIELDS, cwd=stocked
    )
    assert run.code == 0, run.err
    states = {row["id"]: row["state"] for row in memfs("list", "--json", cwd=stocked).json["memories"]}
    assert states == {"deploy-window": "superseded", "new-window": "current"}


def test_superseding_what_is_not_there_writes_nothing(stocked: Path, memfs: Callable[..., Run]) -> None:
    head = git(stocked, "rev-parse", "HEAD")
    run = memfs("supersede", "deploy-windows", "Deploys happen on Thursdays.", *FIELDS, cwd=stocked)
    assert run.code == 1
    assert git(stocked, "rev-parse", "HEAD") == head


def test_a_forgotten_memory_is_gone_and_its_history_is_not(stocked: Path, memfs: Callable[..., Run]) -> None:
    assert memfs("forget", "deploy-window", cwd=stocked).code == 0
    assert memfs("show", "deploy-window", cwd=stocked).code == 1
    whats = [event["what"] for event in memfs("history", "deploy-window", "--json", cwd=stocked).json["events"]]
    assert whats == ["deleted", "added"]


def test_a_hidden_memory_and_an_unknown_one_are_answered_alike(stocked: Path, memfs: Callable[..., Run]) -> None:
    (stocked / ".memfs/config.yaml").write_text("version: 1\n")
    secret = [option if option != "team" else "restricted/board" for option in FIELDS]
    assert memfs("remember", "The board meets in May.", "--id", "board-meets", *secret, cwd=stocked).code == 0
    for verb in ("show", "history", "forget", "edit"):
        more = ("--kind", "procedure") if verb == "edit" else ()
        hidden = memfs(verb, "board-meets", *more, cwd=stocked)
        unknown = memfs(verb, "board-moots", *more, cwd=stocked)
        assert (hidden.code, hidden.out) == (unknown.code, unknown.out) == (1, "")
        assert hidden.err.replace("board-meets", "X") == unknown.err.replace("board-moots", "X")
    assert memfs("show", "board-meets", "--as", "restricted/board", cwd=stocked).code == 0


def test_an_admission_rule_is_let_pass_only_with_a_reason_that_is_recorded(
    stocked: Path, memfs: Callable[..., Run]
) -> None:
    text = "The support mailbox forwards to jo.doe@" + "gmail.com at night."
    assert memfs("remember", text, *FIELDS, cwd=stocked).code == 5
    without = memfs("remember", text, "--allow", "personal-email", *FIELDS, cwd=stocked)
    assert without.code == 2
    assert "--reason" in without.err
    unknown = memfs("remember", text, "--allow", "no-such-rule", "--reason", "x", *FIELDS, cwd=stocked)
    assert unknown.code == 2
    run = memfs("remember", text, "--allow", "personal-email", "--reason", "public address", *FIELDS, cwd=stocked)
    assert run.code == 0, run.err
    assert "personal-email" in git(stocked, "log", "-1", "--format=%B")
    assert "public address" in git(stocked, "log", "-1", "--format=%B")


def test_a_scope_that_the_repository_does_not_take_is_refused(stocked: Path, memfs: Callable[..., Run]) -> None:
    config = stocked / ".memfs/config.yaml"
    config.write_text("version: 1\nscopes:\n  - team\n")
    other = [option if option != "team" else "team/ops" for option in FIELDS]
    run = memfs("remember", "The lamp is green.", *other, cwd=stocked)
    assert run.code == 4
    assert "takes no memories of team/ops" in run.err


def test_an_agents_edit_of_the_text_takes_the_owners_origin_away(stocked: Path, memfs: Callable[..., Run]) -> None:
    path = stocked / "memories/team/deploy-window.md"
    assert memfs("edit", "deploy-window", "--review", "on 2031-02-03", cwd=stocked).code == 0
    assert "origin: owner\n" in path.read_text()
    assert memfs("edit", "deploy-window", "Deploys happen on Fridays.", cwd=stocked).code == 0
    assert "origin: agent\n" in path.read_text()


def test_an_owners_edit_does_not_make_imported_text_the_owners(stocked: Path, memfs: Callable[..., Run]) -> None:
    other = [option if option != "owner" else "imported" for option in FIELDS]
    assert memfs("remember", "The lamp is green.", "--id", "lamp", *other, cwd=stocked).code == 0
    path = stocked / "memories/team/lamp.md"
    text = path.read_text()
    path.write_text(text.replace("origin: imported", "origin: owner"))
    assert memfs("edit", "lamp", "The lamp is red.", "--origin", "imported", cwd=stocked).code == 0
    assert "origin: imported\n" in path.read_text()


def test_status_names_what_is_changed_or_deleted_and_not_committed(stocked: Path, memfs: Callable[..., Run]) -> None:
    path = stocked / "memories/team/deploy-window.md"
    assert memfs("status", "--json", cwd=stocked).json["uncommitted"] == []
    path.write_text(path.read_text().replace("Tuesdays", "Mondays"))
    assert memfs("status", "--json", cwd=stocked).json["uncommitted"] == ["memories/team/deploy-window.md"]
    path.unlink()
    assert memfs("status", "--json", cwd=stocked).json["uncommitted"] == ["memories/team/deploy-window.md"]
    assert "Not committed" in memfs("status", cwd=stocked).out


def test_nothing_is_recorded_while_the_settings_of_the_repository_are_broken(
    stocked: Path, memfs: Callable[..., Run]
) -> None:
    (stocked / ".memfs/config.yaml").write_text("x: [\n")
    run = memfs("remember", "The lamp is green.", *FIELDS, cwd=stocked)
    assert run.code == 4
    assert "settings cannot be read" in run.err
    assert memfs("list", cwd=stocked).code == 0


def test_a_draft_that_is_due_at_once_or_never_is_said_to_be(stocked: Path, memfs: Callable[..., Run]) -> None:
    due = [option if option != "on 2030-01-01" else "on 2020-01-01" for option in FIELDS]
    run = memfs("remember", "The lamp is green.", *due, "--dry-run", cwd=stocked)
    assert "due at once" in run.err
    never = [option if option != "on 2030-01-01" else "when no/such.md changes" for option in FIELDS]
    assert "cannot be noticed" in memfs("remember", "The lamp is green.", *never, "--dry-run", cwd=stocked).err


def test_what_is_superseded_must_be_there(stocked: Path, memfs: Callable[..., Run]) -> None:
    run = memfs("remember", "The lamp is green.", "--supersedes", "nothing", *FIELDS, cwd=stocked)
    assert run.code == 4
    assert "supersedes" in run.err


def test_what_replaces_one_memory_takes_its_kind_and_scope(stocked: Path, memfs: Callable[..., Run]) -> None:
    run = memfs(
        "supersede", "deploy-window", "Deploys happen on Thursdays.", "--id", "new-window", "--evidence", "README.md",
        "--review", "on 2030-01-01", cwd=stocked,
    )  # fmt: skip
    assert run.code == 0, run.err
    assert "kind: decision\n" in (stocked / "memories/team/new-window.md").read_text()


def test_a_caller_of_nothing_is_refused_and_is_not_the_default(stocked: Path, memfs: Callable[..., Run]) -> None:
    for caller in ("", ","):
        assert memfs("list", "--as", caller, cwd=stocked).code == 2


def test_a_repository_that_keeps_no_memories_says_how_it_would(repo: Path, memfs: Callable[..., Run]) -> None:
    (repo / "memories").rmdir()
    assert "memfs init" in memfs("status", cwd=repo).err


def test_the_templates_examples_can_be_left_out(tmp_path: Path, memfs: Callable[..., Run]) -> None:
    (tmp_path / "team").mkdir()
    assert memfs("init", "--no-keyring", "--no-examples", cwd=tmp_path / "team").code == 0
    assert memfs("list", cwd=tmp_path / "team").code == 1
    again = memfs("init", "--no-keyring", "--no-examples", cwd=tmp_path / "team")
    assert "already" in again.out


def test_a_repository_can_narrow_how_much_is_recalled_and_how_long_a_memory_is(
    stocked: Path, memfs: Callable[..., Run]
) -> None:
    assert memfs("recall", "when do deploys happen", cwd=stocked).code == 0
    (stocked / ".memfs/config.yaml").write_text("version: 1\nlimits:\n  context_bytes: 20\n  memory_bytes: 400\n")
    narrowed = memfs("recall", "when do deploys happen", cwd=stocked)
    assert "Tuesdays" not in narrowed.out
    long = memfs("remember", "The lamp is green. " * 40, *FIELDS, cwd=stocked)
    assert long.code == 4
    assert "takes up to 400" in long.err


def test_what_is_written_fits_the_published_schema(
    stocked: Path, memfs: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    import memfs.repository.writing as module
    from memfs.disk.shipped import read_schema

    narrower = {**read_schema("memory"), "required": ["kind", "reviewed_by"]}
    monkeypatch.setattr(module, "read_schema", lambda _name: narrower)
    for arguments in (
        ("remember", "A text.", "--id", "new", *FIELDS),
        ("edit", "deploy-window", "--review", "on 2031-02-03"),
    ):
        run = memfs(*arguments, cwd=stocked)
        assert run.code == 4
        assert ".md:1:1: needs reviewed_by" in run.err


def test_a_successor_for_fewer_people_is_refused_and_nothing_is_written(
    stocked: Path, memfs: Callable[..., Run]
) -> None:
    narrow = [*FIELDS[: FIELDS.index("--scope") + 1], "personal", *FIELDS[FIELDS.index("--scope") + 2 :]]
    (stocked / ".memfs/config.yaml").write_text("version: 1\nscopes: [team, personal]\n")
    before = git(stocked, "rev-parse", "HEAD")
    text = "Deploys happen on Thursdays."
    for arguments in (
        ("supersede", "deploy-window", text, "--id", "new", *narrow),
        ("remember", text, "--id", "new", "--supersedes", "deploy-window", *narrow),
    ):
        run = memfs(*arguments, cwd=stocked)
        assert run.code == 4, run
        assert "not everybody who sees that one would see it" in run.err
        assert "give it the scope team" in run.err
    memfs("supersede", "deploy-window", text, "--id", "new", *FIELDS, cwd=stocked)
    run = memfs("edit", "new", "--scope", "personal", "--origin", "owner", cwd=stocked)
    assert run.code == 4
    assert "give it the scope team" in run.err
    assert git(stocked, "rev-list", "--count", f"{before}..HEAD") == "1"
    made = stocked / "memories/team/new.md"
    by_hand = stocked / "memories/personal/new.md"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text(made.read_text().replace("scope: team", "scope: personal"))
    made.unlink()
    run = memfs("propose", "new", "--no-push", cwd=stocked)
    assert run.code == 4
    assert "give it the scope team" in run.err
    assert git(stocked, "branch", "--list", "memory/*") == ""
