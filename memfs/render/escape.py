"""Text that is not memfs's own, made safe to print (ADMISSION 6). Pure.

Three things happen to every line: what nobody can see is written as ``\\u{202E}``; odd spaces
become plain ones; and what looks like the harness of an agent, the turn of a chat or a line of
memfs's own frame gets its first character written the same way. Nothing is taken away, so that a
person sees what the file tries.
"""

from __future__ import annotations

import re
from functools import cache

from memfs.admission.folding import fold_characters
from memfs.model.codepoints import LINE_SEPARATORS, ODD_SPACES, escape_hidden

LINE_LENGTH = 2000
NAME_LENGTH = 60  # of a bad file name

_LINE_END = re.compile("\r\n|[" + re.escape(LINE_SEPARATORS) + "]")
_SPACES = str.maketrans(dict.fromkeys(ODD_SPACES, " "))

# Element names that some agent's harness, tool protocol or prompt template uses, or that a memory
# tool of any name might. Compared after folding, so case, width and look-alikes do not matter.
_ELEMENTS = (
    r"system|sys|human|assistant|user|developer|tools?|model|agent|admin|root|"
    r"memor(?:y|ies)|memfs|context|instructions?|rules?|prompt|polic(?:y|ies)|reminder|thinking|thoughts?|reasoning|"
    r"functions?|invoke|parameters?|results?|outputs?|stdout|stderr|commands?|documents?|data|untrusted|trusted|"
    r"approved|notes?|messages?|conversation|environment|env|turn|bos|eos|pad|unk|s|im_|eot|start_of|end_of|begin_of|"
    r"antml|hook|skill|task|local-command|user-prompt|additional"
)
_HARNESS = (
    rf"<(?=\s*[/!?|\\]|\s*(?:{_ELEMENTS})(?:[\s>/:_.\-]|$))"  # any closing tag, comment, token; known opening tags
    r"|<(?=<\s*/?\s*sys)"
    r"|&(?=(?:lt|\#0*60|\#x0*3c);?\s*[/!?|])"
    r"|\[(?=\s*/?\s*(?:inst|sys|system|available_tools|tool_calls|tool_results?|system_prompt)\s*\])"
    r"|!(?=\[)"  # an image would be fetched by whatever renders the text
    r"|(?<![a-z0-9_])(?:h(?=uman\s*:)|a(?=ssistant\s*:))"
)
_LINE_START = (
    r"(?:[hauds](?=(?:uman|ssistant|i|ser|eveloper|ystem)(?:\s*(?:prompt|message|note|override|reminder))?\s*[*_`]*\s*:)"
    r"|t(?=ool(?:\s*(?:results?|output|call))?\s*:)"
    r"|[0-9a-f](?=[0-9a-f]{3}\s*\|)"  # a made-up prefix
    r"|m(?=emory\s+bundle\b)|e(?=nd\s+(?:of\s+)?(?:untrusted\s+|trusted\s+)?memory\b)"
    r"|\[(?=[^\]\[]{1,70}\]\s*(?:[a-z]+\s+[-·.:]|$))"  # a made-up heading of a memory
    r"|e(?=vidence\s+\S)|l(?=ine\s+now\b)"  # a made-up result of checking evidence
    r"|r(?=echeck\b)|u(?=nknown\s*:)|s(?=uperseded\b)|e(?=xpired\b)|w(?=ithheld\b))"
)
_LEAD = r"^[\s>*_#`~|\-+=.•▪–—\"'(]*(?:\d{1,3}[.)]\s*)?"
_SUSPECT_WORDS = ("human", "assistant", "ai", "user", "developer", "system", "tool", "memory", "evidence", "line",
                  "recheck", "unknown", "superseded", "expired", "withheld")  # fmt: skip


@cache
def _harness() -> re.Pattern[str]:
    return re.compile(_HARNESS, re.IGNORECASE)


@cache
def _line_start() -> re.Pattern[str]:
    return re.compile(f"{_LEAD}(?P<first>{_LINE_START})", re.IGNORECASE)


def _visible(char: str) -> str:
    return f"\\u{{{ord(char):04X}}}"


def _defused(line: str, *, opens_line: bool) -> str:
    folded = fold_characters(line).lower()
    places: set[int] = set()
    if any(char in folded for char in "<&[!") or "human" in folded or "assistant" in folded:
        places.update(match.start() for match in _harness().finditer(folded))
    if opens_line and ("|" in folded or "[" in folded or any(word in folded for word in _SUSPECT_WORDS)):
        match = _line_start().match(folded)
        if match:
            places.add(match.start("first"))
    if not places:
        return line
    return "".join(_visible(char) if offset in places else char for offset, char in enumerate(line))


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text``, cut at everything that some reader takes for a line end."""
    lines = _LINE_END.split(text)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def show_line(text: str) -> str:
    """Return ``text`` as one line that is safe anywhere but at the start of a line of its own.

    For a value inside memfs's own words: a title in a table, a path in a message. Line ends are
    written out.
    """
    return _defused(escape_hidden(text.translate(_SPACES), single_line=True), opens_line=False)


def show_name(path: str) -> str:
    """Return the path of a file that has no id, short and without spaces: it cannot read like a heading."""
    text = "".join(char if char.isalnum() or char in "/._-\\{}" else _visible(char) for char in show_line(path))
    return text if len(text) <= NAME_LENGTH else f"{text[:NAME_LENGTH]}…"


def show_lines(text: str) -> list[str]:
    """Return the physical lines of ``text``, each safe behind a frame's prefix.

    A very long line is cut into several, so that wherever a reader wraps, a prefix is near.
    """
    pieces = (line[at : at + LINE_LENGTH] for line in split_lines(text) for at in range(0, len(line) or 1, LINE_LENGTH))
    return [_defused(escape_hidden(piece.translate(_SPACES)), opens_line=True) for piece in pieces]


def show_text(text: str) -> str:
    """Return ``text`` safe as one value of a JSON answer: line feeds stay, every other separator is visible."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return "\n".join(_defused(escape_hidden(line.translate(_SPACES)), opens_line=True) for line in lines)
