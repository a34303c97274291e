"""Memories in use as a folder of files: a pack that is a memory repository itself, or Claude Code's own memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.disk.files import write_atomic
from memfs.errors import UsageError
from memfs.exporting.forms import ABOUT
from memfs.model.codepoints import escape_hidden
from memfs.trust.carriers import APPROVALS, TreeCarrier
from memfs.trust.record import find_records

if TYPE_CHECKING:
    from memfs.disk.worktree import WorkTree
    from memfs.standing.assess import Assessment

INDEX = "MEMORY.md"
"""The file that says that a folder is an export, and what is in it."""


def as_pack(tree: WorkTree, assessments: Sequence[Assessment]) -> dict[str, bytes]:
    """Return path → content of a pack: the memories byte for byte, their receipts and the keyrings, and an index.

    ``memfs import`` takes the texts; a repository of git made of it has the approvals too.
    """
    ids = {one.file.id for one in assessments}
    files = {one.file.path: one.file.raw for one in assessments}
    carrier = TreeCarrier(tree)
    for name in carrier.receipt_names():
        raw = carrier.receipt(name) or b""
        if any(item.id in ids for record in find_records(raw) for item in record.statement.items):
            files[f"{APPROVALS}/{name}"] = raw
    files |= {f".memfs/keyring.{number}": raw for number, raw in carrier.keyrings().items()}
    files[INDEX] = _index([(one.file.path, one) for one in assessments])
    return files


def as_claude_memory(assessments: Sequence[Assessment]) -> dict[str, bytes]:
    """Return path → content of a folder in the form of Claude Code's auto memory: one file each, and its index.

    The form: name, description and type at the top, as Claude Code 2.1.332 writes it.
    """
    files = {}
    for one in assessments:
        memory = one.file.memory
        assert memory is not None
        kind = "feedback" if memory.kind.value == "preference" else "project"
        front = f"---\nname: {one.file.id}\ndescription: {_text(memory.statement)}\nmetadata:\n  type: {kind}\n---\n"
        files[f"{one.file.id}.md"] = f"{front}\n{escape_hidden(memory.body).strip()}\n".encode()
    files[INDEX] = _index([(f"{one.file.id}.md", one) for one in assessments])
    return files


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write ``files`` below ``folder``, which is new, empty, or an earlier export; what that one had and this one has
    not is taken away.

    Raises :class:`UsageError` for a folder that contains anything else, or a link: nothing is written.
    """
    there = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()] if folder.exists() else []
    index = folder / INDEX
    before = index.read_bytes() if index.is_file() and not index.is_symlink() else b""
    if (there and not before.startswith(ABOUT.encode())) or any(map(os.path.islink, (folder, *there))):
        raise UsageError("this folder contains something else, so nothing is written", where=str(folder))
    listed = set(re.findall(r"\]\(([^()\n]+\.md)\): ", before.decode("utf-8", "replace")))
    for path in there:
        if path.relative_to(folder).as_posix() in listed - files.keys():
            path.unlink()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)


def _index(rows: Sequence[tuple[str, Assessment]]) -> bytes:
    lines = [ABOUT]
    for path, one in rows:
        memory = one.file.memory
        assert memory is not None
        lines.append(f"- [{_text(memory.title or memory.id)}]({path}): {_text(memory.statement)}")
    return ("\n".join(lines) + "\n").encode()


def _text(text: str) -> str:
    """Return ``text`` on one line, as a value that YAML and Markdown both read as it is."""
    line = escape_hidden(text, single_line=True).replace("[", "(").replace("]", ")").replace(": ", " - ")
    return line.strip("\"'`*&!%@#|>-{} ")[:200] or "memory"
