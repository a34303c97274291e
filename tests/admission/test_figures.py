"""The figures that the documentation states, on the labelled sets beside the checkout."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from support import CHECKOUT

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def figures(shared: Path) -> dict[str, Any]:
    found = spec_from_file_location("benchmark_of_admission", CHECKOUT / "benchmarks" / "admission.py")
    assert found is not None
    assert found.loader is not None
    benchmark = module_from_spec(found)
    found.loader.exec_module(benchmark)
    result: dict[str, Any] = benchmark.measure(shared / "data" / "admission")
    return result


@pytest.mark.parametrize("family", ["secrets", "personal"])
def test_credentials_and_personal_data_are_found_and_little_else(figures: dict[str, Any], family: str) -> None:
    assert figures[family]["precision"] >= 0.97
    assert figures[family]["recall"] >= 0.92


def test_ordinary_memories_pass(figures: dict[str, Any]) -> None:
    assert figures["ordinary"]["rejected"] <= 0.005
    assert figures["ordinary"]["held"] <= 0.03


def test_transience_never_stops_a_memory(figures: dict[str, Any]) -> None:
    assert figures["durable_and_transient"]["rejected"] == 0


def test_every_hidden_code_point_is_found(figures: dict[str, Any]) -> None:
    assert figures["code_points"]["misjudged"] == 0


def test_nothing_breaks_out(figures: dict[str, Any]) -> None:
    assert figures["frames"]["break_outs"] == 0
