"""One question, one answer: every surface of a person's machine says the same of a memory (DESIGN 2).

Each state is made with real git and keys, and then asked of show, list, status, recall, the prompt hook, MCP, check,
review and browse.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp_talk import Talk
from people import Person, Team, found_team, make_record, memory_text
from support import Run, git

from memfs.browse.catalogue import read_catalogue
from memfs.check.run import check_repository
from memfs.check.states import Target
from memfs.disk.places import Places
from memfs.model.reader import content_digest
from memfs.model.scope import Caller
from memfs.repository.repository import Repository

PATH = "memories/team/a.md"
QUESTION = "do migrations stay additive?"
Memfs = Callable[..., Run]


class Stage:
    """A team, the other people, and a folder for more machines."""

    def __init__(self, team: Team, tmp_path: Path, alice: Person, bob: Person, mallory: Person) -> None:
        self.team = team
        self.tmp_path = tmp_path
        self.alice, self.bob, self.mallory = alice, bob, mallory
        self.first = team.git("rev-list", "--max-parents=0", "HEAD")

    def machine(self, name: str, *options: str, pin: bool = True) -> Team:
        home = self.tmp_path / f"home-{name}"
        home.mkdir()
        git(self.tmp_path, "clone", "-q", *options, f"file://{self.team.root}", name)
        other = Team(root=self.tmp_path / name, places=Places(home=home), today=self.team.today)
        if pin:
            other.pin()
        return other

    def rest_on(self, *, evidence: str = "", trigger: str = "") -> None:
        """Give the memory other evidence or another trigger, and approve it."""
        text = memory_text()
        if evidence:
            text = text.replace("said by alice@example.com on 2026-11-01", evidence)
        if trigger:
            text = text.replace("on 2027-11-30", trigger)
        self.team.write("a", text, commit=True)
        self.team.approve(self.alice, "a")


def approved(stage: Stage) -> Team:
    return stage.team


def changed(stage: Stage) -> Team:
    stage.team.write("a", memory_text("Migrations stay additive, mostly."), commit=True)
    return stage.team


def unpinned(stage: Stage) -> Team:
    return stage.machine("clone", pin=False)


def root_exchanged(stage: Stage) -> Team:
    root = stage.tmp_path / "stranger"
    root.mkdir()
    git(root, "init", "-q")
    home = stage.tmp_path / "mallory-home"
    home.mkdir()
    other = found_team(root, Places(home=home), [Person("alice", stage.mallory.key)])
    stage.team.says()
    shutil.rmtree(stage.team.root / ".memfs")
    shutil.copytree(other.root / ".memfs", stage.team.root / ".memfs")
    stage.team.commit("exchange")
    return stage.team


def rolled_back(stage: Stage) -> Team:
    stage.team.change_keyring([stage.alice], approve=1)
    stage.team.says()
    (stage.team.root / ".memfs/keyring.2").unlink()
    stage.team.commit("roll back")
    return stage.team


def withdrawn_and_dropped(stage: Stage) -> Team:
    before = stage.team.git("rev-parse", "HEAD")
    stage.team.revoke(stage.bob, "a")
    stage.team.says()
    stage.team.git("reset", "-q", "--hard", before)
    return stage.team


def older_text(stage: Stage) -> Team:
    old = stage.team.path("a").read_text()
    stage.team.write("a", memory_text("Migrations stay additive, always."))
    stage.team.approve(stage.bob, "a")
    stage.team.write("a", old, commit=True)
    return stage.team


def two_texts(stage: Stage) -> Team:
    stage.team.put_receipt(make_record(stage.bob, stage.team, "a", "0" * 64))
    stage.team.commit("merged")
    return stage.team


def shallow(stage: Stage) -> Team:
    return stage.machine("shallow", "--depth", "1")


def _on_a_file(stage: Stage) -> None:
    (stage.team.root / "docs").mkdir()
    (stage.team.root / "docs/a.md").write_text("additive\n")
    commit = stage.team.commit("docs")
    stage.rest_on(evidence=f"docs/a.md@{commit[:12]}")


def evidence_changed(stage: Stage) -> Team:
    _on_a_file(stage)
    (stage.team.root / "docs/a.md").write_text("destructive\n")
    stage.team.commit("change")
    return stage.team


def evidence_gone(stage: Stage) -> Team:
    _on_a_file(stage)
    (stage.team.root / "docs/a.md").unlink()
    stage.team.commit("delete")
    return stage.team


def day_passed(stage: Stage) -> Team:
    stage.rest_on(trigger="on 2026-11-29")
    return stage.team


def file_changed(stage: Stage) -> Team:
    stage.rest_on(trigger="when README.md changes")
    (stage.team.root / "README.md").write_text("# Another\n")
    stage.team.commit("change")
    return stage.team


def shallow_on_a_file(stage: Stage) -> Team:
    _on_a_file(stage)
    return stage.machine("shallow", "--depth", "1")


def sparse(stage: Stage) -> Team:
    _on_a_file(stage)
    other = stage.machine("sparse")
    other.git("sparse-checkout", "set", "memories", ".memfs")
    return other


def large_file(stage: Stage) -> Team:
    """The evidence is a file that git keeps as a pointer, and the work tree has the file itself."""
    raw = b"the real bytes\n"

    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(raw).hexdigest()}\nsize {len(raw)}\n"
    )
    (stage.team.root / "docs").mkdir()
    (stage.team.root / "docs/a.md").write_text(pointer)
    commit = stage.team.commit("docs")
    stage.rest_on(evidence=f"docs/a.md@{commit[:12]}")
    (stage.team.root / "docs/a.md").write_bytes(raw)
    return stage.team


def named_reader(stage: Stage) -> Team:
    _name_readers(stage, "alice@example.com")
    return stage.team


def _name_readers(stage: Stage, *people: str) -> None:
    settings = f"version: 1\nreaders:\n  team: [{', '.join(people)}]\n"
    (stage.team.root / ".memfs/config.yaml").write_text(settings)
    stage.team.commit("readers")


STATES: dict[Callable[[Stage], Team], str | None] = {
    approved: None,
    changed: "changed",
    unpinned: "not-pinned",
    root_exchanged: "keyring-broken",
    rolled_back: "keyring-rolled-back",
    withdrawn_and_dropped: "withdrawn",
    older_text: "older-text",
    two_texts: "two-texts",
    shallow: None,
    evidence_changed: None,
    evidence_gone: None,
    day_passed: None,
    file_changed: None,
    shallow_on_a_file: None,
    sparse: None,
    large_file: None,
    named_reader: None,
}


def add_again(team: Team) -> tuple[str, str]:
    """Return two commits on top of HEAD, the second of which adds the memory that the first has not."""
    author = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com")
    env = {**os.environ, "GIT_INDEX_FILE": str(team.root / ".git/another-index")}
    git(team.root, "read-tree", "HEAD", env=env)
    git(team.root, "rm", "-q", "--cached", "--sparse", PATH, env=env)
    without = git(team.root, "write-tree", env=env)
    base = git(team.root, *author, "commit-tree", without, "-p", "HEAD", "-m", "without")
    return base, git(team.root, *author, "commit-tree", "HEAD^{tree}", "-p", base, "-m", "with")


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_surface_says_the_same(
    state: Callable[[Stage], Team], team: Team, tmp_path: Path, alice: Person, bob: Person, mallory: Person,
    memfs_process: Memfs,
) -> None:  # fmt: skip
    machine = state(Stage(team, tmp_path, alice, bob, mallory))
    reason, home = STATES[state], machine.places.home

    def ask(*arguments: str, stdin: bytes = b"") -> Run:
        return memfs_process(*arguments, cwd=machine.root, home=home, stdin=stdin)

    shown = ask("show", "a", "--json").json["memory"]
    words = shown["trust"]
    assert shown["trusted"] == (reason is None), words
    if reason is not None and reason != "withdrawn":
        assert f"({reason})" in words
    listed, recalled = ask("list", "--json"), ask("recall", QUESTION, "--json")
    assert listed.code == recalled.code == 0, listed.err + recalled.err
    for surface in (listed.json["memories"], recalled.json["hits"]):
        (one,) = surface
        assert {key: one[key] for key in ("trust", "trusted", "state")} == {
            key: shown[key] for key in ("trust", "trusted", "state")
        }
    assert ask("status", "--json").json["approved"] == (reason is None)

    event = {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION, "session_id": "s", "cwd": str(machine.root)}
    hook = ask("hook", "claude-code", stdin=json.dumps(event).encode())
    assert words in hook.out, hook

    talk = Talk(home, machine.root)
    try:
        talk.begin()
        assert words in talk.text("get", id="a")
    finally:
        talk.end()

    today = Repository.open(machine.root, places=machine.places, today=machine.today).today
    targets = [Target(), Target(base="HEAD~1" if state in (changed, older_text) else "HEAD", commit="HEAD")]
    for target in targets:
        check = check_repository(machine.tree, machine.places, target, today=today, keep=False)
        verdict = check.verdicts.get(PATH)
        if verdict is not None:
            assert (str(verdict.reason) if verdict.reason else None) == reason
    whole = check_repository(machine.tree, machine.places, Target(), today=today, keep=False)
    assert whole.verdicts[PATH].trusted == (reason is None)
    assert whole.standings[PATH].report.state.value == shown["state"]
    if reason in ("changed", "older-text", "two-texts"):
        assert "approval-lost" in {result.rule for result in whole.report.results if result.path == PATH}

    review = ask("review", "..".join(add_again(machine)), "--json")
    (change,) = review.json["changes"]
    assert (change["id"], change["what"]) == ("a", "added")
    assert change["trusted"] == (reason is None), review.out
    assert change["reason"] == reason

    repository = Repository.open(machine.root, places=machine.places, today=machine.today)
    (item,) = read_catalogue(repository, Caller()).items
    assert (item.trust == "approved") == (reason is None)
    assert item.reason == reason
    assert item.state == shown["state"]


@pytest.mark.slow
def test_who_is_not_a_named_reader_finds_the_memory_on_no_surface(
    team: Team, tmp_path: Path, alice: Person, bob: Person, mallory: Person, memfs_process: Memfs
) -> None:
    stage = Stage(team, tmp_path, alice, bob, mallory)
    _name_readers(stage, "bob@example.com")

    def ask(*arguments: str, stdin: bytes = b"") -> Run:
        return memfs_process(*arguments, cwd=team.root, home=team.places.home, stdin=stdin)

    event = {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION, "session_id": "s", "cwd": str(team.root)}
    shown = ask("show", "a")
    assert shown.code == 1
    assert shown.err == ask("show", "z").err.replace("z:", "a:")
    said = [
        shown,
        ask("list", "--json"),
        ask("status", "--json"),
        ask("due", "--json"),
        ask("history", "a", "--json"),
        ask("recall", QUESTION, "--json"),
        ask("hook", "claude-code", stdin=json.dumps(event).encode()),
        ask("browse", "--export", str(tmp_path / "site")),
    ]
    pages = [path.read_text() for path in (tmp_path / "site").rglob("*.html")]
    assert pages
    for text in (*(run.out + run.err for run in said), *pages):
        assert "additive" not in text.replace(QUESTION, "")
        assert PATH not in text
    assert ask("blame", PATH).err == ask("blame", "memories/team/z.md").err.replace("z.md", "a.md")
    assert ask("list", "--json").json["memories"] == []
    talk = Talk(team.places.home, team.root)
    try:
        talk.begin()
        for tool, given in (("get", {"id": "a"}), ("list", {}), ("recall", {"query": QUESTION}), ("due", {})):
            assert "stay additive" not in json.dumps(talk.call(tool, **given))
    finally:
        talk.end()


def test_a_text_that_a_caller_may_not_see_is_on_no_surface(team: Team, alice: Person, memfs: Memfs) -> None:
    team.write("secret", memory_text("Migrations of the merger.", scope="restricted/deal"), scope="restricted/deal")
    team.approve(alice, "secret")
    for arguments in (["list", "--json"], ["recall", "migrations of the merger", "--json"], ["due", "--json"]):
        run = memfs(*arguments, "--as", "team", cwd=team.root)
        assert "merger" not in run.out + run.err
        assert "secret" not in run.out + run.err
    assert memfs("show", "secret", "--as", "team", cwd=team.root).code != 0
    repository = Repository.open(team.root, places=team.places, today=team.today)
    assert [item.id for item in read_catalogue(repository, Caller(scopes=("team",))).items] == ["a"]


def test_the_digest_that_check_judges_is_that_of_the_file(team: Team) -> None:
    check = check_repository(team.tree, team.places, Target(), today=team.today)
    assert check.files[PATH].digest == content_digest(team.path("a").read_bytes())
