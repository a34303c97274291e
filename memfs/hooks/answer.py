"""What one hook call is answered with: what to recall for it, and how much of that is said.

Nothing above what the moment needs is imported: a session of an agent comes through here hundreds of
times, and most calls have nothing to ask.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.connect.agents import LONGEST_CONTEXT, Moment, format_answer, takes_context
from memfs.hooks.event import Event, parse_event
from memfs.hooks.query import parse_prompt, relative_path

if TYPE_CHECKING:
    from datetime import date

    from memfs.disk.places import Places
    from memfs.hooks.seen import Seen
    from memfs.recall.query import Hit, Result
    from memfs.repository.stores import Stores

PROMPT_HITS = 5
TOOL_HITS = 3
BRIEF_HITS = 12
FURTHER_BYTES = 1_200
"""Most bytes for a prompt of a session that was given memories already."""

_TOOL_BYTES = 4_000
_LONGEST_COMMAND = 2_000
_MOST_WORDS = 40
_NEW_CONTEXT = frozenset({"startup", "new", "clear", "compact", "fork", ""})
_VECTOR_SECONDS = 0.25
_USABLE_SHARE = 0.75


class Clock:
    """How much time a call has: ``began`` and ``deadline`` are times of :func:`time.monotonic`."""

    __slots__ = ("_began", "_deadline")

    def __init__(self, began: float, deadline: float) -> None:
        self._began = began
        self._deadline = deadline

    def is_late_for_vectors(self) -> bool:
        """Return whether a search by meaning would end too late on this machine now.

        Where others compute too, a second takes longer by as much as this process waited so far.
        """
        passed = time.monotonic() - self._began
        waited = max(1.0, passed / max(time.process_time(), 0.01))
        return passed + _VECTOR_SECONDS * waited > (self._deadline - self._began) * _USABLE_SHARE


def answer_event(
    raw: bytes,
    agent: str,
    places: Callable[[], Places],
    *,
    today: Callable[[], date],
    clock: Clock | None = None,
) -> bytes:
    """Return what the hook prints for the call ``raw``: an answer in the agent's shape, or nothing."""
    if "MEMFS_CAPTURE" in os.environ:  # an agent that reads a session for memfs
        return b""
    event = parse_event(raw, agent)
    if event is not None and event.transcript and event.moment in (Moment.PROMPT, Moment.STOP) and not event.subagent:
        _note_session(event, places())
    if event is None or event.stop_hook_active or event.moment in (Moment.OTHER, Moment.STOP):
        return b""
    if event.moment is not Moment.COMPACT and not _asks_something(event):
        return b""
    if event.borrowed and _has_own_hooks(event, places()):
        return b""
    call = _Call(event, places(), today(), clock)
    text = call.answer()
    return format_answer(event.row, event.name, text, call.said()) if text else b""


def _note_session(event: Event, places: Places) -> None:
    """Note a session that may be captured by itself later. Without that word in the user's settings nothing is
    loaded."""
    try:
        with open(places.config / "config.yaml", "rb") as file:
            if b"automatic: true" not in file.read(1 << 16):
                return
        from memfs.capture.queue import note

        note(places, event.transcript, event.cwd, now=time.time())
    except FileNotFoundError:
        return
    except Exception as error:  # noqa: BLE001 - a session that is not noted costs a capture, never an answer
        from memfs.hooks.log import write_log

        write_log(places, event.row.name, f"a session was not noted: {error}")


def _asks_something(event: Event) -> bool:
    """Return whether there is somebody to tell and something to look for."""
    if not takes_context(event.row, event.name, event.moment):
        return False
    if not os.path.isabs(event.cwd) or not os.path.isdir(event.cwd):
        return False
    if event.moment in (Moment.BEFORE_TOOL, Moment.AFTER_TOOL):
        return bool(event.paths or event.command) and "memfs" not in event.tool
    return event.moment is not Moment.PROMPT or _may_ask(event)


def _may_ask(event: Event) -> bool:
    """Return whether a prompt may be about anything. A brief that is due comes with the next one that is."""
    if event.notification:
        return False
    text = parse_prompt(event.prompt)
    if not any(character.isalnum() for character in text):
        return False
    from memfs.recall.steps import is_step

    if is_step(text):
        return False
    from memfs.recall.floor import says_nothing

    return not says_nothing(text, prompt=True)


class _Call:
    """One call that asks something."""

    def __init__(self, event: Event, places: Places, today: date, clock: Clock | None) -> None:
        from memfs.hooks.seen import Seen

        self._event = event
        self._places = places
        self._today = today
        self._clock = clock
        self._seen: Seen = Seen(places, event.row.name, event.session, event.subagent)
        self._given = 0
        self._unapproved = 0

    def said(self) -> str:
        """Return the line for the person: how many memories their agent was given."""
        if not self._given:
            return ""
        counted = f"memfs gave {self._given} {'memory' if self._given == 1 else 'memories'}"
        return f"{counted}, {self._unapproved} not approved" if self._unapproved else counted

    def answer(self) -> str:
        from memfs.hooks.seen import COMPACTED

        event, seen = self._event, self._seen
        if event.moment is Moment.COMPACT:
            seen.clear()
            seen.add([COMPACTED])
            return ""
        if event.moment is Moment.START:
            return self._start(COMPACTED)
        if event.moment is Moment.SUBAGENT:
            return self._brief()
        if event.moment is Moment.PROMPT:
            brief = ""
            if COMPACTED in seen.marks:
                seen.clear()
                brief = self._brief()
            return _join(brief, self._for_prompt(LONGEST_CONTEXT - len(brief.encode())))
        return self._for_tool()

    def _start(self, compacted: str) -> str:
        event, seen = self._event, self._seen
        # opencode's plugin cannot tell a new session from one that goes on; the record can.
        if event.source in _NEW_CONTEXT or (event.source == "begin" and not seen.marks):
            seen.clear()
        seen.prune()
        if event.source in event.row.forgets:
            seen.add([compacted])  # the agent drops this answer: the next prompt brings the brief
            return ""
        return self._brief()

    def _brief(self) -> str:
        """Return what a session begins with: what the team approved, and how much more there is."""
        from memfs.recall.query import Query

        stores = self._open_stores()
        if stores is None:
            return ""
        result = stores.recall(Query(text="", limit=BRIEF_HITS, mode="lexical", floor=False, brief=True))
        counted = ""
        if result.others:
            counted = (
                f"{result.others} more memories are not approved or not current; they are recalled where they fit.\n"
            )
        if result.unreadable:
            counted += f"{result.unreadable} files could not be read as memories; `memfs check` names them.\n"
        mark = f"brief {result.others} {result.unreadable}"
        again = mark in self._seen.marks
        text = self._render(result, LONGEST_CONTEXT - len(counted), brief=True)
        if not text and again:
            return ""  # a session that goes on: nothing changed
        self._seen.add([mark])
        return _join(text, counted)

    def _for_prompt(self, room: int) -> str:
        from memfs.hooks.seen import PROMPTED
        from memfs.recall.query import Query

        stores = self._open_stores()
        if stores is None:
            return ""
        mode = "lexical" if self._clock is not None and self._clock.is_late_for_vectors() else "auto"
        result = stores.recall(Query(text=parse_prompt(self._event.prompt), limit=PROMPT_HITS, mode=mode, prompt=True))
        if PROMPTED in self._seen.marks:
            room = min(room, FURTHER_BYTES)
        text = self._render(result, room)
        if text:
            self._seen.add([PROMPTED])
        return text

    def _for_tool(self) -> str:
        """Return what is known about the paths or the command of a tool call, and was not said yet."""
        from memfs.recall.query import Query

        event, stores = self._event, self._open_stores()
        if stores is None:
            return ""
        root = _root(stores, event)
        paths = [relative_path(path, root) for path in event.paths or _paths_in(event.command, event.cwd)]
        query = Query(
            text=event.command or " ".join(paths),
            limit=TOOL_HITS,
            work_path=paths[0] if paths else None,
            mode="lexical",
        )
        return self._render(stores.recall(query), _TOOL_BYTES)

    def _render(self, result: Result, room: int, *, brief: bool = False) -> str:
        """Return what of ``result`` this session was not given yet, and note it."""
        from memfs.model.values import replace
        from memfs.render.views import Detail
        from memfs.repository.shown import render_hits

        new = [
            hit
            for hit in result.hits
            if hit.assessment.file.memory is not None and _mark(hit, brief=brief) not in self._seen.marks
        ]
        # What is left out of a prompt's or a tool's answer was not asked for: only a brief counts it.
        result = replace(result, left_out=result.left_out if brief else 0)
        draw = lambda: os.urandom(8).hex()  # noqa: E731
        detail = Detail.HEADING if brief else Detail.BRIEF
        text = ""
        while new:
            limit = room if len(new) == 1 else LONGEST_CONTEXT
            text = render_hits(replace(result, hits=tuple(new)), draw_nonce=draw, limit_bytes=limit, detail=detail)
            if not text and len(new) == 1 and not brief:  # too long for what is left: its heading says that it is there
                one = replace(result, hits=tuple(new))
                text = render_hits(one, draw_nonce=draw, limit_bytes=limit, detail=Detail.HEADING)
            if text and len(text.encode()) <= room:
                break
            text = ""
            new.pop()
        self._seen.add(_mark(hit, brief=brief) for hit in new)
        self._given += len(new)
        self._unapproved += sum(not hit.assessment.verdict.trusted for hit in new)
        return text

    def _open_stores(self) -> Stores | None:
        from pathlib import Path

        from memfs.repository.stores import Stores

        stores = Stores.open(Path(self._event.cwd), places=self._places, today=self._today)
        return stores if stores.stores else None


def _paths_in(command: str, cwd: str) -> list[str]:
    """Return the files and folders that a shell command names, as absolute paths."""
    words = [word.strip("'\"`;,()<>") for word in command[:_LONGEST_COMMAND].split()[:_MOST_WORDS]]
    named = [os.path.normpath(os.path.join(cwd, word)) for word in words if "/" in word or "." in word]
    return [path for path in named if "\0" not in path and path != cwd and os.path.exists(path)]


def _mark(hit: Hit, *, brief: bool) -> str:
    """Return what is noted of a memory as it is shown now: other text, approval or state is shown again.

    A brief says too little of each to count as having shown it.
    """
    assessment = hit.assessment
    kind = "heading" if brief else "text"
    return f"{kind} {assessment.file.digest[:24]} {assessment.verdict.level} {assessment.state.state}"


def _join(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def _root(stores: Stores, event: Event) -> str:
    return str(stores.stores[0][1].root) if stores.stores[0][0] == "project" else event.cwd


def _has_own_hooks(event: Event, places: Places) -> bool:
    """Return whether the agent that runs this borrowed hook has hooks of memfs in its own files too."""
    row = event.row
    for file in (f"{places.home}/{row.folder}/{row.hooks}", f"{event.cwd}/{row.project_folder}/{row.project_hooks}"):
        try:
            with open(file, "rb") as settings:
                if b"memfs" in settings.read():
                    return True
        except OSError:
            continue
    return False
