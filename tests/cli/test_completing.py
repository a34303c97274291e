"""Completion offers the ids that the user may see, and nothing that a shell would run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run

Memfs = Callable[..., Run]
GIVEN = ("--origin", "owner")


def test_ids_are_those_that_one_may_see(repo: Path, memfs: Memfs) -> None:
    for scope, text in (("team", "We deploy on Tuesdays."), ("restricted/board", "Prices rise in May.")):
        assert memfs("remember", text, "--scope", scope, *GIVEN, cwd=repo).code == 0
    (repo / "memories/team/$(touch ran).md").write_text("not an id\n")
    run = memfs("completion", "ids", cwd=repo)
    assert (run.code, run.out, run.err) == (0, "we-deploy-on-tuesdays\n", "")


def test_without_a_repository_there_are_no_ids_and_no_noise(tmp_path: Path, memfs: Memfs) -> None:
    run = memfs("completion", "ids", cwd=tmp_path)
    assert (run.code, run.out, run.err) == (0, "", "")


@pytest.mark.parametrize("verb", ["show", "trust", "edit"])
def test_bash_asks_for_them(verb: str, memfs: Memfs, tmp_path: Path) -> None:
    script = tmp_path / "memfs.bash"
    script.write_text(memfs("completion", "bash").out)
    (tmp_path / "memfs").write_text("#!/bin/sh\necho we-deploy-on-tuesdays\n")
    (tmp_path / "memfs").chmod(0o755)
    asked = f"""
        PATH={tmp_path}:$PATH; . {script}
        COMP_WORDS=(memfs {verb} we-d); COMP_CWORD=2; COMP_LINE="memfs {verb} we-d"; COMP_POINT=${{#COMP_LINE}}
        _shtab_memfs; echo "${{COMPREPLY[*]}}"
    """
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["we-deploy-on-tuesdays"], done.stderr
