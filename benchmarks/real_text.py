"""Alarms of the admission gate on ordinary Markdown, by rule and with the line.

Every Markdown file below FOLDER is judged as text of the owner, of an agent and as imported text. Nobody wrote these
files for the gate, so nearly every alarm is a false one until somebody has read the line and says otherwise.

  python benchmarks/real_text.py FOLDER                       counts by outcome, rule and kind (first folder level)
  python benchmarks/real_text.py FOLDER --lines               each alarm with its line
  python benchmarks/real_text.py FOLDER --labels labels.tsv   precision by rule (RULE<TAB>FILE<TAB>right or wrong)
  python benchmarks/real_text.py --allowed REPOSITORY         false alarms that people reported with --allow

Prints JSON. Nothing is written and nothing leaves the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memfs.admission.gate import Decision, Outcome, judge_fields, judge_text
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MAX_MEMORY_BYTES, Origin
from memfs.model.reader import FIELDS, read_memory

ENDINGS = (".md", ".mdc", ".markdown")
ORIGINS = (Origin.OWNER, Origin.AGENT, Origin.IMPORTED)
_LONGEST_LINE = 220


def markdown_files(folder: Path) -> list[Path]:
    """Return the Markdown files below ``folder`` that are small enough for a memory, in order."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in ENDINGS and path.is_file() and path.stat().st_size <= MAX_MEMORY_BYTES
    )


def judge_bytes(raw: bytes, origin: Origin) -> Decision:
    """Return what the gate says about the text of a file, whatever its form lacks."""
    document = read_memory("memories/personal/text.md", raw).document
    if document is not None and document.has_front and sum(key in FIELDS for key in document.front) >= 3:
        return judge_fields(document.front, document.body, origin=origin)
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").replace("\r\n", "\n")
    return judge_text(text, field="body", origin=origin)


def judge_path(path: Path) -> list[tuple[str, str, str, str, int, str]]:
    """Return (origin, outcome, rule, severity, line number, line) of each alarm in one file."""
    raw = path.read_bytes()
    lines = raw.decode("utf-8", "replace").splitlines()
    rows = []
    for origin in ORIGINS:
        decision = judge_bytes(raw, origin)
        for finding in decision.findings:
            number = finding.line or 0
            line = lines[number - 1] if 0 < number <= len(lines) else ""
            start = max(0, (finding.column or 1) - 60)
            shown = escape_hidden(line[start : start + _LONGEST_LINE], single_line=True)
            rows.append((origin.value, decision.outcome.value, finding.rule, finding.severity.value, number, shown))
        if not decision.findings:
            rows.append((origin.value, decision.outcome.value, "", "", 0, ""))
    return rows


def judge_folder(folder: Path) -> Iterator[tuple[str, list[tuple[str, str, str, str, int, str]]]]:
    """Yield each file's name below ``folder`` and its alarms."""
    files = markdown_files(folder)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for path, rows in zip(files, pool.map(judge_path, files, chunksize=16), strict=True):
            yield path.relative_to(folder).as_posix(), rows


def read_labels(path: Path) -> dict[tuple[str, str], bool]:
    """Return whether an alarm (rule, file) is right, as somebody wrote it down after reading the line."""
    labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            rule, name, label = line.split("\t")[:3]
            labels[rule, name] = label == "right"
    return labels


def measure(folder: Path, labels: dict[tuple[str, str], bool], *, lines: bool) -> dict[str, Any]:
    """Return the counts of files and alarms below ``folder``."""
    outcomes: dict[str, Counter[str]] = {origin.value: Counter() for origin in ORIGINS}
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    by_rule: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    wrongly: dict[str, Counter[str]] = {origin.value: Counter() for origin in ORIGINS}
    shown: list[dict[str, Any]] = []
    files = 0
    for name, rows in judge_folder(folder):
        files += 1
        kind = name.split("/", 1)[0]
        kinds[kind]["files"] += 1
        seen: set[tuple[str, int]] = set()
        for origin in ORIGINS:
            mine = [row for row in rows if row[0] == origin.value]
            outcome = mine[0][1]
            outcomes[origin.value][outcome] += 1
            kinds[kind][f"{origin.value} {outcome}"] += 1
            deciding = {row[2] for row in mine if row[3] == outcome}
            if outcome != Outcome.ADMIT and all(labels.get((rule, name)) is False for rule in deciding):
                wrongly[origin.value][outcome] += 1
            for _, _, rule, severity, number, line in mine:
                if not rule:
                    continue
                by_rule[rule][f"{origin.value} {severity}"].add(name)
                if lines and severity != "warn" and (rule, number) not in seen:
                    seen.add((rule, number))
                    shown.append({"rule": rule, "origin": origin.value, "file": name, "line": number, "text": line})
    rules = {}
    for rule, counts in sorted(by_rule.items()):
        rules[rule] = {key: len(names) for key, names in sorted(counts.items())}
        known = [labels[rule, name] for name in set().union(*counts.values()) if (rule, name) in labels]
        if known:
            rules[rule] |= {"labelled": len(known), "right": sum(known)}
    result: dict[str, Any] = {
        "files": files,
        "outcomes": {origin: dict(counts) for origin, counts in outcomes.items()},
        "kinds": {kind: dict(sorted(counts.items())) for kind, counts in sorted(kinds.items())},
        "rules": rules,
    }
    if labels:
        result["plainly_false"] = {origin: dict(counts) for origin, counts in wrongly.items()}
    if lines:
        result["alarms"] = sorted(shown, key=lambda row: (row["rule"], row["file"], row["line"]))
    return result


def count_allowed(repository: Path) -> dict[str, Any]:
    """Return how often each rule was let pass in ``repository``, with the reasons (`memfs admission allowed`)."""
    start = "import sys; sys.path.insert(0, sys.argv.pop(1)); from memfs.cli import main; sys.exit(main(sys.argv[1:]))"
    checkout = str(Path(__file__).resolve().parent.parent)
    command = [sys.executable, "-I", "-c", start, checkout, "admission", "allowed", "--json"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    reasons: dict[str, list[str]] = defaultdict(list)
    for row in json.loads(done.stdout)["allowed"]:
        reasons[row["rule"]].append(row["reason"])
    return {"schema": "memfs/benchmark-allowed/1", "rules": dict(sorted(reasons.items()))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder", type=Path, nargs="?", help="folder with Markdown files; its first level names the kinds"
    )
    parser.add_argument("--allowed", type=Path, help="a repository: count the rules that people let pass there")
    parser.add_argument("--lines", action="store_true", help="print each alarm with its line")
    parser.add_argument("--labels", type=Path, help="file of RULE<TAB>FILE<TAB>right or wrong")
    args = parser.parse_args()
    if args.allowed is not None:
        print(json.dumps(count_allowed(args.allowed), indent=2))
        return 0
    if args.folder is None or not args.folder.is_dir():
        print(f"{args.folder} is not a folder", file=sys.stderr)
        return 2
    labels = read_labels(args.labels) if args.labels else {}
    figures = measure(args.folder, labels, lines=args.lines)
    print(json.dumps({"schema": "memfs/benchmark-real-text/1", **figures}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
