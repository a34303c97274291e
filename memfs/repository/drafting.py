"""What happens to a text that is refused: it is kept with its author until it is submitted or dropped.

A draft lies in the user's state folder (``disk.drafts``), never in a repository, and is never recalled. What
the gate rejects is kept nowhere; a wrong argument keeps none where its author still has the text.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memfs.disk.drafts import HeldDraft, drop_draft, get_draft, keep_draft
from memfs.disk.worktree import printable
from memfs.errors import InvalidMemoryError, MemfsError, RefusedError, SetupError, UsageError
from memfs.git.commit import UncommittedError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import MemoryFile, Origin
from memfs.model.reader import change_memory
from memfs.model.values import replace
from memfs.repository.draft import ONE_COMMIT, Commit, DraftText, HeldError, Recorded, TwiceError
from memfs.repository.writing import Writer

if TYPE_CHECKING:
    from memfs.admission.gate import Finding


def remember_or_keep(
    writer: Writer, draft: DraftText, *, name: str = "", again: bool = False, commit: Commit = ONE_COMMIT
) -> Recorded:
    """Write a new memory; a text that is refused is kept as a draft, unless the gate rejected it.

    Raises what :meth:`Writer.remember` raises; the error's hint says under which name the draft was kept.
    A wrong argument keeps none where the text is still ``at_hand``. ``name`` is the name that it already has;
    a draft that was recorded is dropped.
    """
    with keeping(writer, draft, name=name):
        recorded = writer.remember(draft, again=again, commit=commit)
    if name:
        drop_draft(writer.tree, writer.places, name)
    return recorded


@contextmanager
def keeping(writer: Writer, draft: DraftText, *, name: str = "") -> Iterator[None]:
    """Keep ``draft`` when what is done with it is refused, and raise what was raised."""
    try:
        yield
    except MemfsError as error:
        if is_kept(error, draft):
            keep_refused(writer, draft, error, name=name)
        raise


@contextmanager
def keeping_new_body(writer: Writer, file: MemoryFile, draft: DraftText) -> Iterator[None]:
    """Keep ``draft`` as the new text of ``file`` when its edit is refused, and raise what was raised."""
    try:
        yield
    except MemfsError as error:
        if is_kept(error, draft):
            whole = change_memory(file, draft.front, draft.body).decode("utf-8", "surrogateescape")
            keep_refused(writer, replace(draft, front={}, body=whole), error, edits=file.id)
        raise


def is_kept(error: MemfsError, draft: DraftText) -> bool:
    """Return whether the refused text of ``draft`` belongs among the drafts; where there is no text nothing is lost."""
    if not draft.body.strip():
        return False
    if isinstance(error, HeldError):
        return True
    if isinstance(error, TwiceError):
        return not draft.at_hand
    if isinstance(error, RefusedError | UncommittedError):  # rejected: kept nowhere; uncommitted: it is in its file
        return False
    if isinstance(error, InvalidMemoryError) or (isinstance(error, UsageError) and error.where == draft.id):
        return not draft.at_hand
    return True


def keep_refused(
    writer: Writer, draft: DraftText, error: MemfsError, *, name: str = "", edits: str | None = None
) -> None:
    """Keep a text that could not be recorded, and say in the error's hint where it is.

    ``name`` is the draft that it was; ``edits`` is the id of the memory whose whole new file it is.
    """
    held = _kept(writer, draft, name=name, reasons=_reasons_of(error), edits=edits)
    try:
        kept = keep_draft(writer.tree, writer.places, held)
    except SetupError as trouble:
        error.hint = f"nothing was written; the draft could not be kept: {trouble}"
        raise error from trouble
    error.draft = kept
    passing = "".join(f" --allow {rule}" for rule in _rules_of(error))
    drafts = (
        f"memfs -C {shlex.quote(printable(str(writer.tree.root)))} drafts" if writer.is_elsewhere else "memfs drafts"
    )
    what = "when that is mended" if isinstance(error, SetupError | UsageError) else "with what is missing"
    error.hint = (
        (f"{error.hint}; " if isinstance(error, SetupError | UsageError) and error.hint else "")
        + f"nothing was written into the repository; kept for you alone as {kept}: `{drafts} submit {kept}`"
        f" {what}, `{drafts} edit {kept}`, or `{drafts} drop {kept}`"
        + (f'; when it is meant so: `{drafts} submit {kept}{passing} --reason "…"`' if passing else "")
    )


def keep_captured(writer: Writer, draft: DraftText, why: str) -> str:
    """Keep a text that nobody typed as a draft, and return its name; ``why`` says where it comes from.

    Raises :class:`RefusedError` for a text that the gate rejects: that is kept nowhere.
    """
    try:
        held = writer.require_admissible(draft).findings
    except HeldError as error:
        held = error.findings  # type: ignore[assignment]
    reasons = (why, *(f"{one.rule} ({one.field}): {one.message}" for one in held if one.family != "form"))
    return keep_draft(writer.tree, writer.places, _kept(writer, draft, name="", reasons=reasons))


def replace_held(writer: Writer, draft: DraftText, *, name: str) -> None:
    """Keep ``draft`` under the name of an existing one. Raises RefusedError when the gate rejects it."""
    held = get_draft(writer.tree, writer.places, name)
    if held.edits is None:
        writer.require_admissible(draft)
    keep_draft(writer.tree, writer.places, _kept(writer, draft, name=name, reasons=held.reasons, edits=held.edits))


def draft_of(held: HeldDraft) -> DraftText:
    """Return a held draft as a draft that can be written."""
    return DraftText(
        body=held.body,
        origin=Origin(held.origin),
        front=held.fields,
        author=held.author,
        id=held.id,
        allow=held.allow,
    )


def _rules_of(error: MemfsError) -> list[str]:
    """Return the rules that keep a draft back and that a person can let pass."""
    if not isinstance(error, HeldError):
        return []
    findings: tuple[Finding, ...] = error.findings  # type: ignore[assignment]
    held = [f for f in findings if f.severity == "hold" and f.family != "form"]
    return list(dict.fromkeys(finding.rule for finding in held))


def _reasons_of(error: MemfsError) -> tuple[str, ...]:
    if isinstance(error, RefusedError) and error.findings:
        return tuple(f"{f.rule} ({f.field}): {f.message}" for f in error.findings)  # type: ignore[attr-defined]
    if isinstance(error, InvalidMemoryError) and error.reasons:
        return error.reasons
    return (str(error),)


def _kept(
    writer: Writer, draft: DraftText, *, name: str, reasons: tuple[str, ...], edits: str | None = None
) -> HeldDraft:
    return HeldDraft(
        name=name,
        held_on=writer.today.isoformat(),
        origin=draft.origin.value,
        author=draft.author,
        id=draft.id,
        allow=draft.allow,
        fields={key: value for key, value in draft.front.items() if value not in ("", ())},
        body=draft.body,
        reasons=tuple(escape_hidden(reason, single_line=True) for reason in reasons),
        edits=edits,
    )
