"""How memories are shown: bundles, Markdown, JSON, titles. The only way out for their text. Pure.

ADMISSION 6: approved and unapproved memories never share a bundle; what is due carries its state
first and is never shown as a current rule; a channel without room for a frame shows no unapproved
title; a memory that the gate stops is shown as a placeholder with its id and the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from memfs.model.memory import IfText, Memory, MemoryFile, State, StateReport
from memfs.model.values import dataclass
from memfs.render.escape import show_line, show_lines, show_name, show_text
from memfs.render.frame import DrawNonce, Frame, open_frame
from memfs.render.words import (
    APPROVED_ABOUT,
    APPROVED_WARNING,
    DUE_ABOUT,
    DUE_WARNING,
    EVIDENCE_ABOUT,
    UNAPPROVED_ABOUT,
    UNAPPROVED_WARNING,
)

TITLE_LENGTH = 100
_LONGEST_TITLE = 200  # letters of a title above its statement, where an answer is bounded
_SHARE = 3  # where an answer is bounded, the text of one of several memories takes at most this part of it
_RESERVE = 200  # bytes kept free for the mark of a cut, the blank lines and the count of what was left out


class Detail(IntEnum):
    """How much of each memory a bundle shows."""

    HEADING = 0  # state, heading, title
    BRIEF = 1  # and the statement and its evidence
    FULL = 2  # and the whole body and every other field


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """All that one memory needs to be shown.

    ``trust_words`` comes from :func:`memfs.render.words.trust_words`; ``placeholder`` is the
    sentence that is shown in place of the text when the gate stops it (the rule's name, or what is wrong
    with the file); ``notes`` are lines of memfs's own, shown last (an explanation of the rank).
    """

    file: MemoryFile
    state: StateReport | None
    trusted: bool
    trust_words: str
    placeholder: str | None = None
    store: str | None = None
    score: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def memory(self) -> Memory | None:
        """The memory, unless its text must not be shown."""
        return None if self.placeholder is not None else self.file.memory

    @property
    def current(self) -> bool:
        return self.state is not None and self.state.state is State.CURRENT

    @property
    def as_rule(self) -> bool:
        """Whether this may be shown as what the team approved: trusted, current and admissible."""
        return self.trusted and self.current and self.memory is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    about: str
    warning: str


_APPROVED = _Group(about=APPROVED_ABOUT, warning=APPROVED_WARNING)
_DUE = _Group(about=DUE_ABOUT, warning=DUE_WARNING)
_UNAPPROVED = _Group(about=UNAPPROVED_ABOUT, warning=UNAPPROVED_WARNING)


def _group_of(shown: Shown) -> _Group:
    if shown.as_rule:
        return _APPROVED
    return _DUE if shown.trusted and shown.memory is not None else _UNAPPROVED


def _name_of(file: MemoryFile) -> str:
    return file.id or show_name(file.path)


def _heading(shown: Shown) -> list[str]:
    """The lines of a memory that stand or fall together: its state when due, and its heading."""
    memory = shown.memory
    at = f" · store {show_line(shown.store)}" if shown.store else ""
    if memory is None:
        why = shown.placeholder or "not a well-formed memory"
        return [f"[{_name_of(shown.file)}] withheld: {show_line(why)}{at}"]
    lines = []
    if shown.state is not None and not shown.current:
        reasons = "; ".join(show_line(reason) for reason in shown.state.reasons) or "not current"
        lines.append(f"{shown.state.state.value.upper()}: {reasons}")
    lines.append(
        f"[{memory.id}] {memory.kind.value} · origin {memory.origin.value} · recorded {memory.recorded.isoformat()}"
        f" · {show_line(shown.trust_words)}{at}"
    )
    return lines


def _evidence(shown: Shown) -> list[str]:
    lines = []
    for report in shown.state.evidence if shown.state is not None else ():
        lines.append(f"evidence {show_line(report.text)} ({report.status.value})")
        if report.line_now is not None and not shown.trusted:
            lines.append(f"line now: {show_line(report.line_now)}")
    return lines


def _lines_now(shown: Sequence[Shown]) -> list[str]:
    """What the evidence of approved memories holds now: nobody approved that, so it has a frame of its own."""
    return [
        f"[{_name_of(item.file)}] {show_line(report.text)} holds now: {show_line(report.line_now)}"
        for item in shown
        if item.trusted and item.memory is not None and item.state is not None
        for report in item.state.evidence
        if report.line_now is not None
    ]


def _review(memory: Memory) -> str:
    from memfs.model.triggers import format_trigger

    return f"review {show_line(format_trigger(memory.review_trigger))}"


def _text(shown: Shown, detail: Detail, most: int | None) -> list[str]:
    """Return the lines below the heading. ``most`` bounds the bytes of the text, where it is given."""
    memory = shown.memory
    if memory is None:
        return [f"note: {show_line(note)}" for note in shown.notes]
    title = memory.title if most is None or not memory.title else _shortened(memory.title, _LONGEST_TITLE)
    lines = [f"title: {show_line(title)}"] if title else []
    if detail is Detail.HEADING:
        if not memory.title:
            lines += [f"statement: {_shortened(memory.statement)}"]
        return lines
    text = memory.body if detail is Detail.FULL else memory.statement
    raw = text.encode("utf-8", "surrogatepass")
    if most is not None and len(raw) > most:
        part = raw[:most].decode("utf-8", "ignore")
        lines += [*show_lines(part.rpartition("\n")[0] or part), _cut_mark(shown)]
    else:
        lines += show_lines(text)
    lines += _evidence(shown)
    if detail is Detail.FULL or isinstance(memory.review_trigger, IfText):
        lines.append(_review(memory))
    if detail is Detail.FULL:
        lines.append(f"scope {memory.scope}" + (f" · author {show_line(memory.author)}" if memory.author else ""))
        for name, values in (
            ("tags", memory.tags),
            ("applies to", memory.applies_to),
            ("supersedes", memory.supersedes),
        ):
            if values:
                lines.append(f"{name} {', '.join(show_line(value) for value in values)}")
        if memory.expires is not None:
            lines.append(f"expires {memory.expires.isoformat()}")
    return lines + [f"note: {show_line(note)}" for note in shown.notes]


def _cut_mark(shown: Shown) -> str:
    return f"… cut here; `memfs show {_name_of(shown.file)}` prints the rest"


def _shortened(text: str, length: int = TITLE_LENGTH) -> str:
    line = show_line(" ".join(text.split()))
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


@dataclass(slots=True, kw_only=True)
class _Bundle:
    frame: Frame
    lines: list[str]


def _open(group: _Group, content: Sequence[str], draw_nonce: DrawNonce) -> _Bundle:
    frame = open_frame(content, draw_nonce=draw_nonce, name="memory bundle", about=group.about, warning=group.warning)
    return _Bundle(frame=frame, lines=[])


def _whole_lines(lines: Sequence[str], frame: Frame, room: int | None) -> list[str]:
    if room is None:
        return list(lines)
    kept = []
    for line in lines:
        room -= frame.bytes_of(line)
        if room < 0:
            break
        kept.append(line)
    return kept


def render_bundle(
    shown: Sequence[Shown],
    *,
    draw_nonce: DrawNonce,
    limit_bytes: int | None = None,
    left_out: int = 0,
    detail: Detail = Detail.FULL,
) -> str:
    """Return the memories in their frames, best first inside each; "" when there is nothing to show.

    Up to three bundles: approved and current, approved and due, not approved. ``limit_bytes`` bounds
    the whole answer: whole lines are cut, every opened bundle is closed, and what did not fit is
    counted together with ``left_out``. Of several memories none takes more than its part.
    """
    most = None if limit_bytes is None or len(shown) < 2 else limit_bytes // _SHARE
    parts_of = [(_heading(item), _text(item, detail, most)) for item in shown]
    groups = [_group_of(item) for item in shown]
    bundles: dict[str, _Bundle] = {}
    placed: list[Shown] = []
    used = 0
    for item, group, (heading, text) in zip(shown, groups, parts_of, strict=True):
        bundle = bundles.get(group.about)
        if bundle is None:
            content = [line for (h, t), g in zip(parts_of, groups, strict=True) if g is group for line in (*h, *t)]
            bundle = _open(group, content, draw_nonce)
        lines = [*([""] if bundle.lines else []), *heading, *text]
        cost = 0 if bundle.lines else bundle.frame.own_bytes
        room = None if limit_bytes is None else limit_bytes - _RESERVE - used - cost
        kept = _whole_lines(lines, bundle.frame, room)
        if len(kept) < len(lines) - len(text) + bool(text):
            left_out += 1  # a heading without a line of text says nothing
            continue
        if len(kept) < len(lines):
            kept.append(_cut_mark(item))
        bundles[group.about] = bundle
        bundle.lines += kept
        placed.append(item)
        used += cost + sum(bundle.frame.bytes_of(line) for line in kept)
    shown_ids = {id(item) for item in placed}
    evidence = _lines_now([item for item in shown if id(item) in shown_ids])
    after = ""
    if detail is not Detail.HEADING:
        after = _evidence_frame(evidence, draw_nonce, None if limit_bytes is None else limit_bytes - _RESERVE - used)
    ordered = [bundles[group.about] for group in (_APPROVED, _DUE, _UNAPPROVED) if group.about in bundles]
    parts = [bundle.frame.enclose(bundle.lines) for bundle in ordered]
    parts += [after] if after else []
    if left_out and parts:
        parts.append(f"{left_out} more left out.\n")
    return "\n".join(parts)


def _evidence_frame(evidence: Sequence[str], draw_nonce: DrawNonce, room: int | None) -> str:
    """Return the lines that evidence has now in a frame of their own, "" where none of them fits."""
    if not evidence:
        return ""
    frame = open_frame(
        evidence, draw_nonce=draw_nonce, name="evidence now", about=EVIDENCE_ABOUT, warning=UNAPPROVED_WARNING
    )
    lines = _whole_lines(evidence, frame, None if room is None else room - frame.own_bytes)
    return frame.enclose(lines) if lines else ""


def render_markdown(
    shown: Sequence[Shown],
    *,
    draw_nonce: DrawNonce,
    limit_bytes: int | None = None,
    left_out: int = 0,
    detail: Detail = Detail.FULL,
) -> str:
    """Return the bundles inside a code fence, for a place that renders Markdown.

    No line of a memory can close the fence, since a prefix stands before each of them.
    """
    room = None if limit_bytes is None else limit_bytes - len("```text\n```\n")
    text = render_bundle(shown, draw_nonce=draw_nonce, limit_bytes=room, left_out=left_out, detail=detail)
    return f"```text\n{text}```\n" if text else ""


def render_titles(shown: Sequence[Shown]) -> list[str]:
    """Return one line for each approved and current memory, and at the end one that counts the others.

    For channels with no room for a frame. No unapproved title is shown, not even its id.
    """
    lines = [f"{item.file.id}: {_title(item)}" for item in shown if item.as_rule]
    others = len(shown) - len(lines)
    if others:
        lines.append(f"{others} not approved or not current; `memfs recall` shows {'it' if others == 1 else 'them'}.")
    return lines


def _title(shown: Shown) -> str:
    memory = shown.memory
    return "" if memory is None else _shortened(memory.title or memory.statement)


def render_json(shown: Sequence[Shown], *, detail: Detail = Detail.FULL) -> list[dict[str, Any]]:
    """Return one plain mapping for each memory, for ``--json`` and structured answers.

    Text is escaped as in the frame: a program that needs the exact bytes has the path and the digest.
    """
    return [_as_json(item, detail) for item in shown]


def _as_json(shown: Shown, detail: Detail) -> dict[str, Any]:
    memory = shown.memory
    entry: dict[str, Any] = {
        "id": shown.file.id,
        "path": show_line(shown.file.path),
        "digest": shown.file.digest,
        "trusted": shown.trusted,
        "trust": show_line(shown.trust_words),
        "approved_rule": shown.as_rule,
        "withheld": None if memory is not None else show_line(shown.placeholder or "not a well-formed memory"),
    }
    if shown.store is not None:
        entry["store"] = show_line(shown.store)
    if shown.score is not None:
        entry["score"] = shown.score
    if memory is None:
        return entry
    from memfs.model.triggers import format_trigger

    state = shown.state
    entry |= {
        "kind": memory.kind.value,
        "origin": memory.origin.value,
        "scope": memory.scope,
        "recorded": memory.recorded.isoformat(),
        "state": state.state.value if state else None,
        "state_reasons": [show_line(reason) for reason in state.reasons] if state else [],
        "title": show_text(memory.title) if memory.title else None,
        "statement": show_text(memory.statement),
    }
    if detail >= Detail.BRIEF:
        entry["evidence"] = [
            {
                "text": show_line(report.text),
                "status": report.status.value,
                "line_now": None if report.line_now is None else show_line(report.line_now),
            }
            for report in (state.evidence if state else ())
        ]
        entry["review_trigger"] = show_line(format_trigger(memory.review_trigger))
    if detail is Detail.FULL:
        entry |= {
            "body": show_text(memory.body),
            "author": show_line(memory.author) if memory.author else None,
            "tags": [show_line(tag) for tag in memory.tags],
            "applies_to": [show_line(pattern) for pattern in memory.applies_to],
            "supersedes": list(memory.supersedes),
            "expires": memory.expires.isoformat() if memory.expires else None,
        }
    return entry
