"""A mistake is answered in at most three lines, with what to type; nothing is suggested that deletes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import Run, git

MISTAKES: list[tuple[str, int, str]] = [
    # what is typed, exit code, what the answer says
    ("get", 2, "memfs show ID"),
    ("stauts", 2, "memfs status"),
    ("foget x", 2, "`memfs --help` lists the commands"),
    ("untrsut x", 2, "`memfs --help` lists the commands"),
    ("ad x", 2, "memfs add"),
    ("frobnicate", 2, "`memfs --help` lists the commands"),
    ("-x list", 2, "put options after it"),
    ("-C", 2, "memfs -C DIR VERB"),
    ("-C /nonexistent list", 2, "memfs init"),
    ("show", 2, "memfs show ID"),
    ("show postgre-16", 1, "did you mean postgres-16?"),
    ("show memories/team/nope.md", 1, "memfs list"),
    ("show docs/deploy.md", 1, "memfs blame PATH"),
    ("edit deploys --kind rule", 2, "one of preference, decision"),
    ("edit deploys --kind decison", 2, "did you mean decision?"),
    ("edit deploys --nosuch x", 2, "memfs edit --help"),
    ("edit deploys", 2, "give TEXT"),
    ("edit deploys --review soon", 4, "“on DATE”"),
    ("edit deploys --tags", 2, "--tag TAG"),
    ("remember", 4, "text, evidence"),
    ("remember text --kind rule", 2, "one of preference"),
    ("remember text --kinds decision", 2, "did you mean --kind?"),
    ("remember text --scope checkout/cart", 4, "personal, team, team/NAME or restricted/NAME"),
    ("remember text --scope Team", 4, "lower-case letters"),
    ("remember text --review whenever", 4, "“when PATH changes”"),
    ("remember text --review 2020-13-01", 4, "“on DATE”"),
    ("remember text --evidence docs/nope.md", 4, "git ls-files"),
    ("remember text --evidence ../x", 4, "git ls-files"),
    ("remember text --evidence /etc/passwd", 4, "git ls-files"),
    ("remember text --evidence docs", 4, "name a file in it"),
    ("remember text --evidence nonsense", 4, "a commit, branch or tag, #NUMBER, a URL"),
    ("remember text --evidence HEAD~99", 4, "a commit, branch or tag"),
    ("remember text --evidence 812", 4, "#NUMBER"),
    ("remember text", 4, "name what it rests on: --evidence PATH"),
    ("remember text --id deploys --evidence docs/deploy.md", 2, "choose another with --id"),
    ("remember Deploys.happen.on.Tuesdays. --evidence docs/deploy.md --id x --again --id a/b", 4, "--id a-b"),
    ("remember text --expires yesterday --evidence docs/deploy.md", 4, "YYYY-MM-DD"),
    ("remember text --allow foo --evidence docs/deploy.md", 2, "--allow RULE --reason"),
    ("remember text --supersedes nope --evidence docs/deploy.md", 4, "there is no memory nope to replace"),
    ("supersede nope text", 1, "memfs list"),
    ("supersede", 2, "memfs supersede ID[,ID] TEXT"),
    ("rename deploys", 2, "memfs rename ID NEW-ID"),
    ("rename nope other", 1, "memfs list"),
    ("rename deploys postgres-16", 2, "choose another"),
    ("forget", 2, "memfs forget ID"),
    ("forget nope", 1, "memfs list"),
    ("list --scope nope", 2, "personal, team, team/NAME or restricted/NAME"),
    ("list --scope team/nothing", 1, "no memory is like that"),
    ("list --kind rule", 2, "one of preference"),
    ("list --stat current", 2, "did you mean --state?"),
    ("list --state curent", 2, "did you mean current?"),
    ("recall", 2, "memfs recall TEXT"),
    ("recall --limit 0 x", 2, "--limit 5"),
    ("recall --limit many x", 2, "'many' is not a whole number"),
    ("recall --budget many x", 2, "--budget 500t"),
    ("recall --mode fast x", 2, "one of auto, lexical, hybrid"),
    ("recall --for", 2, "--for FILE"),
    ("history nope", 1, "memfs list"),
    ("due --on someday", 2, "2027-01-31"),
    ("blame", 2, "memfs blame PATH"),
    ("blame nope.md", 2, "git ls-files"),
    ("trust --nothing", 2, "memfs trust --help"),
    ("trust deploys", 6, "needs a person at a terminal"),
    ("trust --until soon deploys", 2, "--until 2027-12-31"),
    ("trust --from x", 2, "memfs trust --sync --from FILE"),
    ("untrust", 2, "memfs untrust ID"),
    ("verify", 2, "memfs verify ID"),
    ("verify nope", 1, "memfs list"),
    ("keys add bob", 2, "memfs keys add"),
    ("keys frob", 2, "one of show, create, add"),
    ("keys retir bob", 2, "did you mean retire?"),
    ("keys remove nobody@example.com", 6, "memfs keys create"),
    ("pin frob", 6, "memfs keys create"),
    ("check nope.md", 2, "memfs check memories/SCOPE/ID.md"),
    ("check --base nope", 2, "git fetch"),
    ("check --format xml", 2, "one of text, json"),
    ("review nope", 2, "git fetch"),
    ("review 999999", 2, "git fetch origin pull/999999/head"),
    ("propose nope", 1, "memfs list"),
    ("propose deploys", 2, "change it first"),
    ("propose --kind decision", 2, "memfs edit ID"),
    ("promote nope", 2, "memfs init --personal"),
    ("sync", 2, "memfs sync STORE"),
    ("sync nope", 1, "memfs init --personal"),
    ("publish", 2, "memfs publish --to"),
    ("publish --to x", 2, "postgresql://USER@HOST/DATABASE"),
    ("import", 2, "memfs import"),
    ("import nope.md", 2, "memfs import --help"),
    ("export", 2, "memfs export TARGET"),
    ("export nope", 2, "one of agents"),
    ("connect", 2, "memfs connect AGENT, one of"),
    ("connect vim", 2, "one of claude-code"),
    ("connect claude-code --hooks never", 2, "start, prompt, tool, or none"),
    ("disconnect vim", 2, "one of claude-code"),
    ("doctor vim", 2, "one of claude-code"),
    ("mcp --http nope", 2, "PORT or HOST:PORT"),
    ("mcp --add-key", 2, "--add-key NAME"),
    ("browse --port 99999", 2, "a number below 65536"),
    ("browse --port x", 2, "'x' is not a whole number"),
    ("model use nope", 1, "memfs model list"),
    ("model frob", 2, "one of list, prepare"),
    ("model add", 2, "memfs model add ID"),
    ("admission test nope.md", 2, "No such file"),
    ("admission frob", 2, "one of test, rules"),
    ("drafts show nope", 1, "`memfs drafts` lists them"),
    ("drafts frob", 2, "one of list, show"),
    ("feedback nope --helped", 1, "memfs list"),
    ("eval nope.yaml", 2, "nope.yaml"),
    ("stale --days x", 2, "'x' is not a whole number"),
    ("index --frob", 2, "memfs index --help"),
    ("completion powershell", 2, "one of bash, zsh"),
    ("off --frob", 2, "memfs off --help"),
    ("off", 2, "below `off:` in your settings"),
    ("demo --keep /", 2, "memfs demo --keep NEW-FOLDER"),
    ("init --frob", 2, "memfs init --help"),
]


@pytest.fixture
def stocked(repo: Path, memfs: Callable[..., Run]) -> Path:
    """Return a repository without a keyring, with a document and two memories."""
    (repo / "docs").mkdir()
    (repo / "docs/deploy.md").write_text("Deploys happen on Tuesdays.\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "docs")
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    for memory_id, text in (("deploys", "Deploys happen on Tuesdays."), ("postgres-16", "Postgres 16 is in use.")):
        run = memfs("remember", text, "--id", memory_id, "--evidence", "docs/deploy.md", "--origin", "owner", cwd=repo)
        assert run.code == 0, run.err
    return repo


def test_each_mistake_is_answered_with_what_to_type(stocked: Path, memfs: Callable[..., Run]) -> None:
    before = git(stocked, "rev-parse", "HEAD")
    wrong = []
    for typed, code, said in MISTAKES:
        run = memfs(*typed.split(), cwd=stocked)
        lines = [line for line in run.err.splitlines() if "keys create` makes one" not in line or said in line]
        if (run.code, len(lines) <= 3, said in run.err) != (code, True, True) or run.out:
            wrong.append(f"memfs {typed}: {run.code}, wanted {code} and {said!r}\n{run.err}{run.out}")
        if any(f"memfs {verb}" in run.err for verb in ("forget", "untrust", "disconnect")) and typed.split()[0] not in (
            "forget", "untrust", "disconnect",
        ):  # fmt: skip
            wrong.append(f"memfs {typed} suggests something that takes away: {run.err}")
    assert not wrong, "\n".join(wrong)
    assert git(stocked, "rev-parse", "HEAD") == before
    assert len(MISTAKES) >= 98
