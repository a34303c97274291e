"""Every rule of `memfs check`, broken once in a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from making import STATEMENT, TODAY, check, commit, memory_text, only, put, rules_of, write
from people import Person, found_team, make_record
from people import memory_text as people_text
from support import git

from memfs.check.results import Level
from memfs.check.rules import GROUPS, RULES
from memfs.check.run import check_repository
from memfs.check.states import Target
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.errors import UsageError
from memfs.model.memory import State

OTHER = "Integration tests need a database schema for each worker that runs them."


def test_a_sound_memory_is_not_mentioned(repo: Path) -> None:
    put(repo, "deploys")
    found = check(repo)
    assert found.report.results == ()
    assert found.report.files == 1


def test_every_rule_has_a_group_a_sentence_and_a_fix() -> None:
    for rule in RULES.values():
        assert rule.group in GROUPS
        assert rule.sentence.endswith(".")
        assert rule.fix is not None
        assert rule.fix.endswith((".", "…`.")), rule.name


# -- files and names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"\xff\xfe not text", "unreadable-file"),
        (b"a\0b", "unreadable-file"),
        (b"x" * (256 * 1024 + 1), "unreadable-file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "lfs-pointer"),
        (memory_text("<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs").encode(), "conflict-markers"),
        (b"---\nkind: decision\nkind: decision\n---\nx\n", "bad-front-matter"),
        (b"---\nkind: &a decision\n---\nx\n", "bad-front-matter"),
        (b"no front matter\n", "bad-front-matter"),
    ],
)
def test_a_file_that_is_no_memory_is_named_and_takes_no_other_down(repo: Path, raw: bytes, rule: str) -> None:
    write(repo, "memories/team/broken.md", raw)
    put(repo, "sound")
    found = check(repo)
    assert rule in rules_of(found, "memories/team/broken.md")
    assert rules_of(found, "memories/team/sound.md") == []


def test_conflict_markers_name_the_command_that_helps(repo: Path) -> None:
    write(repo, "memories/team/deploys.md", memory_text("<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs"))
    assert only(check(repo), "conflict-markers").fix.startswith("Run `memfs edit --merge deploys`")


def test_a_symlink_out_of_the_repository_is_not_followed(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(memory_text())
    (repo / "memories" / "team").mkdir()
    (repo / "memories" / "team" / "link.md").symlink_to(tmp_path / "outside.md")
    assert rules_of(check(repo)) == ["not-a-file"]


def test_a_fifo_does_not_hang_the_check(repo: Path) -> None:
    (repo / "memories" / "team").mkdir()
    os.mkfifo(repo / "memories" / "team" / "pipe.md")
    assert rules_of(check(repo)) == ["not-a-file"]


def test_a_repository_inside_memories_is_not_entered(repo: Path) -> None:
    git(repo, "init", "-q", "memories/team/inner")
    write(repo, "memories/team/inner/x.md", memory_text())
    assert rules_of(check(repo)) == ["nested-repository"]


@pytest.mark.parametrize("name", ["CON.md", "aux.md", "com1.md", "nul.md"])
def test_names_that_windows_cannot_store_are_reported(repo: Path, name: str) -> None:
    write(repo, f"memories/team/{name}", memory_text())
    assert "reserved-name" in rules_of(check(repo))


def test_a_file_outside_every_scope_folder_is_misplaced(repo: Path) -> None:
    write(repo, "memories/loose.md", memory_text())
    assert "misplaced-file" in rules_of(check(repo))
    assert "scope-folder" not in rules_of(check(repo))


def test_two_names_that_differ_only_in_case_clash(repo: Path) -> None:
    put(repo, "deploys")
    write(repo, "memories/team/Deploys.md", memory_text(OTHER))
    clash = only(check(repo), "case-clash")
    assert "only in case" in clash.message


def test_one_id_in_two_folders_is_reported_at_both(repo: Path) -> None:
    put(repo, "deploys")
    put(repo, "deploys", OTHER, scope="team/billing")
    found = [result for result in check(repo).report.results if result.rule == "duplicate-id"]
    assert [result.path for result in found] == ["memories/team/billing/deploys.md", "memories/team/deploys.md"]


# -- form --------------------------------------------------------------------------------------------


def test_a_missing_field_and_a_bad_value_have_their_line(repo: Path) -> None:
    text = memory_text().replace("recorded: 2026-11-01\n", "").replace("kind: decision", "kind: rumour")
    write(repo, "memories/team/x.md", text)
    found = check(repo)
    assert only(found, "bad-value").line == 2
    assert "recorded" in only(found, "missing-field").message


def test_the_scope_must_be_the_folder(repo: Path) -> None:
    write(repo, "memories/team/x.md", memory_text(scope="team/billing"))
    assert only(check(repo), "scope-folder").line == 4


def test_an_unknown_key_is_a_note_only(repo: Path) -> None:
    put(repo, "x", colour="green")
    found = only(check(repo), "unknown-key")
    assert found.level is Level.NOTE
    assert "colour" in found.message


def test_trailing_blanks_are_fixed_and_nothing_else_changes(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    good = memory_text(f"{STATEMENT}\n\nWhy: caf\u00e9.")
    bad = good.replace("caf\u00e9.", "cafe\u0301.   ") + "\n\n"
    write(repo, "memories/team/x.md", bad)
    assert only(check(repo), "not-normal-form").fixable
    done = memfs("check", "--fix", cwd=repo)
    assert (repo / "memories/team/x.md").read_text() == good
    assert "1 file fixed" in done.out
    assert done.code == 0


def test_windows_line_ends_are_no_fault(repo: Path) -> None:
    write(repo, "memories/team/x.md", memory_text().replace("\n", "\r\n"))
    assert rules_of(check(repo)) == []


def test_a_line_that_forges_would_hide_is_reported(repo: Path) -> None:
    put(repo, "x", "word " * 1_000)
    assert (
        "5,000 characters" in only(check(repo), "long-line").message
        or "4,999" in only(check(repo), "long-line").message
    )


# -- evidence ----------------------------------------------------------------------------------------


def _with_file(repo: Path, text: str = "as it was\n") -> str:
    write(repo, "docs/adr.md", text)
    return commit(repo, "say why")


def test_evidence_at_an_unknown_commit_is_an_error(repo: Path) -> None:
    put(repo, "x", evidence="docs/adr.md@deadbeef")
    found = only(check(repo), "evidence-no-commit")
    assert found.level is Level.ERROR
    assert found.line == 5
    assert "docs/adr.md@deadbeef names a commit that is not in this repository" in found.message


def test_a_commit_that_does_not_hold_the_file_is_an_error(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    _with_file(repo)
    put(repo, "x", evidence=f"docs/adr.md@{first}")
    assert "contains no file" in only(check(repo), "evidence-no-path").message


def test_a_bare_commit_is_looked_up_too(repo: Path) -> None:
    put(repo, "x", evidence=[_with_file(repo)[:12]])
    assert rules_of(check(repo)) == []
    put(repo, "x", evidence=["deadbeefdeadbeef"])
    assert rules_of(check(repo)) == ["evidence-no-commit"]


def test_evidence_that_changed_or_went_away_is_a_warning(repo: Path) -> None:
    at = _with_file(repo)
    put(repo, "x", evidence=f"docs/adr.md@{at}")
    assert rules_of(check(repo)) == []
    write(repo, "docs/adr.md", "as it is now\n")
    assert only(check(repo), "evidence-changed").level is Level.WARNING
    (repo / "docs/adr.md").unlink()
    assert rules_of(check(repo)) == ["evidence-gone"]


def test_evidence_checked_out_with_other_line_ends_has_not_changed(repo: Path) -> None:
    at = _with_file(repo, "one\ntwo\n")
    put(repo, "x", evidence=f"docs/adr.md@{at}")
    write(repo, "docs/adr.md", "one\r\ntwo\r\n")
    assert rules_of(check(repo)) == []


def test_a_shallow_clone_says_that_it_cannot_look(repo: Path, tmp_path: Path) -> None:
    at = _with_file(repo)
    put(repo, "x", evidence=f"docs/adr.md@{at}")
    commit(repo, "remember")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    found = only(check(tmp_path / "shallow"), "evidence-unknown")
    assert found.level is Level.NOTE
    assert "shallow" in found.message
    assert rules_of(check(tmp_path / "shallow")) == ["evidence-unknown"]


def test_a_commit_alone_that_is_only_on_the_branch_is_lost_by_a_squash(repo: Path) -> None:
    git(repo, "switch", "-qc", "work")
    at = _with_file(repo)
    put(repo, "x", evidence=[at])
    put(repo, "y", OTHER, evidence=f"docs/adr.md@{at}")
    commit(repo, "remember")
    assert rules_of(check(repo, base="main", commit="work")) == ["evidence-may-vanish"]
    assert rules_of(check(repo)) == []


def test_evidence_at_a_lost_commit_is_compared_with_what_was_there_when_the_memory_came(repo: Path) -> None:
    git(repo, "switch", "-qc", "work")
    at = _with_file(repo)
    put(repo, "x", evidence=f"docs/adr.md@{at}")
    commit(repo, "remember")
    git(repo, "switch", "-q", "main")
    git(repo, "merge", "-q", "--squash", "work")
    commit(repo, "squashed")
    git(repo, "branch", "-qD", "work")
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "-q", "--prune=now")
    found = only(check(repo), "evidence-no-commit")
    assert found.level is Level.NOTE
    assert rules_of(check(repo)) == ["evidence-no-commit"]
    write(repo, "docs/adr.md", "as it is now\n")
    commit(repo, "other")
    assert rules_of(check(repo)) == ["evidence-changed", "evidence-no-commit"]


# -- triggers ----------------------------------------------------------------------------------------


def test_a_day_that_has_come_is_due(repo: Path) -> None:
    put(repo, "x", trigger="on 2026-11-30")
    assert "2026-11-30" in only(check(repo), "due").message


def test_a_path_that_changed_since_the_memory_is_due(repo: Path) -> None:
    write(repo, "docs/support.md", "two versions\n")
    put(repo, "x", trigger="when docs/support.md changes")
    commit(repo)
    assert rules_of(check(repo)) == []
    write(repo, "docs/support.md", "one version\n")
    commit(repo, "other")
    assert "docs/support.md changed" in only(check(repo), "due").message


def test_a_change_of_mode_does_not_make_a_fired_trigger_quiet(repo: Path, tmp_path: Path) -> None:
    write(repo, "docs/support.md", "two versions\n")
    path = put(repo, "x", trigger="when docs/support.md changes")
    commit(repo)
    write(repo, "docs/support.md", "one version\n")
    commit(repo, "other")
    git(repo, "update-index", "--chmod=+x", path)
    git(repo, "commit", "-qm", "mode")
    assert rules_of(check(repo)) == ["due"]
    git(repo, "rm", "-q", "--cached", path)
    git(repo, "commit", "-qm", "out")
    commit(repo, "in again")
    assert rules_of(check(repo)) == ["due"]
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    assert rules_of(check(tmp_path / "shallow")) == ["trigger-unknown"]


def test_a_hand_off_past_its_day_has_expired(repo: Path) -> None:
    put(repo, "x", kind="handoff", expires="2026-11-01")
    assert rules_of(check(repo)) == ["expired"]


@pytest.mark.parametrize(
    "trigger", ["when docs/nothing.md changes", "when no-such-memory is superseded", "when left-pad >= 2"]
)
def test_a_trigger_that_can_never_fire_is_said(repo: Path, trigger: str) -> None:
    put(repo, "x", trigger=trigger)
    assert rules_of(check(repo)) == ["trigger-blind"]


def test_a_version_of_the_projects_own_manifest_fires(repo: Path) -> None:
    write(repo, "package.json", '{"dependencies": {"left-pad": "^2.1.0"}}')
    put(repo, "x", trigger="when left-pad >= 2")
    assert "left-pad is 2.1.0" in only(check(repo), "due").message


# -- one memory and the others -----------------------------------------------------------------------


def test_an_unknown_superseded_id_and_a_circle(repo: Path) -> None:
    put(repo, "a", "One thing holds for the first part.", supersedes="[b]")
    put(repo, "b", "Quite another matter for the second.", supersedes="[a]")
    put(repo, "c", "Something else again, far away from these.", supersedes="[ghost]")
    found = check(repo)
    assert [r.path for r in found.report.results if r.rule == "supersession-cycle"] == [
        "memories/team/a.md",
        "memories/team/b.md",
    ]
    assert "ghost" in only(found, "supersedes-unknown").message


def test_two_current_answers_to_one_question(repo: Path) -> None:
    put(repo, "old", "We deploy by hand.")
    put(repo, "one", "The pipeline deploys every merge.", supersedes="[old]")
    put(repo, "two", "Releases go out once a week.", supersedes="[old]")
    found = [result for result in check(repo).report.results if result.rule == "two-answers"]
    assert [result.path for result in found] == ["memories/team/one.md", "memories/team/two.md"]
    put(repo, "two", "Releases go out once a week.", supersedes="[old, one]")
    assert "two-answers" not in rules_of(check(repo))


def test_a_narrow_memory_does_not_replace_a_wide_one_for_everybody(repo: Path) -> None:
    put(repo, "wide", "We deploy by hand.")
    put(repo, "narrow", "The pipeline deploys every merge.", scope="restricted/ops", supersedes="[wide]")
    assert rules_of(check(repo)) == ["supersedes-for-others"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (STATEMENT, "duplicate-text"),
        (STATEMENT.replace("checked", "looked at"), "near-duplicate"),
        (STATEMENT.replace("happen", "never happen"), "contradiction"),
    ],
)
def test_what_is_there_already_is_named(repo: Path, text: str, rule: str) -> None:
    put(repo, "first")
    put(repo, "second", text, scope="team/billing")
    found = [result for result in check(repo).report.results if result.rule == rule]
    assert len(found) == 2
    assert "memories/team/first.md" in found[0].message


def test_the_one_that_supersedes_is_no_duplicate(repo: Path) -> None:
    put(repo, "first")
    put(repo, "second", STATEMENT.replace("Friday", "Monday"), supersedes="[first]")
    assert rules_of(check(repo)) == []


# -- admission ---------------------------------------------------------------------------------------


def _token() -> str:
    return "gh" + "p_" + "k3Jd92LmQx7Tz0Vb5Nc8Rf1Hs6Wy4Pa2Ge9U"


def test_a_credential_in_any_field_is_an_error_that_never_shows_it(repo: Path) -> None:
    put(repo, "x", f"The deploy token is {_token()} for now.")
    put(repo, "y", OTHER, title=f"use {_token()}")
    found = [result for result in check(repo).report.results if result.rule == "secret"]
    assert {result.path for result in found} == {"memories/team/x.md", "memories/team/y.md"}
    assert found[0].line == 10
    assert not any(_token() in result.message for result in found)


def test_a_hidden_character_is_placed(repo: Path) -> None:
    put(repo, "x", "Pay\u202e only after review.")
    found = only(check(repo), "hidden-character")
    assert (found.line, found.column) == (10, 4)
    assert "U+202E" in found.message


def test_ten_thousand_hidden_characters_are_told_in_a_few_lines(repo: Path) -> None:
    put(repo, "x", "a\u200b" * 10_000)
    started = time.process_time()
    found = [result for result in check(repo).report.results if result.rule == "hidden-character"]
    assert time.process_time() - started < 5
    assert len(found) == 6
    assert any("9,995 more" in result.message for result in found)


def test_a_rule_that_a_file_lets_pass_for_itself_waits_for_an_approval(repo: Path, places: Places, key: Path) -> None:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    text = "The on-call phone of the billing team is +49 30 90182 0 in the office."
    team.write("phone", memory_text(text))
    team.commit("phone")
    rules = [
        r.message.rsplit("(", 1)[1].rstrip(").") for r in check(repo, places).report.results if r.level is Level.ERROR
    ]
    if not rules:
        pytest.skip("admission has nothing against this text")
    team.write("phone", memory_text(text, allow=f"[{', '.join(rules)}]"))
    team.commit("allow")
    found = check(repo, places)
    if "allowed-by-itself" not in rules_of(found):
        pytest.skip("nobody can let this rule pass")
    assert only(found, "allowed-by-itself").level is Level.ERROR
    team.approve(alice, "phone")
    assert "allowed-by-itself" not in rules_of(check(repo, places))


def test_a_second_scanner_can_be_asked(repo: Path) -> None:
    from memfs.admission.gate import Finding, Severity
    from memfs.admission.rules import Family

    class Scanner:
        def check_text(self, name: str, text: str) -> list[Finding]:
            if "zebra" not in text:
                return []
            message = "looks like a credential"
            return [
                Finding(
                    rule="x",
                    family=Family.SECRETS,
                    severity=Severity.REJECT,
                    message=message,
                    field=name,
                    line=10,
                    column=3,
                )
            ]

    put(repo, "x", "The zebra is the animal of the house.")
    found = check_repository(find_work_tree(repo), None, Target(), today=TODAY, scanner=Scanner())  # type: ignore[arg-type]
    assert (only(found, "secret").line, only(found, "secret").column) == (10, 3)


def test_a_commit_message_passes_the_gate_too(repo: Path) -> None:
    git(repo, "switch", "-qc", "work")
    put(repo, "x")
    commit(repo, f"remember it with {_token()}")
    found = only(check(repo, base="main"), "secret")
    assert found.path == ""
    assert "message of commit" in found.message


def test_the_address_of_somebody_who_commits_here_may_be_an_author(repo: Path) -> None:
    put(repo, "x", author="alice@example.com")
    assert rules_of(check(repo)) == []


# -- the repository ----------------------------------------------------------------------------------


def test_attributes_that_let_git_change_signed_bytes(repo: Path) -> None:
    write(repo, ".gitattributes", "memories/** merge=union\n")
    found = [result for result in check(repo).report.results if result.rule == "attributes"]
    assert len(found) == 3
    assert any("merge=union" in result.message for result in found)


def test_settings_that_are_not_understood(repo: Path) -> None:
    write(repo, ".memfs/config.yaml", "version: 1\nstores: [/etc]\n")
    assert "bad-settings" in rules_of(check(repo))


def test_a_merge_in_progress_names_the_memory_that_both_changed(repo: Path) -> None:
    put(repo, "x")
    commit(repo)
    git(repo, "switch", "-qc", "other")
    put(repo, "x", STATEMENT.replace("Friday", "Monday"))
    commit(repo)
    git(repo, "switch", "-q", "main")
    put(repo, "x", STATEMENT.replace("Friday", "Tuesday"))
    commit(repo)
    merged = subprocess.run(["git", "merge", "-q", "other"], cwd=repo, capture_output=True)
    assert merged.returncode != 0
    found = check(repo)
    assert {"unmerged", "conflict-markers"} <= set(rules_of(found))
    assert "memfs edit --merge x" in only(found, "unmerged").fix
    assert "unmerged" in rules_of(check(repo, staged=True))


def test_questions_that_cannot_be_read(repo: Path) -> None:
    write(repo, "evals/recall.yaml", "version: 1\ncases:\n  - ask: what?\n")
    assert "evals/recall.yaml:3" in only(check(repo), "bad-questions").message


# -- approvals ---------------------------------------------------------------------------------------


def test_a_text_that_was_changed_after_its_approval(repo: Path, places: Places, key: Path) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    assert rules_of(check(repo, places)) == []
    team.write("a", people_text("Migrations are whatever they are."))
    assert only(check(repo, places), "approval-lost").path == "memories/team/a.md"


def test_receipts_that_are_none_and_receipts_that_do_not_count(
    repo: Path, places: Places, key: Path, other_key: Path
) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    write(repo, ".memfs/approvals/a.1.00000000.txt", "not a record\n")
    team.put_receipt(make_record(Person("mallory", other_key), team, "a", "0" * 64, seq=7))
    found = check(repo, places)
    assert only(found, "receipt-unreadable").path == ".memfs/approvals/a.1.00000000.txt"
    assert "does not list for that person" in only(found, "receipt-refused").message


def test_what_is_outside_the_change_supersedes_only_when_it_is_approved(repo: Path, places: Places, key: Path) -> None:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice], approve_memory=False)
    team.write("old", memory_text())
    team.write("heir", memory_text("Migrations are run by hand.", supersedes="[old]"))
    team.commit("heir")
    for approved, state in (((), State.CURRENT), (("heir",), State.SUPERSEDED)):
        for memory_id in approved:
            team.approve(alice, memory_id)
        team.commit("approve")
        team.git("branch", "-f", "base")
        team.write("old", memory_text(OTHER, tags=f"[{state.value}]"))
        team.approve(alice, "old")
        team.commit("edit")
        found = check(repo, places, base="base")
        assert found.verdicts["memories/team/old.md"].trusted
        assert found.standings["memories/team/old.md"].report.state is state


def test_a_keyring_that_does_not_hold(repo: Path, places: Places, key: Path) -> None:
    found_team(repo, places, [Person("alice", key)])
    path = repo / ".memfs" / "keyring.1"
    path.write_bytes(path.read_bytes().replace(b"approve 1\n", b"approve 0\n"))
    assert only(check(repo, places), "keyring-refused").path == ".memfs/keyring.1"


@pytest.mark.parametrize("what", ["fifo", "symlink", "folder"])
@pytest.mark.parametrize("path", [".memfs/keyring.1", ".memfs/config.yaml", ".memfs/approvals", ".memfs/keyring.2"])
def test_what_is_no_regular_file_under_memfs_is_said(
    repo: Path, places: Places, key: Path, what: str, path: str
) -> None:
    found_team(repo, places, [Person("alice", key)])
    place = repo / path
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    if what == "fifo":
        os.mkfifo(place)
    elif what == "symlink":
        place.symlink_to("/etc")
    else:
        place.mkdir()
    rules = set(rules_of(check(repo, places)))
    if (what, path) == ("folder", ".memfs/approvals"):
        assert rules == set()
    else:
        assert rules & {"not-a-file", "keyring-refused", "bad-settings"}, rules
    if "keyring" in path:
        assert "keyring-refused" in rules


def test_a_symlink_in_a_commit_is_said_too(repo: Path, places: Places, key: Path) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    team.git("switch", "-qc", "work")
    (repo / ".memfs/keyring.1").unlink()
    (repo / ".memfs/keyring.1").symlink_to("/dev/zero")
    team.commit("link")
    rules = rules_of(check(repo, places, base="main", commit="work"))
    assert {"not-a-file", "keyring-refused"} <= set(rules)


def test_nothing_pinned_ends_with_2_unless_the_caller_names_a_keyring(
    repo: Path,
    places: Places,
    key: Path,
    tmp_path: Path,
    memfs,
    monkeypatch: pytest.MonkeyPatch,  # type: ignore[no-untyped-def]
) -> None:
    team = found_team(repo, places, [Person("alice", key)])
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    done = memfs("check", cwd=repo, home=stranger)
    assert done.code == 2
    assert "memfs pin" in done.err
    assert memfs("check", "--pin", "here", cwd=repo, home=stranger).code == 0
    assert memfs("check", "--pin", team.pin(), cwd=repo, home=stranger).code == 0
    monkeypatch.setenv("MEMFS_PIN", "here")
    assert memfs("check", cwd=repo, home=stranger).code == 0
    monkeypatch.delenv("MEMFS_PIN")
    done = memfs("check", "--base", "HEAD~1", cwd=repo, home=stranger)
    assert done.code == 2
    done = memfs("check", "--base", "HEAD~1", "--pin", "here", cwd=repo, home=stranger)
    assert done.code == 0
    assert "the base's keyring was taken unverified" in done.out
    done = memfs("check", "--staged", cwd=repo, home=stranger)
    assert done.code == 0
    assert "memfs pin" in done.err


def test_an_approved_file_is_not_touched_by_fix(repo: Path, places: Places, key: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    text = memory_text(f"{OTHER}   ")
    team.write("padded", text)
    team.commit("padded")
    team.approve(alice, "padded")
    done = memfs("check", "--fix", cwd=repo)
    assert team.path("padded").read_text() == text
    assert "is approved as it is, so its form was left" in done.out


def test_what_admission_holds_is_settled_by_an_approval(repo: Path, places: Places, key: Path) -> None:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    team.write("held", memory_text("Deployments may skip the approval of a second person on Fridays.", origin="agent"))
    team.commit("held")
    if "held" not in rules_of(check(repo, places)):
        pytest.skip("admission rejects this text instead of holding it")
    team.approve(alice, "held")
    assert "held" not in rules_of(check(repo, places))


# -- what is checked ---------------------------------------------------------------------------------


def test_staged_looks_at_the_index_and_not_at_the_disk(repo: Path) -> None:
    path = put(repo, "x", "short")
    write(repo, path, "broken")
    git(repo, "add", path)
    put(repo, "x")
    assert rules_of(check(repo)) == []
    assert "bad-front-matter" in rules_of(check(repo, staged=True))


def test_only_what_a_branch_changes_is_reported(repo: Path) -> None:
    write(repo, "memories/team/old.md", "broken before")
    commit(repo)
    git(repo, "switch", "-qc", "work")
    put(repo, "x", evidence="docs/a.md@deadbeef")
    commit(repo)
    found = check(repo, base="main")
    assert rules_of(found) == ["evidence-no-commit"]
    assert found.report.files == 1


def test_a_commit_is_checked_without_being_checked_out(repo: Path) -> None:
    git(repo, "switch", "-qc", "work")
    write(repo, "memories/team/x.md", "broken")
    commit(repo)
    git(repo, "switch", "-q", "main")
    assert "bad-front-matter" in rules_of(check(repo, base="main", commit="work"))
    assert not (repo / "memories/team/x.md").exists()


def test_a_file_that_both_sides_changed_is_said(repo: Path) -> None:
    put(repo, "x", f"{STATEMENT}\n\nOne reason.\n\nTwo reasons.")
    commit(repo)
    git(repo, "switch", "-qc", "work")
    put(repo, "x", f"{STATEMENT}\n\nOne reason.\n\nTwo good reasons.")
    commit(repo)
    git(repo, "switch", "-q", "main")
    put(repo, "x", f"{STATEMENT}\n\nOne good reason.\n\nTwo reasons.")
    commit(repo)
    assert "base-moved" in rules_of(check(repo, base="main", commit="work"))


def test_a_wider_scope_is_said(repo: Path) -> None:
    put(repo, "x", scope="restricted/ops")
    put(repo, "y", OTHER, scope="team/billing")
    commit(repo)
    git(repo, "switch", "-qc", "work")
    (repo / "memories/restricted/ops/x.md").unlink()
    (repo / "memories/team/billing/y.md").unlink()
    put(repo, "x", scope="team")
    put(repo, "y", OTHER, scope="team")
    commit(repo)
    found = check(repo, base="main")
    assert only(found, "scope-wider").path == "memories/team/x.md"
    assert "from now on everybody on the team" in only(found, "scope-wider").message
    assert only(found, "scope-moved").level is Level.NOTE


def test_paths_limit_what_is_reported(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    write(repo, "memories/team/x.md", "broken")
    write(repo, "memories/team/billing/y.md", "broken")
    done = memfs("check", "memories/team/billing", "--json", cwd=repo)
    assert {result["path"] for result in done.json["results"]} == {"memories/team/billing/y.md"}
    assert done.code == 1
    with pytest.raises(UsageError, match="no memory lies at this path"):
        check(repo, paths=("memories/nowhere",))


def test_an_unknown_base_is_a_usage_error(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    done = memfs("check", "--base", "-x", cwd=repo)
    assert done.code == 2
    assert "no such commit" in done.err or "expected" in done.err
    assert memfs("check", "--base", "nowhere", cwd=repo).code == 2


# -- the cache ---------------------------------------------------------------------------------------


def test_what_is_known_is_not_looked_at_again_and_says_the_same(repo: Path, places: Places) -> None:
    put(repo, "x", evidence="docs/a.md@deadbeef")
    put(repo, "y")
    write(repo, "memories/team/z.md", memory_text(STATEMENT + "  "))
    first, second = check(repo, places), check(repo, places)
    assert (first.report.cached, second.report.cached) == (0, 3)
    assert first.report.results == second.report.results
    kept = next((places.cache / "check").iterdir())
    assert kept.stat().st_mode & 0o077 == 0


def test_a_changed_file_is_looked_at_again(repo: Path, places: Places) -> None:
    path = put(repo, "x")
    check(repo, places)
    write(repo, path, "broken")
    found = check(repo, places)
    assert found.report.cached == 0
    assert "bad-front-matter" in rules_of(found)


def test_evidence_is_looked_up_again_although_the_memory_is_known(repo: Path, places: Places) -> None:
    at = _with_file(repo)
    put(repo, "x", evidence=f"docs/adr.md@{at}")
    assert rules_of(check(repo, places)) == []
    write(repo, "docs/adr.md", "changed\n")
    assert rules_of(check(repo, places)) == ["evidence-changed"]


def test_a_cache_that_others_could_write_is_not_used(repo: Path, places: Places) -> None:
    put(repo, "x")
    check(repo, places)
    next((places.cache / "check").iterdir()).chmod(0o666)
    found = check(repo, places)
    assert found.report.cached == 0
    assert any("nothing is kept" in notice for notice in found.report.notices)


def test_nothing_of_a_file_with_a_credential_is_kept(repo: Path, places: Places) -> None:
    put(repo, "x", f"The deploy token is {_token()} for now.", author="alice@example.com")
    put(repo, "y", OTHER)
    for _ in range(2):
        assert "secret" in rules_of(check(repo, places))
    kept = b"".join(path.read_bytes() for path in places.cache.rglob("*") if path.is_file())
    assert _token().encode() not in kept
    assert b"The deploy token" not in kept
    assert OTHER.encode() in kept


def test_a_damaged_cache_is_found_again(repo: Path, places: Places) -> None:
    put(repo, "x")
    check(repo, places)
    kept = next((places.cache / "check").iterdir())
    kept.write_text('{"version": [1, 1, 1], "files": {"a": 3}, "blobs": [], "pairs": 7}')
    assert rules_of(check(repo, places)) == []


# -- many files --------------------------------------------------------------------------------------


def test_children_find_what_one_process_finds(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        put(repo, f"memory-{number}", f"Number {number} stands for itself.", trigger="on 2026-01-01")
    write(repo, "memories/team/broken.md", "broken")
    alone = check(repo)
    monkeypatch.setattr("memfs.check.workers.MIN_FILES", 2)
    together = check(repo)
    assert together.report.results == alone.report.results
    assert together.files == alone.files


def test_a_child_that_fails_costs_no_result(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repo, "one", "The first thing is this.")
    put(repo, "two", "Another matter is that.", evidence="docs/x.md@deadbeef")
    monkeypatch.setattr("memfs.check.workers.MIN_FILES", 2)
    monkeypatch.setattr("memfs.check.workers.format_known", lambda known: {"not": "this"})
    assert rules_of(check(repo)) == ["evidence-no-commit"]


def test_a_file_that_is_evidence_and_trigger_is_told_once(repo: Path) -> None:
    write(repo, "retry.py", "MAX = 3\n")
    blob = git(repo, "hash-object", "-w", "retry.py")
    put(repo, "retry", evidence=f"retry.py@blob:{blob}", trigger="when retry.py changes")
    commit(repo, "retry")
    write(repo, "retry.py", "MAX = 5\n")
    commit(repo, "five")
    assert rules_of(check(repo)) == ["evidence-changed"]
    (repo / "retry.py").unlink()
    commit(repo, "gone")
    assert rules_of(check(repo)) == ["evidence-gone", "trigger-blind"]
