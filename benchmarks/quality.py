"""How good recall is: LoCoMo and XQuAD through the real index and the real recall, and what the floor does.

    python benchmarks/quality.py --locomo locomo.json --xquad xquad.en.json xquad.de.json --cosqa FOLDER
    python benchmarks/quality.py --locomo locomo.json --peer /path/to/venv/bin/python   # skillmem, bm25s, FTS5
    python benchmarks/quality.py --locomo locomo.json --ablation   # what each part of the score is worth

The data is not part of memfs: LoCoMo (snap-research/locomo, CC BY-NC 4.0), XQuAD (google-deepmind/xquad,
CC BY-SA 4.0), CoSQA (Jun-jie-Huang/CoCLR, ``data/search``). LoCoMo: one memory a turn, one repository a
conversation, gold = the question's evidence turns, questions without evidence left out. XQuAD: one memory a
paragraph, asked by words. CoSQA: one memory a function. Peers get the same texts and questions. Every figure
but those "above the floor" is without the floor. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from recall import PEER  # noqa: E402

from memfs.disk.places import Places  # noqa: E402
from memfs.disk.worktree import WorkTree, find_work_tree  # noqa: E402
from memfs.index import refresh, semantic  # noqa: E402
from memfs.recall import meaning  # noqa: E402
from memfs.recall.ranking import Shares  # noqa: E402
from memfs.recall.search import Query, recall  # noqa: E402
from memfs.standing.background import refresh_index  # noqa: E402

TODAY = date(2027, 1, 1)
SMALL_TALK = (
    "yes, do it", "git status", "ok thanks", "continue", "looks good to me", "try again", "no, not like that",
    "go ahead", "ls -la", "can you explain?", "lgtm, ship it", "thank you very much", "what's next?", "hello",
    "wait a moment", "are you sure?", "undo that", "sounds good, let's go", "run it again", "please be more careful",
)  # fmt: skip
Questions = list[tuple[str, set[str]]]
Sets = list[tuple[dict[str, str], Questions]]
ABLATION = {
    "words and cosine": Shares(0.0, 0.55, 0.45),
    "late interaction alone": Shares(1.0, 0.0, 0.0),
    "late interaction, words, cosine; every word counts the same": None,
}


@contextmanager
def ranked_by(shares: Shares | None) -> Iterator[None]:
    """Rank by other shares for a while; with None every token of a question counts the same."""
    kept = meaning.ENGLISH, meaning.weigh_tokens
    if shares is not None:
        meaning.ENGLISH = shares
    else:
        meaning.weigh_tokens = lambda *given: [(bits, 1.0) for bits, _ in kept[1](*given)]
    try:
        yield
    finally:
        meaning.ENGLISH, meaning.weigh_tokens = kept


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


def read_locomo(path: Path) -> Sets:
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


def read_xquad(path: Path) -> Sets:
    """Return the paragraphs and the questions on each."""
    texts: dict[str, str] = {}
    questions: Questions = []
    for article in json.loads(path.read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            memory_id = f"p{len(texts)}"
            texts[memory_id] = paragraph["context"]
            questions += [(item["question"], {memory_id}) for item in paragraph["qas"]]
    return [(texts, questions)]


def read_cosqa(folder: Path) -> Sets:
    """Return the functions, and the thousand questions of both published halves."""
    functions = json.loads((folder / "code_idx_map.txt").read_text("utf-8"))
    texts = {f"f{number}": code for code, number in functions.items()}
    questions: Questions = []
    for half in ("dev", "test"):
        for row in json.loads((folder / f"cosqa-retrieval-{half}-500.json").read_text("utf-8")):
            questions.append((row["doc"], {f"f{row['retrieval_idx']}"}))
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

    def __init__(self, base: Path, sets: Sets) -> None:
        self.places = Places(home=base / "home")
        (base / "home").mkdir()
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


BM25S = """
import json, sys
import bm25s, Stemmer
task = json.load(sys.stdin)
names = list(task["items"])
stemmer = Stemmer.Stemmer(task["stemmer"])
cut = lambda texts: bm25s.tokenize(texts, stopwords=task["stops"], stemmer=stemmer, show_progress=False)
engine = bm25s.BM25()
engine.index(cut([task["items"][name] for name in names]), show_progress=False)
for question in task["questions"]:
    found, _ = engine.retrieve(cut([question]), k=min(10, len(names)), show_progress=False)
    print(json.dumps([names[place] for place in found[0]]))
"""


def rate(answers: Iterable[list[str]], sets: Sets) -> dict[str, float]:
    """Return the figures of answers (ids, best first) to all questions of ``sets`` in order."""
    golds = [gold for _, questions in sets for _, gold in questions]
    ranks = [[name in gold for name in answer[:10]] for answer, gold in zip(answers, golds, strict=True)]
    return score(ranks, [len(gold) for gold in golds])


def ask_process(python: str, code: str, base: Path, sets: Sets, **more: str) -> dict[str, float]:
    """Ask a peer that lives in another interpreter."""
    answers: list[list[str]] = []
    for number, (texts, questions) in enumerate(sets):
        task = json.dumps({"items": texts, "questions": [question for question, _ in questions], **more})
        environment = {**os.environ, "MEM_SEMANTIC": "0", "HOME": str(base)}
        argv = [python, "-c", code, str(base / f"peer-{number}.db")]
        done = subprocess.run(argv, input=task.encode(), env=environment, check=True, stdout=subprocess.PIPE)
        answers += [json.loads(line) for line in done.stdout.splitlines()]
    return rate(answers, sets)


def ask_fts5(sets: Sets, tokenizer: str) -> dict[str, float]:
    """Ask SQLite's full text search: any of the question's words, ranked by its BM25."""
    answers = []
    for texts, questions in sets:
        base = sqlite3.connect(":memory:")
        base.execute(f"CREATE VIRTUAL TABLE memory USING fts5(name UNINDEXED, body, tokenize = '{tokenizer}')")
        base.executemany("INSERT INTO memory VALUES (?, ?)", texts.items())
        for question, _ in questions:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
            query = "SELECT name FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT 10"
            answers.append([row[0] for row in base.execute(query, (words,))] if words else [])
    return rate(answers, sets)


def ask_peers(python: str, base: Path, sets: Sets, language: str) -> dict[str, dict[str, float]]:
    """Return the figures of every peer for the same texts and questions."""
    stemmer = {"de": "german", "es": "spanish", "ru": "russian"}.get(language, "english")
    stops = language if language in ("de", "es", "ru", "zh") else "en"
    return {
        "skillmem, BM25": ask_process(python, PEER, base, sets),
        "bm25s": ask_process(python, BM25S, base, sets, stemmer=stemmer, stops=stops),
        "FTS5 unicode61": ask_fts5(sets, "unicode61"),
        "FTS5 porter": ask_fts5(sets, "porter unicode61"),
    }


def small_talk(base: Path, sets: Sets, mode: str) -> dict[str, object]:
    """Return which of twenty small-talk prompts find anything among 1,000 memories."""
    texts = [(f"s{number}-{key}", text) for number, (part, _) in enumerate(sets) for key, text in part.items()]
    tree = write_memories(base / "talk", dict(texts[:1000]))
    places = Places(home=base / "home")
    (base / "home").mkdir()
    refresh_index(tree, places)
    found = []
    for prompt in SMALL_TALK:
        query = Query(text=prompt, mode=mode, record=False)
        if recall([("", tree)], places, query, today=TODAY).hits:
            found.append(prompt)
    return {"memories": min(1000, len(texts)), "prompts": len(SMALL_TALK), "that_found_something": found}


def measure(base: Path, name: str, sets: Sets, modes: Sequence[str], args: argparse.Namespace) -> dict[str, object]:
    """Return all figures of one data set."""
    is_words = name.startswith("xquad.") and not args.meaning_in_every_language
    if is_words:
        modes = [mode for mode in modes if mode == "lexical"]
    with words_only(only=modes == ["lexical"]):
        collection = Collection(base, sets)
    figures: dict[str, object] = {}
    for mode in modes:
        title = "hybrid" if mode == "auto" else mode
        figures[title] = collection.ask(mode, floor=False)
        figures[f"{title} above the floor"] = collection.ask(mode, floor=True)
        if name == "LoCoMo":
            with words_only(only=mode == "lexical"):
                figures[f"small talk, {title}"] = small_talk(base / f"talk-{title}", sets, mode)
    if args.ablation and "auto" in modes:
        for title, shares in ABLATION.items():
            with ranked_by(shares):
                figures[f"hybrid by {title}"] = collection.ask("auto", floor=False)
    if args.peer:
        language = name.split(".")[1] if name.startswith("xquad.") else "en"
        figures.update(ask_peers(args.peer, base, sets, language))
    return figures


@contextmanager
def words_only(*, only: bool) -> Iterator[None]:
    """Embed nothing for a while."""
    kept = refresh.embed_missing
    if only:
        refresh.embed_missing = lambda *_a, **_k: semantic.Done()
    try:
        yield
    finally:
        refresh.embed_missing = kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="conversations, as published")
    parser.add_argument("--xquad", type=Path, nargs="*", default=[], help="xquad.LANGUAGE.json")
    parser.add_argument("--mode", choices=["lexical", "hybrid", "both"], default="both")
    parser.add_argument("--cosqa", type=Path, metavar="FOLDER", help="code_idx_map.txt and cosqa-retrieval-*.json")
    parser.add_argument("--peer", metavar="PYTHON", help="a python with skillmem and bm25s, asked the same questions")
    parser.add_argument("--ablation", action="store_true", help="rank by parts of the score too")
    parser.add_argument("--meaning-in-every-language", action="store_true", help="ask XQuAD by meaning too")
    args = parser.parse_args()
    modes = ["lexical", "auto"] if args.mode == "both" else [{"hybrid": "auto"}.get(args.mode, args.mode)]
    report: dict[str, object] = {"benchmark": "quality", "model": "all-minilm-l6-v2 (in mode hybrid)", "sets": {}}
    named: list[tuple[str, Sets]] = []
    if args.locomo:
        named.append(("LoCoMo", read_locomo(args.locomo)))
    named += [(path.name, read_xquad(path)) for path in args.xquad]
    if args.cosqa:
        named.append(("CoSQA", read_cosqa(args.cosqa)))
    for name, sets in named:
        with tempfile.TemporaryDirectory() as temporary:
            report["sets"][name] = measure(Path(temporary), name, sets, modes, args)  # type: ignore[index]
        print(f"{name}: done", file=sys.stderr)
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
