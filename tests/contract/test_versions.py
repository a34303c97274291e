"""Every file that names the version of memfs names this one (docs/RELEASE.md)."""

from __future__ import annotations

import json
import re

import pytest
from support import CHECKOUT

import memfs

TEMPLATE = ("workflows/memories.yml", "workflows/publish.yml")
NAMES = {
    **{f"template-repo/.github/{name}": r'MEMFS_VERSION: "([^"]+)"' for name in TEMPLATE},
    "template-repo/.gitlab-ci.yml": r'MEMFS_VERSION: "([^"]+)"',
    "template-repo/.pre-commit-config.yaml": r'(?:memfs-git==|memfs@v)([^"\s]+)"',
    "integrations/server.json": r'"version": "([^"]+)"',
    "integrations/plugin/.claude-plugin/plugin.json": r'"version": "([^"]+)"',
    "integrations/gemini-extension/gemini-extension.json": r'"version": "([^"]+)"',
}

pytestmark = pytest.mark.skipif(not (CHECKOUT / "docs").is_dir(), reason="the documents are not beside the tests")


@pytest.mark.parametrize("path", list(NAMES))
def test_a_file_that_names_the_version_names_this_one(path: str) -> None:
    found = re.findall(NAMES[path], (CHECKOUT / path).read_text(encoding="utf-8"))
    assert found
    assert set(found) == {memfs.__version__}


def test_no_other_file_names_a_version_of_memfs() -> None:
    for place in sorted((CHECKOUT / "integrations").rglob("*.json")):
        path = str(place.relative_to(CHECKOUT))
        if "version" in json.loads(place.read_text(encoding="utf-8")):
            assert path in NAMES, path
    for place in sorted((CHECKOUT / "template-repo").rglob("*")):
        path = str(place.relative_to(CHECKOUT))
        if place.is_file() and re.search(r"MEMFS_VERSION:|memfs-git==\d|memfs@v\d", place.read_text(encoding="utf-8")):
            assert path in NAMES, path


def test_every_address_of_memfs_is_this_one() -> None:
    for folder in ("template-repo", "integrations"):
        for place in sorted((CHECKOUT / folder).rglob("*")):
            if place.is_file():
                text = place.read_text(encoding="utf-8")
                found = set(re.findall(r"https://[a-z.]+/[\w-]+/memfs\b", text))
                assert found <= {memfs.REPOSITORY}, place


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
