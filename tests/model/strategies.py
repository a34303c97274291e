"""Hypothesis strategies for the values of the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from hypothesis import strategies as st

from memfs.model.codepoints import find_hidden
from memfs.model.evidence import format_evidence
from memfs.model.frontmatter import normal_body, parse_document, require_same, write_document
from memfs.model.memory import (
    BlobEvidence,
    CommitEvidence,
    FrontValue,
    Heading,
    IfText,
    Kind,
    Lines,
    Memory,
    OnDate,
    Origin,
    PartEvidence,
    PathEvidence,
    SaidEvidence,
    UrlEvidence,
    WhenPathChanges,
    WhenSuperseded,
    WhenVersion,
)
from memfs.model.reader import make_memory, statement_of_body
from memfs.model.triggers import format_trigger


def format_document(front: Mapping[str, FrontValue], body: str) -> bytes:
    """Return the file that the writer makes, refused as the writer refuses what is not read back as it was."""
    raw = write_document(front, body)
    require_same(parse_document(raw), front, body)
    return raw


def format_memory(memory: Memory) -> bytes:
    """Return the file that the writer makes of a memory's own fields."""
    values: dict[str, FrontValue | None] = {
        "title": memory.title,
        "kind": memory.kind.value,
        "origin": memory.origin.value,
        "scope": memory.scope,
        "evidence": tuple(format_evidence(piece) for piece in memory.evidence),
        "recorded": memory.recorded.isoformat(),
        "review_trigger": format_trigger(memory.review_trigger),
        "author": memory.author,
        "applies_to": memory.applies_to or None,
        "tags": memory.tags or None,
        "supersedes": memory.supersedes or None,
        "expires": None if memory.expires is None else memory.expires.isoformat(),
        "allow": memory.allow or None,
    }
    front = {key: value for key, value in values.items() if value is not None}
    return make_memory(memory.path, front, memory.body).raw


dates = st.dates(min_value=date(1970, 1, 1))
ids = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", fullmatch=True)
scopes = st.one_of(
    st.sampled_from(["personal", "team"]),
    st.builds("{}/{}".format, st.sampled_from(["team", "restricted"]), ids),
)
commits = st.text("0123456789abcdef", min_size=7, max_size=64)

_letters = st.characters(exclude_categories=("Cc", "Cs", "Cn", "Co", "Zl", "Zp"))
visible = st.text(_letters, max_size=60).filter(lambda text: not find_hidden(text))
lines = visible.filter(lambda text: bool(text.strip()))
trimmed = lines.map(str.strip).filter(bool)
_parts = st.one_of(
    st.from_regex(r"[a-zA-Z0-9_][a-zA-Z0-9._ @-]{0,20}[a-zA-Z0-9_]", fullmatch=True),
    trimmed.map(lambda text: text.translate(str.maketrans("", "", "/\\:")).strip()).filter(
        lambda text: text.casefold() not in {"", ".", "..", ".git"}
    ),
)
paths = (
    st.lists(_parts, min_size=1, max_size=4)
    .map("/".join)
    .filter(lambda path: not path.startswith("said by ") and "://" not in path)
)
repositories = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,20})?", fullmatch=True)

digests = st.text("0123456789abcdef", min_size=16, max_size=64)
parts_of_files = st.one_of(
    st.integers(1, 99_999).flatmap(
        lambda first: st.integers(first, 99_999).map(lambda last: Lines(first=first, last=last))
    ),
    trimmed.map(lambda text: " ".join(text.split()))
    .filter(lambda text: "://" not in text and re.fullmatch(r"L[0-9]+(-L[0-9]+)?", text) is None)
    .map(lambda text: Heading(title=text)),
)

evidence = st.one_of(
    st.builds(PathEvidence, path=paths, commit=commits, repo=st.none() | repositories),
    st.builds(BlobEvidence, path=paths, blob=digests, repo=st.none() | repositories),
    st.builds(
        PartEvidence,
        path=paths.filter(lambda path: "#" not in path),
        part=parts_of_files,
        text=digests,
        repo=st.none() | repositories,
    ),
    st.builds(CommitEvidence, commit=commits),
    st.builds(
        UrlEvidence,
        url=st.from_regex(r"https?://[a-z0-9.]{1,20}(?:/[A-Za-z0-9@:%._~#?&=+-]{0,20}){0,3}", fullmatch=True),
    ),
    st.builds(SaidEvidence, person=trimmed, on=dates),
)
triggers = st.one_of(
    st.builds(OnDate, on=dates),
    st.builds(WhenPathChanges, path=paths),
    st.builds(
        WhenVersion,
        name=st.from_regex(r"[A-Za-z0-9@][A-Za-z0-9@._/+-]{0,20}", fullmatch=True),
        version=st.from_regex(r"v?[0-9][0-9A-Za-z.+!~_-]{0,12}", fullmatch=True),
    ),
    st.builds(WhenSuperseded, id=ids),
    st.builds(IfText, text=trimmed),
)

keys = st.from_regex(r"[A-Za-z_](?:[A-Za-z0-9_-]{0,20}[A-Za-z0-9_])?", fullmatch=True)
texts = visible | dates.map(str)
values = st.one_of(texts, st.lists(texts, max_size=4).map(tuple))
fronts = st.dictionaries(keys, values, max_size=6)
bodies = (
    st.lists(st.one_of(visible, st.sampled_from(["", "- item", "```", "---", "# Heading", "    code"])), max_size=8)
    .map("\n".join)
    .map(normal_body)
    .filter(lambda body: not body.lstrip().startswith(("---", "+++")))
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Well-formed memories at the path that their scope and id give."""
    memory_id, scope, kind = draw(ids), draw(scopes), draw(st.sampled_from(Kind))
    body = draw(bodies.filter(lambda text: bool(statement_of_body(text))))
    tags = draw(st.lists(trimmed, max_size=3, unique_by=str.casefold))
    return Memory(
        id=memory_id,
        path=f"memories/{scope}/{memory_id}.md",
        kind=kind,
        origin=draw(st.sampled_from(Origin)),
        scope=scope,
        evidence=tuple(draw(st.lists(evidence, min_size=1, max_size=4))),
        recorded=draw(dates),
        review_trigger=draw(triggers),
        statement=statement_of_body(body),
        body=body,
        title=draw(st.none() | lines),
        author=draw(st.none() | lines),
        tags=tuple(tags),
        applies_to=tuple(draw(st.lists(lines, max_size=3))),
        supersedes=tuple(draw(st.lists(ids.filter(lambda other: other != memory_id), max_size=2))),
        allow=tuple(draw(st.lists(lines, max_size=2))),
        expires=draw(dates if kind is Kind.HANDOFF else st.none() | dates),
    )
