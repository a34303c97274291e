"""A rejected value appears nowhere: files, names, git objects (dangling ones too), index, state, output. A held one
appears in the draft that its author keeps, and nowhere else.

The real command in real processes; credentials and a person's details are put together here and were
never valid anywhere.
"""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from admission.made import HEX, Maker
from support import Run, git

FIELDS = {
    "--kind": "decision",
    "--scope": "team",
    "--evidence": "README.md",
    "--review": "on 2030-01-01",
    "--title": "A title",
    "--tag": "tag",
    "--applies-to": "src/**",
}


@pytest.fixture
def values() -> dict[str, str]:
    maker = Maker(int.from_bytes(os.urandom(4), "big"))
    vendor = maker.vendor()
    names = [maker.run("BCDFGHJKLMNPQRSTVWXZ", 1) + maker.run("abcdefghijklmnopqrstuvwxyz", 7) for _ in range(2)]
    return {
        "github": vendor["github"],
        "aws": vendor["aws"],
        "password": f"Qz{maker.run(HEX, 8)}!Kd{maker.random.randrange(100, 999)}",
        "url": maker.run("ABCDEFGHabcdefgh23456789", 18),
        "e-mail": f"{names[0].lower()}.{names[1].lower()}@contoso.com",
        "card": "4111 1111 1111 1111",
    }


def _note(values: dict[str, str]) -> str:
    return (
        f"The token is {values['github']} and the key {values['aws']}.\n\nThe password is {values['password']};"
        f" the mirror is https://ci:{values['url']}@git.example.org/x.\n\n{values['e-mail']} paid with "
        f"{values['card']}.\n"
    )


def _in_context(name: str, value: str) -> str:
    """Return the value as it would stand in a field: a password alone could be any word."""
    if name == "password":
        return f"the password is {value}"
    return f"https://ci:{value}@git.example.org/x" if name == "url" else f"see {value}"


def _spellings(value: str) -> Iterator[bytes]:
    raw = value.encode()
    yield raw
    yield raw.lower()
    yield raw.hex().encode()
    for shift in range(3):  # base64 of a longer text holds it in one of three alignments
        encoded = base64.b64encode(b"x" * shift + raw)
        yield encoded[4 if shift else 0 : -4]
    yield "-".join("".join(char if char.isalnum() else "-" for char in value.lower()).split("-")).strip("-").encode()


def _everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        yield f"name {path}", os.fsencode(str(path.relative_to(folder)))
        if path.is_file() and not path.is_symlink():
            yield f"file {path}", path.read_bytes()


def _objects(repo: Path) -> Iterator[tuple[str, bytes]]:
    listed = git(repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    for name in listed:
        yield (
            f"object {name}",
            subprocess.run(["git", "cat-file", "-p", name], cwd=repo, check=True, capture_output=True).stdout,
        )


KNOWN_FORM = ("github", "aws")


def _left(values: dict[str, str], repo: Path, home: Path, said: str) -> list[str]:
    places = [*_everything(repo), *_everything(home), *_objects(repo), ("output", said.encode())]
    places.append(("reflog", git(repo, "reflog", "--all").encode()))
    return [
        f"{name} in {place}"
        for name, value in values.items()
        for spelling in _spellings(value)
        for place, content in places
        if (name in KNOWN_FORM or "/drafts/" not in place)
        and (spelling in content or (place == "output" and spelling in content.lower()))
    ]


@pytest.fixture
def stocked(repo: Path, memfs_process: Callable[..., Run]) -> Path:
    assert memfs_process("init", "--no-keyring", cwd=repo).code == 0
    argv = [part for pair in FIELDS.items() for part in pair]
    assert memfs_process("remember", "Additive migrations only.", *argv, "--id", "good", cwd=repo).code == 0
    return repo


def test_a_note_full_of_them_is_stopped_field_by_field(
    stocked: Path, memfs_process: Callable[..., Run], sealed: Path, values: dict[str, str]
) -> None:
    said = ""
    argv = [part for pair in FIELDS.items() for part in pair]
    runs = [memfs_process("remember", *argv, cwd=stocked, stdin=_note(values).encode())]
    runs.append(memfs_process("remember", _note(values), cwd=stocked))
    runs.append(memfs_process("remember", *argv, "--dry-run", cwd=stocked, stdin=_note(values).encode()))
    runs.append(memfs_process("edit", "good", "-", cwd=stocked, stdin=_note(values).encode()))
    runs.append(memfs_process("supersede", "good", _note(values), *argv, cwd=stocked))
    for name, value in values.items():
        text = _in_context(name, value)
        for option in ("--title", "--tag", "--applies-to", "--evidence", "--review", "--author"):
            given = {**FIELDS, option: f"if {text}" if option == "--review" else text}
            flat = [part for pair in given.items() for part in pair]
            runs.append(memfs_process("remember", "Additive migrations.", *flat, cwd=stocked))
        runs.append(memfs_process("edit", "good", "--title", text, cwd=stocked))
    for run in runs:
        assert run.code in (2, 4, 5), run.err
        said += run.out + run.err
    leaking = [(run.err, name) for run in runs for name, value in values.items() if value in run.out + run.err]
    assert leaking == []
    assert said.count("admission rejected") >= 15
    assert said.count("admission holds") >= 20
    assert _left(values, stocked, sealed, said) == []
    assert git(stocked, "status", "--porcelain") == ""
    assert git(stocked, "rev-list", "--count", "HEAD") == git(stocked, "rev-list", "--count", "--all")


def test_an_editor_leaves_nothing_behind(
    stocked: Path, memfs_process: Callable[..., Run], sealed: Path, tmp_path: Path, values: dict[str, str]
) -> None:
    note = tmp_path / "outside" / "note.md"
    note.parent.mkdir()
    note.write_text(_note(values))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    argv = [part for pair in FIELDS.items() for part in pair]
    run = memfs_process(
        "remember", "--editor", *argv, cwd=stocked, env={"EDITOR": f"cp {note}", "TMPDIR": str(temporary)}
    )
    assert run.code == 5, run.err
    assert _left(values, stocked, sealed, run.out + run.err) == []
    assert [content for _, content in _everything(temporary)] == []


def test_a_hand_edited_file_is_withheld_and_copied_nowhere(
    stocked: Path, memfs_process: Callable[..., Run], sealed: Path, values: dict[str, str]
) -> None:
    path = stocked / "memories" / "team" / "good.md"
    path.write_text(
        path.read_text().replace("Additive migrations only.", "Additive migrations only.\n\n" + _note(values))
    )
    said = ""
    for arguments in (
        ("show", "good"),
        ("show", "good", "--json"),
        ("show", "good", "--markdown"),
        ("list",),
        ("list", "--json"),
        ("recall", "additive migrations"),
        ("recall", "additive migrations", "--json"),
        ("status",),
        ("due",),
        ("stale",),
        ("index", "--rebuild"),
        ("check",),
        ("recall", values["github"]),
        ("history", "good"),
    ):
        run = memfs_process(*arguments, cwd=stocked)
        said += run.out + run.err
    shown = memfs_process("show", "good", cwd=stocked)
    assert "withheld" in shown.out
    path.unlink()
    missing = {name: value for name, value in values.items() if name != "github"}
    left = [place for place in _left(missing, stocked, sealed, said) if "/index/" not in place]
    assert left == []
