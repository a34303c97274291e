"""The commands of every how-to page are run as they are printed: two people, two homes, a bare repository."""

from __future__ import annotations

import base64
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import CHECKOUT, LAUNCHER, git, make_key, run_at_terminal

PAGES = CHECKOUT / "docs/how-to"
BASH = shutil.which("bash") or "bash"

pytestmark = pytest.mark.slow


class Person:
    """One person's machine: a home with a key and git's settings, and a `memfs` that knows this home."""

    def __init__(self, folder: Path, name: str, stage: Stage) -> None:
        self.name, self.stage = name, stage
        self.address = f"{name}@example.com"
        self.home = folder / name
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        make_key(self.home / ".ssh", "id_ed25519")
        (self.home / ".gitconfig").write_text(
            f"[user]\n\tname = {name.title()}\n\temail = {self.address}\n[init]\n\tdefaultBranch = main\n"
            "[pull]\n\trebase = false\n[advice]\n\tdetachedHead = false\n[core]\n\tpager = cat\n"
        )
        programs = self.home / "bin"
        programs.mkdir()
        (programs / "memfs").write_text(f"#!/bin/sh\nexec {sys.executable} -I -c '{LAUNCHER}' {self.home} \"$@\"\n")
        (programs / "memfs").chmod(0o755)
        self.env = {
            **os.environ,
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TERM": "dumb",
            "EDITOR": "true",
        }
        self.cwd = self.home

    def run(self, script: str, *answers: tuple[str, str], code: int = 0) -> str:
        """Run a script at a terminal, where this person is, and return what was shown."""
        argv = [BASH, "-euo", "pipefail", "-c", script]
        run = run_at_terminal(argv, list(answers), cwd=self.cwd, env=self.env, timeout=90)
        assert run.code == code, f"{self.name} ran\n{script}\n{run.out}"
        return run.out

    @property
    def public(self) -> str:
        return (self.home / ".ssh/id_ed25519.pub").read_text()

    def found(self, name: str = "shop") -> None:
        """Make a project with documents, a keyring and a pushed main branch."""
        self.cwd = self.home / name
        (self.cwd / "docs").mkdir(parents=True)
        for page, text in {
            "deploy": "Deploys happen on Tuesdays.", "exports": "Exports are streamed.", "editors": "Any editor.",
        }.items():  # fmt: skip
            (self.cwd / f"docs/{page}.md").write_text(f"# {page.title()}\n\n{text}\n")
        self.run(
            "git init -q && git add -A && git commit -qm Docs && memfs init && "
            f"git remote add origin {self.stage.origin} && git push -qu origin main"
        )

    def remember(self, memory_id: str, text: str, evidence: str = "docs/deploy.md", *more: str) -> None:
        options = " ".join(more)
        self.run(
            f"memfs remember '{text}' --id {memory_id} --kind decision --evidence {evidence} --origin owner {options} "
            "< /dev/null"
        )

    def approve(self, memory_id: str) -> None:
        word = memory_id.partition("-")[0]
        self.run(f"memfs trust {memory_id}", (f"Type {word} to approve", memory_id))

    def join(self, name: str = "shop") -> None:
        """Clone what is on the server and pin it."""
        self.run(f"git clone -q {self.stage.origin} {name}")
        self.cwd = self.home / name
        pin = self.stage.alice.run("memfs pin")
        found = re.search(r"memfs1:([0-9a-f]{8})", pin)
        assert found, pin
        self.run("memfs pin", ("Type the first 8 characters", found[1]))

    def list_key(self, other: Person, role: str = "approve") -> None:
        (self.cwd / f"{other.name}.pub").write_text(other.public)
        number = len(list((self.cwd / ".memfs").glob("keyring.*"))) + 1
        self.run(
            f"memfs keys add {other.address} {other.name}.pub --role {role} && git push -q",
            signing(number),
        )


def signing(number: int) -> tuple[str, str]:
    return f"Type keyring.{number} to sign", f"keyring.{number}"


class Stage:
    """The world of one page: its blocks of commands, and the people who run them."""

    def __init__(self, page: str, folder: Path) -> None:
        text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
        found = re.findall(r"^( *)```sh\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
        self.blocks = [textwrap.dedent(block) for _, block in found]
        self.left = list(range(len(self.blocks)))
        self.origin = folder / "origin.git"
        git(folder, "init", "-q", "--bare", "-b", "main", str(self.origin))
        self.alice, self.bob = Person(folder, "alice", self), Person(folder, "bob", self)

    def block(self, number: int, **instead: str) -> str:
        """Return a block as it is printed, but for ``instead``, whose names are in the page."""
        if number in self.left:
            self.left.remove(number)
        return self._with(self.blocks[number], instead)

    def lines(self, number: int, first: int, end: int, **instead: str) -> str:
        """Return some lines of a block; the last of them makes it a block that was run."""
        rows = self.blocks[number].splitlines(keepends=True)
        if end >= len(rows) and number in self.left:
            self.left.remove(number)
        return self._with("".join(rows[first:end]), instead)

    def _with(self, text: str, instead: dict[str, str]) -> str:
        for printed, real in instead.items():
            assert printed in text, f"{printed!r} is not printed in\n{text}"
            text = text.replace(printed, real)
        return text


Scene = Callable[[Stage], None]
SCENES: dict[str, Scene] = {}


def scene(page: str) -> Callable[[Scene], Scene]:
    def add(play: Scene) -> Scene:
        SCENES[page] = play
        return play

    return add


def connects(agent: str) -> Scene:
    """Return a scene whose page connects an agent, looks, and takes it out again."""

    def play(stage: Stage) -> None:
        alice = stage.alice
        alice.found()
        for number in list(stage.left):
            if number:  # another way to do the same
                alice.run(f"memfs disconnect {agent}")
            for line in stage.block(number).splitlines():
                found = re.match(r"memfs doctor \S+", line)
                alice.run(f"{line} || true" if found else line)  # the agent itself is not installed here
        out = alice.run(f"memfs disconnect {agent}; memfs disconnect {agent} --project || true")
        assert "Traceback" not in out

    return play


for _page in ("claude-code", "codex", "copilot", "cursor", "devin", "gemini", "opencode"):
    SCENES[_page] = connects(_page)


@scene("other-agents")
def _other_agents(stage: Stage) -> None:
    stage.alice.found()
    assert "skills" in stage.alice.run(stage.block(0))


@scene("approve-with-a-security-key")
def _security_key(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    # There is no device here: its public key is laid where ssh-keygen would put it.
    blob = base64.b64decode(alice.public.split()[1])[-32:]
    parts = (b"sk-ssh-ed25519@openssh.com", blob, b"ssh:")
    line = base64.b64encode(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).decode()
    (alice.home / ".ssh/id_ed25519_sk.pub").write_text(f"sk-ssh-ed25519@openssh.com {line} alice\n")
    block = stage.block(0, **{"ssh-keygen -t ed25519-sk ": "true "})
    assert "touch" in alice.run(block, signing(2))


@scene("browse")
def _browse(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    alice.remember("a", "We deploy on Tuesdays.")
    serve = stage.block(0, **{'pip install "memfs-git[browse]"\n': "", "memfs browse": "timeout -s INT 4 memfs browse"})
    assert "http://127.0.0.1:" in alice.run(f"{serve.strip()} || test $? = 124")
    assert "pages in" in alice.run(stage.block(1))


@scene("import")
def _import(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    (alice.cwd / "docs/adr").mkdir()
    (alice.cwd / "CLAUDE.md").write_text("# Project\n\n## Tests\n\nThe tests need a database on port 5433.\n")
    (alice.cwd / "docs/adr/0001-queue.md").write_text(
        "# 1. One queue\n\nDate: 2026-01-05\n\n## Status\n\nAccepted\n\n## Decision\n\nThere is one queue per region.\n"
    )
    alice.run("git add -A && git commit -qm Notes")
    alice.run(stage.block(0), ("Write", "y"))
    assert "2 memories" in alice.run("memfs status")
    alice.run(stage.block(1))
    assert (alice.cwd / "AGENTS.md").exists()


@scene("keep-a-memory")
def _keep(stage: Stage) -> None:
    stage.alice.found()
    assert "remembered we-deploy-tuesdays-after-standup" in stage.alice.run(
        stage.block(0), ("What does it rest on", "")
    )


@scene("lose-a-key")
def _lose(stage: Stage) -> None:
    alice, bob = stage.alice, stage.bob
    alice.found()
    alice.list_key(bob, "root,approve")
    alice.remember("a", "We deploy on Tuesdays.")
    alice.approve("a")
    alice.run("git push -q")
    bob.join()
    make_key(alice.home / ".ssh", "id_new")
    (bob.cwd / "alice-new.pub").write_text((alice.home / ".ssh/id_new.pub").read_text())
    bob.run(stage.block(0), signing(3), signing(4))
    alice.run("git pull -q && memfs pin --move", ("to pin it", "keyring.4"))
    alice.run(stage.block(1), ("Type a to approve", "a"))
    # And where nobody else was root: another world.
    bob.cwd = bob.home / "alone"
    bob.cwd.mkdir()
    bob.run(
        "git init -q && memfs init --no-examples && memfs remember 'Alone.' --id b --evidence 'https://example.com/'"
    )
    bob.approve("b")
    new_root = stage.block(2, **{"memfs trust ID…": "memfs trust b"})
    bob.run(new_root, ("Type bob@example.com", "bob@example.com"), ("Type b to approve", "b"))


@scene("mcp-for-a-team")
def _mcp(stage: Stage) -> None:
    stage.alice.found()
    block = stage.block(0, **{"memfs mcp --http 8765": "timeout -s INT 4 memfs mcp --http 8765"})
    assert "8765" in stage.alice.run(f"{block}", code=124)


@scene("measure-recall")
def _measure(stage: Stage) -> None:
    alice = stage.alice
    alice.run("memfs init team-memories")
    alice.cwd = alice.home / "team-memories"
    assert "passed, 7 cases" in alice.run(stage.block(0))
    alice.run(f"{stage.block(1).strip()} || true")  # without a model there is nothing to compare with


@scene("personal-and-team-stores")
def _personal(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    alice.run(stage.block(0))
    assert "personal store" in alice.run(stage.block(1), ("What does it rest on", ""))
    git(alice.home, "init", "-q", "--bare", "-b", "main", "mine.git")
    mine = f"{alice.home}/mine.git"
    alice.run(stage.block(2, ADDRESS=mine))
    assert "sent" in alice.run(stage.block(3))
    stage.bob.run(stage.block(4, ADDRESS=mine))  # the other machine
    assert "0 commits received" in stage.bob.run("memfs sync personal")
    assert "memfs is off" in alice.run(stage.block(5))
    alice.run("memfs off --end")
    assert "memory/my-editor-is-vim" in alice.run(stage.block(6), ("Propose this text", "y"))


@scene("propose-a-memory")
def _propose(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    shown = alice.run(stage.block(0), ("Put it back to origin/main", ""))
    assert "memory/exports-ledger-streamed-row-row" in shown
    # A colleague merges it with another commit, and nobody is left with a branch that went another way.
    bob = stage.bob
    bob.join()
    bob.run(
        "git merge --squash -q origin/memory/exports-ledger-streamed-row-row && git commit -qm 'Exports (#1)' && "
        "git push -q"
    )
    alice.run("git pull -q --ff-only && memfs show exports-ledger-streamed-row-row")


@scene("review-a-pull-request")
def _review(stage: Stage) -> None:
    alice, bob = stage.alice, stage.bob
    alice.found()
    alice.list_key(bob)
    bob.join()
    bob.run(
        "memfs propose --new 'Exports of the ledger are streamed row by row.' --id streamed-exports --kind decision "
        "--scope team --evidence docs/exports.md --review 'when docs/exports.md changes'"
    )
    assert "1 needs approval" in alice.run(f"{stage.block(0).strip()} || test $? = 1")
    alice.run(stage.block(1), ("to approve", "streamed-exports"))
    for person, size in ((alice, 20), (bob, 30)):
        person.run("git fetch -q && git switch -q main")
        person.run(f"git switch -qc pool-{person.name}")
        person.remember("pool-size", f"The pool has {size} connections.")
    bob.run("git push -q origin pool-bob")
    alice.run("git fetch -q; git merge -q origin/pool-bob || true")
    block = stage.block(2, **{"memfs edit --merge pool-size ": "memfs edit --merge pool-size --take theirs "})
    alice.run(block.replace("memfs check ", "memfs check || true "), ("to approve", "pool-size"))


@scene("rotate-a-key")
def _rotate(stage: Stage) -> None:
    alice, bob = stage.alice, stage.bob
    alice.found()
    alice.list_key(bob)
    alice.remember("a", "We deploy on Tuesdays.")
    alice.approve("a")
    alice.run("git push -q")
    block = stage.block(0, **{"ssh-keygen -t ed25519 -f": "ssh-keygen -q -N '' -t ed25519 -f"})
    assert "approved again with the new key: a" in alice.run(block, signing(3))
    # Bob is not root: his new keyring waits for Alice.
    bob.join()
    bob.remember("b", "Exports are streamed.", "docs/exports.md")
    bob.approve("b")
    bob.run("git push -q && ssh-keygen -q -N '' -t ed25519 -f ~/.ssh/id_new")
    bob.run("memfs keys rotate ~/.ssh/id_new && git push -q", signing(4))
    alice.run(stage.block(2))
    alice.run("git pull -q && memfs keys sign && git push -q", signing(4))
    bob.run("git pull -q && memfs pin --move", ("to pin it", "keyring.4"))
    bob.run(stage.block(1), ("Type b to approve", "b"))


@scene("set-up-a-team")
def _set_up(stage: Stage) -> None:
    alice, bob = stage.alice, stage.bob
    alice.run(stage.block(0, **{"origin …": f"origin {stage.origin}"}))
    alice.cwd = alice.home / "team-memories"
    pin = re.search(r"memfs1:([0-9a-f]{8})", alice.run("memfs pin"))
    assert pin
    bob.run(stage.block(1, **{"git clone …": f"git clone -q {stage.origin}"}), ("Type the first 8 characters", pin[1]))
    bob.cwd = bob.home / "team-memories"
    (alice.cwd / "bob.pub").write_text(bob.public)
    make_key(alice.cwd, "carol")
    alice.run(stage.block(2), signing(2), signing(3))
    bob.run("git pull -q && memfs pin --move", ("to pin it", "keyring.3"))
    bob.run(stage.block(3, **{'"…"': '"Invoices are kept for ten years."'}), ("What does it rest on", ""))
    (alice.cwd / "carol").unlink()
    alice.run(stage.block(4), ("Type invoices to approve", "invoices"))
    alice.run("git switch -q main")
    make_key(alice.home, "dora")
    alice.run(stage.block(5).replace("dora.pub", f"{alice.home}/dora.pub"), signing(4), signing(5), signing(6))


@scene("use-the-template")
def _template(stage: Stage) -> None:
    alice = stage.alice
    alice.run(stage.block(0, ADDRESS=str(stage.origin)))
    alice.cwd = alice.home / "our-memories"
    stage.left.remove(1)  # what pre-commit runs is run without it: it would be fetched
    alice.run("memfs check --hook && memfs pin && memfs eval --mode lexical")
    alice.run("git rm -qr memories/team docs evals && git commit -qm 'Without examples' && memfs check")


@scene("verify-a-memory")
def _verify(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    for name in ("billing-additive-migrations", "a"):
        alice.remember(name, f"We deploy on Tuesdays, says {name}.", "docs/deploy.md", "--again")
        alice.approve(name)
    (alice.cwd / "docs/deploy.md").write_text("# Deploy\n\nDeploys happen on Wednesdays.\n")
    alice.run("git commit -qam Wednesdays")
    assert "billing-additive-migrations" in alice.run(stage.block(0))
    alice.run(
        stage.block(1),
        ("still true?", "y"), ("to approve", "billing-additive-migrations"), ("still true?", "y"), ("to approve", "a"),
    )  # fmt: skip
    assert "nothing is due" in alice.run("memfs due", code=1)


@scene("worktrees")
def _worktrees(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    shown = alice.run(f"{stage.block(0)}\n{stage.block(1).replace('memfs list', 'memfs list || true')}")
    assert "Invoices are rounded once" in shown
    assert "no memories" in shown
    alice.run(stage.block(2))
    assert "invoices-rounded-once-end" in alice.run("memfs list")


@scene("merge-styles")
def _merge_styles(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    shown = alice.run(stage.block(0), ("Type deploy to approve", "deploy"))
    assert "approved by alice@example.com" in shown.rpartition("memory bundle")[0]
    assert "(unchanged)" in shown
    alice.run(f"{stage.block(1)}\ngit push -q")
    alice.cwd = alice.home
    alice.run(f"git clone -q {stage.origin} squashed")
    alice.cwd = alice.home / "squashed"
    assert "approved by alice@example.com" in alice.run("memfs show deploy-tuesdays")


@scene("when-somebody-leaves")
def _leaves(stage: Stage) -> None:
    alice, bob = stage.alice, stage.bob
    alice.found()
    alice.list_key(bob)
    bob.join()
    bob.remember("a", "We deploy on Tuesdays.")
    bob.approve("a")
    bob.run("git push -q")
    alice.run("git pull -q")
    alice.run(stage.block(0), signing(3))
    assert "key-retired" in alice.run(
        stage.block(1, **{"memfs trust ID": "memfs status --long; memfs trust a"}), ("Type a to approve", "a")
    )
    alice.run("git push -q")
    bob.run("git pull -q")
    # The same again for a person whose key is removed, and who was root.
    fingerprint = re.search(r"SHA256:\S+", alice.run(f"ssh-keygen -lf {bob.home}/.ssh/id_ed25519.pub"))
    assert fingerprint
    make_key(alice.home, "carol")
    alice.run(f"memfs keys add carol@example.com {alice.home}/carol.pub && git push -q", signing(4))
    alice.run(stage.block(2, **{"bob@example.com": fingerprint[0]}), signing(5))
    alice.run(f"memfs keys add bob@example.com {bob.home}/.ssh/id_ed25519.pub --role root,approve", signing(6))
    alice.run(stage.block(3), signing(7), signing(8))
    bob.run("git pull -q; git -C . log -1 >/dev/null")
    alice.run("git push -q")
    bob.run(stage.block(4), ("to pin it", "keyring.8"))


@scene("capture")
def _capture(stage: Stage) -> None:
    alice = stage.alice
    alice.found()
    alice.run(
        'for n in $(seq 20); do git commit -q --allow-empty -m "We decided to keep number $n of the rules."; done'
    )
    shown = alice.run(stage.block(0))
    assert "draft-20" in shown
    assert "capture is on for this repository, when you ask" in alice.run(stage.block(1))
    alice.env["PATH"] = f"{alice.home}/bin:/usr/bin:/bin"
    assert "is not on the PATH, so nothing was tried" in alice.run(stage.block(2))
    assert "by itself when a session has ended" in alice.run(stage.block(3))
    assert "off" in alice.run("memfs capture --off")


@contextmanager
def _told(stage: Stage) -> Iterator[None]:
    yield
    assert stage.left == [], f"these blocks of the page were not run: {stage.left}"


ELSEWHERE = {"share-across-repositories": "tests/postgres/test_how_to.py"}


def test_every_page_is_run_by_a_test() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*SCENES, *ELSEWHERE}
    assert all((CHECKOUT / test).exists() for test in ELSEWHERE.values())


@pytest.mark.parametrize("page", sorted(SCENES))
def test_the_commands_of_the_page_run_as_printed(page: str, tmp_path: Path) -> None:
    stage = Stage(page, tmp_path)
    with _told(stage):
        SCENES[page](stage)
