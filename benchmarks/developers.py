"""How good recall is for developers' prompts: what a prompt hook would show, held against labels.

    python benchmarks/developers.py                  # the half that settings were tuned on
    python benchmarks/developers.py --half aside     # the half that was kept aside
    python benchmarks/developers.py --misses         # and what went wrong
    python benchmarks/developers.py --shared pgvector   # the same memories from a shared index on PostgreSQL too

``developers/memories.txt`` and ``developers/prompts.txt`` are made up and labelled by hand, before tuning.
A shown memory fits when a label names it. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests")]

from memfs.disk.places import Places  # noqa: E402
from memfs.disk.settings import SharedStore  # noqa: E402
from memfs.disk.worktree import WorkTree, find_work_tree  # noqa: E402
from memfs.index import models  # noqa: E402
from memfs.recall.search import Query, recall  # noqa: E402
from memfs.standing.background import refresh_index  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "developers"
TODAY = date(2026, 12, 1)
SHOWN = 5


class Prompt(NamedTuple):
    """A prompt and its labels. Without ``expected`` nothing may be shown."""

    kind: str
    expected: tuple[str, ...]
    fits: tuple[str, ...]
    text: str


def rows(name: str) -> list[list[str]]:
    """Return the fields of each line that is not a comment."""
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [[part.strip() for part in line.split("|", 3)] for line in lines if line and not line.startswith("#")]


def read_prompts(half: str) -> list[Prompt]:
    """Return the prompts of one half: ``tuned``, ``aside`` or ``all``."""
    found = []
    for number, (kind, expected, fits, text) in enumerate(rows("prompts.txt"), 1):
        if half == "all" or (half == "aside") == (number % 2 == 0):
            found.append(Prompt(kind, names(expected), (*names(expected), *names(fits)), text))
    return found


def names(field: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in field.split(",") if name.strip())


def write_repository(root: Path) -> WorkTree:
    """Write the memories and return their work tree."""
    folder = root / "memories" / "team"
    folder.mkdir(parents=True)
    for memory_id, recorded, supersedes, text in rows("memories.txt"):
        replaced = f"supersedes: [{supersedes}]\n" if supersedes else ""
        (folder / f"{memory_id}.md").write_text(
            f"---\nkind: decision\norigin: owner\nscope: team\nevidence:\n  - said by anna on {recorded}\n"
            f"recorded: {recorded}\nreview_trigger: on 2040-01-01\n{replaced}---\n{text}\n",
            encoding="utf-8",
        )
    return find_work_tree(root)


@contextmanager
def shared_index(root: Path, places: Places, kind: str) -> Iterator[SharedStore]:
    """Publish the memories of ``root`` to a server of its own, with vectors, and give it as a reader's store."""
    from people import Person, found_team
    from postgres_server import running_server
    from support import git, make_key

    from memfs import postgres

    git(root, "init", "-q")
    team = found_team(root, places, [Person("anna", make_key(root.parent, "anna"))], approve_memory=False)
    team.path("a").unlink()
    (root / ".memfs" / "config.yaml").write_text("version: 1\nname: Developers\nshare: [team]\n")
    team.commit("share")
    with running_server(kind) as server:
        owner, reader = (server.url(user, "postgres") for user in ("owner", "reader"))
        with postgres.connect(postgres.parse_address(owner), places) as connection:
            postgres.migrate(connection)
            connection.execute("CREATE ROLE reader LOGIN; GRANT memfs_reader TO reader")
            connection.commit()
            meaning = postgres.open_meaning(places)
            head = team.git("rev-parse", "HEAD").strip()
            publication = postgres.read_publication(team.tree, places, head, today=TODAY, model=meaning.model)
            postgres.publish(connection, publication, meaning, is_ancestor=lambda _older, _newer: False)
        yield SharedStore(name="shared", url=reader, milliseconds=5_000)


def ask_all(
    tree: WorkTree | None, places: Places, prompts: list[Prompt], mode: str, shared: Sequence[SharedStore] = ()
) -> list[tuple[Prompt, list[str]]]:
    """Return each prompt with the ids that a prompt hook would show for it."""
    asked = []
    for prompt in prompts:
        query = Query(text=prompt.text, limit=SHOWN, mode=mode, prompt=True, record=False)
        stores = [("", tree)] if tree is not None else []
        hits = recall(stores, places, query, today=TODAY, shared=shared).hits
        asked.append((prompt, [hit.assessment.file.id for hit in hits]))
    return asked


def figures(asked: list[tuple[Prompt, list[str]]]) -> dict[str, object]:
    """Return the figures of one run."""
    answerable = [(prompt, shown) for prompt, shown in asked if prompt.expected]
    silent = [(prompt, shown) for prompt, shown in asked if not prompt.expected]
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for prompt, shown in answerable:
        by_kind[prompt.kind].append(bool(set(prompt.expected) & set(shown)))
    shown_at_all = sum(len(shown) for _, shown in asked)
    fitting = sum(name in prompt.fits for prompt, shown in asked for name in shown)
    count = len(answerable)
    return {
        "prompts": len(asked),
        "hit@1": round(sum(bool(set(prompt.expected) & set(shown[:1])) for prompt, shown in answerable) / count, 3),
        "hit@5": round(sum(bool(set(prompt.expected) & set(shown)) for prompt, shown in answerable) / count, 3),
        "shown": shown_at_all,
        "shown that fit": round(fitting / (shown_at_all or 1), 3),
        "silent prompts": len(silent),
        "silent prompts answered": sum(bool(shown) for _, shown in silent),
        "hit@5 by kind": {kind: f"{sum(found)} of {len(found)}" for kind, found in by_kind.items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["tuned", "aside", "all"], default="tuned")
    parser.add_argument("--misses", action="store_true", help="print the prompts that were answered wrongly")
    parser.add_argument("--model", default="", help="the id of another model that is installed here")
    parser.add_argument("--shared", choices=["debian", "pgvector"], help="ask a shared index of this kind too")
    args = parser.parse_args()
    prompts = read_prompts(args.half)
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        places = Places(home=base)
        if args.model:
            models.choose(places, args.model)
        tree = write_repository(base / "repo")
        refresh_index(tree, places)
        report: dict[str, object] = {
            "benchmark": "developers",
            "half": args.half,
            "memories": len(rows("memories.txt")),
        }
        for title, mode in (("words", "lexical"), ("words and meaning", "auto")):
            asked = ask_all(tree, places, prompts, mode)
            report[title] = figures(asked)
            if args.misses:
                for prompt, shown in asked:
                    if not set(prompt.expected) & set(shown[:1]) and (prompt.expected or shown):
                        print(f"{title}: {prompt.kind}: {prompt.text!a}: {shown}", file=sys.stderr)
        if args.shared:
            with shared_index(base / "repo", places, args.shared) as store:
                for title, mode in (("words", "lexical"), ("words and meaning", "auto")):
                    asked = ask_all(None, places, prompts, mode, [store])
                    report[f"{title}, shared index"] = figures(asked)
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
