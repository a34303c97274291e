"""How fast a shared index is written and asked, and how well it ranks, on a PostgreSQL of its own.

    python benchmarks/publish.py --repositories 100 --memories 100
    python benchmarks/publish.py --repositories 1000 --memories 1000 --readers 1 8 32   # a million rows, by hand

Starts a server (``--kind debian`` or ``pgvector``) in a temporary folder, publishes made-up repositories as
``memfs publish`` does, asks as a reading role does (search, then the files, receipts and keyrings of the best ten,
verified), and compares with a plain ``ORDER BY ts_rank`` over the same rows in the same run. Prints one JSON document.
Needs ``memfs-git[dev]``.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests")]

from corpus import make_words  # noqa: E402
from postgres_server import running_server  # noqa: E402

from memfs.disk.places import Places  # noqa: E402
from memfs.index.document import count_terms, indexable_text  # noqa: E402
from memfs.index.text import search_texts  # noqa: E402
from memfs.index.tokenizer import TOKENIZER_VERSION, parse_question, query_terms  # noqa: E402
from memfs.model.reader import read_memory  # noqa: E402
from memfs.postgres.address import parse_address  # noqa: E402
from memfs.postgres.asking import read_evidence, read_held, search  # noqa: E402
from memfs.postgres.connection import connect  # noqa: E402
from memfs.postgres.meaning import NoMeaning  # noqa: E402
from memfs.postgres.publication import Publication, Row  # noqa: E402
from memfs.postgres.publishing import migrate, publish  # noqa: E402
from memfs.postgres.rows import verify  # noqa: E402
from memfs.recall.shared import index_of_answer  # noqa: E402

SHOWN = 10
PLACES = Places(home=Path(tempfile.gettempdir()) / "memfs-no-home")


def make_publication(number: int, memories: int, words: list[str], weights: list[float]) -> Publication:
    """Return one made-up repository; its memories and their questions depend on ``number`` alone."""
    draw = random.Random(number)
    rows = []
    for place in range(memories):
        sentence = " ".join(draw.choices(words, cum_weights=weights, k=14))
        why = " ".join(draw.choices(words, cum_weights=weights, k=30))
        text = (
            f"---\nkind: decision\norigin: owner\nscope: team\nevidence:\n  - https://example.com/{number}\n"
            f"recorded: 2026-01-02\nreview_trigger: on 2040-01-01\n---\n{sentence.capitalize()}.\n\nWhy: {why}.\n"
        )
        file = read_memory(f"memories/team/m-{place}.md", text.encode())
        counts, length = count_terms(indexable_text(file))
        rows.append(
            Row(path=file.path, scope="team", file=file, counts=counts, length=length, stamp=file.digest,
                state={"state": "current", "evidence": ["unverifiable"], "on": "2026-12-01"})
        )  # fmt: skip
    return Publication(
        repository=sha256(f"repository {number}".encode()).hexdigest()[:32],
        name=f"Repository {number}",
        commit=sha256(str(number).encode()).hexdigest()[:40],
        committed=datetime(2026, 12, 1, tzinfo=UTC),
        rows=tuple(rows),
        readers={"team": None},
        keyrings={},
        receipts={},
        left_out={},
    )


def questions_of(publication: Publication, count: int) -> list[tuple[str, str]]:
    """Return up to ``count`` questions, each with the digest of the memory that it is made of."""
    found = []
    for row in publication.rows[:count]:
        assert row.file.memory is not None
        words = row.file.memory.statement.split()
        found.append((" ".join(words[2:7]), row.file.digest))
    return found


def ask(url: str, questions: list[str], seed: int) -> list[float]:
    """Ask as one reader with one connection; return milliseconds a question."""
    order = list(questions)
    random.Random(seed).shuffle(order)
    times = []
    with connect(parse_address(url), PLACES, read_only=True) as connection:
        for text in order:
            began = time.perf_counter()
            recall(connection, text)
            connection.rollback()
            times.append((time.perf_counter() - began) * 1000)
    return times


def recall(connection, text: str) -> list[str]:
    """Return the digests of the best memories, verified."""
    asked = parse_question(text)
    answer = search(connection, asked.terms)
    index = index_of_answer(answer, asked)
    scores = search_texts([index], asked.terms, [lambda _scope: True])
    held = read_held(connection, [int(index.paths[row]) for _, row, _ in scores.best(SHOWN)])
    found, _ = verify(held, read_evidence(connection, held), {}, PLACES, today=date(2026, 12, 1))
    return [one.file.digest for one in found]


def plain_rank(connection, text: str) -> list[str]:
    """Return the digests that ``ts_rank`` puts first: what a table without memfs would do."""
    query = " | ".join("'" + term.replace("\\", "\\\\").replace("'", "''") + "'" for term in query_terms(text))
    rows = connection.execute(
        "SELECT digest FROM memfs.memory, CAST(%s AS tsquery) AS q WHERE terms @@ q "
        "ORDER BY ts_rank(terms, q) DESC LIMIT %s",
        [query, SHOWN],
    )
    return [row[0] for row in rows.fetchall()]


def local_rank(publications: list[Publication], questions: list[tuple[str, str]]) -> float:
    """Return hit@5 of memfs's own index in memory over the same memories."""
    from array import array

    from memfs.index.text import TextIndex

    rows = [row for publication in publications for row in publication.rows]
    index = TextIndex(
        paths=[row.file.digest for row in rows],
        keys=bytearray(16 * len(rows)),
        scopes=array("i", [1] * len(rows)),
        lengths=array("i", [row.length for row in rows]),
        scope_names=[None, "team"],
        postings_rows=0,
        open_postings=None,
        tail=[row.counts for row in rows],
        read_facets=lambda: [],
    )
    hits = 0
    for text, digest in questions:
        scores = search_texts([index], query_terms(text), [lambda _scope: True])
        hits += digest in [index.paths[row] for _, row, _ in scores.best(5)]
    return hits / len(questions)


def hit_at_5(answers: list[list[str]], questions: list[tuple[str, str]]) -> float:
    return sum(digest in answer[:5] for answer, (_, digest) in zip(answers, questions, strict=True)) / len(questions)


def measure(args: argparse.Namespace, server) -> dict[str, object]:
    words = make_words(11)
    weights = list(accumulate(1 / (place + 12) for place in range(len(words))))
    owner, ci, reader = (server.url(user, "postgres") for user in ("owner", "ci", "reader"))
    with connect(parse_address(owner), PLACES) as connection:
        migrate(connection)
        connection.autocommit = True
        connection.execute("CREATE ROLE ci LOGIN; GRANT memfs_publisher TO ci")
        connection.execute("CREATE ROLE reader LOGIN; GRANT memfs_reader TO reader")
    kept: list[Publication] = []
    steps = sorted({max(1, args.repositories // 100), max(1, args.repositories // 10), args.repositories})
    growth: list[dict[str, object]] = []
    seconds = 0.0
    with connect(parse_address(ci), PLACES) as connection:
        for number in range(args.repositories):
            publication = make_publication(number, args.memories, words, weights)
            began = time.perf_counter()
            publish(connection, publication, NoMeaning(), is_ancestor=lambda _a, _b: False)
            seconds += time.perf_counter() - began
            if len(kept) < 20:
                kept.append(publication)
            if number + 1 in steps:
                growth.append({"rows": (number + 1) * args.memories, **ask_all(args, server, owner, reader, kept)})
    again = publish_again(ci, kept[0])
    return {
        "publish": {"memories_per_s": args.repositories * args.memories / seconds, "no_change_ms": again},
        "growth": growth,
        "quality": quality(server, reader, kept, args),
    }


def publish_again(url: str, publication: Publication) -> float:
    with connect(parse_address(url), PLACES) as connection:
        began = time.perf_counter()
        publish(connection, publication, NoMeaning(), is_ancestor=lambda _a, _b: False)
        return (time.perf_counter() - began) * 1000


def ask_all(args, server, owner: str, reader: str, kept: list[Publication]) -> dict[str, object]:
    with connect(parse_address(owner), PLACES) as connection:
        connection.autocommit = True
        connection.execute("ANALYZE")
    texts = [text for publication in kept for text, _ in questions_of(publication, 10)][: args.questions]
    result: dict[str, object] = {}
    for readers in args.readers:
        with ProcessPoolExecutor(readers) as pool:
            began = time.perf_counter()
            times = [ms for part in pool.map(ask, [reader] * readers, [texts] * readers, range(readers)) for ms in part]
            seconds = time.perf_counter() - began
        times.sort()
        result[f"readers_{readers}"] = {
            "p50_ms": statistics.median(times),
            "p95_ms": times[int(len(times) * 0.95)],
            "questions_per_s": len(times) / seconds,
        }
    with server.connect() as connection:
        times = []
        for text in texts:
            began = time.perf_counter()
            plain_rank(connection, text)
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    result["plain_ts_rank"] = {"p50_ms": statistics.median(times), "p95_ms": times[int(len(times) * 0.95)]}
    return result


def quality(server, reader: str, kept: list[Publication], args) -> dict[str, object]:
    """Return hit@5 over the kept repositories: all others are taken out of the reader's sight first."""
    names = [publication.repository for publication in kept]
    with server.connect() as connection:
        connection.execute("DELETE FROM memfs.audience")
        connection.execute("INSERT INTO memfs.audience SELECT 'memfs_reader', unnest(%s::text[]), 'team'", [names])
        questions = [pair for publication in kept for pair in questions_of(publication, 25)][: args.questions * 2]
        floor = [plain_rank(connection, text) for text, _ in questions]
    with connect(parse_address(reader), PLACES, read_only=True) as connection:
        answers = [recall(connection, text) for text, _ in questions]
    return {
        "memories": sum(len(one.rows) for one in kept),
        "questions": len(questions),
        "hit5_shared": hit_at_5(answers, questions),
        "hit5_local": local_rank(kept, questions),
        "hit5_plain_ts_rank_all_rows": hit_at_5(floor, questions),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=["debian", "pgvector"], default="pgvector")
    parser.add_argument("--repositories", type=int, default=100)
    parser.add_argument("--memories", type=int, default=100)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--readers", type=int, nargs="+", default=[1, 8, 32])
    args = parser.parse_args()
    with running_server(args.kind) as server:
        found = measure(args, server)
    machine = {"python": platform.python_version(), "system": platform.platform(), "tokenizer": TOKENIZER_VERSION}
    print(json.dumps({"benchmark": "publish", "machine": machine, **vars(args), **found}, indent=2))


if __name__ == "__main__":
    main()
