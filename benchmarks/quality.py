"""How good recall is: LoCoMo and XQuAD through the real index and the real recall, and what the floor does.

    python benchmarks/quality.py --locomo locomo-dev.json --xquad xquad.en.json xquad.ru.json
    python benchmarks/quality.py --locomo locomo-dev.json --peer /path/to/venv/bin/python   # with skillmem

The data is not part of memfs: LoCoMo (snap-research/locomo, CC BY-NC 4.0), XQuAD (google-deepmind/xquad,
CC BY-SA 4.0). LoCoMo: one memory a turn, one repository a conversation, gold = the question's evidence
turns, questions without evidence left out. XQuAD: one memory a paragraph. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from recall import PEER  # noqa: E402

from memfs.disk.places import Places  # noqa: E402
from memfs.disk.worktree import WorkTree, find_work_tree  # noqa: E402
from memfs.recall.search import Query, recall  # noqa: E402
from memfs.standing.background import refresh_index  # noqa: E402

TODAY = date(2027, 1, 1)
SMALL_TALK = (
    "yes, do it", "git status", "ok thanks", "continue", "looks good to me", "try again", "no, not like that",
    "go ahead", "ls -la", "can you explain?", "lgtm, ship it", "thank you very much", "what's next?", "hello",
    "wait a moment", "are you sure?", "undo that", "sounds good, let's go", "run it again", "please be more careful",
)  # fmt: skip
Questions = list[tuple[str, set[str]]]


def write_memories(root: Path, texts: dict[str, str]) -> WorkTree:
    """Write one memory for each text and return the tree."""
    folder = root / "memories" / "team"
    folder.mkdir(parents=True)
    front = (
        "---\nkind: observation\norigin: imported\nscope: team\nevidence:\n  - said by the data set on 2026-01-01\n"
        "recorded: 2026-01-01\nreview_trigger: on 2040-01-01\n---\n"
    )
    for memory_id, text in texts.items():
        (folder / f"{memory_id}.md").write_text(f"{front}{text.strip()}\n", encoding="utf-8")
    return find_work_tree(root)


def read_locomo(path: Path) -> list[tuple[dict[str, str], Questions]]:
    """Return for each conversation its turns by id, and its questions with the ids that answer them."""
    sets = []
    for sample in json.loads(path.read_text("utf-8")):
        texts: dict[str, str] = {}
        for key, session in sample["conversation"].items():
            if key.startswith("session_") and isinstance(session, list):
                for turn in session:
                    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                    texts[as_id(turn["dia_id"])] = f"{turn['speaker']}: {turn['text']}{caption}"
        questions = []
        for item in sample["qa"]:
            named = " ".join(map(str, item.get("evidence", []))).replace(";", " ").split()
            gold = {as_id(name) for name in named} & set(texts)
            if gold:
                questions.append((item["question"], gold))
        sets.append((texts, questions))
    return sets


def read_xquad(path: Path) -> list[tuple[dict[str, str], Questions]]:
    """Return the paragraphs and the questions on each."""
    texts: dict[str, str] = {}
    questions: Questions = []
    for article in json.loads(path.read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            memory_id = f"p{len(texts)}"
            texts[memory_id] = paragraph["context"]
            questions += [(item["question"], {memory_id}) for item in paragraph["qas"]]
    return [(texts, questions)]


def as_id(name: str) -> str:
    return name.strip().lower().replace(":", "-")


def score(ranks: Iterable[list[bool]], golds: Sequence[int]) -> dict[str, float]:
    """Return the figures for one list of hit flags a question (first ten), and the size of each gold set."""
    count = hits1 = hits5 = 0
    reciprocal = gain = 0.0
    for flags, gold in zip(ranks, golds, strict=True):
        count += 1
        hits1 += any(flags[:1])
        hits5 += any(flags[:5])
        reciprocal += next((1 / place for place, flag in enumerate(flags[:5], 1) if flag), 0.0)
        ideal = sum(1 / math.log2(place + 1) for place in range(1, min(gold, 10) + 1))
        gain += sum(1 / math.log2(place + 1) for place, flag in enumerate(flags[:10], 1) if flag) / ideal
    return {
        "questions": count,
        "hit@1": round(hits1 / count, 4),
        "hit@5": round(hits5 / count, 4),
        "MRR@5": round(reciprocal / count, 4),
        "nDCG@10": round(gain / count, 4),
    }


class Collection:
    """One data set as repositories, indexed once, asked in several ways."""

    def __init__(self, base: Path, sets: list[tuple[dict[str, str], Questions]]) -> None:
        self.places = Places(home=base / "home")
        self.sets = sets
        self.trees = []
        for number, (texts, _) in enumerate(sets):
            tree = write_memories(base / f"set-{number}", texts)
            refresh_index(tree, self.places)
            self.trees.append(tree)

    def ask(self, mode: str, *, floor: bool) -> dict[str, float]:
        ranks, golds = [], []
        for tree, (_, questions) in zip(self.trees, self.sets, strict=True):
            for question, gold in questions:
                query = Query(text=question, limit=10, mode=mode, floor=floor, record=False)
                result = recall([("", tree)], self.places, query, today=TODAY)
                ranks.append([hit.assessment.file.id in gold for hit in result.hits])
                golds.append(len(gold))
        return score(ranks, golds)


def ask_peer(python: str, base: Path, sets: list[tuple[dict[str, str], Questions]]) -> dict[str, float]:
    """Ask skillmem (BM25 alone) the same questions."""
    ranks, golds = [], []
    for number, (texts, questions) in enumerate(sets):
        task = json.dumps({"items": texts, "questions": [question for question, _ in questions]})
        environment = {**os.environ, "MEM_SEMANTIC": "0", "HOME": str(base)}
        argv = [python, "-c", PEER, str(base / f"peer-{number}.db")]
        done = subprocess.run(argv, input=task.encode(), env=environment, check=True, stdout=subprocess.PIPE)
        for line, (_, gold) in zip(done.stdout.splitlines(), questions, strict=True):
            ranks.append([slug in gold for slug in json.loads(line)])
            golds.append(len(gold))
    return score(ranks, golds)


def small_talk(base: Path, sets: list[tuple[dict[str, str], Questions]], mode: str) -> dict[str, object]:
    """Return which of twenty small-talk prompts find anything among 1,000 memories."""
    texts = [(f"s{number}-{key}", text) for number, (part, _) in enumerate(sets) for key, text in part.items()]
    tree = write_memories(base / "talk", dict(texts[:1000]))
    places = Places(home=base / "home")
    refresh_index(tree, places)
    found = []
    for prompt in SMALL_TALK:
        query = Query(text=prompt, mode=mode, record=False)
        if recall([("", tree)], places, query, today=TODAY).hits:
            found.append(prompt)
    return {"memories": min(1000, len(texts)), "prompts": len(SMALL_TALK), "that_found_something": found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="conversations, as published")
    parser.add_argument("--xquad", type=Path, nargs="*", default=[], help="xquad.LANGUAGE.json")
    parser.add_argument("--mode", choices=["lexical", "hybrid", "both"], default="both")
    parser.add_argument("--peer", metavar="PYTHON", help="a python with skillmem, asked the same questions")
    args = parser.parse_args()
    modes = ["lexical", "auto"] if args.mode == "both" else [{"hybrid": "auto"}.get(args.mode, args.mode)]
    report: dict[str, object] = {"benchmark": "quality", "model": "all-minilm-l6-v2 (in mode hybrid)", "sets": {}}
    names: list[tuple[str, list[tuple[dict[str, str], Questions]]]] = []
    if args.locomo:
        names.append((args.locomo.name, read_locomo(args.locomo)))
    names += [(path.name, read_xquad(path)) for path in args.xquad]
    for name, sets in names:
        with tempfile.TemporaryDirectory() as temporary:
            base = Path(temporary)
            collection = Collection(base, sets)
            figures: dict[str, object] = {}
            for mode in modes:
                title = "hybrid" if mode == "auto" else mode
                figures[title] = collection.ask(mode, floor=False)
                figures[f"{title} above the floor"] = collection.ask(mode, floor=True)
                if args.locomo and name == args.locomo.name:
                    figures[f"small talk, {title}"] = small_talk(base / f"talk-{title}", sets, mode)
            if args.peer:
                figures["skillmem, BM25"] = ask_peer(args.peer, base, sets)
            report["sets"][name] = figures  # type: ignore[index]
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
