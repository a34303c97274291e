"""Measure the admission gate on labelled sets and print one JSON document.

For each set: the table by kind with Wilson intervals at 95 %, precision and recall; for ordinary
memories the share that is rejected or held; for frames the break-outs; and what one memory costs.

  python benchmarks/admission.py                       the development sets beside the checkout
  python benchmarks/admission.py --data FOLDER         other sets of the same form
  python benchmarks/admission.py --misses              also name what was missed, by id
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import secrets
import statistics
import subprocess
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memfs.admission.gate import Decision, Draft, judge_draft, judge_reading, judge_text
from memfs.admission.rules import Family, Severity
from memfs.model.memory import Document, MemoryFile, Origin

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "admission"


def wilson(hits: int, total: int) -> list[float]:
    """Return the Wilson score interval at 95 % for ``hits`` of ``total``."""
    if total == 0:
        return [0.0, 1.0]
    z = 1.96
    share = hits / total
    middle = share + z * z / (2 * total)
    width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return [round((middle - width) / scale, 4), round((middle + width) / scale, 4)]


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a set; text that must not lie about in clear is stored compressed."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "text_b85_zlib" in row:
            row["text"] = zlib.decompress(base64.b85decode(row["text_b85_zlib"])).decode()
        yield row


def _stops(decision: Decision, family: Family) -> bool:
    return any(f.family is family and f.severity is not Severity.WARN for f in decision.findings)


def measure_family(path: Path, family: Family, positive: str, key: str) -> dict[str, Any]:
    """Return the table of one set whose rows are ``positive``, clean, or either (not counted)."""
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    counts = dict.fromkeys(("hit", "missed", "false", "clean", "held"), 0)
    missed: list[str] = []
    for row in read_rows(path):
        if row["label"] == "either":
            continue
        field = row.get("field", "body")
        decision = judge_text(row["text"], field=field, origin=Origin.AGENT)
        stopped = _stops(decision, family)
        kind = kinds[f"{row['label']} {row.get(key, '')}"]
        kind[1] += 1
        if row["label"] == positive:
            kind[0] += stopped
            counts["hit" if stopped else "missed"] += 1
            counts["held"] += not stopped and decision.outcome.value == "hold"
            if not stopped:
                missed.append(row["id"])
        else:
            kind[0] += not stopped
            counts["clean"] += 1
            counts["false"] += stopped
            if stopped:
                missed.append(row["id"])
    hit, false = counts["hit"], counts["false"]
    total = hit + counts["missed"]
    return {
        "precision": round(hit / (hit + false), 4) if hit + false else None,
        "precision_interval": wilson(hit, hit + false),
        "recall": round(hit / total, 4) if total else None,
        "recall_interval": wilson(hit, total),
        "missed_but_held": counts["held"],
        "false_share_of_clean": round(false / counts["clean"], 4) if counts["clean"] else None,
        "by_kind": {
            kind: {"right": right, "of": of, "interval": wilson(right, of)}
            for kind, (right, of) in sorted(kinds.items())
        },
        "wrong": missed,
    }


def measure_ordinary(paths: list[Path]) -> dict[str, Any]:
    """Return how many ordinary memories are rejected and held, as an agent's drafts."""
    outcomes: dict[str, int] = defaultdict(int)
    wrong = []
    for path in paths:
        for row in read_rows(path):
            decision = judge_text(row["text"], field="body", origin=Origin.AGENT)
            outcomes[decision.outcome.value] += 1
            if decision.outcome.value != "admit":
                wrong.append({"id": row["id"], "verdict": decision.outcome.value})
    total = sum(outcomes.values())
    return {
        "of": total,
        "rejected": round(outcomes["reject"] / total, 4),
        "rejected_interval": wilson(outcomes["reject"], total),
        "held": round(outcomes["hold"] / total, 4),
        "held_interval": wilson(outcomes["hold"], total),
        "wrong": wrong,
    }


def measure_code_points(path: Path) -> dict[str, int]:
    """Return how many code points of the table are found or passed as it says."""
    from memfs.model.codepoints import find_hidden

    right = wrong = 0
    for row in json.loads(path.read_text(encoding="utf-8"))["ranges"]:
        allowed = row["action"] == "normalise-for-matching"
        for codepoint in range(int(row["lo"][2:], 16), int(row["hi"][2:], 16) + 1):
            found = bool(find_hidden(f"a{chr(codepoint)}b"))
            right, wrong = (right + 1, wrong) if found is not allowed else (right, wrong + 1)
    return {"right": right, "misjudged": wrong}


def measure_frames(path: Path) -> dict[str, int]:
    """Return how many break-out strings leave the frame, in any field and any view."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from render.frames import break_outs  # type: ignore[import-not-found]

    rows = list(read_rows(path))
    return {"strings": len(rows), "break_outs": sum(bool(break_outs(row["text"])) for row in rows)}


def measure_cost(paths: list[Path], *, size: int = 10_000) -> dict[str, Any]:
    """Return what the gate costs on ``size`` memories made of the sets' ordinary lines, and in a new process."""
    lines = [row["text"] for path in paths for row in read_rows(path) if row["label"] in ("benign", "clean", "durable")]
    drafts = []
    for number in range(size):
        picked = [lines[(number * 7 + place * 13) % len(lines)] for place in range(4)]
        drafts.append(
            Draft(
                body="\n\n".join((picked[0], "Why: " + " ".join(picked[1:]))),
                fields={
                    "kind": "decision",
                    "origin": "agent",
                    "scope": "team/billing",
                    "evidence": ("docs/adr/0014-additive-migrations.md@bf3c8fd",),
                    "recorded": "2027-02-11",
                    "review_trigger": "when docs/support.md changes",
                },
                origin=Origin.AGENT,
                file_name=f"memories/team/billing/note-{number}.md",
                commit_message=f"Remember note-{number}",
            )
        )
    judge_draft(drafts[0])
    begin = time.process_time()
    for draft in drafts:
        judge_draft(draft)
    whole = time.process_time() - begin
    files = [
        MemoryFile(
            id=f"note-{number}",
            path=draft.file_name,
            raw=b"",
            digest="0" * 64,
            document=Document(front=draft.fields, body=draft.body, has_front=True),
            memory=None,
        )
        for number, draft in enumerate(drafts[:1000])
    ]
    begin = time.process_time()
    for file in files:
        judge_reading(file)
    reading = time.process_time() - begin
    size_of = statistics.mean(len(draft.body) for draft in drafts)
    return {
        "memories": size,
        "mean_characters": round(size_of),
        "whole_gate_seconds_cpu": round(whole, 2),
        "whole_gate_ms_each": round(1000 * whole / size, 3),
        "reading_ms_each": round(reading, 3),
        "first_in_a_new_process_ms_cpu": _cold(),
    }


def _cold() -> dict[str, float]:
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); a = time.process_time();"
        "from memfs.admission.gate import Draft, judge_draft; b = time.process_time();"
        "judge_draft(Draft(body=sys.argv[2], fields={'scope': 'team'})); c = time.process_time();"
        "print((b - a) * 1000, (c - b) * 1000)"
    )
    text = "The billing team's migrations are additive, because older workers stay active during a rollout."
    root = str(Path(__file__).resolve().parent.parent)
    runs = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, root, text], capture_output=True, text=True, check=True
        )
        runs.append([float(part) for part in done.stdout.split()])
    return {
        "import": round(statistics.median(run[0] for run in runs), 1),
        "first_draft": round(statistics.median(run[1] for run in runs), 1),
    }


def measure(data: Path) -> dict[str, Any]:
    """Return every figure for the sets in ``data``."""
    ordinary = [data / "benign.jsonl"]
    return {
        "secrets": measure_family(data / "secrets.jsonl", Family.SECRETS, "secret", "kind"),
        "personal": measure_family(data / "pii.jsonl", Family.PERSONAL, "pii", "kind"),
        "injection": measure_family(data / "injection.jsonl", Family.AUTHORITY, "attack", "family"),
        "ordinary": measure_ordinary(ordinary),
        "durable_and_transient": measure_ordinary([data / "transient.jsonl"]),
        "code_points": measure_code_points(data / "codepoints.json"),
        "frames": measure_frames(data / "frames.jsonl"),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the labelled sets")
    parser.add_argument("--misses", action="store_true", help="keep the ids of the rows that were judged wrong")
    parser.add_argument("--no-cost", action="store_true", help="leave the timings out")
    parser.add_argument("--size", type=int, default=10_000, help="memories that are timed")
    args = parser.parse_args()
    if not args.data.is_dir():
        print(f"no labelled sets at {args.data}; name their folder with --data", file=sys.stderr)
        return 3
    figures = measure(args.data)
    if not args.misses:
        for part in figures.values():
            part.pop("wrong", None)
    if not args.no_cost:
        figures["cost"] = measure_cost(
            [args.data / "benign.jsonl", args.data / "injection.jsonl", args.data / "transient.jsonl"], size=args.size
        )
    print(json.dumps({"schema": "memfs/benchmark-admission/1", "run": secrets.token_hex(4), **figures}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
