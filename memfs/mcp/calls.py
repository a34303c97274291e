"""One tool call carried out: arguments in, framed text and the same as data out. No protocol here.

The text of memories leaves only in frames, in the text answer and in the structured one alike: some
clients show their model only the one, some only the other.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from memfs.disk.drafts import list_drafts
from memfs.errors import MemfsError, RefusedError
from memfs.git.read import read_git
from memfs.mcp import writes
from memfs.mcp.desk import STDIO, Answer, Desk, client_name
from memfs.mcp.tools import ToolSpec, check_arguments, find_tool
from memfs.model.memory import Memory
from memfs.model.values import replace
from memfs.recall.due import find_due
from memfs.recall.feedback import record_feedback
from memfs.recall.query import Query
from memfs.render.escape import show_line
from memfs.render.frame import frame_text
from memfs.render.views import Detail, Shown, render_bundle, render_titles
from memfs.repository.draft import HeldError
from memfs.repository.named import PROJECT
from memfs.repository.repository import Repository
from memfs.repository.shown import render_hits, shown_of

if TYPE_CHECKING:
    from memfs.standing.assess import Assessment

ANSWER_BYTES = 24_000
"""Most bytes of one answer's text: about 6,000 tokens, a quarter of what the strictest client takes."""

LIST_LINES = 200
_FILTERED = 50  # hits that are looked through for those that a filter lets pass


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
        outcome = "held" if isinstance(error, HeldError) else "refused"
        return Answer(text=writes.explain(error), facts={"outcome": outcome}, failed=True)
    except MemfsError as error:
        return Answer(text=writes.explain(error), failed=True)


def _recall(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001 - every call has one shape
    limit = given.get("limit", 5)
    filtered = bool({"scope", "kind", "tag", "since"} & set(given))
    query = Query(
        text=given["query"][:4000],
        caller=desk.caller,
        limit=_FILTERED if filtered else limit,
        work_path=given.get("path"),
        floor=not given.get("weak", False),
    )
    result = desk.stores().recall(query)
    hits = [hit for hit in result.hits if _wanted(hit.assessment, given)][:limit]
    result = replace(result, hits=tuple(hits), left_out=0 if filtered else result.left_out)
    text = render_hits(result, draw_nonce=_draw, limit_bytes=ANSWER_BYTES, detail=Detail.BRIEF)
    notes = [f"note: {said}" for said in (*result.notices, *result.remarks())]
    if "left out" in text or "cut here" in text:
        notes.append("note: this answer was cut: ask a narrower question, or call get with one id")
    if not hits:
        more = "" if given.get("weak") else " Weak matches are left out; weak: true shows them."
        notes.insert(0, f"Nothing is recorded about that.{more}")
    facts = [{**_facts(hit.assessment), "score": round(hit.score, 4)} for hit in hits]
    return Answer(text="\n".join(part for part in (text, *notes) if part), facts={"hits": facts, "mode": result.mode})


def _get(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    found = desk.stores().find(given["id"], desk.caller)
    store = None if found.store == PROJECT else found.store
    assessments = [found.repository.assess(file, desk.caller) for file in found.files]
    assessments.sort(key=lambda one: not one.approved)
    text = _bundle([shown_of(one, store=store) for one in assessments], Detail.FULL)
    notes = [f"note: {notice}" for notice in found.notices]
    return Answer(text="\n".join([text.rstrip("\n"), *notes]), facts={"memory": _facts(assessments[0])})


def _list(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    chosen = [assessment for _, assessment in _all(desk) if _wanted(assessment, given)]
    lines = render_titles([shown_of(assessment) for assessment in chosen])
    start = given.get("start", 0)
    page = lines[start : start + LIST_LINES]
    left = len(lines) - start - len(page)
    if left > 0:
        page.append(f"{left} lines more: call list with start={start + LIST_LINES}.")
    return Answer(text="\n".join(page) or "No memories.", facts={"count": len(chosen)})


def _wanted(assessment: Assessment, given: Mapping[str, Any]) -> bool:
    memory = assessment.file.memory
    if memory is None:
        return not {"scope", "kind", "state", "tag", "since"} & set(given)
    return given.get("state") in (None, assessment.state.state.value) and _has_fields(memory, given)


def _has_fields(memory: Memory, given: Mapping[str, Any]) -> bool:
    return (
        given.get("scope") in (None, memory.scope)
        and given.get("kind") in (None, memory.kind.value)
        and ("tag" not in given or given["tag"] in memory.tags)
        and ("since" not in given or memory.recorded >= date.fromisoformat(given["since"]))
    )


def _history(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    found = desk.stores().find(given["id"], desk.caller)
    repository, file = found.repository, found.file
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
    found = find_due(desk.stores().stores, desk.places, desk.caller, today=desk.today())
    if not found.due:
        return Answer(text="Nothing must be looked at again.", facts={"due": []})
    text = _bundle([shown_of(one.assessment, store=one.store) for one in found.due], Detail.HEADING)
    return Answer(text=text, facts={"due": [_facts(one.assessment) for one in found.due[:LIST_LINES]]})


def _waiting(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    """Answer with what waits for a person: memories without an approval, proposals, drafts that were held."""
    waiting = [(name, one) for name, one in _all(desk) if one.file.memory is not None and not one.verdict.trusted][
        :LIST_LINES
    ]
    parts = [_bundle([shown_of(one, store=name) for name, one in waiting], Detail.HEADING)] if waiting else []
    branches: list[str] = []
    if not desk.is_shared and desk.stores().stores[0][0] == PROJECT:
        # A branch's name may be the id of a memory that a key's scopes do not cover.
        repository = desk.repository()
        branches = _proposals(repository)
        parts += [f"Proposed on {branch}: `git switch {branch} && memfs review --approve`" for branch in branches]
        names = [show_line(draft.name) for draft in list_drafts(repository.tree, desk.places)]
        parts += [f"Held for your user: `memfs drafts show {name}`" for name in names]
    if waiting:
        parts.append("A person approves one with `memfs trust ID`.")
    facts = {"waiting": [_facts(one) for _, one in waiting], "branches": branches}
    return Answer(text="\n".join(parts) or "Nothing waits for a person.", facts=facts)


def _proposals(repository: Repository) -> list[str]:
    raw = read_git(repository.tree, "for-each-ref", "--format=%(refname)", "refs/heads/memory/", check=False)
    names = [line.removeprefix("refs/heads/") for line in raw.decode("utf-8", "replace").split("\n") if line]
    # A name that a shell would read as more than a name is not for pasting, nor for a model.
    return [name for name in names if re.fullmatch(r"memory/[A-Za-z0-9][A-Za-z0-9._-]{0,100}", name)][:LIST_LINES]


def _feedback(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:  # noqa: ARG001
    found = desk.stores().find(given["id"], desk.caller)
    repository, file = found.repository, found.file
    record_feedback(repository.tree, desk.places, file.id, helped=given["helped"], today=desk.today())
    return Answer(text="Noted on this machine.", facts={"id": file.id})


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


def _all(desk: Desk) -> list[tuple[str, Assessment]]:
    return [
        (name, assessment)
        for name, repository in desk.stores().repositories()
        for assessment in repository.assess_all(desk.caller)[0]
    ]


def _draw() -> str:
    return secrets.token_hex(8)


_CALLS: Mapping[str, Callable[[Mapping[str, Any], Desk, str], Answer]] = {
    "recall": _recall,
    "get": _get,
    "list": _list,
    "history": _history,
    "due": _due,
    "waiting": _waiting,
    "feedback": _feedback,
    "remember": writes.remember,
    "propose": writes.propose,
    "revise": writes.revise,
    "verify": writes.verify,
}

__all__ = ["ANSWER_BYTES", "STDIO", "Answer", "Desk", "ToolSpec", "call_tool", "client_name"]
