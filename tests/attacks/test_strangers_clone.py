"""A stranger's clone: every verb, hook event and MCP tool runs in it without a terminal, and nothing of it acts.

The clone is as bad as its owner could make it: settings files of every agent with commands, hooks, filters, drivers
and programs in git's configuration, modules with the names of ours, a keyring and a pin of the stranger's, and a home
folder into which ``$HOME`` leads. What has to hold afterwards: no program of it ran, no pin was written, no verdict
changed, and the user's key signed nothing. A new verb, event or tool fails here until it is listed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from connect.test_doctor import PROJECT_FILES, hostile_settings
from mcp_talk import Talk
from people import Person, found_team, memory_text
from support import Run, git, make_key

from memfs.cli.table import COMMANDS
from memfs.connect.agents import AGENTS, load_agent
from memfs.disk.places import Places
from memfs.mcp.tools import TOOLS

DRAFT = (
    "--kind", "observation", "--scope", "team", "--origin", "owner", "--evidence", "https://x.example/1", "--review",
    "on 2030-01-01",
)  # fmt: skip
VERBS: dict[str, list[list[str]]] = {
    "init": [["init"], ["init", "--no-keyring"]],
    "remember": [["remember", "The kitchen stove is blue.", "--id", "stove", *DRAFT]],
    "edit": [["edit", "x", "--tag", "t"], ["edit", "x", "The text is new."]],
    "supersede": [["supersede", "x", "A newer text.", "--id", "y", *DRAFT]],
    "rename": [["rename", "x", "z"]],
    "forget": [["forget", "x"]],
    "drafts": [["drafts"], ["drafts", "submit", "draft-1"]],
    "capture": [["capture"], ["capture", "--last"], ["capture", "--from-git", "HEAD"], ["capture", "x.jsonl"]],
    "import": [["import", ".", "--yes"], ["import", "CLAUDE.md", "-n"]],
    "export": [["export", "agents"], ["export", "jsonl"], ["export", "document"]],
    "publish": [["publish", "--to", "postgresql://x@127.0.0.1:1/m"]],
    "recall": [["recall", "migrations stay additive"], ["recall", "--brief"]],
    "list": [["list"]],
    "show": [["show", "x"]],
    "history": [["history", "x"]],
    "browse": [["browse", "--export", "{out}/site"]],
    "trust": [["trust", "x"], ["trust", "--sync"], ["trust", "--renew"]],
    "untrust": [["untrust", "x"]],
    "keys": [
        ["keys"], ["keys", "create"], ["keys", "add", "alice@example.com", "{key}.pub"], ["keys", "sign"],
        ["keys", "rotate", "{key}"],
    ],
    "pin": [["pin"], ["pin", "--move"], ["pin", "{pin}"], ["pin", "--remove"]],
    "check": [["check"], ["check", "--fix"], ["check", "--staged"], ["check", "--base", "HEAD~1"]],
    "review": [["review", "HEAD~1..HEAD"], ["review", "HEAD~1..HEAD", "--approve"]],
    "promote": [["promote", "x"], ["promote", "x", "-n"]],
    "propose": [["propose"], ["propose", "--branch", "topic"]],
    "sync": [["sync"], ["sync", "personal"], ["sync", "--all"]],
    "off": [["off"], ["off", "--end"], ["off", "--list"]],
    "status": [["status"]],
    "due": [["due"]],
    "stale": [["stale"]],
    "feedback": [["feedback", "x", "--helped"]],
    "eval": [["eval"]],
    "verify": [["verify", "x"], ["verify", "x", "--review", "on 2030-01-01"]],
    "blame": [["blame", "README.md"]],
    "index": [["index"], ["index", "--rebuild"], ["index", "--status"]],
    "model": [["model", "list"]],
    "admission": [["admission", "rules"], ["admission", "test", "any text"]],
    "connect": [*(["connect", agent, "--command", "/bin/true"] for agent in AGENTS), ["connect", "codex", "--project"]],
    "disconnect": [*(["disconnect", agent] for agent in AGENTS), ["disconnect", "codex", "--project"]],
    "doctor": [["doctor"], *(["doctor", agent] for agent in AGENTS)],
    "hook": [["hook", "claude-code"], ["hook", "auto"], ["hook", "nobody"]],
    "mcp": [["mcp"], ["mcp", "--allow", "write"]],
    "demo": [["demo"]],
    "completion": [["completion", "bash"]],
}  # fmt: skip

EVENTS: dict[str, tuple[str, ...]] = {
    "claude-code": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "codex": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "gemini": (
        "SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent",
    ),
    "copilot": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop", "sessionStart", "userPromptSubmitted", "beforeSubmitPrompt", "preToolUse",
        "postToolUse", "postToolUseFailure", "preCompact", "agentStop", "stop",
    ),
    "opencode": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "cursor": (
        "sessionStart", "userPromptSubmitted", "beforeSubmitPrompt", "preToolUse", "postToolUse",
        "postToolUseFailure", "preCompact", "agentStop", "stop",
    ),
    "devin": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop", "PostCompact",
    ),
    "qwen": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "kilo": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "pi": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "droid": (
        "SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PreCompact", "Stop",
    ),
    "vscode": (),
    "kiro": (),
}  # fmt: skip

_TEXTS = {
    "text": "The kitchen stove is green.", "kind": "observation", "scope": "team", "review_trigger": "on 2030-01-01",
    "evidence": ["https://x.example/1"],
}  # fmt: skip
CALLS: dict[str, dict[str, Any]] = {
    "recall": {"query": "migrations stay additive", "path": "services/x.py"},
    "get": {"id": "x"},
    "list": {},
    "history": {"id": "x"},
    "due": {},
    "feedback": {"id": "x", "helped": True},
    "remember": _TEXTS,
    "propose": _TEXTS,
    "waiting": {},
    "revise": {"id": "x", "text": "A newer text of the stranger's memory."},
    "verify": {"id": "x"},
}

MODULES = ("sitecustomize", "usercustomize", "cryptography", "git", "yaml", "memfs", "json", "whoosh", "numpy", "mcp")
GIT_HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change",
    "post-merge", "post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push",
    "pre-rebase", "prepare-commit-msg", "reference-transaction", "sendemail-validate",
)  # fmt: skip
GIT_PROGRAMS = (
    "core.fsmonitor", "core.editor", "core.pager", "core.askPass", "core.sshCommand", "core.alternateRefsCommand",
    "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge",
    "filter.evil.process", "merge.evil.driver", "gpg.program", "gpg.ssh.program", "gpg.openpgp.program",
    "gpg.x509.program", "gpg.ssh.defaultKeyCommand", "credential.helper", "sequence.editor", "interactive.diffFilter",
    "uploadpack.packObjectsHook", "alias.log", "alias.check-attr", "browser.evil.cmd", "man.evil.cmd",
)  # fmt: skip


class Clone:
    """The stranger's clone on the victim's machine."""

    def __init__(self, root: Path, places: Places, marks: Path, key: Path, tools: Path) -> None:
        self.root, self.places, self.marks, self.key, self.tools = root, places, marks, key, tools
        self.pristine = root.with_name("pristine")
        self.signed = tools / "signed"

    @property
    def environ(self) -> dict[str, str]:
        """What a hostile project's settings can set for an agent's hooks, and a careless shell for its user."""
        evil = str(self.root / "evil")
        home = self.root / "home"
        return {
            **os.environ,
            "PATH": f".:bin:{self.tools}:/usr/bin:/bin:/usr/local/bin",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_STATE_HOME": str(home / ".state"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "PYTHONPATH": f".:{self.root}",
            "PYTHONSTARTUP": str(self.root / "sitecustomize.py"),
            "GIT_EXTERNAL_DIFF": evil,
            "GIT_SSH_COMMAND": evil,
            "GIT_EDITOR": evil,
            "GIT_PAGER": evil,
            "GIT_ASKPASS": evil,
            "SSH_ASKPASS": evil,
            "SSH_ASKPASS_REQUIRE": "force",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": evil,
            "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        }

    def snapshot(self) -> tuple[object, ...]:
        """What must not change: keyrings and receipts of the clone, pins and settings of the user."""
        kept = sorted((self.root / ".memfs").rglob("*"))
        own = self.places.config
        return (
            [(path.name, path.read_bytes()) for path in kept if path.is_file() and path.name != "config.yaml"],
            [(path.name, path.read_bytes()) for path in sorted(own.rglob("*"))] if own.exists() else [],
        )

    def verdict(self, memfs_process: Callable[..., Run]) -> str:
        """What `show` says of the stranger's memory in a copy of the clone that nobody wrote into."""
        shown = memfs_process("show", "x", "--json", cwd=self.pristine)
        assert shown.code == 0, shown.err
        return json.dumps(shown.json["memory"], sort_keys=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """Return the stranger's repository, the folder for the marks of whatever runs, and the stranger's pin."""
    base = tmp_path_factory.mktemp("stranger")
    marks = base / "marks"
    marks.mkdir()
    root = base / "clone"
    root.mkdir()
    environ = {"HOME": str(base), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    (base / ".gitconfig").write_text(
        "[user]\n\tname = Alice Example\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n"
    )
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    try:
        pin = _fill(root, base, marks)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return root, marks, pin


def _fill(root: Path, base: Path, marks: Path) -> str:
    stranger = Person("alice", make_key(base, "alice"))  # calls itself alice@example.com
    git(root, "init", "-q")
    team = found_team(root, Places(home=base), [stranger])
    team.write("x", memory_text("Migrations stay additive."), commit=True)
    team.approve(stranger, "x")
    evil = root / "evil"
    evil.write_text(f'#!/bin/sh\ntouch "{marks}/program-$(basename "$0")"\nexit 0\n')
    evil.chmod(0o755)
    for name in ("git", "memfs", "ssh-keygen", "codex", "gh", "glab", "sh", "python3", "env"):
        for folder in (root, root / "bin"):
            folder.mkdir(exist_ok=True)
            shutil.copy(evil, folder / name) if not (folder / name).exists() else None
    shutil.rmtree(root / "memfs", ignore_errors=True) if (root / "memfs").is_dir() else None
    for name in MODULES:
        (root / f"{name}.py").write_text(f"open({str(marks / f'module-{name}')!r}, 'w').close()\n")
    for agent, file in PROJECT_FILES.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(hostile_settings(agent, f"touch {marks}/settings-{agent}; ./memfs hook {agent} || true"))
    (root / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"memfs": {"command": f"touch {marks}/server", "args": ["mcp"]}}})
    )
    home = root / "home"
    (home / ".config" / "memfs").mkdir(parents=True)
    pin = team.pin()
    (home / ".config" / "memfs" / "trust.yaml").write_text(f"- {pin}\n")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Mallory\n\temail = mallory@example.com\n\tsigningkey = x\n[commit]\n\tgpgsign = true\n"
        f'[gpg]\n\tprogram = "{evil}"\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = "{evil}"\n'
        f'[core]\n\tfsmonitor = "{evil}"\n'
    )
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(
        hostile_settings("claude-code", f"touch {marks}/home; memfs hook x")
    )
    (root / "data.dat").write_text("x\n")
    (root / "evals").mkdir(exist_ok=True)
    (root / "evals" / "q.yaml").write_text("questions: []\n")
    (root / ".gitattributes").write_text("*.dat filter=evil\n* diff=evil merge=evil\n")
    (root / "memories" / "team" / "link.md").symlink_to("/etc/hostname")
    git(root, "add", "-Af")
    git(root, "commit", "-qm", "hostile")
    hooks = root / "hooks"
    hooks.mkdir()
    for name in GIT_HOOKS:
        for folder in (root / ".git" / "hooks", hooks):
            (folder / name).write_text(f"#!/bin/sh\ntouch {marks}/hook-{name}\n")
            (folder / name).chmod(0o755)
    config = [("core.hooksPath", str(hooks)), ("remote.origin.url", f"ext::touch {marks}/remote")]
    config += [(name, f"touch {marks}/{name} #") for name in GIT_PROGRAMS]
    config += [("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"), ("commit.gpgsign", "false")]
    config += [("protocol.allow", "always"), ("safe.directory", "*")]
    with (root / ".git" / "config").open("a") as file:
        for name, value in config:
            section, _, variable = name.rpartition(".")
            top, _, sub = section.partition(".")
            header = f'[{top} "{sub}"]' if sub else f"[{top}]"
            file.write(f"{header}\n\t{variable} = {json.dumps(value)}\n")
    for mark in marks.iterdir():
        mark.unlink()  # what the making of the trap set off
    return pin


@pytest.fixture
def clone(template: tuple[Path, Path, str], sealed: Path, places: Places, tmp_path: Path, key: Path) -> Clone:
    source, marks, _ = template
    for mark in marks.iterdir():
        mark.unlink()
    root = tmp_path / "clone"
    shutil.copytree(source, root, symlinks=True)
    shutil.copytree(source, root.with_name("pristine"), symlinks=True)
    ssh = sealed / ".ssh"
    ssh.mkdir(mode=0o700)
    shutil.copy(key, ssh / "id_ed25519")
    shutil.copy(f"{key}.pub", ssh / "id_ed25519.pub")
    tools = tmp_path / "tools"
    tools.mkdir()
    real = shutil.which("ssh-keygen")
    (tools / "ssh-keygen").write_text(
        f'#!/bin/sh\ncase "$*" in *"-Y sign"*) echo "$*" >>{tools}/signed;; esac\nexec {real} "$@"\n'
    )
    (tools / "ssh-keygen").chmod(0o755)
    return Clone(root, places, marks, ssh / "id_ed25519", tools)


def require_nothing_happened(
    clone: Clone, before: tuple[object, ...], verdict: str, memfs_process: Callable[..., Run]
) -> None:
    assert sorted(mark.name for mark in clone.marks.iterdir()) == []
    assert not clone.signed.exists() or str(clone.key) not in clone.signed.read_text()
    assert not (clone.places.config / "trust.yaml").exists()
    assert clone.snapshot() == before
    assert clone.verdict(memfs_process) == verdict
    assert "not-pinned" in verdict


def test_every_verb_event_and_tool_is_listed() -> None:
    assert set(VERBS) == set(COMMANDS), "say in VERBS how the new verb is run in a stranger's clone"
    known = {agent: set(load_agent(agent).events) for agent in AGENTS}
    assert {agent: set(names) for agent, names in EVENTS.items()} == known, "list the new event in EVENTS"
    assert set(CALLS) == {tool.name for tool in TOOLS}, "say in CALLS how the new tool is called"


def test_the_trap_works(clone: Clone) -> None:
    """Each kind of trap goes off where somebody steps into it: otherwise the tests below show nothing."""
    environ = clone.environ | {"PATH": os.environ["PATH"]}
    plain = ("-c", "filter.evil.process=", "-c", "core.fsmonitor=false")  # so that the commit gets as far as its hooks
    subprocess.run(["git", *plain, "commit", "-qm", "x", "--allow-empty"], cwd=clone.root, env=environ, check=False)
    subprocess.run(
        [shutil.which("python3") or "python3", "-c", "import cryptography"], cwd=clone.root, env=environ, check=False
    )
    subprocess.run(["git", "fetch"], cwd=clone.root, env=environ, check=False, capture_output=True)
    subprocess.run(["./memfs", "doctor"], cwd=clone.root, env=environ, check=True)
    marks = {mark.name for mark in clone.marks.iterdir()}
    assert {"hook-pre-commit", "module-sitecustomize", "module-cryptography", "remote", "program-memfs"} <= marks


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_runs_pins_signs_or_believes_anything(
    verb: str, clone: Clone, memfs_process: Callable[..., Run], template: tuple[Path, Path, str], tmp_path: Path
) -> None:
    before, verdict = clone.snapshot(), clone.verdict(memfs_process)
    for words in VERBS[verb]:
        argv = [word.format(out=tmp_path, key=clone.key, pin=template[2]) for word in words]
        said = memfs_process(*argv, cwd=clone.root, env=clone.environ, timeout=120)
        assert said.code != 70, said.err
        marks = sorted(mark.name for mark in clone.marks.iterdir())
        assert marks == [], f"{argv} ran {marks}: {said.out}{said.err}"
    require_nothing_happened(clone, before, verdict, memfs_process)


@pytest.mark.parametrize("agent", EVENTS)
def test_no_hook_event_runs_or_believes_anything(agent: str, clone: Clone, memfs_process: Callable[..., Run]) -> None:
    before, verdict = clone.snapshot(), clone.verdict(memfs_process)
    for name in EVENTS[agent]:
        call = {
            "hook_event_name": name, "agent_action_name": name, "session_id": name, "cwd": str(clone.root),
            "prompt": "do migrations stay additive?", "source": "startup", "tool_name": "Bash",
            "workspace_roots": [str(clone.root)], "tool_info": {"user_prompt": "do migrations stay additive?"},
            "tool_input": {"command": "git status", "file_path": str(clone.root / "README.md")},
        }  # fmt: skip
        for sender in (agent, "auto"):
            said = memfs_process(
                "hook", sender, cwd=clone.root, env=clone.environ, stdin=json.dumps(call).encode(), timeout=30
            )
            assert said.code == 0
            assert "approved by" not in said.out
    require_nothing_happened(clone, before, verdict, memfs_process)


def test_no_tool_of_the_server_runs_or_believes_anything(
    clone: Clone, sealed: Path, memfs_process: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, verdict = clone.snapshot(), clone.verdict(memfs_process)
    with monkeypatch.context() as patch:
        for name, value in clone.environ.items():
            patch.setenv(name, value)
        talk = Talk(sealed, clone.root, "--allow", "write")
        try:
            talk.begin()
            for tool, arguments in CALLS.items():
                assert "approved by" not in json.dumps(talk.call(tool, **arguments))
        finally:
            talk.process.kill()
            talk.process.wait()
    require_nothing_happened(clone, before, verdict, memfs_process)
