"""What a recall pays for trust: no cryptography, no process, no YAML once the caches are warm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from people import Person, Team, memory_text

from memfs.model.reader import read_memory

SCRIPT = """
import sys
from datetime import date
from pathlib import Path
from memfs.model.reader import read_memory
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.trust.opening import open_view
root = Path(sys.argv[1])
view = open_view(find_work_tree(root), Places(home=Path(sys.argv[2])), today=date(2026, 11, 30))
for name in sys.argv[3:]:
    path = f"memories/team/{name}.md"
    verdict = view.verdict(read_memory(path, (root / path).read_bytes()))
    print(name, verdict.reason or verdict.level)
print("modules", *sorted({"cryptography", "subprocess", "yaml", "git", "dataclasses", "inspect"} & set(sys.modules)))
"""


def in_a_fresh_process(team: Team, *ids: str) -> list[str]:
    argv = [sys.executable, "-I", "-c", SCRIPT, str(team.root), str(team.places.home), *ids]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()


def test_a_warm_recall_imports_no_cryptography_and_starts_no_process(team: Team, alice: Person) -> None:
    team.write("b", memory_text("Never approved."), commit=True)
    team.says("a")
    team.says("b")
    assert in_a_fresh_process(team, "a", "b") == ["a trusted", "b no-approval", "modules"]


def test_an_edited_memory_costs_no_cryptography_either(team: Team) -> None:
    team.says("a")
    team.write("a", memory_text("Edited."))
    assert in_a_fresh_process(team, "a") == ["a changed", "modules"]


def test_a_moved_head_is_read_once(team: Team) -> None:
    team.says("a")
    team.commit("move")
    assert in_a_fresh_process(team, "a")[-1] == "modules subprocess"
    assert in_a_fresh_process(team, "a")[-1] == "modules"


def test_a_cold_cache_is_filled(team: Team) -> None:
    team.says("a")
    (team.places.cache / "trust/verified").unlink()
    assert "cryptography" in in_a_fresh_process(team, "a")[-1]
    assert in_a_fresh_process(team, "a") == ["a trusted", "modules"]


def test_a_forged_receipt_by_a_stranger_costs_no_cryptography(team: Team, mallory: Person) -> None:
    from people import make_record

    from memfs.model.reader import content_digest

    team.says("a")
    path: Path = team.write("b", memory_text("Forged."))
    team.put_receipt(make_record(mallory, team, "b", content_digest(path.read_bytes()), by="alice@example.com"))
    assert read_memory("memories/team/b.md", path.read_bytes()).memory is not None
    assert in_a_fresh_process(team, "b") == ["b key-unknown", "modules"]
