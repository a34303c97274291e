"""What a team and a person make of the rules: read from the base, never weaker than the person wants."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import STATEMENT, check, commit, memory_text, only, put, rules_of, write
from people import Person, found_team
from support import git

from memfs.check.results import Level
from memfs.disk.places import Places

OTHER = "Integration tests need a database schema for each worker that runs them."


def _settings(repo: Path, text: str) -> None:
    write(repo, ".memfs/config.yaml", f"version: 1\ncheck:\n{text}")


def _own(places: Places, text: str) -> None:
    places.config.mkdir(parents=True, mode=0o700)
    (places.config / "config.yaml").write_text(f"version: 1\ncheck:\n{text}")


def test_a_team_sets_the_level_of_a_rule_and_turns_one_off(repo: Path) -> None:
    put(repo, "one")
    put(repo, "two", STATEMENT.replace("checked", "looked at"))
    assert rules_of(check(repo)) == ["near-duplicate", "near-duplicate"]
    _settings(repo, "  rules:\n    near-duplicate: error\n")
    assert not check(repo).report.passed()
    _settings(repo, "  rules:\n    near-duplicate: off\n")
    assert rules_of(check(repo)) == []


def test_a_change_cannot_excuse_itself(repo: Path) -> None:
    put(repo, "first")
    commit(repo, "begin")
    git(repo, "switch", "-qc", "work")
    _settings(repo, "  rules:\n    bad-front-matter: off\n")
    write(repo, "memories/team/x.md", "broken")
    commit(repo, "broken and excused")
    assert "bad-front-matter" in rules_of(check(repo, base="main", commit="work"))


@pytest.mark.parametrize("rule", ["hidden-character", "keyring-deleted", "secret", "receipt-removed"])
def test_rules_that_guard_approvals_and_secrets_keep_their_level(repo: Path, rule: str) -> None:
    put(repo, "x", "Pay\u202e only after review.")
    _settings(repo, f"  rules:\n    {rule}: off\n")
    assert only(check(repo), "hidden-character").level is Level.ERROR


def test_the_persons_own_settings_are_the_least(repo: Path, places: Places) -> None:
    put(repo, "one")
    put(repo, "two", STATEMENT.replace("checked", "looked at"))
    _settings(repo, "  rules:\n    near-duplicate: off\n")
    _own(places, "  rules:\n    near-duplicate: warning\n  fail_on: warning\n")
    found = check(repo, places)
    assert rules_of(found) == ["near-duplicate", "near-duplicate"]
    assert not found.report.passed()


def test_what_fails_a_run_comes_from_the_settings_or_the_command_line(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x", colour="green")
    assert memfs("check", cwd=repo).code == 0
    assert memfs("check", "--fail-on", "note", cwd=repo).code == 1
    _settings(repo, "  fail_on: note\n")
    assert memfs("check", cwd=repo).code == 1
    assert memfs("check", "--fail-on", "error", cwd=repo).code == 1, "the stricter one counts"


def test_settings_that_are_not_understood_are_said_and_not_used(repo: Path) -> None:
    put(repo, "x")
    for text in ("  rules:\n    no-such-rule: off\n", "  fail_on: never\n", "  house:\n    trigger_days: soon\n"):
        _settings(repo, text)
        found = check(repo)
        assert any("the settings `check` are not used" in notice for notice in found.report.notices)
        assert only(found, "bad-settings").level is Level.ERROR


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("  rules:\n    due: error\n", "  rules:\n    due: off\n", "due off (was error)"),
        ("  fail_on: note\n", "  fail_on: error\n", "fail_on error (was note)"),
        ("  require_approval: true\n", "  require_approval: [team]\n", "approval no longer required for every scope"),
        ("  house:\n    people:\n      team: 2\n", "  fail_on: note\n", "1 person for team (was 2)"),
        ("  house:\n    trigger_days: 90\n", "  house:\n    trigger_days: 900\n", "trigger_days 900 (was 90)"),
        ("  house:\n    trigger_kinds: [on]\n", "  fail_on: note\n", "trigger_kinds all (was on)"),
        ("  house:\n    required: [author]\n", "  fail_on: note\n", "author no longer required"),
        ("  fail_on: note\n", "  fail_on: never\n", "nothing of `check` would count"),
    ],
)
def test_a_change_that_weakens_the_checks_is_told(repo: Path, before: str, after: str, says: str) -> None:
    for one, other, is_weaker in ((before, after, True), (after, before, False)):
        _settings(repo, one)
        commit(repo, "one")
        git(repo, "switch", "-qC", "work")
        _settings(repo, other)
        commit(repo, "other")
        found = check(repo, base="main", commit="work")
        told = [result.message for result in found.report.results if result.rule == "settings-changed"]
        assert any(f"The checks become weaker: {says}" in text for text in told) is is_weaker, told
        git(repo, "switch", "-q", "main")


def test_a_baseline_that_grows_is_told_and_does_not_cover_its_own_change(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one")
    commit(repo, "one")
    git(repo, "switch", "-qc", "work")
    write(repo, "memories/team/bad.md", "broken\n")
    assert memfs("check", "--write-baseline", cwd=repo).code == 0
    commit(repo, "broken and known")
    found = check(repo, base="main", commit="work")
    assert "bad-front-matter" in rules_of(found)
    assert "to the baseline, which nobody would be told again" in only(found, "settings-changed").message


def test_an_approval_can_be_required_for_some_scopes(repo: Path, places: Places, key: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    _settings(repo, "  require_approval: [team/*]\n")
    put(repo, "billing-rule", OTHER, scope="team/billing")
    put(repo, "open-rule", "Another matter is said here.")
    team.commit("remember")
    found = check(repo, places)
    assert {(r.rule, r.path) for r in found.report.results if r.level is Level.ERROR} == {
        ("needs-approval", "memories/team/billing/billing-rule.md")
    }
    git(repo, "switch", "-qc", "work")
    put(repo, "third", "A third matter of quite another kind.")
    team.commit("third")
    assert memfs("review", "main..work", cwd=repo).code == 0
    assert memfs("review", "main..work", "--require-approval", cwd=repo).code == 1
    assert memfs("check", "--base", "main", "--require-approval", cwd=repo).code == 1


def test_house_rules_are_data(repo: Path, places: Places, key: Path, other_key: Path) -> None:
    alice, bob = Person("alice", key), Person("bob", other_key)
    team = found_team(repo, places, [alice, bob])
    _settings(
        repo,
        "  house:\n    people:\n      team: 2\n    trigger_days: 400\n    trigger_kinds: [on, when]\n"
        "    required: [author]\n",
    )
    put(repo, "late", OTHER, trigger="on 2999-01-01", author="alice@example.com")
    put(repo, "vague", "Another matter is said here.", trigger="if hell freezes over", author="alice@example.com")
    team.commit("more")
    found = check(repo, places)
    said = {(result.rule, result.path.rpartition("/")[2]) for result in found.report.results}
    assert {("house-trigger", "late.md"), ("house-trigger", "vague.md"), ("house-field", "a.md")} <= said
    assert ("house-people", "a.md") in said
    team.approve(bob, "a")
    assert "house-people" not in rules_of(check(repo, places), "memories/team/a.md")


def test_a_baseline_leaves_out_what_was_known_and_nothing_new(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    write(repo, "memories/team/old.md", "broken before\n")
    put(repo, "x", "Pay\u202e only after review.")
    done = memfs("check", "--write-baseline", cwd=repo)
    assert done.code == 0
    assert ".memfs/baseline.json" in done.out
    write(repo, "memories/team/new.md", "broken now\n")
    found = check(repo)
    assert rules_of(found, "memories/team/old.md") == []
    assert "bad-front-matter" in rules_of(found, "memories/team/new.md")
    assert "hidden-character" in rules_of(found), "a baseline does not cover what guards the reader"
    assert any("left out" in notice for notice in found.report.notices)


def test_an_exception_counts_once_a_person_has_signed_it(repo: Path, places: Places, key: Path) -> None:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    put(repo, "one")
    team.write(
        "two", memory_text(STATEMENT.replace("checked", "looked at"), allow="[near-duplicate (for the night shift)]")
    )
    team.commit("two")
    assert "near-duplicate" in rules_of(check(repo, places), "memories/team/two.md")
    team.approve(alice, "two")
    found = check(repo, places)
    assert "near-duplicate" not in rules_of(found, "memories/team/two.md")
    assert any("approved exceptions" in notice for notice in found.report.notices)
    team.write("two", memory_text(STATEMENT.replace("checked", "seen"), allow="[near-duplicate (for the night shift)]"))
    assert "near-duplicate" in rules_of(check(repo, places), "memories/team/two.md")


def test_an_exception_without_a_reason_does_not_count(repo: Path, places: Places, key: Path) -> None:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    put(repo, "one")
    team.write("two", memory_text(STATEMENT.replace("checked", "looked at"), allow="[near-duplicate]"))
    team.commit("two")
    team.approve(alice, "two")
    assert "near-duplicate" in rules_of(check(repo, places), "memories/team/two.md")
