"""The real agents, connected by ``memfs connect``, with their real requests to a model of our own.

Needs the agents (``tests/agents/install_clients.sh FOLDER``, then ``MEMFS_TEST_CLIENTS=FOLDER``); each
one that is not there is skipped. About two minutes for all five.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from people import Person, Team, Terminal, found_team, memory_text
from support import git, launch_command

from agents.clients import CLIENTS, Client
from memfs.capture.stub import Model, Say, Use
from memfs.connect.json_text import load
from memfs.connect.ours import theirs
from memfs.disk.places import Places

pytestmark = pytest.mark.slow

APPROVED = "Billing migrations stay additive while workers of two versions run."
UNAPPROVED = "The staging cluster is rebuilt from its snapshot every Thursday evening."
BY_PATH = "Invoices are rounded half to even, line by line."
FRAME = "Memory bundle "


class World:
    """A person's machine: home, project with memories, the agent's settings, a memfs script of its own."""

    def __init__(self, kind: type[Client], folder: Path, key: Path) -> None:
        self.home = folder / "my home"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.client = kind(self.home, self.project)
        self.script = folder / "bin" / "memfs"
        self.script.parent.mkdir()
        start = " ".join(shlex.quote(word) for word in launch_command(self.home))
        self.script.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        self.script.chmod(0o755)
        self.key = key
        self.team = self._make_team(Person("alice", key))

    def _make_team(self, alice: Person) -> Team:
        git(self.project, "init", "-q")
        for name, value in (("user.name", "Alice"), ("user.email", "alice@example.com")):
            git(self.project, "config", name, value)  # of the servers too: nothing of the caller is theirs
        team = found_team(self.project, Places(home=self.home), [alice], approve_memory=False)
        team.path("a").unlink()
        team.write("additive-migrations", memory_text(APPROVED))
        rounding = memory_text(BY_PATH, extra={"applies_to": '["services/invoices/**"]'})
        team.write("rounding", rounding)
        team.write("staging-rebuild", memory_text(UNAPPROVED))
        (self.project / "services" / "invoices").mkdir(parents=True)
        (self.project / "services" / "invoices" / "total.py").write_text("TOTAL = 1\n")
        team.commit("memories")
        team.approve(alice, "additive-migrations", "rounding")
        return team

    def memfs(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.script, *arguments],
            cwd=self.project,
            env={**os.environ, "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def connect(self, *options: str) -> str:
        return self.memfs("connect", self.client.agent, "--command", str(self.script), *options)

    def disconnect(self) -> str:
        return self.memfs("disconnect", self.client.agent)

    def files(self) -> dict[str, bytes]:
        """Every file of the home but memfs's own."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and "memfs" not in path.relative_to(self.home).parts
        }

    def log(self) -> str:
        """What went wrong in a hook. That one came too late is the machine's load, and shows in what it did not say."""
        path = self.home / ".local" / "state" / "memfs" / "hooks.log"
        lines = path.read_text().splitlines() if path.exists() else []
        return "\n".join(line for line in lines if not line.endswith(": deadline"))


@pytest.fixture(params=CLIENTS, ids=[kind.agent for kind in CLIENTS])
def world(request: pytest.FixtureRequest, tmp_path: Path, key: Path) -> World:
    kind: type[Client] = request.param
    if kind.find() is None:
        pytest.skip(f"{kind.agent} is not installed (tests/agents/install_clients.sh)")
    return World(kind, tmp_path, key)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


def ask(world: World, model: Model, prompt: str, *plan: Say | Use) -> list[Any]:
    """Run the agent and return the requests of its loop."""
    model.asked.clear()
    model.plan[:] = plan
    ran = world.client.run(model.url, prompt)
    assert ran.code == 0, ran.out[-2000:]
    assert model.loop, ran.out[-2000:]
    assert world.log() == ""
    return model.loop


def inside_frame(text: str, statement: str) -> str:
    """Return the opening line of the frame in which ``statement`` stands; every line of it is prefixed."""
    lines = text.replace("&lt;", "<").replace("\\n", "\n").split("\n")
    place = next(number for number, line in enumerate(lines) if statement in line)
    opening = next(line for line in reversed(lines[:place]) if FRAME in line)
    prefix = opening.split('start with "')[-1][:5].replace('\\"', "")
    assert lines[place].lstrip().startswith(prefix.rstrip())
    return opening


def test_memories_reach_the_model_and_leave_no_trace(world: World, model: Model) -> None:
    client = world.client
    client.settings(model.url)
    before = world.files()
    world.connect("--mcp")
    assert world.files() != before
    world.connect("--mcp")
    world.disconnect()
    assert world.files() == before, "connecting and disconnecting left a trace"

    world.connect("--mcp")
    connected = world.files()
    recall = Use(client.recall_tool, {"query": "how are billing migrations done"})
    read = Use(client.shell[0], {client.shell[1]: "cat services/invoices/total.py", "description": "look"})

    # An approved memory reaches the model on the prompt, as what was approved, and by the tool.
    plan = [read, recall, Say()] if client.offers_tools else [read, Say()]
    loop = ask(world, model, "How do we do billing migrations here?", *plan)
    first, second, last = loop[0], loop[1], loop[-1]
    assert "approved" in inside_frame(first.conversation, APPROVED)
    assert "recorded decisions, procedures and preferences before deciding" in first.everything, "no skill is offered"
    assert "approved" in inside_frame(second.conversation.split(APPROVED)[-1], BY_PATH)
    if client.offers_tools:
        assert any("memfs" in name and "recall" in name for name in first.tools), first.tools
        assert "Team memories kept in git" in first.everything
        assert last.conversation.count(APPROVED) > first.conversation.count(APPROVED)

    # An unapproved one arrives in a frame that says so.
    first, *_ = ask(world, model, "When is the staging cluster rebuilt from its snapshot?", Say())
    assert "recorded data about past work" in inside_frame(first.conversation, UNAPPROVED)

    # A prompt about nothing adds nothing to what every session begins with.
    first, *_ = ask(world, model, "yes, do it", Say())
    assert UNAPPROVED not in first.conversation
    assert first.conversation.count(f"\n{FRAME}") + first.conversation.startswith(FRAME) <= 1

    # Files that the agent did not rewrite are again what they were; out of the others ours is gone.
    after_runs = world.files()
    world.disconnect()
    left = world.files()
    for name, content in before.items():
        if after_runs[name] == connected[name]:
            assert left[name] == content, name
    for name, content in left.items():
        if name in connected and name.endswith((".json", ".toml", ".js")):
            assert str(world.script).encode() not in content, name


def test_a_session_that_goes_on_is_not_told_again(world: World, model: Model) -> None:
    if not world.client.resume and world.client.agent != "codex":
        pytest.skip("this client has no way to go on without a terminal")
    world.client.settings(model.url)
    world.connect()
    first, *_ = ask(world, model, "How do we do billing migrations here?", Say())
    told = first.conversation.count(f"{FRAME}")
    for question in ("And how do billing migrations go again?", "Tell me once more about billing migrations."):
        model.asked.clear()
        model.plan[:] = [Say()]
        ran = world.client.go_on(model.url, question)
        assert ran.code == 0, ran.out[-2000:]
        conversation = model.loop[0].conversation
        assert question in conversation, "the session did not go on"
        assert conversation.count(f"{FRAME}") <= told, "a session that goes on was told again"
    assert world.log() == ""


def test_a_linked_worktree_and_a_second_project_have_their_own_memories(
    world: World, model: Model, tmp_path: Path
) -> None:
    world.client.settings(model.url)
    world.connect()
    linked = tmp_path / "linked tree"
    git(world.project, "worktree", "add", "-q", "-b", "linked", str(linked))
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    for project, expected in ((linked, True), (other, False)):
        world.client.project = project
        first, *_ = ask(world, model, "How do we do billing migrations here?", Say())
        assert (APPROVED in first.conversation) == expected, project


def test_a_decision_that_the_model_keeps_becomes_a_proposal_for_one_command(world: World, model: Model) -> None:
    if not world.client.offers_tools:
        pytest.skip("this client does not offer its model the tools of MCP servers by name")
    world.client.settings(model.url)
    config = world.project / ".memfs" / "config.yaml"
    config.write_text((config.read_text() if config.exists() else "version: 1\n") + "agents: {write: proposal}\n")
    world.team.commit("agents propose")
    world.connect("--write")
    draft = {
        "text": "Refunds above 500 euros need a second person.\n\nWhy: the auditor asked for it.",
        "kind": "decision",
        "scope": "team",
        "evidence": ["services/invoices/total.py"],
        "review_trigger": "on 2030-01-01",
        "title": "Refunds",
    }
    *_, last = ask(
        world, model, "Keep this: refunds above 500 euros need a second person.", Use("remember$", draft), Say()
    )
    assert "Proposed refunds on the branch memory/refunds" in last.conversation
    command = "git switch memory/refunds && memfs review --approve"
    assert f"`{command}` shows it and approves it" in last.conversation.replace("&amp;", "&")
    assert "Memfs-Agent: " in git(world.project, "log", "-1", "--format=%B", "memory/refunds")
    # The model's user pastes that one command.
    memfs = shlex.quote(str(world.script))
    shell = command.replace("&& memfs", f"&& {memfs}") + f" --key {shlex.quote(str(world.key))}"
    code, shown = Terminal(["/bin/sh", "-c", shell], cwd=world.project, env=os.environ).answer(
        ("Type refunds to approve", "refunds")
    )
    assert code == 0, shown
    assert world.team.says("refunds") == "trusted"


def values_of(path: Path) -> dict[str, Any]:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else load(text)


def test_what_the_agent_writes_into_its_own_settings_stays(world: World, model: Model) -> None:
    client = world.client
    client.settings(model.url)
    world.connect("--mcp")
    if not client.own_edits:
        pytest.skip("this client has no command that edits its settings")
    for arguments in client.own_edits:
        ran = client.run_with(model.url, *arguments)
        assert ran.code == 0, ran.out[-2000:]
    own = world.home / client.own_file
    edited = own.read_text()
    assert "mydb" in edited
    world.connect("--mcp")
    assert own.read_text() == edited, "connecting again changed what the agent wrote"
    expected = theirs(values_of(own), client.servers)
    world.disconnect()
    assert values_of(own) == expected
    assert str(world.script) not in own.read_text()
    assert "mydb" in own.read_text()
