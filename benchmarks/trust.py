"""How long trust takes: verdicts from the tree, the history, and what a recall pays.

    python benchmarks/trust.py [--memories 1000] [--commits 100000] [--json]

Makes its own repository from a seed, signs with a key made for the run, prints medians, the targets,
and the ratio to the same check done with `ssh-keygen -Y verify` for each receipt.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from memfs.disk.files import read_file
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.model.memory import MemoryFile
from memfs.model.reader import content_digest, read_memory
from memfs.trust import changing, pinning
from memfs.trust.keyring import format_file
from memfs.trust.opening import open_view
from memfs.trust.record import Item, Record, Statement, Verb, format_record, format_statement, signed_bytes
from memfs.trust.sshsig import MAGIC, PublicKey, format_armored, parse_public_key

TODAY = date(2026, 11, 30)
WORDS = [
    "billing",
    "schema",
    "worker",
    "queue",
    "retry",
    "deadline",
    "migration",
    "cache",
    "region",
    "ledger",
    "invoice",
]
TEXT = """---
kind: decision
origin: owner
scope: team
evidence:
  - said by alice@example.com on 2026-11-01
recorded: 2026-11-30
review_trigger: on 2027-11-30
---
{body}
"""


def ssh_string(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


class QuickSigner:
    """An Ed25519 key that signs in this process: a thousand signatures in a tenth of a second."""

    def __init__(self, seed: int) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(str(seed).encode()).digest())
        raw = self._key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        blob = ssh_string(b"ssh-ed25519") + ssh_string(raw)
        self.public: PublicKey = parse_public_key(f"ssh-ed25519 {b64encode(blob).decode()}")
        self.name = "benchmark"

    def sign(self, namespace: str, message: bytes) -> bytes:
        head = ssh_string(namespace.encode()) + ssh_string(b"") + ssh_string(b"sha512")
        signed = MAGIC + head + ssh_string(hashlib.sha512(message).digest())
        inner = ssh_string(b"ssh-ed25519") + ssh_string(self._key.sign(signed))
        return MAGIC + (1).to_bytes(4, "big") + ssh_string(self.public.blob) + head + ssh_string(inner)


def make_repository(root: Path, signer: QuickSigner, count: int, commits: int) -> tuple[str, list[Record]]:
    """Write a keyring, ``count`` approved memories, and a history of ``commits`` that carries the trailers."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    signed = changing.new_keyring(signer, "alice@example.com", salt="0" * 32)
    (root / ".memfs/approvals").mkdir(parents=True)
    (root / "memories/team").mkdir(parents=True)
    (root / ".memfs/keyring.1").write_bytes(format_file(signed.body, signed.signatures))
    repository_id = signed.digest[:32]
    source = random.Random(1)
    records = []
    for number in range(count):
        body = " ".join(source.choices(WORDS, k=60)) + "."
        raw = TEXT.format(body=body).encode()
        name = f"memory-{number:05}"
        (root / "memories/team" / f"{name}.md").write_bytes(raw)
        record = make_record(signer, repository_id, name, content_digest(raw))
        records.append(record)
        (root / ".memfs/approvals" / record.receipt_name).write_text(format_record(record))
    import_history(root, records, commits)
    return repository_id, records


def make_record(signer: QuickSigner, repository_id: str, name: str, digest: str, seq: int = 1) -> Record:
    statement = Statement(
        verb=Verb.APPROVE,
        repo=repository_id,
        by="alice@example.com",
        at="2026-11-30T03:11:00Z",
        items=(Item(id=name, seq=seq, digest=digest),),
    )
    text = format_statement(statement)
    return Record(statement=statement, text=text, signature=signer.sign("memory-approval@v1", signed_bytes(text)))


def import_history(root: Path, records: list[Record], commits: int) -> None:
    """Make ``commits`` commits by fast-import, the trailers spread over them; leave the tree as it is."""
    every = max(1, commits // max(1, len(records)))
    lines: list[bytes] = []
    for number in range(commits):
        message = f"Change {number}\n\nWhat a commit says in a few words, for a body of usual length.\n"
        if number % every == 0 and number // every < len(records):
            message += f"\n{format_record(records[number // every])}"
        body = message.encode()
        lines.append(
            b"commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n"
            % (1_700_000_000 + number, len(body), body)
        )
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=root, input=b"".join(lines), check=True)


def add_commits(root: Path, count: int) -> None:
    for number in range(count):
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit-tree", "-m", f"new {number}",
             "-p", "HEAD", "HEAD^{tree}"], cwd=root, check=True, capture_output=True,
        )  # fmt: skip
        commit = subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit-tree", "-m", f"new {number}",
             "-p", "HEAD", "HEAD^{tree}"], cwd=root, check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        subprocess.run(["git", "update-ref", "HEAD", commit], cwd=root, check=True)


class Figure(NamedTuple):
    """Milliseconds (or a ratio): the median on the clock, and the median of processor time with children.

    On a machine that is busy with other work the second is the one to compare with a target.
    """

    clock: float
    processor: float | None = None
    target: float | None = None


def timed(
    function: Callable[[], object],
    repeat: int = 5,
    before: Callable[[], object] | None = None,
    target: float | None = None,
) -> Figure:
    """Return the medians of ``repeat`` runs."""
    clock, processor = [], []
    for _ in range(repeat):
        if before is not None:
            before()
        started, used = time.perf_counter(), time.process_time()
        children = os.times()
        function()
        clock.append((time.perf_counter() - started) * 1000)
        after = os.times()
        of_children = after.children_user + after.children_system - children.children_user - children.children_system
        processor.append((time.process_time() - used + of_children) * 1000)
    return Figure(statistics.median(clock), statistics.median(processor), target)


def each_of(figure: Figure, count: int) -> Figure:
    return Figure(figure.clock / count, (figure.processor or 0) / count)


def ratio(one: Figure, other: Figure) -> Figure:
    return Figure(one.clock / other.clock, (one.processor or 0) / (other.processor or 1))


def read_all(tree: WorkTree, count: int) -> list[MemoryFile]:
    names = [f"memories/team/memory-{number:05}.md" for number in range(count)]
    return [read_memory(name, read_file(tree, name)) for name in names]


def judge_all(tree: WorkTree, places: Places, files: list[MemoryFile]) -> None:
    view = open_view(tree, places, today=TODAY, history=False)
    for file in files:
        assert view.verdict(file).trusted, view.verdict(file)


def verify_with_ssh_keygen(folder: Path, signer: QuickSigner, records: list[Record]) -> None:
    allowed = folder / "allowed"
    allowed.write_text(f"alice@example.com {signer.public.text}\n")
    for record in records:
        (folder / "sig").write_text(format_armored(record.signature))
        subprocess.run(
            ["ssh-keygen", "-Y", "verify", "-n", "memory-approval@v1", "-f", str(allowed), "-I", "alice@example.com",
             "-s", str(folder / "sig")], input=signed_bytes(record.text), check=True, capture_output=True,
        )  # fmt: skip


COLD = """
import sys, time
from datetime import date
from pathlib import Path
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.disk.files import read_file
from memfs.model.reader import read_memory
tree = find_work_tree(Path(sys.argv[1]))
files = [read_memory(n, read_file(tree, n)) for n in (f"memories/team/memory-{i:05}.md" for i in range(10))]
before = set(sys.modules)
start, used = time.perf_counter(), time.process_time()
from memfs.trust.opening import open_view
imported, used_for_import = time.perf_counter(), time.process_time()
view = open_view(tree, Places(home=Path(sys.argv[2])), today=date(2026, 11, 30))
assert all(view.verdict(file).trusted for file in files)
end, used_for_all = time.perf_counter(), time.process_time()
assert not {"cryptography", "subprocess", "yaml"} & set(sys.modules), sys.modules.keys() - before
figures = (imported - start, used_for_import - used, end - imported, used_for_all - used_for_import)
print(*(seconds * 1000 for seconds in figures))
"""


def cold_recall(root: Path, home: Path) -> tuple[Figure, Figure]:
    """Return what ten verdicts cost in a fresh process with warm caches: the import, and the rest."""
    runs = []
    for _ in range(9):
        done = subprocess.run(
            [sys.executable, "-c", COLD, str(root), str(home)], check=True, capture_output=True, text=True
        )
        runs.append([float(word) for word in done.stdout.split()])
    medians = [statistics.median(run[column] for run in runs) for column in range(4)]
    return Figure(*medians[:2]), Figure(*medians[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="memfs-benchmark-"))
    try:
        figures = measure(folder, options.memories, options.commits)
    finally:
        shutil.rmtree(folder)
    if options.json:
        print(json.dumps({name: figure._asdict() for name, figure in figures.items()}, indent=2))
        return
    print(f"{'':<62} {'clock':>10} {'processor':>10}")
    for name, figure in figures.items():
        used = "" if figure.processor is None else f"{figure.processor:10.3f}"
        best = min(figure.clock, figure.processor or figure.clock)
        mark = (
            ""
            if figure.target is None
            else f"   (target {figure.target:g}) {'ok' if best <= figure.target else 'MISSED'}"
        )
        print(f"{name:<62} {figure.clock:10.3f} {used:>10}{mark}")


def measure(folder: Path, count: int, commits: int) -> dict[str, Figure]:
    home, root = folder / "home", folder / "repository"
    home.mkdir()
    signer = QuickSigner(1)
    print(f"making {count} approved memories and {commits} commits", file=sys.stderr)
    _, records = make_repository(root, signer, count, commits)
    places, tree = Places(home=home), find_work_tree(root)
    pinning.pin_repository(places, tree)
    files = read_all(tree, count)
    verified = places.cache / "trust" / "verified"

    def forget_signatures() -> None:
        verified.unlink(missing_ok=True)

    figures: dict[str, Figure] = {}
    cold = timed(lambda: judge_all(tree, places, files), 3, forget_signatures, target=0.35 * count)
    warm = timed(lambda: judge_all(tree, places, files), 7, target=12 + 0.1 * count)
    figures[f"{count} verdicts from the tree, cache warm, ms"] = warm
    figures["  each, ms"] = each_of(warm, count)
    figures[f"{count} verdicts from the tree, verifying all, ms"] = cold
    figures["  each, verifying, ms"] = each_of(cold, count)
    figures[f"{count} memories read and hashed besides, ms"] = timed(
        lambda: [content_digest(read_file(tree, file.path)) for file in files], 5
    )
    figures[f"history of {commits} commits, first time, ms"] = timed(lambda: open_view(tree, places, today=TODAY), 1)
    figures["ten new commits, ms"] = timed(
        lambda: open_view(tree, places, today=TODAY), 5, lambda: add_commits(root, 10), target=20
    )
    figures["opening when HEAD has not moved, ms"] = timed(lambda: open_view(tree, places, today=TODAY), 9)

    def ten() -> None:
        view = open_view(tree, places, today=TODAY)
        assert all(view.verdict(file).trusted for file in files[:10])

    figures["ten verdicts with opening, cache warm, ms"] = timed(ten, 15, target=5)
    imported, rest = cold_recall(root, home)
    figures["the same in a fresh process, ms"] = rest._replace(target=5)
    figures["  importing trust there, ms"] = imported
    oracle = timed(lambda: verify_with_ssh_keygen(folder, signer, records[:100]), 1)
    figures["ssh-keygen -Y verify, a receipt, ms"] = each_of(oracle, 100)
    figures["  times a verdict, cache warm"] = ratio(each_of(oracle, 100), each_of(warm, count))
    figures["  times a verdict, verifying"] = ratio(each_of(oracle, 100), each_of(cold, count))
    return figures


if __name__ == "__main__":
    os.environ.pop("GIT_DIR", None)
    main()
