"""What an agent is told when it writes: where it is, what is like it, and what a person has to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_talk import APPROVED, Talk
from people import Team, memory_text

Start = Callable[..., Talk]

DRAFT = {
    "text": "Invoices are rounded half to even.\n\nWhy: the auditor asked for it.",
    "kind": "decision",
    "scope": "team",
    "evidence": ["README.md"],
    "review_trigger": "on 2030-01-01",
    "title": "Rounding",
}


@pytest.fixture
def writer(talk: Start) -> Talk:
    return talk("--allow", "write", name="claude-code")


def said(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def test_an_answer_says_where_the_memory_is_and_how_a_person_approves_it(writer: Talk, team: Team) -> None:
    team.git("switch", "-qc", "feature/refunds")
    result = writer.call("remember", **DRAFT)
    assert "Recorded as rounding in memories/team/rounding.md, on the branch feature/refunds." in said(result)
    assert "`memfs trust rounding` approves it" in said(result)
    assert result["structuredContent"]["branch"] == "feature/refunds"
    assert "Memfs-Agent: claude-code" in team.git("log", "-1", "--format=%B")


def test_the_same_text_again_is_refused_and_the_opposite_is_said(writer: Talk, team: Team) -> None:
    before = team.git("rev-parse", "HEAD")
    again = writer.call("remember", **{**DRAFT, "text": APPROVED})
    assert again["isError"] is True
    assert "additive: this memory says the same already; nothing was written" in said(again)
    assert "verify" in said(again)
    assert team.git("rev-parse", "HEAD") == before
    opposite = writer.call("remember", **{**DRAFT, "text": "Billing migrations never stay additive.", "title": "Not"})
    assert "- additive " in said(opposite)


def test_a_wrong_call_leaves_no_draft_and_names_the_argument(writer: Talk, team: Team, sealed: Path) -> None:
    for wrong in ({"evidence": ["docs/nope.md"]}, {"scope": "Team!"}, {"review_trigger": "sometime"}):
        result = writer.call("remember", **{**DRAFT, **wrong})
        assert result["isError"] is True
        name = next(iter(wrong))
        assert f"{name}: " in said(result), said(result)
        assert "--help" not in said(result)
    drafts = [path for path in (sealed / ".local/state/memfs").rglob("*") if "draft" in str(path) and path.is_file()]
    assert drafts == []


def test_a_memory_that_is_not_current_at_birth_is_said_to_be_so(writer: Talk, team: Team) -> None:
    result = writer.call("remember", **{**DRAFT, "review_trigger": "on 2020-01-01"})
    assert "review is due at once" in said(result)
    assert "recheck already" in said(result)


def test_where_the_team_wants_proposals_remember_stays_off_the_branch(writer: Talk, team: Team) -> None:
    settings = team.root / ".memfs" / "config.yaml"
    there = settings.read_text() if settings.exists() else "version: 1\n"
    settings.write_text(there + "agents: {write: proposal}\n")
    before = team.git("rev-parse", "HEAD")
    result = writer.call("remember", **DRAFT)
    assert result["isError"] is False, said(result)
    assert "Proposed rounding on the branch memory/rounding" in said(result)
    assert "`git switch memory/rounding && memfs review --approve`" in said(result)
    assert team.git("rev-parse", "HEAD") == before
    assert "Memfs-Agent: claude-code" in team.git("log", "-1", "--format=%B", "memory/rounding")


def test_a_change_is_proposed_on_a_branch(writer: Talk, team: Team) -> None:
    result = writer.call("revise", id="additive", text="Billing migrations stay additive until March.")
    assert result["isError"] is False, said(result)
    assert "Proposed the change of additive on the branch memory/additive" in said(result)
    assert "until March" in team.git("show", "memory/additive:memories/team/additive.md")
    assert "until March" not in team.path("additive").read_text()
    assert "origin: agent" in team.git("show", "memory/additive:memories/team/additive.md")
    assert "says that already" in said(writer.call("revise", id="additive", text=APPROVED + "\n"))
    assert "nothing to change" in said(writer.call("revise", id="additive"))


def test_a_memory_that_still_holds_is_tied_to_what_is_there_now(writer: Talk, team: Team) -> None:
    (team.root / "docs").mkdir()
    rule = team.root / "docs" / "rule.md"
    rule.write_text("one\n")
    team.commit("a rule")
    writer.call("remember", **{**DRAFT, "evidence": ["docs/rule.md"], "review_trigger": "when docs/rule.md changes"})
    assert "rests on what is there now already" in said(writer.call("verify", id="rounding"))
    rule.write_text("two\n")
    team.commit("another rule")
    result = writer.call("verify", id="rounding")
    assert "Proposed as still true: rounding" in said(result)
    assert team.git("show", "memory/rounding:memories/team/rounding.md") != team.path("rounding").read_text()


def test_what_waits_for_a_person_is_listed(writer: Talk, team: Team) -> None:
    writer.call("propose", **DRAFT)
    text = said(writer.call("waiting"))
    assert "[staging]" in text
    assert "[additive]" not in text
    assert "`git switch memory/rounding && memfs review --approve`" in text
    assert "memfs trust ID" in text


def test_recall_is_filtered_and_has_a_floor(talk: Start, team: Team) -> None:
    team.write("tagged", memory_text("The staging cluster has four nodes.", extra={"tags": "[cluster]"}))
    server = talk()
    assert "[tagged]" in server.text("recall", query="staging cluster", tag="cluster")
    assert "[staging]" not in server.text("recall", query="staging cluster", tag="cluster")
    assert "Nothing is recorded" in server.text("recall", query="staging cluster", since="2099-01-01")
    assert "Nothing is recorded" in server.text("recall", query="staging cluster", kind="preference")
    assert "must be a date" in said(server.call("recall", query="x", since="soon"))
    weak = server.text("recall", query="best pizza in Naples")
    assert weak.startswith("Nothing is recorded about that.")
    assert "weak: true" in weak
    assert "Memory bundle" in server.text("recall", query="yes, do it with billing", weak=True)


def test_memories_are_resources_and_work_starts_from_prompts(talk: Start) -> None:
    server = talk()
    listed = server.ask("resources/list")["result"]["resources"]
    assert [one["uri"] for one in listed] == ["memfs://additive"]
    read = server.ask("resources/read", uri="memfs://additive")["result"]["contents"][0]["text"]
    assert read.startswith("Memory bundle ")
    assert APPROVED in read
    assert "error" in server.ask("resources/read", uri="memfs://no-such")
    names = {one["name"] for one in server.ask("prompts/list")["result"]["prompts"]}
    assert names == {"review-due", "what-waits"}
    told = server.ask("prompts/get", name="review-due")["result"]["messages"][0]["content"]["text"]
    assert "due" in told
    writing = talk("--allow", "write")
    assert "review-session" in json.dumps(writing.ask("prompts/list"))
