"""How long check, review and the pages take at 10,000 memories.

    python benchmarks/review.py [--memories 10000] [--changes 100] [--approved]

Makes a repository with that many memories (a third with evidence at a commit, a third with a trigger on a
path), a branch that changes some, and prints one line a measurement. Everything is thrown away.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree

TODAY = date(2026, 11, 30)
SUBJECTS = ("billing", "search", "ingest", "export", "login", "cache", "queue", "mailer", "gateway", "ledger", "report")
VERBS = ("writes", "reads", "retries", "batches", "validates", "signs", "compresses", "rotates", "replays", "throttles")
THINGS = ("invoices", "events", "sessions", "snapshots", "messages", "rows", "uploads", "jobs", "metrics", "receipts")
HOWS = (
    "before the nightly backup starts",
    "in batches of at most {n} items",
    "with a timeout of {n} seconds",
    "unless the feature flag {w}_v{n} is off",
    "after the schema {w}_{n} has been migrated",
    "through the {w} gateway on shard {n}",
)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def sentence(draw: random.Random) -> str:
    how = draw.choice(HOWS).format(n=draw.randrange(2, 9999), w=draw.choice(SUBJECTS))
    return (
        f"The {draw.choice(SUBJECTS)} {draw.choice(SUBJECTS)} service {draw.choice(VERBS)} {draw.choice(THINGS)} {how}."
    )


def memory(draw: random.Random, scope: str, commit: str, number: int) -> str:
    kind = draw.choice(["decision", "procedure", "observation", "preference"])
    evidence = f"docs/{number % 500}.md@{commit[:12]}" if number % 3 == 0 else f"https://example.com/decisions/{number}"
    trigger = f"when docs/{number % 500}.md changes" if number % 3 == 1 else "on 2027-06-01"
    body = " ".join(sentence(draw) for _ in range(draw.randrange(2, 8)))
    why = " ".join(sentence(draw) for _ in range(draw.randrange(2, 8)))
    return (
        f"---\nkind: {kind}\norigin: owner\nscope: {scope}\nevidence:\n  - {evidence}\nrecorded: 2026-11-01\n"
        f"review_trigger: {trigger}\napplies_to: [{draw.choice(SUBJECTS)}]\n---\n{body}\n\nWhy: {why}\n"
    )


def make(root: Path, memories: int) -> None:
    draw = random.Random(11)
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Bench")
    git(root, "config", "user.email", "bench@example.com")
    (root / ".gitattributes").write_text("memories/** text eol=lf\n.memfs/** -text\n")
    (root / "docs").mkdir()
    for number in range(500):
        (root / "docs" / f"{number}.md").write_text(f"decision {number}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "docs")
    commit = git(root, "rev-parse", "HEAD")
    for number in range(memories):
        scope = f"team/{SUBJECTS[number % len(SUBJECTS)]}"
        place = root / "memories" / scope / f"memory-{number:05}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(memory(draw, scope, commit, number))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "memories")


def change(root: Path, changes: int) -> None:
    draw = random.Random(12)
    git(root, "switch", "-qc", "work")
    paths = sorted((root / "memories").rglob("*.md"))
    for path in draw.sample(paths, changes // 2):
        path.write_text(path.read_text().replace("Why:", "The reason:"))
    commit = git(root, "rev-list", "--max-parents=0", "HEAD")
    for number in range(changes - changes // 2):
        place = root / "memories" / "team" / "cache" / f"new-{number}.md"
        place.write_text(memory(draw, "team/cache", commit, number))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change")


def measure(name: str, act: Callable[[], object], *, times: int = 3) -> None:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        taken.append(time.perf_counter() - started)
    print(
        f"{name:<58} {statistics.median(taken):8.3f} s   (of {times}: {min(taken):.3f} to {max(taken):.3f})", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--approved", action="store_true", help="with a keyring and an approval of every memory")
    parser.add_argument("--keep", type=Path, help="make the repository here and leave it")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        root = args.keep or Path(folder) / "repository"
        if not root.exists():
            started = time.perf_counter()
            make(root, args.memories)
            if args.approved:
                approve(root, Places(home=home))
            change(root, args.changes)
            git(root, "switch", "-q", "main")
            print(f"(made {args.memories:,} memories in {time.perf_counter() - started:.0f} s)", flush=True)
        run(root, Places(home=home), args.changes)


def approve(root: Path, places: Places) -> None:
    """Approve every memory, 64 under one signature."""
    from datetime import UTC, datetime

    from memfs.trust.approve import approve as sign
    from memfs.trust.changing import new_keyring
    from memfs.trust.keyring import format_file
    from memfs.trust.pinning import pin_repository
    from memfs.trust.plan import plan_approval
    from memfs.trust.signing import load_key

    key = places.home / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, stdin=subprocess.DEVNULL
    )
    signer = load_key(key, environ={"PATH": "/usr/bin:/bin"})
    made = new_keyring(signer, "bench@example.com")
    (root / ".memfs").mkdir(exist_ok=True)
    (root / ".memfs" / "keyring.1").write_bytes(format_file(made.body, made.signatures))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "keyring")
    tree = find_work_tree(root)
    pin_repository(places, tree)
    ids = sorted(path.stem for path in (root / "memories").rglob("*.md"))
    sign(
        plan_approval(tree, places, ids, sees=lambda _path: True, today=TODAY),
        signer,
        now=datetime(2026, 11, 30, tzinfo=UTC),
    )


def run(root: Path, places: Places, changes: int) -> None:
    from memfs.browse.server import Pages
    from memfs.check.run import check_repository
    from memfs.check.states import Target
    from memfs.model.scope import Caller
    from memfs.repository.repository import Repository
    from memfs.review.change import review_range
    from memfs.review.forms import format_comment

    tree = find_work_tree(root)

    def check(target: Target, where: Places | None) -> None:
        check_repository(tree, where, target, today=TODAY)

    def review(where: Places | None) -> None:
        format_comment(review_range(tree, where, "main", "work", today=TODAY))

    change = Target(base="main", commit="work")
    measure("check, everything, cold", lambda: check(Target(), places), times=1)
    measure("check, everything, nothing changed", lambda: check(Target(), places))
    measure(f"check --base, {changes} changed, without a cache", lambda: check(change, None))
    measure(f"check --base, {changes} changed, warm", lambda: check(change, places))
    measure(f"review and comment, {changes} changed, without a cache", lambda: review(None))
    measure(f"review and comment, {changes} changed, warm", lambda: review(places))
    repository = Repository.open(root, places=places, today=TODAY)
    pages = Pages(repository, Caller(), name="bench", about="bench", pin=None)
    key = pages.shelf.catalogue.items[4711 % len(pages.shelf.catalogue.items)].key
    for name, path, query in (
        ("list", "index.html", {}),
        ("list, last page", "index.html", {"page": "9999"}),
        ("list, filtered", "index.html", {"scope": "team/cache", "state": "current"}),
        ("list, searched", "index.html", {"q": "ledger schema"}),
        ("due", "due.html", {}),
        ("one memory", f"m/{key}.html", {}),
        ("branches", "review.html", {}),
    ):
        measure(f"page: {name}", lambda path=path, query=query: pages.answer(path, query), times=9)
    pages.answer("review.html", {"branch": "work"})
    measure("page: a branch seen before", lambda: pages.answer("review.html", {"branch": "work"}), times=9)


if __name__ == "__main__":
    sys.exit(main())
