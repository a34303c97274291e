"""Reading a frame as a model's harness would: what of a text got out of it."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from datetime import date

from memfs.model.codepoints import LINE_SEPARATORS, find_hidden
from memfs.model.memory import (
    EvidenceReport,
    EvidenceStatus,
    IfText,
    Kind,
    Memory,
    MemoryFile,
    Origin,
    SaidEvidence,
    State,
    StateReport,
)
from memfs.render.views import Shown, render_bundle, render_json, render_markdown, render_titles

SEPARATOR = re.compile("\r\n|[" + re.escape(LINE_SEPARATORS) + "]")
OPENING = re.compile(r'[A-Z][a-z ]+ ([0-9a-f]{16})\. Lines that start with "([0-9a-f]{4}\|) " are .*')
OWN = re.compile(
    r"|\d+ more left out\.|```text|```|\d+ not approved or not current; `memfs recall` shows (?:it|them)\."
)
# What a reader of the harness would take for its own markup, whatever stands before it on the line.
HARNESS = re.compile(
    r"</?(?:system-reminder|system|assistant|user|human|memory|function_calls|invoke)\b|<\|(?:im_start|"
    r"im_end|eot_id)\|>"
    r"|\[/?INST\]|<<SYS>>|<!--|!\[|(?:^|\s)(?:Human|Assistant):",
    re.MULTILINE,
)


def leaks(text: str) -> Iterator[str]:
    """Yield every physical line of ``text`` that is neither in a frame nor memfs's own, and what hides in it."""
    frame: tuple[str, str] | None = None
    warning_next = False
    for line in SEPARATOR.split(text):
        if warning_next:
            warning_next = False
        elif frame is None:
            if match := OPENING.fullmatch(line):
                frame, warning_next = (match[1], match[2]), True
            elif not OWN.fullmatch(line):
                yield f"outside: {line}"
        elif re.fullmatch(rf"End of [a-z ]+ {frame[0]}\.", line):
            frame = None
        elif not line.startswith(frame[1]):
            yield f"no prefix: {line}"
    if frame is not None:
        yield "never closed"
    for hidden in find_hidden(text):
        yield f"hidden U+{hidden.codepoint:04X}"
    for match in HARNESS.finditer(text):
        yield f"looks like the harness: {match.group()}"


def shown_with(text: str, *, trusted: bool, due: bool) -> Shown:
    """Return one memory with ``text`` in every field that a file or a repository can fill."""
    line = " ".join(text.split()) or "x"
    memory = Memory(
        id="a-memory",
        path="memories/team/a-memory.md",
        kind=Kind.DECISION,
        origin=Origin.AGENT,
        scope="team",
        evidence=(SaidEvidence(person=line, on=date(2027, 2, 11)),),
        recorded=date(2027, 2, 11),
        review_trigger=IfText(text=text),
        statement=text,
        body=f"{text}\n\nand then\n\n{text}\n",
        title=text,
        author=text,
        tags=(text, "tag"),
        applies_to=(text,),
        allow=(text,),
        supersedes=("older",),
    )
    state = StateReport(
        state=State.RECHECK if due else State.CURRENT,
        reasons=(text,) if due else (),
        evidence=(EvidenceReport(text=text, status=EvidenceStatus.CHANGED, line_now=text),),
    )
    file = MemoryFile(id=memory.id, path=memory.path, raw=b"", digest="0" * 64, document=None, memory=memory)
    return Shown(file=file, state=state, trusted=trusted, trust_words="approved", store=text, notes=(text,))


def draw() -> str:
    return secrets.token_hex(8)


def break_outs(text: str) -> list[str]:
    """Return all that gets out of the frame when ``text`` stands in every field, in every view."""
    found: list[str] = []
    for trusted in (True, False):
        for due in (True, False):
            shown = [shown_with(text, trusted=trusted, due=due)]
            withheld = [Shown(file=shown[0].file, state=None, trusted=trusted, trust_words="x", placeholder=text)]
            for limit in (None, 900):
                found += leaks(render_bundle(shown, draw_nonce=draw, limit_bytes=limit))
            found += leaks(render_bundle(withheld, draw_nonce=draw))
            found += leaks(render_markdown(shown, draw_nonce=draw))
            answer = json.dumps(render_json([*shown, *withheld]), ensure_ascii=True)
            if not answer.isascii() or len(SEPARATOR.split(answer)) != 1:
                found.append("JSON is not one line of ASCII")
            found += [f"hidden in JSON U+{h.codepoint:04X}" for h in find_hidden("".join(_strings(json.loads(answer))))]
            found += [
                f"JSON looks like the harness: {m.group()}"
                for m in HARNESS.finditer(" ".join(_strings(json.loads(answer))))
            ]
            titles = render_titles([*shown, *withheld])
            found += [f"title of several lines: {title}" for title in titles if len(SEPARATOR.split(title)) != 1]
            own = render_titles([shown_with("\u2603", trusted=trusted, due=due), *withheld[:0]])  # memfs's own words
            told = [title for title in titles if text.strip() and text.strip() in title]
            if not shown[0].as_rule and any(text.strip() not in " ".join(own) for _ in told):
                found.append("a title that is not approved")
    return found


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
