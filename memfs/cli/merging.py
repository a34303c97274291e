"""``memfs edit --merge``: shows both versions of a memory and lets a person choose, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.cli.editing import edit_text
from memfs.disk.files import write_in_tree
from memfs.errors import EXIT_NO, EXIT_YES, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.propose.merge import BODY, OURS, find_sides, merge_sides, write_merged
from memfs.review.forms import format_plain
from memfs.review.words import compare_words

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.model.memory import FrontValue
    from memfs.propose.merge import Conflict


def merge_versions(memory_id: str, session: Session, *, take: str | None) -> int:
    """Write one version of a memory that two branches changed; return the exit code.

    ``take`` (``ours`` or ``theirs``) answers every question; without it, and without a terminal, the
    questions are listed and nothing is written.
    """

    tree = session.open_repository().tree
    sides = find_sides(tree, memory_id)
    merged = merge_sides(sides)
    session.note(f"{escape_hidden(sides.path, single_line=True)}: two versions")
    for name, where in merged.taken:
        session.note(
            f"  {name}: {'changed on one side only; taken' if where != 'both' else 'both lists joined'} ({where})"
        )
    if merged.conflicts and take is None and not session.interactive:
        for conflict in merged.conflicts:
            _show(conflict, session)
        session.note("nothing was written: choose with --take ours or --take theirs, or run it on a terminal")
        return EXIT_NO
    values: dict[str, FrontValue | None] = dict(merged.values)
    for conflict in merged.conflicts:
        values[conflict.name] = _choose(conflict, session, take)
    raw = write_merged(sides, values)
    write_in_tree(tree, sides.path, raw)
    path = escape_hidden(sides.path, single_line=True)
    session.say(f"written: {path}")
    after = f"git add {path} && git commit" if sides.is_in_merge else f"git commit {path}"
    session.note(f"then: {after}; it needs a new approval (memfs trust {memory_id})")
    return EXIT_YES


def _choose(conflict: Conflict, session: Session, take: str | None) -> FrontValue | None:

    if take is not None:
        return conflict.ours if take == OURS else conflict.theirs
    _show(conflict, session)
    may_edit = conflict.name == BODY
    answers = "o(urs), t(heirs)" + (", e(dit)" if may_edit else "")
    while True:
        answer = session.ask(f"{conflict.name}: {answers}?").lower()
        if answer in ("o", "ours"):
            return conflict.ours
        if answer in ("t", "theirs"):
            return conflict.theirs
        if may_edit and answer in ("e", "edit"):
            return edit_text(session, f"{conflict.ours}\n\n{conflict.theirs}")[0]
        if not answer:
            raise UsageError("nothing was chosen; nothing was written")


def _show(conflict: Conflict, session: Session) -> None:
    """Write both values of a field, the words that differ marked, hidden characters visible."""

    session.note(f"  {conflict.name}: changed on both sides (- ours, + theirs)")
    lines: list[list[tuple[str, str]]] = []
    for row in compare_words(_text(conflict.ours), _text(conflict.theirs)):
        for sign, pieces in (("-", row.before), ("+", row.after)):
            if pieces is not None and not (row.same and sign == "+"):
                styles = {"same": "plain", "gone": "gone", "new": "new"}
                mark = " " if row.same else sign
                lines.append([(f"    | {mark} ", "dim"), *((piece.text, styles[piece.mark]) for piece in pieces)])
    session.note(format_plain(lines))


def _text(value: FrontValue | None) -> str:
    return value if isinstance(value, str) else "\n".join(value or ())
