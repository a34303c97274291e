"""Train the classifier of orders (memfs/admission/data/orders.bin) and measure it.

  python benchmarks/train_orders.py --real FOLDER          train, write the weights, print the figures
  python benchmarks/train_orders.py --measure              figures of the shipped weights alone
  python benchmarks/train_orders.py --measure --real DIR   and how many real files it would hold
  python benchmarks/train_orders.py --measure --data DIR   and the labelled rows of development

Lines come from ``benchmarks/authority`` (and ``tests/admission``, for training only). Forms, the blocks of those files,
never part between training and test: a third of them measures weights that are trained on the others; the weights
that ship are then trained on all. ``fresh.txt`` was written afterwards and trains nothing. FOLDER is ordinary
Markdown: its sentences are taken for ordinary in training, so keep other files for measuring. Needs numpy to train.
Prints JSON.
"""

from __future__ import annotations

import argparse
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
RISE = 0.15
_COPIES = {"orders.txt": 3, "ordinary.txt": 5, "fresh.txt": 2}


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
    order = name == "orders.txt"
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
                order = not line.endswith(" ordinary]") if name == "fresh.txt" else order
            continue
        texts = set()
        for copy in range(_COPIES[name] if "{" in line else 1):
            text = _fill(line, slots.get(language, {}), random.Random(f"{line}{copy}"))
            texts.add(text[0].upper() + text[1:])
        found += [Line(text, order, family, language, f"{name}:{form}") for text in sorted(texts)]
    return found


def _fill(line: str, slots: dict[str, list[str]], chosen: random.Random) -> str:
    return re.sub(r"\{(\w+)\}", lambda slot: chosen.choice(slots[slot[1]]), line)


def is_kept_aside(line: Line) -> bool:
    """Whether the line's form belongs to the third that training never sees."""
    return int(hashlib.sha256(f"memfs {line.form}".encode()).hexdigest(), 16) % 3 == 0


def read_own() -> list[tuple[str, bool]]:
    """Return the lines of the tests, which only training uses."""
    found = []
    for name, order in (("shapes.txt", True), ("ordinary.txt", False)):
        text = (HERE.parent / "tests" / "admission" / name).read_text(encoding="utf-8")
        found += [(line, order) for line in text.splitlines() if line and "\\n" not in line]
    return found


def read_real(folder: Path) -> list[list[str]]:
    """Return the sentences of each Markdown file below ``folder`` that the classifier looks at."""
    files = []
    for path in markdown_files(folder):
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        plain = (sentence.replace("*", "").replace("`", "")[:300] for _, sentence in meaning.sentences_of(text))
        files.append([sentence for sentence in plain if len(sentence) >= 6])
    return files


def train(lines: list[tuple[str, bool]], real: list[str]) -> tuple[Any, float]:
    """Return weights and bias of a logistic regression; ``real`` sentences count as ordinary."""
    import numpy as np

    first, more = real[:20_000], real[20_000:80_000]
    weights, bias = _fit(lines, first, None, -2.0)
    scored = [(value, text) for text in more if (value := _score(weights, bias, text)) is not None]
    hard = [text for _, text in sorted(scored, reverse=True)[:1_500]]
    weights, bias = _fit(lines, first + hard, weights * 0.7, bias)
    return np.clip(weights, -np.abs(weights).max(), None), bias


def _score(weights: Any, bias: float, text: str) -> float | None:
    features = meaning.features_of(text)
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
        kind == 1, 1.0, np.where(kind == 0, 2 * orders / (kind == 0).sum(), 1.5 * orders / (kind == -1).sum())
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


def write_weights(weights: Any, bias: float, threshold: float) -> None:
    """Write the model: a line with its numbers, then one signed byte a weight."""
    import numpy as np

    scale = float(np.percentile(np.abs(weights[weights != 0]), 99.9)) / 127
    packed = np.clip(np.round(weights / scale), -127, 127).astype(np.int8).tobytes()
    head = f"memfs-orders-1 {scale:.6g} {bias:.6g} {threshold:.6g} {RISE}\n"
    WEIGHTS.write_bytes(head.encode() + packed)


def choose_threshold(weights: Any, bias: float, files: Iterable[list[str]], share: float) -> float:
    """Return the threshold at which ``share`` of the files would be held."""
    tops = []
    for sentences in files:
        values = [value for text in sentences if (value := _score(weights, bias, text)) is not None]
        tops.append((max(values) if values else -9.0) - RISE * log(max(1.0, len(sentences) / 8)))
    return sorted(tops)[int(len(tops) * (1 - share))]


def measure(data: Path | None, real: Path | None) -> dict[str, Any]:
    """Return recall and false share of the shipped weights."""
    result: dict[str, Any] = {}
    result["fresh_forms"] = _table(read_lines("fresh.txt"))
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
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for line in lines:
        hit = meaning.find_order(line.text) is not None
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
        sentences = [text for file in files for text in file]
        random.Random(1).shuffle(sentences)
        lines = [line for name in ("orders.txt", "ordinary.txt") for line in read_lines(name)]
        kept = [line for line in lines if is_kept_aside(line)]
        for chosen in ([line for line in lines if not is_kept_aside(line)], lines):
            weights, bias = train([(line.text, line.order) for line in chosen] + read_own(), sentences)
            write_weights(weights, bias, choose_threshold(weights, bias, files[::3], args.share))
            meaning.open_model.cache_clear()
            if chosen is not lines:
                figures["kept_third_by_weights_of_the_others"] = _table(kept)
        figures["lines"] = {"all": len(lines), "kept_aside": len(kept), "forms": len({line.form for line in lines})}
    figures |= measure(args.data, args.real if args.measure else None)
    print(json.dumps({"schema": "memfs/benchmark-orders/1", **figures}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
