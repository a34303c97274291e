"""Versions of packages: compared as numbers, read from a project's manifests (DESIGN 3). Pure.

A manifest says which versions it allows; the lowest of them is what the project can count on, and
what ``when NAME >= VERSION`` is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MANIFESTS = ("pyproject.toml", "requirements.txt", "package.json", "Cargo.toml", "go.mod")
"""File names that :func:`parse_manifest` reads, at the root of the work tree."""
MAX_MANIFEST_BYTES = 1024 * 1024

_RELEASE = re.compile(r"(?:([0-9]{1,9})!)?v?([0-9]{1,18}(?:\.[0-9]{1,18}){0,9})")
_CLAUSE = re.compile(r"(===?|>=|<=|!=|~=|~>?|\^|=|<|>)?\s*v?([0-9][0-9A-Za-z.+!_-]*)")
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?((?:(?:[=!~<>]=|[<>])[^;#]*)?)")
_WORDS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc", "dev": ""}
_PRE, _FINAL, _POST = 0, 1, 2

Key = tuple[int, tuple[int, ...], int, tuple[tuple[int, int, str], ...]]


def version_key(text: str) -> Key | None:
    """Return a key that orders versions, None when ``text`` is none.

    Numbers compare as numbers and missing ones are 0; a suffix (``rc1``, ``-beta.2``, ``.dev3``) is
    before the release, ``post`` after it; what follows ``+`` does not count.
    """
    text = text.strip().casefold().split("+", 1)[0]
    found = _RELEASE.match(text)
    if found is None or len(text) > 128:
        return None
    numbers = [int(number) for number in found[2].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    suffix = text[found.end() :].strip("-._*")
    if suffix in {"", "x"}:
        place = _FINAL
    else:
        place = _POST if re.match(r"post|rev|r[0-9]", suffix) else _PRE
    # SemVer 11: numbers come before words, and are compared as numbers.
    tokens = tuple(
        (0, int(token), "") if token.isdigit() else (1, 0, _WORDS.get(token, token))
        for token in re.findall(r"[0-9]{1,18}|[a-z]+", suffix if place != _FINAL else "")
    )
    return int(found[1] or 0), tuple(numbers), place, tokens


def is_at_least(version: str, wanted: str) -> bool:
    """Return whether ``version`` is ``wanted`` or later; what is not a version is not."""
    left, right = version_key(version), version_key(wanted)
    return left is not None and right is not None and left >= right


def lowest_version(constraint: str) -> str | None:
    """Return the lowest version that a constraint such as ``^1.2`` or ``>=2,<3`` allows, None if it has none."""
    if ":" in constraint or "/" in constraint:  # a URL, a path, a workspace
        return None
    allowed = [found[2].rstrip(".-_") for found in _CLAUSE.finditer(constraint) if found[1] not in {"<", "<=", "!="}]
    keyed = [(key, version) for version in allowed if (key := version_key(version)) is not None]
    return min(keyed)[1] if keyed else None


def normal_name(name: str) -> str:
    """Return ``name`` so that spellings of one package are equal (case, ``-``, ``_`` and ``.``)."""
    return re.sub(r"[-_.]+", "-", name).casefold()


def parse_manifest(file_name: str, text: str) -> dict[str, str]:
    """Return normal name → lowest allowed version for one manifest; {} for one that cannot be read.

    The language itself counts under its name: ``python``, ``node``, ``rust``, ``go``.
    """
    parse = {
        "pyproject.toml": _parse_pyproject,
        "requirements.txt": _parse_requirements,
        "package.json": _parse_package_json,
        "Cargo.toml": _parse_cargo,
        "go.mod": _parse_go_mod,
    }.get(file_name)
    found: dict[str, str] = {}
    if parse is None or len(text) > MAX_MANIFEST_BYTES:
        return found
    try:
        pairs = list(parse(text))
    except (ValueError, RecursionError):  # TOML and JSON errors are ValueErrors; deep nesting is not
        return found
    for name, constraint in pairs:
        version = lowest_version(constraint)
        if version is not None:
            found.setdefault(normal_name(name), version)
    return found


def find_version(name: str, manifests: Iterable[Mapping[str, str]]) -> str | None:
    """Return the version of ``name``: the latest that one of the parsed ``manifests`` names, or None."""
    versions = [manifest[normal_name(name)] for manifest in manifests if normal_name(name) in manifest]
    keyed = [(key, version) for version in versions if (key := version_key(version)) is not None]
    return max(keyed)[1] if keyed else None


Pairs = Iterator[tuple[str, str]]


def _table(parent: object, *names: str) -> dict[str, Any]:
    """Return the table at ``names``, empty where there is none: manifests are anybody's text."""
    for name in names:
        parent = parent.get(name) if isinstance(parent, dict) else None
    return parent if isinstance(parent, dict) else {}


def _parse_pyproject(text: str) -> Pairs:
    import tomllib

    table = tomllib.loads(text)
    project = _table(table, "project")
    groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    for group in [*groups, *_table(table, "dependency-groups").values()]:
        for line in group if isinstance(group, list) else []:
            yield from _parse_requirements(line) if isinstance(line, str) else ()
    yield "python", str(project.get("requires-python", ""))
    yield from _constraints(_table(table, "tool", "poetry", "dependencies"))
    for group in _table(table, "tool", "poetry", "group").values():
        yield from _constraints(_table(group, "dependencies"))


def _parse_requirements(text: str) -> Pairs:
    for line in text.splitlines():
        if found := _REQUIREMENT.match(line.strip()):
            yield found[1], found[2].split(" --")[0]


def _parse_package_json(text: str) -> Pairs:
    import json

    table = json.loads(text)
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "engines"):
        yield from _constraints(_table(table, key))


def _parse_cargo(text: str) -> Pairs:
    import tomllib

    table = tomllib.loads(text)
    for parent in (table, _table(table, "workspace")):
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _constraints(_table(parent, key))
    yield "rust", str(_table(table, "package").get("rust-version", ""))


def _parse_go_mod(text: str) -> Pairs:
    block = ""
    for line in text.splitlines():
        words = line.split("//")[0].split()
        if words[1:] == ["("]:
            block = words[0]
        elif words == [")"]:
            block = ""
        elif len(words) == 2 and (block == "require" or words[0] == "go"):
            yield words[0], words[1]
        elif len(words) == 3 and words[0] == "require":
            yield words[1], words[2]


def _constraints(table: dict[str, Any]) -> Pairs:
    for name, value in table.items():
        constraint = value.get("version") if isinstance(value, dict) else value
        if isinstance(constraint, str):
            yield name, constraint
