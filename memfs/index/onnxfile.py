"""Preparing an ONNX model so that it loads in a hundredth of a second (docs/adr/0009-model-preparation.md). Pure.

Three changes to the file, made on its protocol buffers' wire format, so that neither the ``onnx``
package nor protobuf is needed:

* Weights that the file stores as int8 with a scale a column, to be unfolded to float at every load,
  stay int8: ``MatMul(x, scale * cast(q)) + bias`` becomes ``DynamicQuantizeMatMul(x, q, scale, bias)``,
  and rows of an embedding table are scaled after they are gathered.
* Every large tensor moves to a second file, which onnxruntime maps instead of reading.
* The output becomes one vector: the sum over the tokens, or the first token's (``cls``).
* A second output has the signs of each token's own vector, one bit a dimension, in one go with the first.

A graph without such weights gets the other changes only. Field numbers are those of onnx.proto
(ModelProto, GraphProto, NodeProto, TensorProto, AttributeProto), version 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import pack

WEIGHTS_NAME = "weights.bin"
OUTPUT_NAME = "memfs_vector"
TOKENS_NAME = "memfs_tokens"

_MODEL_GRAPH, _MODEL_OPSET = 7, 8
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OP, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 3, 4, 5, 7
_TENSOR_DIMS, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_RAW, _TENSOR_EXTERNAL, _TENSOR_LOCATION = 1, 2, 8, 9, 13, 14
_FLOAT, _UINT8, _INT8, _INT64 = 1, 2, 3, 7
_EXTERNAL = 1
_LARGE = 1024  # bytes
_ALIGNED = 4096  # a mapped tensor begins on a page


class NotOnnxError(ValueError):
    """The bytes are not an ONNX model that can be read here."""


Field = tuple[int, int, int | bytes]  # number, wire type, value


def parse_message(raw: bytes) -> Iterator[Field]:
    """Yield the fields of one message. Raises :class:`NotOnnxError` where it is none."""
    at, end = 0, len(raw)
    view = memoryview(raw)
    while at < end:
        key, at = _read_varint(raw, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _read_varint(raw, at)
            yield number, wire, value
            continue
        if wire == 2:
            size, at = _read_varint(raw, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise NotOnnxError("a field has an unknown wire type")
        if number == 0 or at + size > end:
            raise NotOnnxError("a field is longer than its message")
        yield number, wire, bytes(view[at : at + size])
        at += size


def format_message(fields: Iterable[Field]) -> bytes:
    """Return the bytes of a message: the inverse of :func:`parse_message`."""
    parts: list[bytes] = []
    for number, wire, value in fields:
        parts.append(_varint(number << 3 | wire))
        if isinstance(value, int):
            parts.append(_varint(value))
        else:
            if wire == 2:
                parts.append(_varint(len(value)))
            parts.append(value)
    return b"".join(parts)


def prepare_model(raw: bytes, *, pooling: str, dimensions: int = 0) -> tuple[bytes, bytes]:
    """Return the graph and the weights of the model ``raw``, prepared; ``pooling`` is ``mean`` or ``cls``.

    The graph takes ``input_ids``, ``attention_mask`` and perhaps ``token_type_ids`` of shape (1, n) and
    gives ``OUTPUT_NAME``, as many floats as the model has dimensions, of any length. Where ``dimensions`` is
    a multiple of 8 it also gives ``TOKENS_NAME``: for each token, the signs of its vector as packed bits.
    Raises :class:`NotOnnxError` for bytes that are not such a model.
    """
    model = list(parse_message(raw))
    graphs = [value for number, wire, value in model if number == _MODEL_GRAPH and wire == 2]
    if len(graphs) != 1 or not isinstance(graphs[0], bytes):
        raise NotOnnxError("the file holds no graph")
    nodes: list[Node] = []
    tensors: dict[str, Tensor] = {}
    rest: list[Field] = []
    for number, wire, value in parse_message(graphs[0]):
        if number == _GRAPH_NODE and isinstance(value, bytes):
            nodes.append(Node.parse(value))
        elif number == _GRAPH_INITIALIZER and isinstance(value, bytes):
            tensor = Tensor(value)
            tensors[tensor.name] = tensor
        else:
            rest.append((number, wire, value))
    if not nodes:
        raise NotOnnxError("the graph has no nodes")
    nodes, is_changed = _keep_integers(nodes, tensors)
    outputs = [_name_of(value) for number, _, value in rest if number == _GRAPH_OUTPUT and isinstance(value, bytes)]
    if not outputs:
        raise NotOnnxError("the graph has no output")
    hidden = "last_hidden_state" if "last_hidden_state" in outputs else outputs[0]
    nodes += _pool(hidden, pooling, tensors)
    rest = [item for item in rest if item[0] != _GRAPH_OUTPUT]
    rest.append((_GRAPH_OUTPUT, 2, _output_info(OUTPUT_NAME, _FLOAT)))
    if dimensions and dimensions % 8 == 0:
        nodes += _pack_signs(hidden, dimensions, tensors)
        rest.append((_GRAPH_OUTPUT, 2, _output_info(TOKENS_NAME, _UINT8)))
    weights = bytearray()
    initializers = [tensor.move_out(weights) for tensor in tensors.values()]
    graph = format_message(
        [
            *((_GRAPH_NODE, 2, node.format()) for node in nodes),
            *((_GRAPH_INITIALIZER, 2, tensor) for tensor in initializers),
            *rest,
        ]
    )
    fields = [(number, wire, graph if number == _MODEL_GRAPH else value) for number, wire, value in model]
    if is_changed:
        fields.append((_MODEL_OPSET, 2, format_message([(1, 2, b"com.microsoft"), (2, 0, 1)])))
    return format_message(fields), bytes(weights)


def find_inputs(graph: bytes) -> list[str]:
    """Return the names of the inputs of a prepared or unprepared model."""
    return _names_of(graph, _GRAPH_INPUT)


def find_outputs(graph: bytes) -> list[str]:
    """Return the names of the outputs of a prepared or unprepared model."""
    return _names_of(graph, _GRAPH_OUTPUT)


def _names_of(graph: bytes, field: int) -> list[str]:
    return [_name_of(item) for body in _bytes_of(graph, _MODEL_GRAPH) for item in _bytes_of(body, field)]


def _name_of(value_info: bytes) -> str:
    return b"".join(_bytes_of(value_info, 1)).decode()


def _bytes_of(raw: bytes, wanted: int) -> list[bytes]:
    return [value for number, _, value in parse_message(raw) if number == wanted and isinstance(value, bytes)]


def _output_info(name: str, kind: int) -> bytes:
    # ValueInfoProto: name, type → tensor_type → elem_type, without a shape.
    tensor = format_message([(1, 2, format_message([(1, 0, kind)]))])
    return format_message([(1, 2, name.encode()), (2, 2, tensor)])


def _stored(tensors: dict[str, Tensor], name: str, kind: int, dims: list[int], data: bytes) -> str:
    """Add a small tensor to the graph and return its name."""
    fields: list[Field] = [*((_TENSOR_DIMS, 0, size) for size in dims), (_TENSOR_TYPE, 0, kind)]
    tensors[name] = Tensor(format_message([*fields, (_TENSOR_NAME, 2, name.encode()), (_TENSOR_RAW, 2, data)]))
    return name


def _cast_to(kind: int) -> list[Field]:
    # AttributeProto: name, type INT, i
    return [(_NODE_ATTRIBUTE, 2, format_message([(1, 2, b"to"), (20, 0, 2), (3, 0, kind)]))]


def _pack_signs(hidden: str, dimensions: int, tensors: dict[str, Tensor]) -> list[Node]:
    """Return the nodes that turn (1, n, dimensions) floats into (n, dimensions / 8, 1) bytes of sign bits."""
    zero = _stored(tensors, "memfs_zero", _FLOAT, [], pack("<f", 0))
    shape = _stored(tensors, "memfs_octets", _INT64, [3], pack("<3q", -1, dimensions // 8, 8))
    powers = _stored(tensors, "memfs_powers", _FLOAT, [8, 1], pack("<8f", *(1 << bit for bit in range(8))))
    return [
        Node("Greater", [hidden, zero], ["memfs_signs"]),
        Node("Cast", ["memfs_signs"], ["memfs_bits"], _cast_to(_FLOAT)),
        Node("Reshape", ["memfs_bits", shape], ["memfs_eights"]),
        Node("MatMul", ["memfs_eights", powers], ["memfs_bytes"]),
        Node("Cast", ["memfs_bytes"], [TOKENS_NAME], _cast_to(_UINT8)),
    ]


def _pool(hidden: str, pooling: str, tensors: dict[str, Tensor]) -> list[Node]:
    """Return the nodes that turn (1, n, dimensions) into (1, dimensions)."""
    if pooling == "cls":
        first = _stored(tensors, "memfs_first", _INT64, [], bytes(8))
        axis = format_message([(1, 2, b"axis"), (20, 0, 2), (3, 0, 1)])
        return [Node("Gather", [hidden, first], [OUTPUT_NAME], [(_NODE_ATTRIBUTE, 2, axis)])]
    # The sum: vectors are brought to length 1 afterwards, and texts are embedded one at a time.
    return [
        Node("Cast", ["attention_mask"], ["memfs_weights"], _cast_to(_FLOAT)),
        Node("MatMul", ["memfs_weights", hidden], [OUTPUT_NAME]),
    ]


class Node:
    """One operation: what it reads, what it makes, and its other fields as they are."""

    __slots__ = ("inputs", "kind", "outputs", "rest")

    def __init__(self, kind: str, inputs: list[str], outputs: list[str], rest: list[Field] | None = None) -> None:
        self.kind = kind
        self.inputs = inputs
        self.outputs = outputs
        self.rest = rest or []

    @classmethod
    def parse(cls, raw: bytes) -> Node:
        node = cls("", [], [])
        for number, wire, value in parse_message(raw):
            if isinstance(value, int) or number not in (_NODE_INPUT, _NODE_OUTPUT, _NODE_OP):
                node.rest.append((number, wire, value))
            elif number == _NODE_OP:
                node.kind = value.decode()
            else:
                (node.inputs if number == _NODE_INPUT else node.outputs).append(value.decode())
        return node

    def format(self) -> bytes:
        return format_message(
            [
                *((_NODE_INPUT, 2, name.encode()) for name in self.inputs),
                *((_NODE_OUTPUT, 2, name.encode()) for name in self.outputs),
                (_NODE_OP, 2, self.kind.encode()),
                *self.rest,
            ]
        )


class Tensor:
    """One stored tensor."""

    __slots__ = ("data", "dims", "fields", "kind", "name")

    def __init__(self, raw: bytes) -> None:
        self.fields: list[Field] = []
        self.dims: list[int] = []
        self.name, self.kind, self.data = "", 0, b""
        for number, wire, value in parse_message(raw):
            if number == _TENSOR_DIMS:
                self.dims += [value] if isinstance(value, int) else _packed(value)
                continue
            if number == _TENSOR_NAME and isinstance(value, bytes):
                self.name = value.decode()
            elif number == _TENSOR_TYPE and isinstance(value, int):
                self.kind = value
            elif number == _TENSOR_RAW and isinstance(value, bytes):
                self.data = value
                continue
            self.fields.append((number, wire, value))

    def move_out(self, weights: bytearray) -> bytes:
        """Return the message of this tensor, its data appended to ``weights`` where it is large."""
        fields: list[Field] = [*((_TENSOR_DIMS, 0, size) for size in self.dims), *self.fields]
        if len(self.data) < _LARGE:
            return format_message([*fields, *([(_TENSOR_RAW, 2, self.data)] if self.data else [])])
        weights += bytes(-len(weights) % _ALIGNED)
        place = {"location": WEIGHTS_NAME, "offset": str(len(weights)), "length": str(len(self.data))}
        weights += self.data
        for key, text in place.items():
            entry = format_message([(1, 2, key.encode()), (2, 2, text.encode())])
            fields.append((_TENSOR_EXTERNAL, 2, entry))
        return format_message([*fields, (_TENSOR_LOCATION, 0, _EXTERNAL)])


def _keep_integers(nodes: list[Node], tensors: dict[str, Tensor]) -> tuple[list[Node], bool]:
    """Return the nodes with unfolded int8 weights kept as they are stored, and whether any were."""
    makers = {name: node for node in nodes for name in node.outputs}
    users: dict[str, list[Node]] = {}
    for node in nodes:
        for name in node.inputs:
            users.setdefault(name, []).append(node)
    stored: dict[str, tuple[Tensor, Tensor]] = {}  # name of the unfolded weight → int8 tensor, scales
    for node in nodes:
        pair = _find_stored(node, makers, tensors)
        if pair is not None:
            stored[node.outputs[0]] = pair
    made: list[Node] = []
    replaced: set[int] = set()
    unfolded = {name: len(users.get(name, ())) for name in stored}
    for node in nodes:
        if id(node) in replaced:
            continue
        name = node.inputs[1 if node.kind == "MatMul" and len(node.inputs) == 2 else 0] if node.inputs else ""
        if name in stored and node.kind == "MatMul":
            addition = _find_bias(node, users, tensors)
            if addition is not None and _is_scaled_by_column(*stored[name]):
                made.append(_integer_product(node, addition, *stored[name]))
                replaced.add(id(addition))
                unfolded[name] -= 1
                continue
        elif name in stored and node.kind == "Gather" and _is_scaled_by_row(*stored[name]):
            made += _integer_rows(node, *stored[name])
            unfolded[name] -= 1
            continue
        made.append(node)
    unused = {name for name, left in unfolded.items() if left == 0}
    unused |= {makers[name].inputs[0] for name in unused}
    return [node for node in made if node.outputs[0] not in unused], bool(unused)


def _find_stored(node: Node, makers: dict[str, Node], tensors: dict[str, Tensor]) -> tuple[Tensor, Tensor] | None:
    """Return the int8 tensor and the scales when ``node`` is ``Cast(tensor) * scales``."""
    if node.kind != "Mul" or len(node.inputs) != 2 or node.inputs[1] not in tensors:
        return None
    cast = makers.get(node.inputs[0])
    if cast is None or cast.kind != "Cast" or cast.inputs[0] not in tensors:
        return None
    tensor, scales = tensors[cast.inputs[0]], tensors[node.inputs[1]]
    fits = tensor.kind == _INT8 and scales.kind == _FLOAT and len(tensor.dims) == 2 and tensor.data and scales.data
    return (tensor, scales) if fits else None


def _find_bias(node: Node, users: dict[str, list[Node]], tensors: dict[str, Tensor]) -> Node | None:
    """Return the addition of a stored bias that is the only use of the product ``node``."""
    uses = users.get(node.outputs[0], [])
    if len(uses) != 1 or uses[0].kind != "Add":
        return None
    bias = [tensors[name] for name in uses[0].inputs if name in tensors]
    return uses[0] if len(bias) == 1 and len(bias[0].dims) == 1 else None


def _is_scaled_by_column(tensor: Tensor, scales: Tensor) -> bool:
    return scales.dims[-1:] == tensor.dims[-1:] and len(scales.data) == 4 * tensor.dims[-1]


def _is_scaled_by_row(tensor: Tensor, scales: Tensor) -> bool:
    return scales.dims == [tensor.dims[0], 1]


def _integer_product(node: Node, addition: Node, tensor: Tensor, scales: Tensor) -> Node:
    scales.dims = [tensor.dims[-1]]
    bias = next(name for name in addition.inputs if name != node.outputs[0])
    inputs = [node.inputs[0], tensor.name, scales.name, "", bias]
    return Node("DynamicQuantizeMatMul", inputs, addition.outputs, [(_NODE_DOMAIN, 2, b"com.microsoft")])


def _integer_rows(node: Node, tensor: Tensor, scales: Tensor) -> list[Node]:
    out = node.outputs[0]
    return [
        Node("Gather", [tensor.name, node.inputs[1]], [f"{out}_integers"]),
        Node("Gather", [scales.name, node.inputs[1]], [f"{out}_scales"]),
        Node("Cast", [f"{out}_integers"], [f"{out}_floats"], _cast_to(_FLOAT)),
        Node("Mul", [f"{out}_floats", f"{out}_scales"], [out]),
    ]


def _packed(raw: bytes) -> list[int]:
    numbers, at = [], 0
    while at < len(raw):
        number, at = _read_varint(raw, at)
        numbers.append(number)
    return numbers


def _read_varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(raw) or shift > 63:
            raise NotOnnxError("a number is cut off")
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
