"""What a cold start imports: the list is short, and this test holds it there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "git", "jsonschema", "rich", "whoosh", "numpy", "onnxruntime", "cryptography", "mcp", "platformdirs", "shtab",
    "yaml", "frontmatter", "subprocess", "jinja2", "importlib.metadata", "asyncio", "socket", "ssl", "dataclasses",
    "typing_extensions",
}  # fmt: skip


def imported_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after ``code``."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_version_needs_no_package() -> None:
    loaded = imported_by("from memfs.cli import main; main(['--version'])")
    assert not loaded & HEAVY
    assert "argparse" not in loaded
    assert "dataclasses" not in loaded


@pytest.mark.parametrize(
    "module", ["memfs.model.memory", "memfs.model.scope", "memfs.disk.worktree", "memfs.disk.files"]
)
def test_values_and_file_reading_need_no_heavy_package(module: str) -> None:
    assert not imported_by(f"import {module}") & (HEAVY - {"yaml", "frontmatter"})


def test_help_imports_no_command() -> None:
    loaded = imported_by("from memfs.cli import main; main(['--help'])")
    assert not {name for name in loaded if name.startswith("memfs.cli.") and name.endswith("_command")}
    assert not loaded & HEAVY
