"""The commands of README and tutorial are run as they stand, in a home of their own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import CHECKOUT, LAUNCHER, make_key, run_at_terminal

RUN = ("README.md", "docs/tutorial/first-memory.md")
SETS_UP = re.compile(r"python3 -m venv")


def blocks_of(page: str) -> list[str]:
    """Return the shell blocks of a page, in order."""
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def stage(sealed: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Return a working folder and an environment in which `memfs` is the one under test."""
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "memfs"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -I -c '{LAUNCHER}' {sealed} \"$@\"\n")
    command.chmod(0o755)
    (sealed / ".ssh").mkdir(mode=0o700, exist_ok=True)
    make_key(sealed / ".ssh", "id_ed25519")
    work = tmp_path / "work"
    work.mkdir()
    return work, {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "dumb", "GIT_PAGER": "cat"}


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_the_page_run_as_written(page: str, stage: tuple[Path, dict[str, str]]) -> None:
    work, env = stage
    script = "\n".join(block for block in blocks_of(page) if not SETS_UP.search(block))
    assert "memfs " in script
    asked = [("Type", memory_id) for memory_id in re.findall(r"^memfs trust ([a-z0-9-]+)", script, re.MULTILINE)]
    bash = shutil.which("bash")
    assert bash is not None
    run = run_at_terminal([bash, "-euo", "pipefail", "-c", script], asked, cwd=work, env=env, timeout=60)
    assert run.code == 0, run.out


def test_the_readme_sets_up_with_two_commands() -> None:
    set_up = [line for block in blocks_of("README.md") for line in block.splitlines() if SETS_UP.search(line)]
    assert len(set_up) == 2
    assert set_up[0].endswith(".venv/bin/memfs demo")
    assert set_up[1].endswith(".venv/bin/pytest")


def test_the_readme_is_at_most_a_hundred_and_forty_lines() -> None:
    assert len((CHECKOUT / "README.md").read_text().splitlines()) <= 140


@pytest.mark.slow
def test_the_picture_is_drawn_from_what_memfs_prints() -> None:
    place = CHECKOUT / "docs/picture"
    spec = importlib.util.spec_from_file_location("make_picture", place / "make_picture.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    lines = [line for _, line in script.moments(script.play())]
    assert sum("approved by alice" in line for line in lines) == 2
    assert any("RECHECK" in line for line in lines)
    assert any("not approved (changed)" in line for line in lines)
    drawn = (place / "memfs.svg").read_text(encoding="utf-8")
    for said in ("approved by alice", "(unchanged)", "RECHECK: evidence", "not approved (changed)"):
        assert said in drawn


def test_every_link_between_the_pages_leads_somewhere() -> None:
    broken = []
    for page in [CHECKOUT / "README.md", *CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md")]:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", prose):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(CHECKOUT)}: {target}")
    assert broken == []


@pytest.mark.slow
def test_the_demo_tells_its_story_and_leaves_nothing_behind(sealed: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in sealed.rglob("*")}
    done = subprocess.run(
        [sys.executable, "-I", "-c", LAUNCHER, str(sealed), "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    for part in ("$ memfs init", "approved by alice@example.com", "(unchanged)", "RECHECK", "not approved (changed)"):
        assert part in done.stdout
    assert "Memory-Approval: v1 approve" in done.stdout
    assert list(tmp_path.iterdir()) == []
    assert {path: path.stat().st_mtime_ns for path in sealed.rglob("*")} == before
