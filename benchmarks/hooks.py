"""What a hook costs: cold processes at each moment, against `memfs recall` and a bare interpreter.

    python benchmarks/hooks.py --size 10000 --repeat 11
    python benchmarks/hooks.py --size 10000 --vectors       # hybrid too; embeds first, which takes minutes

Makes its own corpus, with some of it approved, in a temporary folder and prints one JSON document.
Times are medians of runs taken in turn; compare the ratios. Processor time counts the hook's child too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from corpus import write_corpus  # noqa: E402

LAUNCH = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "import pwd; who = pwd.struct_passwd(('x', 'x', 0, 0, '', sys.argv[2], '')); pwd.getpwuid = lambda _: who\n"
    "from memfs.cli import main; sys.exit(main(sys.argv[3:]))"
)
QUESTION = "why the invoice export retries bakemo sivo lagefi?"
APPROVED = 240
TARGETS = {"prompt": 1.1, "session_start": 10, "tool": 9, "no_memories": 2}


def approve_some(root: Path, home: Path) -> None:
    """Make a keyring with a key of its own, pin it, and approve the first memories."""
    from memfs.disk.places import Places
    from memfs.disk.worktree import find_work_tree
    from memfs.trust import changing, pinning
    from memfs.trust.approve import approve
    from memfs.trust.keyring import format_file
    from memfs.trust.plan import plan_approval
    from memfs.trust.signing import load_key

    key = home / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signer = load_key(key, environ=dict(os.environ))
    signed = changing.new_keyring(signer, "alice@example.com")
    (root / ".memfs").mkdir(exist_ok=True)
    (root / ".memfs" / "keyring.1").write_bytes(format_file(signed.body, signed.signatures))
    who = ["-c", "user.name=Alice", "-c", "user.email=alice@example.com"]
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(root), *who, "commit", "-qm", "memories"], check=True)
    for name, value in (("user.name", "Alice"), ("user.email", "alice@example.com")):
        subprocess.run(["git", "-C", str(root), "config", name, value], check=True)
    tree, places = find_work_tree(root), Places(home=home)
    pinning.pin_repository(places, tree)
    ids = sorted(path.stem for path in (root / "memories").rglob("*.md"))[:APPROVED]
    plan = plan_approval(tree, places, ids, sees=lambda _path: True, today=date.today())
    approve(plan, signer, now=datetime.now(UTC))


def build_index(root: Path, home: Path, *, vectors: bool) -> None:
    """Bring the index up to date, with vectors where they are wanted."""
    from memfs.disk.places import Places
    from memfs.disk.worktree import find_work_tree
    from memfs.index import refresh, semantic
    from memfs.standing.background import refresh_index

    if not vectors:
        refresh.embed_missing = lambda *_a, **_k: semantic.Done()
        # As after a first recall on a machine without the model: nothing is prepared in the background.
        mark = home / ".cache" / "memfs" / "models" / ".started"
        mark.parent.mkdir(parents=True)
        mark.touch()
    refresh_index(find_work_tree(root), Places(home=home), anew=True)


def run_once(argv: list[str], stdin: Path, cwd: Path, env: dict[str, str]) -> tuple[float, float, bytes]:
    """Return wall and processor milliseconds of one process, and what it printed."""
    began = time.perf_counter()
    with open(stdin, "rb") as source:
        child = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    assert child.stdout is not None
    said = child.stdout.read()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = (time.perf_counter() - began) * 1000
    return wall, (usage.ru_utime + usage.ru_stime) * 1000, said


def make_calls(folder: Path, root: Path) -> dict[str, Path]:
    """Write one call of each moment and return their files."""
    # Without a session nothing is remembered of it: each call says what a first one does.
    base = {"cwd": str(root), "prompt_id": "p"}
    edit = {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/services/bakemo/invoice.py"}}
    shell = {"tool_name": "Bash", "tool_input": {"command": "make invoice-export RETRIES=3 bakemo"}}
    calls = {
        "prompt": fields_of_prompt(),
        "small_talk": {"hook_event_name": "UserPromptSubmit", "prompt": "yes, do it"},
        "session_start": {"hook_event_name": "SessionStart", "source": "startup"},
        "tool_path": {"hook_event_name": "PreToolUse", **edit},
        "tool_command": {"hook_event_name": "PreToolUse", **shell},
        "turn_end": {"hook_event_name": "Stop"},
    }
    files = {}
    for name, fields in calls.items():
        files[name] = folder / f"{name}.json"
        files[name].write_text(json.dumps({**base, **fields}))
    elsewhere = folder / "code"
    (elsewhere / ".git").mkdir(parents=True)
    files["no_memories"] = folder / "no_memories.json"
    files["no_memories"].write_text(json.dumps({**base, **fields_of_prompt(), "cwd": str(elsewhere)}))
    return files


def fields_of_prompt() -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="memories (default: 10000)")
    parser.add_argument("--repeat", type=int, default=11, help="cold runs of each command (default: 11)")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--vectors", action="store_true", help="embed the corpus and measure hybrid recall")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary).resolve()
        root, home = base / "repo", base / "home"
        home.mkdir()
        write_corpus(root, args.size, seed=args.seed)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        approve_some(root, home)
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
        memfs = [sys.executable, "-I", "-c", LAUNCH, str(ROOT), str(home)]
        build_index(root, home, vectors=args.vectors)
        hook = [*memfs, "hook", "claude-code"]
        calls = make_calls(base, root)
        nothing = base / "empty"
        nothing.write_bytes(b"")
        commands = {
            "bare": ([sys.executable, "-I", "-c", "pass"], nothing),
            "recall": ([*memfs, "recall", QUESTION], nothing),
            **{name: (hook, file) for name, file in calls.items()},
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        said: dict[str, bytes] = {}
        for name, (argv, stdin) in commands.items():
            run_once(argv, stdin, root, env)
            said[name] = run_once(argv, stdin, root, env)[2]
        for _ in range(args.repeat):
            for name, (argv, stdin) in commands.items():
                wall, cpu, _ = run_once(argv, stdin, root, env)
                times[name].append((wall, cpu))
    table = {
        name: {
            "wall_ms": round(statistics.median(wall for wall, _ in taken), 1),
            "cpu_ms": round(statistics.median(cpu for _, cpu in taken), 1),
            "said_bytes": len(said[name]),
        }
        for name, taken in times.items()
    }
    ratios = {
        "prompt": table["prompt"]["cpu_ms"] / table["recall"]["cpu_ms"],
        "session_start": table["session_start"]["cpu_ms"] / table["bare"]["cpu_ms"],
        "tool": max(table[name]["cpu_ms"] for name in ("tool_path", "tool_command")) / table["bare"]["cpu_ms"],
        "no_memories": table["no_memories"]["cpu_ms"] / table["bare"]["cpu_ms"],
    }
    report = {
        "size": args.size,
        "mode": "hybrid" if args.vectors else "lexical",
        "python": platform.python_version(),
        "times": table,
        "ratios": {name: round(value, 2) for name, value in ratios.items()},
        "targets": TARGETS,
        "met": {name: ratios[name] <= target for name, target in TARGETS.items()},
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
