"""What a model is asked about a session, and what its answer may be.

Memory that was put into the session is taken out before, secrets are masked, and the answer is data: one JSON object of
``data/answer.json``, each statement with words that the session really contains.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from memfs.admission.masking import MASK, mask_private
from memfs.capture.transcripts import Turn
from memfs.errors import SetupError
from memfs.model.codepoints import folded
from memfs.model.values import dataclass, replace

PIECE = 60_000
"""Characters of a session that go into one question; a longer one is asked about in pieces, the newest four."""

PIECES = 4
FEWEST_WORDS = 5

Ask = Callable[[str, str], str]
"""Asks a model: (what it is to do, the record) → what it answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a model took from a session: ``line`` is the line of the transcript that contains its quote."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One piece of a session as it leaves this machine: ``record`` and ``turns`` with everything private masked."""

    record: str
    turns: tuple[Turn, ...]
    masked: int


def instructions() -> str:
    """Return what the model is told to do."""
    return files("memfs.capture").joinpath("data/prompt.txt").read_text(encoding="utf-8")


def make_questions(turns: Sequence[Turn]) -> list[Question]:
    """Return the session in pieces of at most :data:`PIECE` characters; none where no person said anything."""
    if not any(turn.who == "person" for turn in turns):
        return []
    pieces: list[list[tuple[Turn, int]]] = [[]]
    size = 0
    for turn in turns:
        text, masked = mask_private(turn.text)
        if size + len(text) > PIECE and pieces[-1]:
            pieces.append([])
            size = 0
        pieces[-1].append((replace(turn, text=text), masked))
        size += len(text)
    return [_question(piece) for piece in pieces[-PIECES:] if piece]


def _question(piece: Sequence[tuple[Turn, int]]) -> Question:
    mark = secrets.token_hex(8)
    about = f"The record is between the two lines {mark}. Lines that start with [person] or [agent] begin a turn."
    said = [f"[{turn.who}] {turn.text.replace(mark, '')}" for turn, _ in piece]
    return Question(
        record="\n".join([about, mark, *said, mark]),
        turns=tuple(turn for turn, _ in piece),
        masked=sum(masked for _, masked in piece),
    )


def ask_about(question: Question, ask: Ask) -> tuple[list[Statement], int]:
    """Return the statements of the answer whose quotes are in the record, and how many were left out as not.

    Raises :class:`SetupError` where the model cannot be asked, or answers with anything but the JSON that was asked
    for: nothing of such an answer is used.
    """
    found, dropped = [], 0
    for item in parse_answer(ask(instructions(), question.record)):
        line = _find_line(item["quote"], question.turns)
        if line is None or MASK in item["text"]:
            dropped += 1
        else:
            found.append(Statement(kind=item["kind"], text=item["text"].strip(), line=line))
    return found, dropped


def parse_answer(answer: str) -> list[dict[str, str]]:
    """Return the ``memories`` of an answer, one JSON object, by itself or in a code fence.

    Raises :class:`SetupError` for anything else.
    """
    text = answer.strip()
    fenced = re.fullmatch(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", text, re.DOTALL)
    try:
        document = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        raise SetupError("the model did not answer with the JSON that it was asked for; nothing was kept") from None
    problem = next(iter(_schema().iter_errors(document)), None)
    if problem is not None:
        where = "/".join(map(str, problem.absolute_path))
        raise SetupError("the model's answer is not of the form that was asked for; nothing was kept", where=where)
    memories: list[dict[str, str]] = document["memories"]
    return memories


@cache
def _schema() -> Any:
    import jsonschema

    schema = json.loads(files("memfs.capture").joinpath("data/answer.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema)


def _find_line(quote: str, turns: Sequence[Turn]) -> int | None:
    """Return the line of the first turn that contains ``quote``, blanks and letters' case aside."""
    wanted = folded(quote)
    if wanted.count(" ") < FEWEST_WORDS - 1:
        return None
    return next((turn.line for turn in turns if wanted in folded(turn.text)), None)


def statements_of(turns: Sequence[Turn], ask: Ask) -> Iterator[tuple[list[Statement], int]]:
    """Yield what :func:`ask_about` returns for each piece of a session."""
    for question in make_questions(turns):
        yield ask_about(question, ask)
