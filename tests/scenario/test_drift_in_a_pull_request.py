"""A pull request that makes memories stale says so on the changed line: a bare repository and two people."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scenario.test_a_weeks_work import RETRY, fresh, team  # noqa: F401 - the fixture
from scenario.test_two_people import Machine, two  # noqa: F401 - the fixture

pytestmark = pytest.mark.slow

GUIDE = "# Guide\n\n## Deploy windows\n\nTuesdays.\n"
PACKAGE = '{\n  "dependencies": {\n    "left-pad": "^1.0.0"\n  }\n}\n'
SAYS = "A charge is tried three times, since the bank asked for it."


def keep(alice: Machine, memory_id: str, text: str, *more: str, review: str = "on 2030-01-01") -> None:
    alice.run(
        "remember", text, "--id", memory_id, "--kind", "decision", "--scope", "team", "--origin", "owner",
        "--review", review, *more,
    )  # fmt: skip
    alice.trust(memory_id)


def publish(alice: Machine, bob: Machine) -> None:
    alice.push()
    bob.pull()


def pull_request(bob: Machine, name: str, **files: str) -> None:
    """Push a branch from main in which ``files`` (`__` for a slash, `_dot_` for a dot) are other ones."""
    bob.git("switch", "-q", "-c", name, "main")
    for path, text in files.items():
        (bob.root / path.replace("__", "/").replace("_dot_", ".")).write_text(text)
    bob.git("add", "-A")
    bob.git("commit", "-qm", name)
    bob.push()
    bob.git("switch", "-q", "main")


def drift(machine: Machine, name: str, *, code: int = 0) -> list[dict[str, Any]]:
    turns = {"makes-stale", "gone", "moved", "heals", "trigger-fires", "applies-here"}
    run = machine.run("check", "--base", "main", "--commit", name, "--json", code=code)
    return [row for row in run.json["results"] if row["rule"] in turns]


def brief(rows: list[dict[str, Any]]) -> list[tuple[str, str, int | None, list[str]]]:
    return [(row["rule"], row["path"], row["line"], row["ids"]) for row in rows]


def test_the_changed_line_shows_the_memory_that_it_makes_stale(team: tuple[Machine, Machine]) -> None:  # noqa: F811
    alice, bob = team
    keep(alice, "retries", SAYS, "--evidence", "src/retry.py")
    publish(alice, bob)
    pull_request(bob, "work", src__retry_dot_py=RETRY.replace("range(3)", "range(5)"))
    against = ("--base", "main", "--commit", "work")

    (row,) = drift(bob, "work")
    assert brief([row]) == [("makes-stale", "src/retry.py", 5, ["retries"])]
    lines = bob.run("check", *against, "--format", "github").out.splitlines()
    (line,) = [one for one in lines if "file=src/retry.py" in one]
    assert "line=5" in line
    forms = {name: bob.run("check", *against, "--format", name).out for name in ("sarif", "gitlab", "junit", "rdjson")}
    forms["github"] = line
    forms["json"] = bob.run("check", *against, "--format", "json").out
    forms["text"] = bob.run("check", *against).out
    forms["review"] = bob.run("review", "main..work", "--format", "markdown").out
    forms["review as JSON"] = bob.run("review", "main..work", "--json").out
    alarms = json.loads(forms["review as JSON"])["alarms"]
    assert [note["about"] for note in alarms if note["about"] == "makes-stale"] == ["makes-stale"]
    for name, shown in forms.items():
        for words in (SAYS, "alice@example.com", "src/retry.py", "memfs verify retries"):
            assert words in shown, f"{name} does not say {words}\n{shown}"

    bob.git("switch", "-q", "work")
    bob.run("browse", "--export", "../site")
    (page,) = [path.read_text() for path in (bob.root.parent / "site").rglob("retries*.html")]
    for words in (SAYS, "alice@example.com", "src/retry.py", "recheck"):
        assert words in page, f"the page does not say {words}\n{page}"


def test_a_comment_in_the_lines_that_a_memory_rests_on_is_silent(team: tuple[Machine, Machine]) -> None:  # noqa: F811
    alice, bob = team
    keep(alice, "loop", "Waiting grows with each attempt.", "--evidence", "src/retry.py#L4-L6")
    publish(alice, bob)
    pull_request(bob, "words", src__retry_dot_py=RETRY.replace("    for", "    # as agreed with the bank\n    for"))
    assert drift(bob, "words") == []


def test_each_other_turn_is_told_once(team: tuple[Machine, Machine]) -> None:  # noqa: F811
    alice, bob = team
    for path, text in {"package.json": PACKAGE, "src/old.py": "old = 1\n", "src/tax.py": "tax = 19\n"}.items():
        (alice.root / path).write_text(text)
    alice.git("add", "-A")
    alice.git("commit", "-qm", "more code")
    keep(alice, "old", "The old importer waits for the partner.", "--evidence", "src/old.py")
    keep(alice, "guide", "The guide is what the team agreed on.", "--evidence", "docs/guide.md")
    keep(alice, "tax", "The tax is fixed by the contract with the shop.", "--evidence", "src/tax.py")
    said = ("--evidence", "said by alice@example.com on 2026-11-01")
    keep(alice, "padding", "Padding is done by hand.", *said, review="when left-pad >= 2")
    keep(alice, "charges", "Every charge is written to the ledger.", *said, "--applies-to", "src/retry.py")
    (alice.root / "src/tax.py").write_text("tax = 20\n")
    alice.git("commit", "-qam", "wrong tax")
    publish(alice, bob)
    bob.git("switch", "-qc", "work")
    bob.git("rm", "-q", "src/old.py")
    bob.git("mv", "docs/guide.md", "docs/handbook.md")
    (bob.root / "src/tax.py").write_text("tax = 19\n")
    (bob.root / "package.json").write_text(PACKAGE.replace("1.0", "2.0"))
    (bob.root / "src/retry.py").write_text(RETRY.replace("range(3)", "range(5)"))
    bob.git("add", "-A")
    bob.git("commit", "-qm", "work")
    assert sorted(brief(drift(bob, "work"))) == [
        ("applies-here", "src/retry.py", 5, ["charges"]),
        ("gone", "src/old.py", None, ["old"]),
        ("heals", "src/tax.py", 1, ["tax"]),
        ("moved", "docs/handbook.md", 1, ["guide"]),
        ("trigger-fires", "package.json", 3, ["padding"]),
    ]


def test_two_green_pull_requests_whose_merge_is_red_are_told(team: tuple[Machine, Machine]) -> None:  # noqa: F811
    alice, bob = team
    pull_request(bob, "code", src__retry_dot_py=RETRY.replace("range(3)", "range(5)"))
    alice.git("switch", "-qc", "memory")
    keep(alice, "retries", SAYS, "--evidence", "src/retry.py")
    alice.push()
    bob.git("fetch", "-q")
    bob.run("check", "--base", "main", "--commit", "code")
    bob.run("check", "--base", "main", "--commit", "origin/memory")
    bob.git("merge", "-q", "--no-ff", "-m", "Merge the memory", "origin/memory")
    bob.push()

    ci = fresh(bob, "ci")
    (row,) = drift(ci, "origin/code")
    assert brief([row]) == [("makes-stale", "src/retry.py", 5, ["retries"])]
