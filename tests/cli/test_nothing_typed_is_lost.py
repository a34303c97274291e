"""What a person typed is in the repository, in the editor again, or among the drafts; never nowhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git, launch_command, run_at_terminal

from memfs.disk.drafts import list_drafts
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree

Memfs = Callable[..., Run]
FIELDS = (
    "--kind",
    "observation",
    "--scope",
    "team",
    "--evidence",
    "https://example.com/x",
    "--review",
    "on 2030-01-01",
)
TEXT = "Ten minutes of prose about the deploy window."


def editor(folder: Path, script: str) -> str:
    """Return an editor: a shell script that gets the file as $1."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def drafts(repo: Path, places: Places) -> list[tuple[str, str]]:
    return [(draft.name, draft.body.strip()) for draft in list_drafts(find_work_tree(repo), places)]


@pytest.fixture
def home(repo: Path, memfs: Memfs) -> Path:
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    return repo


def at_terminal(home: Path, sealed: Path, *arguments: str, answers: list[tuple[str, str]], env: dict[str, str]) -> Run:
    argv = [*launch_command(sealed), *arguments]
    return run_at_terminal(argv, answers, cwd=home, env={**os.environ, "TERM": "dumb", **env})


# -- before the editor opens --------------------------------------------------------------------------


def lock(repo: Path) -> None:
    (repo / ".git/index.lock").write_text("")
    os.utime(repo / ".git/index.lock", (1, 1))


def detach(repo: Path) -> None:
    git(repo, "checkout", "-q", "--detach")


def merge(repo: Path) -> None:
    (repo / ".git/MERGE_HEAD").write_text(git(repo, "rev-parse", "HEAD") + "\n")


def forget_me(repo: Path) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[init]\n\tdefaultBranch = main\n")


def break_settings(repo: Path) -> None:
    (repo / ".memfs/config.yaml").write_text("scopes: [\n")


def encrypt(repo: Path) -> None:
    (repo / ".gitattributes").write_text("memories/** filter=crypt\n")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (encrypt, "filter=crypt"),
        (lock, "index.lock"),
        (detach, "no branch is checked out"),
        (merge, "merge in progress"),
        (forget_me, "does not know your name"),
        (break_settings, "settings cannot be read"),
    ],
)
@pytest.mark.parametrize("verb", [("remember", "--editor"), ("supersede", "old", "--editor")])
def test_no_editor_opens_where_nothing_could_be_written(
    verb: tuple[str, ...], how: Callable[[Path], None], said: str, home: Path, tmp_path: Path, memfs: Memfs
) -> None:
    assert memfs("remember", "An older text.", "--id", "old", *FIELDS, cwd=home).code == 0
    how(home)
    opened = editor(tmp_path, f"touch {tmp_path}/opened; echo text > $1")
    run = memfs(*verb, *FIELDS, cwd=home, env={"EDITOR": opened})
    assert run.code in (2, 3)
    assert said in run.err
    assert not (tmp_path / "opened").exists()


# -- after text exists --------------------------------------------------------------------------------


def test_what_the_editor_left_is_kept_when_git_refuses_after_it(
    home: Path, tmp_path: Path, memfs: Memfs, places: Places
) -> None:
    script = editor(tmp_path, f'echo "{TEXT}" > $1; touch -d 1970-01-02 {home}/.git/index.lock')
    run = memfs("remember", "--editor", *FIELDS, cwd=home, env={"EDITOR": script})
    assert run.code == 3, run.err
    assert "kept for you alone as draft-1" in run.err
    assert drafts(home, places) == [("draft-1", TEXT)]
    (home / ".git/index.lock").unlink()
    assert memfs("drafts", "submit", "draft-1", cwd=home).code == 0
    assert drafts(home, places) == []


def test_a_piped_text_with_a_missing_field_is_kept_and_an_argument_is_not(
    home: Path, memfs: Memfs, places: Places
) -> None:
    assert memfs("remember", TEXT, "--kind", "observation", cwd=home).code == 4
    assert drafts(home, places) == []
    assert memfs("remember", "-", "--kind", "observation", cwd=home, stdin=TEXT.encode()).code == 4
    assert drafts(home, places) == [("draft-1", TEXT)]


def test_what_admission_rejects_is_kept_nowhere(home: Path, memfs: Memfs, places: Places) -> None:
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    run = memfs("remember", "-", *FIELDS, cwd=home, stdin=f"The key is {secret}.".encode())
    assert run.code == 5
    assert drafts(home, places) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f'echo "{TEXT}" > $1; exit 3', "the editor ended with 3"),
        ("printf 'Gr\\374n ist die Farbe.\\n' > $1", "not UTF-8; they were read as Latin-1"),
    ],
)
def test_an_editor_that_fails_or_saves_other_bytes_loses_nothing(
    script: str, said: str, home: Path, tmp_path: Path, memfs: Memfs, places: Places
) -> None:
    run = memfs("remember", "--editor", *FIELDS, cwd=home, env={"EDITOR": editor(tmp_path, script)})
    assert run.code == 2
    assert said in run.err
    assert len(drafts(home, places)) == 1


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("rm $1", "the editor deleted the file"),
        ("exit 1", "the editor ended with 1"),
        ("true", "the text is empty"),
    ],
)
def test_an_editor_that_leaves_nothing_is_one_line(
    script: str, said: str, home: Path, tmp_path: Path, memfs: Memfs, places: Places
) -> None:
    run = memfs("remember", "--editor", *FIELDS, cwd=home, env={"EDITOR": editor(tmp_path, script)})
    assert (run.code, run.err.count("\n")) == (2, 1), run.err
    assert said in run.err
    assert drafts(home, places) == []


@pytest.mark.parametrize("command", ['vi "x', "", "/nowhere/to/be/found"])
def test_an_editor_that_cannot_be_started_is_one_line(command: str, home: Path, memfs: Memfs) -> None:
    run = memfs("remember", "--editor", *FIELDS, cwd=home, env={"EDITOR": command, "VISUAL": command})
    assert run.code in (2, 3)
    assert "Traceback" not in run.err


# -- at a terminal ------------------------------------------------------------------------------------


def test_a_refused_edit_reopens_with_the_reason_on_top(
    home: Path, tmp_path: Path, sealed: Path, memfs: Memfs, places: Places
) -> None:
    memfs("remember", "An older text.", "--id", "old", *FIELDS, cwd=home)
    script = editor(
        tmp_path,
        f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); cp $1 {tmp_path}/seen$n; echo $((n + 1)) > {tmp_path}/n\n"
        f'if [ $n = 0 ]; then sed -i "s/^kind:.*/kind: observatoin/; s/An older text./{TEXT}/" $1\n'
        'else sed -i "s/^kind:.*/kind: decision/" $1; fi',
    )
    run = at_terminal(home, sealed, "edit", "old", answers=[("(q)uit?", "e")], env={"EDITOR": script})
    assert run.code == 0, run.out
    again = (tmp_path / "seen1").read_text()
    assert again.startswith("# memfs: ")
    assert TEXT in again
    written = (home / "memories/team/old.md").read_text()
    assert "kind: decision\n" in written
    assert TEXT in written
    assert "# memfs:" not in written
    assert drafts(home, places) == []


def test_a_refused_edit_that_is_given_up_is_a_draft_that_can_be_submitted(
    home: Path, tmp_path: Path, sealed: Path, memfs: Memfs, places: Places
) -> None:
    memfs("remember", "An older text.", "--id", "old", *FIELDS, cwd=home)
    script = editor(tmp_path, f'sed -i "s/^kind:.*/kind: observatoin/; s/An older text./{TEXT}/" $1')
    run = at_terminal(home, sealed, "edit", "old", answers=[("(q)uit?", "q")], env={"EDITOR": script})
    assert run.code == 4, run.out
    ((name, body),) = drafts(home, places)
    assert TEXT in body
    mended = body.replace("observatoin", "decision")
    done = memfs("drafts", "submit", name, "--text", "-", cwd=home, stdin=mended.encode())
    assert done.code == 0, done.err
    assert TEXT in (home / "memories/team/old.md").read_text()
    assert drafts(home, places) == []


def test_a_new_text_reopens_as_a_whole_file_so_that_its_fields_can_be_mended(
    home: Path, tmp_path: Path, sealed: Path, places: Places
) -> None:
    script = editor(
        tmp_path,
        f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); echo $((n + 1)) > {tmp_path}/n\n"
        f'if [ $n = 0 ]; then echo "{TEXT}" > $1; else sed -i "s/whenever/on 2031-01-01/" $1; fi',
    )
    run = at_terminal(
        home, sealed, "remember", "--id", "window", *FIELDS[:-1], "whenever",
        answers=[("(q)uit?", "e")], env={"EDITOR": script},
    )  # fmt: skip
    assert run.code == 0, run.out
    assert "on 2031-01-01" in (home / "memories/team/window.md").read_text()
    assert drafts(home, places) == []


def test_an_interrupt_while_the_editor_runs_is_the_editors_own(home: Path, tmp_path: Path, sealed: Path) -> None:
    script = editor(tmp_path, f'kill -INT $PPID; sleep 0.2; echo "{TEXT}" > $1')
    run = at_terminal(home, sealed, "remember", "--id", "window", *FIELDS, answers=[], env={"EDITOR": script})
    assert run.code == 0, run.out
    assert TEXT in (home / "memories/team/window.md").read_text()


def test_a_file_that_is_not_utf_8_can_be_edited(home: Path, tmp_path: Path, sealed: Path, memfs: Memfs) -> None:
    memfs("remember", "An older text.", "--id", "old", *FIELDS, cwd=home)
    path = home / "memories/team/old.md"
    path.write_bytes(path.read_bytes().replace(b"An older text.", b"Gr\xfcn."))
    script = editor(tmp_path, "LC_ALL=C sed -i 's/Gr.n/Gruen/' $1")
    run = at_terminal(home, sealed, "edit", "old", answers=[], env={"EDITOR": script})
    assert run.code == 0, run.out
    assert "Gruen." in path.read_text()


# -- agents, stores, ids ------------------------------------------------------------------------------


def test_a_store_that_is_closed_to_agents_takes_nothing_from_them(home: Path, memfs: Memfs, places: Places) -> None:
    places.config.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings = places.config / "config.yaml"
    settings.write_text(f"version: 1\nstores:\n  - name: mine\n    path: {home}\n")
    settings.chmod(0o600)
    run = memfs("remember", TEXT, "--origin", "agent", *FIELDS, cwd=home)
    assert run.code == 5
    assert "no agent write into this store" in run.err
    assert memfs("remember", TEXT, "--origin", "owner", *FIELDS, cwd=home).code == 0
    settings.write_text(f"version: 1\nstores:\n  - name: mine\n    path: {home}\n    write: true\n")
    assert memfs("remember", "Another text of an agent.", "--origin", "agent", *FIELDS, cwd=home).code == 0


def test_two_files_of_one_id_are_both_shown_and_neither_is_changed_in_silence(home: Path, memfs: Memfs) -> None:
    memfs("remember", "The real rule.", "--id", "rule", *FIELDS, cwd=home)
    (home / "memories/rule.md").write_text("A twin.\n")
    shown = memfs("show", "rule", cwd=home)
    assert "The real rule." in shown.out
    assert "2 files have this id: memories/team/rule.md, memories/rule.md" in shown.err
    refused = memfs("edit", "rule", "Another rule.", cwd=home)
    assert refused.code == 2
    assert "give the path" in refused.err
    assert memfs("edit", "memories/team/rule.md", "Another rule.", "--origin", "owner", cwd=home).code == 0
    assert "Another rule." in (home / "memories/team/rule.md").read_text()


def test_an_approval_that_is_not_committed_is_named_by_status(home: Path, memfs: Memfs) -> None:
    memfs("remember", "The real rule.", "--id", "rule", *FIELDS, cwd=home)
    (home / ".memfs/approvals").mkdir(exist_ok=True)
    (home / ".memfs/approvals/rule.1.aa").write_text("x\n")
    assert ".memfs/approvals/rule.1.aa" in memfs("status", cwd=home).out


# -- piped in -----------------------------------------------------------------------------------------


def test_a_piped_new_text_that_is_held_is_kept_as_the_edit_that_it_is(home: Path, memfs: Memfs, places: Places) -> None:
    assert memfs("remember", "We deploy on Tuesdays.", "--id", "deploys", *FIELDS, cwd=home).code == 0
    secret = f"We deploy on Fridays. password: {'hunter2' * 2}\n"
    run = memfs("edit", "deploys", "-", cwd=home, stdin=secret.encode())
    assert run.code == 5
    assert "kept for you alone as draft-1" in run.err
    ((name, whole),) = drafts(home, places)
    assert whole.startswith("---\nkind: observation")
    assert "We deploy on Fridays." in whole
    allowed = ("--allow", "assigned-password", "--reason", "an example")
    assert memfs("drafts", "submit", name, *allowed, cwd=home).code == 0
    assert "Fridays" in (home / "memories/team/deploys.md").read_text()


def test_a_piped_proposal_that_is_refused_is_kept(home: Path, memfs: Memfs, places: Places) -> None:
    run = memfs("propose", "--new", "-", cwd=home, stdin=TEXT.encode())
    assert run.code == 4
    assert drafts(home, places) == [("draft-1", TEXT)]
    run = memfs("propose", "--new", "-", *FIELDS, "--base", "nowhere", cwd=home, stdin=f"{TEXT} Twice.".encode())
    assert run.code != 0
    assert drafts(home, places)[1:] == [("draft-2", f"{TEXT} Twice.")]


@pytest.mark.parametrize("command", [["edit", "deploys", "-"], ["propose", "--new", "-", *FIELDS]])
def test_what_is_piped_in_and_is_not_utf8_is_one_sentence(home: Path, memfs: Memfs, command: list[str]) -> None:
    assert memfs("remember", "We deploy on Tuesdays.", "--id", "deploys", *FIELDS, cwd=home).code == 0
    run = memfs(*command, cwd=home, stdin=b"caf\xe9\n")
    assert (run.code, run.err) == (2, "memfs: standard input, byte 4: the text is not UTF-8\n")
