"""What `verify` moves on, what `blame` shows to whom, and evidence by commit in a clone without contents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from people import memory_text
from support import Run, git

PACKAGE = '{\n  "dependencies": {\n    "left-pad": "^2.1.0"\n  }\n}\n'

Memfs = Callable[..., Run]


def write(root: Path, name: str, text: str, scope: str = "team") -> None:
    path = root / f"memories/{scope}/{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", f"Remember {name}")


def resting_on(text: str, *, evidence: str = "", trigger: str = "", scope: str = "team") -> str:
    """Return the text of a memory with other evidence or another trigger."""
    raw = memory_text(text, scope=scope)
    if evidence:
        raw = raw.replace("said by alice@example.com on 2026-11-01", evidence)
    if trigger:
        raw = raw.replace("on 2027-11-30", trigger)
    return raw


def changes(memfs: Memfs, root: Path, name: str) -> dict[str, object]:
    run = memfs("verify", name, "--json", cwd=root)
    assert run.code == 0, run.err
    (one,) = run.json["memories"]
    found: dict[str, object] = one["changes"]
    return found


@pytest.fixture
def kept(repo: Path, memfs: Memfs) -> Path:
    """Return a repository of memories with a manifest."""
    (repo / "package.json").write_text(PACKAGE)
    (repo / "README.md").write_text("# Kept\n")
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "code")
    return repo


def test_a_date_that_has_come_moves_on_by_as_long_as_it_was(kept: Path, memfs: Memfs) -> None:
    text = resting_on("Migrations stay additive.", trigger="on 2026-11-20")
    recorded = next(line.split()[-1] for line in text.splitlines() if line.startswith("recorded"))
    write(kept, "dated", text)
    before = git(kept, "rev-parse", "HEAD")
    span = max(date(2026, 11, 20) - date.fromisoformat(recorded.strip("'")), timedelta(days=30))
    assert changes(memfs, kept, "dated") == {"review_trigger": f"on {date.today() + span}"}
    assert git(kept, "rev-parse", "HEAD") == before
    assert "dated" in memfs("due", cwd=kept).out


def test_a_date_to_come_is_left_as_it_is(kept: Path, memfs: Memfs) -> None:
    write(kept, "dated", memory_text("Migrations stay additive."))
    assert memfs("verify", "dated", "--json", cwd=kept).json["memories"] == []


def test_a_version_that_came_makes_way_for_the_next_one(kept: Path, memfs: Memfs) -> None:
    write(kept, "padding", resting_on("Padding is done by hand.", trigger="when left-pad >= 2"))
    assert changes(memfs, kept, "padding") == {"review_trigger": "when left-pad >= 3"}


def test_a_version_that_did_not_come_is_left_as_it_is(kept: Path, memfs: Memfs) -> None:
    write(kept, "padding", resting_on("Padding is done by hand.", trigger="when left-pad >= 3"))
    assert memfs("verify", "padding", "--json", cwd=kept).json["memories"] == []


def test_verify_ties_nothing_that_its_caller_does_not_see(kept: Path, memfs: Memfs) -> None:
    write(kept, "deal", memory_text("Globex is bought.", scope="restricted/board"), "restricted/board")
    write(kept, "spy", resting_on("Watch it.", trigger="when memories/restricted/board/deal.md changes"))
    write(kept, "deal", memory_text("Globex is not bought.", scope="restricted/board"), "restricted/board")
    for more in ((), ("--as", "team")):
        run = memfs("verify", "spy", "--json", *more, cwd=kept)
        assert "@blob:" not in run.out
        assert "Globex" not in run.out + run.err


def test_blame_names_only_what_its_caller_sees(kept: Path, memfs: Memfs) -> None:
    blob = git(kept, "rev-parse", "HEAD:README.md")
    open_one = resting_on("The readme is short.", evidence=f"README.md@blob:{blob}")
    hidden = resting_on("The board reads it.", evidence=f"README.md@blob:{blob}", scope="restricted/board")
    write(kept, "short", open_one)
    write(kept, "board", hidden, "restricted/board")
    everyone = memfs("blame", "README.md", "--json", "--as", "team", cwd=kept)
    assert [one["memory"]["id"] for one in everyone.json["memories"]] == ["short"]
    assert "board" not in everyone.out + everyone.err
    board = memfs("blame", "README.md", "--json", "--as", "team,restricted/board", cwd=kept)
    assert sorted(one["memory"]["id"] for one in board.json["memories"]) == ["board", "short"]
    # A file among the memories that the caller may not see is one that is not there.
    path = "memories/restricted/board/board.md"
    unseen = memfs("blame", path, "--as", "team", cwd=kept)
    missing = memfs("blame", path.replace("board.md", "b0ard.md"), "--as", "team", cwd=kept)
    assert unseen.code == missing.code
    assert unseen.err.replace("board.md", "b0ard.md") == missing.err


def test_evidence_by_commit_is_told_in_a_clone_that_has_no_old_contents(
    kept: Path, memfs: Memfs, tmp_path: Path
) -> None:
    git(kept, "config", "uploadpack.allowFilter", "true")
    commit = git(kept, "rev-parse", "HEAD")
    write(kept, "short", resting_on("The readme is short.", evidence=f"README.md@{commit[:12]}"))
    (kept / "README.md").write_text("# Long\n")
    git(kept, "commit", "-qam", "long")
    (kept / "README.md").write_text("# Kept\n")
    git(kept, "commit", "-qam", "short again")

    def state(root: Path) -> tuple[str, str]:
        run = memfs("show", "short", "--json", cwd=root)
        assert run.code == 0, run.err
        return run.json["memory"]["state"], run.json["memory"]["evidence"][0]["status"]

    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{kept}", str(partial))
    packs = sorted((partial / ".git/objects/pack").iterdir())
    # Trees are here, so that names of contents can be compared; nothing is fetched for it.
    assert state(partial) == state(kept) == ("current", "unchanged")
    (partial / "README.md").write_text("# Other\n")
    git(partial, "commit", "-qam", "other")
    assert state(partial) == ("recheck", "changed")
    treeless = tmp_path / "treeless"
    git(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{kept}", str(treeless))
    assert state(treeless)[1] == "unverifiable"
    assert packs == [path for path in packs if path.exists()]
