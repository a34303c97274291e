"""One tool call carried out: arguments in, framed text and the same as data out. No protocol here.

The text of memories leaves only in frames, in the text answer and in the structured one alike: some
clients show their model only the one, some only the other.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfs.admission.gate import Finding
from memfs.disk.places import Places
from memfs.errors import MemfsError, RefusedError
from memfs.mcp.tools import ToolSpec, check_arguments, find_tool
from memfs.model.memory import FrontValue, Origin
from memfs.model.scope import Caller
from memfs.model.values import dataclass, field
from memfs.render.escape import show_line
from memfs.render.frame import frame_text
from memfs.render.views import Detail, Shown, render_bundle, render_titles
from memfs.repository.api import Repository, Stores, render_hits, shown_of
from memfs.repository.writing import DraftText, HeldError, Recorded

if TYPE_CHECKING:
    from memfs.standing.assess import Assessment

ANSWER_BYTES = 24_000
"""Most bytes of one answer's text: about 6,000 tokens, a quarter of what the strictest client takes."""

LIST_LINES = 200
STDIO = "stdio"
_CLIENT = re.compile(r"[^A-Za-z0-9._-]+")

Propose = Callable[[Repository, DraftText, Caller], str]
"""Puts a draft on a branch of its own and returns what was done, in memfs's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """On whose behalf a call is made, and what may be done for them."""

    places: Places
    start: Path  # the folder that the stores are looked for from
    today: Callable[[], date]
    caller: Caller = field(default_factory=Caller)
    write: bool = False
    key: str = STDIO  # the name of the key that was shown, for the audit log
    propose: Propose | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call is answered with. ``data`` holds the same framed text, and facts without text."""

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False

    @property
    def data(self) -> dict[str, Any]:
        return {"text": self.text, **self.facts}


def client_name(name: str | None) -> str:
    """Return a client's own name for itself as an author: a few safe letters, whatever it sent."""
    return _CLIENT.sub("-", name or "")[:40].strip("-.") or "unknown-client"


def call_tool(name: str, arguments: Mapping[str, Any], desk: Desk, *, client: str) -> Answer:
    """Return the answer to one call. Never raises for what the caller or a memory did."""
    tool = find_tool(name, write=desk.write)
    if tool is None:
        return Answer(text="There is no such tool here.", failed=True)
    problems = check_arguments(tool, arguments)
    if problems:
        return Answer(text=f"{tool.name}: {'; '.join(problems)}.", failed=True)
    given = {key: value for key, value in arguments.items() if value is not None}
    try:
        return _CALLS[tool.name](given, desk, client)
    except RefusedError as error:
        findings = "".join(f"\n- {finding.rule} in {finding.field}: {finding.message}" for finding in error.findings)  # type: ignore[attr-defined]  # findings of the gate
        held = isinstance(error, HeldError)
        return Answer(
            text=f"{error}{findings}{_hint(error)}", facts={"outcome": "held" if held else "refused"}, failed=True
        )
    except MemfsError as error:
        return Answer(text=f"{error}{_hint(error)}", failed=True)


def _findings(error: RefusedError) -> str:
    lines = [
        f"\n- {found.rule} in {found.field}: {found.message}" for found in error.findings if isinstance(found, Finding)
    ]
    return "".join(lines)


def _hint(error: MemfsError) -> str:
    return f"\n{error.hint}" if error.hint else ""


def _recall(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001 - every call has one shape
    from memfs.recall.search import Query

    query = Query(
        text=given["query"][:4000],
        caller=desk.caller,
        limit=given.get("limit", 5),
        work_path=given.get("path"),
    )
    result = _stores(desk).recall(query)
    text = render_hits(result, draw_nonce=_draw, limit_bytes=ANSWER_BYTES, detail=Detail.BRIEF)
    notes = [f"note: {notice}" for notice in result.notices]
    if result.unreadable:
        notes.append(f"note: {result.unreadable} files could not be read; `memfs check` names them")
    if "left out" in text or "cut here" in text:
        notes.append("note: this answer was cut: ask a narrower question, or call get with one id")
    notes += [f"note: {remark}" for remark in result.remarks()]
    if not result.hits and not result.remarks():
        notes.insert(0, "Nothing is recorded about that.")
    hits = [{**_facts(hit.assessment), "score": round(hit.score, 4)} for hit in result.hits]
    return Answer(text="\n".join(part for part in (text, *notes) if part), facts={"hits": hits, "mode": result.mode})


def _get(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    store, repository, file = _stores(desk).find(given["id"], desk.caller)
    assessment = repository.assess(file, desk.caller)
    text = _bundle([shown_of(assessment, store=store)], Detail.FULL)
    return Answer(text=text, facts={"memory": _facts(assessment)})


def _list(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    chosen = [assessment for assessment in _all(desk) if _wanted(assessment, given)]
    lines = render_titles([shown_of(assessment) for assessment in chosen])
    start = given.get("start", 0)
    page = lines[start : start + LIST_LINES]
    left = len(lines) - start - len(page)
    if left > 0:
        page.append(f"{left} lines more: call list with start={start + LIST_LINES}.")
    return Answer(text="\n".join(page) or "No memories.", facts={"count": len(chosen)})


def _wanted(assessment: Assessment, given: Mapping[str, Any]) -> bool:
    memory = assessment.file.memory
    return (
        memory is not None
        and given.get("scope") in (None, memory.scope)
        and given.get("kind") in (None, memory.kind.value)
        and given.get("state") in (None, assessment.state.state.value)
    )


def _history(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    _, repository, file = _stores(desk).find(given["id"], desk.caller)
    events = repository.history(file.id, desk.caller)[:LIST_LINES]
    lines = [
        f"{event.commit[:12]} {event.on[:10]} {event.what} · {show_line(event.author)} · {show_line(event.subject)}"
        for event in events
    ]
    if not lines:
        return Answer(text="It is not committed yet.", facts={"events": []})
    text = frame_text(lines, draw_nonce=_draw, name="history", about="commits that touched one memory, newest first.")
    facts = [{"commit": event.commit, "on": event.on, "what": event.what} for event in events]
    return Answer(text=text, facts={"events": facts})


def _due(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    from memfs.recall.due import find_due

    found = find_due(_stores(desk).stores, desk.places, desk.caller, today=desk.today())
    if not found.due:
        return Answer(text="Nothing must be looked at again.", facts={"due": []})
    text = _bundle([shown_of(one.assessment, store=one.store) for one in found.due], Detail.HEADING)
    return Answer(text=text, facts={"due": [_facts(one.assessment) for one in found.due[:LIST_LINES]]})


def _feedback(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    from memfs.recall.feedback import record_feedback

    _, repository, file = _stores(desk).find(given["id"], desk.caller)
    record_feedback(repository.tree, desk.places, file.id, helped=given["helped"], today=desk.today())
    return Answer(text="Noted on this machine.", facts={"id": file.id})


def _remember(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:
    recorded = _repository(desk).remember(_draft(given, desk, client), by=desk.caller)
    return Answer(text=_recorded_words(recorded), facts={"id": recorded.file.id, "commit": recorded.commit})


def _propose(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:
    if desk.propose is None:
        return Answer(text="Proposing is not possible here.", failed=True)
    return Answer(text=desk.propose(_repository(desk), _draft(given, desk, client), desk.caller))


def _draft(given: Mapping[str, Any], desk: Desk, client: str) -> DraftText:
    front: dict[str, FrontValue] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in given.items() if key != "text"
    }
    # A key was given by a person; what a client calls itself was not. Neither is trust.
    author = client if desk.key == STDIO else desk.key
    return DraftText(body=given["text"], origin=Origin.AGENT, front=front, author=author)


def _recorded_words(recorded: Recorded) -> str:
    warned = "".join(f"\n- {finding.rule}: {finding.message}" for finding in recorded.decision.findings)
    return f"Recorded as {recorded.file.id}, not approved: a person has to approve it.{warned}"


def _bundle(shown: list[Shown], detail: Detail) -> str:
    text = render_bundle(shown, draw_nonce=_draw, limit_bytes=ANSWER_BYTES, detail=detail)
    return text or f"{len(shown)} memories are too large to show here; `memfs show ID` prints them."


def _facts(assessment: Assessment) -> dict[str, Any]:
    """Return what is said about a memory outside its frame: nothing that its author could word."""
    return {
        "id": assessment.file.id,
        "trusted": assessment.verdict.trusted,
        "reason": assessment.verdict.reason.value if assessment.verdict.reason else None,
        "state": assessment.state.state.value,
    }


def _all(desk: Desk) -> list[Assessment]:
    found: list[Assessment] = []
    for _, repository in _stores(desk).repositories():
        found += repository.assess_all(desk.caller)[0]
    return found


def _stores(desk: Desk) -> Stores:
    return Stores.open(desk.start, places=desk.places, today=desk.today())


def _repository(desk: Desk) -> Repository:
    return Repository.open(desk.start, places=desk.places, today=desk.today())


def _draw() -> str:
    return secrets.token_hex(8)


_CALLS: Mapping[str, Callable[[Mapping[str, Any], Desk, str], Answer]] = {
    "recall": _recall,
    "get": _get,
    "list": _list,
    "history": _history,
    "due": _due,
    "feedback": _feedback,
    "remember": _remember,
    "propose": _propose,
}

__all__ = ["ANSWER_BYTES", "Answer", "Desk", "Propose", "ToolSpec", "call_tool", "client_name"]
