"""The page about sharing across repositories, run as it is written against a real server."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from people import memory_text
from postgres_server import Server
from support import CHECKOUT, LAUNCHER, git, make_key, run_at_terminal

PAGE = CHECKOUT / "docs/how-to/share-across-repositories.md"
CONFIG = "version: 1\nname: {}\nshare: [team, team/*]\n"


def blocks() -> list[tuple[str, str]]:
    """Return the blocks of the page in order: (language, text)."""
    return re.findall(r"^```(sh|sql|yaml)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.skipif(not PAGE.exists(), reason="the documents are not beside the tests")
def test_the_page_goes_from_nothing_to_two_repositories_and_a_reader(
    server: Server, sealed: Path, tmp_path: Path
) -> None:
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    command = programs / "memfs"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -I -c '{LAUNCHER}' {sealed} \"$@\"\n")
    command.chmod(0o755)
    (sealed / ".ssh").mkdir(mode=0o700, exist_ok=True)
    make_key(sealed / ".ssh", "id_ed25519")
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "dumb"}
    bash = shutil.which("bash")
    assert bash is not None

    def shell(script: str, where: Path = work, answers: list[tuple[str, str]] | None = None) -> str:
        text = script.replace("@db.example.com", f"@127.0.0.1:{server.port}")
        run = run_at_terminal([bash, "-euo", "pipefail", "-c", text], answers or [], cwd=where, env=env, timeout=90)
        assert run.code == 0, run.out
        return run.out

    def sql(script: str, database: str) -> None:
        with server.connect(database) as owner:
            for statement in filter(str.strip, script.split(";")):
                owner.execute(statement)

    for name, statement in (
        ("shop", "Invoices are kept for ten years."),
        ("billing", "Invoices are numbered by year."),
    ):
        root = work / name
        root.mkdir()
        git(root, "init", "-q")
        shell("memfs init --no-examples", root)
        (root / "memories/team").mkdir(parents=True, exist_ok=True)
        (root / f"memories/team/{name}-invoices.md").write_text(memory_text(statement))
        (root / ".memfs/config.yaml").write_text(CONFIG.format(name.title()))
        git(root, "add", "-A")
        git(root, "commit", "-qm", "share")
        shell(f"memfs trust {name}-invoices", root, [("Type", f"{name}-invoices")])
    pin = shell("memfs pin", work / "billing").strip().split()[-1]

    steps = iter(blocks())

    def step(language: str) -> str:
        found, text = next(steps)
        assert found == language
        return text

    sql(step("sql"), "postgres")
    shell(step("sh"))
    sql(step("sql"), "memories")
    sql(step("sql"), "memories")
    assert "share: [team, team/*]" in step("yaml")
    published = shell(step("sh"))
    assert published.count("1 added") == 3
    settings = step("yaml").replace("db.example.com", f"127.0.0.1:{server.port}").replace("PIN", pin)
    (sealed / ".config/memfs").mkdir(parents=True, exist_ok=True, mode=0o700)
    (sealed / ".config/memfs/config.yaml").write_text(settings)
    said = shell(step("sh"))
    assert "[billing-invoices]" in said
    assert "store org: Billing" in said
    assert "can be read" in said
    assert next(steps, None) is None
    with server.connect() as owner:
        owner.execute("DROP DATABASE memories WITH (FORCE)")
        owner.execute("DROP OWNED BY memfs_owner; DROP ROLE IF EXISTS shop_ci, billing_ci, ada")
        owner.execute("DROP ROLE memfs_owner")
