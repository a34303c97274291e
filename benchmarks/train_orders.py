"""Train the classifier of orders (memfs/admission/data/orders.bin) and measure it.

  python benchmarks/train_orders.py --real FOLDER          train, write the weights, print the figures
  python benchmarks/train_orders.py --measure              figures of the shipped weights alone
  python benchmarks/train_orders.py --measure --real DIR   and how many real files it would hold
  python benchmarks/train_orders.py --measure --data DIR   and the labelled rows of development

Lines come from ``benchmarks/authority`` (and ``tests/admission``, for training only). Forms, the blocks of those files,
never part between training and test: each third of them is measured by weights that are trained on the others; the
weights that ship are then trained on all. ``fresh.txt`` chose the features; ``aside.txt`` was written before any of
this was changed and chose nothing. FOLDER (KIND/REPOSITORY/…) is ordinary Markdown: the sentences of two thirds of its
repositories are taken for ordinary in training, and the other third sets the threshold. The
project's own pages, messages and tests are ordinary too. Keep other files for measuring. Needs numpy to train.
Prints JSON.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from math import log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

from admission import read_rows, wilson  # noqa: E402
from real_text import markdown_files  # noqa: E402

from memfs.admission import meaning  # noqa: E402

LINES = HERE / "authority"
WEIGHTS = HERE.parent / "memfs" / "admission" / "data" / "orders.bin"
THIRDS = 3
FIRST, MINED, HARDEST = 20_000, 80_000, 2_000
"""Sentences of real files: trained on, looked through for the hardest ones, how many of these are added."""

ORDINARY_WEIGHT, REAL_WEIGHT = 4.0, 1.5  # against all orders together
OTHER_LANGUAGES = 3  # times an ordinary line counts that is not in English: real files nearly all are
_COPIES = {"orders.txt": 3, "ordinary.txt": 5, "fresh.txt": 2, "aside.txt": 1}


class Line(NamedTuple):
    text: str
    order: bool
    family: str
    language: str
    form: str


def read_slots() -> dict[str, dict[str, list[str]]]:
    """Return the fillings of each slot by language."""
    slots: dict[str, dict[str, list[str]]] = {}
    language: dict[str, list[str]] = {}
    for line in (LINES / "slots.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = slots.setdefault(line[1:-1], {})
        elif line and not line.startswith("#"):
            name, _, values = line.partition(":")
            language[name] = [value.strip() for value in values.split("|")]
    return slots


def read_lines(name: str) -> list[Line]:
    """Return the lines of one file with their slots filled, the same ones each time."""
    slots = read_slots()
    order = True
    family = language = ""
    form = 0
    found: list[Line] = []
    for line in (LINES / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if not line or line.startswith("["):
            form += 1
            if line:
                family, language = line[1:-1].split()[:2]
                order = name != "ordinary.txt" and not line.endswith(" ordinary]")
            continue
        texts = set()
        for copy in range(_COPIES[name] if "{" in line else 1):
            text = _fill(line, slots.get(language, {}), random.Random(f"{line}{copy}"))
            texts.add(text[0].upper() + text[1:])
        found += [Line(text, order, family, language, f"{name}:{form}") for text in sorted(texts)]
    return found


def _fill(line: str, slots: dict[str, list[str]], chosen: random.Random) -> str:
    return re.sub(r"\{(\w+)\}", lambda slot: chosen.choice(slots[slot[1]]), line)


def third_of(name: str) -> int:
    """Return which third of the forms, or of the repositories, ``name`` belongs to."""
    return int(hashlib.sha256(f"memfs {name}".encode()).hexdigest(), 16) % THIRDS


def read_own() -> list[tuple[str, bool]]:
    """Return the lines of the tests, which only training uses."""
    found = []
    for name, order in (("shapes.txt", True), ("ordinary.txt", False)):
        text = (HERE.parent / "tests" / "admission" / name).read_text(encoding="utf-8")
        found += [(line, order) for line in text.splitlines() if line and "\\n" not in line]
    return found


def read_project() -> list[str]:
    """Return the sentences of this project's own pages, messages and tests, where nobody orders an agent about."""
    root = HERE.parent
    attacks = [root / "tests" / room for room in ("admission", "attacks", "render", "hooks")]
    texts = [path.read_text(encoding="utf-8") for path in sorted((root / "docs").rglob("*.md"))]
    for path in sorted((*(root / "memfs").rglob("*.py"), *(root / "tests").rglob("*.py"))):
        if not any(path.is_relative_to(room) for room in attacks):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                    texts.append(node.value)
    return sorted({plain for text in texts for _, _, plain in meaning.plain_sentences(text)})


def read_real(folder: Path) -> dict[int, list[list[str]]]:
    """Return the sentences of each Markdown file below ``folder``, by third of its repositories."""
    files: dict[int, list[list[str]]] = {third: [] for third in range(THIRDS)}
    for path in markdown_files(folder):
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        repository = path.relative_to(folder).parts[1:2] or ("",)
        files[third_of(repository[0])].append([plain for _, _, plain in meaning.plain_sentences(text)])
    return files


def train(lines: list[tuple[str, bool]], real: list[str], own: list[str]) -> tuple[Any, float]:
    """Return weights and bias of a logistic regression; ``real`` and ``own`` sentences count as ordinary."""
    import numpy as np

    first = real[:FIRST] + own
    weights, bias = _fit(lines, first, None, -2.0)
    scored = [(value, text) for text in real[FIRST:MINED] if (value := _score(weights, bias, text)) is not None]
    hard = [text for _, text in sorted(scored, reverse=True)[:HARDEST]]
    weights, bias = _fit(lines, first + hard, weights * 0.7, bias)
    return np.clip(weights, -np.abs(weights).max(), None), bias


def rows_of(lines: Iterable[Line]) -> list[tuple[str, bool]]:
    """Return what training sees of the lines."""
    return [
        (line.text, line.order)
        for line in lines
        for _ in range(1 if line.order or line.language == "en" else OTHER_LANGUAGES)
    ]


def _score(weights: Any, bias: float, text: str) -> float | None:
    features = meaning.features_of(text) if len(text) >= 6 else []
    return float(weights[features].sum() / sqrt(len(features)) + bias) if features else None


def _fit(lines: list[tuple[str, bool]], real: list[str], start: Any, bias: float) -> tuple[Any, float]:
    import numpy as np

    rows = [(meaning.features_of(text), float(order)) for text, order in lines]
    rows += [(meaning.features_of(text), -1.0) for text in real]
    rows = [row for row in rows if row[0]]
    kind = np.array([row[1] for row in rows])
    wanted = np.maximum(kind, 0)
    orders = (kind == 1).sum()
    weight = np.where(
        kind == 1,
        1.0,
        np.where(kind == 0, ORDINARY_WEIGHT * orders / (kind == 0).sum(), REAL_WEIGHT * orders / (kind == -1).sum()),
    )
    size = np.array([len(row[0]) for row in rows])
    starts = np.concatenate([[0], np.cumsum(size)])
    columns = np.concatenate([np.array(row[0]) for row in rows])
    scale = 1 / np.sqrt(size)
    table = np.zeros(1 << meaning.BITS) if start is None else start.copy()
    seen = np.full(1 << meaning.BITS, 1e-6)
    seen_bias = 1e-6
    generator = np.random.default_rng(0)
    for _ in range(10):
        order = generator.permutation(len(rows))
        for at in range(0, len(rows), 2048):
            chosen = order[at : at + 2048]
            picked = np.concatenate([columns[starts[row] : starts[row + 1]] for row in chosen])
            row_of = np.repeat(np.arange(len(chosen)), size[chosen])
            margin = np.bincount(row_of, table[picked] * scale[chosen][row_of], len(chosen)) + bias
            error = (1 / (1 + np.exp(-margin)) - wanted[chosen]) * weight[chosen]
            slope = np.bincount(picked, (error * scale[chosen])[row_of], len(table)) / len(chosen) * 50 + 1e-4 * table
            moved = slope != 0
            seen[moved] += slope[moved] ** 2
            table[moved] -= 0.1 * slope[moved] / np.sqrt(seen[moved])
            seen_bias += error.mean() ** 2
            bias -= 0.1 * error.mean() / np.sqrt(seen_bias)
    return table, bias


def write_weights(weights: Any, bias: float, threshold: float, rise: float) -> None:
    """Write the model: a line with its numbers, then one signed byte a weight."""
    import numpy as np

    scale = float(np.percentile(np.abs(weights[weights != 0]), 99.9)) / 127
    packed = np.clip(np.round(weights / scale), -127, 127).astype(np.int8).tobytes()
    head = f"memfs-orders-1 {scale:.6g} {bias:.6g} {threshold:.6g} {rise:.4g}\n"
    WEIGHTS.write_bytes(head.encode() + packed)


def choose_threshold(weights: Any, bias: float, files: Iterable[list[str]], share: float) -> tuple[float, float]:
    """Return the threshold at which ``share`` of the files would be held, and its rise: how fast scores thin out."""
    tops: list[tuple[float, int]] = []
    every: list[float] = []
    for sentences in files:
        values = [value for text in sentences if (value := _score(weights, bias, text)) is not None]
        tops.append((max(values, default=-9.0), len(sentences)))
        every += values
    every.sort()
    rise = (every[int(len(every) * (1 - 2e-4))] - every[int(len(every) * (1 - 5e-3))]) / log(25)
    settled = sorted(top - meaning.doubt(size, rise) for top, size in tops)
    return settled[int(len(settled) * (1 - share))], rise


def measure(data: Path | None, real: Path | None) -> dict[str, Any]:
    """Return recall and false share of the shipped weights."""
    result: dict[str, Any] = {}
    result["fresh_forms"] = _table(read_lines("fresh.txt"))
    result["kept_aside"] = _table(read_lines("aside.txt"))
    if data is not None:
        rows = [
            Line(row["text"], row["label"] == "attack", row["family"], row.get("lang", "en"), row["id"])
            for row in read_rows(data / "injection.jsonl")
        ]
        result["development_rows"] = _table(rows)
    if real is not None:
        files = [path.read_bytes().decode("utf-8", "replace") for path in markdown_files(real)]
        held = sum(meaning.find_order(text) is not None for text in files)
        result["real_files"] = {"of": len(files), "held": held, "interval": wilson(held, len(files))}
    return result


def _table(lines: list[Line]) -> dict[str, Any]:
    return _counts([(line, meaning.find_order(line.text) is not None) for line in lines])


def _counts(judged: list[tuple[Line, bool]]) -> dict[str, Any]:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for line, hit in judged:
        for key in ("all", line.family, f"language {line.language}"):
            counts = found[f"{'orders' if line.order else 'ordinary'}: {key}"]
            counts[0] += hit
            counts[1] += 1
    table: dict[str, Any] = {
        key: {"alarms": hits, "of": of, "interval": wilson(hits, of)} for key, (hits, of) in sorted(found.items())
    }
    right, wrong = found["orders: all"][0], found["ordinary: all"][0]
    table["precision"] = round(right / (right + wrong), 3) if right + wrong else None
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, help="folder of ordinary Markdown")
    parser.add_argument("--data", type=Path, help="folder of the labelled sets of development")
    parser.add_argument("--measure", action="store_true", help="measure the shipped weights, train nothing")
    parser.add_argument(
        "--share", type=float, default=0.01, help="share of real files that may be held (default: 0.01)"
    )
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    if not args.measure:
        if args.real is None:
            parser.error("training needs --real")
        files = read_real(args.real)
        sentences = [text for third in range(1, THIRDS) for file in files[third] for text in file]
        random.Random(1).shuffle(sentences)
        lines = [line for name in ("orders.txt", "ordinary.txt") for line in read_lines(name)]
        project = read_project()
        judged: list[tuple[Line, bool]] = []
        for kept in (*range(THIRDS), None):
            chosen = [line for line in lines if kept is None or third_of(line.form) != kept]
            weights, bias = train(rows_of(chosen) + read_own(), sentences, project)
            write_weights(weights, bias, *choose_threshold(weights, bias, files[0], args.share))
            meaning.open_model.cache_clear()
            judged += [
                (line, meaning.find_order(line.text) is not None) for line in lines if third_of(line.form) == kept
            ]
        figures["each_third_by_weights_of_the_others"] = _counts(judged)
        figures["files_that_set_the_threshold"] = len(files[0])
        figures["lines"] = {"all": len(lines), "forms": len({line.form for line in lines})}
    figures |= measure(args.data, args.real if args.measure else None)
    print(json.dumps({"schema": "memfs/benchmark-orders/1", **figures}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
