"""Whether a prompt asks about anything, and whether a candidate answers it (RETRIEVAL 4).

Most prompts in a coding session are steps of a conversation ("yes, do it", ``git status``) and want
no memory. Scores alone do not tell them apart: one common word in one memory looks like an answer,
and a floor high enough to stop that lost ten points of hit@5. So the words are looked at first: a
prompt made of conversation alone finds nothing, and what is left must be known to the memories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import log

from memfs.index.languages import is_talk
from memfs.index.tokenizer import MAX_QUERY_CHARACTERS, Question, parse_question, terms_of_words

STRONG_WORDS = 0.6
"""Summed weight of the known topic words, in units of a word that one memory alone holds, that is enough."""

SHARED_PART = 3
"""Words that only one memory has are a topic where one memory has at least one in so many of the topics."""

LITERAL_WORDS = 5
"""A text of conversation alone that has so many words is looked for word for word."""
_FLAGS = r"(?:\s+(?:-{1,2}[\w=./-]+|\.{1,2}|[\w.-]*/[\w./-]*))*"
_PATTERN = (
    r"\s*[$>%]?\s*(?:"
    r"git(?:\s+(?:status|diff|log|show|add|commit|push|pull|fetch|stash|branch|checkout|switch|restore|rebase|merge))?"
    r"|(?:npm|yarn|pnpm)(?:\s+(?:install|ci|test|start|build|(?:run\s+)?[\w:-]+))?"
    r"|cargo(?:\s+(?:build|test|run|check|clippy|fmt))?|go\s+(?:build|test|run|vet|fmt|mod\s+tidy)"
    r"|pip3?\s+(?:install|list|freeze)(?:\s+[\w.-]+)?"
    r"|python3?(?:\s+-m\s+[\w.]+)?(?:\s+[\w./-]+\.py)?|node(?:\s+[\w./-]+\.js)?"
    r"|make(?:\s+[a-z-]+)?|docker(?:\s+compose)?\s+(?:ps|up|down|build|images|logs)|kubectl\s+get\s+[a-z]+"
    r"|(?:cd|ls|ll|cat|less|head|tail|rm|mkdir|touch)(?:\s+[\w.-]+\.\w+)?"
    r"|pytest|tox|nox|ruff|mypy|eslint|tsc|pwd|clear|exit|quit|history|whoami|date|top|htop|ps|df|du|env"
    rf"){_FLAGS}\s*"
)
_TOOL_NAMES = """
git npm yarn pnpm cargo go pip pip3 python python3 node make docker kubectl cd ls ll cat less head tail rm
mkdir touch pytest tox nox ruff mypy eslint tsc pwd clear exit quit history whoami date top htop ps df du env
"""
_TOOLS = frozenset(_TOOL_NAMES.split())


def is_command(text: str) -> bool:
    """Return whether ``text`` is nothing but a plain shell command, such as ``git status`` or ``ls -la``."""
    words = text[:90].lower().lstrip("$>% \t").split(None, 1)
    if len(text) > 80 or not words or words[0] not in _TOOLS:
        return False
    return re.fullmatch(_PATTERN, text, re.IGNORECASE) is not None


def says_nothing(text: str, *, prompt: bool) -> bool:
    """Return whether nothing is to be looked for, whatever the memories are. Opens nothing.

    ``prompt``: the text is what a person told an agent; then a shell command is no question either.
    """
    if prompt and (is_command(text) or is_talk(text[:MAX_QUERY_CHARACTERS])):
        return True
    if topic_terms(parse_question(text)):
        return False
    return prompt or not is_literal(text)


def is_literal(text: str) -> bool:
    """Return whether a text without a topic is long enough to be looked for word for word."""
    return len(text[:MAX_QUERY_CHARACTERS].split()) >= LITERAL_WORDS


def topic_terms(asked: Question) -> list[str]:
    """Return the terms of a question that are about something: those that are not conversation."""
    talk = terms_of_words(asked.language, "conversation")
    return [term for term in asked.terms if term not in talk and not (len(term) == 1 and term.isascii())]


def telling_topics(
    asked: Question, topics: Sequence[str], frequencies: Sequence[int], most_shared: Callable[[Sequence[str]], int]
) -> Sequence[str]:
    """Return the topics of a prompt that speak for themselves.

    The words of the work at hand ("what does this error mean?") do not where the prompt is conversation
    beside them. Words that only one memory has do not where no memory has a third of the topics.
    ``most_shared`` returns the most of the given topics that one memory has.
    """
    if all(number <= 1 for number in frequencies) and SHARED_PART * most_shared(topics) < len(topics):
        return ()
    if len(topics) == len(asked.terms):
        return topics
    work = terms_of_words(asked.language, "work")
    return [term for term in topics if term not in work]


def is_question(
    topics: Sequence[str], frequencies: Sequence[int], *, documents: int, covered: bool, is_near: bool
) -> bool:
    """Return whether a prompt with these topic words should find anything.

    ``frequencies`` are the documents that contain each word that speaks for itself; ``covered`` says that one
    of them contains all; ``is_near`` that a vector is near enough by itself.
    """
    if not topics:
        return False
    known = sum(log(1 + (documents - n + 0.5) / (n + 0.5)) for n in frequencies if n)
    rarest = log(1 + max(0.0, documents - 0.5) / 1.5)
    return covered or is_near or (known > 0 and known >= STRONG_WORDS * rarest)
