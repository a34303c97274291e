"""A pull request by somebody who means harm: every trick is named in plain words, in every form."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import TODAY, memory_text
from people import Person, Team, found_team
from support import git, make_key

from memfs.disk.places import Places
from memfs.model.values import replace
from memfs.review.change import Review, review_range
from memfs.review.forms import MARKER, format_comment, format_plain, review_payload, terminal_lines
from memfs.review.notes import Tone
from memfs.trust.changing import next_keyring, sign_keyring
from memfs.trust.pinning import read_chain

POLICY = "Releases of the billing service need the approval of two people."
INCIDENT = "The outage of the ledger in March came from a full disk on the primary."


@pytest.fixture
def people(tmp_path: Path, key: Path, other_key: Path) -> tuple[Person, Person, Person]:
    return Person("alice", key), Person("bob", other_key), Person("mallory", make_key(tmp_path, "mallory"))


@pytest.fixture
def hostile(repo: Path, places: Places, people: tuple[Person, Person, Person]) -> Team:
    """Return a team's repository on `main`, and a branch `pull` that tries five things at once."""
    alice, bob, mallory = people
    team = found_team(repo, places, [alice, bob])
    team.write("release-policy", memory_text(POLICY, scope="team/billing"), scope="team/billing")
    team.write("march-outage", memory_text(INCIDENT, scope="restricted/incidents"), scope="restricted/incidents")
    team.commit("remember")
    team.approve(alice, "release-policy", "march-outage")
    team.git("switch", "-qc", "pull")
    team.git("config", "user.name", "Mallory")
    team.git("config", "user.email", "mallory@example.net")
    # 1 a key of her own, signed by herself
    chain = read_chain(team.tree)
    mine = (*team.keys(), replace(mallory.key_line("root", "approve")))
    team.write_keyring(sign_keyring(next_keyring(chain, keys=mine), [mallory.signer]))
    # 2 an approved text exchanged, its receipt left in place
    text = memory_text(POLICY.replace("two people", "one person"), scope="team/billing")
    team.write("release-policy", text, scope="team/billing")
    # 3 a restricted memory shown to the whole team
    team.path("march-outage", "restricted/incidents").unlink()
    team.write("march-outage", memory_text(INCIDENT, scope="team"), scope="team")
    # 4 hidden characters, 5 evidence at a commit that does not exist
    team.write(
        "restore-order",
        memory_text("Restore the ledger\u202e first, then the rest.", evidence="docs/runbook.md@deadbeefcafe"),
    )
    team.commit("small fixes")
    return team


def _review(team: Team, **kwargs: str) -> Review:
    return review_range(team.tree, team.places, "main", "pull", today=TODAY, **kwargs)


def _stops(review: Review) -> dict[str, str]:
    notes = [*review.alarms, *(note for change in review.changes for note in change.notes)]
    return {note.about: note.text for note in notes if note.tone is Tone.STOP}


def test_all_five_tricks_must_be_settled_and_are_said_in_words(hostile: Team) -> None:
    stops = _stops(_review(hostile))
    texts = [note.text for note in _review(hostile).alarms if note.tone is Tone.STOP]
    assert any("adds mallory@example.com, who signs keyrings and approves everything" in text for text in texts)
    assert any("The keyring is refused" in text and "nothing here would be approved any more" in text for text in texts)
    policy = next(change for change in _review(hostile).changes if change.id == "release-policy")
    assert policy.notes[0].text == (
        "Its approval is lost: alice@example.com (2026-11-30) approved another text. "
        "It needs one approval from alice@example.com or bob@example.com."
    )
    assert "More people would see it" in stops["scope-wider"]
    assert "everybody on the team" in stops["scope-wider"]
    assert "U+202E" in stops["hidden-character"]
    assert "line 10, column 19 has U+202E" in stops["hidden-character"]
    assert "does not exist" in stops["evidence-no-commit"]
    assert "deadbeefcafe" in stops["evidence-no-commit"]


@pytest.mark.parametrize("form", ["terminal", "comment"])
def test_every_form_names_all_five(hostile: Team, form: str) -> None:
    review = _review(hostile)
    text = format_comment(review) if form == "comment" else format_plain(terminal_lines(review))
    for words in (
        "mallory@example.com",
        "The keyring is refused",
        "Its approval is lost",
        "More people would see it",
        "Hidden characters",
        "U+202E",
        "Its evidence does not exist",
        "deadbeefcafe",
    ):
        assert words in text, f"{words!r} is not in:\n{text}"
    assert "\u202e" not in text


def test_the_json_form_keeps_its_schema(hostile: Team) -> None:
    import jsonschema

    from memfs.disk.shipped import read_schema

    payload = {"schema": "memfs/review/1", **review_payload(_review(hostile))}
    jsonschema.Draft202012Validator(read_schema("review")).validate(payload)
    assert payload["stops"] >= 5


def test_it_is_judged_by_the_keyring_of_the_base(hostile: Team, people: tuple[Person, Person, Person]) -> None:
    # Mallory signs her own words with the key that only her own keyring knows.
    from people import make_record

    from memfs.model.reader import content_digest

    mallory = people[2]
    raw = hostile.path("release-policy", "team/billing").read_bytes()
    repository = hostile.git("show", "main:.memfs/approvals/" + hostile.receipts()[0]).split("repo=")[1].split()[0]
    hostile.put_receipt(make_record(mallory, hostile, "release-policy", content_digest(raw), seq=9, repo=repository))
    hostile.commit("approve")
    review = _review(hostile)
    policy = next(change for change in review.changes if change.id == "release-policy")
    assert not policy.trusted
    assert policy.approvals.people == ()
    assert policy.approvals.may == ("alice@example.com", "bob@example.com")


def test_a_root_that_is_rewritten_is_the_first_thing_said(hostile: Team) -> None:
    path = hostile.root / ".memfs" / "keyring.1"
    path.write_bytes(path.read_bytes().replace(b"approve 1\n", b"approve 0\n"))
    hostile.commit("tidy up")
    review = _review(hostile)
    assert review.alarms[0].tone is Tone.STOP
    assert any("rewrites .memfs/keyring.1" in note.text for note in review.alarms)


def test_taking_a_withdrawal_out_of_the_tree_is_said(hostile: Team, people: tuple[Person, Person, Person]) -> None:
    hostile.git("stash", "-qu") if hostile.git("status", "--porcelain") else None
    hostile.git("switch", "-q", "main")
    hostile.revoke(people[1], "release-policy")
    hostile.git("switch", "-qc", "second")
    for name in hostile.receipts():
        (hostile.root / ".memfs" / "approvals" / name).unlink()
    hostile.commit("clean receipts")
    review = review_range(hostile.tree, hostile.places, "main", "second", today=TODAY)
    texts = [note.text for note in review.alarms if note.tone is Tone.STOP]
    assert any("bob@example.com withdrew the approval of release-policy" in text for text in texts)


def test_a_branch_from_before_a_key_was_removed_is_judged_by_the_keyring_of_today(
    hostile: Team, people: tuple[Person, Person, Person]
) -> None:
    alice, bob, _ = people
    hostile.git("switch", "-q", "main")
    hostile.git("switch", "-qc", "old")
    hostile.write("cache-warm", memory_text("The cache is warmed before each release."))
    hostile.commit("cache")
    hostile.approve(bob, "cache-warm")
    hostile.git("switch", "-q", "main")
    present = hostile.keys()
    hostile.change_keyring([alice], keys=tuple(key for key in present if key.principal != bob.principal))
    review = review_range(hostile.tree, hostile.places, "main", "old", today=TODAY)
    change = next(change for change in review.changes if change.id == "cache-warm")
    assert not change.trusted
    assert any("by a key that the base's keyring does not list" in note.text for note in change.notes)
    assert not any(note.about == "keyring" for note in review.alarms)


def test_a_withdrawal_on_the_base_reaches_a_branch_that_is_older(
    hostile: Team, people: tuple[Person, Person, Person]
) -> None:
    hostile.git("switch", "-q", "main")
    hostile.git("switch", "-qc", "old")
    path = hostile.path("release-policy", "team/billing")
    path.write_bytes(path.read_bytes() + b"\nMore.\n")
    hostile.commit("more")
    hostile.approve(people[0], "release-policy")
    hostile.git("switch", "-q", "main")
    hostile.revoke(people[1], "release-policy")
    hostile.revoke(people[1], "release-policy")
    review = review_range(hostile.tree, hostile.places, "main", "old", today=TODAY)
    change = next(change for change in review.changes if change.id == "release-policy")
    assert not change.trusted
    assert any("bob@example.com withdrew the approval" in note.text for note in change.notes)


def test_somebody_elses_name_as_the_author_is_compared_with_the_commits(hostile: Team) -> None:
    text = memory_text("The cache is warmed before each release.", author="alice@example.com")
    hostile.write("cache-warm", text)
    hostile.commit("cache")
    change = next(change for change in _review(hostile).changes if change.id == "cache-warm")
    assert any("names alice@example.com as its author, but Mallory committed it" in note.text for note in change.notes)


def test_house_rules_in_the_same_pull_request_are_said(hostile: Team) -> None:
    (hostile.root / ".github").mkdir()
    (hostile.root / ".github" / "CODEOWNERS").write_text("* @mallory\n")
    (hostile.root / ".gitattributes").write_text("memories/** merge=union\n")
    hostile.commit("ci")
    texts = [note.text for note in _review(hostile).alarms]
    assert any("changes .github/CODEOWNERS" in text for text in texts)
    assert any("The line 'memories/** text eol=lf' is missing" in text for text in texts)
    assert any("merge=union would count: a merge joins two people's versions" in text for text in texts)


def test_the_work_tree_is_not_touched_and_nothing_is_checked_out(hostile: Team) -> None:
    hostile.git("switch", "-q", "main")
    before = hostile.git("status", "--porcelain"), git(hostile.root, "rev-parse", "HEAD")
    _review(hostile)
    assert (hostile.git("status", "--porcelain"), git(hostile.root, "rev-parse", "HEAD")) == before
    assert not hostile.path("restore-order").exists()


def test_the_comment_can_be_found_again_and_fits(hostile: Team) -> None:
    for number in range(120):
        hostile.write(f"long-{number}", memory_text(f"Number {number}: " + "<img src=x> `tick` @team #1 " * 60))
    hostile.commit("many")
    text = format_comment(_review(hostile))
    assert text.startswith(f"{MARKER}\n")
    assert len(text.encode()) <= 60_000
    assert "<img" not in text


def test_the_command_ends_with_no_and_prints_each_form(hostile: Team, memfs) -> None:  # type: ignore[no-untyped-def]
    done = memfs("review", "main..pull", cwd=hostile.root)
    assert done.code == 1
    assert "to settle before a merge" in done.out
    assert memfs("review", "main..pull", "--json", cwd=hostile.root).json["schema"] == "memfs/review/1"
    assert memfs("review", "main..pull", "--format", "markdown", cwd=hostile.root).out.startswith(MARKER)
