"""Every pull request of :mod:`pull_requests`: the expected sentence in every form, and quiet where nothing is wrong."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from making import TODAY
from people import Person

from memfs.browse.site import review_branch
from memfs.check.forms import format_github, format_gitlab, format_junit, format_rdjson, format_text, report_payload
from memfs.check.results import Level
from memfs.check.run import check_repository
from memfs.check.sarif import format_sarif
from memfs.check.states import Target
from memfs.disk.places import Places
from memfs.model.scope import Caller
from memfs.repository.repository import Repository
from memfs.review.change import Review, review_range
from memfs.review.forms import format_comment, format_plain, review_payload, terminal_lines

sys.path.insert(0, str(Path(__file__).parent))
from pull_requests import CLEAN, HOSTILE, Pulls, copy, found

_MADE: dict[str, Path] = {}


@pytest.fixture
def pull(
    repo: Path, places: Places, alice: Person, bob: Person, mallory: Person, tmp_path_factory: pytest.TempPathFactory
) -> Pulls:
    """Return a clone of the team's repository on a branch; the repository is made once."""
    if "root" not in _MADE:
        found(repo, places, alice, bob)
        _MADE["root"] = tmp_path_factory.mktemp("made") / "project"
        shutil.copytree(repo, _MADE["root"], symlinks=True)
    team = copy(_MADE["root"], repo.with_name("clone"), places)
    return Pulls(team, alice, bob, mallory)


def _review(pull: Pulls) -> Review:
    pull.commit()
    return review_range(pull.team.tree, pull.team.places, "main", "work", today=TODAY)


def _squeeze(text: str) -> str:
    return " ".join(text.replace("`", "").split())


@pytest.mark.parametrize("name", list(HOSTILE))
def test_the_reviewer_reads_the_expected_sentence_in_every_form(name: str, pull: Pulls) -> None:
    says, stops, act = HOSTILE[name]
    act(pull)
    review = _review(pull)
    report = review.report
    told = [f"{result.rule}: {result.message} {result.fix or ''}" for result in report.results]
    assert any(says in text for text in told), "\n".join(told)
    assert report.passed() is not stops, "\n".join(told)
    assert bool(review.stops) is stops
    hints = [result.fix or "" for result in report.results if result.ids or result.path.startswith("memories/")]
    assert not [hint for hint in hints if re.search(r"`memfs [^`]*\bID\b", hint)], "a hint is a command to paste"
    forms: dict[str, str] = {
        "terminal": format_plain(terminal_lines(review)),
        "comment": format_comment(review),
        "review.json": json.dumps(review_payload(review), ensure_ascii=False),
        "text": format_text(report),
        "json": json.dumps(report_payload(report), ensure_ascii=False),
        "github": format_github(report),
        "junit": format_junit(report),
        "sarif": json.dumps(json.loads(format_sarif(report, version="1")), ensure_ascii=False),
        "gitlab": json.dumps(json.loads(format_gitlab(report)), ensure_ascii=False),
        "rdjson": json.dumps(json.loads(format_rdjson(report)), ensure_ascii=False),
    }
    rule = next(result.rule for result, text in zip(report.results, told, strict=True) if says in text)
    words = says.split(" It ")[0].split(". ")[0].rstrip(".")
    for form, text in forms.items():
        plain = _squeeze(text.replace("&#x27;", "'").replace("&quot;", '"'))
        assert _squeeze(words) in plain or (form in ("terminal", "review.json") and rule in text), f"{form}:\n{text}"
    kept = check_repository(pull.team.tree, pull.team.places, Target(base="main", commit="work"), today=TODAY).report
    assert kept.results == report.results


@pytest.mark.parametrize("name", [*HOSTILE, *CLEAN])
def test_the_pages_name_no_memory_that_their_reader_may_not_see(name: str, pull: Pulls) -> None:
    (HOSTILE[name][2] if name in HOSTILE else CLEAN[name])(pull)
    pull.commit()
    repository = Repository.open(pull.root, places=pull.team.places, today=TODAY)
    review = review_branch(repository, Caller(scopes=("team/ledger",)), "main", "work", pin=None)
    told = [note.text for note in review.notes]
    assert not [text for text in told if "march" in text or "restricted/incidents/march" in text], told


@pytest.mark.parametrize("name", list(CLEAN))
def test_a_clean_pull_request_is_quiet(name: str, pull: Pulls) -> None:
    CLEAN[name](pull)
    review = _review(pull)
    told = [f"{result.level} {result.rule} {result.path}: {result.message}" for result in review.report.results]
    assert all(result.level is Level.NOTE for result in review.report.results), "\n".join(told)
    assert max(Counter(result.path for result in review.report.results).values(), default=0) <= 1, "\n".join(told)
    assert len(review.report.results) <= 1, "\n".join(told)
    assert review.stops == 0


def test_the_sets_are_as_large_as_they_are_said_to_be() -> None:
    assert len(HOSTILE) >= 40
    assert len(CLEAN) >= 20


def test_one_loud_change_is_shown_in_full_among_a_hundred_quiet_ones(pull: Pulls) -> None:
    for number in range(100):
        pull.memory(f"fact-{number}", " ".join(f"word{number}{place} of a long text" for place in range(60)))
    pull.change("memories/team/retry.md", "three", "nine")
    text = format_comment(_review(pull))
    assert len(text.encode()) <= 60_000
    assert "<ins>nine</ins>" in text
    assert "<del>three</del>" in text


def test_a_sentence_that_many_memories_share_is_told_once(pull: Pulls) -> None:
    for number in range(30):
        pull.memory(f"fact-{number}", f"Shelf {number} is for crew {number * 7}.\n\n<!-- {number} -->")
    review = _review(pull)
    texts = [note.text for note in review.notes]
    assert sum("An HTML comment" in text for text in texts) == 1
    wanted = "30 memories: An HTML comment, which a rendered page does not show. (fact-0, fact-1, fact-10, "
    assert any(text.startswith(wanted) for text in texts)
    assert len([r for r in review.report.results if r.rule == "unseen-text"]) == 30, "each has its place in the report"
    assert format_comment(review).count("HTML comment") == 1
