"""A review in its three forms: for a terminal, as the one comment of a pull request, as JSON. Pure.

In a comment, whatever could be Markdown, a mention, a reference or a link is a code span; texts of
memories are in ``<pre>`` with every character escaped. On a terminal every line is memfs's own or
begins with memfs's own mark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import Any

from memfs.check.words import counted, memories, names_of
from memfs.model.codepoints import escape_hidden
from memfs.model.values import asdict, replace
from memfs.review.change import Change, Review
from memfs.review.notes import Note, Tone
from memfs.review.words import Mark, Piece, Row, context_rows

MARKER = "<!-- memfs-review -->"
"""First line of the comment: the workflow finds the one to update by it."""

MAX_COMMENT = 60_000
"""Most bytes of a comment; GitHub takes 65,536 characters."""

_PLAIN_WORD = re.compile(r"[^\W_](?:(?:[^\W_]|['’.,-])*[^\W_])?|[-–·→…+%]|\d+%?")
_OPENING, _CLOSING = "(“\"'", ")”\"'.,;:?!"
_SPAN = re.compile(rf"(?<!\S)[{_OPENING}]*`[^`\s](?:[^`]*[^`\s])?`[{_CLOSING}]*(?!\S)")
_WHAT = {"approvals": "with the same text and other approvals"}
_SAYS = {"approvals": "same text, other approvals"}
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
    """Return the Markdown of the one comment, at most ``limit`` bytes.

    What is loud is never cut before what is quiet: first every note, then the differences of the loud memories,
    then those of the others, as far as they fit.
    """
    shown = [change for change in review.changes if _is_told(change)]
    parts = [_section(change, rows=()) for change in shown]
    room = limit - _size([*_head(review), *_quiet(review), *_foot(review)]) - 200
    kept = 0
    while kept < len(parts) and _size(parts[kept]) <= room:
        room -= _size(parts[kept])
        kept += 1
    for place in range(kept):
        for context, most in ((2, 400), (1, 60), (0, 20)):
            rows = list(context_rows(shown[place].rows, context=context))
            part = _section(shown[place], rows=rows[:most], left=max(0, len(rows) - most))
            more = _size(part) - _size(parts[place])
            if more <= room:
                room -= more
                parts[place] = part
                break
    lines = [*_head(review), *(line for part in parts[:kept] for line in part)]
    if kept < len(parts):
        lines += [f"…and {memories(len(parts) - kept)} more; `memfs review` shows them all.", ""]
    text = "\n".join([*lines, *_quiet(review), *_foot(review)])
    if len(text.encode()) > limit:
        text = text.encode()[: limit - 100].decode("utf-8", "ignore").rsplit("\n", 1)[0] + "\n\n(cut: too long)\n"
    return text


MANY = 20
"""More changed memories than this are listed in one line where there is nothing to say about them."""


def _is_told(change: Change) -> bool:
    """Return whether the memory has a section of its own however many there are."""
    return bool([note for note in change.notes if note.tone is not Tone.FINE]) or change.what in ("changed", "moved")


def _quiet(review: Review) -> list[str]:
    """Return the memories that have no section, by what happened to them: in full where they are few."""
    quiet = [change for change in review.changes if not _is_told(change)]
    if len(quiet) <= MANY:
        return [line for change in quiet for line in _section(change, rows=list(context_rows(change.rows))[:60])]
    lines = []
    for what in dict.fromkeys(change.what for change in quiet):
        names = [f"`{change.id or change.path}`" for change in quiet if change.what == what]
        more = f" and {len(names) - MANY:,} more" if len(names) > MANY else ""
        lines.append(f"- {memories(len(names))} {_WHAT.get(what, what)}: {', '.join(names[:MANY])}{more}")
    return [*lines, ""]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _head(review: Review) -> list[str]:
    lines = [MARKER, f"### Memory review: {headline(review)}", ""]
    stops = [note for note in review.alarms if note.tone is Tone.STOP]
    if stops:
        lines += ["> [!CAUTION]", *(f"> - {in_markdown(note.text)}" for note in stops[:MANY])]
        lines += [f"> - and {len(stops) - MANY} more"] if len(stops) > MANY else []
        lines.append("")
    others = [note for note in review.alarms if note.tone is not Tone.STOP]
    lines += [_bullet(note) for note in others[: 3 * MANY]]
    lines += [f"- and {len(others) - 3 * MANY} more"] if len(others) > 3 * MANY else []
    return [*lines, ""] if review.alarms else lines


def _foot(review: Review) -> list[str]:
    lines = [
        "---",
        f"Judged by {in_markdown(review.judged_by)}; base `{review.base[:12]}`, head `{review.head[:12]}`.",
    ]
    lines += [f"{in_markdown(notice)}." for notice in review.notices[:10]]
    if review.other_files:
        lines.append(f"{counted(review.other_files, 'other changed file')} {_not_ours(review.other_files)}.")
    return [*lines, "Approve on the branch with `memfs review --approve`.", ""]


def _not_ours(count: int) -> str:
    return "is not memfs's business" if count == 1 else "are not memfs's business"


def _section(change: Change, *, rows: Sequence[Row | None], left: int = 0) -> list[str]:
    lines = [f"#### {in_markdown(change.id or change.path)} {_what(change)}", ""]
    lines += [_bullet(note) for note in change.notes]
    if change.what != "removed":
        lines.append(f"- Seen by {in_markdown(change.seen_by)}.")
    lines.append("")
    if rows:
        lines += ["<details><summary>The words that change</summary>", "", "<pre>"]
        lines += [_row_in_html(row) for row in rows]
        if left:
            lines.append(f"… {left} more lines")
        lines += ["</pre>", "", "</details>", ""]
    return lines


def _what(change: Change) -> str:
    if change.what == "moved":
        return f"moved from {in_markdown(change.scope_before or '?')} to {in_markdown(change.scope or '?')}"
    place = in_markdown(change.scope or change.path)
    if change.what == "approvals":
        return f"{_SAYS[change.what]} ({place})"
    kind = f"{change.kind}, " if change.kind else ""
    return f"{change.what} ({kind}{place})"


def _bullet(note: Note) -> str:
    label = f"**{_LABELS[note.tone]}:** " if note.tone in (Tone.STOP, Tone.LOOK) else ""
    return f"- {label}{in_markdown(note.text)}"


def in_markdown(text: str) -> str:
    """Return one line of text so that Markdown gives it no meaning: every word that is more than letters, digits
    and plain punctuation becomes a code span. What is between backticks already stays one span, so that a
    command can be pasted; the words around it cannot end it, since each of their backticks is in a span itself."""
    parts, end = [], 0
    line = escape_hidden(text, single_line=True)
    for found in _SPAN.finditer(line):
        parts += [_markdown_word(word) for word in line[end : found.start()].split(" ")]
        parts.append(found[0])
        end = found.end()
    parts += [_markdown_word(word) for word in line[end:].split(" ")]
    return " ".join(filter(None, parts))


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

_COMMAND = re.compile(r"`[^`]+`")
_INDENT = 9  # what comes before a note's sentence


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
        if len(review.changes) <= MANY or _is_told(change):
            yield []
            yield from change_lines(change, context=context, most_rows=most_rows, width=width)
    quiet = [change for change in review.changes if not _is_told(change)]
    if len(review.changes) > MANY and quiet:
        yield []
        yield [(f"and {memories(len(quiet))} with nothing to say: {names_of(change.id for change in quiet)}", "dim")]
    if review.notices or review.other_files:
        yield []
    for notice in review.notices:
        yield [(f"note: {escape_hidden(notice, single_line=True)}", "dim")]
    if review.other_files:
        others = counted(review.other_files, "other changed file")
        yield [(f"note: {others} {_not_ours(review.other_files)}", "dim")]


def change_lines(
    change: Change, *, context: int = 1, most_rows: int = 200, width: int | None = None
) -> Iterator[list[Styled]]:
    """Yield the lines of one memory: what happened to it, what to know, and the words that change."""
    where = f"{change.scope_before} → {change.scope}" if change.what == "moved" else change.scope or change.path
    parts = (_SAYS.get(change.what, change.what), escape_hidden(where, single_line=True), change.kind)
    yield [
        (change.id or escape_hidden(change.path, single_line=True), "title"),
        (f"  {', '.join(filter(None, parts))}", "dim"),
    ]
    for note in change.notes:
        yield from _note_lines(note, width)
    yield [("         ", "plain"), (f"seen by {escape_hidden(change.seen_by, single_line=True)}", "dim")]
    rows = list(context_rows(change.rows, context=context))
    for row in rows[:most_rows]:
        yield from _row_lines(row)
    if most_rows and len(rows) > most_rows:
        yield [(f"    | … {len(rows) - most_rows} more lines", "dim")]


def _note_lines(note: Note, width: int | None) -> Iterator[list[Styled]]:
    label = {Tone.STOP: "settle", Tone.LOOK: "look", Tone.FINE: "fine", Tone.PLAIN: ""}[note.tone]
    text = escape_hidden(note.text, single_line=True)
    room = max(20, width - _INDENT) if width is not None else len(text) + 1
    # A command that is broken cannot be pasted; one that is longer than a line would break somewhere anyway.
    whole = _COMMAND.sub(lambda found: found[0].replace(" ", "\0") if len(found[0]) <= room else found[0], text)
    for place, part in enumerate(wrap(whole, room, break_long_words=False, break_on_hyphens=False) or [""]):
        before = (f"  {label:>6} ", str(note.tone)) if place == 0 else (" " * _INDENT, "plain")
        yield [before, (part.replace("\0", " "), "plain")]


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
    """Return styled lines without styles; changed words are in ``[-…-]`` and ``{+…+}``, as git has them."""
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
    values = asdict(replace(change, notes=(), rows=()))
    del values["rows"]
    approvals = values["approvals"].items()
    return {
        **values,
        "approvals": {name: list(value) if isinstance(value, tuple) else value for name, value in approvals},
        "notes": [_note_payload(note) for note in change.notes],
        "difference": [None if row is None else _row_payload(row) for row in context_rows(change.rows)],
    }


def _row_payload(row: Row) -> dict[str, Any]:
    return {
        "before": None if row.before is None else _pieces(row.before),
        "after": None if row.after is None else _pieces(row.after),
        "line_before": row.line_before,
        "line_after": row.line_after,
    }


def _pieces(pieces: Iterable[Piece]) -> list[list[str]]:
    return [[piece.mark.value, piece.text] for piece in pieces]
