"""Versions compare as numbers, and manifests give the lowest one that they allow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfs.model.versions import MANIFESTS, find_version, is_at_least, lowest_version, parse_manifest, version_key

BEFORE_1 = ["0.9", "1.0.dev1", "1.0a1", "1.0.0-alpha.2", "1.0b1", "1.0.0-beta.11", "1.0rc1"]
IN_ORDER = [*BEFORE_1, "1.0", "1.0.post1", "1.0.1", "1.2", "1.10", "v2", "1!0.1"]


def test_versions_are_ordered_as_numbers_with_what_comes_before_and_after_a_release() -> None:
    for at, lower in enumerate(IN_ORDER):
        for higher in IN_ORDER[at + 1 :]:
            assert is_at_least(higher, lower), (lower, higher)
            assert not is_at_least(lower, higher), (lower, higher)


SAME = [("1", "1.0.0"), ("v1.2", "1.2"), ("1.0+build.7", "1.0"), ("1.0RC1", "1.0-rc.1"), ("1.0-alpha1", "1.0a1")]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_spellings_of_one_version_are_equal(left: str, right: str) -> None:
    assert version_key(left) == version_key(right)


@pytest.mark.parametrize("text", ["", "latest", "*", "x", "-1", "9" * 200, "1." * 100])
def test_what_is_no_version_is_never_at_least_anything(text: str) -> None:
    assert not is_at_least(text, "0")
    assert version_key(text) is None or len(text) <= 128


@settings(deadline=None)
@given(text=st.text(max_size=20), other=st.text("0123456789.abrcv-+!", max_size=12))
def test_any_text_can_be_compared(text: str, other: str) -> None:
    assert is_at_least(text, other) in {True, False}
    lowest_version(text)


@pytest.mark.parametrize(
    ("constraint", "version"),
    [
        ("1.2.3", "1.2.3"),
        ("^1.2", "1.2"),
        ("~1.4.0", "1.4.0"),
        (">=2.0,<3", "2.0"),
        ("<3,>=2", "2"),
        ("==1.4.*", "1.4"),
        ("~=1.4", "1.4"),
        (">= 1.0 || >= 2.0", "1.0"),
        ("^18 || ^17", "17"),
        ("<3", None),
        ("!=1.0", None),
        ("*", None),
        ("", None),
        ("workspace:*", None),
        ("git+https://example.com/x#v1.2", None),
        ("file:../x-1.0", None),
    ],
)
def test_a_constraint_gives_the_lowest_version_that_it_allows(constraint: str, version: str | None) -> None:
    assert lowest_version(constraint) == version


PYPROJECT = """
[project]
requires-python = ">=3.11"
dependencies = [
  "SQLAlchemy[asyncio]>=2.0,<3 ; python_version > '3.8'",
  "typing_extensions",
  "x @ https://example.com/x-1.0.zip",
]
[project.optional-dependencies]
all = ["numpy~=1.26"]
[dependency-groups]
dev = ["pytest>=8", {include-group = "x"}]
[tool.poetry.dependencies]
django = {version = "^5.0", optional = true}
"""
REQUIREMENTS = """
# comment
Django==5.1.2  # why
-r other.txt
uvicorn[standard]>=0.30 --hash=sha256:00
flask
"""
PACKAGE = """{
  "dependencies": {"@acme/ui": "^3.1.0", "x": "*"},
  "devDependencies": {"vite": "~5.2"},
  "engines": {"node": ">=20"}
}"""
CARGO = """
[package]
rust-version = "1.75"
[dependencies]
serde = "1.0.200"
tokio = {version = "1.37", features = []}
local = {path = "../x"}
"""
GO = """module m

go 1.22.1

require github.com/a/b v1.2.3
require (
\tgithub.com/c/d/v2 v2.0.0-rc1 // indirect
)
exclude (
\tx.y/z v9.0.0
)
replace a => b v7.0.0
"""


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "pyproject.toml",
            PYPROJECT,
            {"sqlalchemy": "2.0", "numpy": "1.26", "pytest": "8", "python": "3.11", "django": "5.0"},
        ),
        ("requirements.txt", REQUIREMENTS, {"django": "5.1.2", "uvicorn": "0.30"}),
        ("package.json", PACKAGE, {"@acme/ui": "3.1.0", "vite": "5.2", "node": "20"}),
        ("Cargo.toml", CARGO, {"serde": "1.0.200", "tokio": "1.37", "rust": "1.75"}),
        ("go.mod", GO, {"go": "1.22.1", "github-com/a/b": "1.2.3", "github-com/c/d/v2": "2.0.0-rc1"}),
    ],
)
def test_each_kind_of_manifest_is_read(name: str, text: str, found: dict[str, str]) -> None:
    assert parse_manifest(name, text) == found


def test_a_name_is_found_in_any_spelling_and_the_latest_manifest_wins() -> None:
    tables = [{"typing-extensions": "4.9"}, {"typing-extensions": "4.12", "x": "nonsense"}]
    assert find_version("Typing_Extensions", tables) == "4.12"
    assert find_version("other", tables) is None
    assert find_version("x", tables) is None


NO_MANIFESTS = [
    *["", "null", "[]", '"x"', "[" * 100_000, "{" * 100_000, "a = " + "[" * 50_000, "x" * 2_000_000, "\0", "\ufeff{}"],
    *['{"dependencies": [1]}', '{"dependencies": {"a": 1, "b": null}}', '{"a": ' + "1" * 5000 + "}"],
    *["dependencies = 1", "[project]\ndependencies = 'x'", "project = 1", "[tool.poetry]\ngroup = []"],
    *["[tool.poetry.group]\nx = 1", "[workspace]\ndependencies = 3", "require (\n(\n)\n)", "a==" + "1" * 5000],
]


@pytest.mark.parametrize("name", MANIFESTS)
@pytest.mark.parametrize("text", NO_MANIFESTS, ids=lambda text: repr(text[:20]))
def test_a_manifest_that_cannot_be_read_names_nothing(name: str, text: str) -> None:
    assert parse_manifest(name, text) == {}


def test_other_files_are_no_manifests() -> None:
    assert parse_manifest("poetry.lock", "[project]\nrequires-python = '3'\n") == {}
