"""Reading and changing ONNX files on the wire format alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx_files import STORED, model, node

from memfs.index.onnxfile import OUTPUT_NAME, NotOnnxError, find_inputs, format_message, parse_message, prepare_model

NUMBER = st.integers(1, 2**20)
FIELDS = st.lists(
    st.one_of(
        st.tuples(NUMBER, st.just(0), st.integers(0, 2**63 - 1)),
        st.tuples(NUMBER, st.just(2), st.binary(max_size=200)),
        st.tuples(NUMBER, st.just(5), st.binary(min_size=4, max_size=4)),
        st.tuples(NUMBER, st.just(1), st.binary(min_size=8, max_size=8)),
    )
)


@given(FIELDS)
def test_a_message_comes_back(fields: list[tuple[int, int, int | bytes]]) -> None:
    raw = format_message(fields)
    assert list(parse_message(raw)) == fields
    assert format_message(parse_message(raw)) == raw


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_refused(raw: bytes) -> None:
    try:
        list(parse_message(raw))
    except NotOnnxError:
        return


@given(st.binary(max_size=300))
def test_any_bytes_are_no_model(raw: bytes) -> None:
    with pytest.raises((NotOnnxError, UnicodeDecodeError)):
        prepare_model(raw, pooling="mean")


def kinds(graph: bytes) -> Iterator[str]:
    for number, _, body in parse_message(graph):
        if number == 7 and isinstance(body, bytes):
            for field, _, one in parse_message(body):
                if field == 1 and isinstance(one, bytes):
                    yield next(part.decode() for place, _, part in parse_message(one) if place == 4)  # type: ignore[union-attr]


def test_stored_integers_stay_integers() -> None:
    graph, weights = prepare_model(model(*STORED), pooling="mean")
    assert list(kinds(graph)) == ["Gather", "Gather", "Cast", "Mul", "DynamicQuantizeMatMul", "Cast", "MatMul"]
    assert find_inputs(graph) == ["input_ids", "attention_mask"]
    assert len(weights) >= 40 * 32 + 1024
    assert OUTPUT_NAME.encode() in graph
    assert bytes(1024) not in graph


def test_a_graph_without_stored_integers_keeps_its_nodes() -> None:
    plain = (node("Gather", ["table_q", "input_ids"], ["rows"]), node("Relu", ["rows"], ["last_hidden_state"]))
    graph, _ = prepare_model(model(*plain), pooling="cls")
    assert list(kinds(graph)) == ["Gather", "Relu", "Gather"]
    assert b"com.microsoft" not in graph


def test_a_product_that_is_used_twice_is_left_alone() -> None:
    twice = (*STORED, node("Relu", ["product"], ["other"]))
    graph, _ = prepare_model(model(*twice), pooling="mean")
    assert "DynamicQuantizeMatMul" not in list(kinds(graph))
    assert "MatMul" in list(kinds(graph))
