"""A memory that its reader may not see: no verb of the command names it, shows a word of it, signs it or changes it.

The repository names the readers of a scope, and the person at this machine is not one of them. What git itself shows
them is another matter; memfs answers as if those files were not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from attacks.test_strangers_clone import VERBS
from people import Person, Team, Terminal, found_team, memory_text
from support import Run, git, launch_command

from memfs.disk.places import Places

NAMES = ("zanzibar", "globex")
"""Words of the hidden memory's id and of its text."""

FOLDER = "memories/restricted/board"


@pytest.fixture
def team(repo: Path, places: Places, alice: Person, sealed: Path, key: Path) -> Team:
    """Return alice's repository with memories that she may not read, and some that say the same or rest on them."""
    made = found_team(repo, places, [alice])
    made.write("x", memory_text("Migrations stay additive."), commit=True)
    made.approve(alice, "x")
    (repo / ".memfs/config.yaml").write_text(
        "version: 1\nscopes: [team, restricted/board]\nreaders:\n  restricted/board: [bob@example.com]\n"
    )
    hidden = memory_text("The purchase of Globex is planned for the spring of 2030.", scope="restricted/board")
    for name, text in {
        f"{FOLDER}/zanzibar-plan.md": hidden,
        f"{FOLDER}/zanzibar-copy.md": hidden,
        f"{FOLDER}/zanzibar-key.md": hidden.replace("spring", "spring, write to globex@example.com"),
        f"{FOLDER}/zanzibar-broken.md": "---\nkind: globex\n---\nGlobex.\n",
        "memories/team/board-copy.md": hidden.replace("restricted/board", "team"),
    }.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    # It names one, in its own words: who reads it reads that.
    (repo / "memories/team/heir.md").write_text(
        memory_text("Nothing is planned.").replace("---\nN", "supersedes: [zanzibar-plan]\n---\nN")
    )
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Record what the board says")
    ssh = sealed / ".ssh"
    ssh.mkdir(mode=0o700, exist_ok=True)
    for ending in ("", ".pub"):
        (ssh / f"id_ed25519{ending}").write_bytes(Path(f"{key}{ending}").read_bytes())
        (ssh / f"id_ed25519{ending}").chmod(0o600)
    return made


def require_silent(said: str, repo: Path) -> None:
    told = [line for line in said.replace(str(repo), "").splitlines() if any(name in line.lower() for name in NAMES)]
    # What the team's own memories say is theirs to read.
    assert [line for line in told if "zanzibar" in line.lower() and "supersedes" not in line] == []


@pytest.mark.parametrize(
    "verb", [verb for verb in VERBS if verb not in ("init", "demo", "connect", "disconnect", "mcp")]
)
def test_no_verb_names_a_memory_that_its_reader_may_not_see(
    verb: str, team: Team, memfs_process: Callable[..., Run], tmp_path: Path, key: Path
) -> None:
    repo = team.tree.root
    before = {path: path.read_bytes() for path in (repo / FOLDER).iterdir()}
    for words in VERBS[verb]:
        argv = [word.format(out=tmp_path, key=key, pin="0" * 64) for word in words]
        said = memfs_process(*argv, cwd=repo, timeout=120)
        assert said.code != 70, said.err
        require_silent(said.out + said.err, repo)
    assert {path: path.read_bytes() for path in (repo / FOLDER).iterdir()} == before


@pytest.mark.parametrize(
    "argv",
    [
        ("show", "zanzibar-plan"), ("history", "zanzibar-plan"), ("edit", "zanzibar-plan", "--tag", "x"),
        ("forget", "zanzibar-plan"), ("rename", "zanzibar-plan", "z"), ("feedback", "zanzibar-plan", "--helped"),
        ("supersede", "zanzibar-plan", "A newer text."), ("propose", "zanzibar-plan"), ("verify", "zanzibar-plan"),
        ("promote", "zanzibar-plan"), ("show", f"{FOLDER}/zanzibar-plan.md"), ("show", "Zanzibar plan"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_who_names_a_hidden_memory_is_told_what_they_are_told_of_one_that_is_not_there(
    argv: tuple[str, ...], team: Team, memfs_process: Callable[..., Run]
) -> None:
    repo = team.tree.root
    head = git(repo, "rev-parse", "HEAD")
    there = memfs_process(*argv, cwd=repo)
    absent = memfs_process(*(word.replace("anzibar", "anzobar") for word in argv), cwd=repo)
    assert (there.code, there.out) == (absent.code, absent.out)
    assert there.err.replace("anzibar", "anzobar") == absent.err
    assert there.code != 0
    assert git(repo, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    ("argv", "answers"),
    [
        (("trust",), [("?]?", "s")] * 2),
        (("trust", "zanzibar-plan"), []),
        (("trust", "--since", "HEAD~1"), [("?]?", "s")] * 2),
        (("untrust", "zanzibar-plan"), []),
        (("keys", "deny", "zanzibar-plan"), []),
        (("review", "HEAD~1..HEAD", "--approve"), [("?]?", "s")] * 2),
    ],
    ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else "",
)
def test_nobody_is_asked_to_sign_what_they_may_not_read(
    argv: tuple[str, ...], answers: list[tuple[str, str]], team: Team, sealed: Path
) -> None:
    terminal = Terminal([*launch_command(sealed), *argv], cwd=team.tree.root, env=os.environ)
    _, said = terminal.answer(*answers)
    require_silent(said.replace(" ".join(argv), "").replace("zanzibar-plan: no memory of that id", ""), team.tree.root)


def test_the_message_of_a_commit_that_touched_a_hidden_memory_is_no_draft(
    team: Team, memfs_process: Callable[..., Run]
) -> None:
    repo = team.tree.root
    (repo / FOLDER / "zanzibar-plan.md").write_text(memory_text("It is off.", scope="restricted/board"))
    git(repo, "commit", "-qam", "We decided to buy Globex in the spring of 2030.")
    git(repo, "commit", "-q", "--allow-empty", "-m", "We decided to keep migrations additive here.")
    run = memfs_process("capture", "--from-git", "HEAD~2..HEAD", "--dry-run", cwd=repo)
    assert "migrations additive" in run.out
    assert "Globex" not in run.out + run.err


def test_a_check_counts_no_memory_that_its_reader_may_not_see(team: Team, memfs_process: Callable[..., Run]) -> None:
    repo = team.tree.root
    for _ in range(2):  # the second run knows them from the first
        report = memfs_process("check", "--json", cwd=repo).json
        seen = memfs_process("list", "--json", cwd=repo).json["memories"]
        assert report["files"] == len(seen)
        assert report["cached"] <= report["files"]
