"""Small ONNX files, written on the wire format."""

from __future__ import annotations

from memfs.index.onnxfile import format_message


def text(number: int, value: str) -> tuple[int, int, bytes]:
    return number, 2, value.encode()


def node(kind: str, inputs: list[str], outputs: list[str]) -> tuple[int, int, bytes]:
    return 1, 2, format_message([*(text(1, one) for one in inputs), *(text(2, one) for one in outputs), text(4, kind)])


def tensor(name: str, kind: int, dims: list[int], data: bytes) -> tuple[int, int, bytes]:
    return 5, 2, format_message([*((1, 0, size) for size in dims), (2, 0, kind), text(8, name), (9, 2, data)])


def value(field: int, name: str) -> tuple[int, int, bytes]:
    return field, 2, format_message([text(1, name)])


def model(*nodes: tuple[int, int, bytes], bias: int = 0) -> bytes:
    """Return the file of a model with these nodes, two stored integer tensors and a bias."""
    graph = format_message(
        [
            *nodes,
            tensor("table_q", 3, [40, 32], bytes(40 * 32)),
            tensor("table_scale", 1, [40, 1], bytes(160)),
            tensor("weight_q", 3, [32, 32], bytes(1024)),
            tensor("weight_scale", 1, [1, 32], bytes(128)),
            tensor("bias", 1, [32], bytes([bias] * 128)),
            value(11, "input_ids"),
            value(11, "attention_mask"),
            value(12, "last_hidden_state"),
        ]
    )
    return format_message([(1, 0, 8), (7, 2, graph), (8, 2, format_message([(2, 0, 17)]))])


STORED = (
    node("Cast", ["table_q"], ["table_f"]),
    node("Mul", ["table_f", "table_scale"], ["table"]),
    node("Cast", ["weight_q"], ["weight_f"]),
    node("Mul", ["weight_f", "weight_scale"], ["weight"]),
    node("Gather", ["table", "input_ids"], ["rows"]),
    node("MatMul", ["rows", "weight"], ["product"]),
    node("Add", ["product", "bias"], ["last_hidden_state"]),
)
