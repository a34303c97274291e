"""One question, one answer: what each caller may see, read through every surface that shows memories."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from support import Run, git

from memfs.disk.places import Places
from memfs.disk.settings import RepositorySettings, parse_repository_settings
from memfs.disk.worktree import find_work_tree
from memfs.errors import InvalidMemoryError, RefusedError
from memfs.model.memory import EvidenceStatus, Origin
from memfs.model.scope import Caller
from memfs.repository.draft import DraftText
from memfs.repository.repository import Repository
from memfs.sight import OWNER, Sight, open_sight, scope_to_see

TODAY = date(2026, 11, 30)
TEAM = Caller(scopes=("team",))
Memfs = Callable[..., Run]


def sight_of(text: str, *people: str) -> Sight:
    return Sight(parse_repository_settings(text.encode()), lambda: people)


def write(repo: Path, path: str, body: str, **fields: str) -> None:
    scope = path.split("/", 1)[1].rpartition("/")[0]
    front = {
        "kind": "observation",
        "scope": scope,
        "origin": "owner",
        "recorded": "2026-11-01",
        "evidence": "[https://example.com/x]",
        "review_trigger": "on 2030-01-01",
        **fields,
    }
    file = repo / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\n" + "".join(f"{key}: {value}\n" for key, value in front.items()) + f"---\n{body}\n")


def open_repository(repo: Path, places: Places) -> Repository:
    return Repository(find_work_tree(repo), places=places, today=TODAY)


def draft_of(body: str, *, scope: str = "team", **fields: str | tuple[str, ...]) -> DraftText:
    front = {"kind": "observation", "scope": scope, "evidence": ("https://example.com/x",),
             "review_trigger": "on 2030-01-01", **fields}  # fmt: skip
    return DraftText(body=body, origin=Origin.AGENT, front=front)


@pytest.fixture
def board(repo: Path) -> tuple[Path, str]:
    """Return a repository with a restricted memory that changed, and the commit of its old text."""
    (repo / ".memfs").mkdir()
    (repo / ".memfs/config.yaml").write_text("version: 1\n")
    write(repo, "memories/restricted/board/globex.md", "An old line about nothing.")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "old")
    old = git(repo, "rev-parse", "HEAD")
    write(repo, "memories/restricted/board/globex.md", "The purchase of Globex is planned for the spring.")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Record what the board said about Globex")
    return repo, old


# -- the rule ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grants", "seen"),
    [
        ("personal", {"personal", None}),
        ("team", {"team", "team/billing", "team/ops"}),
        ("team/billing", {"team", "team/billing"}),
        ("restricted/hr", {"restricted/hr"}),
    ],
)
def test_a_grant_opens_its_own_scope_and_nothing_else(grants: str, seen: set[str | None]) -> None:
    sight = Sight(None, lambda: pytest.fail("nobody's name is needed"))
    every = ("personal", None, "team", "team/billing", "team/ops", "restricted/hr", "restricted/board")
    assert {scope for scope in every if sight.sees(Caller(scopes=(grants,)), scope)} == seen


def test_a_person_at_their_own_work_tree_sees_every_scope_but_those_of_other_readers() -> None:
    sight = sight_of("readers: {restricted/hr: [bob@example.com]}", "alice@example.com")
    assert sight.sees(OWNER, "restricted/board")
    assert not sight.sees(OWNER, "restricted/hr")


def test_the_named_reader_sees_the_scope_by_any_of_their_addresses() -> None:
    text = "readers: {restricted/hr: [Bob@Example.com]}"
    caller = Caller(scopes=("restricted/hr",))
    assert sight_of(text, "alice@example.com", "bob@example.com").sees(caller, "restricted/hr")
    assert not sight_of(text, "alice@example.com").sees(caller, "restricted/hr")
    named = Caller(scopes=("restricted/hr",), person="bob@example.com")
    assert sight_of(text, "alice@example.com").sees(named, "restricted/hr")


def test_readers_of_personal_hold_for_files_in_no_scope_folder_too() -> None:
    assert not sight_of("readers: {personal: [bob@example.com]}", "alice@example.com").sees(OWNER, None)


def test_broken_settings_show_nobody_a_restricted_scope() -> None:
    settings = RepositorySettings(sound=False)
    assert not Sight(settings, lambda: ("alice@example.com",)).sees(OWNER, "restricted/hr")
    assert Sight(settings, lambda: ()).sees(Caller(), "team")


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("memories/team/a.md", "team"),
        ("memories/restricted/board/a.md", "restricted/board"),
        ("memories/restricted/board/deep/down/a.md", "restricted/board"),
        ("memories/restricted/Bad Name/a.md", "restricted"),
        ("memories/restricted/a.md", "restricted"),
        ("Memories/Restricted/board/a.md", "restricted"),
        ("memories/team/deep/er/a.md", None),
    ],
)
def test_a_file_below_restricted_is_never_the_callers_own_by_a_slip_of_its_folder(path: str, scope: str | None) -> None:
    assert scope_to_see(path) == scope


# -- the named reader, through every surface -----------------------------------------------------------


@pytest.fixture
def bands(repo: Path, memfs: Memfs) -> Path:
    (repo / "docs").mkdir()
    (repo / "docs/a.md").write_text("x\n")
    (repo / ".memfs").mkdir()
    config = "version: 1\nscopes: [team, restricted/hr]\nreaders:\n  restricted/hr: [alice@example.com]\n"
    (repo / ".memfs/config.yaml").write_text(config)
    write(repo, "memories/restricted/hr/bands.md", "Salary bands are reviewed each March by the committee.")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "bands")
    return repo


@pytest.mark.parametrize(
    "verb",
    [
        ("recall", "when are salary bands reviewed?"),
        ("list",),
        ("show", "bands"),
        ("due", "--on", "2031-01-01"),
        ("history", "bands"),
        ("feedback", "bands", "--helped"),
    ],
)
def test_the_named_reader_reads_it_everywhere_and_nobody_else_anywhere(
    verb: tuple[str, ...], bands: Path, memfs: Memfs
) -> None:
    mine = memfs(*verb, "--as", "restricted/hr", cwd=bands)
    assert "bands" in mine.out, mine.err
    git(bands, "config", "user.email", "mallory@example.com")
    other = memfs(*verb, "--as", "restricted/hr", cwd=bands)
    assert "bands" not in other.out.replace(str(bands), "")


def test_who_is_not_named_writes_nothing_into_that_scope(bands: Path, places: Places) -> None:
    git(bands, "config", "user.email", "mallory@example.com")
    with pytest.raises(RefusedError, match="may not write"):
        open_repository(bands, places).remember(draft_of("Bands are public.", scope="restricted/hr"))


# -- evidence, triggers, successors, ids, histories ----------------------------------------------------


def test_another_memory_is_evidence_only_for_those_who_may_see_it(board: tuple[Path, str], places: Places) -> None:
    repo, old = board
    write(repo, "memories/team/spy.md", "A note.", evidence=f"['memories/restricted/board/globex.md@{old}']")
    repository = open_repository(repo, places)
    file = repository.find("spy", TEAM)
    (hidden,) = repository.assess(file, TEAM).state.evidence
    assert (hidden.status, hidden.line_now) == (EvidenceStatus.UNVERIFIABLE, None)
    (seen,) = repository.assess(file, OWNER).state.evidence
    assert (seen.status, seen.line_now) == (
        EvidenceStatus.CHANGED, "The purchase of Globex is planned for the spring.",
    )  # fmt: skip


@pytest.mark.parametrize("verb", [("show", "spy"), ("recall", "note"), ("list", "--json"), ("due",), ("status",)])
def test_no_answer_for_the_team_contains_a_restricted_line(
    verb: tuple[str, ...], board: tuple[Path, str], memfs: Memfs
) -> None:
    repo, old = board
    write(repo, "memories/team/spy.md", "A note.", evidence=f"['memories/restricted/board/globex.md@{old}']")
    said = memfs(*verb, cwd=repo)
    assert "purchase" not in said.out + said.err


def test_a_hidden_path_as_trigger_answers_as_a_path_that_is_not_there(board: tuple[Path, str], places: Places) -> None:
    repo, _ = board
    reasons = []
    for number, path in enumerate(("memories/restricted/board/globex.md", "memories/restricted/board/nothing.md")):
        write(repo, f"memories/team/t{number}.md", "A note.", review_trigger=f"when {path} changes")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "trigger")
        (repo / path).write_text("changed\n")
        repository = open_repository(repo, places)
        state = repository.assess(repository.find(f"t{number}", TEAM), TEAM).state
        reasons.append([reason.replace(path, "PATH") for reason in state.reasons])
    assert reasons[0] == reasons[1]


@pytest.mark.parametrize("name", ["globex", "nothing"])
def test_hidden_evidence_is_refused_in_the_same_words_whether_it_is_there_or_not(
    name: str, board: tuple[Path, str], places: Places
) -> None:
    repo, old = board
    path = f"memories/restricted/board/{name}.md"
    said = []
    for evidence in (path, f"{path}@{old}"):
        with pytest.raises(InvalidMemoryError) as refused:
            open_repository(repo, places).remember(draft_of("A text.", evidence=(evidence,)), by=TEAM)
        said.append(str(refused.value).replace(name, "NAME").partition(" (")[0])
    assert said == [
        "evidence memories/restricted/board/NAME.md: this repository does not contain that file",
        f"evidence memories/restricted/board/NAME.md@{old}: that commit does not contain this file",
    ]


def test_an_id_says_nothing_of_a_hidden_memory(board: tuple[Path, str], places: Places) -> None:
    repo, _ = board
    repository = open_repository(repo, places)
    taken = repository.remember(draft_of("Something.", title="Globex"), by=TEAM, dry_run=True).file.id
    free = repository.remember(draft_of("Something.", title="Initech"), by=TEAM, dry_run=True).file.id
    assert taken.removeprefix("globex") == free.removeprefix("initech") != ""
    assert repository.remember(draft_of("Something.", title="Initech"), dry_run=True).file.id == "initech"


def test_a_caller_replaces_only_what_they_see(board: tuple[Path, str], places: Places) -> None:
    repo, _ = board
    said = []
    for name in ("globex", "nothing"):
        with pytest.raises(InvalidMemoryError) as refused:
            open_repository(repo, places).remember(draft_of("Something.", supersedes=(name,)), by=TEAM)
        said.append(str(refused.value).replace(name, "NAME"))
    assert said[0] == said[1]


def test_a_history_shows_no_subject_of_a_commit_that_also_touched_a_hidden_memory(
    board: tuple[Path, str], places: Places
) -> None:
    repo, _ = board
    write(repo, "memories/team/plain.md", "A plain note.")
    (repo / ".memfs/approvals").mkdir()
    (repo / ".memfs/approvals/globex.1.aa.txt").write_text("x\n")
    (repo / ".memfs/approvals/plain.1.aa.txt").write_text("x\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Approve globex and plain")
    repository = open_repository(repo, places)
    assert {event.subject for event in repository.history("plain", TEAM)} == {"Remember plain", "Approve plain"}
    assert {event.subject for event in repository.history("plain", OWNER)} == {"Approve globex and plain"}


@pytest.mark.parametrize("scope", ["team", "team/ledger", "restricted/board", "personal"])
def test_a_key_writes_only_where_it_reads(scope: str, board: tuple[Path, str], places: Places) -> None:
    repo, _ = board
    billing = Caller(scopes=("team/billing",), person="billing-bot")
    repository = open_repository(repo, places)
    if scope == "team":
        assert repository.remember(draft_of("Text for the team.", scope=scope), by=billing).commit
        return
    with pytest.raises(RefusedError, match="may not write memories of this scope"):
        repository.remember(draft_of("Text for others.", scope=scope), by=billing)


def test_the_sight_of_a_repository_without_settings_starts_no_process(
    repo: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memfs.git.process.run", lambda *_args, **_kwargs: pytest.fail("a process"))
    assert open_sight(find_work_tree(repo), places).sees(Caller(), "team")
