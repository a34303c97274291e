"""What a caller may not see changes no byte of any answer (ADMISSION 7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support import TODAY, Run, git

from memfs.disk.places import Places
from memfs.model.scope import Caller

FRONT = (
    "kind: decision\norigin: owner\nscope: {scope}\nevidence: [README.md@{commit}]\nrecorded: 2026-11-01\n"
    "review_trigger: {trigger}\n"
)
TEAM = {
    "additive-migrations": "The billing team accepts additive migrations only.",
    "queue-is-fifo": "The queue is FIFO; ordering is per invoice.",
    "utc-everywhere": "Timestamps are UTC in storage.",
}
SECRET = {
    "layoff-plan-q": "Additive migrations of the billing queue stop when the reorganisation is announced.",
    "salary-bands-q": "The billing invoice queue of the reorganisation holds bands per invoice.",
}


def _write(root: Path, scope: str, memories: dict[str, str], commit: str, trigger: str) -> None:
    folder = root / "memories" / scope
    folder.mkdir(parents=True, exist_ok=True)
    for memory_id, body in memories.items():
        front = FRONT.format(scope=scope, commit=commit, trigger=trigger)
        (folder / f"{memory_id}.md").write_text(f"---\n{front}---\n{body}\n")


@pytest.fixture
def pair(tmp_path: Path, memfs: Callable[..., Run]) -> tuple[Path, Path]:
    """Return two repositories with the same team memories; the second also has restricted ones."""
    roots = []
    for name in ("without", "with"):
        root = tmp_path / name / "project"
        root.mkdir(parents=True)
        git(root, "init", "-q")
        (root / "README.md").write_text("# A project\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "begin", "--date", "2026-11-01T00:00:00Z")
        commit = git(root, "rev-parse", "--short=12", "HEAD")
        _write(root, "team", TEAM, commit, "on 2027-06-01")
        if name == "with":
            _write(root, "restricted/board", SECRET, commit, "on 2020-01-01")
            (root / "memories/restricted/board/broken.md").write_text("---\nkind: [\n---\nreorganisation\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "memories", "--date", "2026-11-02T00:00:00Z")
        assert memfs("init", "--no-keyring", cwd=root).code == 0
        roots.append(root)
    return roots[0], roots[1]


def _plain(run: Run, root: Path) -> tuple[int, str, str]:
    """Return a run without what differs between any two runs: nonces, commit names, the folder."""

    def clean(text: str) -> str:
        text = text.replace(str(root), "ROOT")
        nonces = re.findall(r"(?:bundle|draft|history|difference) ([0-9a-f]{16})\.", text)
        for nonce in nonces:
            text = text.replace(nonce, "NONCE").replace(f"{nonce[:4]}|", "NNNN|")
        text = re.sub(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b", "COMMIT", text)
        return re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)

    return run.code, clean(run.out), clean(run.err)


ANSWERS = (
    ("list",),
    ("list", "--json"),
    ("status",),
    ("status", "--json"),
    ("due",),
    ("due", "--json"),
    ("stale", "--days", "0"),
    ("recall", "additive migrations billing", "--all"),
    ("recall", "additive migrations billing", "--json", "--all"),
    ("recall", "reorganisation", "--all"),
    ("recall", "reorganisation", "--json"),
    ("recall", "invoice queue", "--explain", "--all"),
)


@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
@pytest.mark.parametrize("grants", ["team", "personal,team", "personal", "restricted/other"])
def test_an_answer_is_the_same_with_and_without_what_is_hidden(
    arguments: tuple[str, ...], grants: str, pair: tuple[Path, Path], memfs: Callable[..., Run]
) -> None:
    without, with_hidden = (_plain(memfs(*arguments, "--as", grants, cwd=root), root) for root in pair)
    assert without == with_hidden


NAMING = (
    ("show", "{id}"),
    ("show", "{id}", "--json"),
    ("show", "{id}", "--markdown"),
    ("history", "{id}"),
    ("history", "{id}", "--json"),
    ("edit", "{id}", "--title", "x"),
    ("forget", "{id}"),
    ("supersede", "{id}", "A text.", "--kind", "decision"),
    ("feedback", "{id}", "--helped"),
)


@pytest.mark.parametrize("arguments", NAMING, ids=" ".join)
def test_a_hidden_id_and_an_unknown_one_answer_alike(
    arguments: tuple[str, ...], pair: tuple[Path, Path], memfs: Callable[..., Run]
) -> None:
    _, root = pair

    def ask(memory_id: str) -> tuple[int, str, str]:
        argv = [part.format(id=memory_id) for part in arguments]
        code, out, err = _plain(memfs(*argv, "--as", "team", cwd=root), root)
        return code, out.replace(memory_id, "ID"), err.replace(memory_id, "ID")

    hidden, unknown = ask("layoff-plan-q"), ask("nothing-here-")
    assert hidden == unknown
    assert hidden[0] != 0
    assert (root / "memories/restricted/board/layoff-plan-q.md").exists()


@pytest.mark.parametrize("tool", ["get", "history", "feedback"])
def test_a_tool_answers_alike_too(tool: str, pair: tuple[Path, Path], places: Places) -> None:
    from memfs.mcp.calls import Desk, call_tool

    desk = Desk(places=places, start=pair[1], today=lambda: TODAY, caller=Caller(scopes=("team",)))
    more = {"helped": True} if tool == "feedback" else {}
    hidden = call_tool(tool, {"id": "layoff-plan-q", **more}, desk, client="test")
    unknown = call_tool(tool, {"id": "nothing-here-", **more}, desk, client="test")
    assert hidden.text.replace("layoff-plan-q", "ID") == unknown.text.replace("nothing-here-", "ID")
    assert hidden.data.keys() == unknown.data.keys()
    assert hidden.failed
    assert unknown.failed


def test_the_one_who_may_see_them_does(pair: tuple[Path, Path], memfs: Callable[..., Run]) -> None:
    _, root = pair
    assert memfs("show", "layoff-plan-q", "--as", "restricted/board", cwd=root).code == 0
    assert "layoff-plan-q" in memfs("list", "--as", "restricted/board", cwd=root).out
