"""Every ``--json`` answer is ASCII, strict JSON, and what its schema says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource
from support import Run, git

from memfs.store.shipped import read_schema

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
    "forgotten": ("forget", "additive", "--json"),
    "connected": ("connect", "codex", "--command", "memfs", "--mcp", "--json"),
    "disconnected": ("disconnect", "codex", "--json"),
    "doctor": ("doctor", "--json"),
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


def test_no_answer_carries_a_field_that_its_schema_does_not_know(stocked: Path, memfs: Callable[..., Run]) -> None:
    for schema, argv in ANSWERS.items():
        assert read_schema(schema).get("additionalProperties") is False, schema
        assert set(memfs(*argv, cwd=stocked).json) <= set(read_schema(schema)["properties"])


def test_git_is_real_here(stocked: Path) -> None:
    assert git(stocked, "fsck", "--strict") == ""
