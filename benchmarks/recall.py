"""How fast recall is: cold processes, index and no-op refresh, against a bare interpreter in the same run.

    python benchmarks/recall.py --size 10000 --repeat 9
    python benchmarks/recall.py --size 10000 --peer /path/to/venv/bin/python   # with skillmem installed

Makes its own corpus from a seed in a temporary folder and prints one JSON document. Times are medians;
compare the ratios of processor time, which hold under load.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from corpus import write_corpus  # noqa: E402

LAUNCH = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from pathlib import Path; from memfs.disk.places import Places; from memfs.cli import main\n"
    "sys.exit(main(sys.argv[3:], places=Places(home=Path(sys.argv[2]))))"
)
TARGETS = {
    "lexical_ratio": 8,
    "hybrid_ratio": 15,
    "silent_ratio": 3,
    "peak_mb": 90,
    "build_peak_mb": 300,
    "no_op_ms": 150,
    "words_per_s": 1000,
    "vectors_per_s": 60,
}

PEER = """
import json, sys, time
from pathlib import Path
from skillmem import storage
place = Path(sys.argv[1])
conn = storage.connect(place)
storage.init_schema(conn)
task = json.load(sys.stdin)
for slug, text in task.get("items", {}).items():
    storage.upsert(conn, storage.MemoryItem(slug=slug, kind="fact", title=text[:80], body=text))
for question in task.get("questions", []):
    print(json.dumps([row["slug"] for row in storage.search(conn, question, limit=10)]))
"""


def run_once(argv: list[str], cwd: Path, env: dict[str, str], stdin: Path | None) -> tuple[float, float, float, int]:
    """Return processor and wall milliseconds, peak megabytes and the exit code of one process."""
    began = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        child = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = (time.perf_counter() - began) * 1000
    return (usage.ru_utime + usage.ru_stime) * 1000, wall, usage.ru_maxrss / 1024, child.returncode


def measure(
    commands: dict[str, list[str]], cwd: Path, env: dict[str, str], repeat: int, inputs: dict[str, Path]
) -> dict[str, dict[str, float]]:
    """Run every command in turn, ``repeat`` times, so that load falls on all of them alike."""
    runs: dict[str, list[tuple[float, float, float, int]]] = {name: [] for name in commands}
    for name, argv in commands.items():
        for _ in range(2):  # warms the file cache
            run_once(argv, cwd, env, inputs.get(name))
    for _ in range(repeat):
        for name, argv in commands.items():
            runs[name].append(run_once(argv, cwd, env, inputs.get(name)))
    return {
        name: {
            "cpu_ms": round(statistics.median(cpu for cpu, _, _, _ in found), 1),
            "wall_ms": round(statistics.median(wall for _, wall, _, _ in found), 1),
            "peak_mb": round(max(peak for _, _, peak, _ in found), 1),
            "exit": found[-1][3],
        }
        for name, found in runs.items()
    }


def measure_index(root: Path, home: Path, *, with_vectors: bool) -> dict[str, float]:
    """Build the index in this process and return its rates and the time of a refresh that finds nothing."""
    from memfs.disk.places import Places
    from memfs.disk.worktree import find_work_tree
    from memfs.index import refresh, semantic
    from memfs.standing.background import open_recall_index, refresh_index

    tree, places = find_work_tree(root), Places(home=home)
    embed, refresh.embed_missing = refresh.embed_missing, lambda *_a, **_k: semantic.Done()
    rates = []
    for _ in range(2):  # the first one judges every text by the read-time gate, whose answers are kept
        began = time.perf_counter()
        report = refresh_index(tree, places, anew=True)
        assert report is not None
        rates.append(round(report.memories / (time.perf_counter() - began), 1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    no_op = []
    for _ in range(5):
        began = time.perf_counter()
        open_recall_index(tree, places)
        no_op.append((time.perf_counter() - began) * 1000)
    refresh.embed_missing = embed
    result = {
        "first_words_per_s": rates[0],
        "words_per_s": rates[1],
        "no_op_ms": round(statistics.median(no_op), 1),
        "build_peak_mb": round(peak, 1),
    }
    if with_vectors:
        began = time.perf_counter()
        report = refresh_index(tree, places)
        if report is not None and report.embedded:
            result["vectors_per_s"] = round(report.embedded / (time.perf_counter() - began), 1)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="memories (default: 10000)")
    parser.add_argument("--repeat", type=int, default=9, help="cold runs of each command (default: 9)")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--no-vectors", action="store_true", help="words only: embedding 10000 texts takes minutes")
    parser.add_argument("--keep", metavar="FOLDER", help="make the corpus here, or use the one that is here")
    parser.add_argument("--peer", metavar="PYTHON", help="a python with skillmem, measured beside memfs")
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.index:
        print(json.dumps(measure_index(args.index / "repo", args.index / "home", with_vectors=not args.no_vectors)))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(args.keep or temporary).resolve()
        root, home = base / "repo", base / "home"
        home.mkdir(parents=True, exist_ok=True)
        if not (root / "memories").is_dir():
            write_corpus(root, args.size, seed=args.seed)
            subprocess.run(["git", "init", "-q", str(root)], check=True)
        # In a process of its own: the peak of a child includes what its parent had when it was forked.
        argv = [sys.executable, __file__, "--index", str(base), *(["--no-vectors"] if args.no_vectors else [])]
        index = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
        question = "why the invoice export retries bakemo sivo lagefi?"
        memfs = [sys.executable, "-I", "-c", LAUNCH, str(ROOT), str(home), "recall", "--all"]
        commands = {
            "bare": [sys.executable, "-I", "-c", "pass"],
            "argparse": [sys.executable, "-I", "-c", "import argparse"],
            "version": [sys.executable, "-I", "-c", LAUNCH, str(ROOT), str(home), "--version"],
            "lexical": [*memfs, "--mode", "lexical", question],
        }
        call = base / "call.json"
        call.write_text(json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(root),
                                    "prompt": "yes, do it"}))  # fmt: skip
        commands["silent"] = [*memfs[: memfs.index("recall")], "hook", "claude-code"]
        commands["lexical_long"] = [*memfs, "--mode", "lexical", question * 8]
        if not args.no_vectors:
            commands["hybrid"] = [*memfs, "--mode", "hybrid", question]
        if args.peer:
            database = base / "peer.db"
            texts = {path.stem: path.read_text("utf-8").split("---\n", 2)[2] for path in root.rglob("memories/**/*.md")}
            task = base / "task.json"
            task.write_text(json.dumps({"questions": [question]}))
            peer_env = {**env, "MEM_SEMANTIC": "0"}
            given = json.dumps({"items": texts}).encode()
            subprocess.run([args.peer, "-c", PEER, str(database)], input=given, env=peer_env, check=True)
            shell = f'"{args.peer}" -c "$PEER" "{database}" < "{task}"'
            env = {**peer_env, "PEER": PEER}
            commands["peer_skillmem_bm25"] = ["sh", "-c", shell]
        runs = measure(commands, root, env, args.repeat, {"silent": call})
        bare = runs["bare"]["cpu_ms"]
        ratios = {f"{name}_ratio": round(run["cpu_ms"] / bare, 2) for name, run in runs.items() if name != "bare"}
        model = "all-minilm-l6-v2, int8 weights, dynamic int8 products" if not args.no_vectors else None
        print(
            json.dumps(
                {
                    "benchmark": "recall",
                    "data": f"made-up memories, seed {args.seed}",
                    "memories": args.size,
                    "model": model,
                    "python": platform.python_version(),
                    "cores": os.cpu_count(),
                    "load": os.getloadavg()[0],
                    "index": index,
                    "cold": runs,
                    "ratios": ratios,
                    "targets": TARGETS,
                },
                indent=2,
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
