"""Statements that a session or a history makes, kept as drafts: nothing that was captured is recorded by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memfs.capture.asking import Statement
from memfs.capture.transcripts import Transcript
from memfs.disk.drafts import list_drafts
from memfs.errors import RefusedError
from memfs.git.read import blob_id
from memfs.model.codepoints import folded
from memfs.model.evidence import DIGITS, format_same
from memfs.model.memory import BlobEvidence, FrontValue, Lines, Origin, PartEvidence
from memfs.model.parts import PartedText
from memfs.model.values import dataclass
from memfs.repository.draft import DraftText
from memfs.repository.drafting import keep_captured
from memfs.repository.repository import Repository
from memfs.sight import OWNER


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What came of a capture: names of new drafts, and how many texts were there already, refused, or not found in
    what they were taken from."""

    drafts: tuple[str, ...] = ()
    known: int = 0
    refused: int = 0
    dropped: int = 0
    masked: int = 0


def keep_statements(
    repository: Repository,
    found: Iterable[tuple[str, str, Mapping[str, FrontValue]]],
    *,
    dropped: int = 0,
    masked: int = 0,
) -> Kept:
    """Keep each (text, how it was captured, fields) as a draft of derived text.

    What the gate rejects is kept nowhere; what a memory or a draft says already is left out.
    """
    writer = repository.writer()
    sees = repository.sight.for_caller(OWNER)
    files = [file for file in repository.files()[0] if file.memory is not None and sees(file.path)]
    said = {folded(file.memory.body) for file in files if file.memory is not None}
    said |= {folded(draft.body) for draft in list_drafts(repository.tree, repository.places)}
    drafts, known, refused = [], 0, 0
    for text, why, fields in found:
        if folded(text) in said:
            known += 1
            continue
        said.add(folded(text))
        try:
            drafts.append(keep_captured(writer, DraftText(body=f"{text}\n", origin=Origin.DERIVED, front=fields), why))
        except RefusedError:
            refused += 1
    return Kept(drafts=tuple(drafts), known=known, refused=refused, dropped=dropped, masked=masked)


def fields_of_session(transcript: Transcript, statement: Statement) -> dict[str, FrontValue]:
    """Return the kind of a statement, and the line of the transcript that it rests on as evidence, by content."""
    fields: dict[str, FrontValue] = {"kind": statement.kind}
    evidence = _evidence(transcript, statement.line)
    if evidence is not None:
        fields["evidence"] = (evidence,)
    return fields


def _evidence(transcript: Transcript, line: int) -> str | None:
    found: BlobEvidence | PartEvidence
    if transcript.name.endswith(".jsonl"):
        part = Lines(first=line, last=line)
        raw = transcript.raw.split(b"\n")[line - 1]
        digest = PartedText(transcript.name, raw).digest(Lines(first=1, last=1))
        if digest is None:
            return None
        found = PartEvidence(repo=transcript.agent, path=transcript.name, part=part, text=digest[:DIGITS])
    else:
        blob = blob_id(transcript.raw, algorithm="sha1")[:DIGITS]
        found = BlobEvidence(repo=transcript.agent, path=transcript.name, blob=blob)
    return format_same(found)
