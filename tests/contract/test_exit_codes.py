"""Each documented exit code is given by a real run, and a refusal changes nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git

GOOD = (
    "remember", "Deploys happen on Tuesdays.", "--id", "deploy-window", "--kind", "decision", "--scope", "team",
    "--origin", "owner", "--evidence", "README.md", "--review", "on 2030-01-01",
)  # fmt: skip


def with_options(*changes: str) -> tuple[str, ...]:
    """Return GOOD with its text or options replaced: ``with_options("--scope", "moon")``."""
    argv = list(GOOD)
    for name, value in zip(changes[::2], changes[1::2], strict=True):
        argv[argv.index(name) + 1 if name.startswith("--") else 1] = value
    return tuple(argv)


def token() -> str:
    """Return something shaped like a vendor's token, which no file of this project holds."""
    return "gh" + "p_" + "R7qZ2mXw9KtB4vLn6PsJ3dYc8HfG5aUe1TiA"


@pytest.fixture
def stocked(repo: Path, memfs: Callable[..., Run]) -> Path:
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    return repo


def everything(repo: Path) -> tuple[str, str, str, str]:
    """Return what a refusal must leave alone: branch, index, work tree and all objects."""
    return (
        git(repo, "rev-parse", "HEAD"),
        git(repo, "ls-files", "-s"),
        git(repo, "status", "--porcelain=v1", "--ignored"),
        git(repo, "cat-file", "--batch-check", "--batch-all-objects"),
    )


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("list",), 1, "no memories"),
        (("show", "nothing"), 1, "no memory of that id"),
        (("recall", "zebra"), 1, "nothing found"),
        (("list", "--state", "bogus"), 2, "invalid choice"),
        (("rember",), 2, "no command"),
        (with_options("--scope", "moon"), 4, "scope must be"),
        (with_options("--review", "whenever"), 4, "review_trigger"),
        (with_options("--evidence", "nowhere.md@abcdef1"), 4, "that commit does not contain this file"),
        (("remember", "x"), 4, "required and missing: evidence"),
        (with_options("text", f"The token is {token()}."), 5, "admission rejected"),
        (("trust", "nothing"), 6, "a person at a terminal"),
    ],
)
def test_a_refusal_has_its_code_says_what_to_do_and_changes_nothing(
    argv: tuple[str, ...], code: int, said: str, stocked: Path, memfs: Callable[..., Run]
) -> None:
    before = everything(stocked)
    run = memfs(*argv, cwd=stocked)
    assert run.code == code, run.err
    assert said in run.err
    assert run.out == ""
    assert everything(stocked) == before


def test_the_environment_has_code_three(stocked: Path, memfs: Callable[..., Run], sealed: Path) -> None:
    (sealed / ".gitconfig").write_text("")
    before = everything(stocked)
    run = memfs(*GOOD, cwd=stocked)
    assert run.code == 3
    assert "git config --global user.name" in run.err
    assert everything(stocked) == before


def test_success_has_code_zero_and_one_commit(stocked: Path, memfs: Callable[..., Run]) -> None:
    count = int(git(stocked, "rev-list", "--count", "HEAD"))
    run = memfs(*GOOD, cwd=stocked)
    assert run.code == 0, run.err
    assert int(git(stocked, "rev-list", "--count", "HEAD")) == count + 1
    assert git(stocked, "show", "--name-only", "--format=", "HEAD") == "memories/team/deploy-window.md"
    assert git(stocked, "status", "--porcelain") == ""


def test_a_dry_run_says_what_would_happen_and_changes_nothing(stocked: Path, memfs: Callable[..., Run]) -> None:
    before = everything(stocked)
    run = memfs(*GOOD, "--dry-run", cwd=stocked)
    assert run.code == 0
    assert "would be remembered: memories/team/deploy-window.md" in run.out
    assert everything(stocked) == before


def test_a_bug_has_code_seventy_and_says_so(monkeypatch: pytest.MonkeyPatch, memfs: Callable[..., Run]) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("made for this test")

    monkeypatch.setattr("memfs.cli.status_command.run", broken)
    run = memfs("status")
    assert run.code == 70
    assert "this is a bug in memfs" in run.err


def test_an_interrupt_has_code_one_hundred_and_thirty(
    monkeypatch: pytest.MonkeyPatch, memfs: Callable[..., Run]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memfs.cli.status_command.run", interrupted)
    assert memfs("status").code == 130


def test_a_reader_that_goes_away_is_no_error(stocked: Path, memfs: Callable[..., Run], sealed: Path) -> None:
    from support import launch_command

    assert memfs(*GOOD, cwd=stocked).code == 0
    writer = subprocess.Popen(
        [*launch_command(sealed), "show", "deploy-window"], cwd=stocked, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout is not None
    writer.stdout.close()
    assert writer.wait(20) == 0
    assert writer.stderr is not None
    said = writer.stderr.read()
    assert b"Traceback" not in said
    assert b"rror" not in said
    writer.stderr.close()


def test_a_repository_that_holds_modules_of_our_names_is_not_imported(
    stocked: Path, memfs_process: Callable[..., Run]
) -> None:
    for name in ("yaml", "frontmatter", "git", "sitecustomize", "memfs_evil"):
        (stocked / f"{name}.py").write_text("open('PWNED', 'w').close()\n")
    (stocked / "cryptography").mkdir()
    (stocked / "cryptography/__init__.py").write_text("open('PWNED', 'w').close()\n")
    import os
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "memfs", "--version"], cwd=stocked, capture_output=True, env=dict(os.environ)
    )
    assert done.returncode == 0
    assert memfs_process("recall", "anything", cwd=stocked).code == 1
    assert not (stocked / "PWNED").exists()
