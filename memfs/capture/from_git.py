"""Statements of decisions in a history, without a model: what commits, merged pull requests and reviews say as such.

Only sentences that begin as ``data/decisions.txt`` says count. Evidence is the commit, or the saved file by content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from memfs.disk.worktree import WorkTree
from memfs.errors import UsageError
from memfs.git.log import read_commits, read_messages
from memfs.git.snapshot import require_commit
from memfs.model.codepoints import plain
from memfs.model.lenient import MAX_FOREIGN_BYTES, read_foreign
from memfs.model.memory import FrontValue
from memfs.repository.repository import Repository
from memfs.sight import OWNER
from memfs.standing.tie import Knot

LONGEST = 400
_MOST_COMMITS = 5_000
_FEWEST_WORDS = 5
_SENTENCE = re.compile(r"(?<=[.!?])[ \n]+|(?<=[。！？])")
_PREFIX = re.compile(r"\A[a-z]{2,12}(?:\([^()\n]{1,40}\))?!?: ")

Found = tuple[str, str, Mapping[str, FrontValue]]


def statements_of_range(repository: Repository, given: str) -> Iterator[Found]:
    """Yield (text, where it was said, fields) of each decision that the commits of ``given`` state.

    Raises :class:`UsageError` for what is not a range of commits.
    """
    sees = repository.sight.for_caller(OWNER)
    for name, message in _messages(repository.tree, given, sees):
        for text in find_statements(message):
            yield text, f"said in commit {name[:12]}", {"kind": "decision", "evidence": (name[:12],)}


def statements_of_file(repository: Repository, place: Path) -> Iterator[Found]:
    """Yield the decisions that a saved pull request or review states; one inside the repository is the evidence.

    Raises :class:`InvalidMemoryError` for a file that is too large, or is not text.
    """
    with open(place, "rb") as file:
        body = read_foreign(file.read(MAX_FOREIGN_BYTES + 1)).body
    root = repository.tree.root.resolve()
    fields: dict[str, FrontValue] = {"kind": "decision"}
    if place.resolve().is_relative_to(root):
        path = place.resolve().relative_to(root).as_posix()
        tied, _ = Knot(repository.tree, sees_path=repository.sight.for_caller(OWNER)).tie_all((path,))
        fields["evidence"] = tied
    else:
        fields["evidence"] = (f"said by {plain(place.name)} on {repository.today.isoformat()}",)
    for text in find_statements(re.sub(r"^>.*$", "", body, flags=re.MULTILINE)):
        yield text, f"said in {plain(place.name)}", fields


def find_statements(text: str) -> list[str]:
    """Return the sentences of ``text`` that state a decision, each once."""
    found = []
    for paragraph in re.split(r"\n[ \t]*\n|\n(?=[ \t]*[-*] )", text.replace("\r\n", "\n")):
        for sentence in _SENTENCE.split(" ".join(paragraph.split()).lstrip("-* ")):
            said = (sentence.strip(), _PREFIX.sub("", sentence).strip())
            bare = next((one for one in said if _decides().match(one.lower())), "")
            if bare and len(bare) <= LONGEST and (bare.count(" ") + 1 >= _FEWEST_WORDS or not bare.isascii()):
                found.append(bare)
    return list(dict.fromkeys(found))


@cache
def _decides() -> re.Pattern[str]:
    lines = files("memfs.capture").joinpath("data/decisions.txt").read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(f"(?:{line})" for line in lines if line and not line.startswith("#")))


def _messages(tree: WorkTree, given: str, sees: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Yield (commit, message) of BASE..HEAD, or of one commit; not of one that touched what the person does not see.

    Raises :class:`UsageError` for anything else.
    """
    base, dots, head = given.partition("..")
    tip = require_commit(tree, (head.lstrip(".") or "HEAD") if dots else given)
    try:
        since = require_commit(tree, (base or "HEAD") if dots else f"{tip}~1")
    except UsageError:
        if dots:
            raise
        since = None  # the first commit of all
    touched = read_commits(tree, tip, ["memories"], merges=True)
    hidden = {commit.name for commit in touched if not all(sees(file.path) for file in commit.files)}
    for name, message in read_messages(tree, [tip], since=since)[:_MOST_COMMITS]:
        if name not in hidden:
            yield name, message.decode("utf-8", "replace")
