"""How long the state of many memories takes, and what a recall starts for it.

    python benchmarks/evidence.py [--memories 10000] [--files 3000] [--peer CHECKOUT]

Makes a repository of its own, in which every memory rests on the content of a file and is due when that file
changes. Prints, medians of several runs in one process:

* the state of all of them from nothing, over the work tree and over a commit;
* `memfs check` of the same repository when nothing has changed since the last one, of which that state is a part;
* what a change of one file costs: its drift;
* how many processes of git one recall starts;
* with ``--peer`` (a checkout of the first release, `git worktree add DIR 92f812b`): that release's check of the same
  memories when nothing has changed, in the same run. It ties evidence to a commit, so each memory names one there.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from memfs.check.run import check_repository
from memfs.check.states import Target
from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.git import process
from memfs.git.read import blob_id
from memfs.git.snapshot import GitFiles, WorkFiles
from memfs.model.reader import read_memory
from memfs.standing.assess import Assessor
from memfs.standing.drift import find_drift
from memfs.standing.facts import Facts, Forgetful, Subject

TODAY = date(2027, 3, 1)
RUNS = 5
WORDS = "charge retry queue ledger invoice worker deploy window schema index cache token budget alarm report".split()


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def build(root: Path, memories: int, files: int) -> None:
    """Write ``files`` files of some hundred lines and ``memories`` memories that rest on them, and commit all."""
    git(root.parent, "init", "-q", "-b", "main", str(root))
    git(root, "config", "user.name", "A")
    git(root, "config", "user.email", "a@example.com")
    blobs = []
    for number in range(files):
        path = root / f"src/m{number % 60}/f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"def f{number}_{line}():\n    return {line * number}\n" for line in range(120))
        path.write_text(text)
        blobs.append((path.relative_to(root).as_posix(), blob_id(text.encode())[:32]))
    folder = root / "memories/team"
    folder.mkdir(parents=True)
    for number in range(memories):
        path, blob = blobs[number % files]
        words = " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 9))
        (folder / f"m{number}.md").write_text(
            f"---\nkind: decision\norigin: owner\nscope: team\nevidence:\n  - {path}@blob:{blob}\n"
            f"recorded: 2027-01-01\nreview_trigger: when {path} changes\n---\nNumber {number}: {words}.\n"
        )
    (root / ".gitattributes").write_text("memories/** text eol=lf\n.memfs/** -text\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")


_PEER = """
import sys, time, statistics
from datetime import date
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import memfs
assert memfs.__file__.startswith(sys.argv[1]), memfs.__file__
from memfs.review.check import Target, check_repository
from memfs.store.places import Places
from memfs.store.worktree import find_work_tree
tree, places, times = find_work_tree(Path(sys.argv[2])), Places(home=Path(sys.argv[3])), []
for _ in range(int(sys.argv[4]) + 1):
    start = time.perf_counter()
    found = check_repository(tree, places, Target(), today=date(2027, 3, 1))
    times.append(time.perf_counter() - start)
print(statistics.median(times[1:]))
"""


def measure_peer(root: Path, home: Path, peer: Path, runs: int = 3) -> float:
    """Return the median of the unchanged check by the release at ``peer``, in a process of its own."""
    commit = git(root, "rev-parse", "HEAD")
    for path in (root / "memories/team").iterdir():
        lines = path.read_text().split("\n")
        tied = [f"{line.partition('@blob:')[0]}@{commit[:12]}" if "@blob:" in line else line for line in lines]
        path.write_text("\n".join(tied))
    git(root, "commit", "-qam", "evidence by commit")
    arguments = [sys.executable, "-c", _PEER, str(peer.resolve()), str(root), str(home), str(runs)]
    return float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def median(call: Callable[[], object], runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=3_000)
    parser.add_argument("--peer", type=Path, metavar="CHECKOUT", help="the first release, to compare with")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "project"), Path(folder, "home")
        home.mkdir(mode=0o700)
        build(root, args.memories, args.files)
        state = measure(root, Places(home=home))
        if args.peer is not None:
            peer = Path(folder, "peer")
            peer.mkdir(mode=0o700)
            before = measure_peer(root, peer, args.peer)
            print(f"first release's check   {before:6.2f} s   (state, work tree is {state / before:.2f} times that)")


def measure(root: Path, places: Places) -> float:
    """Print what the state of all memories costs, and return the seconds over the work tree."""
    tree = find_work_tree(root)
    head = git(root, "rev-parse", "HEAD")
    subjects = []
    for entry in scan_memories(tree).entries:
        file = read_memory(entry.path, read_file(tree, entry.path))
        assert file.memory is not None
        subjects.append(Subject(path=file.path, digest=file.digest, memory=file.memory))
    print(f"{len(subjects):,} memories, Python {sys.version.split()[0]}")

    work = median(lambda: Facts(WorkFiles(tree), Forgetful(), tips=(head,)).judge(subjects, TODAY))
    commit = median(lambda: Facts(GitFiles(tree, head), Forgetful(), tips=(head,)).judge(subjects, TODAY))
    check_repository(tree, places, Target(), today=TODAY)
    check = median(lambda: check_repository(tree, places, Target(), today=TODAY), 3)
    print(f"state, work tree        {work:6.2f} s")
    print(f"state, commit           {commit:6.2f} s")
    print(f"check, nothing changed  {check:6.2f} s   (state is {work / check:.0%} of it)")

    changed = root / "src/m0/f0.py"
    changed.write_text(changed.read_text().replace("return 0", "return 1"))
    git(root, "commit", "-qam", "change")
    new = git(root, "rev-parse", "HEAD")
    found: list[object] = []

    def drift() -> None:
        found[:] = find_drift(
            GitFiles(tree, head), GitFiles(tree, new), tips=(head, new), today=TODAY, people=lambda _file: None
        )

    print(f"drift of one file       {median(drift, 3):6.2f} s   ({len(found)} memories become stale)")
    print(f"git for a recall        {count_processes(tree, places)} processes for five memories that rest on content")
    return work


def count_processes(tree: object, places: Places) -> int:
    """Return how many programs the assessment of five hits starts, with nothing kept from before."""
    started: list[str] = []
    run = process.run

    def counting(argv: list[str], **more: object) -> object:
        started.append(argv[0])
        return run(argv, **more)  # type: ignore[arg-type]

    import memfs.git.read as reading

    reading.run = counting  # type: ignore[assignment]
    try:
        paths = [f"memories/team/m{number}.md" for number in range(1, 6)]
        files = [read_memory(path, read_file(tree, path)) for path in paths]  # type: ignore[arg-type]
        states = Assessor(tree, places, TODAY).assess_many(files)  # type: ignore[arg-type]
        assert {one.state.state.value for one in states} == {"current"}
    finally:
        reading.run = run
    return len(started)


if __name__ == "__main__":
    main()
