"""From rows of a shared index to memories: nothing is believed but what this machine verifies itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from memfs import standing
from memfs.disk.places import Places
from memfs.errors import MemfsError
from memfs.model.evidence import format_evidence
from memfs.model.memory import EvidenceReport, EvidenceStatus, MemoryFile, State, StateReport
from memfs.model.reader import content_digest, read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass
from memfs.postgres.asking import Evidence, Held
from memfs.trust.judge import Level, Reason, Verdict
from memfs.trust.opening import view_of_files
from memfs.trust.pin import Pin, parse_pin
from memfs.trust.view import TrustView

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,39}")
_GRAVITY = (State.CURRENT, State.UNKNOWN, State.RECHECK, State.EXPIRED, State.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A memory of another repository as this machine judges it. ``origin`` names the repository in plain letters."""

    key: int
    file: MemoryFile
    verdict: Verdict
    state: StateReport
    repository: str
    origin: str


def verify(
    held: Sequence[Held], evidence: Evidence, pins: Mapping[str, Pin], places: Places, *, today: date
) -> tuple[list[Verified], int]:
    """Return what of ``held`` is what it says it is, and how many rows were dropped because they are not.

    A row is dropped when its bytes have another digest, its path is not one of a memory, or its text belongs
    into another scope. Approvals count only under one of ``pins``, and under what this machine remembers.
    """
    views: dict[str, TrustView | Verdict] = {}
    found: list[Verified] = []
    dropped = 0
    for one in held:
        file = _read(one)
        if file is None:
            dropped += 1
            continue
        if one.repository not in views:
            views[one.repository] = _open_view(one.repository, evidence, pins, places, today)
        view = views[one.repository]
        found.append(
            Verified(
                key=one.key,
                file=file,
                verdict=view if isinstance(view, Verdict) else view.verdict(file),
                state=read_state(file, one, today),
                repository=one.repository,
                origin=one.name if _NAME.fullmatch(str(one.name)) else one.repository[:8],
            )
        )
    return found, dropped


def _read(one: Held) -> MemoryFile | None:
    if not isinstance(one.path, str) or scope_of_path(one.path) in (None, "personal") or not one.path.isprintable():
        return None
    file = read_memory(one.path, one.raw)
    if file.memory is None or file.digest != one.digest or content_digest(one.raw) != one.digest:
        return None
    return file


def _open_view(
    repository: str, evidence: Evidence, pins: Mapping[str, Pin], places: Places, today: date
) -> TrustView | Verdict:
    pin = pins.get(repository)
    if pin is None:
        return Verdict(
            level=Level.UNTRUSTED, reason=Reason.NOT_PINNED, detail="your settings pin no repository of this id"
        )
    keyrings = {f".memfs/keyring.{n}": raw for n, raw in evidence.keyrings.get(repository, {}).items()}
    receipts = {f".memfs/approvals/{name}": raw for name, raw in evidence.receipts.get(repository, {}).items()}
    try:
        return view_of_files(keyrings, receipts, today=today, pin=pin.text, places=places, remembered=True)
    except MemfsError as error:
        return Verdict(level=Level.UNTRUSTED, reason=Reason.KEYRING_BROKEN, detail=error.message)


def parse_pins(texts: Sequence[str]) -> dict[str, Pin]:
    """Return the pins of a store by repository. Raises :class:`UsageError` for a text that is not a pin."""
    pins = [parse_pin(text) for text in texts]
    return {pin.repository_id: pin for pin in pins}


# -- state ------------------------------------------------------------------------------------------------------------


def format_state(report: StateReport, on: date) -> dict[str, Any]:
    """Return what is published of a state: words of memfs alone, no sentence that a reader would have to trust."""
    return {
        "state": report.state.value,
        "evidence": [one.status.value for one in report.evidence],
        "on": on.isoformat(),
    }


def read_state(file: MemoryFile, one: Held, today: date) -> StateReport:
    """Return the state of ``file``: dates are judged here, the rest is the publisher's word or cannot be told."""
    memory = file.memory
    assert memory is not None
    own = standing.judge_dates(memory, today)
    texts = [format_evidence(piece) for piece in memory.evidence]
    said = _parse_state(one.state, len(texts))
    if said is None:
        there = tuple(EvidenceReport(text=text, status=EvidenceStatus.UNVERIFIABLE) for text in texts)
        note = "what it rests on is in another repository and cannot be told here"
        return StateReport(
            state=max(State.UNKNOWN, own.state, key=_GRAVITY.index), reasons=(*own.reasons, note), evidence=there
        )
    state, statuses = said
    note = f"{state.value} at {_commit(one)}, by its publisher's word"
    reports = tuple(EvidenceReport(text=text, status=status) for text, status in zip(texts, statuses, strict=True))
    worst = max(state, own.state, key=_GRAVITY.index)
    return StateReport(state=worst, reasons=(*own.reasons, note), evidence=reports)


def _parse_state(raw: object, pieces: int) -> tuple[State, list[EvidenceStatus]] | None:
    try:
        if not isinstance(raw, dict) or not isinstance(raw["evidence"], list) or len(raw["evidence"]) != pieces:
            return None
        return State(raw["state"]), [EvidenceStatus(status) for status in raw["evidence"]]
    except (KeyError, TypeError, ValueError):
        return None


def _commit(one: Held) -> str:
    commit = one.commit[:12] if re.fullmatch(r"[0-9a-f]{40,64}", str(one.commit)) else "an unknown commit"
    day = one.committed.date().isoformat() if isinstance(one.committed, datetime) else "an unknown day"
    return f"{commit} of {day}"
