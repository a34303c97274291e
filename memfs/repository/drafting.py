"""What happens to a draft that is held back: it is kept with its author until it is submitted or dropped.

A draft is held when a required field is missing, or when the gate wants a person to look at it. It
lies in the user's state folder (``store.drafts``), never in a repository, and is never recalled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.disk.drafts import HeldDraft, drop_draft, get_draft, keep_draft
from memfs.errors import InvalidMemoryError, RefusedError, SetupError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import Origin
from memfs.repository.writing import DraftText, HeldError, Recorded, Writer

if TYPE_CHECKING:
    from memfs.admission.gate import Finding


def remember_or_keep(writer: Writer, draft: DraftText, *, name: str = "") -> Recorded:
    """Write a new memory, or keep the draft when it is held.

    Raises what :meth:`Writer.remember` raises; for a held or incomplete draft the error's hint says
    under which name it was kept. ``name`` is the name it already has.
    """
    try:
        return writer.remember(draft)
    except (HeldError, InvalidMemoryError) as error:
        try:
            kept = keep_draft(writer.tree, writer.places, _held(writer, draft, error, name=name))
        except SetupError as trouble:
            error.hint = f"nothing was written; the draft could not be kept: {trouble}"
            raise error from trouble
        passing = "".join(f" --allow {rule}" for rule in _rules_of(error))
        error.hint = (
            f"nothing was written into the repository; kept for you alone as {kept}: `memfs drafts submit {kept}`"
            f" with what is missing, `memfs drafts edit {kept}`, or `memfs drafts drop {kept}`"
            + (f'; when it is meant so: `memfs drafts submit {kept}{passing} --reason "…"`' if passing else "")
        )
        raise


def submit(writer: Writer, name: str, draft: DraftText) -> Recorded:
    """Write the held draft ``name``, changed to ``draft``, as a memory; then it is held no more."""
    recorded = remember_or_keep(writer, draft, name=name)
    drop_draft(writer.tree, writer.places, name)
    return recorded


def replace_held(writer: Writer, draft: DraftText, *, name: str) -> None:
    """Keep ``draft`` under the name of an existing one. Raises RefusedError when the gate rejects it."""
    writer.require_admissible(draft)
    held = get_draft(writer.tree, writer.places, name)
    keep_draft(writer.tree, writer.places, _kept(writer, draft, name=name, reasons=held.reasons))


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


def _rules_of(error: HeldError | InvalidMemoryError) -> list[str]:
    """Return the rules that hold a draft back and that a person can let pass."""
    if not isinstance(error, HeldError):
        return []
    findings: tuple[Finding, ...] = error.findings  # type: ignore[assignment]
    held = [f for f in findings if f.severity == "hold" and f.family != "form"]
    return list(dict.fromkeys(finding.rule for finding in held))


def _held(writer: Writer, draft: DraftText, error: HeldError | InvalidMemoryError, *, name: str) -> HeldDraft:
    if isinstance(error, RefusedError):
        reasons = tuple(f"{f.rule} ({f.field}): {f.message}" for f in error.findings)  # type: ignore[attr-defined]
    else:
        reasons = tuple(str(error).split("\n  "))
    return _kept(writer, draft, name=name, reasons=reasons)


def _kept(writer: Writer, draft: DraftText, *, name: str, reasons: tuple[str, ...]) -> HeldDraft:
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
    )
