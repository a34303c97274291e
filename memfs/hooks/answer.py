"""What one hook call is answered with: what to recall for it, and how much of that is said.

Nothing above what the moment needs is imported: a session of an agent comes through here hundreds of
times, and most calls have nothing to ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.hooks.dialect import LONGEST_CONTEXT, format_answer, takes_context
from memfs.hooks.event import Event, Moment, parse_event

if TYPE_CHECKING:
    from datetime import date

    from memfs.disk.places import Places
    from memfs.hooks.seen import Seen
    from memfs.recall.search import Hit, Result
    from memfs.repository.api import Stores

PROMPT_HITS = 5
TOOL_HITS = 3
BRIEF_HITS = 12
_TOOL_BYTES = 4_000
_LONGEST_COMMAND = 2_000
_MOST_WORDS = 40
_NEW_CONTEXT = frozenset({"startup", "new", "clear", "compact", "fork", ""})


def answer_event(raw: bytes, agent: str, places: Places, *, today: Callable[[], date]) -> bytes:
    """Return what the hook prints for the call ``raw``: an answer in the agent's shape, or nothing."""
    event = parse_event(raw, agent)
    if event is None or event.stop_hook_active or event.moment in (Moment.OTHER, Moment.STOP):
        # The end of a turn is where capture will have its place; until then there is nothing to do.
        return b""
    if event.moment is not Moment.COMPACT and not _asks_something(event):
        return b""
    if event.borrowed and _has_own_hooks(event, places):
        return b""
    from memfs.hooks.seen import COMPACTED, Seen

    seen = Seen(places, event.agent, event.session, event.subagent)
    if event.moment is Moment.COMPACT:
        seen.clear()
        seen.add([COMPACTED])
        return b""
    return format_answer(event, _context(event, seen, places, today()))


def _asks_something(event: Event) -> bool:
    """Return whether there is somebody to tell and something to look for."""
    if not takes_context(event) or not os.path.isabs(event.cwd) or not os.path.isdir(event.cwd):
        return False
    if event.moment in (Moment.BEFORE_TOOL, Moment.AFTER_TOOL):
        return bool(event.paths or event.command) and "memfs" not in event.tool
    return event.moment is not Moment.PROMPT or _says_something(event)


def _says_something(event: Event) -> bool:
    if event.notification:
        return False
    from memfs.hooks.query import parse_prompt

    return any(character.isalnum() for character in parse_prompt(event.prompt))


def _context(event: Event, seen: Seen, places: Places, today: date) -> str:
    if event.moment is Moment.START:
        if event.source in _NEW_CONTEXT:
            seen.clear()
        seen.prune()
        return _brief(event, seen, places, today)
    if event.moment is Moment.PROMPT:
        from memfs.hooks.seen import COMPACTED

        brief = ""
        if COMPACTED in seen.marks:
            seen.clear()
            brief = _brief(event, seen, places, today)
        return _join(brief, _for_prompt(event, seen, places, today, LONGEST_CONTEXT - len(brief.encode())))
    return _for_tool(event, seen, places, today)


def _brief(event: Event, seen: Seen, places: Places, today: date) -> str:
    """Return what a session begins with: what the team approved, and how much more there is."""
    from memfs.recall.search import Query

    stores = _open_stores(event, places, today)
    if stores is None:
        return ""
    result = stores.recall(Query(text="", limit=BRIEF_HITS, mode="lexical", floor=False, brief=True))
    counted = ""
    if result.others:
        counted = f"{result.others} more memories are not approved or not current; they are recalled where they fit.\n"
    if result.unreadable:
        counted += f"{result.unreadable} files could not be read as memories; `memfs check` names them.\n"
    return _join(_render(result, seen, LONGEST_CONTEXT - len(counted), brief=True), counted)


def _for_prompt(event: Event, seen: Seen, places: Places, today: date, room: int) -> str:
    from memfs.hooks.query import parse_prompt

    text = parse_prompt(event.prompt)
    from memfs.recall.search import Query

    stores = _open_stores(event, places, today)
    if stores is None:
        return ""
    return _render(stores.recall(Query(text=text, limit=PROMPT_HITS, prompt=True)), seen, room)


def _for_tool(event: Event, seen: Seen, places: Places, today: date) -> str:
    """Return what is known about the paths or the command of a tool call, and was not said yet."""
    stores = _open_stores(event, places, today)
    if stores is None:
        return ""
    from memfs.hooks.query import relative_path
    from memfs.recall.search import Query

    root = _root(stores, event)
    paths = [relative_path(path, root) for path in event.paths or _paths_in(event.command, event.cwd)]
    query = Query(
        text=event.command or " ".join(paths),
        limit=TOOL_HITS,
        work_path=paths[0] if paths else None,
        mode="lexical",
    )
    return _render(stores.recall(query), seen, _TOOL_BYTES, only_new=True)


def _paths_in(command: str, cwd: str) -> list[str]:
    """Return the files and folders that a shell command names, as absolute paths."""
    words = [word.strip("'\"`;,()<>") for word in command[:_LONGEST_COMMAND].split()[:_MOST_WORDS]]
    named = [os.path.normpath(os.path.join(cwd, word)) for word in words if "/" in word or "." in word]
    return [path for path in named if "\0" not in path and path != cwd and os.path.exists(path)]


def _render(result: Result, seen: Seen, room: int, *, brief: bool = False, only_new: bool = False) -> str:

    from memfs.model.values import replace
    from memfs.render.views import Detail
    from memfs.repository.api import render_hits

    hits = [hit for hit in result.hits if not (only_new and _mark(hit) in seen.marks)]
    if only_new:
        # The tool call did not ask anything: what was left out is not its business.
        result = replace(result, left_out=0)
    text = ""
    if hits:
        detail = Detail.HEADING if brief else Detail.BRIEF
        text = render_hits(
            replace(result, hits=tuple(hits)),
            draw_nonce=lambda: os.urandom(8).hex(),
            limit_bytes=room,
            detail=detail,
        )
        if not brief:  # a brief says too little of each to count as having shown it
            seen.add(_mark(hit) for hit in hits)
    return text


def _mark(hit: Hit) -> str:
    """Return what stands for a memory as it is shown now: other text, trust or state is shown again."""
    assessment = hit.assessment
    return f"{assessment.file.digest[:24]} {assessment.verdict.level} {assessment.state.state}"


def _join(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def _open_stores(event: Event, places: Places, today: date) -> Stores | None:
    from pathlib import Path

    from memfs.repository.api import Stores

    stores = Stores.open(Path(event.cwd), places=places, today=today)
    return stores if stores.stores else None


def _root(stores: Stores, event: Event) -> str:
    return str(stores.stores[0][1].root) if stores.stores[0][0] == "project" else event.cwd


def _has_own_hooks(event: Event, places: Places) -> bool:
    """Return whether the agent that runs this borrowed hook has hooks of memfs in its own files too."""
    home = str(places.home)
    if event.agent == "copilot":
        files = [f"{home}/.copilot/hooks/memfs.json", f"{event.cwd}/.github/hooks/memfs.json"]
        return any(os.path.exists(file) for file in files)
    for file in (f"{home}/.cursor/hooks.json", f"{event.cwd}/.cursor/hooks.json"):
        try:
            with open(file, "rb") as settings:
                if b"memfs" in settings.read():
                    return True
        except OSError:
            continue
    return False
