"""Every ``--json`` answer is ASCII, strict JSON, and what its schema says."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource
from support import Run, git

import memfs as memfs_package
from memfs.cli.parser import command_parser
from memfs.cli.table import COMMANDS
from memfs.disk.shipped import read_schema

REMEMBER = (
    "remember", "Additive migrations: the café’s 设备.", "--id", "additive", "--kind", "decision", "--scope", "team",
    "--origin", "owner", "--evidence", "README.md", "--review", "on 2030-01-01",
)  # fmt: skip

ANSWERS: dict[str, tuple[str, ...]] = {
    "init": ("init", "--json"),
    "recorded": ("edit", "additive", "--title", "Additive", "--json"),
    "show": ("show", "additive", "--json"),
    "list": ("list", "--json"),
    "history": ("history", "additive", "--json"),
    "status": ("status", "--json"),
    "renamed": ("rename", "additive", "migrations-additive", "--json"),
    "forgotten": ("forget", "additive", "--json"),
    "connected": ("connect", "codex", "--command", "memfs", "--mcp", "--json"),
    "disconnected": ("disconnect", "codex", "--json"),
    "doctor": ("doctor", "--json"),
    "admission-test": ("admission", "test", "README.md", "--json"),
    "admission-rules": ("admission", "rules", "--json"),
    "drafts": ("drafts", "list", "--json"),
    "mcp-keys": ("mcp", "--keys", "--json"),
    "check": ("check", "memories/team/additive.md", "--pin", "here", "--json"),
    "review": ("review", "HEAD~1..HEAD", "--json"),
    "propose": ("propose", "additive", "--base", "HEAD~1", "--no-push", "--json"),
}


def validate(document: object, schema: str) -> None:
    """Check ``document`` against ``schemas/SCHEMA.json``, which may refer to the schema of one memory."""
    shown = read_schema("shown")
    registry: Registry[Any] = Registry().with_resource(shown["$id"], Resource.from_contents(shown))
    rules = read_schema(schema)
    jsonschema.Draft202012Validator.check_schema(rules)
    jsonschema.Draft202012Validator(rules, registry=registry).validate(document)


@pytest.fixture
def stocked(repo: Path, memfs: Callable[..., Run]) -> Path:
    """Return a repository with one good memory, one badly formed file and one that cannot be read."""
    assert memfs("init", "--no-keyring", cwd=repo).code == 0
    assert memfs(*REMEMBER, cwd=repo).code == 0
    (repo / "memories/team/half.md").write_text("---\nkind: decision\n---\nHalf a memory.\n")
    (repo / "memories/team/broken.md").write_text("---\nkind: [\n---\nx\n")
    return repo


@pytest.mark.parametrize("schema", ANSWERS)
def test_the_answer_is_what_its_schema_says(schema: str, stocked: Path, memfs: Callable[..., Run]) -> None:
    run = memfs(*ANSWERS[schema], cwd=stocked)
    assert run.code == 0, run.err
    assert run.out.isascii()
    document = json.loads(run.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert document["schema"] == f"memfs/{schema}/1"
    validate(document, schema)


def test_every_answer_that_a_command_emits_has_a_schema_that_allows_nothing_else() -> None:
    emitted = set()
    for source in (Path(memfs_package.__file__).parent / "cli").glob("*.py"):
        emitted |= set(re.findall(r'\.emit\(\s*"([a-z-]+)"', source.read_text(encoding="utf-8")))
    assert {"show", "list", "recall", "trust", "check", "doctor"} <= emitted
    for name in sorted(emitted):
        assert read_schema(name).get("additionalProperties") is False, name
        assert read_schema(name)["$id"] == f"urn:memfs:schema:{name}:1"


def test_every_command_that_answers_takes_json() -> None:
    without = {"browse", "completion", "demo", "hook"}
    for verb in COMMANDS:
        options = [option for action in _actions(command_parser(verb)) for option in action.option_strings]
        assert ("--json" in options) == (verb not in without), verb


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    found = []
    for action in parser._actions:
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                found += _actions(child)
    return found


def test_git_is_real_here(stocked: Path) -> None:
    assert git(stocked, "fsck", "--strict") == ""
