"""Recall finds what is known, for whom it is, and says where it comes from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from indexes import settle, write_memory
from support import git

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.errors import SetupError
from memfs.index.folder import index_folder
from memfs.model.scope import Caller
from memfs.recall.search import Result

Ask = Callable[..., Result]


def ids(result: Result) -> list[str]:
    return [hit.assessment.file.id for hit in result.hits]


def test_a_question_finds_its_memory(stocked: Path, ask: Ask) -> None:
    assert ids(ask(stocked, "may billing drop a column in a migration?")) == ["additive"]


def test_a_caller_sees_nothing_of_other_scopes(stocked: Path, ask: Ask) -> None:
    security = Caller(scopes=("restricted/security",))
    assert ids(ask(stocked, "leaked deploy key")) == ["friday"]
    assert ids(ask(stocked, "leaked deploy key", caller=security)) == ["incident"]
    assert ids(ask(stocked, "commit messages", caller=Caller(scopes=("team",)))) == []


def test_a_hidden_memory_changes_no_score_and_no_count(stocked: Path, ask: Ask) -> None:
    before = ask(stocked, "deploys on friday, deploy key", explain=True)
    (stocked / "memories/restricted/security/broken.md").write_text("---\nkind: [\n---\n")
    for number in range(30):
        write_memory(stocked, f"secret-{number}", "deploy deploy friday key", scope="restricted/security")
    after = ask(stocked, "deploys on friday, deploy key", explain=True)
    assert [(hit.score, hit.parts) for hit in before.hits] == [(hit.score, hit.parts) for hit in after.hits]
    assert (before.unreadable, before.notices) == (after.unreadable, after.notices)


def test_a_file_that_cannot_be_read_is_counted_for_those_who_would_see_it(stocked: Path, ask: Ask) -> None:
    (stocked / "memories/team/broken.md").write_text("---\nkind: [\n---\n")
    (stocked / "memories/personal/broken.md").write_bytes(b"\xff")
    assert ask(stocked, "friday").unreadable == 2
    assert ask(stocked, "friday", caller=Caller(scopes=("team",))).unreadable == 1


def test_what_is_shown_are_the_files_bytes_now(stocked: Path, ask: Ask) -> None:
    ask(stocked, "friday")
    path = stocked / "memories/team/friday.md"
    path.write_text(path.read_text().replace("No deploys", "All deploys"))
    hit = ask(stocked, "friday").hits[0]
    assert b"All deploys" in hit.assessment.file.raw


def test_a_memory_outside_the_scope_folders_is_the_persons_own(stocked: Path, ask: Ask) -> None:
    (stocked / "memories/loose.md").write_text("---\nkind: decision\n---\nA loose thought about walruses.\n")
    assert ask(stocked, "walruses").strays == 1
    assert ids(ask(stocked, "walruses", caller=Caller(scopes=("team",)))) == []


def test_readers_that_a_repository_names_narrow_who_sees_a_scope(stocked: Path, ask: Ask) -> None:
    (stocked / ".memfs").mkdir()
    (stocked / ".memfs/config.yaml").write_text("version: 1\nreaders:\n  restricted/security: [bob@example.com]\n")
    grants = ("restricted/security",)
    assert ids(ask(stocked, "leaked key", caller=Caller(scopes=grants, person="alice@example.com"))) == []
    assert ids(ask(stocked, "leaked key", caller=Caller(scopes=grants, person="bob@example.com"))) == ["incident"]


def test_a_repository_can_lower_the_number_of_results(stocked: Path, ask: Ask) -> None:
    (stocked / ".memfs").mkdir()
    (stocked / ".memfs/config.yaml").write_text("version: 1\nlimits:\n  results: 1\n")
    assert len(ask(stocked, "deploy backups friday database", floor=False).hits) == 1


@pytest.mark.parametrize("text", ["version: 1\nscopes:\n  - team\n# readers:\n", "# nothing\n", "version: 1\n"])
def test_settings_that_narrow_nothing_need_no_yaml(
    text: str, stocked: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stocked / ".memfs").mkdir()
    (stocked / ".memfs/config.yaml").write_text(text)
    monkeypatch.setattr("memfs.disk.settings.read_repository_settings", lambda _tree: pytest.fail("read"))
    assert ids(ask(stocked, "friday")) == ["friday"]


# -- states, places, usage ---------------------------------------------------------------------------


def test_evidence_that_changed_makes_a_memory_due_and_moves_it_down(stocked: Path, ask: Ask) -> None:
    (stocked / "docs").mkdir()
    (stocked / "docs/adr.md").write_text("one\n")
    git(stocked, "add", "-A")
    git(stocked, "commit", "-qm", "adr")
    commit = git(stocked, "rev-parse", "HEAD")
    write_memory(stocked, "tied", "Friday deploys need two people.", evidence=f'["docs/adr.md@{commit}"]')
    hit = next(hit for hit in ask(stocked, "friday deploys").hits if hit.assessment.file.id == "tied")
    assert (hit.assessment.state.state.value, hit.parts["state"]) == ("current", 1.0)
    (stocked / "docs/adr.md").write_text("two\n")
    hit = next(hit for hit in ask(stocked, "friday deploys").hits if hit.assessment.file.id == "tied")
    assert (hit.assessment.state.state.value, hit.parts["state"]) == ("recheck", 0.9)
    assert hit.assessment.state.evidence[0].line_now == "two"


def test_a_superseded_memory_stands_below_the_one_that_replaces_it(stocked: Path, ask: Ask) -> None:
    write_memory(stocked, "old-cache", "The cache lives for an hour.")
    write_memory(stocked, "new-cache", "The cache lives for a day.", supersedes="[old-cache]")
    result = ask(stocked, "how long does the cache live")
    assert ids(result) == ["new-cache", "old-cache"]
    assert result.hits[1].assessment.state.reasons == ("superseded by new-cache",)


def test_a_memory_is_not_superseded_by_one_that_its_readers_cannot_see(stocked: Path, ask: Ask) -> None:
    write_memory(stocked, "secret-friday", "Deploys are fine.", scope="restricted/security", supersedes="[friday]")
    write_memory(stocked, "narrow-friday", "Deploys are fine.", scope="team/billing", supersedes="[friday]")
    state = next(hit for hit in ask(stocked, "friday").hits if hit.assessment.file.id == "friday").assessment.state
    assert (state.state.value, state.reasons) == ("current", ())
    write_memory(stocked, "wide-additive", "Migrations may lock.", scope="team", supersedes="[additive]")
    found = {hit.assessment.file.id: hit for hit in ask(stocked, "billing migrations").hits}
    assert found["additive"].assessment.state.state.value == "superseded"


def test_a_file_is_answered_by_what_applies_to_it(stocked: Path, ask: Ask) -> None:
    assert ids(ask(stocked, "", work_path="services/billing/api.py")) == ["additive"]
    assert ids(ask(stocked, "", work_path=str(stocked / "services/billing/api.py"))) == ["additive"]
    assert ids(ask(stocked, "", work_path="/elsewhere/services/billing/api.py")) == []
    assert ids(ask(stocked, "", topics=("Deploy",))) == ["friday"]
    assert ids(ask(stocked, "git status", work_path="services/billing/api.py")) == ["additive"]


def test_feedback_moves_a_memory_a_little(stocked: Path, ask: Ask, places: Places) -> None:
    from datetime import date

    from memfs.recall.feedback import record_feedback

    for name in ("first-rule", "later-rule"):
        write_memory(stocked, name, "Releases are signed by two people.")
    assert ids(ask(stocked, "who signs releases")) == ["first-rule", "later-rule"]
    for _ in range(8):
        record_feedback(find_work_tree(stocked), places, "first-rule", helped=False, today=date(2027, 1, 1))
    result = ask(stocked, "who signs releases")
    assert ids(result) == ["later-rule", "first-rule"]
    assert result.hits[1].parts["usage"] == pytest.approx(0.92)


# -- several stores ----------------------------------------------------------------------------------


@pytest.fixture
def other(tmp_path: Path) -> Path:
    root = tmp_path / "other"
    root.mkdir()
    git(root, "init", "-q")
    write_memory(root, "rollback", "Deploys on Friday are rolled back at once.", scope="team")
    return root


def test_several_stores_have_one_ranking_and_each_hit_says_its_store(stocked: Path, other: Path, ask: Ask) -> None:
    result = ask([("project", stocked), ("team", other)], "friday deploys rolled back")
    assert (result.hits[0].store, result.hits[0].assessment.file.id) == ("team", "rollback")
    assert ("project", "friday") in [(hit.store, hit.assessment.file.id) for hit in result.hits]


def test_a_broken_store_costs_only_itself(
    stocked: Path, other: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memfs.recall import stores as search

    opened = search.open_recall_index

    def fail(tree, places):  # type: ignore[no-untyped-def]
        if tree.root == other.resolve():
            raise SetupError("the disk is on fire")
        return opened(tree, places)

    monkeypatch.setattr(search, "open_recall_index", fail)
    result = ask([("project", stocked), ("te\nam", other)], "friday")
    assert ids(result) == ["friday"]
    assert any("is left out: the disk is on fire" in notice and "\n" not in notice for notice in result.notices)


# -- the index is only a hint ------------------------------------------------------------------------


def test_without_an_index_the_files_are_searched(stocked: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from memfs.index import opening as refreshing

    monkeypatch.setattr(refreshing, "FEW_CHANGES", 0)
    monkeypatch.setattr("memfs.standing.background.refresh_detached", lambda *_: None)
    result = ask(stocked, "may billing drop a column in a migration?")
    assert ids(result) == ["additive"]
    assert any("not indexed yet" in notice for notice in result.notices)
    assert ids(ask(stocked, "leaked key")) == []


def test_a_detached_refresh_is_a_real_process(stocked: Path, places: Places) -> None:
    import time

    from memfs.index.refresh import index_status
    from memfs.standing.background import refresh_detached

    tree = find_work_tree(stocked)
    settle(stocked)
    refresh_detached(tree, places)
    deadline = time.monotonic() + 30
    while index_status(tree, places).state != "current" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert index_status(tree, places).state == "current"


def test_a_secret_in_a_hand_edited_file_is_copied_into_no_index(stocked: Path, ask: Ask, places: Places) -> None:
    value = "AKIA" + "QX7ZB3LMN5TR2VWY"
    write_memory(stocked, "leaky-note", f"The walrus key is {value} for now.")
    result = ask(stocked, "walrus key", floor=False)
    assert "leaky-note" not in ids(result)
    found = ask(stocked, "leaky note")
    assert (ids(found), found.withheld) == ([], 1)
    for path in places.cache.rglob("*"):
        assert path.is_dir() or value.lower().encode() not in path.read_bytes().lower()


def test_an_index_that_lies_about_a_scope_shows_nothing_hidden(stocked: Path, ask: Ask, places: Places) -> None:
    """A poisoned index may lose results; it cannot widen who sees what."""
    import json

    settle(stocked)
    ask(stocked, "leaked key")
    folder = Path(index_folder(find_work_tree(stocked), places))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["scopes"] = [None, *["team"] * (len(manifest["scopes"]) - 1)]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert ids(ask(stocked, "leaked key")) == []


def test_an_index_that_names_other_files_opens_none_of_them(
    stocked: Path, ask: Ask, places: Places, tmp_path: Path
) -> None:
    import json
    from zlib import crc32

    (tmp_path / "outside.md").write_text("---\nkind: decision\n---\nfriday outside\n")
    settle(stocked)
    ask(stocked, "friday")
    folder = Path(index_folder(find_work_tree(stocked), places))
    manifest = json.loads((folder / "manifest.json").read_text())
    part = folder / f"text-{manifest['generation']}" / "paths"
    lines = part.read_text().split("\n")
    raw = "\n".join(["../outside.md"] * len(lines)).encode()
    part.write_bytes(raw)
    manifest["crc"]["paths"], manifest["sizes"]["paths"] = crc32(raw), len(raw)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert ask(stocked, "friday").hits == ()


def test_removing_the_index_between_two_recalls_costs_nothing(stocked: Path, ask: Ask, places: Places) -> None:
    first = ids(ask(stocked, "friday"))
    shutil.rmtree(places.cache)
    assert ids(ask(stocked, "friday")) == first


# -- limits, budgets, briefs -------------------------------------------------------------------------


def test_a_budget_takes_whole_memories_and_counts_the_rest(stocked: Path, ask: Ask) -> None:
    for number in range(6):
        write_memory(stocked, f"long-{number}", f"Friday {'x' * 300} number {number}.")
    whole = ask(stocked, "friday", limit=6)
    small = ask(stocked, "friday", limit=6, budget_bytes=1200)
    assert len(whole.hits) == 6
    assert 0 < len(small.hits) < 6
    assert small.left_out == 6 - len(small.hits)
    assert ids(small)[0] == ids(whole)[0]


def test_hybrid_without_a_model_is_an_error_and_auto_says_it_once(stocked: Path, ask: Ask) -> None:
    result = ask(stocked, "friday", mode="auto")
    assert result.mode == "lexical"
    assert len([notice for notice in result.notices if "by words only" in notice]) == 1
    with pytest.raises(SetupError):
        ask(stocked, "friday", mode="hybrid")


def test_words_alone_import_no_model_and_no_numpy(stocked: Path, places: Places) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from datetime import date\n"
        "from memfs.disk.places import Places; from memfs.disk.worktree import find_work_tree\n"
        "from memfs.recall.search import Query, recall\n"
        "result = recall([('', find_work_tree(Path(sys.argv[1])))], Places(home=Path(sys.argv[2])),\n"
        "    Query(text='friday', mode='lexical'), today=date(2027, 1, 1))\n"
        "heavy = ('numpy', 'onnxruntime', 'ctypes', 'git', 'jsonschema', 'rich', 'inspect', 'dataclasses')\n"
        "print(len(result.hits), [name for name in heavy if name in sys.modules])"
    )
    import memfs

    argv = [sys.executable, "-c", code, str(stocked), str(places.home)]
    where = Path(memfs.__file__).parents[1]
    subprocess.run(argv, check=True, cwd=where, capture_output=True)
    done = subprocess.run(argv, check=True, cwd=where, capture_output=True, text=True)
    assert done.stdout.strip() == "1 []"


# -- what is not shown ---------------------------------------------------------------------------------


def test_a_withheld_memory_with_a_character_of_no_width_is_found_and_said(stocked: Path, ask: Ask) -> None:
    write_memory(stocked, "topics", "Kafka topics are keyed by order\u200b id.")
    result = ask(stocked, "how are kafka topics keyed")
    if ids(result) != ["topics"]:  # the gate stops it
        assert result.withheld == 1
        assert result.remarks() == ["1 memory matches and is withheld; `memfs check` says why"]


def test_files_that_are_not_memories_take_no_place(stocked: Path, ask: Ask) -> None:
    for number in range(6):
        (stocked / f"memories/team/old-{number}.md").write_text(f"# Deploy window {number}\n\nDeploy window notes.\n")
    write_memory(stocked, "real", "Releases go out on Tuesday after the deploy window was announced.")
    result = ask(stocked, "when is the deploy window?")
    assert "real" in ids(result)
    assert result.strays == 6
    assert not any(name.startswith("old-") for name in ids(result))


def test_a_person_may_ask_for_a_tool_by_its_name(stocked: Path, ask: Ask) -> None:
    write_memory(stocked, "manager", "We use pnpm and no other package manager.")
    assert ids(ask(stocked, "pnpm")) == ["manager"]
    assert ids(ask(stocked, "pnpm", prompt=True)) == []


# -- two memories about the same -----------------------------------------------------------------------


def test_of_two_current_memories_about_the_same_the_newer_goes_first_and_says_so(stocked: Path, ask: Ask) -> None:
    write_memory(stocked, "python-old", "All services of the shop run on Python 3.11.", recorded="2025-02-01")
    write_memory(stocked, "python-new", "All services of the shop run on Python 3.13.", recorded="2026-02-01")
    write_memory(stocked, "services", "The services of the shop are written down in the catalogue.")
    result = ask(stocked, "which python do the services of the shop run on?")
    assert ids(result)[:2] == ["python-new", "python-old"]
    assert result.hits[0].notes == ("newer than python-old, which is about the same",)
    assert not any(hit.notes for hit in result.hits[1:])
