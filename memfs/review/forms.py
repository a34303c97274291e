"""A review in its three forms: for a terminal, as the one comment of a pull request, as JSON. Pure.

In a comment, whatever could be Markdown, a mention, a reference or a link is a code span; texts of
memories stand in ``<pre>`` with every character escaped. On a terminal every line is memfs's own or
begins with memfs's own mark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from memfs.check.words import counted, memories
from memfs.model.codepoints import escape_hidden
from memfs.review.change import Change, Review
from memfs.review.notes import Note, Tone
from memfs.review.words import Mark, Piece, Row, context_rows

MARKER = "<!-- memfs-review -->"
"""First line of the comment: the workflow finds the one to update by it."""

MAX_COMMENT = 60_000
"""Most bytes of a comment; GitHub takes 65,536 characters."""

_PLAIN_WORD = re.compile(r"[^\W_](?:(?:[^\W_]|['’.,-])*[^\W_])?|[-–·→…+%]|\d+%?")
_OPENING, _CLOSING = "(“\"'", ")”\"'.,;:?!"
_WHAT = {"approvals": "same text, other approvals"}
_LABELS = {Tone.STOP: "Settle", Tone.LOOK: "Look", Tone.FINE: "Fine", Tone.PLAIN: "Note"}


def headline(review: Review) -> str:
    """Return the whole review in one line: what changes, what must be settled, what is approved."""
    parts = [_what_changes(review)]
    if review.stops:
        parts.append(f"{counted(review.stops, 'thing')} to settle before a merge")
    removed = sum(change.what == "removed" and bool(change.approvals.lost) for change in review.changes)
    if removed:
        parts.append(f"{counted(removed, 'approved memory', 'approved memories')} removed")
    lost = sum(
        change.what != "removed" and bool(change.approvals.lost) and not change.trusted for change in review.changes
    )
    if lost:
        parts.append(f"{lost:,} no longer approved")
    waiting = sum(bool(change.approvals.missing) and not change.approvals.lost for change in review.changes)
    if waiting:
        parts.append(f"{waiting:,} {'needs' if waiting == 1 else 'need'} approval")
    parts += [words for rule, words in _SAID if any(note.about == rule for note in review.notes)]
    in_place = [change for change in review.changes if change.what != "removed"]
    if in_place and all(change.trusted for change in in_place):
        parts.append("all of it approved" if len(in_place) == len(review.changes) else "the rest approved")
    return ", ".join(parts)


_SAID = (
    ("keyring-changed", "the keyring changes"),
    ("approvals-end", "approvals end with it"),
    ("attributes-changed", "git's attributes change"),
)


def _what_changes(review: Review) -> str:
    if not review.changes:
        return "no memory changed"
    words = {"approvals": "with other approvals"}
    counts = Counter(change.what for change in review.changes)
    if len(counts) == 1:
        what = next(iter(counts))
        return f"{memories(len(review.changes))} {words.get(what, what)}"
    found = [
        f"{counts[what]:,} {words.get(what, what)}"
        for what in ("added", "changed", "moved", "removed", "approvals")
        if counts[what]
    ]
    return f"{memories(len(review.changes))}: {', '.join(found)}"


# -- a comment ---------------------------------------------------------------------------------------


def format_comment(review: Review, *, limit: int = MAX_COMMENT) -> str:
    """Return the Markdown of the one comment, at most ``limit`` bytes: differences go first, then sections."""
    for context, most in ((2, 400), (1, 60), (0, 0)):
        text = _comment(review, context=context, most_rows=most, sections=len(review.changes))
        if len(text.encode()) <= limit:
            return text
    low, high = 0, len(review.changes)
    while low < high:  # the most sections that fit
        middle = (low + high + 1) // 2
        fits = len(_comment(review, context=0, most_rows=0, sections=middle).encode()) <= limit
        low, high = (middle, high) if fits else (low, middle - 1)
    text = _comment(review, context=0, most_rows=0, sections=low)
    if len(text.encode()) > limit:
        text = text.encode()[: limit - 100].decode("utf-8", "ignore").rsplit("\n", 1)[0] + "\n\n(cut: too long)\n"
    return text


def _comment(review: Review, *, context: int, most_rows: int, sections: int) -> str:
    lines = [MARKER, f"### Memory review: {headline(review)}", ""]
    stops = [note for note in review.alarms if note.tone is Tone.STOP]
    if stops:
        lines += ["> [!CAUTION]", *(f"> - {in_markdown(note.text)}" for note in stops), ""]
    lines += [_bullet(note) for note in review.alarms if note.tone is not Tone.STOP]
    if review.alarms:
        lines.append("")
    for change in review.changes[:sections]:
        lines += _section(change, context=context, most_rows=most_rows)
    if sections < len(review.changes):
        lines += [f"…and {len(review.changes) - sections} more memories; `memfs review` shows them all.", ""]
    lines += [
        "<sub>",
        f"Judged by {in_markdown(review.judged_by)}; base `{review.base[:12]}`, head `{review.head[:12]}`.",
    ]
    lines += [f"{in_markdown(notice)}." for notice in review.notices]
    if review.other_files:
        lines.append(f"{review.other_files} other changed files are not memfs's business.")
    lines += ["Approve on the branch with `memfs review --approve`.", "</sub>", ""]
    return "\n".join(lines)


def _section(change: Change, *, context: int, most_rows: int) -> list[str]:
    lines = [f"#### `{change.id or 'no id'}` {_what(change)}", ""]
    lines += [_bullet(note) for note in change.notes]
    lines += [f"- Seen by {in_markdown(change.seen_by)}.", ""]
    rows = list(context_rows(change.rows, context=context))
    if rows and most_rows:
        shown = rows[:most_rows]
        lines += ["<details><summary>The words that change</summary>", "", "<pre>"]
        lines += [_row_in_html(row) for row in shown]
        if len(rows) > most_rows:
            lines.append(f"… {len(rows) - most_rows} more lines")
        lines += ["</pre>", "", "</details>", ""]
    return lines


def _what(change: Change) -> str:
    if change.what == "moved":
        return f"moved from {in_markdown(change.scope_before or '?')} to {in_markdown(change.scope or '?')}"
    place = in_markdown(change.scope or change.path)
    if change.what == "approvals":
        return f"same text, other approvals ({place})"
    kind = f"{change.kind}, " if change.kind else ""
    return f"{change.what} ({kind}{place})"


def _bullet(note: Note) -> str:
    label = f"**{_LABELS[note.tone]}:** " if note.tone in (Tone.STOP, Tone.LOOK) else ""
    return f"- {label}{in_markdown(note.text)}"


def in_markdown(text: str) -> str:
    """Return one line of text so that Markdown gives it no meaning: every word that is more than
    letters, digits and plain punctuation becomes a code span."""
    return " ".join(_markdown_word(word) for word in escape_hidden(text, single_line=True).split(" ") if word)


def _markdown_word(word: str) -> str:
    start, end = 0, len(word)
    while start < end and word[start] in _OPENING:
        start += 1
    while end > start and word[end - 1] in _CLOSING and not (word[end - 1] == ")" and "(" in word[start:end]):
        end -= 1
    core = word[start:end]
    if not core or (_PLAIN_WORD.fullmatch(core) and not core.lower().startswith("www.")):
        return word
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", core)), default=0))
    pad = " " if core.startswith("`") or core.endswith("`") else ""
    return f"{word[:start]}{ticks}{pad}{core}{pad}{ticks}{word[end:]}"


def _row_in_html(row: Row | None) -> str:
    if row is None:
        return "⋯"
    if row.same:
        return f"  {_in_html(row.after or ())}"
    # A line that only one side has is new or gone as a whole: its sign says it.
    both = row.before is not None and row.after is not None
    sides = []
    if row.before is not None:
        sides.append(f"- {_in_html(row.before, marks=both)}")
    if row.after is not None:
        sides.append(f"+ {_in_html(row.after, marks=both)}")
    return "\n".join(sides)


_TAGS = {Mark.SAME: ("", ""), Mark.GONE: ("<del>", "</del>"), Mark.NEW: ("<ins>", "</ins>")}


def _in_html(pieces: Iterable[Piece], *, marks: bool = True) -> str:
    if not marks:
        return "".join(escape(piece.text) for piece in pieces)
    return "".join(f"{_TAGS[piece.mark][0]}{escape(piece.text)}{_TAGS[piece.mark][1]}" for piece in pieces)


# -- a terminal --------------------------------------------------------------------------------------

Styled = tuple[str, str]
"""Text and the name of its style (of :data:`STYLES`)."""

STYLES = {
    "title": "bold",
    "stop": "bold red",
    "look": "yellow",
    "fine": "green",
    "plain": "",
    "dim": "dim",
    "minus": "red",
    "plus": "green",
    "gone": "red strike",
    "new": "green underline",
}

_INDENT = 9  # what stands before a note's sentence


def terminal_lines(
    review: Review, *, context: int = 1, most_rows: int = 200, width: int | None = None
) -> Iterator[list[Styled]]:
    """Yield the lines for a terminal, each a list of styled pieces without line ends. With ``width``
    sentences are broken to fit and hang below each other."""
    yield [(f"{review.base_name}..{review.head_name}: {headline(review)}", "title")]
    yield [(f"judged by {review.judged_by}", "dim")]
    for note in review.alarms:
        yield from _note_lines(note, width)
    for change in review.changes:
        yield []
        yield from change_lines(change, context=context, most_rows=most_rows, width=width)
    if review.notices or review.other_files:
        yield []
    for notice in review.notices:
        yield [(f"note: {escape_hidden(notice, single_line=True)}", "dim")]
    if review.other_files:
        yield [(f"note: {review.other_files} other changed files are not memfs's business", "dim")]


def change_lines(
    change: Change, *, context: int = 1, most_rows: int = 200, width: int | None = None
) -> Iterator[list[Styled]]:
    """Yield the lines of one memory: what happened to it, what to know, and the words that change."""
    where = f"{change.scope_before} → {change.scope}" if change.what == "moved" else change.scope or change.path
    yield [
        (change.id or escape_hidden(change.path, single_line=True), "title"),
        (
            f"  {change.what}, {escape_hidden(where, single_line=True)}{', ' + change.kind if change.kind else ''}",
            "dim",
        ),
    ]
    for note in change.notes:
        yield from _note_lines(note, width)
    yield [("         ", "plain"), (f"seen by {escape_hidden(change.seen_by, single_line=True)}", "dim")]
    rows = list(context_rows(change.rows, context=context))
    for row in rows[:most_rows]:
        yield from _row_lines(row)
    if len(rows) > most_rows:
        yield [(f"    | … {len(rows) - most_rows} more lines", "dim")]


def _note_lines(note: Note, width: int | None) -> Iterator[list[Styled]]:
    from textwrap import wrap

    label = {Tone.STOP: "settle", Tone.LOOK: "look", Tone.FINE: "fine", Tone.PLAIN: ""}[note.tone]
    text = escape_hidden(note.text, single_line=True)
    room = max(20, width - _INDENT) if width is not None else len(text) + 1
    for place, part in enumerate(wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]):
        yield [(f"  {label:>6} ", str(note.tone)) if place == 0 else (" " * _INDENT, "plain"), (part, "plain")]


def _row_lines(row: Row | None) -> Iterator[list[Styled]]:
    if row is None:
        yield [("    | ⋯", "dim")]
        return
    if row.same:
        yield [("    |   ", "dim"), *_styled(row.after or (), "dim")]
        return
    both = row.before is not None and row.after is not None
    if row.before is not None:
        yield [("    | - ", "minus"), *_styled(row.before, "plain", marks=both)]
    if row.after is not None:
        yield [("    | + ", "plus"), *_styled(row.after, "plain", marks=both)]


def _styled(pieces: Sequence[Piece], same: str, *, marks: bool = True) -> list[Styled]:
    styles = {Mark.SAME: same, Mark.GONE: "gone" if marks else same, Mark.NEW: "new" if marks else same}
    return [(piece.text.replace("\t", "    "), styles[piece.mark]) for piece in pieces]


def format_plain(lines: Iterable[Sequence[Styled]]) -> str:
    """Return styled lines without styles; changed words stand in ``[-…-]`` and ``{+…+}``, as git has them."""
    marks = {"gone": ("[-", "-]"), "new": ("{+", "+}")}
    done = []
    for line in lines:
        text = ""
        for place, (piece, style) in enumerate(line):
            opening, closing = marks.get(style, ("", "")) if place and piece.strip() else ("", "")
            text += f"{opening}{piece}{closing}"
        done.append(text.rstrip())
    return "\n".join(done)


# -- JSON --------------------------------------------------------------------------------------------


def review_payload(review: Review) -> dict[str, Any]:
    """Return the payload of schemas/review.json, without its ``schema`` field."""
    return {
        "base": review.base,
        "head": review.head,
        "since": review.since,
        "judged_by": review.judged_by,
        "summary": headline(review),
        "stops": review.stops,
        "alarms": [_note_payload(note) for note in review.alarms],
        "changes": [_change_payload(change) for change in review.changes],
        "notices": list(review.notices),
        "other_files": review.other_files,
    }


def _note_payload(note: Note) -> dict[str, str]:
    return {"tone": note.tone.value, "about": note.about, "text": note.text}


def _change_payload(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "id": change.id,
        "path": change.path,
        "path_before": change.path_before,
        "scope": change.scope,
        "scope_before": change.scope_before,
        "kind": change.kind,
        "origin": change.origin,
        "author": change.author,
        "seen_by": change.seen_by,
        "trusted": change.trusted,
        "reason": change.reason,
        "approvals": {
            "people": list(change.approvals.people),
            "lost": list(change.approvals.lost),
            "gained": list(change.approvals.gained),
            "need": change.approvals.need,
            "missing": change.approvals.missing,
            "may": list(change.approvals.may),
        },
        "notes": [_note_payload(note) for note in change.notes],
        "difference": [
            None
            if row is None
            else {
                "before": None if row.before is None else _pieces(row.before),
                "after": None if row.after is None else _pieces(row.after),
                "line_before": row.line_before,
                "line_after": row.line_after,
            }
            for row in context_rows(change.rows)
        ],
    }


def _pieces(pieces: Iterable[Piece]) -> list[list[str]]:
    return [[piece.mark.value, piece.text] for piece in pieces]
