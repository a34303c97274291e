"""Assessed memories as the values that :mod:`memfs.render` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.render.views import Detail, Shown, render_bundle
from memfs.render.words import trust_words
from memfs.repository.named import PROJECT

if TYPE_CHECKING:
    from memfs.model.memory import MemoryFile
    from memfs.recall.search import Result
    from memfs.render.frame import DrawNonce
    from memfs.standing.assess import Assessment


def shown_of(
    assessment: Assessment, *, store: str | None = None, score: float | None = None, notes: tuple[str, ...] = ()
) -> Shown:
    """Return what ``render`` needs of an assessed file: verdict and gate turned into words."""
    file, verdict = assessment.file, assessment.verdict
    placeholder = None
    if file.memory is None:
        placeholder = _what_is_wrong(file)
    elif assessment.gate.outcome.value == "reject":
        rules = dict.fromkeys(finding.rule for finding in assessment.gate.findings)
        placeholder = f"admission stops it ({', '.join(rules)})"
    return Shown(
        file=file,
        state=assessment.state,
        trusted=verdict.trusted,
        trust_words=trust_words(
            trusted=verdict.trusted,
            level=verdict.level.value,
            reason=verdict.reason.value if verdict.reason else None,
            people=verdict.people,
            on=verdict.on,
        ),
        placeholder=placeholder,
        store=store,
        score=score,
        notes=notes,
    )


def _what_is_wrong(file: MemoryFile) -> str:
    """Return the fatal problems of a file in one line, fields with the same problem together."""
    fields: dict[str, list[str]] = {}
    for problem in file.problems:
        if problem.fatal:
            fields.setdefault(problem.message, []).extend([problem.field] if problem.field else [])
    said = [f"{', '.join(dict.fromkeys(names))}: {message}" if names else message for message, names in fields.items()]
    return "; ".join(said) or "not a well-formed memory"


def render_hits(
    result: Result, *, draw_nonce: DrawNonce, limit_bytes: int | None = None, detail: Detail | None = None
) -> str:
    """Return the hits of a recall in their frames, approved ones first; "" when there are none."""
    shown = [
        shown_of(hit.assessment, store=None if hit.store == PROJECT else hit.store, score=hit.score, notes=hit.notes)
        for hit in result.hits
    ]
    return render_bundle(
        shown,
        draw_nonce=draw_nonce,
        limit_bytes=limit_bytes,
        left_out=result.left_out,
        detail=Detail.BRIEF if detail is None else detail,
    )


def _is_about(path: str, memory_id: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name == f"{memory_id}.md" or (path.startswith(".memfs/approvals/") and name.split(".")[0] == memory_id)
