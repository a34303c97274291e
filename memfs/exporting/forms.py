"""What is exported: memories in use, in a fixed order, so that the same memories give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memfs.model.codepoints import escape_hidden
from memfs.model.scope import Caller

if TYPE_CHECKING:
    from memfs.repository.repository import Repository
    from memfs.standing.assess import Assessment

TEAM = Caller(scopes=("team",))
"""Who a file that everybody reads is for."""

ABOUT = "Approved memories of this repository, written by `memfs export`. Change the memories, not this text.\n"


def in_use(repository: Repository, caller: Caller) -> list[Assessment]:
    """Return the memories that ``caller`` sees and that are in use: approved, current and admitted; by scope and id."""
    assessments, _ = repository.assess_all(caller)
    found = [one for one in assessments if one.approved]
    return sorted(found, key=lambda one: one.file.path)


def as_document(assessments: Sequence[Assessment]) -> str:
    """Return the memories as Markdown: a heading for each, its text, and what it rests on. "" where there are none."""
    parts = [ABOUT] if assessments else []
    for one in assessments:
        memory = one.file.memory
        assert memory is not None
        title = memory.title or memory.id
        people = ", ".join(one.verdict.people)
        facts = [f"`{memory.id}`", memory.kind.value, f"approved by {people}"]
        if memory.applies_to:
            facts.append(f"applies to {', '.join(memory.applies_to)}")
        body = "\n".join(_below_heading(memory.body.strip("\n").split("\n")))
        parts.append(f"\n## {_line(title)}\n\n{escape_hidden(body)}\n\n({'; '.join(map(_line, facts))})\n")
    return "".join(parts)


def as_jsonl(assessments: Iterable[Assessment]) -> str:
    """Return one JSON object a line: the memory's own file, and who approved it."""
    lines = []
    for one in assessments:
        memory = one.file.memory
        assert memory is not None
        row = {
            "id": memory.id,
            "title": memory.title or memory.id,
            "text": memory.body.strip("\n"),
            "kind": memory.kind.value,
            "scope": memory.scope,
            "tags": list(memory.tags),
            "recorded": memory.recorded.isoformat(),
            "approved_by": list(one.verdict.people),
            "file": one.file.raw.decode("utf-8"),
        }
        lines.append(json.dumps(row, ensure_ascii=True, sort_keys=True) + "\n")
    return "".join(lines)


def _below_heading(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text with its headings two levels down, so that each memory stays one section."""
    return [f"##{line}" if line.startswith("#") and line.lstrip("#")[:1] == " " else line for line in lines]


def _line(text: str) -> str:
    return escape_hidden(text, single_line=True)
