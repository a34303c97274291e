"""What an agent writes: on the branch that its user is on, or on a branch of its own for review.

Nothing here approves or deletes. An answer says where the memory is, what is like it, and the command with which a
person approves it: the agent passes that on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memfs.admission.gate import Finding
from memfs.disk.settings import read_repository_settings
from memfs.errors import InvalidMemoryError, MemfsError, RefusedError, UsageError
from memfs.git.read import branch_name
from memfs.mcp.desk import Answer, Desk
from memfs.mcp.tools import DRAFT
from memfs.model.memory import FrontValue, MemoryFile, Origin
from memfs.model.scope import scope_of_path
from memfs.propose.propose import Prepared, Wanted, open_request, prepare, push
from memfs.render.escape import show_line
from memfs.repository.draft import DraftText, HeldError, Recorded, TwiceError
from memfs.repository.drafting import remember_or_keep
from memfs.repository.repository import Repository
from memfs.repository.verify import plan_verification

_SAYS = {"same": "says the same", "near": "says nearly the same", "contradicts": "may say the opposite"}


def remember(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:
    """Record a memory: on the user's branch, or on one of its own where the team or the endpoint wants that."""
    repository = desk.repository()
    if desk.is_shared or read_repository_settings(repository.tree).agents_write == "proposal":
        return propose(given, desk, client)
    draft, writer = _draft(given, desk, client), repository.writer(desk.caller)
    try:
        recorded = _write_new(lambda: writer.remember(draft))
    except HeldError:
        # A person may want to look at it, so it is kept for them. Any other error is only an error.
        remember_or_keep(writer, draft)
        raise
    branch = branch_name(repository.tree)
    where = f"on the branch {show_line(branch)}" if branch else "on no branch"
    lines = [f"Recorded as {recorded.file.id} in {show_line(recorded.file.path)}, {where}. It is not approved."]
    lines += _remarks(recorded)
    lines += _state_now(repository, recorded.file, desk)
    undo = f"`memfs forget {recorded.file.id}` takes it back"
    lines.append(f"Tell your user: `memfs trust {recorded.file.id}` approves it, {undo}.")
    facts = {"id": recorded.file.id, "commit": recorded.commit, "path": recorded.file.path, "branch": branch}
    return Answer(text="\n".join(lines), facts=facts)


def propose(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:
    """Put a new memory on a branch of its own."""
    repository = desk.repository()
    _require_scope_of_key(desk, given["scope"])
    draft = _draft(given, desk, client)
    recorded = _write_new(lambda: repository.remember(draft, by=desk.caller, dry_run=True))
    return _proposed(desk, repository, recorded, _author(desk, client), "Proposed")


def revise(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:
    """Change a memory, on a branch of its own."""
    repository, before = _find_writable(given["id"], desk)
    changes: dict[str, FrontValue | None] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in given.items()
        if key not in ("id", "text")
    }
    if not changes and "text" not in given:
        raise UsageError("there is nothing to change: give text, or a field")
    recorded = repository.writer(desk.caller).edit(
        before, changes=changes, body=given.get("text"), origin=Origin.AGENT, dry_run=True
    )
    if recorded.file.raw == before.raw:
        raise UsageError(f"{before.id} says that already")
    return _proposed(desk, repository, recorded, _author(desk, client), "Proposed the change of")


def verify(given: Mapping[str, Any], desk: Desk, client: str) -> Answer:
    """Say that a memory still holds: tie its evidence to what is there now, on a branch of its own."""
    repository, before = _find_writable(given["id"], desk)
    planned = plan_verification(repository, repository.assess(before, desk.caller), caller=desk.caller)
    if not planned.changes:
        return Answer(text=f"{before.id} rests on what is there now already.", facts={"id": before.id})
    recorded = repository.writer(desk.caller).edit(before, changes=planned.changes, origin=Origin.AGENT, dry_run=True)
    return _proposed(desk, repository, recorded, _author(desk, client), "Proposed as still true:")


def explain(error: MemfsError) -> str:
    """Return what an agent must know to call the tool right the next time."""
    lines = [str(error)]
    lines += [
        f"- {found.rule} in {found.field or 'text'}: {found.message}"
        for found in getattr(error, "findings", ())
        if isinstance(found, Finding)
    ]
    if isinstance(error, InvalidMemoryError):
        # The hints of the command line name its options; a tool has arguments.
        named = [name for name in DRAFT if any(line.startswith(name) for line in str(error).split("\n  "))]
        lines += [f"{name}: {DRAFT[name]['description']}" for name in named if "description" in DRAFT[name]]
    elif error.hint:
        lines.append(error.hint)
    return "\n".join(lines)


def _write_new(write: Callable[[], Recorded]) -> Recorded:
    """Return what ``write`` recorded; for a text that is here already, the error names the tools that help."""
    try:
        return write()
    except TwiceError as error:
        error.hint = f"call verify with id {error.where} if it still holds, or revise to change it"
        raise


def _proposed(desk: Desk, repository: Repository, recorded: Recorded, agent: str, done: str) -> Answer:
    file = recorded.file
    wanted = Wanted(new={file.path: file.raw}, agent=agent)
    prepared = prepare(repository.tree, wanted, identities=repository.identities())
    lines = [f"{done} {file.id} on the branch {show_line(prepared.branch)}. It is not approved."]
    lines += _remarks(recorded)
    lines += _pushed(desk, repository, prepared, wanted)
    lines.append(f"Tell your user: `git switch {prepared.branch} && memfs review --approve` shows it and approves it.")
    facts = {"id": file.id, "commit": prepared.commit, "path": file.path, "branch": prepared.branch}
    return Answer(text="\n".join(lines), facts=facts)


def _pushed(desk: Desk, repository: Repository, prepared: Prepared, wanted: Wanted) -> list[str]:
    if prepared.remote is None:
        return ["There is no remote, so the branch is here alone."]
    try:
        push(repository.tree, prepared, environ=desk.environ, interactive=False)
    except MemfsError as error:
        return [f"It could not be pushed: {error}"]
    opened = open_request(repository.tree, prepared, wanted, environ=desk.environ, interactive=False)
    where = opened.request or opened.address
    return [f"It is pushed{f': {where}' if where else ''}."]


def _remarks(recorded: Recorded) -> list[str]:
    lines = [f"- {finding.rule}: {finding.message}" for finding in recorded.decision.findings]
    lines += [f"- {notice}" for notice in recorded.notices]
    return lines + [f"- {other} {_SAYS.get(likeness, likeness)}: look at it" for other, likeness in recorded.similar]


def _state_now(repository: Repository, file: MemoryFile, desk: Desk) -> list[str]:
    """Return a line where the memory is not current from its first day on."""
    state = repository.assess(file, desk.caller).state
    if state.state.value == "current":
        return []
    return [f"- It is {state.state.value} already: its evidence or its trigger is not what it says."]


def _find_writable(memory_id: str, desk: Desk) -> tuple[Repository, MemoryFile]:
    repository = desk.repository()
    file = repository.find(memory_id, desk.caller)
    _require_scope_of_key(desk, scope_of_path(file.path))
    return repository, file


def _require_scope_of_key(desk: Desk, scope: str | None) -> None:
    """Raise :class:`RefusedError` unless a key names the scope: it may read wider ones, and writes its own."""
    if not desk.is_shared or any(scope == own or str(scope).startswith(f"{own}/") for own in desk.caller.scopes):
        return
    raise RefusedError(
        "this key may not write memories of this scope; nothing was written",
        where="scope",
        hint=f"it writes to: {', '.join(desk.caller.scopes)}",
    )


def _author(desk: Desk, client: str) -> str:
    # A key was given by a person; what a client calls itself was not. Neither is trust.
    return desk.key if desk.is_shared else client


def _draft(given: Mapping[str, Any], desk: Desk, client: str) -> DraftText:
    front: dict[str, FrontValue] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in given.items() if key != "text"
    }
    return DraftText(body=given["text"], origin=Origin.AGENT, front=front, author=_author(desk, client))
